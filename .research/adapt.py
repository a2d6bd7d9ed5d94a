import numpy as np, sys
from newitems import Items
class Eng:
    def __init__(s,C,oi,labels,items=None):
        s.C=C.tocsr(); s.CT=s.C.T.tocsr(); n=int(oi.max())+1; s.items=Items(np.arange(n) if items is None else items,np.asarray(labels),np.r_[0,np.cumsum(np.bincount(oi))])
        s.n_users,s.n_options=C.shape; s.n_items=n; s.answers_per_user=np.diff(s.C.indptr).astype(float); s.choosers_per_option=np.asarray(s.C.sum(0)).ravel().astype(int); s.n_responses=s.C.nnz; s.threads=1
    def choices(s,w): return s.C@w
    def choosers(s,x): return s.CT@x
