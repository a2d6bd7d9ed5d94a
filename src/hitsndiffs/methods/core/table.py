"""The answers as flat arrays, one entry per answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.mixing import mixed
from hitsndiffs.data.ones import Ones
from hitsndiffs.engines import Engine
from hitsndiffs.methods.labels import label_numbers

__all__ = ["Table", "sums"]

#: Labels are shared (A to D, yes and no) if there are at most so many, each in so many items.
MOST_SHARED, LEAST_ITEMS = 20, 2.5
#: Where options are coded alike, every item is taken to have all of them, up to this many.
MOST_CODED = 6


def sums(values: Floats, places: Ints, count: int) -> Floats:
    """The sum of the values at each place."""
    return np.asarray(np.bincount(places, weights=values, minlength=count), dtype=float)


@dataclass(frozen=True, eq=False)
class Table:
    """Who chose what, sorted by user.

    Attributes
    ----------
    items
        Items and options.
    n_users
        Number of users.
    user, option
        Of each answer.
    whole, options
        Of a part: the table that it is a part of, and the numbers of the options there.
    """

    items: Items
    n_users: int
    user: Ints
    option: Ints
    whole: Table | None = None
    options: Ints | None = None

    @classmethod
    def of(cls, data: Engine, users: Ints | None = None) -> Table:
        """The answers of all users, or of some of them (numbered anew)."""
        indptr, option = data.rows(users)
        counts = np.diff(indptr)
        user = np.repeat(np.arange(len(counts)), counts)
        return cls(data.items, len(counts), user, np.asarray(option, dtype=np.int64))

    def part(self, users: Flags, items: Flags) -> Table:
        """The answers of some users (numbered as before) to some items."""
        options = np.flatnonzero(items[self.of_option])
        number = np.full(self.n_options, -1, dtype=np.int64)
        number[options] = np.arange(len(options))
        keep = users[self.user] & items[self.item]
        option = number[self.option[keep]]
        few = self.items.only(options)
        return Table(few, self.n_users, self.user[keep], option, whole=self, options=options)

    def in_whole(self, values: Floats, elsewhere: float) -> Floats:
        """Values of a part's options, in the whole table, with another value elsewhere."""
        if self.whole is None:
            return values
        found = np.full(self.whole.n_options, elsewhere)
        found[self.options] = values
        return found

    # -- who, what, how many ----------------------------------------------------------------

    @property
    def n_items(self) -> int:
        """Number of items."""
        return self.items.n_items

    @property
    def n_options(self) -> int:
        """Number of options."""
        return self.items.n_options

    @cached_property
    def item(self) -> Ints:
        """The item of each answer."""
        return self.items.of_option[self.option].astype(np.int64)

    @cached_property
    def of_option(self) -> Ints:
        """The item of each option."""
        return self.items.of_option.astype(np.int64)

    def cells(self, values: Floats) -> Floats:
        """Users × items: the value of the option that each user chose, 0 without an answer."""
        found = np.zeros((self.n_users, self.n_items))
        found[self.user, self.item] = values[self.option]
        return found

    @cached_property
    def counts(self) -> Floats:
        """How many users chose each option."""
        return np.bincount(self.option, minlength=self.n_options).astype(float)

    @cached_property
    def per_user(self) -> Floats:
        """How many items each user answered."""
        return np.bincount(self.user, minlength=self.n_users).astype(float)

    @cached_property
    def per_item(self) -> Floats:
        """How many users answered each item."""
        return np.bincount(self.item, minlength=self.n_items).astype(float)

    @cached_property
    def shares(self) -> Floats:
        """The share of the item's answers that each option has."""
        return self.counts / np.maximum(self.per_item[self.of_option], 1)

    def within(self, values: Floats) -> Floats:
        """The sum over each item's options."""
        return np.add.reduceat(values, self.items.starts[:-1])

    def softmax(self, logs: Floats) -> Floats:
        """Probabilities within each item from their logarithms."""
        return self.items.softmax(logs)

    def top(self, values: Floats) -> Ints:
        """The option of each item with the largest value (the first of equal ones)."""
        order = np.lexsort((-values, self.of_option))
        return order[self.items.starts[:-1]]

    def hard(self, values: Floats, sure: float = 0.9) -> Floats:
        """A key that takes the option with the largest value for right, this surely."""
        others = np.maximum(self.items.sizes - 1, 1)[self.of_option]
        key = (1 - sure) / others
        key[self.top(values)] = sure
        key[(self.items.sizes == 1)[self.of_option]] = 1.0
        return key

    def one_label(self, label: int) -> Floats:
        """The key in which one label is right in every item that has it."""
        return self.items.share((self.labels[0] == label).astype(float))

    def apart(self, key: Floats, other: Floats) -> float:
        """The share of the items' answers in which two keys differ."""
        asked = max(float((self.per_item > 0).sum()), 1.0)
        return float(np.abs(key - other).sum() / (2 * asked))

    def right(self, key: Floats) -> Floats:
        """Each user's expected number of right answers."""
        return sums(key[self.option], self.user, self.n_users)

    def score(self, key: Floats) -> Floats:
        """Each user's expected share of right answers."""
        return self.right(key) / np.maximum(self.per_user, 1)

    # -- the two sums -----------------------------------------------------------------------

    @cached_property
    def indptr(self) -> Ints:
        """Where each user's answers begin."""
        return np.searchsorted(self.user, np.arange(self.n_users + 1))

    @cached_property
    def _by_user(self) -> Ones:
        return Ones(self.indptr, self.option, self.n_options)

    @cached_property
    def _by_option(self) -> Ones:
        return self._by_user.T

    def choices(self, weights: Floats) -> Floats:
        """For each user, the sum over the options chosen."""
        found: Floats = self._by_user @ weights
        return found

    def choosers(self, scores: Floats) -> Floats:
        """For each option, the sum over the users who chose it."""
        found: Floats = self._by_option @ scores
        return found

    def alike(self, values: Floats) -> Floats:
        """One value per user, to the last bit the same for users with the same answers."""
        sheets = self._by_user @ mixed(np.arange(self.n_options, dtype=np.uint64))
        _, first, same = np.unique(sheets, return_index=True, return_inverse=True)
        return values[first[same]]

    # -- labels -----------------------------------------------------------------------------

    @cached_property
    def labels(self) -> tuple[Ints, int]:
        """The number of each option's label, and how many labels there are."""
        if self.whole is not None:
            numbers, n = self.whole.labels
            return numbers[self.options], n
        names, numbers = label_numbers(self.items)
        return numbers, len(names)

    @cached_property
    def coded(self) -> bool:
        """Whether items share their labels: yes and no, A to D, classes."""
        if self.whole is not None:
            return self.whole.coded
        n = self.labels[1]
        return 2 <= n <= MOST_SHARED and self.n_options > LEAST_ITEMS * n

    @cached_property
    def two(self) -> bool:
        """Whether all items share the same two labels."""
        return self.coded and self.labels[1] == 2

    @cached_property
    def options_each(self) -> Floats:
        """How many options each item has, with those that nobody chose."""
        n = self.labels[1]
        if self.coded and n <= MOST_CODED:
            return np.full(self.n_items, float(n))
        return np.maximum(self.items.sizes, 2.0)

    @cached_property
    def by_label(self) -> Floats:
        """Items × labels: the shares of the answers (for shared labels)."""
        numbers, n = self.labels
        table = np.zeros((self.n_items, n))
        table[self.of_option, numbers] = self.shares
        return table

    @cached_property
    def centred_votes(self) -> Floats:
        """Per option, how much more often it is chosen here than its label on average."""
        answered = self.per_item > 0
        mean = self.by_label[answered].mean(axis=0)
        centred: Floats = (self.by_label - mean)[self.of_option, self.labels[0]]
        return centred
