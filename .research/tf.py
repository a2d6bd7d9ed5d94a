from lean import *; import lean; from load import *; import sys
import hier_dawid_skene as H
from structures import data as todata
def tf(seed,kind=None):
    r=np.random.default_rng([7,seed]); m=int(r.choice([25,60,150])); n=int(r.choice([30,80,200])); st=float(r.choice([0,.5,1,2,3])); mu=float(r.choice([-1,0,1,2])); d=float(r.choice([.3,.8,1.5])); sd=float(r.choice([.3,.7,1.2])); hard=float(r.choice([.3,1.])); pt=float(r.choice([.3,.5,.7,.1]))
    k=(r.random(n)<pt).astype(int); lam=mu+st*r.standard_normal(m)*.8; 
    if r.random()<.4: z=r.random(m)<.2; lam[z]+=5
    th=d+sd*r.standard_normal(m); b=hard*r.standard_normal(n); u=lam[:,None]+(2*k-1)*(th[:,None]+b); X=(r.random((m,n))<1/(1+np.exp(-u))).astype(int)
    dens=float(r.choice([1,1,.3,.1])); 
    if dens<1: X[r.random(X.shape)>=dens]=-1
    X=X[(X>=0).sum(1)>0]
    return X,k,dict(m=m,n=n,st=st,mu=mu,d=d,sd=sd,hard=hard,pt=pt,dens=dens)
if __name__=='__main__':
    import warnings; warnings.simplefilter('ignore')
    rows=[]
    for seed in range(int(sys.argv[1]),int(sys.argv[2])):
        X,k,info=tf(seed); D=todata(X,k)
        if len(set(D['labels']))<2: continue
        p=P(D['C'],D['oi'],D['labels']); h=H.rank(D['C'],D['oi'],D['labels']); sty=(p.F[:,1]+.5)/(p.nj+1); maj=p.C@((p.N/p.N.sum(1,keepdims=True))[p.oi,p.num])/p.nj
        F=[fit(p,spread_scores(s),iters=30) for s in (h['scores'],maj,sty,-sty)]; f=max(F,key=lambda f:f['ev']); alt=[g['ev'] for g in F if corr(g['score'],f['score'])<.5]
        p1=P(D['C'],D['oi'],D['labels']); p1.Lam=np.zeros((1,2)); p1.G=1; lean.COMMON=False; lean.PERLAB=False; lean.MB=-9
        one=fit(p1,spread_scores(sty),iters=25,force=1)['ev']; lean.COMMON=True; lean.PERLAB=True; lean.MB=0
        from hitsndiffs import Responses,rank
        Y=X.astype(object); Y[X<0]=None; a=rank(Responses.from_wide(Y),'latent-key')
        acc=D['acc']; best=sc(acc,p.C@D['ik']/p.nj)
        rows.append((sc(acc,f['score']),sc(acc,h['scores']),sc(acc,maj),sc(acc,a.scores)))
        print(info,'lean %.2f hds %.2f maj %.2f plain %.2f'%rows[-1],'lead',np.round(f['ev']-max(alt),1) if alt else None,'one',round(one-f['ev'],1),'sdacc',round(acc.std(),3),flush=True)
    print(np.nanmean(rows,0),np.nanmean(np.array(rows)<.3,0))
