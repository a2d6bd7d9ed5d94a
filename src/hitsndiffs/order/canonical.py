"""One canonical order of users, items and options, whatever order and names they came with.

Sums in another order differ in their last digits. An iteration that stops early, or stands between
two equally good solutions, magnifies that. So small data are put into an order that follows from
the answers alone before they are ranked. Then not even one bit of the result can depend on the
order of the rows or on names.

The order is found by colours: 64-bit words that follow from who chose what. In rounds, users take
up the colours of their options, and options those of their choosers, of the options of their item
and (for methods that read labels across items) of those with their label. If different answer
sheets still share a colour, one of them is marked and the rounds go on. That any of them will do,
because users who share a colour are exchangeable (swapping them, and the options they chose, leaves
the data the same), can fail only in tables as regular as strongly regular graphs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Ints, Words
from hitsndiffs.data.mixing import mixed
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Engine

__all__ = ["Canonical", "Colouring", "canonical"]

#: Rounds of colouring × answers, in all: about half a second. Colours that are not told apart by
#: then stay in the order in which they came.
WORK = 12_000_000
#: Added to the colours of what is marked.
MARK = np.uint64(0x2545F4914F6CDD1D)


@dataclass(frozen=True)
class Colours:
    """A word per user and per option."""

    users: Words
    options: Words

    @cached_property
    def n_users(self) -> int:
        """How many colours the users have."""
        return _distinct(self.users)

    def of_groups(self, group: Ints) -> Words:
        """A word for each group of options."""
        found = np.zeros(int(group.max()) + 1, dtype=np.uint64)
        np.add.at(found, group, mixed(self.options))
        words: Words = mixed(found)
        return words


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
        self.data, self.labels = data, labels
        self._items = data.items.of_option.astype(np.int64)
        self._known = known_users, known_options
        self.rounds_left = WORK // max(data.n_responses, 1)

    @cached_property
    def first(self) -> Colours:
        """The colours with nothing marked but what is known."""
        counts = self.data.responses.answers_per_user, self.data.choosers_per_option
        words = [count.astype(np.uint64) for count in counts]
        for word, known in zip(words, self._known, strict=True):
            if known is not None:
                word[known] += MARK
        return self._settled(mixed(words[0]), mixed(words[1]))

    @property
    def told_apart(self) -> Colours:
        """Colours that are different for different answer sheets, and for different labels."""
        colours = self.first
        if colours.n_users < len(colours.users):
            prints = self.data.collect(self.data.fingerprints())
            _, sheets = np.unique(prints, return_index=True)
            while self.rounds_left and (one := _shared(colours.users[sheets])) is not None:
                mine = prints == prints[sheets[one]]
                colours = self._settled(_marked(colours.users, mine), colours.options)
        if self.labels is not None:
            while self.rounds_left and (one := _shared(colours.of_groups(self.labels))) is not None:
                mine = np.asarray(self.labels == one)
                colours = self._settled(colours.users, _marked(colours.options, mine))
        return colours

    def _settled(self, users: Words, options: Words) -> Colours:
        """Colour in rounds until nothing more is told apart."""
        ones, told = self.data.responses.ones, 0
        colours = Colours(users, options)
        while self.rounds_left > 0:
            self.rounds_left -= 1
            users = mixed(colours.users + mixed(ones @ mixed(colours.options)))
            options = mixed(colours.options + mixed(ones.T @ mixed(users)))
            for group in (self._items, self.labels):
                if group is not None:
                    options = mixed(options + Colours(users, options).of_groups(group)[group])
            colours = Colours(users, options)
            if (now := colours.n_users + _distinct(options)) == told:
                break
            told = now
        return colours


@dataclass(frozen=True)
class Canonical:
    """Responses in the order that follows from the answers.

    Attributes
    ----------
    responses
        The same answers in that order.
    users, items, options
        For each place in that order, the original number.
    """

    responses: Responses
    users: Ints
    items: Ints
    options: Ints


def canonical(colouring: Colouring) -> Canonical:
    """Put responses into the order that follows from the answers.

    >>> from hitsndiffs.engines import open_engine
    >>> r = Responses.from_wide([["A", "B"], ["A", "C"], ["B", "B"]])
    >>> turned = Responses.from_wide([["z", "y"], ["x", "y"], ["z", "x"]])  # the same, renamed
    >>> one, other = (canonical(Colouring(open_engine(x))) for x in (r, turned))
    >>> bool((one.responses.codes == other.responses.codes).all())
    True
    """
    r, colours = colouring.data.responses, colouring.told_apart
    of_option = r.option_items.astype(np.int64)
    users = np.argsort(colours.users, kind="stable")
    items = np.argsort(colours.of_groups(of_option), kind="stable")
    options = np.lexsort((colours.options, _inverse(items)[of_option]))
    return Canonical(_rearranged(r, users, items, options), users, items, options)


def _rearranged(r: Responses, users: Ints, items: Ints, options: Ints) -> Responses:
    """The same answers with users, items and their options in another order."""
    sizes = np.diff(r.item_starts)[items]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    place = _inverse(options)
    found: dict[str, Any] = {"users": r.users[users], "items": r.items[items]}
    found |= {"option_labels": r.option_labels[options], "item_starts": starts}
    if not r.is_dense:
        indptr, before = r.some_rows(users)
        row = np.repeat(np.arange(len(users)), np.diff(indptr))
        return Responses(
            **found, rows=(indptr, np.sort(row * r.n_options + place[before]) % r.n_options)
        )
    # for each item, the new codes of its options, then the code for no answer
    none = np.iinfo(r.codes.dtype).max
    new = place - np.repeat(starts[_inverse(items)], np.diff(r.item_starts))
    new_codes = np.insert(new, r.item_starts[1:], none).astype(r.codes.dtype)
    old = np.minimum(r.codes[items].take(users, axis=1), sizes.astype(r.codes.dtype)[:, None])
    begins = (r.item_starts[items] + items).astype(np.int32)
    return Responses(**found, codes=new_codes.take(old + begins[:, None]))


def _inverse(order: Ints) -> Ints:
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return place


def _marked(words: Words, some: Flags) -> Words:
    return np.where(some, words + MARK, words)


def _distinct(words: Words) -> int:
    """How many distinct words there are (sorting is several times as fast as ``np.unique``)."""
    ordered = np.sort(words)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + (len(words) > 0)


def _shared(words: Words) -> int | None:
    """A member of the smallest group that shares a word (of equals, that with the lowest word)."""
    found, sizes = np.unique(words, return_counts=True)
    several = np.flatnonzero(sizes > 1)
    if len(several) == 0:
        return None
    return int(np.argmax(words == found[several[np.argmin(sizes[several])]]))
