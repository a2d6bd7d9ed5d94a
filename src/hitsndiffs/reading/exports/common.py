"""What the values in exports mean: numbers, plain text, labels, sets of options."""

from __future__ import annotations

import ast
import hashlib
import html
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from hitsndiffs.reading.vocabulary import folded

__all__ = [
    "as_text",
    "at",
    "attempt_number",
    "chosen",
    "folded",
    "inner",
    "is_free_text",
    "letter_place",
    "literal",
    "number",
    "objects",
    "short_hash",
    "single",
    "split_column",
    "stem_of_name",
    "title_of",
    "unique",
    "without_html",
    "words",
    "worth",
]

_TAG = re.compile(r"<(?:/?[a-zA-Z][^<>]{0,2000}|!--.{0,2000}?--)>", re.DOTALL)
_NUMBER = re.compile(r"[-+]?\d+(?:[.,]\d+)?")


# -- texts ---------------------------------------------------------------------------------------


def words(text: str) -> frozenset[str]:
    """Return the words of a text, separated by ``|``."""
    return frozenset(text.split("|"))


@lru_cache(maxsize=1 << 16)
def without_html(text: str) -> str:
    """Return a text without HTML, with single spaces."""
    if "<" in text:
        text = _TAG.sub(" ", text)
    return " ".join(html.unescape(text).split())


@lru_cache(maxsize=1 << 16)
def number(text: str) -> float | None:
    """Return a number written with a decimal point or comma, or None."""
    text = text.strip()
    return float(text.replace(",", ".")) if _NUMBER.fullmatch(text) else None


#: What a column that checks an answer says, as points.
_RIGHT = dict.fromkeys(("true", "yes", "y", "c", "correct", "right"), 1.0)
_RIGHT |= dict.fromkeys(("false", "no", "n", "x", "i", "incorrect", "wrong"), 0.0)
_OF = re.compile(r"(\d+(?:[.,]\d+)?)\s*/\s*(\d+(?:[.,]\d+)?)")


def worth(text: str) -> tuple[float | None, float | None]:
    """Return the points that a cell says, and how many were possible; None where it does not."""
    text = text.strip()
    if match := _OF.fullmatch(text):
        return number(match[1]), number(match[2])
    found = number(text)
    return (_RIGHT.get(text.casefold()) if found is None else found), None


def attempt_number(text: str) -> int:
    """Return the number of an attempt; 1 if the text is not such a number."""
    value = number(text)
    return int(value) if value and 0 < value < 1e6 else 1


def short_hash(text: str) -> str:
    """Return a hash of a text as eight hexadecimal digits."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=4).hexdigest()


def letter_place(text: str) -> int | None:
    """Return the index of an option letter (``A`` or ``(a)`` is 0), or None."""
    bare = text.strip().strip("().:").upper()
    return ord(bare) - ord("A") if len(bare) == 1 and "A" <= bare <= "Z" else None


def is_free_text(cells: Iterable[str]) -> bool:
    """Whether the answers to a question are free text: mostly long, and hardly ever repeated.

    With few answers they must be longer: three people may well choose three different options.

    Examples
    --------
    >>> is_free_text(["yes", "no"]), is_free_text(["x" * 80, "y" * 70, "z" * 60])
    (False, True)
    """
    given = [text for cell in cells if (text := cell.strip())]
    length = 12 if len(given) >= 8 else 50
    long = sum(len(text) > length or "\n" in text for text in given)
    return bool(given) and 2 * long > len(given) and len(set(given)) > 0.8 * len(given)


def unique(names: Iterable[str]) -> list[str]:
    """Return distinct names: repeated ones get a number."""
    names = list(names)
    taken = set(names)
    counts: Counter[str] = Counter()
    result = []
    for name in names:
        counts[name] += 1
        label = name
        while counts[name] > 1 and (label := f"{name} ({counts[name]})") in taken:
            counts[name] += 1
        taken.add(label)
        result.append(label)
    return result


def stem_of_name(name: str) -> str:
    """Return a file name without its extensions (``.csv.gz`` is removed whole)."""
    endings = r"(\.(?:gz|zst|zip|jsonl?|ndjson|csv|tsv|txt|xlsx?|ods|parquet|eval))+$"
    return re.sub(endings, "", name, flags=re.IGNORECASE)


# -- values of JSON ------------------------------------------------------------------------------


def as_text(value: Any) -> str:
    """Return a JSON value as label text; whole numbers have no decimal point."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (int, float)):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


#: The members of an object that hold the text of a question, the likeliest first.
_ASKED = ("question", "query", "problem", "sentence", "ctx", "goal", "premise", "input", "text")


def title_of(value: Any) -> str:
    """Return the beginning of a text, in one line, as the title of an item."""
    if isinstance(value, dict):
        texts = [*map(value.get, _ASKED), *value.values()]
        value = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    return " ".join(as_text(value).split())[:200]


def literal(text: Any) -> Any:
    """Return the value of a JSON or Python literal, or the text itself if it is neither.

    Examples
    --------
    >>> literal("['a', 1]"), literal('{"a": true}'), literal("plain words")
    (['a', 1], {'a': True}, 'plain words')
    """
    if not isinstance(text, str):
        return text
    if text.lstrip()[:1] not in ("[", "{", "(", '"') and not _NUMBER.fullmatch(text.strip()):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return text


def objects(values: Any) -> list[dict[str, Any]]:
    """Return the objects among JSON values; everything else is skipped."""
    if isinstance(values, dict):
        values = [values]
    several = isinstance(values, (list, tuple, Iterator))
    return [v for v in values if isinstance(v, dict)] if several else []


def inner(value: Any, *names: str) -> dict[str, Any]:
    """Return the object at the end of a path of names, or an empty one if there is none."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def at(value: Any, path: str) -> Any:
    """Return what stands at the end of a path in objects; of several, the first that holds a value.

    Examples
    --------
    >>> at({"a": {"b": 1}}, "a.c|a.b"), at({"a": {"b": None}}, "a.b|a.b.c") is None
    (1, True)
    """
    for one in path.split("|"):
        *names, last = one.split(".")
        found = inner(value, *names).get(last)
        if found not in (None, ""):
            return found
    return None


# -- what was chosen -----------------------------------------------------------------------------

#: Where an object holds what was chosen; one that also has a place marks a region or a part.
_CHOICES = ("choices", "labels", "label", "rating", "selected", "choice", "name", "title", "value")
_PLACES = {"start", "start_offset", "x", "points", "task"}


def single(text: Any) -> tuple[str, ...]:
    """Return one value as a set of options; blank texts are none."""
    return (text,) if (text := as_text(text)).strip() else ()


def chosen(value: Any) -> tuple[str, ...] | None:
    """Return what a value of JSON says was chosen; None if it is no choice.

    Examples
    --------
    >>> chosen({"cat": True, "dog": False}), chosen({"label": "cat"}), chosen([{"name": 1}, "b"])
    (('cat',), ('cat',), ('1', 'b'))
    >>> chosen({"x": 1, "y": 2, "labels": ["cat"]}), chosen({"content": "long"}), chosen(None)
    (None, None, ())
    """
    if isinstance(value, dict):
        if value and all(isinstance(own, bool) for own in value.values()):
            return tuple(option for option, on in value.items() if on)
        name = next((name for name in _CHOICES if value.get(name) is not None), None)
        return None if name is None or _PLACES & value.keys() else chosen(value[name])
    if not isinstance(value, list):
        return single(value)
    parts = [chosen(part) for part in value]
    several = [text for part in parts for text in part or ()]
    return None if None in parts else tuple(dict.fromkeys(several))


def split_column(cells: Sequence[str], mark: str) -> list[tuple[str, ...]]:
    """Split the cells of one item into sets, unless they are texts that contain the mark.

    Cells are split at a pattern if most of their parts also occur in other cells (alone or with
    others); options rarely contain anything but a comma, so one such part in each cell is enough
    for other marks. Lists of JSON are sets, too.

    Examples
    --------
    >>> split_column(["Red, Blue", "Blue, Red", "Red", ""], ",")
    [('Red', 'Blue'), ('Blue', 'Red'), ('Red',), ()]
    >>> split_column(["Paris, France", "London, England", "Paris, France"], ",")
    [('Paris, France',), ('London, England',), ('Paris, France',)]
    >>> split_column(["A;B;", "B;", ""], ";"), split_column(['["A","B"]', '["B"]'], ";")
    ([('A', 'B'), ('B',), ()], [('A', 'B'), ('B',)])
    """
    whole = {cell: cell.strip() for cell in {*cells}}
    lists = {cell: literal(text) for cell, text in whole.items() if text.startswith("[")}
    if lists and all(isinstance(lists.get(cell), list) for cell, text in whole.items() if text):
        return [tuple(as_text(part).strip() for part in lists.get(cell, ())) for cell in cells]
    found, last = re.compile(mark), re.compile(f"(?:{mark})$")
    parts_of = {
        cell: tuple(filter(None, map(str.strip, found.split(text)))) for cell, text in whole.items()
    }
    counts = Counter(part for own in parts_of.values() for part in {*own})
    several = [parts_of[cell] for cell, text in whole.items() if found.search(text)]
    mentioned = {part for parts in several for part in parts}
    shared = sum(counts[part] > 1 for part in mentioned)
    ends = all(last.search(text) for text in whole.values() if text)
    rare = "," not in mark and all(any(counts[p] > 1 for p in parts) for parts in several)
    if several and (ends or rare or 2 * shared > len(mentioned)):
        return [parts_of[cell] for cell in cells]
    return [single(whole[cell]) for cell in cells]
