from load import *; import pickle,time,json,sys
import latent_key_habits as K
for n in ['more/digit_matrices_lm','more/syntax_lm','more/crt_lm']:
    r,key,d=pickle.load(open('/tmp/truth/'+n.replace('/','_')+'.pkl','rb')); D=K.Data(d['C'],d['oi'],d['labels']); w=K.witnesses(D)
    print(n,'L',D.L,'w',np.round(np.sort(w),2)); print(' acc',np.round(np.sort(d['acc']),2))
    for wn,ww in (('one',np.ones(D.m)),('wit',w),('near',K.near_equal(D))):
        for f in K.search(D,False,ww): 
            s=(D.C@f['k'])/D.nj; print('  ',wn,f['start'],round(f['ev'],1),'rho',round(sc(d['acc'],s),2),'th',round(sc(d['acc'],f['theta']),2),'key',round(keyshare(f['k'],d['oi'],d['ik']),3),np.round(f['hyper'],2))
    R=hnd.rank(r); print('  0.1',round(sc(d['acc'],R.scores),2),R.fit.details['solutions'],round(R.fit.details['copies'],2))
    for m in ('majority','dawid-skene','hnd-robust','pooled-investment'): print('  ',m,round(sc(d['acc'],hnd.rank(r,m).scores),2))
