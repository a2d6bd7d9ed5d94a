"""Which items share a byte in the packed layout, on threads and on a GPU.

Items form a *group* while the product of their numbers of codes is at most 256 (an item has one
code per option, and one more for "no answer" only if somebody did not answer it). One byte per user
and group then holds the answers to all its items. An item with more than 256 codes forms its own
*wide* group: a 16-bit number per user. Four narrow groups form a *quad*, one 32-bit number per
user; the last quad may be padded with empty groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hitsndiffs.data.arrays import Flags, Ints

__all__ = ["Groups"]


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
        Where the table of each group begins, and the end: 256 entries for each narrow group of a
        quad, one per code for a wide group.
    n_narrow
        Number of narrow groups.

    Examples
    --------
    Five items with three options and a sixth fit into two groups, and these into one quad:

    >>> groups = Groups.of(np.arange(0, 21, 3), np.zeros(6, dtype=bool))
    >>> groups.n_narrow, groups.starts.tolist(), groups.bytes_per_user
    (2, [0, 5, 6], 4)
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
        n_codes = (np.diff(item_starts) + has_gaps).astype(np.int64)
        narrow = np.flatnonzero(n_codes <= NARROW)
        wide = np.flatnonzero(n_codes > NARROW)
        starts, size = [], NARROW + 1
        for place, codes in enumerate(n_codes[narrow].tolist()):
            size *= codes
            if size > NARROW:
                starts.append(place)
                size = codes
        n_narrow = len(starts)
        wide_tables = 4 * NARROW * -(-n_narrow // 4) + np.cumsum([0, *n_codes[wide]])
        return cls(
            members=np.concatenate([narrow, wide]).astype(np.int64),
            starts=np.array([*starts, *range(len(narrow), len(n_codes) + 1)], dtype=np.int64),
            item_starts=np.ascontiguousarray(item_starts, dtype=np.int64),
            n_codes=n_codes,
            table_starts=np.concatenate([NARROW * np.arange(n_narrow), wide_tables]),
            n_narrow=n_narrow,
        )

    @property
    def n_quads(self) -> int:
        """Number of 32-bit numbers per user."""
        return -(-self.n_narrow // 4)

    @property
    def n_wide(self) -> int:
        """Number of 16-bit numbers per user."""
        return len(self.starts) - 1 - self.n_narrow

    @property
    def bytes_per_user(self) -> int:
        """Memory per user, in bytes."""
        return 4 * self.n_quads + 2 * self.n_wide

    @property
    def table_length(self) -> int:
        """Total number of entries in the tables of all groups."""
        return int(self.table_starts[-1])

    @property
    def fit(self) -> bool:
        """Whether every item's codes fit into 16 bits."""
        return bool(np.all(self.n_codes <= WIDE))

    @property
    def wide_starts(self) -> Ints:
        """Where the tables of the wide groups begin, and the end."""
        return self.table_starts[self.n_narrow :]
