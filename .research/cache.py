import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *
import pickle,time,json
out={}
for n in names():
    r,key=get(n); d=arrays(r,key); pickle.dump((r,key,d),open('/tmp/truth/'+n.replace('/','_')+'.pkl','wb'))
    t=time.process_time(); R=hnd.rank(r); t=time.process_time()-t
    out[n]=dict(rho=sc(d['acc'],R.scores),conf=R.confidence,chosen=R.fit.details.get('chosen'),key=keyshare(np.nan_to_num(R.fit.key_probabilities),d['oi'],d['ik']),sec=t)
    print(n,r.n_users,r.n_items,{k:(round(v,3) if isinstance(v,float) else v) for k,v in out[n].items()},flush=True)
json.dump(out,open('/tmp/truth/base.json','w'))
