"""From a source to a plan, and from a plan to responses: open, recognise, plan, read."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
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
from hitsndiffs.reading.exports.predictions import ANSWERS_BY_ID, are_by_topic
from hitsndiffs.reading.files.documents import FileDocument, FolderDocument, open_document
from hitsndiffs.reading.files.source import no_source, open_path, open_stream
from hitsndiffs.reading.frames import frame_of
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.plain import PlainReading, key_of_sheets, open_frame, open_plain, sheet_of
from hitsndiffs.reading.plan import Plan
from hitsndiffs.reading.several import plan_several
from hitsndiffs.reading.sheets import plan_sheets, sheets_alike
from hitsndiffs.reading.streams import encode_stream

__all__ = ["make_plan"]

#: A folder with more files than this is refused.
_MOST_FILES = 20_000
#: Archives inside archives are opened so many deep.
_DEEPEST = 3
#: Of several files, those below this many bytes are held as rows of text.
_SMALL_OF_MANY = 1 << 16

_TITLES = {
    "wide": "a table with one row per user",
    "long": "a table with one row per answer",
    "transposed": "a table with one row per item",
}
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


def make_plan(source: Any, options: ReadingOptions) -> Plan:
    """Make the plan for a path, a folder, a stream, a table in memory, or several sources."""
    frame = frame_of(source) if not isinstance(source, str | os.PathLike | list | tuple) else None
    if frame is not None:
        plan = Plan(("the table",), "frame", options=options)
        plan.container = f"table in memory ({frame.kind})"
        reading = open_frame(frame.table(options.settings.sizes), options)
        _describe_table(plan, reading)
        plan._reader = lambda own: frame.with_own_labels(_read_plain(own, reading))
    else:
        with ExitStack() as stack:
            documents = list(_documents(source, options, stack))
            plan = Plan(tuple(document.name for document in documents), options=options)
            files = _recognised(documents, options)
            found = [own for own in files if own.format is not None]
            others = [own.document for own in files if own.format is None]
            if found:
                _plan_exports(plan, found, options)
                if others:
                    names = listed([document.name for document in others], most=3)
                    said = f"{count(len(others), 'file')} in no known format: {names}"
                    plan.notes.append(f"Passed over {said}.")
            elif len(others) > 1:
                plan_several(plan, others, options)
            elif others:
                _plan_plain(plan, others[0], options, stack)
            else:
                where = ", ".join(str(d.path or d.name) for d in documents)
                raise InputError(f"{where}: there is no file in it that can be read.")
    plan._source = source
    return plan


# -- open -------------------------------------------------------------------------------------


def _documents(source: Any, options: ReadingOptions, stack: ExitStack) -> Iterator[Any]:
    """Yield the files and folders that the caller named."""
    if isinstance(source, (list, tuple)):
        if not source:
            raise InputError("no files were given; name at least one.")
        own = options if len(source) == 1 else _for_many(options)
        for one in source:
            yield from _documents(one, own, stack)
        return
    settings = options.settings
    if hasattr(source, "read") or (isinstance(source, str) and source == "-"):
        stream = stack.enter_context(open_stream(source, sizes=settings.sizes))
        yield FileDocument.once(stream, settings)
    elif not isinstance(source, (str, os.PathLike)):
        raise no_source(source)
    elif _is_read_once(Path(source)):
        opened = stack.enter_context(open_path(Path(source)))
        stream = stack.enter_context(open_stream(opened, name="the pipe", sizes=settings.sizes))
        yield FileDocument.once(stream, settings)
    else:
        path = Path(source)
        own = _for_many(options) if os.path.isdir(path) else options
        yield open_document(path, own.settings)


def _for_many(options: ReadingOptions) -> ReadingOptions:
    """Return the options for files that are read together: fewer of them are held as rows."""
    small = min(options.sizes.small, _SMALL_OF_MANY)
    return replace(options, sizes=replace(options.sizes, small=small))


def _is_read_once(path: Path) -> bool:
    """Whether a path is a pipe or a device, which gives its bytes only once."""
    try:
        return path.exists() and not path.is_file() and not path.is_dir()
    except (OSError, ValueError):
        return False  # opening it will say what is wrong


# -- recognise --------------------------------------------------------------------------------


@dataclass
class _File:
    """A file (or a folder that is an export as a whole), its format if it is known, and why."""

    document: Any
    format: Format | None = None
    why: str = ""


def _recognised(documents: Sequence[Any], options: ReadingOptions) -> list[_File]:
    """Return all files, also those in folders and archives, with their formats."""
    forced = None if options.format is None else find_format(options.format)
    formats: Sequence[Format] = FORMATS
    if options.is_plain:
        forced, formats = None, ()
    elif forced is not None:
        formats = (forced,)
    elif options.formats is not None:
        formats = [format for format in FORMATS if format.name in options.formats]
    files: list[_File] = []
    for file in _walk(documents, formats, forced, set()):
        files.append(file)
        if len(files) > _MOST_FILES:
            raise InputError(f"there are more than {_MOST_FILES:,} files; name fewer of them.")
    if forced is not None and not files:
        raise InputError(
            f"{', '.join(d.name for d in documents[:3])}: there is nothing in it that can be "
            f"read as {forced.title}."
        )
    plain = [file for file in files if file.format is None]
    if ANSWERS_BY_ID in formats and _are_by_topic([file.document for file in plain]):
        for file in plain:
            file.format, file.why = ANSWERS_BY_ID, "answers stand under topics and ids, by file"
    return files


def _are_by_topic(documents: Sequence[Any]) -> bool:
    if not all(isinstance(own, FileDocument) for own in documents):
        return False
    try:
        is_small = all(own.kind == "json" and own.is_whole for own in documents)
        return is_small and are_by_topic(documents)
    except InputError:
        return False  # reading the files will say what is wrong


def _walk(
    documents: Iterable[Any],
    formats: Sequence[Format],
    forced: Format | None,
    plain: set[str],
    depth: int = 0,
) -> Iterator[_File]:
    """Yield the files; ``plain`` are first lines of tables in no known format."""
    for document in documents:
        file = _match(document, formats, plain) if formats else None
        if file is not None:
            yield file
        elif isinstance(document, FolderDocument):
            inner = (*document.files(), *document.subfolders())
            yield from _walk(inner, formats, forced, plain, depth)
        elif _is_archive(document) and depth < _DEEPEST:
            yield from _walk(document.members(), formats, forced, plain, depth + 1)
        else:
            yield _File(document, forced, "asked for (format)")


def _match(document: Any, formats: Sequence[Format], plain: set[str]) -> _File | None:
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
            return _File(document, format, why)
    if is_table:
        plain.add(document.first_line)
    return None


def _is_archive(document: Any) -> bool:
    try:
        return bool(document.kind == "archive")
    except InputError:
        if document.is_alone:
            raise
        return False  # reading it will say what is wrong; the others are still read


# -- exports ----------------------------------------------------------------------------------


def _plan_exports(plan: Plan, found: Sequence[_File], options: ReadingOptions) -> None:
    """Plan what the formats make of their files, all joined."""
    refused: list[tuple[str, Refusal]] = []
    used: list[tuple[_File, Stream]] = []
    for file, result in zip(found, _converted(found, options), strict=True):
        if isinstance(result, Refusal):
            refused.append((file.document.name, result))
        else:
            used.append((file, result))
    name_users([(file.document, stream) for file, stream in used])
    if not used:
        name, refusal = refused[0]
        raise InputError(f"{name}: {refusal}")
    first, stream = used[0][0], Stream()
    assert first.format is not None
    for _, own in used:
        stream.extend(own)
    if options.group is not None:
        raise InputError(
            f"{first.document.name}: groups cannot be read from a column of {first.format.title}; "
            "give them as a table with two columns, users and groups."
        )
    plan.sources = tuple(file.document.name for file, _ in used)
    plan.format, plan.title, plan.why = first.format.name, first.format.title, first.why
    plan.layout = "export"
    _describe(plan, first.document)
    plan.columns, plan.left_out = list(stream.columns), list(stream.left_out)
    plan.notes = list(stream.notes)
    if len(used) > 1:
        plan.notes.insert(0, f"Joined {len(used):,} files: {listed(plan.sources, most=3)}.")
    formats = list(dict.fromkeys(file.format.name for file, _ in used if file.format))
    if len(formats) > 1:
        plan.notes.append(f"The files are in several formats: {', '.join(formats)}.")
    plan.notes += [f"Left out {name}: {refusal}" for name, refusal in refused[:3]]
    if len(refused) > 3:
        plan.notes.append(f"Left out {len(refused) - 3} more files of that kind.")
    plan._reader = lambda own: _read_stream(own, stream)


def _converted(found: Sequence[_File], options: ReadingOptions) -> list[Stream | Refusal]:
    """Convert all documents, using several processes if they are many and large."""
    from hitsndiffs.data.pool import available_cores

    paths = [file.document.path for file in found]
    cores = available_cores()
    if len(found) >= 4 and cores > 1 and all(path is not None and path.is_file() for path in paths):
        size = sum(path.stat().st_size for path in paths)
        if size >= options.sizes.parallel:
            from hitsndiffs.data.processes import in_processes

            tasks = [(path, file.document.folders, file.format.name, options)
                     for path, file in zip(paths, found, strict=True) if file.format]  # fmt: skip
            return in_processes(_convert_path, tasks, min(cores, len(found)))
    return [_convert(file.document, file.format, options) for file in found if file.format]


def _convert_path(task: tuple[Path, tuple[str, ...], str, ReadingOptions]) -> Stream | Refusal:
    path, folders, name, options = task
    document: Any = open_document(path, options.settings)
    document.folders = folders
    format = find_format(name)
    assert format is not None
    return _convert(document, format, options)


def _convert(document: Document, format: Format, options: ReadingOptions) -> Stream | Refusal:
    collects = gc.isenabled()
    gc.disable()  # millions of small objects without reference cycles are made
    try:
        return format.convert(document, options.choices)
    except Refusal as refusal:
        return refusal
    except InputError as error:
        text = str(error)
        if text.startswith(document.name):
            raise
        raise InputError(f"{document.name}: {text}") from None
    finally:
        if collects:
            gc.enable()


def _read_stream(plan: Plan, stream: Stream) -> Responses:
    name = plan.sources[0] if len(plan.sources) == 1 else f"{len(plan.sources)} files"
    users = dict.fromkeys(one.person for one in stream.entries)
    if len(users) == 1:
        raise InputError(
            f"{name}: all answers are those of one user ({next(iter(users))!r}), and a ranking "
            "needs at least two; give the files of the others too, all in one folder."
        )
    encoded, key = encode_stream(stream, name, plan.options.attempt, plan.notes, plan.left_out)
    return clean(plan, encoded, key, name, titles=stream.titles)


# -- plain tables -----------------------------------------------------------------------------


def _plan_plain(plan: Plan, document: Any, options: ReadingOptions, stack: ExitStack) -> None:
    """Plan how one file is read; it stays open until then."""
    reading = open_plain(document, options, stack)
    sheets = sheets_alike(document, reading, options, stack)
    if len(sheets) > 1:
        plan_sheets(plan, document, sheets, options)
        _describe(plan, document, [one.name for one in sheets])
        return
    if sheets and sheets[0].name != sheet_of(document):  # it holds the others as well
        document.settings = sheets[0].settings
        reading = open_plain(document, options, stack)
        also = listed([name for name in document.sheets if name != sheets[0].name])
        reading.table.notes.insert(0, f"Read the sheet {sheets[0].name!r}; there is also {also}.")
    plan.sources, plan.format = (document.name,), reading.format
    _describe(plan, document)
    _describe_table(plan, reading)
    plan.header_row = reading.header_row
    opened = stack.pop_all()

    def read(own: Plan) -> Responses:
        with opened:
            return _read_plain(own, reading, document)

    plan._reader = read


def _describe_table(plan: Plan, reading: PlainReading) -> None:
    layout = reading.layout
    plan.layout, plan.title, plan.why = layout.name, _TITLES[layout.name], layout.why
    plan.columns, plan.scores = list(layout.columns), layout.scores


def _read_plain(plan: Plan, reading: PlainReading, document: Any = None) -> Responses:
    encoded, key = reading.read()
    if not key.options and document is not None:
        key = key_of_sheets(document, plan.options)
    plan.notes += encoded.notes
    name = plan.sources[0]
    return clean(plan, encoded, key, name, reading=reading, titles=reading.table.titles)


def _describe(plan: Plan, document: Any, joined: Sequence[str] = ()) -> None:
    """Say how the bytes become cells; those of several sheets may be ``joined``."""
    kind, settings = document.kind, document.settings
    plan.container = _CONTAINERS.get(kind, kind)
    if kind in ("table", "json", "jsonl", "text"):
        plan.encoding = document.encoding
        if document.encoding_note:
            plan.notes.append(document.encoding_note)
    if kind == "table":
        plan.separator = document.shape.separator
        place = document.header_place
        plan.header_row = None if place is None else place + 1
    if joined:
        others = [name for name in document.sheets if name not in joined]
        plan.notes += [f"Other sheets: {listed(others)}."] if others else []
        plan.notes += filter(None, map(document.sheet_note, joined))
    elif kind == "sheets":
        plan.sheet = settings.sheet or document.first_sheet
        if len(document.sheets) > 1 and settings.sheet is None:
            others = [name for name in document.sheets if name != plan.sheet]
            plan.notes.append(f"Read the sheet {plan.sheet!r}; there is also {listed(others)}.")
        if without_values := document.sheet_note(plan.sheet):
            plan.notes.append(without_values)
    elif settings.sheet is not None:
        plan.notes.append(f"Only a spreadsheet has sheets; {settings.sheet!r} is not used.")
