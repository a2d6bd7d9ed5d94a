"""Orders of the users: components, ties, which end is up, and consecutive ones.

Responses are *consistent* (the paper's C1P) when some order makes the choosers of every option
neighbours. Whether a given order does, and which one to take if any does:
:mod:`hitsndiffs.order.perfect`. All that do, in one tree: :mod:`hitsndiffs.order.pqtree`. What
prevents it if none does: :mod:`hitsndiffs.order.consistency`.
"""
