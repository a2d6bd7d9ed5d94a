import os,sys,csv
os.environ.setdefault('OMP_NUM_THREADS','1'); os.environ.setdefault('OPENBLAS_NUM_THREADS','1')
sys.path.insert(0,'/work/shared/prototypes')
import numpy as np, scipy.sparse as sp, polars as pl
from scipy.stats import spearmanr
D='/work/shared/data'
import hitsndiffs as hnd
def names(): 
    return ['mcq/'+x for x in sorted(os.listdir(D+'/mcq'))]+['real/'+x for x in sorted(os.listdir(D+'/real'))]+['more/'+x for x in sorted(os.listdir(D+'/more')) if 'README' not in x]
def load(name):
    p=f'{D}/{name}'
    if name.startswith('mcq'):
        A=[r for r in csv.reader(open(p+'/answer.csv'))]; T=[r for r in csv.reader(open(p+'/truth.csv'))]
        return A,T
    r=hnd.read_responses(p+'/responses.csv')
    key={str(a).strip():str(b).strip() for a,b in list(csv.reader(open(p+'/key.csv')))[1:]}
    return r,key
def get(name):
    sys.path.insert(0,'/work/wt-truth')
    from benchmarks.arena import real
    if name.startswith('more/'):
        r,key=load(name)
    else:
        c=real.load(name.split('/')[1]); r,key=c.responses,c.key
    return r,key
def arrays(r,key):
    indptr,opt=r.rows; C=sp.csr_matrix((np.ones(len(opt)),opt,indptr),shape=(r.n_users,r.n_options))
    oi=np.asarray(r.option_items); lab=np.array([str(x) for x in r.option_labels])
    it=[str(x).strip() for x in r.items]
    ik=np.array([float(key.get(it[i])==l) for i,l in zip(oi,lab)])
    kn=np.array([it_ in key for it_ in it])[oi].astype(float)
    n=np.maximum(np.asarray((C@kn)).ravel(),1e-9)
    acc=(C@ik)/n
    return dict(C=C,oi=oi,labels=lab,ik=ik,acc=acc,n_known=n)
def sc(acc,s):
    ok=np.isfinite(acc)&np.isfinite(s); return spearmanr(acc[ok],s[ok])[0]
def keyshare(k,oi,ik):
    st=np.r_[0,np.nonzero(np.diff(oi))[0]+1]; mx=np.maximum.reduceat(k,st)[oi]; best=(k>=mx-1e-12); tot=np.add.reduceat(best*ik,st)/np.add.reduceat(best*1.,st); return tot.mean()
