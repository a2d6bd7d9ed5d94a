import numpy as np, json, sys; sys.path[:0]=['/work/wt-truth']
from benchmarks.arena.calibration import *
from hitsndiffs.methods.latent_key.confidence import *
from math import erf,sqrt
R=[json.loads(l) for l in open('/tmp/truth/signs2.jsonl')]
y=np.array([r['rho']>.3 for r in R],float); print(len(R),'base',y.mean(), y.mean()*(1-y.mean()))
def caps(said):
    out=[]
    for r,p in zip(R,said):
        s=r['signs']; nl=1. if s['alone'] else .5*(1+erf(s['steadiness']/sqrt(2))); out.append(min(p,max(nl,0),.6+.4*s['reliability'],1 if s['excess']<=.7 else .59))
    return np.array(out)
allf=[f for f in R[0]['signs']]
def sc_(names,ridge=5.): said=caps(left_out(R,names,ridge)); return ((said-y)**2).mean(),said
cur=[]; best=9
while len(cur)<7:
    b,f=min((sc_(cur+[f])[0],f) for f in allf if f not in cur)
    if b>=best-2e-4: break
    cur.append(f); best=b; print(len(cur),f,round(b,4),flush=True)
for names in (cur,['lead','rules','axis','marks'],['lead','rules','axis','marks','reliability']):
    b,said=sc_(names); j=judged(R,said); print(names,'brier',round(b,4),'err',round(j['calibration error'],3),'wrong>.6',sum(k['wrong above 0.6'] for k in j['kinds'].values()),dict(zip(['const']+names,np.round(fitted(R,names,5.),3).tolist())))
    for k,v in j['kinds'].items(): print('   %-28s'%k,{a:round(b,2) for a,b in v.items()})
