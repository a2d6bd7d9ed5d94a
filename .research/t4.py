from lean import *; import lean; from load import *; import pickle,time,json,sys
import hier_dawid_skene as H
def one(d,acc,tag):
    p=P(d['C'],d['oi'],d['labels']); h=H.rank(d['C'],d['oi'],d['labels'])
    out=[]
    maj=p.C@((p.N/p.N.sum(1,keepdims=True))[p.oi,p.num])/p.nj; sty=(p.F[:,1]+.5)/(p.nj+1)
    for nm,s in (('ds',h['scores']),('maj',maj),('sty',sty),('-sty',-sty)):
        f=fit(p,spread_scores(s),iters=25); out.append((round(f['ev'],1),nm,round(sc(acc,f['score']),2)))
    p1=P(d['C'],d['oi'],d['labels']); p1.Lam=np.zeros((1,2)); p1.G=1; lean.PERLAB=False; lean.MB=-9
    for l in (0,1):
        f=fit(p1,spread_scores(sty if l else -sty),iters=25,force=l); out.append((round(f['ev'],1),'all'+p.names[l],round(sc(acc,f['score']),2)))
    f=fit(p1,spread_scores(sty),iters=25); out.append((round(f['ev'],1),'nolean',round(sc(acc,f['score']),2)))
    lean.PERLAB=True; lean.MB=0
    print(tag,p.m,p.n,sorted(out,reverse=True),flush=True)
for n in ['more/gk_a','more/gk_b','more/sp_art','more/sp_lesions','more/copa_dialect_lm','more/copa_lm','more/crowd_temporal','real/crowd_rte']:
    r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); one(d,d['acc'],n)
for model in ['1pl','2pl','3pl','half-moon','american-experience']:
  for seed in range(2):
    s=hnd.simulate(model,users=100,items=60,seed=seed) if model!='american-experience' else hnd.simulate(model,users=100,seed=seed); d=arrays(s.responses,{k:v for k,v in s.key.items()}); one(d,s.abilities,model)
