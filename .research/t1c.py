import numpy as np, hitsndiffs.methods.latent_key.grid as g
g.THETA=np.linspace(-4,4,13); g.STEP=float(g.THETA[1]-g.THETA[0])
src=open('/work/wt-truth/.research/t1b.py').read().replace("P(d['C'],d['oi'],d['labels'])","P(d['C'],d['oi'],d['labels'],G=13)").replace("'more/crowd_temporal',","")
exec(src)
