import sys; sys.path[:0]=['/work/wt-truth/.research','/work/wt-truth']
from load import *; import pickle,warnings; warnings.simplefilter('ignore')
import hitsndiffs.methods.latent_key.copies as C, hitsndiffs.methods.latent_key.search as SE
from hitsndiffs.engines import open_engine
for near in (.5,.6,.7):
    C.NEAR=near; out=[]
    for n in ('real_eedi_core','more_digit_matrices_lm','more_syntax_lm','more_crt_lm','real_crowd_web'):
        r,key,d=pickle.load(open('/tmp/truth/new_'+n+'.pkl','rb')); D=open_engine(r); S=SE.search(D); k=S.best.fit.key
        out.append((n[5:9],round(float(sc(d['acc'],np.asarray(D.choices(k)/D.answers_per_user))),3),round(float(keyshare(k,d['oi'],d['ik'])),3)))
    print(near,out,flush=True)
from benchmarks.arena.structures import *; from benchmarks.arena.measuring import true_shares; from hitsndiffs.results.metrics import accuracy
for near in (.5,.7):
    C.NEAR=near
    for k in ('runs and letters','letters','runs'):
        o=[]
        for s in range(8):
            c=structure(k,s); S=SE.search(open_engine(c.responses)); D=S.problem.data; o.append(accuracy(true_shares(c),D.choices(S.best.fit.key)/D.answers_per_user))
        print(near,k,round(np.mean(o),3),'wrong',sum(x<.3 for x in o),flush=True)
