import sys; sys.path.insert(0,'/work/wt-truth/.research'); sys.path.insert(0,'/work/shared/prototypes')
import os; os.environ.setdefault('OMP_NUM_THREADS','1')
import numpy as np, scipy.sparse as sp
from scipy.special import gammaln, expit, logsumexp
from hitsndiffs.methods.latent_key.grid import posterior_of, spread_scores, THETA
T=len(THETA); MB=0.; PERLAB=True; POP=True; COMMON=True; VA=.25
def corr(a,b):
    a=a-a.mean(); b=b-b.mean(); d=np.sqrt((a@a)*(b@b)); return float(a@b/d) if d>0 else 1.
class P:
    def __init__(s,C,oi,labels,scale=1.5,G=21):
        s.C=sp.csr_matrix(C); s.CT=s.C.T.tocsr(); s.oi=oi; s.n=int(oi.max())+1; s.m,s.q=C.shape
        s.names,s.num=np.unique(labels,return_inverse=True); s.L=len(s.names); s.flat=oi*s.L+s.num
        s.nj=np.diff(s.C.indptr); s.w=np.ones(s.m); s.scale=scale
        if s.L==2:
            g=np.linspace(-4,4,G)*scale; s.Lam=np.stack([-g/2,g/2],1)
        else:
            st=[1.5,3.,5.]; s.Lam=np.vstack([np.zeros((1,s.L))]+[x*np.eye(s.L)[[l]] for l in range(s.L) for x in st])
        s.G=len(s.Lam); s.N=s.table(s.CT@s.w)
        F=np.zeros((s.m,s.L)); 
        for l in range(s.L): F[:,l]=s.C@(s.num==l)
        s.F=F
    def table(s,x):
        out=np.zeros((s.n*s.L,)+x.shape[1:]); out[s.flat]=x; return out.reshape((s.n,s.L)+x.shape[1:])
def fit(p,theta_w,lam_w=None,iters=60,tol=1e-6,hyper=None,mf=None,verbose=False,flex_prior=True,force=None):
    n,L,m,G=p.n,p.L,p.m,p.G
    mf=(p.L==2 and p.G>1) if mf is None else mf
    if lam_w is None:
        if G==1: lam_w=np.ones((m,1))
        elif L==2:
            x=np.log((p.F[:,1]+.5)/(p.F[:,0]+.5))/p.scale; lam_w=np.exp(-.5*((x[:,None]-np.linspace(-4,4,G))/.3)**2)
        else: 
            lam_w=np.full((m,G),.5/(G-1)); lam_w[:,0]=.5
        lam_w=lam_w/lam_w.sum(1,keepdims=True)
    post=theta_w[:,:,None]*lam_w[:,None,:]
    a=np.ones((n,L)); b=np.ones((n,L))*.5; ma,va,mb,vb=1.,.25,np.full(L,1.),1.
    rho=np.full(L,1/L); prev=-np.inf
    if L>2 and POP: mb=np.zeros(L); vb=2.25; b=b*0
    om=lam_w.mean(0)+1e-3; om/=om.sum()
    K=np.eye(L,dtype=bool)
    eL=np.exp(p.Lam) # G,L
    th=THETA
    for it in range(iters):
        R=p.table(p.CT@(p.w[:,None]*post.reshape(m,-1))).reshape(n,L,T,G); Nt=R.sum(1,keepdims=True)
        N=R.sum((2,3)) # n,L
        # offsets off[n,k,G], logs of others
        if L==2:
            off=np.broadcast_to((p.Lam-p.Lam[:,::-1]).T[None],(n,2,G)); dis=np.zeros((n,L)); corrn=0.; lo=None
        else:
            share=p.N.sum(0)/p.N.sum(); d=p.N+.5*share; S=np.einsum('il,gl->ig',d,eL); Sk=S[:,None,:]-d[:,:,None]*eL.T[None]; tot=d.sum(1)[:,None]-d
            lo=np.log(Sk)-np.log(tot)[:,:,None]   # n,k,G : log sum_{l!=k} d_{l|k} e^Lam
            off=p.Lam.T[None]-lo
            gl=gammaln(N+1); rest=N.sum(1,keepdims=True)-N; dis=gl.sum(1,keepdims=True)-gl+gammaln(L-1)-gammaln(rest+L-1)
            Rg=R.sum(2) # n,L,G
            lean=np.einsum('ilg,gl->il',Rg,p.Lam); corrn=lean.sum(1,keepdims=True)-lean-np.einsum('ikg,ikg->ik',Rg.sum(1,keepdims=True)-Rg,lo)
        o4=off[:,:,None,:]
        for _ in range(8 if it==0 else 2):
            u=a[:,:,None,None]*th[:,None]+b[:,:,None,None]+o4; pr=expit(u); W=Nt*pr*(1-pr); r=R-Nt*pr
            r1=r.sum(3); W1=W.sum(3); ga=r1@th-(a-ma)/va; gb=r1.sum(2)-(b-mb)/vb; haa=W1@(th*th)+1/va; hab=W1@th; hbb=W1.sum(2)+1/vb; det=np.maximum(haa*hbb-hab**2,1e-10)
            if L==2 and COMMON:
                b=np.clip(b+np.clip(gb/hbb,-2,2),-12,12); det=hbb
                kk_=k if it else np.full((n,L),.5)
                A=a[0,0]; gA=(kk_*(r1@th)).sum()-(A-1)/VA; HA=(kk_*(W1@(th*th)-hab**2/hbb)).sum()+1/VA
                if it: a=np.full((n,L),np.clip(A+np.clip(gA/HA,-.3,.3),.05,8)); ma=a[0,0]
            else:
                a=np.clip(a+np.clip((hbb*ga-hab*gb)/det,-1,1),0,8); b=np.clip(b+np.clip((haa*gb-hab*ga)/det,-2,2),-12,12)
        u=a[:,:,None,None]*th[:,None]+b[:,:,None,None]+o4; l1=-np.logaddexp(0,-u); l0=l1-u
        lp=-(0 if L==2 and COMMON else (a-ma)**2/(2*va)+.5*np.log(va))-(b-mb)**2/(2*vb)-.5*np.log(vb)-.5*np.log(det)+dis+(np.log((N+1)/(N+1).sum(1,keepdims=True)) if L>2 and POP else np.log(rho))
        ev_k=(R*l1).sum((2,3))+((Nt-R)*l0).sum((2,3))+lp+corrn
        k=np.exp(ev_k-ev_k.max(1,keepdims=True)); k/=k.sum(1,keepdims=True)
        if force is not None: k=np.zeros((n,L)); k[:,force]=1.
        # option logs: for answer l: sum_k k [k==l ? l1_k : l0_k + (Lam_l - lo_k)]
        base=(k[:,:,None,None]*l0).sum(1,keepdims=True)-k[:,:,None,None]*l0
        lg=k[:,:,None,None]*l1+base
        if L>2:
            kl=(k[:,:,None]*lo).sum(1,keepdims=True)-k[:,:,None]*lo; lg=lg+((1-k)[:,:,None]*p.Lam.T[None]-kl)[:,:,None,:]
        Lo=lg.reshape(n*L,-1)[p.flat]
        X=(p.C@Lo).reshape(m,T,G)+(-.5*th**2-np.log(np.exp(-.5*th**2).sum()))[:,None]+np.log(om)
        mth=posterior_of(logsumexp(X,axis=2))
        if mf:
            q1=mth.weights; 
            for _ in range(3):
                q2=posterior_of(np.einsum('jtg,jt->jg',X,q1)) if G==T else None
                q1p=posterior_of(np.einsum('jtg,jg->jt',X,q2.weights)); q1=q1p.weights
            post=q1[:,:,None]*q2.weights[:,None,:]; theta=q1p.mean; lam=q2.mean*p.scale; lw=q2.weights; sd=mth.sd
        else:
            M=X.max((1,2),keepdims=True); post=np.exp(X-M); post/=post.sum((1,2),keepdims=True); theta=mth.mean; lw=post.sum(1); lam=lw@p.Lam; sd=mth.sd
        ev=float(p.w@mth.log_evidence+(k*(lp+0*corrn)).sum()-(k*np.log(np.maximum(k,1e-300))).sum())
        if it%2==1:
            S=k.sum(); Q=10.; ma=ma if L==2 and COMMON else float(np.clip(((k*a).sum()+Q)/(S+Q),.2,5)); mb=np.maximum(((k*b).sum(0)+Q*max(((k*b).sum()+Q)/(S+Q),MB))/(k.sum(0)+Q),MB) if PERLAB and L==2 else np.full(L,(k*b).sum()/(S+Q)) if POP else np.full(L,max(((k*b).sum()+Q)/(S+Q),MB))
            va=float(np.clip(((k*((a-ma)**2+np.minimum(hbb/det,va))).sum()+Q*.25)/(S+Q),.01,4)); vb=float(np.clip(((k*((b-mb)**2+np.minimum(haa/det if not (L==2 and COMMON) else 1/hbb,vb))).sum()+Q*(2.25 if L>2 and POP else 1.))/(S+Q),.05,16))
        rho=(k.sum(0)+2)/(n+2*L) if force is None else np.ones(L)
        om=(p.w@lw)+.5/G*5; om/=om.sum()
        if it>8 and abs(ev-prev)<.02+tol*abs(ev): break
        prev=ev
    kk=k[p.oi,p.num]
    return dict(key=kk,score=(p.C@kk)/p.nj,theta=theta,lam=lam,ev=ev,k=k,hyper=(ma,va,mb,vb),rho=rho,it=it,lw=lw,tw=post.sum(2),om=om,sd=sd)
