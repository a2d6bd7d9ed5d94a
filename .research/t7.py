import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; from adapt import Eng; import pickle,time
import hitsndiffs.methods.leaning.signal as S
from hitsndiffs.methods.latent_key.grid import normal_log_prior, THETA
from hitsndiffs.methods.probability import normal_quantile
import hier_dawid_skene as H
if len(sys.argv)>1: S.ABILITIES=np.linspace(-4,4,int(sys.argv[1])); S.LEANINGS=int(sys.argv[2])
lp=-.5*S.ABILITIES**2; lp-=np.log(np.exp(lp).sum())
from scipy.stats import rankdata,norm
def spread(z): 
    z=norm.ppf((rankdata(z)-.5)/len(z)); e=np.exp(-.5*((z[:,None]-S.ABILITIES)/.5)**2); return e/e.sum(1,keepdims=True)
def corr(a,b): return np.corrcoef(a,b)[0,1]
for n in ['more/gk_a','more/gk_b','more/sp_art','more/sp_lesions','more/copa_dialect_lm','more/copa_lm','more/crowd_temporal','real/crowd_rte','more/crowd_product']:
    r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); E=Eng(d['C'],d['oi'],d['labels']); num=np.unique(d['labels'],return_inverse=True)[1]
    p=S.LeaningProblem(E,num,np.full(E.n_options,-1.),lp); h=H.rank(d['C'],d['oi'],d['labels']); out=[]; t=time.time()
    pop=E.items.share(E.choosers_per_option.astype(float)); lm=np.array([pop[num==l].mean() for l in (0,1)]); maj=E.choices(pop)/E.answers_per_user; cen=E.choices(pop-lm[num])/E.answers_per_user
    for nm,s in (('ds',h['scores']),('maj',maj),('cen',cen),('sty',p.lean),('-sty',-p.lean)):
        f=S.fit_leaning(p,p.start(spread(s)),max_rounds=40); out.append((round(f.evidence,1),nm,round(sc(d['acc'],E.choices(f.key)/E.answers_per_user),2),round(keyshare(f.key,d['oi'],d['ik']),2),f.rounds,round(f.signal.slope,2)))
    print(n,'hds',round(sc(d['acc'],h['scores']),3),round(time.time()-t,1),sorted(out,reverse=True),np.round(f.signal.means,2),np.round(f.signal.variance,2),flush=True)
