import numpy as np, json, sys; sys.path[:0]=['/work/wt-truth']
from benchmarks.arena.calibration import *
R=[json.loads(l) for l in open('/tmp/truth/signs.jsonl')]
for r in R:
    s=r['signs']; 
    s['lsteady']=np.log1p(s['steadiness']); s['rel2']=s['reliability']**2; s['lowrel']=min(s['reliability'],.5); s['rules_bad']=min(s['rules'],.5); s['maj_bad']=min(s['majority'],.3); s['maj2']=abs(s['majority']); s['lead_pu']=np.expm1(s['lead'])/np.exp(s['users']); s['llpu']=np.log1p(s['lead_pu']); s['ex2']=min(s['excess'],.5); s['axmaj']=s['axis']*s['majority']; s['stmaj']=s['lsteady']*s['majority']; s['twomarks']=s['two']*s['marks']; s['relax']=s['reliability']*s['axis']
    s['nitems']=s['answers']; s['rightlow']=min(s['right'],.4); s['settledlow']=min(s['settled'],.8)
allf=list(R[0]['signs']); y=np.array([r['rho']>.3 for r in R],float)
print('base rate',y.mean(),'brier const',(y.mean()*(1-y.mean())))
def score(names,ridge=5.):
    said=left_out(R,names,ridge); b=((said-y)**2).mean(); return b,said
cur=[]; best=9
while len(cur)<9:
    c=[(score(cur+[f])[0],f) for f in allf if f not in cur]; b,f=min(c)
    if b>=best-2e-4: break
    cur.append(f); best=b; print(len(cur),f,round(b,4),flush=True)
b,said=score(cur); j=judged(R,said); print('err',j['calibration error'],'wrong>.6',sum(k['wrong above 0.6'] for k in j['kinds'].values()))
for k,v in j['kinds'].items(): print('   %-28s'%k,{a:round(b,2) for a,b in v.items()})
beta=fitted(R,cur,5.); print(dict(zip(['const']+cur,np.round(beta,3))))
