"""What each column of a table is, made once from its cells; its name is a hint beside it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.names import recognise
from hitsndiffs.reading.accord import pairs
from hitsndiffs.reading.fold import is_blank_word
from hitsndiffs.reading.layouts.content import ColumnContent, look_at
from hitsndiffs.reading.layouts.rows import named_rows
from hitsndiffs.reading.tables.table import Table
from hitsndiffs.reading.vocabulary import (
    COUNTED,
    NameRole,
    is_key_name,
    plain,
    role_of_name,
    tokens,
    without_points,
)

__all__ = ["FEW", "FIXED", "MANY", "Profile", "Profiles", "fixed_share", "same_value"]

#: So many rows are looked at, and so many columns for the names of key rows and averages.
ROWS, LABELS = 5000, 12
#: Past this many columns, those named in a series are items, whatever their cells.
MANY = 3000
#: So few columns that share their answers, or are numbered, may be a coincidence.
FEW = 3
#: A question has at most so many options.
OPTIONS = 60
#: A column fixes another one if so many rows have the usual value; a slip may be among them.
FIXED = 0.99
#: A name of this form is one of a series: q1, q2, Item 03, 7b.
_NUMBERED = re.compile(
    r"^(?P<stem>.*?)[\s_\-.#:(\[]*0*(?P<number>\d{1,6})(?P<part>[a-z]?)[)\]\s:.]*$", re.DOTALL
)
_NUMBER = re.compile(r"([+-]?\d+)\.0*")
_MARKED = re.compile(r"\(?([^\W_])[).:]?\)?")

Numbers = npt.NDArray[np.integer[Any]]


def same_value(text: str) -> str:
    """Return a text as it counts in comparisons: ``a`` = ``A``, ``0`` = ``0.0``.

    Examples
    --------
    >>> same_value(" A "), same_value("0.0"), same_value("007"), same_value("(B)")
    ('a', '0', '007', 'b')
    """
    text = text.strip()
    if len(text) < 4 and (marked := _MARKED.fullmatch(text)):
        return marked[1].casefold()
    whole = _NUMBER.fullmatch(text)
    return whole[1] if whole else text.casefold()


class Profile:
    """One column: its cells in the first rows, what they are, and what its name suggests.

    Attributes
    ----------
    name, place
        The name, and the place among the columns (from 0).
    cells
        The cells, without blanks around them.
    said
        What the name alone suggests: ``"points"``, ``"time"``, ``"identity"``, …, or None.
    """

    def __init__(self, name: str, place: int, cells: Sequence[str], *, has_name: bool) -> None:
        self.name, self.place, self.has_name = name, place, has_name
        self.cells = [cell.strip() for cell in cells]

    @cached_property
    def content(self) -> ColumnContent:
        """What the cells are: counts, and a kind such as ``"choice"`` or ``"time"``."""
        return look_at(self.cells)

    @property
    def kind(self) -> str:
        """The kind of the cells; see :class:`ColumnContent`."""
        return self.content.kind

    @property
    def distinct(self) -> int:
        """How many different texts there are."""
        return len(self.content.counts)

    @property
    def filled(self) -> int:
        """How many cells are not blank."""
        return self.content.n_filled

    @property
    def is_constant(self) -> bool:
        """Whether all cells that are not blank are the same."""
        return self.distinct == 1 and self.filled > 2

    @property
    def is_numeric(self) -> bool:
        """Whether all cells are numbers."""
        return self.filled > 0 and self.content.is_number

    @property
    def names_rows(self) -> bool:
        """Whether no two cells are alike, and hardly any is blank."""
        content = self.content
        return content.all_different and content.n_filled >= 0.9 * max(content.n_rows, 1)

    @property
    def names_items(self) -> bool:
        """Whether the cells are questions, or a word for items and a number, all different."""
        if len(self.cells) < FEW or not self.names_rows:
            return False
        asked = sum(cell.endswith("?") for cell in self.cells) * 5 >= len(self.cells) * 4
        found = [re.fullmatch(r"(\D*?)[\W_]*\d+", cell) for cell in self.cells]
        words = {match[1].casefold() if match else "" for match in found}
        return asked or (len(words) == 1 and (words == {"q"} or bool(recognise("item", words))))

    @property
    def is_marks(self) -> bool:
        """Whether all cells are single letters or digits."""
        return all(len(text) == 1 for text in self.content.counts)

    @property
    def is_choice(self) -> bool:
        """Whether the cells are a few answers that repeat."""
        return self.kind == "choice" and self.distinct <= OPTIONS

    @property
    def is_label(self) -> bool:
        """Whether the cells may name users or items that have several rows each."""
        whole = not any(set(text) & set(".,") for text in self.content.counts)
        fits = self.kind in ("choice", "text", "mail", "link") or (
            self.kind in ("measure", "counter", "different") and (whole or not self.is_numeric)
        )
        return (
            fits and 1 < self.distinct * 1.3 < self.filled and self.filled >= 0.95 * len(self.cells)
        )

    @cached_property
    def said(self) -> NameRole | None:
        """What the name suggests; how many points an answer gives does not make it points."""
        role = role_of_name(self.name) if self.has_name else None
        if role is None and self.plain in COUNTED and self.is_numeric:
            return "points"
        if role == "points" and self.kind == "choice" and not self.is_numeric:
            words = [text for text in self.content.counts if not is_blank_word(text)]
            if not look_at(words).is_number:
                return role_of_name(without_points(self.name))
        return role

    @cached_property
    def words(self) -> set[str]:
        """The words of the name."""
        return set(tokens(self.name)) if self.has_name else set()

    @property
    def plain(self) -> str:
        """The name without blanks, signs and capitals."""
        return plain(self.name) if self.has_name else ""

    @cached_property
    def series(self) -> tuple[str, str] | None:
        """The stem and the number of a name such as ``q7``; None for other names."""
        if not self.has_name or len(self.name) >= 100:
            return None
        found = _NUMBERED.match(self.name)
        return (plain(found["stem"]), found["number"]) if found else None

    @property
    def asks(self) -> bool:
        """Whether the name is a question in words."""
        name = without_points(self.name) if self.has_name else ""
        return name.endswith(("?", "？", ":", "…", "..."))

    @cached_property
    def numbers(self) -> Numbers:
        """The cells as numbers, equal for equal cells."""
        index: dict[str, int] = {}
        of_text = {
            t: index.setdefault(same_value(t), len(index)) for t in dict.fromkeys(self.cells)
        }
        return np.array([of_text[cell] for cell in self.cells], dtype=np.int64)

    @cached_property
    def chance(self) -> float:
        """How often two cells are alike by chance."""
        shares = np.bincount(self.numbers) / max(1, len(self.numbers))
        return float(shares @ shares)

    @cached_property
    def width(self) -> int:
        """How many different numbers there are."""
        return int(self.numbers.max(initial=-1)) + 1

    @cached_property
    def is_filled(self) -> npt.NDArray[np.bool_]:
        """Which cells are not blank."""
        return np.array([bool(cell) for cell in self.cells], dtype=bool)

    @cached_property
    def values(self) -> Counter[str]:
        """How often each value occurs, as values are compared."""
        found: Counter[str] = Counter()
        for text, n in self.content.counts.items():
            found[same_value(text)] += n
        return found

    def fixes(self, other: Profile) -> bool:
        """Whether each value that repeats here goes with a single value there.

        Examples
        --------
        >>> one, two = (Profile("x", 0, text, has_name=False) for text in ("aabb", "xxyy"))
        >>> one.fixes(two), two.fixes(Profile("z", 2, "abab", has_name=False))
        (True, False)
        """
        return fixed_share(self.numbers, other) > FIXED


def fixed_share(group: Numbers, other: Profile) -> float:
    """Return in which share of the rows a column has the usual value of the row's group.

    Groups of a single row do not count; without others the share is 0.
    """
    full = other.is_filled
    mine, own = (group, other.numbers) if full.all() else (group[full], other.numbers[full])
    if not len(mine):
        return 0.0
    sizes = np.bincount(mine)
    owners, counts = pairs(mine, own)
    usual = np.zeros(len(sizes), dtype=np.int64)
    np.maximum.at(usual, owners, counts)
    repeated = sizes > 1
    return float(usual[repeated].sum() / sizes[repeated].sum()) if repeated.any() else 0.0


class Profiles:
    """The profiles of all columns of a table, made when they are asked for.

    Rows that some column names as a key or a summary are left aside.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.names = table.names
        self.has_header = table.has_header
        self._places = {name: place for place, name in enumerate(table.names)}
        rows = table.sample[:ROWS]
        labels = {
            name: [row[k] if k < len(row) else "" for row in rows]
            for k, name in enumerate(table.names[:LABELS])
        }
        special = named_rows(labels)
        #: The rows named as a key.
        self.keys = [rows[k] for k, label in special.items() if is_key_name(label)]
        if special and len(special) + 1 < len(rows):
            rows = [row for k, row in enumerate(rows) if k not in special]
        self.rows = rows
        self._made: dict[str, Profile] = {}

    def __getitem__(self, name: str) -> Profile:
        if name not in self._made:
            place = self._places[name]
            cells = [row[place] if place < len(row) else "" for row in self.rows]
            self._made[name] = Profile(name, place, cells, has_name=self.has_header)
        return self._made[name]

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def __len__(self) -> int:
        return len(self.names)

    def of(self, names: Iterable[str]) -> list[Profile]:
        """Return the profiles of some columns."""
        return [self[name] for name in names]

    def named(self, role: str, *, wide: bool = False) -> list[str]:
        """Return the columns named like users, items, options or answers, best name first."""
        return recognise(role, self.names, wide=wide) if self.has_header else []

    @cached_property
    def series(self) -> dict[str, dict[str, list[str]]]:
        """The columns whose names are numbered: stem -> number -> names."""
        found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for name in self.names if self.has_header else ():
            again = re.fullmatch(r"(.*) \(\d+\)", name, re.DOTALL) if name[-1:] == ")" else None
            if again and again[1] in self._places:
                continue  # the same name twice
            match = _NUMBERED.match(name) if len(name) < 100 else None
            if match:
                found[plain(match["stem"])][match["number"]].append(name)
        for name in self.names if found else ():  # the first one may have no number
            if (stem := plain(name)) and stem in found:
                found[stem][""].append(name)
        return found
