import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle
for n in ('real_fims','real_openpsy_iq1','real_eedi_core','mcq_English','real_crowd_web'):
    r,key,d=pickle.load(open('/tmp/truth/new_'+n+'.pkl','rb'))
    for res in (15,0):
        R=hnd.rank(r,resamples=res); print(hnd.__file__[:15],n,res,round(sc(d['acc'],R.scores),3),round(keyshare(np.nan_to_num(R.fit.key_probabilities),d['oi'],d['ik']),3),R.fit.details.get('copies'),flush=True)
