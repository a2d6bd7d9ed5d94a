"""Files, archives and folders as documents: what recognition and the converters see."""

from __future__ import annotations

import fnmatch
import io
import os
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Document, Kind, Sample
from hitsndiffs.reading.exports.sheet import Table
from hitsndiffs.reading.files import jsontext
from hitsndiffs.reading.files.archives import Archive, is_workbook
from hitsndiffs.reading.files.encodings import TITLES, find_encoding
from hitsndiffs.reading.files.foreign import (
    START,
    check_is_text,
    no_text,
    refuse_archive,
    refuse_foreign,
)
from hitsndiffs.reading.files.source import ByteStream, open_path, open_stream
from hitsndiffs.reading.files.spreadsheets import Workbook
from hitsndiffs.reading.files.text_rows import (
    HEAD_ROWS,
    TextRows,
    check_encoding,
    filled,
    find_rows,
    padded,
    widest,
)
from hitsndiffs.reading.sizes import DEFAULT, Sizes
from hitsndiffs.reading.tables.frames import Parquet, no_parquet, texts_of
from hitsndiffs.reading.tables.statistics import program_of, read_statistics

__all__ = ["FileDocument", "FolderDocument", "Settings", "open_document"]

#: Recognition looks at this many records.
HEAD_RECORDS = 5
HEAD_COLUMNS = 5000
_OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_ZIP = b"PK\x03\x04"
_PARQUET = (".parquet", ".pq")
#: XML or a web page: a declaration, or one element from the first character to the last.
_MARKUP = re.compile(
    r"(?s)<(?:[?!]|html\b|([A-Za-z][\w:.\-]*)(?:\s[^<>]*)?(?:/>\s*$|>.*</\1>\s*$))"
)
#: So many characters are looked at to see whether a file is text.
_LOOK = 4096
_SPREADSHEETS = (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")


@dataclass(frozen=True)
class Settings:
    """What the caller said about bytes and cells, and how much may be held in memory."""

    encoding: str | None = None
    separator: str | None = None
    header_row: int | None = None
    header: bool | None = None
    sheet: str | None = None
    sizes: Sizes = DEFAULT


class FileDocument:
    """One file, on disk, in memory or in an archive.

    ``open_bytes`` is called as often as the bytes are read. There is a ``path`` if it is a file on
    disk; ``neighbours`` returns all files in the same folder.
    """

    def __init__(
        self,
        open_bytes: Callable[[], BinaryIO],
        name: str,
        folders: tuple[str, ...],
        settings: Settings,
        *,
        path: Path | None = None,
        neighbours: Callable[[], list[Document]] | None = None,
    ) -> None:
        self._open_bytes = open_bytes
        self.name = name
        self.folders = folders
        self.settings = settings
        self.path = path
        self._neighbours = neighbours
        self._once: ByteStream | None = None
        #: Whether the caller named this file, so that its faults are reported.
        self.is_alone = path is not None

    @classmethod
    def once(cls, stream: ByteStream, settings: Settings) -> FileDocument:
        """Return a document whose bytes can be read only once (standard input)."""
        document = cls(io.BytesIO, stream.name, (), settings)
        document._once = stream
        document.is_alone = True
        return document

    def __repr__(self) -> str:
        return f"FileDocument({self.name!r}, {self.kind!r})"

    # -- bytes and text ---------------------------------------------------------------------

    def stream(self) -> Any:
        """Open the unpacked bytes, as a context manager."""
        sizes = self.settings.sizes
        if "_content" in self.__dict__:
            return nullcontext(ByteStream(io.BytesIO(self._content).read, self.name, sizes=sizes))
        if self._once is not None:
            return nullcontext(self._once)
        return open_stream(self._open_bytes(), name=self.name, path=self.path, sizes=sizes)

    @cached_property
    def _head(self) -> bytes:
        with self.stream() as stream:
            head: bytes = stream.peek(self.settings.sizes.head)
            return head

    @cached_property
    def is_whole(self) -> bool:
        """Whether recognition saw all of the file."""
        return len(self._head) < self.settings.sizes.head

    def content(self) -> bytes:
        """Return all unpacked bytes; refuse more than may be held."""
        if self.is_whole:
            return self._head
        with self.stream() as stream:
            data: bytes = stream.read_within()
        if self._once is not None:
            self._content = data
        return data

    @cached_property
    def kind(self) -> Kind:
        """What kind of file it is, judged by its content."""
        start = self._head[:START]
        if start.startswith(b"PAR1"):
            return "parquet"
        if start.startswith(_OLD_EXCEL):
            return "sheets"
        if program_of(self._head[:600]) is not None:
            return "stats"
        suffix = PurePosixPath(self.name).suffix.lower()
        if suffix in _PARQUET:
            raise no_parquet(self.name)
        if start.startswith(_ZIP):
            if suffix in _SPREADSHEETS:
                return "sheets"
            names = self._archive.names
            refuse_archive(names, self._archive.read, self.name)
            return "sheets" if is_workbook(names) else "archive"
        refuse_foreign(start, self.name)
        text = self._head_text.lstrip()
        if text[:1] in ("{", "["):
            found = jsontext.kind_of(text, whole=self.is_whole)
            if found is not None:
                return found
        if _MARKUP.match(text):
            return "text"
        check_is_text(self._head_text[:_LOOK], self.name)
        return "table"

    @cached_property
    def encoding(self) -> str:
        """The encoding of the text: as given, or found from its beginning."""
        if self.settings.encoding is not None:
            return check_encoding(self.settings.encoding)
        return find_encoding(self._head)

    @cached_property
    def _head_text(self) -> str:
        errors = "replace" if self.settings.encoding is None else "strict"
        try:
            text = self._head.decode(self.encoding, "ignore" if not self.is_whole else errors)
        except UnicodeDecodeError as error:
            raise self._wrong_encoding(error) from None
        return text.removeprefix("\ufeff")

    @property
    def first_line(self) -> str:
        """The first line of the text; of Parquet, the names of the columns."""
        if self.kind == "parquet":
            return "\n".join(self.parquet.head.columns)
        return self._head_text.partition("\n")[0].rstrip("\r")

    @cached_property
    def _head_lines(self) -> str:
        """The beginning of the text, up to the end of a line."""
        text = self._head_text
        return text if self.is_whole else text[: text.rfind("\n") + 1] or text

    def text(self) -> str:
        """Return the whole text."""
        data = self.content()
        encoding = self.encoding
        if self.settings.encoding is None and encoding in ("utf-8", "cp1252"):
            encoding = find_encoding(data)
            self.__dict__["encoding"] = encoding
        try:
            return data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise self._wrong_encoding(error) from None

    def _wrong_encoding(self, error: UnicodeDecodeError) -> InputError:
        if self.settings.encoding is None:
            return no_text(self.name)
        line = self._head[: error.start].count(b"\n") + 1
        return InputError(
            f"{self.name}, line {line}: the text is not {error.encoding}; give another encoding."
        )

    @property
    def encoding_note(self) -> str | None:
        """A sentence to show if an encoding other than UTF-8 was found."""
        if self.kind not in ("table", "json", "jsonl", "text") or self.settings.encoding:
            return None
        if self.encoding in ("utf-8", "utf-8-sig", "ascii"):
            return None
        name = TITLES.get(self.encoding, self.encoding.upper())
        sure = "" if self.encoding.startswith("utf") else ", as it is not UTF-8"
        return f"The text is read as {name}{sure} (you can name another one)."

    # -- tables -----------------------------------------------------------------------------

    @cached_property
    def shape(self) -> TextRows:
        """The rows of a delimited text, or those at its beginning, and the separator."""
        suffix = PurePosixPath(self.name.removesuffix(".gz").removesuffix(".zst")).suffix.lower()
        expected = "\t" if suffix in (".tsv", ".tab") else ","
        return find_rows(self._head_lines, expected, self.settings.separator)

    @cached_property
    def _archive(self) -> Archive:
        return Archive(self.content(), self.name, self.settings.sizes.held)

    @cached_property
    def _workbook(self) -> Workbook:
        return Workbook(self.content(), self.name, self.settings.sizes)

    @cached_property
    def sheets(self) -> list[str]:
        """The names of the sheets of a spreadsheet."""
        return self._workbook.sheets if self.kind == "sheets" else []

    def of_sheet(self, sheet: str) -> FileDocument:
        """Return a sheet of a spreadsheet as a document of that name."""
        made = copy(self)
        made.name, made.folders, made.settings = sheet, (), replace(self.settings, sheet=sheet)
        for cached in ("header_place", "sample"):
            made.__dict__.pop(cached, None)
        return made

    def sheet_note(self, sheet: str) -> str | None:
        """Return a sentence on cells of a sheet that hold no value."""
        return self._workbook.note(sheet)

    @property
    def first_sheet(self) -> str:
        """The sheet that is read unless another is named."""
        return self._workbook.find(None)

    def numbered_rows(
        self, sheet: str | None = None, most: int | None = None
    ) -> list[tuple[int, list[str]]]:
        """Return the rows that are not blank, with their line numbers."""
        if self.kind == "parquet":
            return _rows_of_frame(self.parquet.head.head(most) if most else self.parquet.read())
        if self.kind == "stats":
            frame = self.statistics[0]
            return _rows_of_frame(frame if most is None else frame.head(most))
        if self.kind == "sheets":
            name = self._workbook.find(sheet if sheet is not None else self.settings.sheet)
            rows = list(enumerate(self._workbook.rows(name), 1))
        else:
            found = self.shape
            if most is None and not self.is_whole:
                found = TextRows(self.text(), found.separator, found.skip)
            rows = [(line, row) for line, _, row in found.rows(most and 2 * most)]
        return [(line, row) for line, row in rows if "".join(row).strip()][:most]

    @cached_property
    def parquet(self) -> Parquet:
        """The Parquet file, which could be decoded without harm."""
        with self.stream() as stream:
            source = stream.path or self.content()
        return Parquet(source, self.name, self.settings.sizes)

    @cached_property
    def statistics(self) -> tuple[Any, dict[str, str], list[str]]:
        """The frame in a file of SPSS, Stata or SAS, the wording of its columns, and notes."""
        return read_statistics(self.content(), self.name, self.settings.sizes)

    def _header_place(self, rows: list[list[str]]) -> int | None:
        said = self.settings.header_row
        if said is not None:
            if not 1 <= said <= len(rows):
                raise InputError(
                    f"{self.name}: the header row {said} is not one of the {len(rows)} rows that "
                    "are not blank (the first is 1)."
                )
            return said - 1
        if self.settings.header is False:
            return None
        if self.kind in ("parquet", "stats"):
            return 0
        from hitsndiffs.reading.layouts.header import header_place

        found = header_place(rows[:HEAD_ROWS])
        return 0 if found is None and self.settings.header else found

    @cached_property
    def header_place(self) -> int | None:
        """The index of the header among the rows that are not blank (from 0), or None."""
        rows = [row for _, row in self.numbered_rows(None, HEAD_ROWS)]
        return self._header_place(rows)

    def table(self, sheet: str | None = None) -> Table:
        """Return the whole table; see :class:`hitsndiffs.reading.exports.base.Document`."""
        numbered = self.numbered_rows(sheet)
        above, header, rows = self._parted([row for _, row in numbered])
        width = max(widest(rows), filled(header))
        lines = [line for line, _ in numbered[len(numbered) - len(rows) :]]
        return Table(padded([header], width)[0], padded(rows, width), above, lines)

    def _parted(self, rows: list[list[str]]) -> tuple[list[list[str]], list[str], list[list[str]]]:
        """Return the rows above the header, the header, and the rows below it."""
        place = self._header_place(rows)
        if place is None:
            return [], [], rows
        return rows[:place], [cell.strip() for cell in rows[place]], rows[place + 1 :]

    # -- JSON -------------------------------------------------------------------------------

    def data(self) -> Any:
        """Return the whole value of a JSON file."""
        return jsontext.load(self.text(), self.name, limit=self.settings.sizes.memory)

    def records(self) -> Iterator[Any]:
        """Yield all records of JSONL, or all elements of a JSON list."""
        if self.kind == "parquet":
            yield from self.parquet.read().iter_rows(named=True)
            return
        if self.kind == "json":
            value = self.data()
            yield from value if isinstance(value, list) else [value]
            return
        for number, line in enumerate(io.StringIO(self.text(), newline=None), start=1):
            if line.strip():
                yield jsontext.load(line, self.name, line_number=number)

    # -- the beginning, and the neighbours --------------------------------------------------

    @cached_property
    def sample(self) -> Sample:
        """The beginning of the file."""
        kind = self.kind
        if kind in ("table", "sheets", "parquet", "stats"):
            first = [row[:HEAD_COLUMNS] for _, row in self.numbered_rows(None, HEAD_ROWS)]
            _, header, rows = self._parted(first)
            return Sample(kind, tuple(header), tuple(map(tuple, rows)), tuple(self.sheets))
        if kind in ("json", "jsonl"):
            records = jsontext.first_records(self._head_text, HEAD_RECORDS)
            return Sample(kind, records=tuple(records))
        if kind == "archive":
            return Sample(kind, members=tuple(self._archive.names))
        return Sample(kind, text=self._head_text)

    def members(self) -> list[Document]:
        """Return the files in an archive."""
        return [self._member(name) for name in self._archive.names]

    def member(self, name: str) -> Document | None:
        """Return one file of an archive."""
        there = self.kind == "archive" and name in self._archive.names
        return self._member(name) if there else None

    def _member(self, name: str) -> Document:
        archive, parts = self._archive, PurePosixPath(name).parts

        def neighbours() -> list[Document]:
            folder = str(PurePosixPath(name).parent)
            names = [n for n in archive.names if str(PurePosixPath(n).parent) == folder]
            return [self._member(n) for n in names]

        return FileDocument(
            lambda: io.BytesIO(archive.read(name)),
            parts[-1],
            (*self.folders, self.name, *parts[:-1]),
            self.settings,
            neighbours=neighbours,
        )

    def beside(self, pattern: str) -> list[Document]:
        """Return the other files in the same folder (or archive) that match a pattern."""
        if self._neighbours is not None:
            found = self._neighbours()
        elif self.path is not None:
            found = files_in(self.path.parent, self.folders[:-1], self.settings)
        else:
            found = []
        return [d for d in found if fnmatch.fnmatchcase(d.name, pattern) and d.name != self.name]


def _rows_of_frame(frame: Any) -> list[tuple[int, list[str]]]:
    """Return the names of the columns and the rows, numbered from 0."""
    return list(enumerate([list(frame.columns), *texts_of(frame)]))


# -- folders ----------------------------------------------------------------------------------


def open_document(path: Path, settings: Settings) -> FileDocument | FolderDocument:
    """Open a file or a folder."""
    try:
        if path.is_dir():
            return FolderDocument(path, (), settings)
    except (OSError, ValueError):
        pass  # opening it will say what is wrong
    above = (path.parent.name,) if path.parent.name else ()
    return _file(path, above, settings)


def _file(path: Path, folders: tuple[str, ...], settings: Settings) -> FileDocument:
    return FileDocument(partial(open_path, path), path.name, folders, settings, path=path)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "~$")) or name in ("__MACOSX", "Thumbs.db", "desktop.ini")


def files_in(folder: Path, above: tuple[str, ...], settings: Settings) -> list[Document]:
    """Return the files directly in a folder."""
    try:
        entries = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(
            f"{str(folder)!r}: the folder cannot be read ({error.strerror})."
        ) from None
    found: list[Document] = []
    for path in entries:
        if _is_hidden(path.name) or not path.is_file():
            continue
        document = _file(path, (*above, folder.name), settings)
        document.is_alone = False
        found.append(document)
    return found


class FolderDocument:
    """A folder, and the folders ``above`` it as far as the caller named them."""

    kind: Kind = "folder"

    def __init__(self, path: Path, above: tuple[str, ...], settings: Settings) -> None:
        self.path = path
        self.name = path.resolve().name if path.name in ("", ".", "..") else path.name
        self.folders = above
        self.settings = settings

    def files(self) -> list[Document]:
        """Return the files directly in this folder."""
        return files_in(self.path, self.folders, self.settings)

    def subfolders(self) -> list[FolderDocument]:
        """Return the folders directly in this folder (links are not followed)."""
        inner = [
            entry
            for entry in sorted(self.path.iterdir())
            if entry.is_dir() and not entry.is_symlink() and not _is_hidden(entry.name)
        ]
        return [FolderDocument(path, (*self.folders, self.name), self.settings) for path in inner]

    @cached_property
    def sample(self) -> Sample:
        """The names of all files, with their folders."""
        names = []
        for folder, folders, files in os.walk(self.path):
            folders[:] = sorted(name for name in folders if not _is_hidden(name))
            base = Path(folder).relative_to(self.path)
            names += [(base / name).as_posix() for name in sorted(files) if not _is_hidden(name)]
            if len(names) > 100_000:
                break
        return Sample("folder", members=tuple(names))

    def members(self) -> list[Document]:
        """Return all files, including those in subfolders."""
        found = self.files()
        for folder in self.subfolders():
            found += folder.members()
        return found

    def member(self, name: str) -> Document | None:
        """Return one file."""
        path = self.path.joinpath(*PurePosixPath(name).parts)
        if ".." in PurePosixPath(name).parts or not path.is_file():
            return None
        folders = (*self.folders, self.name, *PurePosixPath(name).parts[:-1])
        return _file(path, folders, self.settings)
