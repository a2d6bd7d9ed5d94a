"""How often two users agree, and how many items both answered."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines import Engine

__all__ = ["Counts", "Pairs"]

Counts = npt.NDArray[np.float32] | Floats

#: Counts of all pairs are kept if they, and all sheets together, have at most this many cells.
KEPT, SHEETS = 10_000_000, 10_000_000


class Pairs:
    """Pairs of users; what they have in common does not depend on any solution."""

    def __init__(self, data: Engine, kept: int = KEPT) -> None:
        self._data = data  # with NumPy's arrays
        self._keeps = data.n_users**2 <= kept and data.n_options * data.n_users <= SHEETS

    def of(self, users: Ints) -> tuple[Counts, Counts]:
        """Items on which everybody (rows) agrees with some users (columns), and common items."""
        if self._keeps:
            agree, common = self._all
            if (np.diff(users) == 1).all():  # neighbours: nothing is copied
                here = slice(int(users[0]), int(users[-1]) + 1)
                return agree[:, here], common[:, here]
            return agree[:, users], common[:, users]
        chosen = self._data.answer_sheets(users)
        return self._data.choices(chosen), self._data.choices(self._data.items.sum(chosen))

    @cached_property
    def _all(self) -> tuple[Counts, Counts]:
        chosen = self._data.answer_sheets(np.arange(self._data.n_users))
        answered = self._data.items.total(chosen)
        # counts of items are exact in single precision
        agree, common = (x.T @ x for x in (chosen.astype(np.float32), answered.astype(np.float32)))
        return agree, common
