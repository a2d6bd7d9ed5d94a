import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle
import hitsndiffs.methods.latent_key.search as SE, hitsndiffs.methods.latent_key.habits as HB
from hitsndiffs.engines import open_engine
oh,on=SE.habits_of,SE.near_equals
for n in ('real_eedi_core','real_openpsy_iq1','real_crowd_web'):
    r,key,d=pickle.load(open('/tmp/truth/new_'+n+'.pkl','rb')); D=open_engine(r)
    h=oh(D); print(n,'habits',None if h is None else (int((h.shares>0).sum()),int((h.shares>.3).sum()),int((h.shares>.5).sum())))
    for nm,(fh,fn) in dict(both=(oh,on),nohabit=(lambda d:None,on),nonear=(oh,lambda p:0*p.data.everybody),neither=(lambda d:None,lambda p:0*p.data.everybody)).items():
        SE.habits_of,SE.near_equals=fh,fn; S=SE.search(D); k=S.best.fit.key
        print('   ',nm,round(sc(d['acc'],np.asarray(D.choices(k)/D.answers_per_user)),3),round(keyshare(k,d['oi'],d['ik']),3),'w',round(float(S.witness.mean()),3),flush=True)
