import sys; sys.path[:0]=['/work/wt-truth','/work/wt-truth/tests']
import numpy as np, warnings; warnings.simplefilter('ignore')
import hitsndiffs as hnd
from cases_of_ability import exam, with_own_letters
from benchmarks.arena.structures import structure
from benchmarks.arena.measuring import true_shares
L='ABCD'
def show(name,r,key,truth,answers=None,**kw):
    R=hnd.rank(r,answers=answers,**kw); print('##',name,'| answers',answers); print('sure %.0f%%'%(100*R.confidence),'Spearman %.2f'%hnd.accuracy(truth,R.scores))
    for n in R.notes: print('  *',n)
    print('  readings',[(round(x.probability,2),round(x.agreement,2)) for x in R.readings],'ask',[(q.item,q.holds) for q in R.ask()]); return R
# class with copies
t,_=exam(11,users=60,items=30); t=with_own_letters(t,3); right=with_own_letters(np.zeros((1,30),int),3)[0]
rng=np.random.default_rng(4); src=int(np.argsort((t==right).mean(1))[8]); took=rng.random((20,30))<.92; t[-20:]=np.where(took,t[src],t[-20:])
tab=np.array(list(L))[t]; truth=(t==right).mean(1); r=hnd.Responses.from_wide(tab.tolist(),users=[f'student-{i+1:02d}' for i in range(60)],items=[f'q{i+1}' for i in range(30)]); key={f'q{i+1}':L[right[i]] for i in range(30)}
R=show('class',r,key,truth); show('class',r,key,truth,{q.item:key[q.item] for q in R.ask()}); print(R.fit.details['n_alike'])
for k,s in (('runs and letters',8),('runs and letters',3),('misconception',6)):
    c=structure(k,s); tr=true_shares(c); R=show(k+str(s),c.responses,c.key,tr); show(k,c.responses,c.key,tr,{q.item:c.key[q.item] for q in R.ask()})
