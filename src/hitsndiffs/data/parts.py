"""Some users and items of responses, the same answers under other labels, and several joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Ints
from hitsndiffs.data.cells import in_order, ranked, smallest
from hitsndiffs.data.items import Items
from hitsndiffs.data.labels import label_array
from hitsndiffs.data.layouts import (
    codes_of_answers,
    renumbered_codes,
    renumbered_rows,
    rows_of_answers,
    some_rows,
    translated,
)
from hitsndiffs.data.lookup import item_places
from hitsndiffs.data.responses import DENSE_FROM, Chosen, Responses
from hitsndiffs.data.words import count

__all__ = [
    "concatenated", "first_answers", "joined", "laid_out", "relabelled", "repeated_note",
    "restricted", "with_options",
]  # fmt: skip


# -- some users and items ---------------------------------------------------------------------


def restricted(
    r: Responses, users: Chosen | None, items: Chosen | None, keep_options: bool
) -> tuple[Responses, Ints]:
    """See :meth:`hitsndiffs.Responses.restrict`."""
    part = r
    if users is not None:
        places = np.asarray(users)
        places = np.flatnonzero(places) if places.dtype == bool else places.astype(np.int64)
        codes = np.ascontiguousarray(r.codes[:, places]) if r.is_dense else None
        rows = None if r.is_dense else some_rows(r.rows, places)
        part = r._changed(users=r.users[places], codes=codes, rows=rows)
    wanted = np.ones(r.n_options, dtype=bool)
    if items is not None:
        flags = np.asarray(items)
        if flags.dtype != bool:
            flags = np.zeros(r.n_items, dtype=bool)
            flags[item_places(r.items, items)] = True
        wanted = flags[r.option_items]
    if not keep_options:
        wanted &= part.choosers_per_option > 0
    kept = np.flatnonzero(wanted)
    return with_options(part, kept), kept


def with_options(r: Responses, kept: Ints) -> Responses:
    """The same users with some options, by number, and the items that have any of them."""
    if len(kept) == r.n_options and (np.diff(r.item_starts) > 0).all():
        return r._changed()
    numbers = np.full(r.n_options, -1, dtype=np.int64)
    numbers[kept] = np.arange(len(kept))
    return _renumbered(r, numbers, r.structure.only(kept), np.unique(r.option_items[kept]))


# -- other labels -----------------------------------------------------------------------------


def relabelled(r: Responses, labels: Sequence[Sequence[Any]]) -> Responses:
    """See :meth:`hitsndiffs.Responses.relabel`."""
    numbers = np.full(r.n_options, -1, dtype=np.int64)
    each: list[list[Any]] = []
    done = 0
    for first, own in zip(r.item_starts.tolist(), labels, strict=False):
        distinct = list(dict.fromkeys(label for label in own if label is not None))
        each.append([distinct[k] for k in in_order(distinct)])
        place = {label: done + k for k, label in enumerate(each[-1])}
        numbers[first : first + len(own)] = [place.get(label, -1) for label in own]
        done += len(distinct)
    items = Items.of(r.items, each)
    if np.array_equal(numbers, np.arange(r.n_options)):
        return r._changed(option_labels=items.option_labels)
    made = _renumbered(r, numbers, items, np.arange(r.n_items))
    return with_options(made, np.flatnonzero(made.choosers_per_option))


def _renumbered(r: Responses, numbers: Ints, structure: Items, items: Ints) -> Responses:
    """Give each option a new number, -1 for none, among the items at some places.

    The options keep the order of their items.
    """
    codes, rows = None, None
    if r.is_dense:
        codes = renumbered_codes(r.codes, numbers, r.item_starts, items, structure.starts)
    else:
        rows = renumbered_rows(r.rows, numbers)
    return r._changed(
        items=structure.labels,
        option_labels=structure.option_labels,
        item_starts=structure.starts,
        codes=codes,
        rows=rows,
        key=None if r.key is None else r.key.only(structure.labels.tolist()),
    )


# -- answers one by one -----------------------------------------------------------------------


def laid_out(users: Array, items: Items, user: Array, option: Array, kind: str) -> Responses | None:
    """Return the responses with these answers; ``None`` if a user answered an item repeatedly.

    ``user`` and ``option`` are the numbers of the user and of the option of each answer.
    """
    widths = np.diff(items.starts)
    n_cells = len(users) * int(np.count_nonzero(widths))
    shared: dict[str, Any] = {
        "users": users, "items": items.labels, "option_labels": items.option_labels,
        "item_starts": items.starts, "kind": kind,
    }  # fmt: skip
    if len(option) >= DENSE_FROM * n_cells > 0 and widths.max() < 65535:
        codes = codes_of_answers(user, option, len(users), items.starts, items.of_option)
        once = np.count_nonzero(codes != np.iinfo(codes.dtype).max) == len(option)
        return Responses(**shared, codes=codes) if once else None
    indptr, chosen = rows_of_answers(user, option, len(users), items.n_options)
    item = items.of_option[chosen]
    again = item[1:] == item[:-1]
    edges = indptr[1:-1]
    again[edges[(edges > 0) & (edges < len(chosen))] - 1] = False
    return None if again.any() else Responses(**shared, rows=(indptr, chosen))


def first_answers(
    user: Array, item: Array, n_items: int, *, last: bool = False
) -> tuple[Ints, tuple[Ints, Ints]]:
    """Return the places of the first (or last) answer of each user to each item.

    The pair holds the places of all other answers, after those that are kept instead of them.

    Examples
    --------
    >>> kept, (instead, dropped) = first_answers(np.array([0, 0, 1]), np.array([5, 5, 5]), 6)
    >>> kept.tolist(), instead.tolist(), dropped.tolist()
    ([0, 2], [0], [1])
    """
    places = np.arange(len(user))[:: -1 if last else 1]
    cells = user[places].astype(np.int64) * n_items + item[places]
    order = np.argsort(cells, kind="stable")
    places, cells = places[order], cells[order]
    new = np.append(True, cells[1:] != cells[:-1])
    kept = places[new]
    return kept, (kept[np.cumsum(new)[~new] - 1], places[~new])


def repeated_note(dropped: int, kept: str) -> str:
    """Say that answers were dropped; ``kept`` is which one counts, if they differed."""
    said = f"Dropped {count(dropped, 'answer')} "
    if not kept:
        return said + "that only repeated the same answer."
    return said + f"because the user had answered the item more than once (kept the {kept} one)."


# -- several parts ----------------------------------------------------------------------------


def concatenated(parts: Sequence[Responses]) -> Responses:
    """Return all answers; see :meth:`hitsndiffs.Responses.concat`."""
    users, who = _merged(part.users.tolist() for part in parts)
    names, where = _merged(part.items.tolist() for part in parts)
    items, numbers = _merged_options(parts, names, where)
    made, lost, n_other = joined(parts, label_array(users), items, who, numbers, parts[0].kind)
    if not lost:
        return made
    return made.select().with_notes([repeated_note(lost, "first" if n_other else "")])


def _merged(parts: Iterable[list[Any]]) -> tuple[list[Any], list[Ints]]:
    """Return the distinct labels of all parts, and the place of each part's labels among them."""
    index: dict[str, int] = {}
    labels: list[Any] = []
    places = []
    for own in parts:
        found = [index.setdefault(str(label), len(index)) for label in own]
        first = dict(zip(found[::-1], own[::-1], strict=True))
        labels += [first[place] for place in range(len(labels), len(index))]
        places.append(np.array(found, dtype=np.int64))
    return labels, places


def _merged_options(
    parts: Sequence[Responses], names: list[Any], where: Sequence[Ints]
) -> tuple[Items, list[Ints]]:
    """Return the options of all parts, and the number of each part's options among them."""
    books: list[dict[str, Any]] = [{} for _ in names]
    found: list[list[tuple[int, int]]] = []
    for part, places in zip(parts, where, strict=True):
        found.append([])
        items = places[part.option_items].tolist()
        for item, label in zip(items, part.option_labels.tolist(), strict=True):
            book = books[item]
            book.setdefault(str(label), (len(book), label))
            found[-1].append((item, book[str(label)][0]))
    own = [ranked([label for _, label in book.values()]) for book in books]
    merged = Items.of(names, [labels for labels, _ in own])
    ranks = [first + places for first, (_, places) in zip(merged.starts, own, strict=False)]
    numbers = [np.array([ranks[i][k] for i, k in pairs], dtype=np.int64) for pairs in found]
    return merged, numbers


def joined(
    parts: Sequence[Responses],
    users: Array,
    items: Items,
    who: Sequence[Ints],
    numbers: Sequence[Ints],
    kind: str,
) -> tuple[Responses, int, int]:
    """Return all answers, how many were dropped as repeated, and how many of these differed.

    Parameters
    ----------
    parts
        Of repeated answers, that of the first part counts.
    users, items
        Those of all parts.
    who, numbers
        For each part, the places of its users, and the numbers of its options.
    kind
        As in :class:`hitsndiffs.Responses`.
    """
    n_cells, widest = len(users) * items.n_items, int(np.diff(items.starts).max(initial=0))
    shared: dict[str, Any] = {
        "users": users, "items": items.labels, "option_labels": items.option_labels,
        "item_starts": items.starts, "kind": kind,
    }  # fmt: skip
    if sum(part.n_responses for part in parts) >= DENSE_FROM * n_cells > 0 and widest < 65535:
        dtype = smallest(widest)
        codes = np.full((items.n_items, len(users)), np.iinfo(dtype).max, dtype=dtype)
        lost = differ = 0
        for part, own, moved in zip(parts, who, numbers, strict=True):
            some = _write(codes, items, part, own, moved)
            lost, differ = lost + some[0], differ + some[1]
        return Responses(**shared, codes=codes), lost, differ
    user = np.concatenate(
        [np.repeat(own, np.diff(part.rows[0])) for part, own in zip(parts, who, strict=True)]
    )
    option = np.concatenate(
        [moved[part.rows[1]] for part, moved in zip(parts, numbers, strict=True)]
    ).astype(np.int32)
    made = laid_out(users, items, user, option, kind)
    if made is not None:
        return made, 0, 0
    kept, (instead, dropped) = first_answers(user, items.of_option[option], items.n_items)
    made = laid_out(users, items, user[kept], option[kept], kind)
    assert made is not None
    return made, len(dropped), int(np.count_nonzero(option[instead] != option[dropped]))


def _write(codes: Any, items: Items, part: Responses, users: Ints, numbers: Ints) -> list[int]:
    """Write a part's answers where there is none yet; return how many were lost, and differed."""
    missing = np.iinfo(codes.dtype).max
    own = part.codes
    together = bool((np.diff(users) == 1).all())
    to: Any = slice(users[0], users[-1] + 1) if together else users
    new = np.empty(part.n_users, dtype=codes.dtype)
    lost = differ = 0
    for row, first, last in zip(own, part.item_starts, part.item_starts[1:], strict=False):
        item = items.of_option[numbers[first]]
        translated(row, numbers[first:last] - items.starts[item], out=new)
        old = codes[item, to]
        taken = (old != missing) & (new != missing)
        if taken.any():
            lost += int(np.count_nonzero(taken))
            differ += int(np.count_nonzero(old[taken] != new[taken]))
            new[taken] = old[taken]
        codes[item, to] = np.minimum(old, new)  # no answer is the largest number
    return [lost, differ]
