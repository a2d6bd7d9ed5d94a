import numpy as np
import sys,json; sys.path[:0]=['/work/wt-truth']
from benchmarks.arena.calibration import *
from pathlib import Path
from math import erf
R=[json.loads(l) for l in open('/tmp/truth/signs.jsonl')]; 
for r in R:
    s=r['signs']; s['luck']=min(.5*(1+erf(s['steadiness']/2**.5)),1)
names_all=[n for n in R[0]['signs']]
def show(names,ridge,cap=True,kinds=False):
    said=left_out(R,names,ridge)
    if cap: said=np.minimum(said,[max(r['signs']['luck'],.5) if not r['signs']['alone'] else 1 for r in R])
    j=judged(R,said); w=sum(k['wrong above 0.6'] for k in j['kinds'].values())
    print(len(names),ridge,'brier %.4f err %.3f wrong>.6 %d'%(j['brier'],j['calibration error'],w), 'sure',sum(k['sure'] for k in j['kinds'].values()))
    if kinds:
        for k,v in j['kinds'].items(): print('   %-28s'%k,{a:round(b,2) for a,b in v.items()})
    return said
import itertools
base=[n for n in names_all if n!='luck']
show(base,2.); show(base,10.); show(base,30.)
for drop in base: print('drop',drop,end=' '); show([n for n in base if n!=drop],10.)
show(base,10.,kinds=True)
