"""Turn the partitions of a Dask frame into packed parts on the workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise, repeat
from operator import getitem
from typing import Any, Protocol

import numpy as np
from dask.delayed import Delayed, delayed
from distributed import Client

from hitsndiffs.data.arrays import Array, Words
from hitsndiffs.data.cells import Skipped, normalise
from hitsndiffs.data.encode import OptionBook
from hitsndiffs.data.frames import further_names, long_columns, long_table, wide_table
from hitsndiffs.data.items import Items
from hitsndiffs.data.labels import Place, label_array
from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.parts import joined
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.dask import HERE, DaskEngine, Part, same
from hitsndiffs.engines.dask_order import crossed, how_many_buckets
from hitsndiffs.errors import InputError

__all__ = ["Labels", "Pieces", "encoded_part", "engine_of_frame", "joined_items", "packed"]


#: Check at most this many repeated numbers of users (two names may share a number by chance).
EXAMPLES = 20


class Pieces(Protocol):
    """Files that the workers read themselves, one piece at a time."""

    columns: list[Any]
    notes: list[str]

    def head(self, names: list[Any]) -> Any:
        """The first rows of some columns, in this process."""

    def pieces(self, names: list[Any]) -> Sequence[Callable[[], Any]]:
        """The pieces with some columns, for the workers to read; each has a ``place``."""

    def to_frame(self, names: list[Any]) -> Any:
        """Some columns as a Dask frame, which can be shuffled."""


def engine_of_frame(
    frame: Any,
    client: Client,
    *,
    layout: str = "auto",
    user: str | None = None,
    item: str | None = None,
    option: str | None = None,
    duplicates: str = "error",
    as_text: bool = False,
    notes: Sequence[str] = (),
    here_up_to: int | None = None,
) -> DaskEngine:
    """Pack the partitions of a Dask frame on the workers that hold them.

    Parameters
    ----------
    frame
        A Dask frame, or pieces of files: wide (one row per user) or long (one row per answer).
    client
        A connection to the scheduler.
    layout
        ``"wide"``, ``"long"``, or ``"auto"``: long if the user, item and option columns are
        recognised by their names.
    user, item, option
        The columns; recognised by their names when not given.
    duplicates
        For long data, what to do if a user gave two different answers to an item:
        ``"error"``, ``"first"`` or ``"last"``.
    as_text
        Whether all labels become texts, as for files.
    notes
        Sentences about what was assumed so far.
    here_up_to
        Up to this many answers (default: 5 million), methods fetch them and are fitted in this
        process, which is faster; 0 means never.
    """
    names, given = list(frame.columns), {"user": user, "item": item, "option": option}
    is_frame = hasattr(frame, "shuffle")
    said = [*notes, *([] if is_frame else frame.notes)]
    if layout == "auto":
        layout = _layout_of(names, given)
    if layout == "long":
        columns = long_columns(names, given, Place("the Dask frame"), said)
        frame = frame[list(columns)] if is_frame else frame.to_frame(list(columns))
        order = _first_seen(frame, columns[1], client)
        # a user's rows may be in any file: bring them together
        blocks = frame.shuffle(on=columns[0]).to_delayed()
        roles: dict[str, Any] = dict(zip(("user", "item", "option"), columns, strict=True))
    else:
        column = _user_column(names, user, said)
        no_items = [column]
        if column is not None:
            no_items += further_names(column, names, partial(_names_rows, frame), said)
        roles = {} if column is None else {"user": column}
        order = [name for name in names if name not in no_items]
        wanted = [*roles.values(), *order]
        blocks = frame[wanted].to_delayed() if is_frame else frame.pieces(wanted)
        if column is None:
            said.append("There is no user column: the users are numbered from 0.")
    data = _packed_parts(blocks, client, layout, roles, duplicates, order, as_text, said)
    data.here_up_to = HERE if here_up_to is None else here_up_to
    if layout == "wide" and "user" in roles:
        _refuse_repeated_users(data)
    return data


def _packed_parts(
    blocks: Sequence[Any],
    client: Client,
    layout: str,
    roles: dict[str, Any],
    duplicates: str,
    order: list[Any],
    as_text: bool,
    notes: list[str],
) -> DaskEngine:
    # 1. the labels in each piece; consecutive pieces will form one part
    named = "user" in roles
    given = (layout, roles, duplicates, named)
    groups = _in_groups(blocks, sum(client.nthreads().values()))
    if not isinstance(blocks[0], Delayed):  # files: one task reads a whole part, nothing moves
        encoded = [client.submit(encoded_parts, own, *given, pure=False) for own in groups]
    else:
        code = delayed(encoded_part, pure=False)
        pieces = client.compute([code(block, *given) for block in blocks])
        encoded = [
            client.submit(listed, *own, pure=False) for own in _in_groups(pieces, len(groups))
        ]
    found = client.gather(client.map(labels_of, encoded, pure=False))
    labels = [piece for own in found for piece in own]
    order = [item.strip() if isinstance(item, str) else item for item in order]
    items = joined_items(labels, order, as_text)
    n_users = sum(piece.n_users for piece in labels)
    if n_users < 2 or not items.n_options:
        raise InputError(
            f"{n_users:,} users and {items.n_options:,} options were found in all partitions; "
            "a ranking needs at least two users with answers."
        )
    # 2. the pieces with the options of all parts, packed
    rows = [piece.n_users + piece.n_silent for piece in labels]
    firsts = [None if named else first for first in accumulate(rows, initial=0)]
    shared = client.submit(same, items, pure=False)
    parts, done = [], 0
    for own, pieces_seen in zip(encoded, found, strict=True):
        if any(piece.n_users for piece in pieces_seen):
            starts = firsts[done : done + len(pieces_seen)]
            parts.append(client.submit(packed, shared, as_text, starts, own, pure=False))
        done += len(pieces_seen)
    sizes = client.gather(client.map(getattr, parts, ["n_users"] * len(parts), pure=False))
    silent = sum(part.n_silent for part in labels)
    if silent:
        notes.append(f"Left out {silent:,} users who gave no answers and so cannot be ranked.")
    more = dict.fromkeys(note for part in labels for note in part.notes)
    return DaskEngine(client, parts, sizes, items, [*notes, *(n for n in more if n not in notes)])


def _in_groups(blocks: Sequence[Any], groups: int) -> list[list[Any]]:
    """Split the blocks into groups of consecutive blocks, of about equal length."""
    count = min(groups, len(blocks))
    cuts = [len(blocks) * n // count for n in range(count + 1)]
    return [list(blocks[a:b]) for a, b in pairwise(cuts)]


def _layout_of(names: list[Any], given: dict[str, str | None]) -> str:
    if given["item"] is not None or given["option"] is not None:
        return "long"
    fitting = [given["user"] or recognise("user", names)]
    fitting += [recognise(role, names) for role in ("item", "option")]
    return "long" if all(fitting) else "wide"


def _user_column(names: list[Any], user: str | None, notes: list[str]) -> Any:
    if user is not None:
        return find_column(user, names, where="the Dask frame", argument="user")
    fitting = recognise("user", names, wide=True)
    if not fitting:
        return None
    notes.append(f"Recognised {fitting[0]!r} as the user column.")
    return fitting[0]


def _names_rows(frame: Any, name: Any) -> bool:
    """Whether a column has different values in all of the first rows."""
    is_frame = hasattr(frame, "shuffle")
    head = frame[[name]].head(1000, npartitions=1) if is_frame else frame.head([name])
    return len(set(head[name])) == len(head)


def _first_seen(frame: Any, item: Any, client: Client) -> list[Any]:
    """All items in order of first appearance."""
    blocks = frame[[item]].to_delayed()
    seen = client.compute(
        delayed([delayed(distinct, pure=False)(block, item) for block in blocks])
    ).result()
    return list(dict.fromkeys(label for part in seen for label in part))


# -- on the workers: the labels of a piece, and a part from its pieces ----------------------------


class Labels:
    """The items and options found in a part, and its notes."""

    def __init__(self, encoded: Responses) -> None:
        self.items = encoded.items.tolist()
        bounds = encoded.item_starts.tolist()
        options = encoded.option_labels.tolist()
        self.options = [options[a:b] for a, b in pairwise(bounds)]
        self.n_users = int((encoded.answers_per_user > 0).sum())
        self.n_silent = len(encoded.users) - self.n_users
        self.notes = encoded.notes


def encoded_part(
    frame: Any, layout: str, columns: dict[str, Any], duplicates: str, named: bool = True
) -> Responses:
    """Encode a part's rows with its own labels; pieces of files are read in the same task."""
    place = None
    if callable(frame):
        frame, place = frame(), frame.place
    if layout == "long":
        return long_table(frame, **columns, duplicates=duplicates, whole=False, place=place)
    if named:
        return wide_table(frame, **columns, whole=False, place=place)
    return wide_table(frame, users=range(len(frame)), whole=False, place=place)


def distinct(frame: Any, column: Any) -> list[Any]:
    """The distinct values of a column in order of first appearance, without nulls."""
    found: list[Any] = frame[column].dropna().drop_duplicates().tolist()
    return found


def encoded_parts(blocks: list[Any], *given: Any) -> list[Responses]:
    """Encode several pieces of files, one after another."""
    return [encoded_part(block, *given) for block in blocks]


def listed(*pieces: Responses) -> list[Responses]:
    """The pieces that will form one part, as a list."""
    return list(pieces)


def labels_of(pieces: list[Responses]) -> list[Labels]:
    """What the client must know about some pieces."""
    return [Labels(encoded) for encoded in pieces]


def joined_items(parts: list[Labels], order: list[Any], as_text: bool) -> Items:
    """The items and options of all parts, in the order that one machine would give them.

    Parameters
    ----------
    parts
        What was found in each part.
    order
        All items, in order; those that nobody answered are left out.
    as_text
        Whether all option labels are texts (files), or numbers stay numbers.

    Examples
    --------
    >>> import pandas as pd
    >>> frames = [pd.DataFrame({"q": ["B", "A"]}), pd.DataFrame({"q": ["C"]})]
    >>> parts = [encoded_part(f, "wide", {}, "error") for f in frames]
    >>> joined_items(labels_of(parts), ["q"], False).option_labels.tolist()
    ['A', 'B', 'C']
    """
    books, skipped = {item: OptionBook() for item in order}, Skipped()
    for part in parts:
        for item, options in zip(part.items, part.options, strict=True):
            books[item].number(options, skipped)
    items = [item for item in order if len(books[item])]
    return Items.of(items, [books[item].ordered(as_text=as_text)[0] for item in items])


def packed(
    items: Items, as_text: bool, first_users: list[int | None], pieces: list[Responses]
) -> Part:
    """Pack some pieces with the items and options of all; users without answers are left out.

    Parameters
    ----------
    items
        The items of all parts.
    as_text
        Whether user labels become texts.
    first_users
        For each piece, the number of its first user if users are numbered; ``None`` if they have
        names.
    pieces
        Responses pieces, each with its own labels.
    """
    some = [k for k, piece in enumerate(pieces) if len(piece.items)]
    pieces, first_users = [pieces[k] for k in some], [first_users[k] for k in some]
    users = _joined_users(as_text, first_users, pieces)
    numbers = {
        (item, normalise(label)): number
        for number, (item, label) in enumerate(
            zip(items.labels[items.of_option].tolist(), items.option_labels.tolist(), strict=True)
        )
    }
    tables = [_table(piece, numbers) for piece in pieces]
    ends = np.cumsum([len(piece.users) for piece in pieces])
    who = np.split(np.arange(len(users)), ends[:-1])
    responses, _, _ = joined(pieces, users, items, who, tables, "dask")
    if not (responses.answers_per_user > 0).all():
        responses = responses.select(responses.answers_per_user > 0, keep_options=True)
    return Part(responses)


def _joined_users(as_text: bool, first_users: list[int | None], pieces: list[Responses]) -> Array:
    users = [
        piece.users.tolist() if first is None else range(first, first + len(piece.users))
        for first, piece in zip(first_users, pieces, strict=True)
    ]
    return label_array([str(user) if as_text else user for some in users for user in some])


def _table(piece: Responses, numbers: dict[tuple[Any, Any], int]) -> Array:
    """The number of each of the piece's options among the options of all."""
    own = np.repeat(np.arange(len(piece.items)), np.diff(piece.item_starts))
    names, labels = piece.items.tolist(), piece.option_labels.tolist()
    return np.array(
        [numbers[names[i], normalise(label)] for i, label in zip(own, labels, strict=True)],
        dtype=np.int64,
    )


# -- users who are named in several parts of wide data --------------------------------------------
#
# Every part hashes its users' names to 64-bit numbers and sends each number to its bucket. A bucket
# that gets a number twice reports it, and the parts are asked for the name.


def _refuse_repeated_users(data: DaskEngine) -> None:
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
