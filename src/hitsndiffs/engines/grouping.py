"""Which items share a byte in the packed layout."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from hitsndiffs.data.arrays import Flags, Ints

__all__ = ["NARROW", "WIDE", "Groups"]


#: How many codes a byte can hold, and a 16-bit number.
NARROW, WIDE = 256, 65536


@dataclass(frozen=True)
class Groups:
    """Groups of items: first the narrow ones (one byte each), then the wide ones (two bytes).

    A group's code is a number in mixed radix: the first item counts in ones, the next in steps of
    the first item's number of codes, and so on.

    Parameters
    ----------
    members, starts
        Group ``g`` holds the items ``members[starts[g]:starts[g + 1]]``.
    item_starts
        Where each item's options begin.
    n_codes
        Number of codes of each item: one per option, and one for "no answer" if needed.
    table_starts
        Where the table of each group begins: 256 entries for a narrow group, one per code for a
        wide group.
    n_narrow
        Number of narrow groups.

    Examples
    --------
    Five items with three options and a sixth fit into two bytes:

    >>> groups = Groups.of(np.arange(0, 21, 3), np.zeros(6, dtype=bool))
    >>> groups.n_narrow, groups.starts.tolist()
    (2, [0, 5, 6])
    >>> groups.bytes_per_user
    2
    """

    members: Ints
    starts: Ints
    item_starts: Ints
    n_codes: Ints
    table_starts: Ints
    n_narrow: int

    @classmethod
    def of(cls, item_starts: Ints, has_gaps: Flags) -> Groups:
        """Group neighbouring items.

        Parameters
        ----------
        item_starts
            Where each item's options begin, and the end.
        has_gaps
            For each item, whether somebody did not answer it.
        """
        n_codes = np.diff(item_starts) + has_gaps
        narrow = np.flatnonzero(n_codes <= NARROW)
        wide = np.flatnonzero(n_codes > NARROW)
        starts, size = [], NARROW + 1
        for place, codes in enumerate(n_codes[narrow].tolist()):
            size *= codes
            if size > NARROW:
                starts.append(place)
                size = codes
        lengths = [NARROW] * len(starts) + n_codes[wide].tolist()
        return cls(
            members=np.concatenate([narrow, wide]).astype(np.int64),
            starts=np.array([*starts, *range(len(narrow), len(n_codes) + 1)], dtype=np.int64),
            item_starts=np.ascontiguousarray(item_starts, dtype=np.int64),
            n_codes=n_codes.astype(np.int64),
            table_starts=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            n_narrow=len(starts),
        )

    @property
    def n_groups(self) -> int:
        """Number of groups, narrow and wide."""
        return len(self.starts) - 1

    @property
    def table_length(self) -> int:
        """Total number of entries in the tables of all groups."""
        return int(self.table_starts[-1])

    @property
    def fit(self) -> bool:
        """Whether every item's codes fit into 16 bits."""
        return bool(np.all(self.n_codes <= WIDE))

    @property
    def bytes_per_user(self) -> int:
        """Memory per user, in bytes."""
        return self.n_narrow + 2 * (self.n_groups - self.n_narrow)

    def narrow_up_to(self, items: int) -> int:
        """How many narrow groups hold the first ``items`` items; all if one of them is wide."""
        inside = np.flatnonzero(self.members < items)
        groups = np.searchsorted(self.starts, inside, side="right")
        return min(int(groups.max(initial=0)), self.n_narrow)

    @property
    def arrays(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """The arrays that the kernels need."""
        return self.members, self.starts, self.item_starts, self.n_codes, self.table_starts

    @cached_property
    def item_groups(self) -> Ints:
        """The group of each item."""
        found = np.empty(len(self.n_codes), dtype=np.int64)
        found[self.members] = np.repeat(np.arange(self.n_groups), np.diff(self.starts))
        return found

    @cached_property
    def strides(self) -> Ints:
        """For each item, how much its next code adds to its group's code."""
        found = np.empty(len(self.n_codes), dtype=np.int64)
        for first, last in pairwise(self.starts):
            items = self.members[first:last]
            found[items] = np.cumprod([1, *self.n_codes[items[:-1]]])
        return found

    def steps(self) -> tuple[Ints, Ints, Ints]:
        """How to compute a user's codes from the user's options.

        Returns
        -------
        option_groups
            For each option, the group of its item.
        option_steps
            For each option, what it adds to its group's code.
        empty
            For each group, the code of a user without answers, from which to start.
        """
        n_options = np.diff(self.item_starts)
        no_answer = np.where(self.n_codes > n_options, n_options, 0)
        empty = np.zeros(self.n_groups, dtype=np.int64)
        np.add.at(empty, self.item_groups, self.strides * no_answer)
        items = np.repeat(np.arange(len(n_options)), n_options)
        places = np.arange(len(items)) - self.item_starts[items]
        added = (places - no_answer[items]) * self.strides[items]
        return self.item_groups[items], added, empty
