"""Nested JSON as one table: the members inside become columns, the records inside become rows.

Scripts and tools nest answers in every way: model → question → answer, question → model → answer,
users with a list of answers, texts with a list of labels. What is the same in all of them: a list
of records is rows; so is an object whose members are all alike (its names are a column); all other
members are columns, named by their path. What each column is, the layout finds out as always.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Refusal
from hitsndiffs.reading.exports.common import as_text, is_free_text, words
from hitsndiffs.reading.exports.sheet import Table
from hitsndiffs.reading.layouts.header import has_header
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["ANSWERS", "flat_table", "is_nested", "table_of_lists"]

#: The column of the names under which records stand.
NAME = "name"
_QUESTION = re.compile(
    r"(?:q|question|item|task|problem|doc|frage|aufgabe|pregunta|no|nr)?[\W_]*\d+\w?"
)
_IDS = words("id|qid|idx")
#: In a record with the answers of several users, this is the right answer.
_RIGHT = words("answer|correct|correctanswer|label|expected|ideal|gold|target")
#: With more columns than this beside them, lists are the options of a question, not its answers.
_FEW = 2

#: Members of a record of one user that hold all answers, by item: such records are a plain table.
ANSWERS = ("responses", "answers", "response", "choices")

Path = tuple[str, ...]
Row = dict[Path, Any]


def is_nested(records: Sequence[Any], kind: str = "jsonl") -> bool:
    """Whether some record holds records, or answers in a list, or there is only one object.

    Examples
    --------
    >>> is_nested([{"user": "a", "answers": {"q1": "B"}}]), is_nested([{"a": {"q1": {"x": "B"}}}])
    (False, True)
    """
    found = [record for record in records if isinstance(record, dict)]
    if not found or len(found) < len(records):
        return False
    if kind == "json" and len(found) == 1:
        own = [found[0].get(name) for name in ANSWERS]
        return not any(isinstance(one, dict) and not _holds_more([*one.values()]) for one in own)
    told = bool(recognise("user", list(found[0])))
    deep = any(
        _holds_deep(name if told else "", value)
        for record in found
        for name, value in record.items()
    )
    lists = [n for n in found[0] if all(isinstance(r.get(n), list) for r in found)]
    plain = [n for n in found[0] if not any(isinstance(r.get(n), (list, dict)) for r in found)]
    return deep or (bool(lists) and len(plain) <= _FEW)


def _holds_deep(name: str, value: Any) -> bool:
    """Whether a member is an object that is no plain set of answers, or holds objects."""
    if isinstance(value, dict):
        return name not in ANSWERS or _holds_more(list(value.values()))
    return isinstance(value, list) and _holds_more(value)


@dataclass
class _Flat:
    """What was found on the way: sentences about what is left out."""

    left_out: dict[str, None] = field(default_factory=dict)
    #: Names under which none of the items of the others stand.
    strange: list[str] = field(default_factory=list)

    # -- rows -------------------------------------------------------------------------------------

    def rows(self, value: Any, path: Path = ()) -> list[Row]:
        """Return the rows of a value."""
        if isinstance(value, list):
            return self._of_list(value, path)
        if not isinstance(value, dict):
            return [{path: value}]
        if path == () and (table := _pandas(value)) is not None:
            return self._of_list(table, path)
        given = {str(name): own for name, own in value.items() if own not in (None, [], {})}
        if _is_map(given):
            return self._of_map(given, path)
        return self._of_record(value, path)

    def _of_list(self, values: list[Any], path: Path) -> list[Row]:
        records = [value for value in values if isinstance(value, (dict, list))]
        if len(records) < len(values):
            self.left_out.setdefault(f"{len(values) - len(records)} elements that are no records")
        if records and all(isinstance(value, list) for value in records):
            lists = [list(record) for record in records if not _holds_more(list(record))]
            names, lists = _named([list(map(as_text, own)) for own in lists])
            return [_numbered(own, path, names) for own in lists]
        several = [self._explode(record, path) for record in records]
        found: list[Row] = []
        numbers = _numbers(several, path)
        for k, own in enumerate(several):
            found += [{**numbers[k], **row} for row in own]
        return found

    def _explode(self, record: Any, path: Path) -> list[Row]:
        return self._of_record(record, path) if isinstance(record, dict) else []

    def _of_map(self, value: dict[str, Any], path: Path) -> list[Row]:
        """Return the rows of an object whose members are alike; their names are a column."""
        own = list(value.values())
        if all(isinstance(one, list) and not _holds_more(one) for one in own):
            return self._of_lists(value, path)
        columns = recognise("user", list(value), wide=True)
        if not path and columns and _counts_up(own):  # as pandas writes a table
            return [{(name,): own[number] for name, own in value.items()} for number in own[0]]
        strange = _strange(value)
        self.strange += strange
        value = {name: one for name, one in value.items() if name not in strange}
        own_path = (*path, _called(value))
        return [
            {own_path: name, **row}
            for name, one in value.items()
            for row in self.rows(one, own_path)
        ]

    def _of_lists(self, value: dict[str, list[Any]], path: Path) -> list[Row]:
        """Return the rows of ``{"ann": ["A", "C"], …}``: a list per user, item or column."""
        if len({len(own) for own in value.values()}) > 1:
            raise InputError(
                "this is a JSON file with lists of answers of different lengths, so that it is "
                "not clear which answer belongs to which item; write the answers under the names "
                "of their items."
            )
        if recognise("user", list(value), wide=True):
            cells = zip(*value.values(), strict=True)
            return [{(*path, n): c for n, c in zip(value, row, strict=True)} for row in cells]
        single = {name: name.rstrip("s") for name in value}
        named = [n for n, one in single.items() if recognise("item", [one]) or plain(one) in _IDS]
        items = next(iter(named), None)
        labels = [] if items is None else list(map(as_text, value[items]))
        rows = []
        for name, own in value.items():
            if name != items:
                label = "key" if role_of_name(name) == "key" else name
                rows.append({(*path, NAME): label, **_numbered(own, path, labels)})
        return rows

    def _of_record(self, record: Mapping[str, Any], path: Path) -> list[Row]:
        """Return the rows of a record: one, or one for each record of a list inside."""
        row: Row = {}
        several: list[tuple[str, list[Row]]] = []
        lists: dict[str, list[Any]] = {}
        for name, value in record.items():
            own = (*path, str(name))
            if isinstance(value, list) and value and not _holds_more(value):
                lists[str(name)] = value
            elif isinstance(value, (list, dict)):
                rows = self.rows(value, own) if value else []
                if len(rows) == 1 and isinstance(value, dict):
                    row.update(rows[0])
                elif rows:
                    several.append((str(name), rows))
            else:
                row[own] = value
        if len(lists) == 1 and not several and len(row) <= _FEW:
            (name, answers), *_ = lists.items()
            return [{**row, **_numbered(answers, path)}]
        row.update({(*path, name): value for name, value in lists.items()})
        if not several:
            return [row]
        several.sort(key=lambda pair: -len(pair[1]))
        name, rows = several[0]
        self.left_out.update(dict.fromkeys(other for other, _ in several[1:]))
        return [{**row, **inner} for inner in self._with_key(row, rows, name)]

    def are_options(self, path: Path, cells: Sequence[Any]) -> bool:
        """Whether the lists in a column are the options of questions, not what somebody chose."""
        lists = [cell for cell in cells if isinstance(cell, list)]
        several = [cell for cell in lists if len(cell) > 1]
        if 2 * len(several) > len(lists):
            self.left_out[path[-1]] = None
        return 2 * len(several) > len(lists)

    def _with_key(self, row: Row, rows: list[Row], name: str) -> list[Row]:
        """Make a row of a record beside the rows that has the same members: the key of a test."""
        inside = {path[-1]: path for path in rows[0]}
        for beside in {path[:-1] for path in row if len(path) > 1 and path[-2] != name}:
            own = [path for path in row if path[:-1] == beside]
            if len(own) > 1 and all(path[-1] in inside for path in own):
                cells = {inside[path[-1]]: row.pop(path) for path in own}
                first = next(path for path in rows[0] if path not in cells)
                return [{first: beside[-1], **cells}, *rows]
        return rows


def _called(value: Mapping[str, Any]) -> str:
    """Return the name of the column of the names in an object whose members are alike.

    Examples
    --------
    >>> _called({"q1": {}, "q2": {}}), _called({"gpt-4": {}, "llama": {}})
    ('item', 'name')
    >>> _called({"gpt-4": [{"id": 1, "pred": "A"}]}), _called({"x": [{"worker": 1, "label": "A"}]})
    ('user', 'item')
    """
    lists = [own for own in value.values() if isinstance(own, list)]
    if lists and len(lists) == len(value):  # who answered stands inside, or is the name
        inside = next((one for own in lists for one in own if isinstance(one, dict)), {})
        return "item" if recognise("user", list(inside)) else "user"
    found = [n for n in value if n.endswith("?") or _QUESTION.fullmatch(n.strip().lower())]
    return "item" if 2 * len(found) > len(value) else NAME


def _is_map(value: dict[str, Any]) -> bool:
    """Whether the members of an object are alike: records with the same members, or lists."""
    own = list(value.values())
    if len(own) < 2:
        return False
    if all(isinstance(one, list) for one in own):
        return True
    if not all(isinstance(one, dict) for one in own):
        return False
    counts = Counter(name for one in own for name in one)
    return 2 * sum(count > 1 for count in counts.values()) > len(counts)


def _strange(value: dict[str, Any]) -> list[str]:
    """Return the few names under which nothing stands that also stands under another name.

    Examples
    --------
    >>> people = {name: {"q1": "A", "q2": "B"} for name in ("ann", "bob", "cem")}
    >>> _strange({"_meta": {"exported": "2024-01-02", "course": "BIO1"}, **people})
    ['_meta']
    """
    own = {n: one for n, one in value.items() if isinstance(one, dict) and one}
    counts = Counter(name for one in own.values() for name in one)
    found = [
        name
        for name, one in own.items()
        if not _holds_more([*one.values()]) and all(counts[inside] == 1 for inside in one)
    ]
    return found if 4 * len(found) <= len(value) else []


def _holds_more(values: Sequence[Any]) -> bool:
    return any(isinstance(value, (dict, list)) for value in values)


def _numbered(values: Sequence[Any], path: Path, names: Sequence[str] = ()) -> Row:
    """Return the elements of a list as columns."""
    names = names if len(names) == len(values) else [f"item-{k + 1}" for k in range(len(values))]
    return {(*path, name): value for name, value in zip(names, values, strict=True)}


def _named(rows: list[list[str]]) -> tuple[list[str], list[list[str]]]:
    """Return the names of columns, if the first of several rows holds them, and the other rows."""
    names = rows[0] if rows else []
    if len(rows) < 2 or not all(names) or not has_header(names, rows[1:]):
        return [], rows
    return names, rows[1:]


def table_of_lists(value: Any) -> Table | None:
    """Return a list of lists of single values as a table, a row each; None for anything else.

    Examples
    --------
    >>> table_of_lists([["user", "q1"], ["ann", "A"], ["bob", "B"]]).header
    ['user', 'q1']
    """
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        return None
    width = max(map(len, value), default=0)
    if width < 2 or any(len(row) < width or _holds_more(row) for row in value):
        return None
    names, rows = _named([list(map(as_text, row)) for row in value])
    return Table(
        names or [""] * width, rows, lines=list(range(len(value) - len(rows) + 1, len(value) + 1))
    )


def _counts_up(values: Sequence[dict[str, Any]]) -> bool:
    """Whether the members of all records are 0, 1, 2, …."""
    wanted = [str(k) for k in range(len(values[0]))]
    return len(wanted) > 1 and all(list(own) == wanted for own in values)


def _pandas(value: dict[str, Any]) -> list[Any] | None:
    """Return the rows of a table that pandas wrote as ``split``; None if it is something else."""
    names, rows = value.get("columns"), value.get("data")
    if not isinstance(names, list) or not isinstance(rows, list) or not rows:
        return None
    if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
        return None
    return [dict(zip(map(str, names), row, strict=True)) for row in rows]


def _numbers(several: Sequence[list[Row]], path: Path) -> list[Row]:
    """Return a number for each record with rows inside, unless a short text tells them apart."""
    none: list[Row] = [{} for _ in several]
    if len(several) < 2 or max(map(len, several)) < 2:
        return none
    shared = [rows[0] for rows in several if rows]
    for name in shared[0] if shared else ():
        same = all(row.get(name) == rows[0].get(name) for rows in several for row in rows)
        texts = [as_text(row.get(name)) for row in shared]
        if same and all(texts) and len({*texts}) == len(texts) and not is_free_text(texts):
            return none
    return [{(*path, "number"): str(k + 1)} for k in range(len(several))]


def flat_table(value: Any) -> tuple[Table, list[str]]:
    """Return a JSON value as a table, and sentences about what is left out.

    Examples
    --------
    >>> table, _ = flat_table({"gpt": {"q1": "A", "q2": "B"}, "llama": {"q1": "A", "q2": "C"}})
    >>> table.header, table.rows
    (['name', 'q1', 'q2'], [['gpt', 'A', 'B'], ['llama', 'A', 'C']])
    >>> text = {"id": 7, "sentences": [{"s": "x", "labels": [{"worker": 1, "label": "a"}]}]}
    >>> flat_table([text])[0].header
    ['id', 's', 'worker', 'label']
    """
    flat = _Flat()
    rows = flat.rows(value)
    paths = list(dict.fromkeys(path for row in rows for path in row))
    paths = [path for path in paths if not flat.are_options(path, [row.get(path) for row in rows])]
    names = _short_names(paths)
    _name_roles(names, paths, rows)
    cells = [[_text(row.get(path)) for path in paths] for row in rows]
    used = [k for k in range(len(names)) if any(row[k].strip() for row in cells)]
    table = Table(
        [names[k] for k in used],
        [[row[k] for k in used] for row in cells],
        lines=list(range(1, len(cells) + 1)),
    )
    gone = list(flat.left_out)
    notes = [f"Left out {listed(gone, most=3)}: lists or records."] if gone else []
    if flat.strange:
        whose = "none of the items of the others stand there"
        notes.append(f"Left out {listed(flat.strange, most=3)}: {whose}.")
    return table, notes


def _name_roles(names: list[str], paths: Sequence[Path], rows: Sequence[Row]) -> None:
    """Name the columns beside the answers of an item by its users: those of the item and the key.

    In each row, the answers are the members of one object, by the names of users or of items. They
    are those of users if they agree within the rows more than within the columns.
    """
    groups = Counter(path[:-1] for path in paths if len(path) > 1)
    (inside, n), *_ = groups.most_common(1) or [((), 0)]
    answers = [path for path in paths if path[:-1] == inside]
    beside = [k for k, path in enumerate(paths) if path not in answers]
    if n < _FEW or not beside or len(rows) < _FEW:
        return
    _refuse_numbers(inside, [[row.get(path) for path in answers] for row in rows])
    tables = [[as_text(row.get(path)) for path in answers] for row in rows]
    if _alike(tables) <= _alike([list(column) for column in zip(*tables, strict=True)]):
        return
    named = [k for k in beside if recognise("user", [paths[k][-1]], wide=True)]
    for k in (*named, *beside):
        own = [as_text(row.get(paths[k])) for row in rows]
        if all(own) and len({*own}) == len(own):
            names[k] = "item"
            break
    right = [k for k in beside if plain(paths[k][-1]) in _RIGHT]
    names[:] = ["key" if k in right[:1] else name for k, name in enumerate(names)]


def _refuse_numbers(inside: Path, rows: Sequence[Sequence[Any]]) -> None:
    """Refuse points, and counts of votes: whole numbers, named so, or with one sum for all."""
    given = [[cell for cell in row if cell is not None] for row in rows]
    broken = [isinstance(c, float) and c % 1 != 0 for row in given for c in row]
    if 4 * sum(broken) > len(broken):
        raise Refusal("a JSON file of points or other numbers", "give the options that were chosen")
    if not all(isinstance(c, int) and not isinstance(c, bool) for row in given for c in row):
        return
    sums, patterns = {sum(row) for row in given}, {tuple(sorted(row)) for row in given}
    named = bool(inside) and plain(inside[-1]) in ("votes", "counts")
    if named or (len(given) > _FEW and len(sums) == 1 and len(patterns) > 1):
        raise Refusal(
            "a JSON file of counts (how many votes each label got), without the answers of the "
            "people",
            "give the label that each person chose",
        )


def _alike(groups: Sequence[Sequence[str]]) -> float:
    """Return how often two answers of one group are the same."""
    same = pairs = 0
    for group in groups:
        found = Counter(text for text in group if text)
        same += sum(count * (count - 1) for count in found.values())
        pairs += found.total() * (found.total() - 1)
    return same / pairs if pairs else 0.0


def _short_names(paths: Sequence[Path]) -> list[str]:
    """Return for each path its last part, with as many before it as tell it from the others."""
    ends = Counter(path[-n:] for path in paths for n in range(1, len(path) + 1))
    short = [
        next((path[-n:] for n in range(1, len(path)) if ends[path[-n:]] == 1), path)
        for path in paths
    ]
    return [".".join(path) or NAME for path in short]


def _text(value: Any) -> str:
    """Return a cell; several answers to one question are a set."""
    if isinstance(value, list):
        return "; ".join(sorted(map(as_text, value)))
    return as_text(value)
