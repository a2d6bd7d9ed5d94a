"""The plain engine: a sparse matrix, no compilation, quick to import."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.layouts import Rows
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Engine, Step

__all__ = ["MemoryEngine", "NumpyEngine"]


#: Passes with at least this many columns use a dense matrix, if it has at most this many cells and
#: at least this share of ones. (If half are ones, products take 40 % of the time.)
MANY_COLUMNS = 8
TABLE_CELLS, TABLE_FULL = 4_000_000, 0.3


class MemoryEngine(Engine):
    """Base class of engines with the answers in this process's memory.

    Parameters
    ----------
    responses
        The data.
    threads
        Number of threads (default: all cores). The results are the same for any number.
    asked
        The engine that the caller named; parts of the data are opened with the same name.
    """

    #: The answers themselves.
    responses: Responses

    def __init__(
        self, responses: Responses, threads: int | None = None, *, asked: str = "auto"
    ) -> None:
        self.responses, self._asked = responses, asked
        self.items = responses.structure
        self.n_users = responses.n_users
        self.threads = threads or available_cores()
        self._run = Run(self.threads)

    def user_labels(self, users: Ints) -> Array:
        """Labels of a few users."""
        return self.responses.users[users]

    def user_number(self, label: Any) -> int | None:
        """The place of the user with this label (compared as text), or ``None``."""
        return self._user_places.get(str(label).strip())

    @cached_property
    def _user_places(self) -> dict[str, int]:
        labels = [str(label) for label in self.responses.users]
        return {label: place for place, label in reversed(list(enumerate(labels)))}

    def rows(self, users: Ints | None = None) -> Rows:
        """The options that some users chose (default: all)."""
        return self.responses.rows if users is None else self.responses.some_rows(users)

    def subset(self, users: Any, *, keep_options: bool = False) -> tuple[Engine, Ints]:
        """Some users on an engine of the same kind, and which options remain."""
        users = self.collect(users)
        if users.dtype == np.bool_:
            users = np.flatnonzero(users)
        of = self.responses if keep_options else self._in_rows
        part, options = of.restrict(users.astype(np.int64), keep_options=keep_options)
        return self.opened(part), options

    @cached_property
    def _in_rows(self) -> Responses:
        """One copy as rows, so that the cost of taking a part depends only on its size."""
        r = self.responses
        return r._changed(codes=None, rows=r.rows) if r.is_dense else r

    def opened(self, part: Responses) -> Engine:
        """Other answers on an engine of the same kind."""
        from hitsndiffs.engines import open_engine

        return open_engine(part, self._asked, self.threads)


class NumpyEngine(MemoryEngine):
    """The sums as products with a sparse matrix of ones."""

    name: ClassVar[str] = "numpy"

    def choices(self, weights: Array, step: Step | None = None, *arrays: Any) -> Any:
        """``C w``, or ``step(C w, …)``."""
        sums = self.responses.ones @ weights
        return sums if step is None else step(sums, *arrays)

    def choosers(self, scores: Floats) -> Floats:
        """``Cᵀ s``."""
        return self.responses.ones.T @ scores  # type: ignore[no-any-return]

    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)`` with all users as one block: small data fit in the cache."""
        many = weights.ndim == 2 and not 0 < weights.shape[1] < MANY_COLUMNS
        table = self._table if many else None
        ones = self.responses.ones
        rows, columns = (ones, ones.T) if table is None else (table, table.T)
        stepped = step(rows @ weights, *arrays)
        if isinstance(stepped, tuple):
            return columns @ stepped[0], stepped[1]
        return columns @ stepped

    @cached_property
    def _table(self) -> Floats | None:
        """The dense matrix of ones and zeros, if it is small and full: its products are faster."""
        cells = self.n_users * self.n_options
        if cells > TABLE_CELLS or self.n_responses < TABLE_FULL * cells:
            return None
        return self.responses.ones.toarray()
