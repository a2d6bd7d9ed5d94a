from lean import *; import lean; from load import *; import pickle,time,json,sys
import hier_dawid_skene as H
src=open('.research/lean.py').read()
for n in ['more/gk_a','more/gk_b','more/sp_art','more/sp_lesions','more/copa_dialect_lm','more/copa_lm']:
    r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); p=P(d['C'],d['oi'],d['labels']); h=H.rank(d['C'],d['oi'],d['labels'])
    print(n,'hds',round(sc(d['acc'],h['scores']),3),'key',round(keyshare(h['key'],d['oi'],d['ik']),3),'corr share',round(corr(h['scores'],p.F[:,1]/p.nj),2), 'acc~share',round(sc(d['acc'],p.F[:,1]/p.nj),2))
    for nm,(vbhi,vahi) in dict(free=(16,4),nodiff=(.05,4),noslope=(16,.01),neither=(.05,.01)).items():
        s=src.replace(",.05,16))",f",.05,{vbhi}))").replace(".01,4)",f".01,{vahi})"); g={}; exec(compile(s,'x','exec'),g)
        f=g['fit'](p,spread_scores(h['scores']),iters=40); print('  ',nm,round(f['ev'],1),round(sc(d['acc'],f['score']),3),round(keyshare(f['key'],d['oi'],d['ik']),3),round(corr(f['score'],p.F[:,1]/p.nj),2),f['it'],[np.round(x,2) for x in f['hyper']],np.round(f['rho'],2),flush=True)
