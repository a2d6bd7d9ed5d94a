import sys; sys.path[:0]=['/work/wt-truth/tests']
import numpy as np
from cases_of_ability import two_camps; from factory import make_responses; from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key.search import search
for perm in (0,1):
    half=two_camps(1)[::2]; t=np.vstack([half,np.array([1,0,2,3])[half]])
    if perm:
        rng=np.random.default_rng(0); t=np.stack([rng.permutation(4)[c] for c in t.T],1)
    S=search(open_engine(make_responses(t))); print(S.confidence,S.signs); print([(m.starts,round(m.evidence,2)) for m in S.modes], None if S.habits is None else np.round(S.habits.shares,2)[:5], np.round(S.once[:5],2), np.round(S.witness[:5],2))
