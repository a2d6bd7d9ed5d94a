"""One row per item: the columns are users, and one of them may hold the key."""

from __future__ import annotations

import re
from collections import Counter

from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.words import shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Column
from hitsndiffs.reading.layouts.columns import Profile, Profiles
from hitsndiffs.reading.layouts.header import looks_like_ids
from hitsndiffs.reading.layouts.layout import (
    REASONS,
    ROLE_OF_KIND,
    SAID,
    Hypothesis,
    Layout,
    left_out_note,
)
from hitsndiffs.reading.layouts.wide import CELLS, direction, leans, names_people
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.vocabulary import SUMS, plain, tokens

__all__ = ["is_option", "turned_as_asked", "weigh_turned"]

#: This many columns are enough to tell.
MOST = 2000
#: With more columns than this, those of free text are not considered.
MOST_TEXTS = 300
#: Answers to the same questions agree at least this often; other texts do not.
AGREES = 0.15
#: A column holds answers if at least this share of its cells are answers of others.
FITS = 0.7
#: In tables with users in columns, these names mean the key.
KEYS = ("answer", "correct", "ans", "right")
_OPTION = re.compile(
    r"(?:option|opt|choice|answer|alternative|antwort|réponse|opción|respuesta|risposta|"
    r"opção|resposta|antwoord|选项)?[\s_\-]?(?:[a-h]|[1-8])",
    re.IGNORECASE,
)


def is_option(name: str) -> bool:
    """Whether a column is named like one of the options that were offered.

    Examples
    --------
    >>> is_option("Option B"), is_option("c"), is_option("Ben")
    (True, True, False)
    """
    return _OPTION.fullmatch(name.strip()) is not None


def weigh_turned(profiles: Profiles, sharing: int = 0) -> tuple[Hypothesis, int]:
    """Return what speaks for one row per item, and how many columns may be users.

    ``sharing`` is the weight of what speaks for one row per user and for one row per item alike.
    """
    turned = _Turned(profiles)
    numbered = sum(map(_is_numbered_user, turned.people))
    return turned.weigh(sharing), len(turned.people) + 2 * numbered


class _Turned:
    def __init__(self, profiles: Profiles) -> None:
        self.all, self.names = profiles, profiles.names
        self.item = self._item_column()
        self.key = self._key_column()
        self.people = self._people()

    def weigh(self, sharing: int) -> Hypothesis:
        found = Hypothesis("one row per item", choose="transpose")
        people = self.all.of(self.people)
        found.possible = len(people) > 1 and len(self.all.rows) > 1
        if not found.possible:
            return found
        found.add(sharing, "without a header or a user column, rows may as well be items")
        own = None if self.item is None else self.all[self.item]
        users = self.all.named("user", wide=True)
        if own is not None and recognise("item", [own.name]) and own.names_rows and not (
            {*users} & {own.name, self.names[0]}
        ):  # fmt: skip
            found.add(3, f"each row is an item ({own.name!r})")
        elif own is not None and own.names_items:
            found.add(3, f"the rows are named like items ({shortened(own.cells[0], 30)!r}, …)")
        if self.key is not None:
            found.add(2, f"{self.key!r} holds the right answer to each row")
        numbered = sum(map(_is_numbered_user, self.people))
        if numbered > 1 and numbered * 2 > len(people):
            found.add(3, f"the columns are named like users ({self.people[0]!r}, …)")
            if own is not None and not self.all.named("user"):
                found.add(1, f"{own.name!r} names each row")
        series = max((len(of) for stem, of in self.all.series.items()
                      if stem == "q" or recognise("item", [stem])), default=0)  # fmt: skip
        if series * 2 > len(people):
            found.add(-4, "the columns are numbered like items")
        named = [n for n in self.all.named("user") if self.all[n].names_rows and n != self.key]
        if named and not recognise("item", named[:1]):
            found.add(-4, f"{named[0]!r} names the users")
        if numbered < 2 and not self._share_options(people):
            found.add(-3, "the columns hardly agree in any row")
        more = any(n.strip().isdigit() and not is_option(n) for n in self.people)
        if sum(map(is_option, self.people)) > 2 and not more:  # else numbered people
            found.add(-4, "the columns are named like options that were offered")
        lean = direction([p for p in people if p.is_choice] or people)
        if len(people) * len(self.all.rows) >= CELLS:
            why = f"agreement {lean.users:.2f} in rows, {lean.items:.2f} in columns"
            found.add(leans(lean.users, lean.items), why)
        # one hint alone, such as a name or the agreement, turns no table
        reasons = [why for weight, why in found.evidence if weight > 0]
        found.possible = sharing > 0 or len(reasons) > 1
        found.make = lambda: self._layout("; ".join(reasons) or "agreement")
        return found

    # -- columns --------------------------------------------------------------------------------

    def _item_column(self) -> str | None:
        """Return the column that names the items: named so, or the first one."""
        if not self.all.has_header:
            return None
        for name in self.all.named("item"):
            if self.all[name].names_rows:
                return name
        first = self.all[self.names[0]]
        unique = first.content.all_different and first.filled == len(first.cells)
        ids = not first.is_choice or looks_like_ids(first.cells, self.all.rows)
        return first.name if len(self.names) > 2 and unique and ids else None

    def _key_column(self) -> str | None:
        names = [*self.names[:MOST], *self.names[MOST:][-20:]]
        named = [n for n in names if self.all[n].said == "key"]
        if not named and not self.all.named("user"):
            named = [n for n in names if plain(n) in KEYS and not self.all[n].is_numeric]
        alone = len(named) == 1 and not plain(named[0])[-1:].isdigit()
        return named[0] if alone and self.all[named[0]].distinct > 1 else None

    def _people(self) -> list[str]:
        """Return the columns of answers: choices, or texts that agree with others in their row."""
        names = [n for n in self.names[:MOST] if n not in (self.item, self.key)]
        kept = [own for own in self.all.of(names) if self._may_answer(own)]
        numbered = [own.name for own in kept if _is_numbered_user(own.name)]
        if len(numbered) > 1 and len(numbered) * 2 > len(kept):
            return numbered
        stock = Counter(text for own in kept for text in own.values)
        beside = [*kept, *([self.all[self.key]] if self.key else [])]
        rows = [*map(Counter, zip(*(p.cells for p in beside), strict=True))]
        few = len(kept) <= MOST_TEXTS
        found = []
        for own in kept:
            shared = sum(n for text, n in own.values.items() if stock[text] > 1)
            if own.is_choice and shared >= FITS * own.filled:
                found.append(own)
            elif few:
                pairs = zip(own.cells, rows, strict=True)
                alike = sum(bool(cell) and row[cell] > 1 for cell, row in pairs)
                found += [own] if alike >= AGREES * max(1, own.filled) else []
        if len(numbered) > 1 and len(numbered) * 2 > len(found):
            return numbered
        texts = [own for own in found if not own.is_numeric]
        return [own.name for own in (texts if len(texts) * 2 > len(found) else found)]

    def _may_answer(self, own: Profile) -> bool:
        if own.said not in (None, "identity") or "correct" in own.words or own.plain in KEYS:
            return False
        if own.plain in SUMS or (own.said == "identity" and not own.is_choice):
            return False
        return own.kind in ("choice", "text", "different") and own.filled * 3 >= len(own.cells)

    def _share_options(self, people: list[Profile]) -> bool:
        """Whether two of the columns agree in most rows, so that they answer the same question."""
        columns = [own.cells for own in people[:MOST_TEXTS]]
        rows = [[c for c in row if c] for row in zip(*columns, strict=True)]
        return sum(len(set(row)) < len(row) for row in rows) * 2 > len(rows)

    # -- the layout -----------------------------------------------------------------------------

    def _layout(self, why: str) -> Layout:
        notes = self.all.table.notes
        notes.append(_named_items(self.item))
        notes.append("The rows are items and the columns users (overrule with the layout wide).")
        users = list(self.people)
        # the columns that were not looked at are like those that were
        users += [n for n in self.names[MOST:] if n not in (self.key, self.item)]
        layout = _as_layout(self.all, why, self.item, self.key, users)
        others = [c for c in layout.columns if c.role not in ("item", "key", "user")]
        if others:
            notes.append(left_out_note(others))
        return layout


def turned_as_asked(profiles: Profiles, options: ReadingOptions, why: str) -> Layout:
    """Return the layout of a table whose rows are items, as the caller said."""
    table, names = profiles.table, profiles.names
    if not names:
        raise InputError(
            f"{table.place.source}: there are no columns; a table with one row per item needs one "
            "for each user."
        )
    item: str | None
    if options.item is not None:
        item = str(find_column(options.item, names, where=table.place.source, argument="item"))
    else:
        ids = len(names) > 1 and looks_like_ids(table.cells(names[0]), table.sample)
        item = next(iter([*profiles.named("item"), *(names[:1] if ids else [])]), None)
        table.notes.append(_named_items(item))
    named = [n for n in names if n != item and profiles.has_header and profiles[n].said == "key"]
    key = named[0] if len(named) == 1 else None
    return _as_layout(profiles, why, item, key, [n for n in names if n not in (item, key)])


def _named_items(item: str | None) -> str:
    """Return the note on the column that names the items."""
    if item is None:
        return "There is no item column: the items are named item-1, item-2, …."
    if recognise("item", [item]):
        return f"Recognised {item!r} as the item column."
    return f"Took the first column ({item!r}) as the item column."


def _as_layout(
    profiles: Profiles, why: str, item: str | None, key: str | None, users: list[str]
) -> Layout:
    columns = []
    people = {*users}
    for place, name in enumerate(profiles.names):
        if name == item:
            columns.append(Column(name, "item", "names the items", place))
        elif name == key:
            columns.append(Column(name, "key", "the right answer to each row", place))
        elif name in people:
            columns.append(Column(name, "user", "the answers of one user", place))
        elif (said := profiles[name].said) is not None:
            role = "unused" if said == "row" else said
            columns.append(Column(name, role, f"named like {SAID[said]}", place))
        elif (kind := profiles[name].kind) in REASONS:
            columns.append(Column(name, ROLE_OF_KIND[kind], REASONS[kind], place))
        else:
            columns.append(Column(name, "unused", "neither a user nor the key", place))
    return Layout("transposed", why, columns, item=item, users=users, key=key)


def _is_numbered_user(name: str) -> bool:
    words = tokens(name)
    numbered = bool(words) and (
        words[-1][-1:].isdigit() or (len(words) > 1 and len(words[-1]) == 1)
    )
    return numbered and names_people(name if words[-1][-1:].isdigit() else " ".join(words[:-1]))
