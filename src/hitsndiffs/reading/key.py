"""Answer keys: which option of which item is right."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.encoding.names import find_column, listed, recognise, suggestion
from hitsndiffs.data.encoding.options import normalise
from hitsndiffs.errors import InputError
from hitsndiffs.reading.source import ByteStream, line_chunks, open_stream

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["read_key"]


def read_key(
    source: Any,
    responses: Responses | None = None,
    *,
    item: str | None = None,
    answer: str | None = None,
) -> dict[str, str]:
    r"""Read an answer key (or a part of one) from a file.

    Parameters
    ----------
    source
        A path, ``"-"`` or a file object: a CSV or TSV file with the columns item and answer, a
        JSON object ``{item: answer}``, or one answer per line in the order of the items.
    responses
        The responses that the key belongs to; its items are then checked against theirs.
    item, answer
        The names of the two columns; recognised when not given.

    Returns
    -------
    dict
        The right option of each item, both as text; items with an empty answer are left out.

    Examples
    --------
    >>> import io
    >>> read_key(io.StringIO("item,answer\nq1,A\nq2, 2.0\n"))
    {'q1': 'A', 'q2': '2'}
    """
    with open_stream(source) as stream:
        start = stream.peek(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
        is_json = start == b"{"
        pairs = _from_json(stream) if is_json else _from_rows(stream, responses, item, answer)
        name = stream.name
    key: dict[str, str] = {}
    for place, label, value in pairs:
        option = normalise(value)
        if option is None:
            continue
        if key.get(label, str(option)) != str(option):
            raise InputError(
                f"{name}, {place}: the item {label!r} has the answer {str(option)!r} here and "
                f"{key[label]!r} further up; keep one of them."
            )
        key[label] = str(option)
    if not key:
        raise InputError(f"{name}: the key holds no answers; nothing can be used.")
    if responses is not None:
        _check_items(key, responses, name)
    return key


def _check_items(key: dict[str, str], responses: Responses, name: str) -> None:
    known = {str(label) for label in responses.items.tolist()}
    unknown = [label for label in key if label not in known]
    if unknown:
        near = suggestion(unknown[0], known) if len(unknown) == 1 else ""
        raise InputError(
            f"{name}: the key names {listed(unknown)}{near}, and the responses have no such "
            f"{'item' if len(unknown) == 1 else 'items'}; their items are "
            f"{listed(responses.items.tolist(), most=3)}."
        )


def _from_json(stream: ByteStream) -> list[tuple[str, str, Any]]:
    try:
        loaded = json.loads(stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(f"{stream.name}: the text is not UTF-8; save it as UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{stream.name}: this is not valid JSON ({error}); a key is one object such as "
            '{"q1": "A", "q2": "C"}.'
        ) from None
    for label, value in loaded.items():
        if isinstance(value, (dict, list)):
            raise InputError(
                f"{stream.name}, item {label!r}: one answer was expected; got {value!r}."
            )
    return [(f"item {label!r}", label.strip(), value) for label, value in loaded.items()]


def _from_rows(
    stream: ByteStream, responses: Responses | None, item: str | None, answer: str | None
) -> list[tuple[str, str, Any]]:
    rows = _rows(stream)
    names = [cell.strip() for cell in rows[0][1]]
    given = item is not None or answer is not None
    items = recognise("item", names)
    answers = [name for name in recognise("answer", names) if name not in items]
    if given or (len(names) > 1 and items and answers):
        columns = [
            _column(stream, names, "item", item, items),
            _column(stream, names, "answer", answer, answers),
        ]
        return [_pair(stream, line, row, columns) for line, row in rows[1:]]
    if len(names) == 2:
        return [_pair(stream, line, row, [0, 1]) for line, row in rows]
    if len(names) > 2:
        raise InputError(
            f"{stream.name}: a key needs the columns item and answer; the columns are "
            f"{listed(names)}; rename two of them, or leave only these two."
        )
    return _in_item_order(stream, rows, bool(answers), responses)


def _rows(stream: ByteStream) -> list[tuple[int, list[str]]]:
    rows: list[tuple[int, list[str]]] = []
    separator = ","
    for chunk in line_chunks(stream, quotes=True):
        text = chunk.data.decode("utf-8-sig" if not rows else "utf-8")
        if not rows:
            line = text.lstrip().partition("\n")[0]
            separator = max(",\t;", key=line.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        try:
            numbered = ((chunk.first_line + reader.line_num - 1, row) for row in reader)
            rows.extend(pair for pair in numbered if "".join(pair[1]).strip())
        except csv.Error as error:
            line_number = chunk.first_line + reader.line_num - 1
            raise InputError(
                f"{stream.name}, line {line_number}: the row cannot be read ({error}); check the "
                "quotation marks."
            ) from None
    if not rows:
        raise InputError(f"{stream.name}: the key holds nothing but blank lines.")
    return rows


def _column(
    stream: ByteStream, names: list[str], role: str, given: str | None, fitting: list[Any]
) -> int:
    if given is not None:
        return names.index(find_column(given, names, where=stream.name, argument=role))
    if not fitting:
        raise InputError(
            f"{stream.name}: none of the columns {listed(names)} is named like the {role} column "
            f"of a key; name it with {role}=."
        )
    return names.index(fitting[0])


def _pair(
    stream: ByteStream, line: int, row: list[str], columns: list[int]
) -> tuple[str, str, str]:
    if len(row) <= max(columns):
        raise InputError(
            f"{stream.name}, line {line}: an item and an answer were expected; got "
            f"{','.join(row)!r}."
        )
    return f"line {line}", row[columns[0]].strip(), row[columns[1]]


def _in_item_order(
    stream: ByteStream,
    rows: list[tuple[int, list[str]]],
    header: bool,
    responses: Responses | None,
) -> list[tuple[str, str, Any]]:
    """Pair a single column of answers with the items in their order."""
    if responses is None:
        raise InputError(
            f"{stream.name}: the key has answers but no items; give the responses, so that the "
            "answers can be paired with the items in their order."
        )
    answers = rows[1:] if header and len(rows) == responses.n_items + 1 else rows
    if len(answers) != responses.n_items:
        raise InputError(
            f"{stream.name}: the key has {len(answers)} answers and no item names, and the "
            f"responses have {responses.n_items} items; give one answer per item, or the columns "
            "item and answer."
        )
    return [
        (f"line {line}", str(label), row[0])
        for (line, row), label in zip(answers, responses.items.tolist(), strict=True)
    ]
