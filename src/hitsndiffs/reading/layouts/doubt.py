"""Tables whose columns may be read in several ways: what to ask."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import listed, shortened
from hitsndiffs.reading.layouts.columns import FEW, MANY
from hitsndiffs.reading.layouts.reasons import REASONS, UNLIKE
from hitsndiffs.reading.vocabulary import CHOSEN, FLAGS

if TYPE_CHECKING:
    from hitsndiffs.reading.layouts.wide import Wide

__all__ = ["doubt", "foreign"]

#: Marks of a chosen option, also as pandas writes numbers.
ON = {*CHOSEN, "1.0"}


def doubt(wide: Wide) -> str:
    """Return why it is not clear which columns hold the answers; nothing if it is."""
    items = wide.items
    if wide.asked is not None or len(wide.names) > MANY:
        return ""
    unlike = [
        c.name for c in wide.found.values()
        if c.reason in (UNLIKE, REASONS["text"]) and wide.all[c.name].is_choice
    ]  # fmt: skip
    fixed = [n for n in items if wide.all[n].distinct == 1]
    one_series = {*items} <= wide.series
    if (
        len(fixed) * 2 > len(items)
        and not one_series
        and len(wide.all.rows) >= 5
        and not wide.one_of
    ):
        return _unclear(fixed, "hold one answer only")
    shapes = Counter(map(_shape, items)) if wide.has_header else Counter()
    alike = [n for n in unlike if shapes[_shape(n)] >= FEW or n.endswith("]")]
    alike += [n for n in dict.fromkeys(_accompanied(wide)) if n in unlike]
    if alike:
        return _unclear(alike, "are named like the items, and their answers are others")
    others = foreign(wide)
    if others and not wide.one_of:
        return _unclear(others, "have answers like those of the others, and other names")
    ticks = _ticks(wide)
    if ticks:
        return _unclear(ticks, "hold one text or nothing: ticks of one question, it seems")
    flags = _one_hot(wide)
    if flags:
        return _unclear(flags, "are the options of one question, of which each row has one")
    again = Counter(re.sub(r" \(\d+\)$", "", name) for name in wide.names)
    unlike = [n for n in unlike if again[re.sub(r" \(\d+\)$", "", n)] < FEW]
    if not wide.users and len(unlike) > 2:
        return _unclear(unlike, "are unlike the items, and no column names the users")
    return ""


def foreign(wide: Wide) -> list[str]:
    """Return the few items beside a series that are neither named nor answered like its items."""
    shapes = Counter(map(_shape, wide.items)) if wide.has_header else Counter()
    known = wide.series | wide.paid
    others = [
        own for own in wide.all.of([n for n in wide.items if n not in known])
        if not wide.asks(own.name) and shapes[_shape(own.name)] < FEW
        and not recognise("item", list(own.words))
    ]  # fmt: skip
    if not wide.series or len(others) * 4 > len(wide.items):
        return []
    given = {value for own in wide.all.of(known) for value in own.values}
    return [
        own.name for own in others
        if (own.is_numeric or not {*own.values} <= given)
        and not own.name.endswith("]")  # a row of a grid of questions
    ]  # fmt: skip


def _unclear(names: list[str], why: str) -> str:
    one = shortened(names[0], 40)
    return (
        f"it is not clear which columns hold the answers: {listed(names, most=3)} {why}; name "
        f"the items (--items), or drop what is none (--drop {one!r})."
    )


def _accompanied(wide: Wide) -> list[str]:
    """Return the columns with others beside them that are named after them.

    Q1 and Q1 [Score], Why? and Points - Why?: what is added to the name is the same each time.
    """
    names = {*wide.names} if wide.has_header else set()
    added: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        for k in range(1, len(name)):
            if not name[k].isalnum() and name[:k].strip() in names:
                added["…" + name[k:].strip()].append(name[:k].strip())
            if not name[k - 1].isalnum() and name[k:].strip() in names:
                added[name[:k].strip() + "…"].append(name[k:].strip())
    items = {*wide.items}
    return [
        name
        for own in added.values()
        if len(items.intersection(own)) >= FEW
        for name in own
        if name not in items
    ]


def _ticks(wide: Wide) -> list[str]:
    """Return columns of one question that hold one text or nothing."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name, column in wide.found.items():
        own = wide.all[name]
        some = own.distinct == 1 and 0 < own.filled < len(own.cells)
        if some and own.said is None and column.role in ("item", "constant", "unused"):
            groups[_question(name)].append(name)
    alike = Counter(_question(name) for name in wide.found)
    return next(
        (own for stem, own in groups.items()
         if len(own) > 1 and len(own) * 2 > alike[stem] and wide.has_header), []
    )  # fmt: skip


def _one_hot(wide: Wide) -> list[str]:
    """Return flags of the options of a question, of which everybody has one."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for name in wide.items:
        if wide.has_header and len(wide.all[name].values) <= 2:
            groups[_question(name)].append(name)
    found = []
    for own in groups.values():
        rows = list(zip(*(wide.all[n].cells for n in own), strict=True))
        ones = [sum(cell.casefold() in ON for cell in row) for row in rows]
        flags = {v for n in own for v in wide.all[n].values} <= {*FLAGS, *ON}
        if len(own) > 1 and flags and ones.count(1) >= 0.9 * len(rows):
            found += own
    return found if len(found) * 2 > len(wide.items) else []


def _shape(name: str) -> str:
    """Return what names of items have in common.

    Examples
    --------
    >>> _shape("Q12") == _shape("Q3"), _shape("4. Why?") == _shape("17. When?")
    (True, True)
    """
    return re.sub(r"\d+", "9", (re.match(r"\d+[:.)]\s", name) or [name])[0])


def _question(name: str) -> str:
    """Return a name without its last word: that of the question of which it is an option."""
    return re.split(r"[^\W_]*\W*$", name)[0] or name
