"""Orders of the users: components, ties, which end is up, and consecutive ones.

Responses are *consistent* (the paper's C1P) when some order makes the choosers of every option
neighbours. Three questions, three modules:

* Does a given order do this? :mod:`hitsndiffs.order.certificate` (one pass).
* Which orders do, if any? :mod:`hitsndiffs.order.pqtree` (all of them, in one tree).
* If none does, what prevents it? :mod:`hitsndiffs.order.consistency`.
"""
