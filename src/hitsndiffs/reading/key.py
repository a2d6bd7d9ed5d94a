"""Answer keys: which option of which item is right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.cells import normalise
from hitsndiffs.data.formulas import with_formulas
from hitsndiffs.data.lookup import mapping_of
from hitsndiffs.data.names import find_column, recognise
from hitsndiffs.data.spelling import named_options
from hitsndiffs.data.words import listed, shortened, suggestion
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.documents import FileDocument, Settings
from hitsndiffs.reading.files.jsontext import load
from hitsndiffs.reading.files.source import open_stream
from hitsndiffs.reading.vocabulary import is_key_name

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["ReadKey", "read_key"]


class ReadKey(dict[str, str]):
    """Item → right option, with notes on what does not fit the answers."""

    def __init__(self, options: Mapping[str, str], notes: Sequence[str] = ()) -> None:
        super().__init__(options)
        self.notes = tuple(notes)


def read_key(
    source: Any,
    responses: Responses | None = None,
    *,
    item: str | None = None,
    answer: str | None = None,
) -> ReadKey:
    r"""Read an answer key (or a part of one) from a file.

    Parameters
    ----------
    source
        A mapping, a Series, a DataFrame, a path, ``"-"`` or a file object: a table with the
        columns item and answer (CSV, TSV, a spreadsheet), a table with the items as header and the
        answers in one row, a JSON object ``{item: answer}`` or a list of records, or one answer
        per line in the order of the
        items.
    responses
        The responses that the key belongs to. If given, the items are checked against theirs,
        the answers are spelled as theirs, and a key that fits none of them is refused.
    item, answer
        The names of the two columns; recognised if not given.

    Returns
    -------
    ReadKey
        A dictionary from each item to its right option, both as text. Items with an empty answer
        are left out; ``notes`` say what did not fit.

    Examples
    --------
    >>> import io
    >>> read_key(io.StringIO("item,answer\nq1,A\nq2, 2.0\n"))
    {'q1': 'A', 'q2': '2'}
    """
    pairs, name = _pairs(source, responses, item, answer)
    key: dict[str, str] = {}
    for place, label, value in pairs:
        label = _unguarded(label, responses)
        option = normalise(with_formulas(value) if isinstance(value, str) else value)
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
    return ReadKey(key) if responses is None else _matched(key, responses, name)


def _unguarded(label: str, responses: Responses | None) -> str:
    """Return an item's name without the apostrophe that keeps a spreadsheet from running it."""
    plain = with_formulas(label)
    if plain != label and responses is not None and label in set(responses.items.tolist()):
        return label
    return plain


def _pairs(
    source: Any, responses: Responses | None, item: str | None, answer: str | None
) -> tuple[list[tuple[str, str, Any]], str]:
    """Return places, items and answers from a key in any shape, and the name of its source."""
    told = mapping_of(source)
    if told is not None:
        return [(f"item {label!r}", str(label), value) for label, value in told.items()], "the key"
    with open_stream(source) as opened:
        document = FileDocument.once(opened, Settings())
        name = document.name
        if document.kind in ("json", "jsonl"):
            loaded = load(document.text(), name)
            if isinstance(loaded, dict):
                return _from_object(loaded, name), name
            return _from_list(loaded, name, item, answer), name
        if document.kind == "table":
            rows = document.numbered_rows()
            if document.shape.fault is not None:
                raise InputError(f"{name}, {document.shape.fault}")
        else:
            table = document.table()
            rows = list(enumerate([table.header, *table.rows], start=1))
        if not rows:
            raise InputError(f"{name}: the key holds nothing but blank lines.")
        return _from_table(rows, name, responses, item, answer), name


def _matched(key: dict[str, str], responses: Responses, name: str) -> ReadKey:
    """Spell the answers as the responses do; note what does not fit."""
    notes: list[str] = []
    known = {str(label): place for place, label in enumerate(responses.items.tolist())}
    unknown = [label for label in key if label not in known]
    if unknown and (len(unknown) * 5 > len(key) or len(key) - len(unknown) < 5):
        near = suggestion(unknown[0], known) if len(unknown) == 1 else ""
        raise InputError(
            f"{name}: the key names {listed(unknown)}{near}, and the responses have no such "
            f"{'item' if len(unknown) == 1 else 'items'}; their items are "
            f"{listed(responses.items.tolist(), most=3)}."
        )
    if unknown:
        notes.append(
            f"{name}: the key names {listed(unknown, most=3)}, and nobody answered "
            f"{'it' if len(unknown) == 1 else 'them'} (or they were left out)."
        )
    starts = responses.item_starts.tolist()
    labels = responses.option_labels.tolist()
    found: dict[str, str] = {}
    unchosen: list[str] = []
    for label, option in key.items():
        place = known.get(label)
        if place is None:
            continue
        own = [str(text) for text in labels[starts[place] : starts[place + 1]]]
        chosen = named_options(option, own)
        if not chosen:
            unchosen.append(label)
        found[label] = ";".join(chosen) or option
    if len(unchosen) == len(found):
        first = unchosen[0]
        place = known[first]
        own = labels[starts[place] : starts[place + 1]]
        raise InputError(
            f"{name}: the key fits none of the answers: for the item {first!r} it says "
            f"{shortened(found[first])!r}, and the answers are {listed(own, most=3)}; is it in the "
            "same words (letters, numbers, texts) as the answers?"
        )
    if unchosen:
        notes.append(
            f"{name}: nobody chose the answer that the key gives to {listed(unchosen, most=3)}."
        )
    return ReadKey(found, notes)


def _from_object(loaded: dict[str, Any], name: str) -> list[tuple[str, str, Any]]:
    for label, value in loaded.items():
        if isinstance(value, (dict, list)):
            raise InputError(f"{name}, item {label!r}: one answer was expected; got {value!r}.")
    return [(f"item {label!r}", label.strip(), value) for label, value in loaded.items()]


def _from_list(
    records: Any, name: str, item: str | None, answer: str | None
) -> list[tuple[str, str, Any]]:
    """Take a list of records such as ``{"item": "q1", "answer": "A"}``."""
    if not records or not all(isinstance(record, dict) for record in records):
        raise InputError(
            f'{name}: a key in JSON is an object such as {{"q1": "A"}}, or a list of '
            "records with an item and an answer."
        )
    names = list(records[0])
    items = [item] if item else recognise("item", names)
    answers = [answer] if answer else [n for n in recognise("answer", names) if n not in items]
    if not items or not answers:
        raise InputError(
            f"{name}: the records of a key need an item and an answer; the members are "
            f"{listed(names)}."
        )
    return [
        (f"record {number}", str(record.get(items[0], "")).strip(), record.get(answers[0]))
        for number, record in enumerate(records, start=1)
    ]


def _from_table(
    rows: list[tuple[int, list[str]]],
    name: str,
    responses: Responses | None,
    item: str | None,
    answer: str | None,
) -> list[tuple[str, str, Any]]:
    names = [cell.strip() for cell in rows[0][1]]
    given = item is not None or answer is not None
    items = recognise("item", names)
    answers = [name for name in recognise("answer", names) if name not in items]
    if given or (len(names) > 1 and items and answers):
        columns = [
            _column(name, names, "item", item, items),
            _column(name, names, "answer", answer, answers),
        ]
        return [_pair(name, line, row, columns) for line, row in rows[1:]]
    if across := _across(rows, responses):
        return across
    if len(names) == 2:
        return [_pair(name, line, row, [0, 1]) for line, row in rows]
    if len(names) > 2:
        raise InputError(
            f"{name}: a key needs the columns item and answer; the columns are "
            f"{listed(names)}; rename two of them, or leave only these two."
        )
    return _in_item_order(name, rows, bool(answers), responses)


def _across(
    rows: list[tuple[int, list[str]]], responses: Responses | None
) -> list[tuple[str, str, Any]]:
    """Read a key laid out in a row: the header holds the items, the row below the answers."""
    names = [cell.strip() for cell in rows[0][1]]
    if responses is None or len(rows) < 2:
        return []
    known = {str(label) for label in responses.items.tolist()}
    places = [k for k, label in enumerate(names) if label in known]
    if len(places) * 2 <= max(len(names), 2) and len(places) < 3:
        return []
    named = [row for row in rows[1:] if any(is_key_name(cell) for cell in row[1])]
    line, cells = (named or rows[1:])[0]
    if not named and len(rows) > 2:
        return []
    return [(f"line {line}", names[k], cells[k]) for k in places if k < len(cells)]


def _column(where: str, names: list[str], role: str, given: str | None, fitting: list[Any]) -> int:
    if given is not None:
        return names.index(find_column(given, names, where=where, argument=role))
    if not fitting:
        raise InputError(
            f"{where}: none of the columns {listed(names)} is named like the {role} column "
            f"of a key; say which one is the {role}."
        )
    return names.index(fitting[0])


def _pair(name: str, line: int, row: list[str], columns: list[int]) -> tuple[str, str, str]:
    if len(row) <= max(columns):
        raise InputError(
            f"{name}, line {line}: an item and an answer were expected; got {','.join(row)!r}."
        )
    return f"line {line}", row[columns[0]].strip(), row[columns[1]]


def _in_item_order(
    name: str,
    rows: list[tuple[int, list[str]]],
    header: bool,
    responses: Responses | None,
) -> list[tuple[str, str, Any]]:
    """Pair a single column of answers with the items, in order."""
    if responses is None:
        raise InputError(
            f"{name}: the key has answers but no items; give the responses, so that the "
            "answers can be paired with the items in their order."
        )
    answers = rows[1:] if header and len(rows) == responses.n_items + 1 else rows
    if len(answers) != responses.n_items:
        raise InputError(
            f"{name}: the key has {len(answers)} answers and no item names, and the "
            f"responses have {responses.n_items} items; give one answer per item, or the columns "
            "item and answer."
        )
    return [
        (f"line {line}", str(label), row[0])
        for (line, row), label in zip(answers, responses.items.tolist(), strict=True)
    ]
