"""JSON text: tell JSON from JSON lines, read the first records, and refuse deep nesting."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, Literal

import numpy as np

from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.archives import too_large
from hitsndiffs.reading.sizes import DEFAULT

__all__ = ["DEEPEST", "first_records", "kind_of", "load", "parsed"]

#: Bytes that a record and any other value take in memory (measured: 64 to 232, and 8 to 60).
_OF_RECORD, _OF_VALUE = 232, 60
#: Values nested deeper than this are refused before they are parsed.
DEEPEST = 200
#: What a line of JSON lines should be.
_RECORD = '; every line should be one record such as {"user": "a", "item": "q1", "option": "B"}'
_decoder = json.JSONDecoder(strict=False)
_SPACE = " \t\r\n"
#: An object or a list begins so; a header in brackets, or a line of settings, does not.
_BEGINS = re.compile(
    r"""\s*(?:\{\s*(?:"|\}|$)|\[\s*(?:[\[{"\]]|-?[0-9]|true\b|false\b|null\b|NaN\b|-?Infinity\b|$))"""
)
#: All bytes but brackets and quotation marks.
_OTHERS = bytes(byte for byte in range(256) if byte not in b'[]{}"')


def check_depth(text: str, name: str) -> None:
    """Refuse a value that is nested too deeply; JSON parsers recurse at each level."""
    if text.count("[") + text.count("{") > DEEPEST and _depth(text) > DEEPEST:
        raise InputError(
            f"{name}: the JSON is nested more than {DEEPEST} levels deep; that is no file of "
            "answers."
        )


def _depth(text: str) -> int:
    r"""Return how deeply brackets outside of strings are nested.

    >>> _depth('[{"a": "[[["}, ["\\"[[", "\\\\"], []]')
    2
    """
    data = text.encode("utf-8", "replace").replace(b"\\\\", b"").replace(b'\\"', b"")
    marks = np.frombuffer(data.translate(None, _OTHERS), dtype=np.uint8)
    inside = np.bitwise_xor.accumulate((marks == ord('"')).view(np.uint8)).view(bool)
    # an opening bracket is 0x5B or 0x7B, a closing one 0x5D or 0x7D
    steps = np.where(marks & 0x02, 1, -1).astype(np.int32)
    steps[inside | (marks == ord('"'))] = 0
    return int(np.cumsum(steps).max(initial=0))


def check_parsed_size(text: str, name: str, limit: int) -> None:
    """Refuse a text whose values would take more memory than is allowed; texts are far smaller.

    >>> check_parsed_size("[" + "{}," * 1000 + "{}]", "a.json", 100_000)
    Traceback (most recent call last):
    hitsndiffs.errors.InputError: a.json: the content is larger than the memory limit allows ...
    """
    if len(text) * _OF_RECORD > limit:  # else it is allowed whatever is in it
        values = text.count(",") + text.count("[")
        if len(text) + text.count("{") * _OF_RECORD + values * _OF_VALUE > limit:
            raise too_large(name, limit)


def load(text: str, name: str, line_number: int | None = None, limit: int = DEFAULT.memory) -> Any:
    """Parse one value, or several one after the other; say where an error is, and what it is.

    Bare NaN and Infinity are allowed, and line breaks in texts; several values become a list.
    """
    where = name if line_number is None else f"{name}, line {line_number}"
    check_parsed_size(text, where, limit)
    check_depth(text, name)

    try:
        return parsed(text, where)
    except json.JSONDecodeError as error:
        several = _successive(text) if error.msg == "Extra data" else None
        if several is not None:
            return several
        line = error.lineno if line_number is None else line_number
        raise InputError(
            f"{name}, line {line}, column {error.colno}: this is not valid JSON "
            f"({_fault(text, error)}){'' if line_number is None else _RECORD}."
        ) from None
    except RecursionError:
        raise InputError(f"{where}: the JSON is nested too deeply for a file of answers.") from None
    except InputError:
        raise
    except ValueError:
        raise InputError(
            f"{where}: the JSON holds a number of thousands of digits; write it as a text."
        ) from None


def parsed(text: str, where: str) -> Any:
    """Parse one value; refuse a record that has two values under one name."""

    def record(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs) and any(found[own] != value for own, value in pairs):
            again = next(own for own, value in pairs if found[own] != value)
            raise InputError(
                f"{where}: a record has the name {again!r} twice, with different values; JSON "
                "keeps only one of them, so give each its own name."
            )
        return found

    first = text.find("{")
    if text.count("[") < 2 and not -1 < text.find("{", first + 1) < text.find("}"):
        value = json.loads(text, strict=False)  # a list of flat records: twice as fast
        are_records = isinstance(value, list) and {*map(type, value)} == {dict}
        if are_records and text.count(":") == sum(map(len, value)):  # no name stands twice
            return value
    return json.loads(text, strict=False, object_pairs_hook=record)


def _values(text: str, place: int = 0) -> Iterator[Any]:
    """Yield values that stand one after the other, perhaps with commas between."""
    while (place := _skip(text, place, _SPACE + ",")) < len(text):
        value, place = _decoder.raw_decode(text, place)
        yield value


def _successive(text: str) -> Any:
    """Return records or lists that stand one after the other as one list; else None."""
    try:
        values = list(_values(text))
    except (ValueError, RecursionError):
        return None
    if not all(isinstance(value, (dict, list)) for value in values):
        return None
    if all(isinstance(v, list) and all(isinstance(own, dict) for own in v) for v in values):
        return [own for value in values for own in value]
    return values if len(values) > 1 else values[0]


def _fault(text: str, error: json.JSONDecodeError) -> str:
    """Return what is wrong, and what to do, in a text that is not JSON.

    Examples
    --------
    >>> def told(text):
    ...     try:
    ...         json.loads(text)
    ...     except json.JSONDecodeError as error:
    ...         return _fault(text, error)
    >>> print(told('["A",]'), told('["A", "B'), told("[{user: 1}]"), sep="; ")
    a comma stands before the closing bracket: take it out; it ends in the middle of a value: the \
file is cut short; a name stands without double quotation marks: put them around it
    """
    before, rest = text[: error.pos].rstrip(), text[error.pos :].lstrip()
    if not rest or error.msg.startswith("Unterminated"):
        return "it ends in the middle of a value: the file is cut short"
    if before.endswith(",") and rest[0] in "]}":
        return "a comma stands before the closing bracket: take it out"
    if rest.startswith("'"):
        return "a text stands in single quotation marks: JSON has double ones"
    if error.msg.startswith("Expecting property name"):
        return "a name stands without double quotation marks: put them around it"
    return error.msg


def kind_of(text: str, *, whole: bool) -> Literal["json", "jsonl"] | None:
    r"""Tell whether a text that begins with a bracket is one value, one per line, or not JSON.

    Examples
    --------
    >>> kind_of('{"a": 1}\n{"a": 2}\n', whole=True), kind_of('[1, 2', whole=False)
    ('jsonl', 'json')
    """
    line = text.partition("\n")[0]
    if line.startswith("{"):
        try:
            check_depth(line, "")
            _decoder.decode(line)
        except (ValueError, RecursionError, InputError):
            pass
        else:
            rest = text[len(line) :].lstrip(_SPACE)
            return "jsonl" if rest or not whole else "json"
    return "json" if _BEGINS.match(text) else None


def first_records(text: str, most: int) -> list[Any]:
    """Return the first records: lines, elements of a list, or the one object.

    If the first object is cut off, only the members before the cut are returned.
    """
    text = text.lstrip(_SPACE)
    try:
        check_depth(text, "")
    except InputError:
        return []
    begin = _skip(text, int(text.startswith("[")))
    found: list[Any] = []
    with suppress(ValueError, RecursionError):
        found.extend(islice(_values(text, begin), most))
    if not found and text[begin : begin + 1] == "{":
        return [_members(text[begin:])]
    return found


def _skip(text: str, place: int, marks: str = _SPACE) -> int:
    while place < len(text) and text[place] in marks:
        place += 1
    return place


def _members(text: str) -> dict[str, Any]:
    """Return the members of an object up to the first one that is cut off."""
    found: dict[str, Any] = {}
    place = _skip(text, 1)
    while place < len(text) and text[place] == '"':
        try:
            key, place = _decoder.raw_decode(text, place)
            found[key] = None
            place = _skip(text, place, _SPACE + ":")
            found[key], place = _decoder.raw_decode(text, place)
        except (ValueError, RecursionError, IndexError):
            break
        place = _skip(text, place, _SPACE + ",")
    return found
