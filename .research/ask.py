import sys; sys.path[:0]=['/work/wt-truth','/work/wt-truth/.research']
from benchmarks.arena.structures import *; from benchmarks.arena.measuring import true_shares; import hitsndiffs as hnd, numpy as np, warnings; warnings.simplefilter('ignore')
from hitsndiffs.results.metrics import accuracy
tot={}
for k in sys.argv[3:]:
    for s in range(int(sys.argv[1]),int(sys.argv[2])):
        c=structure(k,s); t=true_shares(c); R=hnd.rank(c.responses,resamples=0); rho=accuracy(t,R.scores)
        if rho>.3: tot.setdefault(k,[]).append((0,)); continue
        it=[str(c.responses.items[q.item]) for q in R.fit.questions[:2]]; A={i:c.key[i] for i in it}
        R2=hnd.rank(c.responses,answers=A,resamples=0); r2=accuracy(t,R2.scores)
        rng=np.random.default_rng(s); ra=[str(x) for x in rng.permutation(c.responses.items)[:2]]; r3=accuracy(t,hnd.rank(c.responses,answers={i:c.key[i] for i in ra},resamples=0).scores)
        tot.setdefault(k,[]).append((1,r2>.3,r3>.3)); print(k,s,'%.2f -> %.2f (rand %.2f)'%(rho,r2,r3),'conf %.2f->%.2f'%(R.confidence,R2.confidence),'readings',[(round(x.evidence),round(accuracy(t,x.correct),2)) for x in R.fit.readings],flush=True)
for k,v in tot.items():
    w=[x for x in v if x[0]]; print(k,'wrong',len(w),'of',len(v),'mended',sum(x[1] for x in w),'random',sum(x[2] for x in w))
