import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle,time,json,warnings; warnings.simplefilter('ignore')
base=json.load(open('/tmp/truth/base.json')); sel=[n for n in names() if (len(sys.argv)<2 or any(a in n for a in sys.argv[1:]))]
import csv
G={}
for n in sel:
    f='/tmp/truth/new_'+n.replace('/','_')+'.pkl'
    if not os.path.exists(f):
        r,key=get(n); d=arrays(r,key); pickle.dump((r,key,d),open(f,'wb'))
    r,key,d=pickle.load(open(f,'rb')); t=time.process_time(); R=hnd.rank(r); t=time.process_time()-t
    o=dict(rho=sc(d['acc'],R.scores),conf=R.confidence,key=keyshare(np.nan_to_num(R.fit.key_probabilities),d['oi'],d['ik']),sec=t); G.setdefault(n.split('/')[0],[]).append(o)
    print(f"{n:28s} {base[n]['rho']:.3f} -> {o['rho']:.3f}  conf {base[n]['conf']:.2f} -> {o['conf']:.2f} key {base[n]['key']:.2f} -> {o['key']:.2f} sec {base[n]['sec']:.1f} -> {t:.1f} {R.fit.details.get('chosen')}",[(m['starts'][0],round(m['evidence'],1)) for m in R.fit.details.get('solutions',[])][:4],flush=True)
for g,v in G.items(): print(g,{k:round(float(np.mean([o[k] for o in v])),4) for k in ('rho','key','sec')})
