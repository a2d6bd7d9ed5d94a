"""Find users who are named in several parts of wide data, on the workers.

Every part hashes its users' names to 64-bit numbers and sends each number to its bucket. A bucket
that gets a number twice reports it, and the parts are asked for the name.
"""

from __future__ import annotations

from itertools import repeat
from operator import getitem
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines.dask_order import crossed, how_many_buckets
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.engines.dask import DaskEngine
    from hitsndiffs.engines.dask_parts import Part

__all__ = ["refuse_repeated_users"]

Words = npt.NDArray[np.uint64]

#: Check at most this many repeated numbers (two names may share a number by chance).
EXAMPLES = 20


def refuse_repeated_users(data: DaskEngine) -> None:
    """Raise an error if a user is named in two parts."""
    parts = data.parts
    if len(parts) == 1:
        return
    buckets = how_many_buckets(data.n_users, len(parts), data.users_in_bucket)
    cut = data.calls(words_in_buckets, parts, repeat(buckets))
    found = data.each(repeated, *crossed(data.calls, getitem, cut, buckets))
    words = np.concatenate(found)[:EXAMPLES]
    if not len(words):
        return
    owners: dict[str, list[int]] = {}
    for number, names in enumerate(data.each(named_so, parts, repeat(words))):
        for name in names:
            owners.setdefault(name, []).append(number + 1)
    for name, places in owners.items():
        if len(places) > 1:
            raise InputError(
                f"The user {name!r} is named in part {places[0]} and in part {places[1]} of the "
                "files; wide files have one row per user, so merge the rows or give them "
                "different names (for files with one row per answer, use the long layout)."
            )


def _words(part: Part) -> Words:
    import polars as pl

    names = [str(user) for user in part.responses.users.tolist()]
    words: Words = pl.Series(names, dtype=pl.String).hash(seed=0).to_numpy()
    return words


def words_in_buckets(part: Part, buckets: int) -> list[Words]:
    """The hashes of a part's names, sorted and split into buckets."""
    words = np.sort(_words(part))
    edges = (np.arange(1, buckets, dtype=object) * 2**64 // buckets).astype(np.uint64)
    return np.split(words, np.searchsorted(words, edges))


def repeated(*pieces: Words) -> Words:
    """Some of the hashes that occur more than once in a bucket."""
    words = np.sort(np.concatenate(pieces))
    found: Words = words[1:][words[1:] == words[:-1]][:EXAMPLES]
    return found


def named_so(part: Part, words: Words) -> list[Any]:
    """The part's users whose names have these hashes."""
    users = part.responses.users
    return [str(user) for user in users[np.isin(_words(part), words)].tolist()]
