exec(open('/work/wt-truth/.research/calfin.py').read().split("allf=")[0])
from benchmarks.arena.structures import UNKNOWABLE
def mk(scale,rel0,exc):
    def caps(said):
        out=[]
        for r,p in zip(R,said):
            s=r['signs']; L=np.expm1(s['lead']); nl=1. if s['alone'] else 1/(1+np.exp(-L/scale)); out.append(min(p,nl,rel0+(1-rel0)*s['reliability'],1 if s['excess']<=.7 else exc))
        return np.array(out)
    return caps
sets={'A':['lead','rules','marks','two','alone'],'B':['lead','rules','axis','marks'],'C':['lead','rules','axis','marks','two','alone'],'D':['lead','rules','axis','marks','two','alone','reliability'],'E':['steadiness','lead','rules','axis','marks','two','alone','users']}
known=np.array([r['kind'] not in UNKNOWABLE for r in R])
for nm,names in sets.items():
    L=left_out(R,names,5.)
    for scale,rel0,exc in ((1e-9,1,1),(3,.6,.59),(3,.7,.59),(3,.8,.59),(2,.7,1)):
        said=mk(scale,rel0,exc)(L); j=judged(R,said); s9=said>=.9; cells=np.minimum((said*10).astype(int),9)
        bad=[k for k,v in j['kinds'].items() if k not in UNKNOWABLE and v['sure']>=5 and v['sure and right']<.9]
        ek=sum(abs((said-y)[known&(cells==c)].sum()) for c in range(10))/known.sum()
        print(nm,scale,rel0,exc,'brier %.4f ece %.3f (knowable %.3f) wrong>.6 knowable %d all %d; sure %d right %.2f bad %s'%(j['brier'],j['calibration error'],ek,(known&(y==0)&(said>=.6)).sum(),((y==0)&(said>=.6)).sum(),(s9&known).sum(),y[s9&known].mean() if (s9&known).any() else 0,bad))
