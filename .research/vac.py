import hitsndiffs as hnd, numpy as np
for name,t in {'alike':np.zeros((6,4),int),'none':np.arange(40).reshape(8,5),'random':np.random.default_rng(0).random((30,10))}.items():
    R=hnd.rank(t); print(name,R.confidence,R.consistent,R.notes, R.ranks[:5])
from pathlib import Path
R=hnd.rank(hnd.simulate('samejima',users=50,items=20,seed=3).responses); print(R.readings[0]); print(R.ask(2)); R.save('/tmp/truth/r.json'); print(hnd.load('/tmp/truth/r.json')==R)
sim=hnd.simulate('samejima',users=50,items=20,seed=3); print('full key', R.confidence, hnd.rank(sim.responses,answers=sim.key).confidence, hnd.rank(sim.responses,answers=dict(list(sim.key.items())[:2])).confidence)
g={u:str(i//5) for i,u in enumerate(sim.responses.users)}; print('group',hnd.accuracy(sim.abilities,hnd.rank(sim.responses,group=g).scores))
lo,hi=R.rank_intervals(); print(((lo<=R.ranks)&(R.ranks<=hi)).all())
