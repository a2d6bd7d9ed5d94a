"""Several plain files: the same test in parts, or one file for each user."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from hitsndiffs.data.encoding.names import listed, recognise
from hitsndiffs.data.encoding.result import Encoded, label_array
from hitsndiffs.errors import InputError
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.plain import open_plain
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.streams import RawKey, triples
from hitsndiffs.reading.words import role_of_name

__all__ = ["Several", "read_several"]

_KEY_NAMES = ("key", "truth", "gold", "gt", "answerkey", "solution", "solutions", "answers_key")


@dataclass
class Several:
    """The answers of several files, and how they belong together."""

    parts: list[tuple[Encoded, str]] = field(default_factory=list)
    key: RawKey = field(default_factory=RawKey)
    why: str = ""
    format: str = ""


def read_several(files: list[Any], options: ReadingOptions, plan: Plan) -> Several:
    """Read plain files that belong together; those that cannot be read are named."""
    found = Several()
    wrong: list[tuple[str, InputError]] = []
    keys: list[Any] = []
    for file in files:
        if _is_key_file(file):
            keys.append(file)
            continue
        try:
            found.parts.append((_read_one(file, options, found, plan), file.name))
        except InputError as error:
            wrong.append((file.name, error))
    if not found.parts:
        raise wrong[0][1] if wrong else InputError("none of the files holds answers.")
    if wrong and len(wrong) * 2 > len(files):
        raise wrong[0][1]
    for name, fault in wrong[:3]:
        plan.notes.append(f"Left out {name}: {fault}")
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
        reading = open_plain(file, options, stack)
        encoded, key = reading.read()
        found.format = found.format or reading.format
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
            encoded = replace(encoded, users=label_array(labels))
        return encoded


def _answers_of_one(file: Any, options: ReadingOptions, found: Several) -> Encoded | None:
    """Return the answers in a file with items and answers but no user; None for any other."""
    if options.user is not None or file.kind not in ("table", "sheets"):
        return None
    sample = file.sample
    names = [name for name in sample.header if name]
    if not names or recognise("user", names):
        return None
    items = [options.item] if options.item else recognise("item", names)
    answers = [options.option] if options.option else recognise("option", names)
    answers = [name for name in answers if name not in items and role_of_name(name) != "key"]
    if not items or not answers:
        return None
    table = file.table()
    item, option = table.column(items[0]), table.column(answers[0])
    if item is None or option is None or len(set(item)) < len(item):
        return None
    kept = [
        (i.strip(), o.strip()) for i, o in zip(item, option, strict=True) if i.strip() and o.strip()
    ]
    named = [name for name in names if role_of_name(name) == "key"]
    right = table.column(named[0]) if len(named) == 1 else None
    for label, key in zip(item, right or [], strict=False):
        if label.strip() and key.strip():
            found.key.options.setdefault(label.strip(), key.strip())
            found.key.source = f"the column {named[0]!r}"
    user = PurePosixPath(file.name).stem
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
    )


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
