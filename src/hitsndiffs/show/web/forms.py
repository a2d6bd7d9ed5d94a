"""Turns the fields of the visitor's forms into arguments for the library."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Mapping
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS
from hitsndiffs.reading.patterns import exactly

__all__ = ["ROLE_BUTTONS", "SETTINGS", "UNUSED", "key_text", "reading_options", "wishes"]

UNUSED = "unused"
#: The roles a column can have, by the layout of the table: role → the word on the button.
ROLE_BUTTONS = {
    "wide": {"user": "User", "item": "Item", "group": "Group", UNUSED: "Leave out"},
    "long": {
        "user": "User",
        "item": "Item",
        "answers": "Answer",
        "group": "Group",
        UNUSED: "Leave out",
    },
}
#: Settings for reading: name → the possible values with their labels (empty: free text).
SETTINGS: dict[str, dict[str, str]] = {
    "rows": {
        "": "find out",
        "wide": "one user",
        "long": "one answer",
        "transposed": "one item",
    },
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
    "duplicates": {
        "": "say so and stop",
        "first": "take the first",
        "last": "take the last",
    },
}
_ROLE_OPTIONS = ("items", "drop", "user", "item", "option", "group")
_SEPARATED = re.compile(r"\s*[=:;,\t]\s*")
#: Maximum characters taken from a settings field.
LONGEST_FIELD = 200


def reading_options(
    form: Mapping[str, Any], plan: Mapping[str, Any] | None, before: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the options for reading the files, from the form of the plan.

    Parameters
    ----------
    form
        The fields. ``c0``, ``c1``, … are the roles of the columns, ``i0``, ``i1``, … tell which
        items are kept; the others are settings.
    plan
        The plan that the form showed, as data; None if there was none.
    before
        The options that led to that plan.
    """
    settings = _settings(form)
    kept = {name: value for name, value in before.items() if name in _ROLE_OPTIONS}
    if settings != {name: value for name, value in before.items() if name not in _ROLE_OPTIONS}:
        return settings  # the columns now mean something else
    if plan is None:
        return settings
    if form.get("items_shown") == "1":
        kept.pop("drop", None)
        out = [item["name"] for k, item in enumerate(plan["items"]) if form.get(f"i{k}") != "1"]
        if len(out) == len(plan["items"]):
            raise InputError("No item is left; keep at least one.")
        if out:
            settings["drop"] = [exactly(name) for name in out]
    columns, layout = plan["columns"], plan["layout"]
    told = [form.get(f"c{place}") for place in range(len(columns))]
    roles = [told or _shown(column["role"]) for told, column in zip(told, columns, strict=True)]
    if layout not in ROLE_BUTTONS or all(
        role == _shown(column["role"]) for role, column in zip(roles, columns, strict=True)
    ):
        return {**kept, **settings}
    if unknown := set(roles) - set(ROLE_BUTTONS[layout]):
        raise InputError(f"A column cannot be {min(unknown)!r}.")
    names = {
        role: [c["name"] for c, r in zip(columns, roles, strict=True) if r == role]
        for role in ROLE_BUTTONS[layout]
    }
    whole = plan["n_columns"] == len(columns)
    if len(names["group"]) > 1:
        raise InputError(
            "Only one column can hold the users' groups; "
            f"{len(names['group'])} are marked as groups."
        )
    found = {"group": names["group"][0]} if names["group"] else {}
    return {
        **settings,
        **found,
        **(_wide(names, whole, kept) if layout == "wide" else _long(names)),
    }


def _shown(role: str) -> str:
    """Return the role that a button shows; roles without a button count as left out."""
    return role if role in ("user", "item", "answers", "group") else UNUSED


def _wide(names: Mapping[str, list[str]], whole: bool, kept: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if names["user"]:
        found["user"] = "+".join(names["user"])
    if not names["item"]:
        raise InputError("No column is left that holds answers; make at least one an item.")
    if whole:
        found["items"] = [exactly(name) for name in names["item"]]
    else:
        found["drop"] = [*kept.get("drop", ()), *(exactly(name) for name in names[UNUSED])]
    return found


def _long(names: Mapping[str, list[str]]) -> dict[str, Any]:
    for role, word in (("user", "user"), ("item", "item"), ("answers", "answer")):
        if len(names[role]) != 1:
            raise InputError(
                f"A table with one row per answer needs exactly one {word} column; "
                f"{len(names[role])} are marked as {word}."
            )
    return {
        "layout": "long",
        "user": names["user"][0],
        "item": names["item"][0],
        "option": names["answers"][0],
    }


def _settings(form: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, choices in SETTINGS.items():
        value = str(form.get(name, "")).strip()[:LONGEST_FIELD]
        if not value:
            continue
        if choices and value not in choices:
            raise InputError(f"{name.replace('_', ' ')} cannot be {value!r}.")
        if name == "rows":
            found.update({"transpose": True} if value == "transposed" else {"layout": value})
        elif name == "header_row":
            if not value.isdecimal() or int(value) < 1:
                raise InputError(
                    f"The row with the names must be a number from 1 on; got {value!r}."
                )
            found[name] = int(value)
        else:
            found[name] = value
    return found


def wishes(form: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the visitor wants of the ranking."""
    method = str(form.get("method", "")).strip()
    if method and method not in METHODS:
        raise InputError(f"There is no method {method[:LONGEST_FIELD]!r}.")
    return {
        "method": method,
        "strong_user": str(form.get("strong_user", "")).strip()[:1000],
        "use_key": form.get("use_key") == "1",
        "key_text": str(form.get("key_text", ""))[:200_000].strip(),
        "key_file": None,
    }


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
    pairs = [_split(line, items) for line in lines]
    written = io.StringIO()
    write = csv.writer(written, lineterminator="\n").writerow
    whole = [pair for pair in pairs if pair is not None]
    if len(whole) < len(pairs):
        return "".join(f"{line}\n" for line in lines)
    for row in [("item", "answer"), *whole]:
        write(row)
    return written.getvalue()


def _split(line: str, items: Collection[str]) -> tuple[str, str] | None:
    found = [(line[: mark.start()], line[mark.end() :]) for mark in _SEPARATED.finditer(line)]
    return next((pair for pair in found if pair[0] in items), found[0] if found else None)
