"""Some users and items of responses, the same answers under other labels, and several joined."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.cells import in_order, smallest
from hitsndiffs.data.items import Items
from hitsndiffs.data.labels import label_array
from hitsndiffs.data.layouts import renumbered_codes, renumbered_rows, some_rows, translated
from hitsndiffs.data.lookup import item_places
from hitsndiffs.data.responses import DENSE_FROM, Chosen, Responses
from hitsndiffs.data.words import count

__all__ = ["concatenated", "relabelled", "restricted", "with_options"]


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
    found: list[Any] = []
    sizes = []
    for first, own in zip(r.item_starts.tolist(), labels, strict=False):
        distinct = list(dict.fromkeys(label for label in own if label is not None))
        distinct = [distinct[k] for k in in_order(distinct)]
        place = {label: len(found) + k for k, label in enumerate(distinct)}
        numbers[first : first + len(own)] = [place.get(label, -1) for label in own]
        found += distinct
        sizes.append(len(distinct))
    items = Items(r.items, label_array(found), np.cumsum([0, *sizes]))
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


# -- several parts ----------------------------------------------------------------------------


def concatenated(parts: Sequence[Responses]) -> Responses:
    """Return all answers; see :meth:`hitsndiffs.Responses.concat`."""
    users, who = _merged(part.users.tolist() for part in parts)
    names, where = _merged(part.items.tolist() for part in parts)
    items, numbers = _merged_options(parts, names, where)
    n_cells = len(users) * len(names)
    widest = int(np.diff(items.starts).max(initial=0))
    dense = (
        n_cells > 0 and widest < 65535 and sum(p.n_responses for p in parts) >= DENSE_FROM * n_cells
    )
    shared: dict[str, Any] = {
        "users": label_array(users), "items": items.labels, "option_labels": items.option_labels,
        "item_starts": items.starts, "kind": parts[0].kind,
    }  # fmt: skip
    if dense:
        dtype = smallest(widest)
        codes = np.full((len(names), len(users)), np.iinfo(dtype).max, dtype=dtype)
        each = zip(parts, zip(who, where, numbers, strict=True), strict=True)
        lost = np.sum([_add(codes, items.starts, *own) for own in each], axis=0).tolist()
        made = Responses(**shared, codes=codes)
    else:
        rows, lost = _joined_rows(parts, who, numbers, items)
        made = Responses(**shared, rows=rows)
    if not any(lost):
        return made
    n_lost, n_other = lost
    if n_other:
        said = "because the user had answered the item more than once (kept the first one)."
    else:
        said = "that only repeated the same answer."
    return made.select().with_notes([f"Dropped {count(n_lost, 'answer')} {said}"])


def _merged(parts: Iterable[list[Any]]) -> tuple[list[Any], list[Ints]]:
    """Return the distinct labels of all parts, and the place of each part's labels among them."""
    index: dict[str, int] = {}
    labels: list[Any] = []
    places = []
    for own in parts:
        found = []
        for label in own:
            text = str(label)
            place = index.setdefault(text, len(index))
            if place == len(labels):
                labels.append(label)
            found.append(place)
        places.append(np.array(found, dtype=np.int64))
    return labels, places


def _merged_options(
    parts: Sequence[Responses], names: list[Any], where: Sequence[Ints]
) -> tuple[Items, list[Ints]]:
    """Return the options of all parts, and the number of each part's options among them."""
    books: list[dict[str, Any]] = [{} for _ in names]
    own_books: list[list[tuple[int, str]]] = []
    for part, places in zip(parts, where, strict=True):
        items = places[part.option_items].tolist()
        labels = part.option_labels.tolist()
        own_books.append([(item, str(label)) for item, label in zip(items, labels, strict=True)])
        for (item, text), label in zip(own_books[-1], labels, strict=True):
            books[item].setdefault(text, label)
    found: list[Any] = []
    places_of: dict[tuple[int, str], int] = {}
    sizes = []
    for item, book in enumerate(books):
        labels = list(book.values())
        texts = list(book)
        for k in in_order(labels):
            places_of[item, texts[k]] = len(found)
            found.append(labels[k])
        sizes.append(len(labels))
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    numbers = [np.array([places_of[of] for of in own], dtype=np.int64) for own in own_books]
    return Items(label_array(names), label_array(found), starts), numbers


def _add(codes: Any, starts: Ints, part: Responses, places: Sequence[Ints]) -> list[int]:
    """Write a part's answers where there is none yet; return how many were lost, and differed.

    ``places`` are those of its users and its items, and the numbers of its options.
    """
    users, items, numbers = places
    missing = np.iinfo(codes.dtype).max
    own_codes, own_starts = part.codes, part.item_starts
    new = np.empty(part.n_users, dtype=codes.dtype)
    lost = differ = 0
    together = bool((np.diff(users) == 1).all())
    for i, item in enumerate(items.tolist()):
        translated(own_codes[i], numbers[own_starts[i] : own_starts[i + 1]] - starts[item], out=new)
        old = codes[item, users[0] : users[-1] + 1] if together else codes[item, users]
        taken = (old != missing) & (new != missing)
        if taken.any():
            lost += int(np.count_nonzero(taken))
            differ += int(np.count_nonzero(old[taken] != new[taken]))
        # no answer is the largest number: the smaller of two is the answer, if one is missing
        np.minimum(old, new, out=new)
        np.copyto(new, old, where=taken)
        if together:
            old[:] = new
        else:
            codes[item, users] = new
    return [lost, differ]


def _joined_rows(
    parts: Sequence[Responses], who: Sequence[Ints], numbers: Sequence[Ints], items: Items
) -> tuple[tuple[Ints, Any], list[int]]:
    """Return the rows of all answers, the first of each user to each item, and what was lost."""
    cells, chosen = [], []
    for part, users, own in zip(parts, who, numbers, strict=True):
        indptr, options = part.rows
        chosen.append(own[options].astype(np.int32))
        user = np.repeat(users, np.diff(indptr))
        cells.append(user * items.n_items + items.of_option[chosen[-1]])
    cell, option = np.concatenate(cells), np.concatenate(chosen)
    cells.clear()
    lost = differ = 0
    if (cell[1:] <= cell[:-1]).any():
        order = np.argsort(cell, kind="stable")
        cell, option = cell[order], option[order]
        new = np.concatenate([[True], cell[1:] != cell[:-1]])
        first = np.flatnonzero(new)[np.cumsum(new) - 1]
        lost = int(np.count_nonzero(~new))
        differ = int(np.count_nonzero(option != option[first]))
        cell, option = cell[new], option[new]
    n_users = 1 + max((int(users.max(initial=-1)) for users in who), default=-1)
    edges = np.arange(n_users + 1, dtype=np.int64) * items.n_items
    return (np.searchsorted(cell, edges).astype(np.int64), option), [lost, differ]
