import sys; sys.path[:0]=['/work/wt-truth/tests','/work/wt-truth/.research']
import numpy as np
from test_leaning import true_or_false; from factory import make_responses; from hitsndiffs.engines import open_engine; import hitsndiffs as hnd
from hitsndiffs.methods.latent_key.search import search
for s in (4,5,6):
    t,right=true_or_false(s,users=150,items=200,answered=.15); r=make_responses(t); D=open_engine(r); S=search(D); ans=(t>=0)
    print(s,'conf',round(S.confidence,2),'hds',round(hnd.accuracy(right,hnd.rank(r,'dawid-skene',model='hierarchical').scores),2),'maj',round(hnd.accuracy(right,hnd.rank(r,'majority').scores),2))
    for m in S.modes: print('   ',m.starts,round(m.evidence,1),round(hnd.accuracy(right,D.choices(m.fit.key)/D.answers_per_user),2),m.fit.population,round(float(m.witnesses.weights.mean()),2))
