import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import hitsndiffs.methods.latent_key.search as SE, hitsndiffs.methods.latent_key.base as BA
old=SE.search
import wit2; new=BA.search
import structures as ST, warnings; warnings.simplefilter('ignore')
from hitsndiffs import Responses
for kind in ['exam','runs','runs_letter','letter','cliques','misc','twopop','twodim','lowvar','sparse']:
    out=[]
    for seed in range(5):
        X,k=ST.sim(kind,seed); Y=X.astype(object); Y[X<0]=None; r=Responses.from_wide(Y); d=arrays(r,{str(i):str(v) for i,v in enumerate(k)}); row=[]
        for f in (old,new):
            BA.search=f; R=hnd.rank(r,'latent-key'); row+= [sc(d['acc'],R.scores),R.confidence]
        out.append(row)
    print(kind,np.round(np.mean(out,0),2),[ [round(float(x),2) for x in o[::2]] for o in out],flush=True)
