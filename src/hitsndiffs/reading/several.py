"""Several plain files: one table in which the name of the file is a column, or parts of a test."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from hitsndiffs.data.encode import dropped_items
from hitsndiffs.data.labels import Place, label_array
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.clean import clean
from hitsndiffs.reading.exports.base import LeftOut
from hitsndiffs.reading.exports.format import Given, Stream
from hitsndiffs.reading.exports.per_file import name_users, told_apart
from hitsndiffs.reading.key import read_key
from hitsndiffs.reading.layouts.layout import Layout
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.plain import PlainReading, key_of_sheets, laid_out, open_plain, open_table
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.streams import RawKey, encode_stream
from hitsndiffs.reading.tables.frames import Parquet
from hitsndiffs.reading.tables.table import Columns, Table, enough_rows
from hitsndiffs.reading.vocabulary import is_key_mark, role_of_name

__all__ = ["plan_several", "stacked", "user_names"]

#: The column that holds the name of the file.
FILE = "file"
#: Tables with more cells in all are read piece by piece.
_FEW_CELLS = 500_000
#: What differs in at most this share of the items says the same of them in all files; so does a
#: wording, which no other item has, if it differs in at most this share.
_DIFFER, _WORDED = 0.05, 0.2


@dataclass
class _File:
    """A file, its name if it is a user, and its table."""

    document: Any
    label: str
    table: Table
    format: str

    def is_like(self, other: _File) -> bool:
        """Whether most columns of two tables have the same names."""
        one, two = self.table, other.table
        if not one.has_header or not two.has_header:
            return one.names == two.names and one.has_header == two.has_header
        shared = len({*one.names} & {*two.names})
        return shared * 2 > max(len(one.names), len(two.names)) and not (one.above or two.above)


@dataclass
class _Part:
    """Some files that are read as one table: how, and what they hold."""

    files: list[_File]
    reading: PlainReading
    encoded: Responses
    key: RawKey

    def __post_init__(self) -> None:
        layout, table = self.reading.layout, self.reading.table
        self.names = [file.document.name for file in self.files]
        self.users = {*map(str, self.encoded.users.tolist())}
        #: The items there, answered or not.
        self.items = {*map(str, self.encoded.items.tolist())}
        if layout.roles is not None and table.has_header:
            self.items |= {*layout.roles.items}
        elif layout.long is not None:
            self.items |= {cell.strip() for cell in table.cells(layout.long[1]) if cell.strip()}

    @property
    def name(self) -> str:
        """What messages call the files."""
        more = f" (and {len(self.names) - 1} more)" if len(self.names) > 1 else ""
        return f"{self.names[0]}{more}"

    @property
    def by_file(self) -> bool:
        """Whether the files are the users."""
        return FILE in _users(self.reading.layout)

    @property
    def has_names(self) -> bool:
        """Whether a column names the users."""
        return bool(_users(self.reading.layout)) and not self.by_file


def plan_several(
    plan: Plan, documents: Sequence[Any], options: ReadingOptions, sheets_of: Any = None
) -> None:
    """Read plain files that belong together; notes name those that cannot be read.

    They may be the ``sheets_of`` a workbook with the same columns, all of which must be read.
    """
    keys = [one for one in documents if sheets_of is None and _is_key_file(one)]
    own = [one for one in documents if one not in keys]
    with ExitStack() as stack:
        parts, wrong = _parts(own, options, stack)
    key, notes = _key_among(parts, wrong)
    if sheets_of is not None:
        key, notes = key_of_sheets(sheets_of, options), []
        if wrong:
            raise wrong[0][1]
        if any(part.by_file for part in parts):
            raise InputError("users occur in several sheets.")
        told: dict[str, str] = {}
        for item, option in ((i, o) for part in parts for i, o in part.key.options.items()):
            if told.setdefault(item, option) != option:
                raise InputError(f"they have different right answers to {item!r}.")
    _refuse_strange(parts, wrong, options)
    parts = _linked(parts, notes)
    names = [name for part in parts for name in part.names]
    plan.sources, plan.layout, plan.format = tuple(names), "several", parts[0].reading.format
    several = count(len(names), "file" if sheets_of is None else "sheet")
    plan.title = f"{several} of the same test"
    plan.why = "they have items in common" if len(parts) > 1 else "they have the same columns"
    if all(part.by_file for part in parts):
        plan.why = "each file holds the answers of one user"
    columns = next((p.reading.layout.columns for p in parts if p.reading.layout.columns), [])
    plan.columns = [c for c in columns if c.name != FILE or c.role == "user"]
    plan.notes.append(f"Joined {several}: {listed(names, most=3)}.")
    plan.notes += dict.fromkeys(note for part in parts for note in part.encoded.notes)
    plan.notes += [*notes, *(f"Left out {one.name}: {fault}" for one, fault in wrong[:3])]
    for part in parts:
        key = RawKey({**part.key.options, **key.options}, key.source or part.key.source)
    for document in keys:
        try:
            key = _read_key(document)
        except InputError as error:
            plan.notes.append(f"Left out {document.name}: {error}")
    if options.attempt == "last":
        parts.reverse()  # joining keeps the first answer to an item
    elif options.attempt is None:
        _check_conflicts(parts)

    def read(made: Plan) -> Responses:
        reading = parts[0].reading if len(parts) == 1 else None
        return clean(made, _joined(parts, made.notes), key, several, reading=reading)

    plan._reader = read


# -- the files of one table -------------------------------------------------------------------


def _parts(
    documents: Sequence[Any], options: ReadingOptions, stack: ExitStack
) -> tuple[list[_Part], list[tuple[Any, InputError]]]:
    """Read the files, those with much the same columns as one table; and those that are wrong."""
    groups: list[list[_File]] = []
    parts: list[_Part] = []
    wrong: list[tuple[Any, InputError]] = []
    for document, label in zip(documents, user_names(documents), strict=True):
        try:
            if document.is_whole:
                document.content()  # keep the bytes: some sources can be read only once
            file = _File(document, label, *open_table(document, options, stack)[:2])
        except InputError as error:
            wrong.append((document, error))
            continue
        like = (own for own in groups if own[0].is_like(file) and options.key_row is None)
        group = next(like, None)
        if group is None:
            groups.append([file])
        else:
            group.append(file)
    for group in groups:
        try:
            parts.append(_read_together(group, options))
        except _Unclear:
            raise
        except InputError:  # reading them one by one will say what is wrong, and where
            for file in group:
                try:
                    parts.append(_read_alone(file, options, stack))
                except InputError as error:
                    wrong.append((file.document, error))
    place = {document.name: k for k, document in enumerate(documents)}
    return sorted(parts, key=lambda part: place[part.names[0]]), wrong


def stacked(
    tables: Sequence[Table], labels: Sequence[str] | None = None, without: Sequence[str] = ()
) -> Table:
    """Return tables below each other, with the label of the table as the last column.

    Examples
    --------
    >>> one, two = (Table.of_rows(["item", "answer"], [["q1", a]], "x.csv") for a in "AB")
    >>> stacked([one, two], ["ann", "bob"]).rows()
    [['q1', 'A', 'ann'], ['q1', 'B', 'bob']]
    """
    names = list(dict.fromkeys(n for table in tables for n in table.names if n not in without))
    names += [] if labels is None else [FILE]
    label_of = dict(zip(map(id, tables), labels or [""] * len(tables), strict=True))

    def rows_of(table: Table, rows: Sequence[list[str]]) -> list[list[str]]:
        places = [table.names.index(n) if n in table.names else -1 for n in names]
        places = [-2 if n == FILE and k < 0 else k for n, k in zip(names, places, strict=True)]
        ends = ["", label_of[id(table)]]
        return [[row[k] if k >= 0 else ends[-1 - k] for k in places] for row in rows]

    def read(wanted: Sequence[str], told: Sequence[str]) -> Iterator[tuple[int, Columns]]:
        above = 0
        for table in tables:
            lacking = [name for name in wanted if name not in table.names]
            n_rows = 0
            for first, columns in table.blocks(told, [n for n in wanted if n in table.names]):
                new = first + max(map(len, columns.values())) - n_rows
                if new > 0:  # a block holds some of the rows, or some of the columns
                    texts = {FILE: label_of[id(table)]}
                    columns |= {name: [texts.get(name, "")] * new for name in lacking}
                    n_rows += new
                yield above + first, columns
            above += n_rows

    cells = sum(len(table._rows) * len(table.names) for table in tables)
    small = cells <= _FEW_CELLS and all(table.is_small for table in tables)
    few = max(1, enough_rows(len(names)) // len(tables))
    rows = [row for t in tables for row in rows_of(t, t._rows if small else t.sample[:few])]
    return Table(
        Place(count(len(tables), "file"), "row", by_position=False),
        names,
        rows,
        None if small else read,
        has_header=tables[0].has_header,
        titles={name: text for table in tables for name, text in table.titles.items()},
        notes=list(dict.fromkeys(note for table in tables for note in table.notes)),
    )


def _read_together(group: list[_File], options: ReadingOptions) -> _Part:
    """Read files as one table; where its columns name no users, each file may be one."""
    if len(group) == 1:
        raise InputError("a single file is no table of several.")
    tables, labels = [file.table for file in group], [file.label for file in group]
    try:
        named = FILE in (options.user, options.group)
        whole = stacked(tables, labels) if named else _pieces_of_one(group) or stacked(tables)
        table, layout = laid_out(whole, options)
        if not _users(layout):
            raise InputError("no column names the users.")
        if layout.long is not None and layout.long[0] != FILE:
            _check_once(tables, layout.long[0])
        reading = PlainReading(table, layout, group[0].format, None, options)
        return _Part(group, reading, *reading.read())
    except InputError:
        if options.user not in (None, FILE):
            raise
    return _read_by_file(group, options)


def _pieces_of_one(group: Sequence[_File]) -> Table | None:
    """Return Parquet files with the same columns as one table: Polars reads them as one."""
    first, paths = group[0], [file.document.path for file in group]
    alike = all(
        file.format == "parquet"
        and file.document.path is not None
        and file.document.parquet.head.schema == first.document.parquet.head.schema
        for file in group
    )
    if not alike:
        return None
    sizes = first.document.settings.sizes
    return Parquet(paths, count(len(group), "file"), sizes).table()


def _read_by_file(group: list[_File], options: ReadingOptions) -> _Part:
    """Read files that hold the answers of one user each; the search says in which columns."""
    tables, labels = [file.table for file in group], [file.label for file in group]
    told = options.changed(user=FILE)
    fixed: list[str] = []
    while True:
        table, layout = laid_out(stacked(tables, labels, without=fixed), told)
        if layout.long is None or layout.long[0] != FILE:
            raise InputError("the files are not the users.")
        _, item, option = layout.long
        if not _depends_on(table, item, option):
            break
        fixed.append(option)  # it says the same of an item in all files: its wording, or the key
    item = item if layout.parts else _shared_name(table, item)
    if fixed or item != layout.long[1]:
        told = told.changed(item=item, option=option)
        table, layout = laid_out(stacked(tables, labels), told)
    stream = Stream(key_from=f"the column {layout.key!r}")
    each = [(file.document, _stream_of(file, layout)) for file in group]
    name_users(each)
    for _, own in each:
        stream.extend(own)
    users = dict.fromkeys(one.person for one in stream.entries)
    _check_label(next(iter(users), ""), table.place.source)
    notes = [*table.notes, "The users are named after the files."]
    left_out: list[LeftOut] = []
    encoded, key = encode_stream(stream, table.place.source, options.attempt, notes, left_out)
    notes += [f"Left out {rows.count} {rows.what}: {rows.reason}." for rows in left_out]
    groups: dict[Any, Any] | None = None
    if options.group is not None:
        groups = {}
        for file, (_, own) in zip(group, each, strict=True):
            told_group = next(filter(str.strip, file.table.cells(options.group)), "").strip()
            if own.entries and told_group:
                groups[own.entries[0].person] = told_group
    encoded = encoded._changed(groups=groups, notes=(*notes, *encoded.notes))
    reading = PlainReading(table, layout, group[0].format, None, told)
    return _Part(group, reading, encoded, key)


def _depends_on(table: Table, item: str, option: str) -> bool:
    """Whether a column says the same, or hardly anything else, in all rows of an item."""
    pairs = Counter(zip(table.cells(item), map(str.strip, table.cells(option)), strict=True))
    rows, texts, items = Counter[str](), Counter[str](), Counter[str]()
    for (label, text), n in pairs.items():
        rows[label] += n
        texts[label] += 1
        items[text] += 1
    several = [label for label in rows if rows[label] > 1]
    differ = sum(texts[label] > 1 for label in several)
    names_items = max(items.values(), default=0) == 1 and len(items) > 1
    return differ <= (_WORDED if names_items else _DIFFER) * len(several)


def _shared_name(table: Table, item: str) -> str:
    """Return the column that names the items as well, but the same in more files: an id."""
    files, own = table.cells(FILE), table.cells(item)
    best, fewest = item, len({*own})
    for name in table.names:
        cells = table.cells(name)
        n = len({*cells})
        once = len({*zip(files, cells, strict=True)}) == len(cells)
        if n < fewest and once and len({*zip(own, cells, strict=True)}) == len({*own}):
            best, fewest = name, n
    return best


def _stream_of(file: _File, layout: Layout) -> Stream:
    """Return the answers of the user of a file."""
    assert layout.long is not None
    _, item, option = layout.long
    own = file.table.with_joined(layout.parts) if layout.parts else file.table
    rows = own.rows()

    def cells(name: str | None) -> list[str]:
        place = own.names.index(name) if name in own.names else None
        return [("" if place is None else row[place].strip()) for row in rows]

    items = cells(item)
    if len({*items}) < len(items):
        raise InputError(f"{file.document.name}: an item occurs twice.")
    entries = [
        Given(
            file.label, label, (answer,) if answer else (), key=(right,) if right else (),
            attempt=1, status="answered" if answer else "blank",
        )
        for label, answer, right in zip(items, cells(option), cells(layout.key), strict=True)
        if label
    ]  # fmt: skip
    return Stream(entries, key_from=f"the column {layout.key!r}", user_is_file=True)


class _Unclear(InputError):
    """Several parts of the path may name the users."""


def _check_label(label: str, name: str) -> None:
    """Refuse a user who is named by several parts of the path: one may be a topic."""
    if "/" in label:
        raise _Unclear(
            f"{name}: no column names the users, and it is not clear which part of the path does "
            f"({label!r}); read the folders one by one, or write the name into a column."
        )


def _check_once(tables: Sequence[Table], user: str) -> None:
    """Refuse users who occur in several tables, where they may contradict themselves."""
    each = [{*table.cells(user)} for table in tables]
    if len(set().union(*each)) < sum(map(len, each)):
        raise InputError("users occur in several files.")


def _read_alone(file: _File, options: ReadingOptions, stack: ExitStack) -> _Part:
    """Read one file; if no column names its users, they are named after it."""
    reading = open_plain(file.document, options, stack, one_of=True)
    encoded, key = reading.read()
    if not _users(reading.layout):
        _check_label(file.label, file.document.name)
        several = encoded.n_users > 1
        labels = [f"{file.label}-{u}" if several else file.label for u in encoded.users.tolist()]
        told_groups = encoded.groups or {}
        groups = {f"{file.label}-{user}": group for user, group in told_groups.items()}
        encoded = encoded._changed(
            users=label_array(labels), groups=groups or None, notes=encoded.notes
        )
    return _Part([file], reading, encoded, key)


def _users(layout: Layout) -> list[str]:
    """Return the columns that name the users; of a table with the users in columns, these."""
    if layout.roles is not None:
        return layout.roles.users
    return [layout.long[0]] if layout.long is not None else layout.users


# -- what the files are to each other ---------------------------------------------------------


def _is_key_file(document: Any) -> bool:
    """Whether a file is named like a key: answer_key.csv, Lösung.xlsx, gold.json."""
    stem = PurePosixPath(document.name).stem
    return stem.casefold() == "gt" or is_key_mark(stem) or role_of_name(stem) == "key"


def _read_key(document: Any) -> RawKey:
    path = document.path
    key = read_key(path if path is not None else io.BytesIO(document.content()))
    return RawKey({str(item): str(option) for item, option in key.items()}, document.name)


def user_names(documents: Sequence[Any]) -> list[str]:
    """Return a name for each file: the part of its path in which the files differ.

    Examples
    --------
    >>> from types import SimpleNamespace as File
    >>> user_names([File(name="out.json", folders=("runs", name)) for name in ("phi", "yi")])
    ['phi', 'yi']
    """
    paths = [(*one.folders, PurePosixPath(one.name).stem) for one in documents]
    return told_apart(paths, [frozenset(("any",))] * len(paths))


def _key_among(parts: list[_Part], wrong: list[tuple[Any, InputError]]) -> tuple[RawKey, list[str]]:
    """Take what has one answer per item, beside many users, out of the files: it is the key."""
    asked = {item for part in parts if part.encoded.n_users > 1 for item in part.items}
    found: list[tuple[Any, RawKey]] = []
    for part in parts:
        if part.encoded.n_users == 1 and not part.has_names:
            right = {str(i): str(o) for _, i, o in part.encoded.triples()}
            found.append((part, RawKey(right, part.name)))
    for own in wrong:
        with suppress(InputError):
            found.append((own, _read_key(own[0])))
    found = [(own, key) for own, key in found if len(asked & {*key.options}) * 2 > len(key.options)]
    if len(found) != 1:
        return RawKey(), []
    ((own, key),) = found
    parts[:] = [part for part in parts if part is not own]
    wrong[:] = [pair for pair in wrong if pair is not own]
    return key, [f"{key.source} has one answer per item and is taken as the key."]


def _refuse_strange(
    parts: Sequence[_Part], wrong: Sequence[tuple[Any, InputError]], options: ReadingOptions
) -> None:
    """Refuse files without answers, that mostly cannot be read, or whose users have no names."""
    if not any(part.encoded.n_items for part in parts):
        raise wrong[0][1] if wrong else InputError("none of the files holds answers.")
    if options.group is not None and all(part.encoded.groups is None for part in parts):
        n = sum(len(part.names) for part in parts) + len(wrong)
        raise InputError(f"none of the {n:,} files has a column {options.group!r}, given as group.")
    endings = {PurePosixPath(name).suffix.lower() for part in parts for name in part.names}
    alike = [f for file, f in wrong if PurePosixPath(file.name).suffix.lower() in endings]
    n_read = sum(len(part.names) for part in parts)
    if len(alike) * 2 > n_read + len(alike) or (alike and any(part.by_file for part in parts)):
        raise alike[0]
    nameless = [
        part.name for part in parts
        if not _users(part.reading.layout) and len(part.users) > 1 and not options.tells_columns
    ]  # fmt: skip
    if nameless:
        raise InputError(
            f"{listed(nameless, most=2)}: no column names the users, and each file has several "
            "rows; if these are users, name the items, or their column as the user; if the rows "
            "are items, name their column as the item and the answers as the option."
        )


def _linked(parts: Sequence[_Part], notes: list[str]) -> list[_Part]:
    """Refuse files that have nothing in common; leave out those without answers."""
    first = next(part for part in parts if part.encoded.n_items)
    items, users, kept = set(first.items), set(first.users), []
    for part in parts:
        if part.items & items or part.users & users:
            items |= part.items
            users |= part.users
            kept.append(part)
        elif part.encoded.n_items:
            raise InputError(
                f"{first.name} and {part.name} have neither items nor users in common; "
                "read them one by one."
            )
        else:
            notes += [f"Left out {name}: nobody answered anything in it." for name in part.names]
    return kept


def _check_conflicts(parts: Sequence[_Part]) -> None:
    """Refuse files in which the same users answer the same items differently."""
    if len(set().union(*(part.users for part in parts))) == sum(len(part.users) for part in parts):
        return  # every user is in one file only
    seen: dict[tuple[str, str], tuple[str, _Part]] = {}
    shared, answers = 0, 0
    wrong: list[str] = []
    for part in parts:
        for user, item, option in part.encoded.triples():
            before, other = seen.setdefault((user, item), (option, part))
            answers += 1
            shared += other is not part
            if before != option:
                names = f"{other.name} and {part.name}"
                wrong.append(f"{names} hold different answers from {user!r} to {item!r}")
    if shared and not wrong and len(seen) * len(parts) == answers:
        raise InputError(
            f"{listed([part.name for part in parts], most=2)} hold the same answers from the "
            "same users; if other columns tell them apart, write all answers in one table, with a "
            "row per answer (user, item, option)."
        )
    if wrong and len(wrong) * 20 > shared:
        raise InputError(
            f"{wrong[0]}; if these are attempts, say whether the first or the last counts; if the "
            "rows are not users, name the user column."
        )


def _joined(parts: Sequence[_Part], notes: list[str]) -> Responses:
    """Return all answers, with the groups of the users; refuse users with two groups."""
    told: dict[Any, tuple[Any, str]] = {}
    for part in parts:
        for user, group in (part.encoded.groups or {}).items():
            one, where = told.setdefault(user, (group, part.name))
            if one != group:
                raise InputError(
                    f"{where} and {part.name} have the user {shortened(str(user))!r} in two "
                    f"groups ({shortened(one)!r} and {shortened(group)!r}); give each user one."
                )
    joined = parts[0].encoded
    if len(parts) > 1:
        joined = Responses.concat([part.encoded for part in parts])
        answered = {*map(str, joined.items.tolist())}
        asked = dict.fromkeys(item for part in parts for item in sorted(part.items))
        notes += joined.notes
        notes += dropped_items([item for item in asked if item not in answered])
    has_groups = any(part.encoded.groups is not None for part in parts)
    groups = {user: group for user, (group, _) in told.items()} if has_groups else None
    return joined._changed(groups=groups)
