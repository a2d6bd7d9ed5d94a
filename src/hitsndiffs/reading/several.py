"""Several plain files: the same test in parts, or one file for each user."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from hitsndiffs.data.encoding.names import listed, recognise
from hitsndiffs.data.encoding.result import Encoded, Place, label_array
from hitsndiffs.errors import InputError
from hitsndiffs.reading.group_column import GroupColumn
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.patterns import exactly
from hitsndiffs.reading.plain import open_plain
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.streams import RawKey, triples
from hitsndiffs.reading.words import plain, role_of_name

__all__ = ["Several", "read_several"]

_KEY_NAMES = ("key", "truth", "gold", "gt", "answerkey", "solution", "solutions", "answers_key")


@dataclass
class Several:
    """The answers of several files, and how they belong together."""

    parts: list[tuple[Encoded, str]] = field(default_factory=list)
    #: Columns with one text in all rows, by file.
    constant: dict[int, set[str]] = field(default_factory=dict)
    key: RawKey = field(default_factory=RawKey)
    why: str = ""
    format: str = ""


def read_several(files: list[Any], options: ReadingOptions, plan: Plan) -> Several:
    """Read plain files that belong together; those that cannot be read are named."""
    found = Several()
    wrong: list[tuple[Any, InputError]] = []
    read: list[Any] = []
    keys: list[Any] = []
    for file in files:
        if _is_key_file(file):
            keys.append(file)
            continue
        try:
            if file.is_whole:
                file.content()  # so that what can be read only once can be read again
            found.parts.append((_read_one(file, options, found, plan), file.name))
            read.append(file)
        except InputError as error:
            wrong.append((file, error))
    wrong = _with_the_items_of_others(read, wrong, options, found, plan)
    if not found.parts:
        raise wrong[0][1] if wrong else InputError("none of the files holds answers.")
    if options.group is not None and all(part.groups is None for part, _ in found.parts):
        raise InputError(
            f"none of the {len(found.parts):,} files has a column {options.group!r}, given as "
            "group."
        )
    endings = {PurePosixPath(name).suffix.lower() for _, name in found.parts}
    alike = [f for file, f in wrong if PurePosixPath(file.name).suffix.lower() in endings]
    if len(alike) * 2 > len(found.parts) + len(alike):
        raise alike[0]
    for file, fault in wrong[:3]:
        plan.notes.append(f"Left out {file.name}: {fault}")
    for file in keys:
        _take_key(file, found, plan)
    names = [name for _, name in found.parts]
    plan.sources = tuple(names)
    plan.notes.insert(0, f"Joined {len(names):,} files: {listed(names, most=3)}.")
    _check_linked(found)
    if options.attempt == "last":
        found.parts.reverse()  # the first answer to an item counts
    elif options.attempt is None:
        _check_conflicts(found)
    found.why = found.why or "they have items in common"
    return found


def _with_the_items_of_others(
    read: list[Any],
    wrong: list[tuple[Any, InputError]],
    options: ReadingOptions,
    found: Several,
    plan: Plan,
) -> list[tuple[Any, InputError]]:
    """Read files once more, with the items of the others; return those that are wrong still.

    In a small part of a test everybody may have given the same answer, so that the part alone does
    not look like answers.
    """
    if options.items is not None or options.layout not in ("auto", "wide"):
        return wrong
    items = {str(item) for encoded, _ in found.parts for item in encoded.items.tolist()}
    still = []
    for file, error in wrong:
        try:
            found.parts.append((_read_named(file, items, options, found, plan), file.name))
        except InputError:
            still.append((file, error))
    for place, file in enumerate(read):
        missed = found.constant.get(id(file), set()) & items
        if missed and (file.is_whole or file.path is not None):
            own = {str(item) for item in found.parts[place][0].items.tolist()} | missed
            found.parts[place] = (_read_named(file, own, options, found, plan), file.name)
            plan.notes[:] = [note for note in plan.notes if not _is_about(note, missed)]
    return still


def _read_named(
    file: Any, items: set[str], options: ReadingOptions, found: Several, plan: Plan
) -> Encoded:
    own = [exactly(name) for name in file.sample.header if name in items]
    return _read_one(file, options.changed(items=own or None), found, plan)


def _is_about(note: str, names: set[str]) -> bool:
    """Whether a note says that columns were left out which are taken after all."""
    return note.startswith("Left out ") and any(f"'{name}' (constant)" in note for name in names)


def _is_key_file(file: Any) -> bool:
    return PurePosixPath(file.name).stem.casefold().replace("-", "_") in _KEY_NAMES


def _take_key(file: Any, found: Several, plan: Plan) -> None:
    from hitsndiffs.reading.key import read_key

    try:
        key = read_key(file.path if file.path is not None else _bytes(file))
    except InputError as error:
        plan.notes.append(f"Left out {file.name}: {error}")
        return
    found.key = RawKey({str(item): str(option) for item, option in key.items()}, file.name)


def _bytes(file: Any) -> Any:
    import io

    return io.BytesIO(file.content())


def _read_one(file: Any, options: ReadingOptions, found: Several, plan: Plan) -> Encoded:
    """Read one file; where it holds the answers of one user, the file's name is the user's."""
    alone = _answers_of_one(file, options, found)
    if alone is not None:
        found.why = "each file holds the answers of one user"
        found.format = "csv"
        note = "The users are named after the files."
        if note not in plan.notes:
            plan.notes.append(note)
        return alone
    with ExitStack() as stack:
        reading = open_plain(file, options, stack, one_of=True)
        encoded, key = reading.read()
        found.format = found.format or reading.format
        same = {column.name for column in reading.layout.columns if column.role == "constant"}
        found.constant[id(file)] = same
        for item, option in key.options.items():
            found.key.options.setdefault(item, option)
        found.key.source = found.key.source or key.source
        if not plan.columns:
            plan.columns = list(reading.layout.columns)
        for note in encoded.notes:
            if note not in plan.notes:
                plan.notes.append(note)
        if reading.layout.name == "wide" and not reading.layout.roles.users:  # type: ignore[union-attr]
            stem = PurePosixPath(file.name).stem
            labels = [f"{stem}-{label}" for label in encoded.users.tolist()]
            groups = encoded.groups
            if groups is not None:
                groups = {f"{stem}-{user}": group for user, group in groups.items()}
            encoded = replace(encoded, users=label_array(labels), groups=groups)
        return encoded


def _answers_of_one(file: Any, options: ReadingOptions, found: Several) -> Encoded | None:
    """Return the answers in a file with items and answers but no user; None for any other."""
    if options.user is not None or file.kind not in ("table", "sheets", "json", "jsonl"):
        return None
    columns = _columns(file)
    names = list(columns)
    items = [options.item] if options.item else recognise("item", names)
    answers = [options.option] if options.option else recognise("option", names)
    answers = [name for name in answers if name not in items and role_of_name(name) != "key"]
    if not items or not answers or items[0] not in columns or answers[0] not in columns:
        return None
    item = columns[items[0]]
    if len(set(item)) < len(item) or any(plain(n) != "subject" for n in recognise("user", names)):
        return None
    keys = [name for name in names if role_of_name(name) == "key"]
    predicted = [name for name in answers if "pred" in plain(name)]
    if predicted and predicted[0] != answers[0] and not options.option:
        keys = keys or [answers[0]]  # what was predicted stands beside what is right
        answers = predicted
    kept = [
        (i.strip(), o.strip())
        for i, o in zip(item, columns[answers[0]], strict=True)
        if i.strip() and o.strip()
    ]
    if len(keys) == 1:
        for label, key in zip(item, columns[keys[0]], strict=True):
            if label.strip() and key.strip():
                found.key.options.setdefault(label.strip(), key.strip())
                found.key.source = f"the column {keys[0]!r}"
    user = PurePosixPath(file.name).stem
    groups = GroupColumn(options.group)
    groups.take(0, columns)
    n = len(kept)
    return Encoded(
        users=label_array([user]),
        items=label_array([i for i, _ in kept]),
        option_labels=label_array([o for _, o in kept]),
        item_starts=np.arange(n + 1, dtype=np.int64),
        codes=np.zeros((n, 1), dtype=np.uint8),
        rows=None,
        kind="file",
        notes=(),
        groups=groups.of_rows(label_array([user] * len(item)), Place(file.name)),
    )


def _columns(file: Any) -> dict[str, list[str]]:
    """Return the columns of a small table by name; of records, the members with single values."""
    if file.kind in ("table", "sheets"):
        names = [name for name in file.sample.header if name]
        if not recognise("item", names):
            return {}
        table = file.table()
        return {name: table.column(name) or [] for name in names}
    if not file.sample.records or not recognise("item", list(_first(file.sample.records))):
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


def _first(records: Sequence[Any]) -> dict[str, Any]:
    return records[0] if isinstance(records[0], dict) else {}


def _check_linked(found: Several) -> None:
    """Refuse files that have nothing to do with each other."""
    if len(found.parts) < 2:
        return
    first = {str(item) for item in found.parts[0][0].items.tolist()}
    users = {str(user) for user in found.parts[0][0].users.tolist()}
    for encoded, name in found.parts[1:]:
        items = {str(item) for item in encoded.items.tolist()}
        own = {str(user) for user in encoded.users.tolist()}
        if items & first or own & users:
            first |= items
            users |= own
            continue
        raise InputError(
            f"{found.parts[0][1]} and {name} have neither items nor users in common; read them one "
            "by one."
        )


def _check_conflicts(found: Several) -> None:
    """Refuse files in which the same users answer the same items differently."""
    each = [set(map(str, encoded.users.tolist())) for encoded, _ in found.parts]
    if len(set().union(*each)) == sum(map(len, each)):
        return  # every user is in one file
    seen: dict[tuple[str, str], tuple[str, int]] = {}
    shared = answers = 0
    wrong: list[tuple[str, str, int, int]] = []
    names = [name for _, name in found.parts]
    for number, (encoded, _) in enumerate(found.parts):
        for user, item, option in triples(encoded):
            answers += 1
            before, other = seen.setdefault((user, item), (option, number))
            if other != number:
                shared += 1
                if before != option:
                    wrong.append((user, item, other, number))
    if shared and not wrong and len(seen) * len(found.parts) == answers:
        raise InputError(
            f"{listed(names, most=2)} hold the same answers of the same users; if other columns "
            "tell them apart, write all answers in one table, with a row per answer (user, item, "
            "option)."
        )
    if wrong and len(wrong) * 20 > shared:
        user, item, one, other = wrong[0]
        raise InputError(
            f"{names[one]} and {names[other]} hold different answers of {user!r} to {item!r}; if "
            "they are attempts, say whether the first or the last one counts; if the rows are no "
            "users, name the user column."
        )
