import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle,cProfile,pstats
r,key,d=pickle.load(open('/tmp/truth/new_more_'+sys.argv[1]+'.pkl','rb'))
hnd.rank(r,'majority')
p=cProfile.Profile(); p.enable(); R=hnd.rank(r); p.disable(); print(sc(d['acc'],R.scores),R.n_iterations); pstats.Stats(p).sort_stats('tottime').print_stats(14)
