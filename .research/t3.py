from lean import *; from load import *; import pickle,time,json,sys
for model in ['1pl','2pl','3pl','grm','samejima','bock','half-moon']:
  for seed in range(2):
    s=hnd.simulate(model,users=100,items=60,seed=seed); d=arrays(s.responses,{k:v for k,v in s.key.items()}); p=P(d['C'],d['oi'],d['labels'])
    out=[]
    for nm,z in (('ab',s.abilities),('-ab',-s.abilities),('maj',p.C@((p.N/p.N.sum(1,keepdims=True))[p.oi,p.num])/p.nj),('rand',np.random.default_rng(seed).random(p.m))):
        f=fit(p,spread_scores(z),iters=25); out.append((round(f['ev'],1),nm,round(sc(s.abilities,f['score']),2),round(sc(s.abilities,f['theta']),2),round(keyshare(f['key'],d['oi'],d['ik']),2),f['it'],np.round(f['om'].max(),2)))
    g=p.G; 
    print(model,p.L,sorted(out,reverse=True),[np.round(x,2) for x in f['hyper']],'base',round(sc(s.abilities,hnd.rank(s.responses).scores),2),flush=True)
