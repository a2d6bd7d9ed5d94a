"""One row per item: the columns are users, and one of them may hold the key."""

from __future__ import annotations

import re
from collections import Counter

from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.words import shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Column
from hitsndiffs.reading.layouts.columns import Profiles
from hitsndiffs.reading.layouts.header import looks_like_ids
from hitsndiffs.reading.layouts.layout import (
    REASONS,
    ROLE_OF_KIND,
    SAID,
    Hypothesis,
    Layout,
    left_out_note,
)
from hitsndiffs.reading.layouts.wide import (
    CELLS,
    direction,
    leans,
    names_people,
)
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.vocabulary import SUMS, plain, tokens

__all__ = ["turned_as_asked", "weigh_turned"]

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
        self.all = profiles
        self.names = profiles.names
        self.item = self._item_column()
        key = self._key_column()
        self.key = key
        others = [n for n in self.names[:MOST] if n not in (self.item, key)]
        self.people = self._people(others)

    def weigh(self, sharing: int) -> Hypothesis:
        found = Hypothesis("one row per item", choose="transpose")
        found.possible = len(self.people) > 1 and len(self.all.rows) > 1
        if not found.possible:
            return found
        people = [self.all[n] for n in self.people]
        shared = self._share_options()
        found.add(sharing, "without a header or a user column, rows may as well be items")
        if self.item is not None:
            own = self.all[self.item]
            users = [
                n for n in self.all.named("user", wide=True) if n in (self.item, self.names[0])
            ]
            if recognise("item", [self.item]) and own.names_rows and not users:
                found.add(3, f"each row is an item ({self.item!r})")
            elif own.names_items:
                found.add(3, f"the rows are named like items ({shortened(own.cells[0], 30)!r}, …)")
        if self.key is not None:
            found.add(2, f"{self.key!r} holds the right answer to each row")
        numbered = [n for n in self.people if _is_numbered_user(n)]
        if len(numbered) > 1 and len(numbered) * 2 > len(self.people):
            found.add(3, f"the columns are named like users ({self.people[0]!r}, …)")
            if self.item is not None and not self.all.named("user"):
                found.add(1, f"{self.item!r} names each row")
        series = max((len(own) for stem, own in self.all.series.items()
                      if stem == "q" or recognise("item", [stem])), default=0)  # fmt: skip
        if series * 2 > len(self.people):
            found.add(-4, "the columns are numbered like items")
        named = [n for n in self.all.named("user") if self.all[n].names_rows and n != self.key]
        if named and not recognise("item", named[:1]):
            found.add(-4, f"{named[0]!r} names the users")
        if not shared and len(numbered) < 2:
            found.add(-3, "the columns hardly agree in any row")
        more = any(n.strip().isdigit() and not is_option(n) for n in self.people)
        if sum(map(is_option, self.people)) > 2 and not more:  # else numbered people
            found.add(-4, "the columns are named like options that were offered")
        lean = direction([p for p in people if p.is_choice] or people)
        if len(people) * len(self.all.rows) >= CELLS:
            found.add(leans(lean.users, lean.items), f"agreement {lean.users:.2f} in rows, "
                      f"{lean.items:.2f} in columns")  # fmt: skip
        # one hint alone, such as a name or the agreement, turns no table
        found.possible = sharing > 0 or sum(weight > 0 for weight, _ in found.evidence) > 1
        found.make = lambda: self._layout(
            "; ".join(why for weight, why in found.evidence if weight > 0) or "agreement"
        )
        return found

    # -- columns --------------------------------------------------------------------------------

    def _item_column(self) -> str | None:
        if not self.all.has_header:
            return None
        for name in self.all.named("item"):
            if self.all[name].names_rows:
                return name
        first = self.all[self.names[0]]
        unique = first.content.all_different and first.filled == len(first.cells)
        if len(self.names) > 2 and unique and not first.is_choice:
            return first.name
        if len(self.names) > 2 and unique and looks_like_ids(first.cells, self.all.rows):
            return first.name
        return None

    def _key_column(self) -> str | None:
        names = [*self.names[:MOST], *self.names[MOST:][-20:]]
        named = [n for n in names if self.all[n].said == "key"]
        if not named and not self.all.named("user"):
            named = [n for n in names if plain(n) in KEYS and not self.all[n].is_numeric]
        if len(named) != 1 or plain(named[0])[-1:].isdigit():
            return None
        if self.all[named[0]].distinct < 2:
            return None
        return named[0]

    def _people(self, names: list[str]) -> list[str]:
        """Return the columns of answers: choices, or texts that agree with others in their row."""
        kept = []
        for name in names:
            own = self.all[name]
            if (own.said not in (None, "identity") or own.plain in SUMS or own.plain in KEYS
                    or "correct" in own.words):  # fmt: skip
                continue
            if own.said == "identity" and not own.is_choice:
                continue
            if own.kind in ("choice", "text", "different") and own.filled * 3 >= len(own.cells):
                kept.append(own)
        stock: Counter[str] = Counter()
        for own in kept:
            stock.update(own.values.keys())
        beside = [*kept, *([self.all[self.key]] if self.key else [])]
        few = len(kept) <= MOST_TEXTS
        rows: list[Counter[str]] = []
        found = []
        for own in kept:
            shares = sum(n for text, n in own.values.items() if stock[text] > 1)
            if own.is_choice and shares >= FITS * own.filled:
                found.append(own.name)
            elif few:
                rows = rows or [*map(Counter, zip(*(p.cells for p in beside), strict=True))]
                pairs = zip(own.cells, rows, strict=True)
                alike = [cell for cell, row in pairs if cell and row[cell] > 1]
                if len(alike) >= AGREES * max(1, own.filled):
                    found.append(own.name)
        numbered = [own.name for own in kept if _is_numbered_user(own.name)]
        if len(numbered) > 1 and len(numbered) * 2 > len(found):
            return numbered
        numbers = [n for n in found if self.all[n].is_numeric]
        if len(numbers) * 2 < len(found):
            found = [n for n in found if n not in numbers]
        return found

    def _share_options(self) -> bool:
        """Whether two of the columns agree in most rows, so that they answer the same question."""
        columns = [self.all[n].cells for n in self.people[:MOST_TEXTS]]
        rows = [[c for c in row if c] for row in zip(*columns, strict=True)]
        return sum(len(set(row)) < len(row) for row in rows) * 2 > len(rows)

    # -- the layout -----------------------------------------------------------------------------

    def _layout(self, why: str) -> Layout:
        notes = self.all.table.notes
        if self.item is None:
            notes.append("There is no item column: the items are named item-1, item-2, ….")
        elif recognise("item", [self.item]):
            notes.append(f"Recognised {self.item!r} as the item column.")
        else:
            notes.append(f"Took the first column ({self.item!r}) as the item column.")
        notes.append("The rows are items and the columns users (overrule with the layout wide).")
        users = list(self.people)
        if len(self.names) > MOST:  # the others are like those that were looked at
            users += [n for n in self.names[MOST:] if n not in (self.key, self.item)]
        columns = []
        for name in self.names:
            own = self.all[name]
            if name == self.item:
                columns.append(Column(name, "item", "names the items", own.place))
            elif name == self.key:
                columns.append(Column(name, "key", "the right answer to each row", own.place))
            elif name in set(users):
                columns.append(Column(name, "user", "the answers of one user", own.place))
            elif own.said is not None:
                role = "unused" if own.said == "row" else own.said
                columns.append(Column(name, role, f"named like {SAID[own.said]}", own.place))
            elif own.kind in REASONS:
                columns.append(Column(name, ROLE_OF_KIND[own.kind], REASONS[own.kind], own.place))
            else:
                columns.append(Column(name, "unused", "neither a user nor the key", own.place))
        others = [c for c in columns if c.role not in ("item", "key", "user")]
        if others:
            notes.append(left_out_note(others))
        return Layout("transposed", why, columns, item=self.item, users=users, key=self.key)


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
        item = next(iter(profiles.named("item")), None)
        first = names[0]
        if item is not None:
            table.notes.append(f"Recognised {item!r} as the item column.")
        elif len(names) > 1 and looks_like_ids(table.cells(first), table.sample):
            item = first
            table.notes.append(f"Took the first column ({first!r}) as the item column.")
        else:
            table.notes.append("There is no item column: the items are named item-1, item-2, ….")
    named = [n for n in names if n != item and profiles.has_header and profiles[n].said == "key"]
    key = named[0] if len(named) == 1 else None
    users = [n for n in names if n not in (item, key)]
    places = {name: place for place, name in enumerate(names)}
    columns = [Column(name, "user", "the answers of one user", places[name]) for name in users]
    if item is not None:
        columns.append(Column(item, "item", "names the items", places[item]))
    if key is not None:
        columns.append(Column(key, "key", "named like a key", places[key]))
    columns.sort(key=lambda column: column.position)
    return Layout("transposed", why, columns, item=item, users=users, key=key)


def _is_numbered_user(name: str) -> bool:
    words = tokens(name)
    numbered = bool(words) and (
        words[-1][-1:].isdigit() or (len(words) > 1 and len(words[-1]) == 1)
    )
    return numbered and names_people(name if words[-1][-1:].isdigit() else " ".join(words[:-1]))
