import sys; sys.path.insert(0,'/work/wt-truth/.research')
from load import *; import pickle
import hitsndiffs.methods.latent_key.search as SE
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key.copies import Witnesses
if 'nowit' in sys.argv:
    SE.find_witnesses=lambda p,f: Witnesses(np.ones(p.data.n_users),np.zeros(p.data.n_users)); SE.near_equals=lambda p: np.zeros(p.data.n_users); SE.patterns=lambda d: np.arange(d.n_users)
for n in sys.argv[1].split(','):
    r,key,d=pickle.load(open('/tmp/truth/new_more_'+n+'.pkl','rb')); S=SE.search(open_engine(r)); print(n,'conf',round(S.confidence,2),'wit',round(S.witness.mean(),2))
    for m in S.modes: print('  ',m.starts[:4],round(m.evidence,1),'rho',round(sc(d['acc'],r and np.asarray(S.problem.data.choices(m.fit.key))/S.problem.data.answers_per_user),2),'slope',m.fit.population, m.fit.rounds)
