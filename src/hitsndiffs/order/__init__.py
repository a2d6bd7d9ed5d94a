"""Orders of the users: components, ties, which end is up, and consecutive ones.

Responses are *consistent* (the paper's C1P) when some order makes the choosers of every option
neighbours. Three questions, three modules:

* does a given order do it? :mod:`hitsndiffs.order.certificate` (one pass);
* does any order do it, and which? :mod:`hitsndiffs.order.pqtree` (all of them, in one tree);
* if none does, what is in the way? :mod:`hitsndiffs.order.consistency`.
"""
