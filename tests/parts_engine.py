"""A toy engine: users in parts, held in a list, each on a plain engine of its own.

It shows what a new engine has to bring, and is run through the contract suite.
"""

from __future__ import annotations

import numpy as np

from hitsndiffs.data.parts import with_options
from hitsndiffs.engines import Engine
from hitsndiffs.engines.numpy import NumpyEngine


class PartsEngine(Engine):
    name, threads = "parts", 1

    def __init__(self, parts):
        self.parts = [NumpyEngine(part) for part in parts]
        self.items = parts[0].structure
        self.bounds = np.cumsum([0, *(part.n_users for part in parts)])
        self.n_users = int(self.bounds[-1])

    @classmethod
    def of(cls, responses, n_parts=3):
        users = np.array_split(np.arange(responses.n_users), min(n_parts, responses.n_users))
        return cls([responses.restrict(some, keep_options=True)[0] for some in users])

    def _each(self, act, *arrays):
        split = [np.split(np.asarray(x), self.bounds[1:-1]) for x in arrays]
        return [act(part, *mine) for part, *mine in zip(self.parts, *split, strict=True)]

    def choices(self, weights, step=None, *arrays):
        return np.concatenate(self._each(lambda p, *own: p.choices(weights, step, *own), *arrays))

    def choosers(self, scores):
        return sum(self._each(lambda part, s: part.choosers(s), scores))

    def through(self, weights, step, *arrays):
        found = self._each(lambda part, *mine: part.through(weights, step, *mine), *arrays)
        paired = isinstance(found[0], tuple)
        return tuple(map(sum, zip(*found, strict=True))) if paired else sum(found)

    def rows(self, users=None):
        users = np.arange(self.n_users) if users is None else np.asarray(users)
        found = [part.responses.some_rows(mine) for part, mine in self._runs(users)]
        lengths = np.concatenate([np.diff(indptr) for indptr, _ in found])
        return np.cumsum([0, *lengths]), np.concatenate([options for _, options in found])

    def user_number(self, label):
        found = zip(self.bounds, self._each(lambda part: part.user_number(label)), strict=False)
        return next((int(first + place) for first, place in found if place is not None), None)

    def user_labels(self, users):
        return np.concatenate([part.responses.users for part in self.parts])[users]

    def opened(self, part):
        return PartsEngine.of(part)

    def subset(self, users, *, keep_options=False):
        users = np.flatnonzero(users) if users.dtype == bool else users
        runs = [part.responses.restrict(some) for part, some in self._runs(users)]
        return self._joined(runs, np.arange(self.n_options) if keep_options else None)

    def _runs(self, users):
        part = np.searchsorted(self.bounds, users, side="right") - 1
        for run in np.split(np.arange(len(part)), np.flatnonzero(np.diff(part)) + 1):
            if len(run):
                yield self.parts[part[run[0]]], users[run] - self.bounds[part[run[0]]]

    def _joined(self, found, kept=None):
        if kept is None:
            kept = np.unique(np.concatenate([options for _, options in found]))
        whole = self.parts[0].responses
        rows = [(some.users, some.rows[0], options[some.rows[1]]) for some, options in found]
        return PartsEngine([_of_some(whole, *mine, kept) for mine in rows]), kept


def _of_some(whole, users, indptr, options, kept):
    """The answers of some users, with the options that any part has."""
    some = whole._changed(users=users, codes=None, rows=(indptr, options))
    return with_options(some, kept)
