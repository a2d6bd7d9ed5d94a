"""Turn files, folders and streams into a plan, and a plan into responses."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.clean import clean
from hitsndiffs.reading.exports import FORMATS, find_format
from hitsndiffs.reading.exports.base import Document, Refusal
from hitsndiffs.reading.exports.format import Format, Stream
from hitsndiffs.reading.exports.per_file import name_users
from hitsndiffs.reading.files.documents import FileDocument
from hitsndiffs.reading.files.folders import FolderDocument, open_document
from hitsndiffs.reading.files.source import no_source, open_path, open_stream
from hitsndiffs.reading.files.together import together
from hitsndiffs.reading.frames import Frame, frame_of
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.plain import key_of_sheets, open_frame, open_plain
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.quiet import without_collection
from hitsndiffs.reading.streams import encode_stream

__all__ = ["make_plan"]

#: A folder with more files than this is refused.
_MOST_FILES = 20_000


def make_plan(source: Any, options: ReadingOptions) -> Plan:
    """Make the plan for a path, a folder, a stream, or several of them."""
    frame = frame_of(source) if not isinstance(source, str | os.PathLike | list | tuple) else None
    if frame is not None:
        return _plan_frame(frame, source, options)
    stack = ExitStack()
    try:
        documents = _documents(source, options, stack)
        plan = Plan(tuple(document.name for document in documents), options=options)
        plan._source = source
        found, others = _recognised(documents, options)
        if found:
            _plan_exports(plan, found, options)
            if others:
                said = f"{count(len(others), 'file')} in no known format: {listed(others, most=3)}"
                plan.notes.append(f"Passed over {said}.")
            stack.close()
        else:
            _plan_plain(plan, documents, options, stack)
    except BaseException:
        stack.close()
        raise
    return plan


# -- what there is ----------------------------------------------------------------------------


def _documents(source: Any, options: ReadingOptions, stack: ExitStack) -> list[Any]:
    if isinstance(source, (list, tuple)):
        found = [d for one in source for d in _documents(one, options, stack)]
        if not found:
            raise InputError("no files were given; name at least one.")
        return found
    settings = options.settings
    if hasattr(source, "read") or (isinstance(source, str) and source == "-"):
        stream = stack.enter_context(open_stream(source, sizes=settings.sizes))
        return [FileDocument.once(stream, settings)]
    if not isinstance(source, (str, os.PathLike)):
        raise no_source(source)
    path = Path(os.fspath(source))
    if _is_read_once(path):
        opened = stack.enter_context(open_path(path))
        stream = stack.enter_context(open_stream(opened, name="the pipe", sizes=settings.sizes))
        return [FileDocument.once(stream, settings)]
    return [open_document(path, settings)]


def _is_read_once(path: Path) -> bool:
    """Whether a path is a pipe or a device, which gives its bytes only once."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):
        return False  # opening it will say what is wrong


@dataclass
class _Match:
    """A document, the format it is in, and why."""

    document: Any
    format: Format
    why: str


def _recognised(
    documents: Sequence[Any], options: ReadingOptions
) -> tuple[list[_Match], list[str]]:
    """Return the documents in a known format, and the names of the other files.

    Folders and archives are looked into.
    """
    if options.is_plain:
        return [], []
    others: list[str] = []
    forced = None if options.format is None else find_format(options.format)
    found: list[_Match] = []
    formats = FORMATS
    if forced is not None:
        formats = (forced,)
    elif options.formats is not None:
        formats = tuple(format for format in FORMATS if format.name in options.formats)
    plain: set[str] = set()
    for document in documents:
        found += _matches(document, forced, formats, plain, others)
    if forced is not None and not found:
        raise InputError(
            f"{', '.join(d.name for d in documents[:3])}: there is nothing in it that can be "
            f"read as {forced.title}."
        )
    return found, others


def _matches(
    document: Any,
    forced: Format | None,
    formats: Sequence[Format],
    plain: set[str],
    others: list[str],
    depth: int = 0,
) -> list[_Match]:
    """Return the matches in a document, and collect the names of the ``others``.

    ``plain`` are first lines of tables in no known format.
    """
    one = _match(document, formats, plain)
    if one is not None:
        return [one]
    if isinstance(document, FolderDocument):
        inner = []
        for own in (*document.files(), *document.subfolders()):
            inner += _matches(own, forced, formats, plain, others, depth + 1)
        return inner
    if _has_members(document) and depth < 8:
        return [
            m
            for member in document.members()
            for m in _matches(member, forced, formats, plain, others, depth + 4)
        ]
    if forced is not None and document.kind not in ("folder", "archive"):
        return [_Match(document, forced, "asked for (format)")]
    others.append(document.name)
    return []


def _match(document: Any, formats: Sequence[Format], plain: set[str]) -> _Match | None:
    try:
        is_table = isinstance(document, FileDocument) and document.kind in ("table", "parquet")
        if is_table and document.first_line in plain:
            return None
        sample = document.sample.without_index
    except InputError:
        if isinstance(document, FileDocument) and document.is_alone:
            raise
        return None
    for format in formats:
        why = format.recognise(sample)
        if why is not None:
            return _Match(document, format, why)
    if is_table:
        plain.add(document.first_line)
    return None


# -- exports ----------------------------------------------------------------------------------


def _plan_exports(plan: Plan, found: list[_Match], options: ReadingOptions) -> None:
    stream = Stream()
    refused: list[tuple[str, Refusal]] = []
    used: list[_Match] = []
    streams: list[Stream] = []
    for match, result in zip(found, _converted(found, options), strict=True):
        if isinstance(result, Refusal):
            refused.append((match.document.name, result))
            continue
        used.append(match)
        streams.append(result)
    name_users([(match.document, own) for match, own in zip(used, streams, strict=True)])
    for own in streams:
        stream.extend(own)
    if not used:
        name, refusal = refused[0]
        raise InputError(f"{name}: {refusal}")
    first = used[0]
    if options.group is not None:
        raise InputError(
            f"{first.document.name}: groups cannot be read from a column of {first.format.title}; "
            "give them as a table with two columns, users and groups."
        )
    formats = list(dict.fromkeys(match.format.name for match in used))
    plan.sources = tuple(match.document.name for match in used)
    plan.format, plan.title, plan.why = first.format.name, first.format.title, first.why
    plan.layout = "export"
    _describe(plan, first.document)
    plan.columns = list(stream.columns)
    plan.left_out = list(stream.left_out)
    plan.notes = list(stream.notes)
    if len(used) > 1:
        plan.notes.insert(0, f"Joined {len(used):,} files: {listed(plan.sources, most=3)}.")
    if len(formats) > 1:
        plan.notes.append(f"The files are in several formats: {', '.join(formats)}.")
    for name, refusal in refused[:3]:
        plan.notes.append(f"Left out {name}: {refusal}")
    if len(refused) > 3:
        plan.notes.append(f"Left out {len(refused) - 3} more files of that kind.")
    plan._reader = lambda own: _read_stream(own, stream)


def _converted(found: list[_Match], options: ReadingOptions) -> list[Stream | Refusal]:
    """Convert all documents, using several processes if they are many and large."""
    from hitsndiffs.data.pool import available_cores

    pairs = [(match.document, match.format) for match in found]
    size = sum(_size(document) for document, _ in pairs)
    cores = available_cores()
    paths = all(document.path is not None for document, _ in pairs)
    if len(found) < 4 or size < options.sizes.parallel or cores < 2 or not paths:
        return [_convert(document, format, options) for document, format in pairs]
    from hitsndiffs.data.processes import in_processes

    tasks = [(str(own.path), own.folders, format.name, options) for own, format in pairs]
    return in_processes(_convert_path, tasks, min(cores, len(found)))


def _size(document: Any) -> int:
    path = document.path
    try:
        return int(path.stat().st_size) if path is not None and path.is_file() else 0
    except OSError:
        return 0


def _convert_path(task: tuple[str, tuple[str, ...], str, ReadingOptions]) -> Stream | Refusal:
    path, folders, name, options = task
    document: Any = open_document(Path(path), options.settings)
    document.folders = folders
    format = find_format(name)
    assert format is not None
    return _convert(document, format, options)


def _convert(document: Document, format: Format, options: ReadingOptions) -> Stream | Refusal:
    try:
        with without_collection():
            return format.convert(document, options.choices)
    except Refusal as refusal:
        return refusal
    except InputError as error:
        text = str(error)
        if text.startswith(document.name):
            raise
        raise InputError(f"{document.name}: {text}") from None


def _read_stream(plan: Plan, stream: Stream) -> Responses:
    name = plan.sources[0] if len(plan.sources) == 1 else f"{len(plan.sources)} files"
    options = plan.options
    users = dict.fromkeys(one.person for one in stream.entries)
    if len(users) == 1:
        raise InputError(
            f"{name}: all answers are those of one user ({next(iter(users))!r}), and a ranking "
            "needs at least two; give the files of the others too, all in one folder."
        )
    encoded, key = encode_stream(stream, name, options.attempt, plan.notes, plan.left_out)
    return clean(plan, encoded, key, name, titles=stream.titles)


# -- plain tables -----------------------------------------------------------------------------


def _plan_plain(
    plan: Plan, documents: Sequence[Any], options: ReadingOptions, stack: ExitStack
) -> None:
    files = _plain_files(documents)
    if len(files) > 1:
        if not _plan_together(plan, files, options):
            _plan_several(plan, files, options)
        stack.close()
        return
    if not files:
        where = ", ".join(str(d.path or d.name) for d in documents)
        raise InputError(f"{where}: there is no file in it that can be read.")
    reading = open_plain(files[0], options, stack)
    plan.sources = (files[0].name,)
    plan.format, plan.layout = reading.format, reading.layout.name
    plan.title, plan.why = _TITLES[plan.layout], reading.layout.why
    _describe(plan, files[0])
    plan.header_row = reading.header_row
    plan.columns = list(reading.layout.columns)
    plan.scores = reading.layout.scores

    def read(own: Plan) -> Responses:
        with stack:
            encoded, key = reading.read()
        if not key.options:
            key = key_of_sheets(files[0])
        own.notes += encoded.notes
        return clean(own, encoded, key, files[0].name, reading=reading, titles=reading.table.titles)

    plan._reader = read


def _plan_frame(frame: Frame, source: Any, options: ReadingOptions) -> Plan:
    """Make the plan for a table in memory."""
    reading = open_frame(frame.table(options.settings.sizes), options)
    plan = Plan((reading.table.place.source,), options=options)
    plan._source = source
    plan.format, plan.layout = "frame", reading.layout.name
    plan.title, plan.why = _TITLES[plan.layout], reading.layout.why
    plan.container = f"table in memory ({frame.kind})"
    plan.columns = list(reading.layout.columns)
    plan.scores = reading.layout.scores

    def read(own: Plan) -> Responses:
        encoded, key = reading.read()
        own.notes += encoded.notes
        name = reading.table.place.source
        return frame.with_own_labels(clean(own, encoded, key, name, reading=reading))

    plan._reader = read
    return plan


_TITLES = {
    "wide": "a table with one row per user",
    "long": "a table with one row per answer",
    "transposed": "a table with one row per item",
}


def _plain_files(documents: Iterable[Any]) -> list[Any]:
    """Return all files, including those in folders and archives."""
    files: list[Any] = []
    for document in documents:
        if _has_members(document):
            files += _plain_files(document.members())
        else:
            files.append(document)
        if len(files) > _MOST_FILES:
            raise InputError(f"there are more than {_MOST_FILES:,} files; name fewer of them.")
    return files


def _has_members(document: Any) -> bool:
    try:
        return isinstance(document, FolderDocument) or document.kind == "archive"
    except InputError:
        if document.is_alone:
            raise
        return False  # reading it will say what is wrong; the others are still read


def _plan_together(plan: Plan, files: list[Any], options: ReadingOptions) -> bool:
    """Read files that are pieces of one table; say whether they are."""
    whole = None if options.attempt or options.key_row else together(files)
    if whole is None:
        return False
    try:
        with ExitStack() as stack:
            reading = open_plain(whole, options, stack)
            roles = reading.layout.roles
            if roles is not None and not roles.users:
                return False  # the users are named after their files
            encoded, key = reading.read()
    except InputError:
        return False  # reading them one by one will say what is wrong, and where
    plan.sources = tuple(file.name for file in files)
    plan.layout, plan.format = "several", reading.format
    plan.title = f"{len(files):,} files of the same test"
    plan.why = "they have the same columns"
    plan.columns = list(reading.layout.columns)
    plan.notes.append(f"Joined {len(files):,} files: {listed(plan.sources, most=3)}.")
    plan.notes += encoded.notes

    def read(own: Plan) -> Responses:
        return clean(own, encoded, key, whole.name, reading=reading)

    plan._reader = read
    return True


def _plan_several(plan: Plan, files: list[Any], options: ReadingOptions) -> None:
    """Read several plain files and join them."""
    from hitsndiffs.reading.several import read_several

    several = read_several(files, options, plan)
    plan.layout = "several"
    plan.title = f"{len(several.parts)} files of the same test"
    plan.why = several.why
    plan.format = several.format

    def read(own: Plan) -> Responses:
        encoded = several.joined(own.notes)
        return clean(own, encoded, several.key, f"{len(several.parts)} files")

    plan._reader = read


# -- the end ----------------------------------------------------------------------------------


def _describe(plan: Plan, document: Any) -> None:
    """Say how the bytes become cells."""
    kind = document.kind
    plan.container = _CONTAINERS.get(kind, kind)
    if kind in ("table", "json", "jsonl", "text"):
        plan.encoding = document.encoding
        note = document.encoding_note
        if note:
            plan.notes.append(note)
    if kind == "table":
        plan.separator = document.shape.separator
        place = document.header_place
        plan.header_row = None if place is None else place + 1
    if kind == "sheets":
        plan.sheet = document.settings.sheet or document.first_sheet
        if len(document.sheets) > 1 and document.settings.sheet is None:
            others = [name for name in document.sheets if name != plan.sheet]
            plan.notes.append(f"Read the sheet {plan.sheet!r}; there is also {listed(others)}.")
        without_values = document.sheet_note(plan.sheet)
        if without_values:
            plan.notes.append(without_values)
    elif document.settings.sheet is not None:
        unused = document.settings.sheet
        plan.notes.append(f"Only a spreadsheet has sheets; {unused!r} is not used.")


_CONTAINERS = {
    "table": "delimited text",
    "sheets": "spreadsheet",
    "json": "JSON",
    "jsonl": "JSON lines",
    "parquet": "Parquet",
    "stats": "file of a statistics program",
    "folder": "folder",
    "archive": "zip archive",
}
