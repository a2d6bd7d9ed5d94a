"""Consecutive ones: orders of the users in which the choosers of every option are neighbours.

Responses are *consistent* (the paper's C1P) when there is such an order. Three questions:

* does a given order do it? :func:`is_consecutive`, :func:`broken_options` (one pass);
* does any order do it, and which? :func:`is_c1p`, :class:`PQTree` (all of them, in one tree);
* if none does, what is in the way, and how far off are the data? :func:`analyse`.
"""

from hitsndiffs.c1p.certificate import broken_options, extra_blocks, is_consecutive
from hitsndiffs.c1p.consistency import Consistency, analyse, is_c1p
from hitsndiffs.c1p.pqtree import PQTree

__all__ = [
    "Consistency",
    "PQTree",
    "analyse",
    "broken_options",
    "extra_blocks",
    "is_c1p",
    "is_consecutive",
]
