"""Whether a given order of the users is consistent with every option, in one pass over the data.

An *order* is a list of user numbers from one end to the other. It holds every user who answered
something, once. Leave out users without answers: among an option's choosers they would count as a
gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from hitsndiffs.engines import Engine

__all__ = ["is_consecutive", "option_ends"]


def is_consecutive(data: Engine, order: npt.ArrayLike, first_items: int | None = None) -> bool:
    """Whether the choosers of every option are neighbours in an order of the users.

    With ``first_items``, only this many items are looked at, or a few more: far quicker if the
    answers follow no order, because the first or second item then shows it.

    Examples
    --------
    >>> from hitsndiffs.data.responses import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> data = open_engine(Responses.from_wide([list("aa"), list("ab"), list("bb")]))
    >>> is_consecutive(data, [0, 1, 2]), is_consecutive(data, [0, 2, 1])
    (True, False)
    """
    first, last = option_ends(data, order, first_items)
    return bool((last - first + 1 == data.choosers_per_option[: len(first)]).all())


def option_ends(data: Engine, order: npt.ArrayLike, first_items: int | None = None) -> Any:
    """For each option, the places of its first and last chooser in an order."""
    order = np.asarray(order, dtype=np.int64)
    positions = np.full(data.n_users, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    return data.extremes(positions, first_items)
