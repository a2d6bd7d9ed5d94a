import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle,time,json,inspect
import hitsndiffs.methods.latent_key.copies as K
import hitsndiffs.methods.latent_key.search as SE
import hitsndiffs.methods.latent_key.base as BA
import wit
def near(problem):
    r=problem.responses; m=r.n_users
    if r.n_responses*m>K.PAIRWISE_UP_TO: return np.zeros(m)
    out=np.zeros(m); pop=problem.within; cnt=r.choosers_per_option.astype(float); share=cnt/pop.sum(cnt); agree=pop.sum(share**2)  # per option: item's chance agreement
    size=int(np.clip(K.BLOCK_SIZE//max(r.n_options,m),1,512))
    for f in range(0,m,size):
        u=np.arange(f,min(f+size,m)); ch=problem.sums.choosers(K._indicators(m,u)); G=problem.sums.choices(ch); an=pop.sum(ch); N=problem.sums.choices(an); e=problem.sums.choices(an*agree[:,None])
        al=((G-e)>=.5*(N-e))&(N>=15); out[u]=al.sum(0)-al[u,np.arange(len(u))]
    return out
src=inspect.getsource(SE.search).replace("problem.weigh(1.0 / np.bincount(pattern)[pattern])","problem.weigh(np.minimum(1.0 / np.bincount(pattern)[pattern], 1/(1+near(problem))))")
g=SE.__dict__; g['near']=near; exec(compile('from __future__ import annotations\n'+src,'x','exec'),g); BA.search=g['search']
if __name__=='__main__':
    if 'own' in sys.argv: K._pairwise=wit.pairwise
    base=json.load(open('/tmp/truth/base.json'))
    for n in names():
        if n in('real/mmlu_pro','real/fims','more/crowd_product'): continue
        r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); R=hnd.rank(r,'latent-key')
        print(n,'base',round(base[n]['rho'],3),'now',round(sc(d['acc'],R.scores),3),round(R.confidence,2),'copies',round(R.fit.details['copies'],3),flush=True)
