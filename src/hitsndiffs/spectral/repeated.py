"""Choose among equally strong axes, independently of the order of users and items.

Any mix of two axes with the same eigenvalue is an axis too, and a solver returns whichever mix its
start and the order of the rows happen to give. Here the data choose: users and options are
coloured by who chose what (a few rounds over the colours of neighbours; names and order play no
part), and the mix closest to the colours is taken. If the data are so even that the colours say
nothing either, the solver's mix stays, and the methods report that the order is not determined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.mixing import mixed
from hitsndiffs.engines import Engine

__all__ = ["REPEATED", "colours", "settled", "turned"]

#: Two axes whose values are this close (relatively) are equally strong.
REPEATED = 1e-6
#: Rounds of colouring; colours whose part in the axes is this small do not decide the mix.
COLOURINGS, LEAST_COLOUR = 4, 1e-5


def colours(data: Engine) -> tuple[Any, Floats]:
    """A number in [-½, ½) per user and option, the same where the data cannot tell them apart.

    >>> from hitsndiffs import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> users, _ = colours(open_engine(Responses.from_wide([list("AB"), list("BA"), list("AC")])))
    >>> bool(users[0] == users[1]), bool(users[0] == users[2])  # the first and the last are alike
    (False, True)
    """
    items = data.items.of_option
    words = mixed(data.choosers_per_option.astype(np.uint64))
    users: Any = None
    for _ in range(COLOURINGS):
        users = mixed(data.fingerprints(words))
        # 20 bits of each: sums of integers are exact in any order
        seen = data.choosers((users >> np.uint64(44)).astype(np.float64)).astype(np.uint64)
        own = mixed(words ^ mixed(seen))
        whole = np.add.reduceat(own, data.items.starts[:-1])
        words = mixed(own ^ mixed(whole)[items])
    return _number(users), _number(words)


def settled(values: Floats, vectors: Floats, near: Floats) -> Floats:
    """The same axes, with equally strong ones mixed as the colours (``near``) say.

    The values fall; the vectors are orthonormal columns, including all that are equally strong.
    """
    found, first = vectors.copy(), 0
    limit = REPEATED * max(float(np.abs(values).max(initial=0.0)), 1e-300)
    for last in range(1, vectors.shape[1] + 1):
        if last < vectors.shape[1] and values[last - 1] - values[last] <= limit:
            continue
        if last - first > 1:
            found[:, first:last] = _mixed_axes(vectors[:, first:last], [near, near**2, near**3])
        first = last
    return found


def turned(vectors: Floats) -> Floats:
    """The same axes, each with its longer tail on the positive side, whatever the row order.

    >>> turned(np.array([[3.0, -3.0], [-1.0, 1.0], [-2.0, 2.0]])).tolist()
    [[3.0, 3.0], [-1.0, -1.0], [-2.0, -2.0]]
    """
    return np.where((vectors**3).sum(axis=0) < 0, -vectors, vectors)


def _mixed_axes(basis: Floats, nears: Sequence[Floats]) -> Floats:
    """An orthonormal basis of the same space: directions nearest to the vectors, then the rest."""
    chosen: list[Floats] = []
    for near in nears:
        part = basis.T @ (near / np.linalg.norm(near))
        for other in chosen:
            part = part - (other @ part) * other
        length = float(np.linalg.norm(part))
        if length <= LEAST_COLOUR or len(chosen) == basis.shape[1]:
            break
        chosen.append(part / length)
    if not chosen:
        return basis
    start = np.column_stack([*chosen, np.eye(basis.shape[1])])
    rotation, upper = np.linalg.qr(start)
    signs = np.where(np.diag(upper)[: basis.shape[1]] < 0, -1.0, 1.0)
    mixed: Floats = basis @ (rotation * signs)
    return mixed


def _number(words: Any) -> Any:
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53 - 0.5
