"""What engines on one machine share: the responses, and NumPy user arrays."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.layouts import Rows
from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Engine
from hitsndiffs.engines.links import connected

__all__ = ["MemoryEngine"]


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

    gives_answers: bool = True

    def __init__(
        self, responses: Responses, threads: int | None = None, *, asked: str = "auto"
    ) -> None:
        self._responses, self._asked = responses, asked
        self.items = responses.structure
        self.n_users = responses.n_users
        self.threads = threads or available_cores()
        self._run = Run(self.threads)

    @property
    def responses(self) -> Responses:
        """The answers themselves."""
        return self._responses

    def user_number(self, label: Any) -> int | None:
        """The place of the user with this label (compared as text), or ``None``."""
        return self._user_places.get(str(label).strip())

    @cached_property
    def _user_places(self) -> dict[str, int]:
        labels = [str(label) for label in self._responses.users]
        return {label: place for place, label in reversed(list(enumerate(labels)))}

    def user_labels(self, users: Ints) -> Array:
        """Labels of a few users."""
        return self._responses.users[users]

    @property
    def some_users(self) -> Array:
        """All labels."""
        return self._responses.users

    def subset(self, users: Any, *, keep_options: bool = False) -> tuple[Engine, Ints]:
        """Some users on an engine of the same kind, and which options remain."""
        users = np.asarray(users)
        if users.dtype == np.bool_:
            users = np.flatnonzero(users)
        of = self._responses if keep_options else self._in_rows
        part, options = of.restrict(users.astype(np.int64), keep_options=keep_options)
        return self.opened(part), options

    @cached_property
    def _in_rows(self) -> Responses:
        """One copy as rows, so that the cost of taking a part depends only on its size."""
        r = self._responses
        return r._changed(codes=None, rows=r.rows) if r.is_dense else r

    def opened(self, part: Responses) -> Engine:
        """Other answers on an engine of the same kind."""
        from hitsndiffs.engines.opening import open_engine

        return open_engine(part, self._asked, self.threads)

    def some_rows(self, users: Ints) -> Rows:
        """The options that some users chose, as rows."""
        return self._responses.some_rows(users)

    def answer_sheets(self, users: Ints) -> Floats:
        """The answer sheets of a few users: one column each, 1 for the options chosen."""
        indptr, options = self.some_rows(users)
        columns = np.zeros((self.n_options, len(users)))
        columns[options, np.repeat(np.arange(len(users)), np.diff(indptr))] = 1.0
        return columns

    def components(self, linked_by: str) -> Ints:
        """The number of each user's connected component."""
        return connected(self, linked_by)
