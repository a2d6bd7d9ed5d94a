import sys; sys.path[:0]=['/work/wt-truth/.research','/work/wt-truth']
from load import *; import pickle,warnings; warnings.simplefilter('ignore')
import hitsndiffs.methods.latent_key.search as SE
from hitsndiffs.engines import open_engine
for n in ('real_eedi_core','more_digit_matrices_lm','real_openpsy_iq1','more_gk_a','more_sp_art','more_sp_lesions','more_crowd_temporal','more_copa_dialect_lm'):
    r,key,d=pickle.load(open('/tmp/truth/new_'+n+'.pkl','rb')); R=hnd.rank(r); print(n,round(sc(d['acc'],R.scores),3),round(keyshare(np.nan_to_num(R.fit.key_probabilities),d['oi'],d['ik']),3),round(R.confidence,2),flush=True)
from benchmarks.arena.structures import *; from benchmarks.arena.measuring import true_shares; from hitsndiffs.results.metrics import accuracy
for k in ('cliques','runs and letters','sparse true or false'):
    o=[]
    for s in range(10):
        c=structure(k,s); S=SE.search(open_engine(c.responses)); D=S.problem.data; o.append(accuracy(true_shares(c),D.choices(S.best.fit.key)/D.answers_per_user))
    print(k,round(np.mean(o),3),'wrong',sum(x<.3 for x in o),flush=True)
