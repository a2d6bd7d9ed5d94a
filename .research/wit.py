import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle,time,json
import hitsndiffs.methods.latent_key.copies as K
import hitsndiffs.methods.latent_key.search as SE
from hitsndiffs.methods.probability import normal_quantile
from hitsndiffs.order.ties import patterns
SHARE=.5
def excess2(problem,fit,curves,users):
    sums,within,m=problem.sums,problem.within,problem.responses.n_users
    chosen=sums.choosers(K._indicators(m,users)); answered=within.sum(chosen); agreement=sums.choices(chosen); common=sums.choices(answered); place=K._places(fit)
    per=curves.T@(curves[:,place[users]]*answered)/chosen.sum(axis=0); E=per[place]*common; V=np.maximum(E*(1-per[place]),.25); z=(agreement-E)/np.sqrt(V); z[common<K.COMMON]=0
    r=(agreement-E)/np.maximum(common-E,1e-9); r[common<15]=0; z[users,np.arange(len(users))]=0; r[users,np.arange(len(users))]=0
    return z,r
def pairwise(problem,fit):
    m,q=problem.responses.n_users,problem.responses.n_options; size=int(np.clip(K.BLOCK_SIZE//max(q,m),1,512)); curves=K.option_probabilities(problem,fit,K.THETA)
    different=np.unique(patterns(problem.sums),return_index=True)[1]; some=np.linspace(0,len(different)-1,min(len(different),size)).astype(int)
    sample=excess2(problem,fit,curves,different[some])[0][different]; comp=np.abs(sample[sample!=0]); spread=max(1.,float(np.median(comp)/.6745)) if len(comp) else 1.
    thr=-float(normal_quantile(np.array(K.LEVEL/m))); copies,logs=np.empty(m),np.zeros(m)
    for first in range(0,m,size):
        users=np.arange(first,min(first+size,m)); z,r=excess2(problem,fit,curves,users); alike=((z>thr*spread)|((z>thr)&(r>=SHARE))).astype(float)
        copies[users]=alike.sum(0); cp=copies[users]>0; logs[users[cp]]=K._copy_logs(problem,users[cp],alike[:,cp])
    return K.Witnesses(1/(1+copies),logs)
if __name__=='__main__':
    base=json.load(open('/tmp/truth/base.json')); K._pairwise=pairwise
    for n in names():
        if n in('real/mmlu_pro','real/fims','more/crowd_product'): continue
        r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); R=hnd.rank(r,'latent-key')
        print(n,'base',round(base[n]['rho'],3),'now',round(sc(d['acc'],R.scores),3),round(R.confidence,2),'copies',round(R.fit.details['copies'],3),flush=True)
