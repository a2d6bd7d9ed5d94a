import sys; sys.path[:0]=['/work/wt-truth','/work/wt-truth/.research']
import numpy as np, warnings; warnings.simplefilter('ignore')
import hitsndiffs.methods.latent_key.search as SE
import hitsndiffs.methods.latent_key.base as BA
from hitsndiffs.methods.labels import sharing
from hitsndiffs.methods.latent_key.copies import Witnesses
def habits(data):
    sh=sharing(data.items)
    if sh.apart or len(sh.labels)<3 or len(sh.labels)>30: return np.zeros(data.n_users)
    n=data.answers_per_user; f=data.choices(np.eye(len(sh.labels))[sh.numbers])/n[:,None]
    e=np.median(f,axis=0); e=np.clip(e/e.sum(),.02,.9); se=np.sqrt(e*(1-e)/n[:,None])
    t=((f-e)/(1-e)).max(1); z=((f-e)/se).max(1)
    return np.where(z>4,np.clip(t,0,.99),0.)
import sys as _s
old_near=SE.near_equals; old_fw=SE.find_witnesses
MODE=[0]
def fw(p,fit):
    w=old_fw(p,fit)
    if MODE[0]:
        h=habits(p.data); return Witnesses(np.maximum(w.weights*(1-h)**2,1e-3),w.copy_logs)
    return w
def ne(p):
    x=old_near(p)
    if MODE[0]:
        h=habits(p.data); return (1+x)/np.maximum((1-h)**2,1e-3)-1
    return x
SE.find_witnesses=fw; SE.near_equals=ne
if __name__=='__main__':
    from benchmarks.arena.structures import *; from benchmarks.arena.measuring import true_shares; from hitsndiffs.results.metrics import accuracy; from hitsndiffs.engines import open_engine
    for k in ('runs and letters','letters','exam','crowd','runs'):
        out=[]
        for s in range(14):
            c=structure(k,s); t=true_shares(c); row=[]
            for m in (0,1):
                MODE[0]=m; S=SE.search(open_engine(c.responses)); D=S.problem.data; row.append(accuracy(t,D.choices(S.best.fit.key)/D.answers_per_user))
            out.append(row+[habits(open_engine(c.responses)).mean()])
        o=np.array(out); print(k,np.round(o.mean(0),3),'wrong',(o[:,:2]<.3).sum(0),flush=True)
    from load import names,sc; import pickle,os
    for n in names():
        f='/tmp/truth/new_'+n.replace('/','_')+'.pkl'
        if 'mmlu' in n or 'crowd_web' in n: continue
        r,key,d=pickle.load(open(f,'rb')); D=open_engine(r); h=habits(D)
        if (h>0).any():
            row=[]
            for m in (0,1): MODE[0]=m; S=SE.search(D); row.append(sc(d['acc'],np.asarray(D.choices(S.best.fit.key)/D.answers_per_user)))
            print(n,'habit users',int((h>0).sum()),'of',r.n_users,'max',round(h.max(),2),np.round(row,3),flush=True)
