"""What the workers of a cluster do with their parts of the users.

A part is an engine for some of the users, with the items and options of all. Its methods and the
functions here are sent to the workers. They return arrays over the part's users, which stay there,
or arrays over the options, which are added up.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array
from hitsndiffs.data.cells import (
    Skipped,
    normalise,
    smallest,
)
from hitsndiffs.data.encode import OptionBook
from hitsndiffs.data.frames import long_table, wide_table
from hitsndiffs.data.items import Items
from hitsndiffs.data.labels import label_array, label_bytes
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Step
from hitsndiffs.engines.threads import ThreadsEngine

__all__ = ["Labels", "Part", "encoded_part", "joined_items", "labels_of", "packed"]


class Part(ThreadsEngine):
    """Some users' answers, packed, with all options."""

    def __init__(self, responses: Responses) -> None:
        super().__init__(responses, threads=1)  # a worker runs a task per thread

    def __sizeof__(self) -> int:
        """The size, from which the scheduler sees what moving it costs: work goes to the part."""
        responses = self.responses
        held = (responses.codes,) if responses.is_dense else responses.rows
        answers = self.layout.nbytes + sum(array.nbytes for array in held)
        return 10**6 + answers + label_bytes(responses.users)

    def __reduce__(self) -> Any:
        return Part, (self.responses,)

    def choices(self, weights: Array) -> Array:
        """``C w``, stored user after user."""
        return np.ascontiguousarray(super().choices(weights))

    def mapped(self, weights: Array, step: Step, *arrays: Array) -> Array:
        """``step(C w, …)``, stored user after user."""
        return np.ascontiguousarray(super().mapped(weights, step, *arrays))

    def with_users(self, marks: Array) -> Part:
        """The marked users, with all options."""
        return Part(self.responses.select(marks, keep_options=True))

    def counted(self) -> tuple[int, Array]:
        """How many users there are, and how many of them chose each option."""
        return self.n_users, self.choosers_per_option


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
    labels: list[Any] = []
    for item in items:
        labels += books[item].ordered(as_text=as_text)[0]
    starts = np.cumsum([0, *(len(books[item]) for item in items)])
    return Items(label_array(items), label_array(labels), starts)


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
    shared: dict[str, Any] = {
        "users": _joined_users(as_text, first_users, pieces),
        "items": items.labels,
        "option_labels": items.option_labels,
        "item_starts": items.starts,
        "kind": "dask",
    }
    numbers = {
        (item, normalise(label)): number
        for number, (item, label) in enumerate(
            zip(items.labels[items.of_option].tolist(), items.option_labels.tolist(), strict=True)
        )
    }
    tables = [_table(piece, numbers) for piece in pieces]
    few = smallest(int(np.diff(items.starts).max())) != np.uint32
    if few and all(piece.is_dense for piece in pieces):
        responses = Responses(**shared, codes=_joined_codes(items, tables, pieces))
    else:
        responses = Responses(**shared, rows=_joined_rows(tables, pieces))
    answered = np.concatenate([piece.answers_per_user > 0 for piece in pieces])
    if not answered.all():
        responses = responses.select(answered, keep_options=True)
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


def _joined_codes(items: Items, tables: list[Array], pieces: list[Responses]) -> Array:
    """Dense codes with the options of all parts."""
    dtype: Any = smallest(int(np.diff(items.starts).max()))
    missing = np.iinfo(dtype).max
    ends = np.cumsum([len(piece.users) for piece in pieces]).tolist()
    codes = np.empty((items.n_items, ends[-1]), dtype=dtype)
    for piece, table, first, last in zip(pieces, tables, [0, *ends], ends, strict=False):
        places = items.of_option[table[piece.item_starts[:-1]]] if len(table) else table
        if len(places) < items.n_items:
            codes[:, first:last] = missing
        for i, row in enumerate(piece.codes):
            own = table[piece.item_starts[i] : piece.item_starts[i + 1]]
            lookup = np.append(own - items.starts[places[i]], missing).astype(dtype)
            np.take(lookup, row, mode="clip", out=codes[places[i], first:last])
    return codes


def _joined_rows(tables: list[Array], pieces: list[Responses]) -> tuple[Array, Array]:
    """Rows with the option numbers of all parts, user after user."""
    counts, options = [], []
    for piece, table in zip(pieces, tables, strict=True):
        indptr, own = piece.rows
        moved = table[own]
        owner = np.repeat(np.arange(len(piece.users)), np.diff(indptr))
        counts.append(np.diff(indptr))
        options.append(moved[np.lexsort((moved, owner))].astype(np.int32))
    return np.concatenate([[0], np.cumsum(np.concatenate(counts))]), np.concatenate(options)


# -- on the workers ------------------------------------------------------------------------------


def same(x: Array) -> Array:
    """Return the argument: a task that can be run again if its worker is lost."""
    return x


def highest(values: Array, count: int) -> tuple[Array, Array]:
    """The highest values of a part, and their places."""
    order = np.argsort(-values, kind="stable")[:count]
    order = order[~np.isnan(values[order])]
    return values[order], order


def together(parts: list[Responses]) -> Responses:
    """Join the users of several parts, which have the same options."""
    users = label_array([user for part in parts for user in part.users.tolist()])
    codes, rows = None, None
    if all(part.is_dense for part in parts):
        codes = np.concatenate([part.codes for part in parts], axis=1)
    else:
        pairs = [part.rows for part in parts]
        counts = np.concatenate([np.diff(indptr) for indptr, _ in pairs])
        options = np.concatenate([options for _, options in pairs])
        rows = np.concatenate([[0], np.cumsum(counts)]), options
    return parts[0]._changed(users=users, codes=codes, rows=rows)


# -- joining the parts' results ----------------------------------------------------------------


def added(*sums: Any) -> Any:
    """Add up sums over options, and side sums if they come in pairs with these."""
    if isinstance(sums[0], tuple):
        return tuple(added(*each) for each in zip(*sums, strict=True))
    total = sums[0]
    for each in sums[1:]:
        total = total + each
    return total


def extreme_ends(*ends: tuple[Any, Any]) -> tuple[Any, Any]:
    """The smallest of the smallest and the largest of the largest positions."""
    lows, highs = zip(*ends, strict=True)
    return np.minimum.reduce(lows), np.maximum.reduce(highs)
