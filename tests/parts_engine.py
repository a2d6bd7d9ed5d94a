"""A toy engine: users in parts, held in a list, each on a plain engine of its own.

It shows what a new engine has to bring, and is run through the contract suite. It does not give
the answers themselves.
"""

from __future__ import annotations

import numpy as np

from hitsndiffs.data.parts import with_options
from hitsndiffs.engines import Engine
from hitsndiffs.engines.base import option_words
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

    def choices(self, weights):
        return np.concatenate(self._each(lambda part: part.choices(weights)))

    def choosers(self, scores):
        return sum(self._each(lambda part, s: part.choosers(s), scores))

    def through(self, weights, step, *arrays):
        found = self._each(lambda part, *mine: part.through(weights, step, *mine), *arrays)
        paired = isinstance(found[0], tuple)
        return tuple(map(sum, zip(*found, strict=True))) if paired else sum(found)

    def mapped(self, weights, step, *arrays):
        return np.concatenate(self._each(lambda p, *mine: p.mapped(weights, step, *mine), *arrays))

    def extremes(self, positions, first_items=None):
        low, high = np.full((2, self.n_options), [[self.n_users], [-1]])
        for (indptr, options), mine in self._each(lambda p, x: (p.responses.rows, x), positions):
            np.minimum.at(low, options, np.repeat(mine, np.diff(indptr)))
            np.maximum.at(high, options, np.repeat(mine, np.diff(indptr)))
        return low, high

    def fingerprints(self, words=None):
        words = option_words(self.n_options) if words is None else words
        return np.concatenate(self._each(lambda part: part.fingerprints(words)))

    def answer_sheets(self, users):
        return self.choosers((np.arange(self.n_users)[:, None] == users).astype(float))

    def user_number(self, label):
        found = zip(self.bounds, self._each(lambda part: part.user_number(label)), strict=False)
        return next((int(first + place) for first, place in found if place is not None), None)

    def user_labels(self, users):
        return self.some_users[users]

    @property
    def some_users(self):
        return np.concatenate(self._each(lambda part: part.some_users))

    def subset(self, users, *, keep_options=False):
        runs = [self.parts[p].responses.restrict(some) for p, some in self._runs(users)]
        return self._joined(runs, np.arange(self.n_options) if keep_options else None)

    def _runs(self, users):
        part = np.searchsorted(self.bounds, users, side="right") - 1
        for run in np.split(np.arange(len(part)), np.flatnonzero(np.diff(part)) + 1):
            if len(run):
                yield part[run[0]], np.asarray(users)[run] - self.bounds[part[run[0]]]

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
