import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle,json
from hitsndiffs.methods.latent_key.search import search; from hitsndiffs.engines import open_engine
from dataclasses import asdict
out=[]
for n in names():
    f='/tmp/truth/new_'+n.replace('/','_')+'.pkl'
    if not os.path.exists(f):
        r,key=get(n); d=arrays(r,key); pickle.dump((r,key,d),open(f,'wb'))
    r,key,d=pickle.load(open(f,'rb')); S=search(open_engine(r)); D=S.problem.data; rho=sc(d['acc'],np.asarray(D.choices(S.best.fit.key)/D.answers_per_user)); out.append(dict(name=n,rho=rho,signs=asdict(S.signs)))
    print(f"{n:26s} rho {rho:.2f} conf {S.confidence:.2f}",{k:round(v,2) for k,v in asdict(S.signs).items()},flush=True)
json.dump(out,open('/tmp/truth/realsigns.json','w'))
