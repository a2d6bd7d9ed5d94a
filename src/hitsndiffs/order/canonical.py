"""One canonical order of users, items and options, whatever order and names they came with.

Sums in another order differ in their last digits. An iteration that stops early, or stands between
two equally good solutions, magnifies that. So small data are put into an order that follows from
the answers alone before they are ranked. Then not even one bit of the result can depend on the
order of the rows or on names.

The order is found by colours: rounds of colouring tell users and options (and labels, for methods
that read them across items) apart by who chose what. If different answer sheets still share a
colour, one of them is marked and the rounds go on. Users who still cannot be told apart are
exchangeable: swapping them, and the options they chose, leaves the data the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Ints, Words
from hitsndiffs.data.mixing import mixed
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Engine
from hitsndiffs.engines.base import option_words

__all__ = ["Canonical", "Colouring", "canonical"]

#: Rounds of colouring × answers, in all: about half a second. Colours that are not told apart by
#: then stay in the order in which they came.
WORK = 12_000_000
#: Constants mixed into the colours: for marks, for items and for labels.
MARK, ITEM, LABEL = (
    np.uint64(x) for x in (0x5851F42D4C957F2D, 0x2545F4914F6CDD1D, 0xD1342543DE82EF95)
)


@dataclass(frozen=True)
class Colours:
    """A number per user, option and label that follows from the answers alone."""

    users: Words
    options: Words
    labels: Words

    @cached_property
    def tell_all_users_apart(self) -> bool:
        """Whether no two users share a colour."""
        return _how_many_differ(self.users) == len(self.users)

    @property
    def trace(self) -> int:
        """One number for all colours, whatever their order."""
        parts = (self.users, self.options, self.labels)
        return sum(int(mixed(part).sum(dtype=np.uint64)) for part in parts) % 2**64


class Colouring:
    """Colours of the users and options of some responses.

    Parameters
    ----------
    data
        The answers; every user has some, and every option was chosen.
    labels
        The number of each option's label, for methods that read labels across items.
    known_options, known_users
        Numbers of the options and users that the caller knows something about.
    """

    def __init__(
        self,
        data: Engine,
        labels: Ints | None = None,
        known_options: Ints | None = None,
        known_users: Ints | None = None,
    ) -> None:
        self.data, self._labels = data, labels
        if labels is not None:
            self._by_label = np.argsort(labels, kind="stable")
            self._of_label = np.searchsorted(
                labels[self._by_label], np.arange(int(labels.max()) + 1)
            )
        self._known_options = _marks(data.n_options, known_options)
        self._known_users = _marks(data.n_users, known_users)
        self.rounds_left = WORK // max(data.n_responses, 1)

    @cached_property
    def first(self) -> Colours:
        """The colours with nothing marked."""
        labels = 0 if self._labels is None else len(self._of_label)
        return self._settled(
            Colours(
                mixed(self.data.responses.answers_per_user.astype(np.uint64) + self._known_users),
                mixed(self.data.choosers_per_option.astype(np.uint64) + self._known_options),
                np.zeros(labels, dtype=np.uint64),
            )
        )

    @cached_property
    def fingerprints(self) -> Words:
        """The fingerprint of each user's answer sheet: equal numbers, equal answers."""
        words = option_words(self.data.n_options, seed=20261116)
        return self.data.collect(self.data.fingerprints(words))

    def marked(self, colours: Colours, user: int) -> Colours:
        """The colours after one sheet is marked."""
        mine = self.fingerprints == self.fingerprints[user]
        return self._settled(replace(colours, users=np.where(mine, MARK, 0) + colours.users))

    def label_marked(self, colours: Colours, label: int) -> Colours:
        """The colours after one label is marked."""
        mine = np.arange(len(colours.labels)) == label
        return self._settled(replace(colours, labels=np.where(mine, MARK, 0) + colours.labels))

    def alike(self, one: int, other: int) -> bool:
        """Whether nothing in the answers tells two users apart."""
        if self.first.users[one] != self.first.users[other]:
            return False
        if self.fingerprints[one] == self.fingerprints[other]:
            return True
        return self.marked(self.first, one).trace == self.marked(self.first, other).trace

    def _settled(self, colours: Colours) -> Colours:
        """Colour in rounds until nothing more is told apart."""
        told = 0
        while self.rounds_left > 0:
            self.rounds_left -= 1
            colours = self._round(colours)
            parts = (colours.users, colours.options, colours.labels)
            now = sum(_how_many_differ(part) for part in parts)
            if now == told:
                break
            told = now
        return colours

    def _round(self, old: Colours) -> Colours:
        items = self.data.items
        chosen = self.data.responses.ones @ mixed(old.options)
        users = mixed(old.users + mixed(chosen))
        seen = self.data.responses.ones.T @ mixed(users)
        options = mixed(old.options + mixed(seen))
        whole = mixed(np.add.reduceat(mixed(options), items.starts[:-1]) + ITEM)
        options = mixed(options + mixed(whole)[items.of_option])
        labels = old.labels
        if self._labels is not None:
            used = np.add.reduceat(mixed(options)[self._by_label], self._of_label)
            labels = mixed(labels + mixed(used) + LABEL)
            options = mixed(options + mixed(labels)[self._labels])
        return Colours(users, options, labels)


@dataclass(frozen=True)
class Canonical:
    """Responses in the order that follows from the answers.

    Attributes
    ----------
    responses
        The same answers in that order.
    users, items, options
        For each place in that order, the original number.
    colouring
        How they were told apart.
    """

    responses: Responses
    users: Ints
    items: Ints
    options: Ints
    colouring: Colouring


def canonical(colouring: Colouring) -> Canonical:
    """Put responses into the order that follows from the answers.

    >>> from hitsndiffs.engines import open_engine
    >>> r = Responses.from_wide([["A", "B"], ["A", "C"], ["B", "B"]])
    >>> turned = Responses.from_wide([["z", "y"], ["x", "y"], ["z", "x"]])  # the same, renamed
    >>> one, other = (canonical(Colouring(open_engine(x))) for x in (r, turned))
    >>> bool((one.responses.codes == other.responses.codes).all())
    True
    """
    colours = _told_apart(colouring)
    r = colouring.data.responses
    users = np.argsort(colours.users, kind="stable")
    of = r.option_items.astype(np.int64)
    item_words = np.add.reduceat(mixed(colours.options), r.item_starts[:-1])
    items = np.argsort(item_words, kind="stable")
    place = np.empty(r.n_items, dtype=np.int64)
    place[items] = np.arange(r.n_items)
    options = np.lexsort((colours.options, place[of]))
    return Canonical(_rearranged(r, users, options), users, items, options, colouring)


def _told_apart(colouring: Colouring) -> Colours:
    """Colours that are different for different answer sheets, and for different labels."""
    colours = colouring.first
    if not colours.tell_all_users_apart:
        _, first = np.unique(colouring.fingerprints, return_index=True)
        while (group := _smallest(colours.users[first])) is not None:
            if (found := _marked_one(colouring, colours, first[group], colouring.marked)) is None:
                return colours
            colours = found
    while (group := _smallest(colours.labels)) is not None:
        if (found := _marked_one(colouring, colours, group, colouring.label_marked)) is None:
            return colours
        colours = found
    return colours


def _marked_one(
    colouring: Colouring, colours: Colours, group: Ints, mark: Callable[[Colours, int], Colours]
) -> Colours | None:
    """Try a mark on each member of a group, and keep the result with the lowest trace.

    ``None`` if that takes longer than may be: a trial takes about as long as the one before.
    """
    best = None
    for left, one in zip(range(len(group), 0, -1), group.tolist(), strict=True):
        before = colouring.rounds_left
        found = mark(colours, one)
        if (before - colouring.rounds_left) * left >= before:
            return None
        best = found if best is None or found.trace < best.trace else best
    return best


def _smallest(words: Words) -> Ints | None:
    """The smallest group that shares a colour (among equals, the one with the lowest colour)."""
    found, sizes = np.unique(words, return_counts=True)
    several = np.flatnonzero(sizes > 1)
    if len(several) == 0:
        return None
    return np.flatnonzero(words == found[several[np.argmin(sizes[several])]])


def _rearranged(r: Responses, users: Ints, options: Ints) -> Responses:
    """The same answers with users and options (item by item) in another order."""
    of = r.option_items[options]
    items = of[np.flatnonzero(np.diff(of, prepend=-1))]
    starts = np.concatenate([[0], np.cumsum(np.diff(r.item_starts)[items])])
    place = np.empty(r.n_options, dtype=np.int64)
    place[options] = np.arange(r.n_options)
    found: dict[str, Any] = {"users": r.users[users], "items": r.items[items]}
    found |= {"option_labels": r.option_labels[options], "item_starts": starts}
    if not r.is_dense:
        indptr, before = r.some_rows(users)
        row = np.repeat(np.arange(len(users)), np.diff(indptr))
        chosen = place[before]
        rows = (indptr, np.sort(row * r.n_options + chosen) % r.n_options)
        return Responses(**found, rows=rows)
    # for each item, the new codes of its options, then the code for no answer
    none = r.codes.dtype.type(np.iinfo(r.codes.dtype).max)
    inside = place - starts[:-1].repeat(np.diff(starts))[place]
    new_codes = np.insert(inside, r.item_starts[1:], none).astype(r.codes.dtype)
    widths, begins = np.diff(r.item_starts)[items], r.item_starts[items] + items
    codes = np.minimum(r.codes[items].take(users, axis=1), widths.astype(none.dtype)[:, None])
    codes = new_codes.take(codes + begins.astype(np.int32)[:, None])
    made = Responses(**found, codes=codes)
    vars(made)["answers_per_user"] = r.answers_per_user[users]  # saves counting them again
    return made


def _marks(size: int, known: Ints | None) -> Words:
    marks = np.zeros(size, dtype=np.uint64)
    if known is not None:
        marks[known] = MARK
    return marks


def _how_many_differ(words: Words) -> int:
    """How many distinct words there are (sorting is several times as fast as ``np.unique``)."""
    ordered = np.sort(words)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(words) > 0)
