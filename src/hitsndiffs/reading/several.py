"""Read several plain files: parts of one test, or one file per user."""

from __future__ import annotations

import io
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from hitsndiffs.data.encode import dropped_items
from hitsndiffs.data.labels import label_array
from hitsndiffs.data.names import recognise
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Column
from hitsndiffs.reading.exports.common import is_free_text
from hitsndiffs.reading.exports.per_file import told_apart
from hitsndiffs.reading.key import read_key
from hitsndiffs.reading.layouts.layout import left_out_note
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.patterns import exactly
from hitsndiffs.reading.plain import open_plain
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.streams import RawKey
from hitsndiffs.reading.vocabulary import is_key_mark, plain, role_of_name

__all__ = ["Part", "Several", "read_several"]

#: In a file of one user, these name the items, and hold answers, if no other column does.
_IDS = ("id", "idx", "index", "qid", "docid", "input", "prompt")
_OUTPUTS = ("output", "modeloutput", "extracted", "extractedanswer", "parsed", "parsedanswer")
#: Beside predictions or responses, these are the right answers.
_RIGHT = ("answer", "label")


@dataclass
class Part:
    """What one file holds.

    Attributes
    ----------
    name
        The name of the file.
    encoded
        The answers; there may be none, or a single user's.
    items
        The items in the file, answered or not.
    constant
        Those with the same text in all rows; they count only if they are items of another file.
    notes
        What was assumed.
    columns, key, format
        What each column is, the right answers, and the format, as far as known.
    alone
        Whether the file holds the answers of one user, named after the file.
    is_named
        Whether the file names its users itself.
    """

    name: str
    encoded: Responses
    items: set[str]
    constant: set[str] = field(default_factory=set)
    notes: tuple[str, ...] = ()
    columns: list[Column] = field(default_factory=list)
    key: RawKey = field(default_factory=RawKey)
    format: str = "csv"
    alone: bool = False
    is_named: bool = False
    nameless: bool = False


@dataclass
class Several:
    """The answers of several files, and how they belong together."""

    parts: list[Part] = field(default_factory=list)
    key: RawKey = field(default_factory=RawKey)
    why: str = ""
    key_notes: list[str] = field(default_factory=list)

    @property
    def format(self) -> str:
        """The format of the first file."""
        return self.parts[0].format

    def joined(self, notes: list[str]) -> Responses:
        """Return all answers together."""
        encoded = Responses.concat([part.encoded for part in self.parts])
        notes += encoded.notes
        encoded = encoded._changed(groups=_joined_groups(self.parts))
        asked = {item: None for part in self.parts for item in sorted(part.items)}
        answered = set(encoded.items.tolist())
        notes += dropped_items([item for item in asked if item not in answered])
        return encoded


def _joined_groups(parts: Sequence[Part]) -> dict[Any, Any] | None:
    """Return user → group over all files; refuse users with two groups."""
    told: dict[Any, tuple[Any, str]] = {}
    for part in parts:
        for user, group in (part.encoded.groups or {}).items():
            one, where = told.setdefault(user, (group, part.name))
            if one != group:
                raise InputError(
                    f"{where} and {part.name} have the user {shortened(str(user))!r} in two groups "
                    f"({shortened(one)!r} and {shortened(group)!r}); give each user one."
                )
    if all(part.encoded.groups is None for part in parts):
        return None
    return {user: group for user, (group, _) in told.items()}


def read_several(files: list[Any], options: ReadingOptions, plan: Plan) -> Several:
    """Read plain files that belong together; notes name those that cannot be read."""
    found = Several()
    wrong: list[tuple[Any, InputError]] = []
    keys = [file for file in files if _is_key_file(file)]
    files = [file for file in files if file not in keys]
    names = dict(zip(map(id, files), user_names(files), strict=True))
    for file in files:
        try:
            if file.is_whole:
                file.content()  # keep the bytes: some sources can be read only once
            found.parts.append(_read_one(file, options, names[id(file)]))
        except InputError as error:
            wrong.append((file, error))
    items = _items_of(found.parts)
    wrong = _with_the_items_of_others(items, wrong, options, found, names)
    _without_keys(found)
    found.parts = [_without_constant(part, items, options) for part in found.parts]
    if not any(len(part.encoded.items) for part in found.parts):
        raise wrong[0][1] if wrong else InputError("none of the files holds answers.")
    if options.group is not None and all(part.encoded.groups is None for part in found.parts):
        raise InputError(
            f"none of the {len(found.parts):,} files has a column {options.group!r}, given as "
            "group."
        )
    endings = {PurePosixPath(part.name).suffix.lower() for part in found.parts}
    alike = [f for file, f in wrong if PurePosixPath(file.name).suffix.lower() in endings]
    if len(alike) * 2 > len(found.parts) + len(alike):
        raise alike[0]
    nameless = [part.name for part in found.parts if part.nameless]
    if nameless:
        raise InputError(
            f"{listed(nameless, most=2)}: no column names the users, and each file has several "
            "rows; if these are users, name the items, or their column as the user; if the rows "
            "are items, name their column as the item and the answers as the option."
        )
    _check_linked(found, plan)
    _describe(found, plan)
    for file, fault in wrong[:3]:
        plan.notes.append(f"Left out {file.name}: {fault}")
    for file in keys:
        _take_key(file, found, plan)
    if options.attempt == "last":
        found.parts.reverse()  # joining keeps the first answer to an item
    elif options.attempt is None:
        _check_conflicts(found)
    return found


def _items_of(parts: Sequence[Part]) -> set[str]:
    """Return the items that are not constant in at least one file."""
    return {
        str(item)
        for part in parts
        for item in part.encoded.items.tolist()
        if str(item) not in part.constant
    }


def _describe(found: Several, plan: Plan) -> None:
    """Record in the plan what the files are and what was assumed; collect the key."""
    names = [part.name for part in found.parts]
    plan.sources = tuple(names)
    said = dict.fromkeys(note for part in found.parts for note in part.notes)
    plan.notes += [note for note in said if note not in plan.notes]
    plan.notes.insert(0, f"Joined {len(names):,} files: {listed(names, most=3)}.")
    plan.notes += found.key_notes
    plan.columns = next((part.columns for part in found.parts if part.columns), [])
    for part in found.parts:
        for item, option in part.key.options.items():
            found.key.options.setdefault(item, option)
        found.key.source = found.key.source or part.key.source
    alone = any(part.alone for part in found.parts)
    found.why = "each file holds the answers of one user" if alone else "they have items in common"


def _with_the_items_of_others(
    items: set[str],
    wrong: list[tuple[Any, InputError]],
    options: ReadingOptions,
    found: Several,
    names: dict[int, str],
) -> list[tuple[Any, InputError]]:
    """Retry the files that failed, with the items of the others; return those that still fail.

    In a small part of a test everybody may have given the same answer; on its own, the part then
    does not look like answers.
    """
    if options.items is not None or options.layout not in ("auto", "wide"):
        return wrong
    still = []
    for file, error in wrong:
        try:
            own = [exactly(name) for name in file.sample.header if name in items]
            found.parts.append(_read_one(file, options.changed(items=own or None), names[id(file)]))
        except InputError:
            still.append((file, error))
    return still


def _without_constant(part: Part, items: set[str], options: ReadingOptions) -> Part:
    """Leave out columns with one text in all rows, unless they are items of another file."""
    if not part.constant or options.items is not None:
        return part
    gone, kept = part.constant - items, part.constant & items
    keep = np.array([str(item) not in gone for item in part.encoded.items.tolist()], dtype=bool)
    left = [column for column in part.columns if column.name in gone]
    reason = "it is an item of another file"
    return replace(
        part,
        encoded=part.encoded.select(items=keep),
        items=part.items - gone,
        notes=(*part.notes, *([left_out_note(left)] if left else [])),
        columns=[
            replace(column, role="item", reason=reason) if column.name in kept else column
            for column in part.columns
        ],
    )


def _is_key_file(file: Any) -> bool:
    """Whether a file is named like a key: answer_key.csv, Lösung.xlsx, gold.json."""
    stem = PurePosixPath(file.name).stem
    return stem.casefold() == "gt" or is_key_mark(stem) or role_of_name(stem) == "key"


def _without_keys(found: Several) -> None:
    """Take what has one answer per item, beside many users, as the key; it is no user."""
    many = [part for part in found.parts if len(part.encoded.users) > 1]
    single = [part for part in found.parts if len(part.encoded.users) == 1 and not part.is_named]
    if not many or len(single) != 1:
        return
    answers = {str(i): str(o) for _, i, o in single[0].encoded.triples()}
    asked = {item for part in many for item in part.items}
    if len(asked & {*answers}) * 2 > len(answers):
        found.parts = [part for part in found.parts if part is not single[0]]
        found.key = RawKey(answers, single[0].name)
        found.key_notes.append(f"{single[0].name} has one answer per item and is taken as the key.")


def user_names(files: Sequence[Any]) -> list[str]:
    """Return a name for each file: the part of its path in which the files differ.

    Examples
    --------
    >>> from types import SimpleNamespace as File
    >>> user_names([File(name="out.json", folders=("runs", name)) for name in ("phi", "yi")])
    ['phi', 'yi']
    """
    paths = [(*file.folders, PurePosixPath(file.name).stem) for file in files]
    return told_apart(paths, [frozenset(("any",))] * len(paths))


def _take_key(file: Any, found: Several, plan: Plan) -> None:
    try:
        key = read_key(file.path if file.path is not None else io.BytesIO(file.content()))
    except InputError as error:
        plan.notes.append(f"Left out {file.name}: {error}")
        return
    found.key = RawKey({str(item): str(option) for item, option in key.items()}, file.name)


def _read_one(file: Any, options: ReadingOptions, stem: str) -> Part:
    """Read one file; if it holds the answers of one user, the user is named after the file."""
    alone = _answers_of_one(file, options, stem)
    if alone is not None:
        return alone
    with ExitStack() as stack:
        reading = open_plain(file, options, stack, one_of=True)
        encoded, key = reading.read()
    roles = reading.layout.roles
    nameless = False
    if roles is not None and not roles.users:
        nameless = len(encoded.users) > 1 and not options.tells_columns
        labels = [f"{stem}-{label}" for label in encoded.users.tolist()]
        labels = [stem] if len(labels) == 1 else labels  # the file of one user
        groups = encoded.groups
        if groups is not None:
            groups = {f"{stem}-{user}": group for user, group in groups.items()}
        encoded = encoded._changed(users=label_array(labels), groups=groups, notes=encoded.notes)
    items = {str(item) for item in encoded.items.tolist()}
    constant: set[str] = set()
    if roles is not None and reading.table.has_header:
        items |= {*roles.items}
        constant = {*roles.constant}
    elif reading.layout.long is not None:
        cells = reading.table.cells(reading.layout.long[1])
        items |= {cell.strip() for cell in cells if cell.strip()}
    return Part(
        file.name,
        encoded,
        items,
        constant,
        notes=encoded.notes,
        columns=list(reading.layout.columns),
        key=key,
        format=reading.format,
        is_named=roles is None or bool(roles.users),
        nameless=nameless,
    )


def _answers_of_one(file: Any, options: ReadingOptions, user: str) -> Part | None:
    """Return the answers in a file with items and answers but no users; else None."""
    if options.user is not None or file.kind not in ("table", "sheets", "json", "jsonl"):
        return None
    columns = _columns(file)
    names = list(columns)
    items = [options.item] if options.item else _item_names(names)
    answers = [options.option] if options.option else _answer_names(names)
    answers = [name for name in answers if name not in items and role_of_name(name) != "key"]
    if not items or not answers or items[0] not in columns or answers[0] not in columns:
        return None
    item = columns[items[0]]
    if len(set(item)) < len(item) or any(plain(n) != "subject" for n in recognise("user", names)):
        return None
    keys = [name for name in names if role_of_name(name) == "key"]
    notes = ["The users are named after the files."]
    given = [n for n in answers if plain(n) not in _RIGHT and not is_free_text(columns.get(n, []))]
    if given and given[0] != answers[0] and not options.option:
        if not keys:
            notes.append(f"{given[0]!r} is taken as the answers, and {answers[0]!r} as the key.")
        keys = keys or [answers[0]]  # the right answers stand beside the predictions
        answers = given
    kept = [
        (i.strip(), o.strip())
        for i, o in zip(item, columns[answers[0]], strict=True)
        if i.strip() and o.strip()
    ]
    right = RawKey()
    if len(keys) == 1:
        for label, key in zip(item, columns[keys[0]], strict=True):
            if label.strip() and key.strip():
                right.options.setdefault(label.strip(), key.strip())
                right.source = f"the column {keys[0]!r}"
    team = next((cell for cell in columns.get(options.group or "", ()) if cell.strip()), None)
    n = len(kept)
    encoded = Responses(
        users=label_array([user]),
        items=label_array([i for i, _ in kept]),
        option_labels=label_array([o for _, o in kept]),
        item_starts=np.arange(n + 1, dtype=np.int64),
        codes=np.zeros((n, 1), dtype=np.uint8),
        rows=None,
        kind="file",
        notes=(),
        groups=None if team is None else {user: team.strip()},
    )
    own = {i for i, _ in kept}
    return Part(file.name, encoded, own, notes=tuple(notes), key=right, alone=True)


def _item_names(names: list[str]) -> list[str]:
    return recognise("item", names) or [n for i in _IDS for n in names if plain(n) == i]


def _answer_names(names: list[str]) -> list[str]:
    found = recognise("option", names)
    return [*found, *(n for n in names if plain(n) in _OUTPUTS and n not in found)]


def _columns(file: Any) -> dict[str, list[str]]:
    """Return the columns of a table by name, or the members of records with single values."""
    if file.kind in ("table", "sheets"):
        names = [name for name in file.sample.header if name]
        if not _item_names(names):
            return {}
        table = file.table()
        places = {name: table.find(name) for name in names}
        return {name: table.cells(k) for name, k in places.items() if k is not None}
    first = next(iter(file.sample.records), None)
    if not isinstance(first, dict) or not _item_names(list(first)):
        return {}
    records = list(file.records())
    if not all(isinstance(record, dict) for record in records):
        return {}
    columns: dict[str, list[str]] = {}
    for name in dict.fromkeys(name for record in records for name in record):
        values = [record.get(name) for record in records]
        if not any(isinstance(value, (list, dict)) for value in values):
            columns[name] = ["" if value is None else str(value) for value in values]
    return columns


def _check_linked(found: Several, plan: Plan) -> None:
    """Refuse files that have nothing in common; leave out those without answers."""
    parts = found.parts
    first = next(part for part in parts if len(part.encoded.items))
    items, users = set(first.items), set(map(str, first.encoded.users.tolist()))
    for part in list(parts):
        own = set(map(str, part.encoded.users.tolist()))
        if part.items & items or own & users:
            items |= part.items
            users |= own
        elif len(part.encoded.items):
            raise InputError(
                f"{first.name} and {part.name} have neither items nor users in common; read them "
                "one by one."
            )
        else:
            parts.remove(part)
            plan.notes.append(f"Left out {part.name}: nobody answered anything in it.")


def _check_conflicts(found: Several) -> None:
    """Refuse files in which the same users answer the same items differently."""
    each = [set(map(str, part.encoded.users.tolist())) for part in found.parts]
    if len(set().union(*each)) == sum(map(len, each)):
        return  # every user is in one file only
    seen: dict[tuple[str, str], tuple[str, int]] = {}
    shared = answers = 0
    wrong: list[tuple[str, str, int, int]] = []
    names = [part.name for part in found.parts]
    for number, part in enumerate(found.parts):
        for user, item, option in part.encoded.triples():
            answers += 1
            before, other = seen.setdefault((user, item), (option, number))
            if other != number:
                shared += 1
                if before != option:
                    wrong.append((user, item, other, number))
    if shared and not wrong and len(seen) * len(found.parts) == answers:
        raise InputError(
            f"{listed(names, most=2)} hold the same answers from the same users; if other columns "
            "tell them apart, write all answers in one table, with a row per answer (user, item, "
            "option)."
        )
    if wrong and len(wrong) * 20 > shared:
        user, item, one, other = wrong[0]
        raise InputError(
            f"{names[one]} and {names[other]} hold different answers from {user!r} to {item!r}; "
            "if these are attempts, say whether the first or the last counts; if the rows are not "
            "users, name the user column."
        )
