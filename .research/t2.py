from lean import *; from load import *; import pickle,time,json,sys
base=json.load(open('/tmp/truth/base.json'))
sel=sys.argv[1:] or ['mcq/Chinese','mcq/English','mcq/IT','mcq/Medicine','mcq/Pokemon','mcq/Science','real/itan_ds1','real/openpsy_iq1','real/sphere_tce','more/digit_matrices_lm','real/crowd_web','more/timss07_rus']
for n in sel:
    r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); p=P(d['C'],d['oi'],d['labels']); t=time.time()
    R=hnd.rank(r,'latent-key'); out=[]
    for nm,s in (('lk',R.abilities),('maj',p.C@((p.N/p.N.sum(1,keepdims=True))[p.oi,p.num])/p.nj)):
        f=fit(p,spread_scores(s),iters=25); out.append((round(f['ev'],1),nm,round(sc(d['acc'],f['score']),3),round(sc(d['acc'],f['theta']),2),round(keyshare(f['key'],d['oi'],d['ik']),3),f['it'],np.round(f['om'][0],2)))
    print(n,'L',p.L,p.m,p.n,'base',round(base[n]['rho'],3),round(base[n]['key'],3),round(time.time()-t,1),sorted(out,reverse=True),[np.round(x,2) for x in f['hyper']],flush=True)
