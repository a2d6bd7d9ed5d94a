"""Files to :class:`hitsndiffs.Responses`, and answer keys to dictionaries."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, NamedTuple

from hitsndiffs.data.encoding.long import DUPLICATES
from hitsndiffs.data.progress import working
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.reading.build import (
    FileTable,
    build_long,
    build_transposed,
    build_wide,
    find_layout,
)
from hitsndiffs.reading.delimited import DelimitedTable
from hitsndiffs.reading.key import read_key
from hitsndiffs.reading.parquet import ParquetTable
from hitsndiffs.reading.records import RecordsTable
from hitsndiffs.reading.source import ByteStream, open_stream

__all__ = ["FORMATS", "FileKind", "read_file", "read_key", "read_responses"]

FORMATS = ("csv", "tsv", "parquet", "jsonl")
LAYOUTS = ("auto", "wide", "long")

_SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
}


def read_responses(
    source: Any,
    *,
    layout: str = "auto",
    format: str | None = None,
    header: bool | str = "auto",
    user: str | None = None,
    item: str | None = None,
    option: str | None = None,
    transpose: bool = False,
    duplicates: str = "error",
) -> Responses:
    r"""Read who chose what from a file.

    Parameters
    ----------
    source
        A path, ``"-"`` for standard input, or a file object (binary or text).
    layout
        ``"wide"`` (one row per user, one column per item), ``"long"`` (one row per answer), or
        ``"auto"``: long when the columns user, item and option are recognised by their names.
    format
        ``"csv"``, ``"tsv"``, ``"parquet"`` or ``"jsonl"``; found out from the content and the
        ending of the name when not given. CSV, TSV and JSONL may be packed with gzip.
    header
        Whether the first row of a CSV or TSV file holds names; ``"auto"`` to find out.
    user, item, option
        The columns that hold them; recognised by their names when not given.
    transpose
        Whether the file is wide with one row per item and one column per user.
    duplicates
        For long files, what to do when a user gave two different answers to one item:
        ``"error"``, ``"first"`` or ``"last"``.

    Returns
    -------
    Responses
        With all labels as text, and notes on everything that was assumed or left out.

    Examples
    --------
    >>> import io
    >>> r = read_responses(io.StringIO("student,q1,q2\nann,A,B\nbob,A,C\n"))
    >>> r.users.tolist(), r.option_labels.tolist()
    (['ann', 'bob'], ['A', 'B', 'C'])
    >>> r.notes
    ("Recognised 'student' as the user column.",)
    """
    responses, _ = read_file(
        source,
        layout=layout,
        format=format,
        header=header,
        user=user,
        item=item,
        option=option,
        transpose=transpose,
        duplicates=duplicates,
    )
    return responses


class FileKind(NamedTuple):
    """What a file turned out to be: its format, and ``wide``, ``long`` or ``transposed``."""

    format: str
    layout: str


def read_file(
    source: Any,
    *,
    layout: str = "auto",
    format: str | None = None,
    header: bool | str = "auto",
    user: str | None = None,
    item: str | None = None,
    option: str | None = None,
    transpose: bool = False,
    duplicates: str = "error",
) -> tuple[Responses, FileKind]:
    r"""Do what :func:`read_responses` does, and say what kind of file it was.

    Examples
    --------
    >>> import io
    >>> read_file(io.StringIO("worker,task,label\na,1,x\nb,1,x\n"))[1]
    FileKind(format='csv', layout='long')
    """
    _check_choice("layout", layout, LAYOUTS)
    _check_choice("duplicates", duplicates, DUPLICATES)
    if format is not None:
        _check_choice("format", format, FORMATS)
    if header not in (True, False, "auto"):
        raise InputError(f"header must be True, False or 'auto'; got {header!r}.")
    if transpose and layout == "long":
        raise InputError("transpose=True is for wide files; a long file has no rows to turn.")
    with open_stream(source) as stream, working(f"Reading {stream.name}"):
        format = format or _find_format(stream)
        table = _open_table(stream, format, None if header == "auto" else bool(header))
        given = {"user": user, "item": item, "option": option}
        if transpose:
            layout, encoded = "transposed", build_transposed(table, item)
        elif (find_layout(table, given) if layout == "auto" else layout) == "long":
            layout, encoded = "long", build_long(table, given, duplicates)
        else:
            layout, encoded = "wide", build_wide(table, user)
    return Responses._from_encoded(encoded), FileKind(format, layout)


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}; got {value!r}.")


def _open_table(stream: ByteStream, format: str, header: bool | None) -> FileTable:
    if format == "parquet":
        return ParquetTable(stream)
    if format == "jsonl":
        return RecordsTable(stream, array=_first_character(stream) == b"[")
    return DelimitedTable(stream, "\t" if format == "tsv" else ",", header)


def _find_format(stream: ByteStream) -> str:
    """Return the format: content that cannot be mistaken first, then the ending, then a look."""
    if stream.peek(4) == b"PAR1":
        return "parquet"
    suffixes = [suffix.lower() for suffix in PurePath(stream.name).suffixes]
    if suffixes[-1:] == [".gz"]:
        suffixes.pop()
    if suffixes and suffixes[-1] in _SUFFIXES:
        return _SUFFIXES[suffixes[-1]]
    if _first_character(stream) in (b"{", b"["):
        return "jsonl"
    line = stream.peek(1 << 16).lstrip().partition(b"\n")[0]
    return "tsv" if line.count(b"\t") > line.count(b",") else "csv"


def _first_character(stream: ByteStream) -> bytes:
    return stream.peek(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
