"""Turns the fields of the visitor's forms into arguments for the library."""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.reading.patterns import exactly

__all__ = ["ROLE_BUTTONS", "SETTINGS", "UNUSED", "key_text", "reading_options", "wishes"]

UNUSED = "unused"
_ENDS = {"group": "Group", UNUSED: "Leave out"}
#: The roles a column can have, by the layout of the table: role → the word on the button.
ROLE_BUTTONS = {
    "wide": {"user": "User", "item": "Item", **_ENDS},
    "long": {"user": "User", "item": "Item", "answers": "Answer", **_ENDS},
}
#: Settings for reading: name → the possible values with their labels (empty: free text).
SETTINGS: dict[str, dict[str, str]] = {
    "layout": {"": "find out", "wide": "one user", "long": "one answer", "transposed": "one item"},
    "header_row": {},
    "sheet": {},
    "separator": {
        "": "find out",
        "comma": "comma",
        "semicolon": "semicolon",
        "tab": "tab",
        "bar": "bar |",
    },
    "attempt": {"": "the first", "last": "the last", "best": "the best"},
    "duplicates": {"": "say so and stop", "first": "take the first", "last": "take the last"},
}
_SEPARATED = re.compile(r"\s*[=:;,\t]\s*")
#: Fields that say something of the ranking, or of items and users.
WISHES = ("method", "strong_user", "key_text", "predicted", "sections", "groups", "clusters")
#: Maximum characters taken from a field of one line.
LONGEST_FIELD = 1000


def _text(form: Mapping[str, Any], name: str, longest: int = LONGEST_FIELD) -> str:
    return str(form.get(name, "")).strip()[:longest]


def reading_options(
    form: Mapping[str, Any], found: Mapping[str, Any] | None, before: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options for reading the files, from the form of the plan.

    Parameters
    ----------
    form
        The fields. ``c0``, ``c1``, … are the roles of the columns, ``i0``, ``i1``, … tell which
        items are kept; the others are settings.
    found
        What the form showed: the plan as data, and the items; None if there was none.
    before
        The options that led to that plan.
    """
    settings = _settings(form)
    kept = {name: value for name, value in before.items() if name in ("plan", "drop")}
    if found is None or {**settings, **kept} != before:
        return settings  # the columns now mean something else
    if form.get("items_shown") == "1":
        items = [item["name"] for item in found["items"]]
        kept["drop"] = [exactly(name) for k, name in enumerate(items) if form.get(f"i{k}") != "1"]
        if len(kept["drop"]) == len(items):
            raise InputError("No item is left; keep at least one.")
        if not kept["drop"]:
            del kept["drop"]
    plan = found["plan"]
    buttons = ROLE_BUTTONS.get(plan["layout"], {})
    columns, changed = [], set()
    for place, column in enumerate(plan["columns"]):
        shown = column["role"] if column["role"] in buttons else UNUSED
        role = str(form.get(f"c{place}") or shown)
        if role != shown:
            column = {**column, "role": role}
            changed.add(role)
        columns.append(column)
    if not changed or not buttons:
        return {**settings, **kept}
    if unknown := changed - set(buttons):
        raise InputError(f"A column cannot be {min(unknown)!r}.")
    often = Counter(column["role"] for column in columns)
    if often["group"] > 1:
        raise InputError(
            f"Only one column can hold the users' groups; {often['group']} are marked as groups."
        )
    if not often["item"]:
        raise InputError("No column is left that holds answers; make at least one an item.")
    for role in ("user", "item", "answers") if plan["layout"] == "long" else ():
        if often[role] != 1:
            raise InputError(
                f"A table with one row per answer needs exactly one {role.rstrip('s')} column; "
                f"{often[role]} are marked as {role.rstrip('s')}."
            )
    return {**settings, **kept, "plan": {**plan, "columns": columns, "options": {}}}


def _settings(form: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that were chosen; the library checks them."""
    found: dict[str, Any] = {name: _text(form, name) for name in SETTINGS if _text(form, name)}
    if found.get("layout") == "transposed":
        del found["layout"]
        found["transpose"] = True
    row = found.get("header_row")
    if row is not None:
        if not row.isdecimal() or len(row) > 9 or int(row) < 1:
            raise InputError(f"The row with the names must be a number from 1 on; got {row!r}.")
        found["header_row"] = int(row)
    return found


def wishes(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a form says of the ranking; what it does not ask is not in it."""
    longest = {"key_text": 200_000}
    found = {
        name: _text(form, name, longest.get(name, LONGEST_FIELD)) for name in WISHES if name in form
    }
    return found | ({"use_key": form["use_key"] == "1"} if "use_key" in form else {})


def key_text(text: str, items: Collection[str] = ()) -> str:
    r"""Return typed answers as CSV: ``q1 = B``, ``q1: B`` or ``q1,B``, or one answer per line.

    Parameters
    ----------
    text
        What was typed.
    items
        The names of the items, which may contain these separators.

    Examples
    --------
    >>> key_text("q1 = B\nq2: C")
    'item,answer\nq1,B\nq2,C\n'
    >>> key_text("x = y: A", ["x = y"])
    'item,answer\nx = y,A\n'
    >>> key_text("B\nC")
    'B\nC\n'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    pairs = [pair for line in lines if (pair := _split(line, items)) is not None]
    if len(pairs) < len(lines):
        return "".join(f"{line}\n" for line in lines)
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows([("item", "answer"), *pairs])
    return written.getvalue()


def _split(line: str, items: Collection[str]) -> tuple[str, str] | None:
    found = [(line[: mark.start()], line[mark.end() :]) for mark in _SEPARATED.finditer(line)]
    return next((pair for pair in found if pair[0] in items), found[0] if found else None)
