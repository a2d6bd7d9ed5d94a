"""Whether a given order of the users is consistent with every option, in two passes over the data.

An *order* is a list of user numbers from one end to the other. It holds every user who answered
something, once. Leave out users without answers: among an option's choosers they would count as a
gap.

Number the places of the order. If the choosers of an option are neighbours, the sum of their places
says where the first of them stands. And of all sets of that many places with that sum, only
neighbours have the smallest sum of squares. So the first pass refuses nearly every order, and the
second proves the others.
"""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Ints

if TYPE_CHECKING:
    from hitsndiffs.engines import Engine

__all__ = ["block_ends", "is_consecutive"]

#: Sums of whole numbers up to 2⁵³ are exact.
EXACT_BITS = 53


def is_consecutive(data: Engine, order: npt.ArrayLike) -> bool:
    """Whether the choosers of every option are neighbours in an order of the users.

    Examples
    --------
    >>> from hitsndiffs.data.responses import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> data = open_engine(Responses.from_wide([list("aa"), list("ab"), list("bb")]))
    >>> is_consecutive(data, [0, 1, 2]), is_consecutive(data, [0, 2, 1])
    (True, False)
    """
    return block_ends(data, order) is not None


def block_ends(data: Engine, order: npt.ArrayLike) -> tuple[Ints, Ints] | None:
    """The places of each option's first and last chooser; ``None`` if there are gaps between."""
    order = np.asarray(order, dtype=np.int64)
    places = np.zeros(data.n_users, dtype=np.int64)
    places[order] = np.arange(len(order))
    counts = data.choosers_per_option
    sums = data.choosers(data.user_array(places.astype(np.float64))).astype(np.int64)
    first, rest = np.divmod(2 * sums - counts * (counts - 1), 2 * counts)
    if rest.any() or (first < 0).any() or (first + counts > len(order)).any():
        return None
    f, c = first.astype(object), counts.astype(object)
    squares_of_blocks = c * f**2 + f * c * (c - 1) + (c - 1) * c * (2 * c - 1) // 6
    if (_squares(data, places) != squares_of_blocks).any():
        return None
    return first, first + counts - 1


def _squares(data: Engine, places: Ints) -> Any:
    """For each option, the exact sum of its choosers' squared places (Python's whole numbers).

    Places are cut into digits so small that sums of their products are exact.
    """
    bits = max(1, (EXACT_BITS - data.n_users.bit_length()) // 2)
    length = max(1, -(-int(places.max(initial=0)).bit_length() // bits))
    digits = [(places >> (bits * k)) & (2**bits - 1) for k in range(length)]
    total: Any = 0
    for j, k in combinations_with_replacement(range(length), 2):
        products = data.user_array((digits[j] * digits[k]).astype(np.float64))
        sums = data.choosers(products).astype(np.int64).astype(object)
        total = total + (1 + (j != k)) * sums * 2 ** (bits * (j + k))
    return total
