"""Files that are pieces of one table: the same header, one below the other.

A folder of a thousand small files of one test is then read as one file, in a fraction of the time.
Files that differ in any way are read one by one.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.documents import FileDocument
from hitsndiffs.reading.files.source import ByteStream, transcoded
from hitsndiffs.reading.tables.frames import Parquet
from hitsndiffs.reading.vocabulary import is_key_name, is_summary_name

__all__ = ["TogetherDocument", "together"]

#: Lines at either end of a file that could be a key, a sum or a remark.
_EDGE = 3
#: Bytes at the end of a large file that hold its last lines.
_TAIL = 1 << 16


def together(files: Sequence[Any]) -> TogetherDocument | None:
    """Return the one table that the files are pieces of, if they are."""
    if any(file.path is None for file in files):
        return None  # streams can be read only once, and the files may have to be read one by one
    try:
        kinds = {file.kind for file in files}
        if kinds == {"parquet"}:
            schemas = (dict(file.parquet.head.schema) for file in files)
            first = next(schemas)
            same = all(list(own.items()) == list(first.items()) for own in schemas)
        elif kinds == {"table"}:
            first_line = files[0].first_line
            shape, place = files[0].shape, files[0].header_place
            same = place == 0 and not shape.skip and shape.separator != " "
            same = same and all(
                file.first_line == first_line and _is_plain(file, shape.separator) for file in files
            )
        else:
            return None
    except (InputError, OSError, ValueError):
        return None
    return TogetherDocument(files) if same else None


class TogetherDocument(FileDocument):
    """Several files with the same header as one file."""

    def __init__(self, files: Sequence[FileDocument]) -> None:
        first = files[0]
        super().__init__(
            lambda: io.BytesIO(), f"{len(files):,} files", first.folders, first.settings
        )
        self.files = files
        self.is_alone = True

    def stream(self) -> Any:
        """Open the bytes: those of the first file, then the others without their headers."""
        pieces = iter([b"PAR1"]) if self.files[0].kind == "parquet" else self._pieces()
        sizes = self.settings.sizes
        return nullcontext(ByteStream(lambda _size: next(pieces, b""), self.name, sizes=sizes))

    @cached_property
    def parquet(self) -> Parquet:
        """The Parquet files, which have been tried one by one."""
        return Parquet(
            [file.path for file in self.files if file.path], self.name, self.settings.sizes
        )

    def _pieces(self) -> Iterator[bytes]:
        size = self.settings.sizes.chunk
        for number, file in enumerate(self.files):
            with file.stream() as opened:
                stream = transcoded(opened, file.encoding)
                last = b"\n"
                skip = number > 0  # the header of every file but the first
                while data := stream.read(size):
                    if skip:
                        _, end, data = data.partition(b"\n")
                        skip = not end
                    if data:
                        last = data
                        yield data
                if not last.endswith(b"\n"):
                    yield b"\n"


def _is_plain(file: FileDocument, separator: str) -> bool:
    """Whether the first and last lines are rows of the table, and none is a key or a sum."""
    lines = file._head_text.splitlines()
    if not file.is_whole:
        if file.path is None or file.path.suffix.lower() in (".gz", ".zst"):
            return False
        with file.path.open("rb") as opened:
            opened.seek(-_TAIL, io.SEEK_END)
            lines = [*lines[: _EDGE + 1], *opened.read().decode(file.encoding).splitlines()[1:]]
    header, rows = lines[0], lines[1:]
    for row in [*rows[:_EDGE], *rows[-_EDGE:]]:
        names = row.split(separator)
        if len(names) != len(header.split(separator)) or '"' in row:
            return False
        if any(is_key_name(name) or is_summary_name(name) for name in names[:_EDGE]):
            return False
    return bool(rows)
