from lean2 import *; from load import *; import pickle,time
import hier_dawid_skene as H
tot=[]
for n in ['more/gk_a','more/gk_b','more/sp_art','more/sp_lesions','more/copa_dialect_lm','more/copa_lm','more/crowd_temporal','more/crowd_product','real/crowd_rte']:
    r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); p=P(d['C'],d['oi'],d['labels'])
    h=H.rank(d['C'],d['oi'],d['labels']); t=time.time()
    out=[]
    for nm,s in (('ds',h['scores']),('maj',p.C@((p.N/p.N.sum(1,keepdims=True))[p.oi,p.num])/p.nj),('sty',(p.F[:,1]+.5)/(p.nj+1)),('-sty',-(p.F[:,1]+.5)/(p.nj+1))):
        f=fit(p,spread_scores(s),iters=40); out.append((round(f['ev'],1),nm,round(sc(d['acc'],f['score']),2),round(sc(d['acc'],f['theta']),2),round(keyshare(f['key'],d['oi'],d['ik']),2),round(corr(f['score'],p.F[:,1]/p.nj),2),f['it']))
    print(n,'hds',round(sc(d['acc'],h['scores']),3),round(time.time()-t,1),sorted(out,reverse=True),[np.round(x,2) for x in f['hyper']],flush=True)
