import sys; sys.path[:0]=['/work/wt-truth','/work/wt-truth/.research']
from benchmarks.arena.structures import *
from load import *
for k in STRUCTURES:
    for s in range(3):
        c=structure(k,s); d=arrays(c.responses,c.key); print(k,c.responses.n_users,c.responses.n_items,round(np.nanmean(d['acc']),2),round(np.nanstd(d['acc']),2),end=' | ')
    print()
