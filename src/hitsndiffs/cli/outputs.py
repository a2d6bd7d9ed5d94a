"""Files that a command writes: whether it can, and in which format. Also files of groups."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hitsndiffs.data.files import Writer, is_device, same_place
from hitsndiffs.data.formulas import without_formulas
from hitsndiffs.errors import InputError

__all__ = ["TABLES", "check_distinct", "check_target", "group_file", "read_groups", "table_writer"]

#: Endings of tables.
TABLES = (".csv", ".tsv", ".parquet", ".json")


def check_target(
    path: Path | None, option: str, read: Iterable[str] = (), endings: Sequence[str] = TABLES
) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Parameters
    ----------
    path
        The file to write; ``None`` if there is none.
    option
        The option that named it, for the message.
    read
        The files that are read, which must not be overwritten.
    endings
        The endings that the file may have; empty if any will do.
    """
    if path is None:
        return
    if endings and path.suffix.lower() not in endings and not is_device(path):
        raise InputError(
            f"{option} {path}: the ending says what to write, and it must be one of "
            f"{', '.join(endings)}; got {path.suffix or 'none'}."
        )
    if path.is_dir():
        raise InputError(f"{option} {path}: this is a folder; name a file in it.")
    folder = Path(os.path.realpath(path)).parent
    if not folder.is_dir():
        raise InputError(f"{option} {path}: there is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK) and not is_device(path):
        raise InputError(f"{option} {path}: the folder {folder} cannot be written to.")
    if any(os.path.exists(source) and same_place(path, source) for source in read):
        raise InputError(f"{option} {path}: this is the file that is read; name another one.")


def check_distinct(targets: Mapping[str, Path | None]) -> None:
    """Refuse two options that name the same file, by whatever spelling or link."""
    named = [(option, path) for option, path in targets.items() if path is not None]
    for place, (option, path) in enumerate(named):
        for other, there in named[:place]:
            if same_place(path, there):
                raise InputError(f"{other} and {option} both name {path}; give each its own file.")


def table_writer(frame: Any, path: Path, *, raw: bool = False) -> Writer:
    """Return a function that writes a Polars frame in the format of the file's ending.

    In CSV and TSV, cells that spreadsheets would run as formulas are escaped, unless ``raw``.
    """
    ending = path.suffix.lower()
    if ending == ".parquet":
        return lambda part: frame.write_parquet(part)
    if ending == ".json":
        return lambda part: frame.write_json(part)
    safe = frame if raw else without_formulas(frame)
    return lambda part: safe.write_csv(part, separator="\t" if ending == ".tsv" else ",")


def group_file(said: str | None) -> Path | None:
    """The file that ``--group`` names; None if it names a column or is not given."""
    named = said is not None and (os.path.isfile(said) or Path(said).suffix.lower() in TABLES)
    return Path(str(said)) if named else None


def read_groups(
    path: Path, option: str = "--group", what: str = "users and their groups"
) -> dict[str, str]:
    """Name → group, from the first two columns of a CSV or TSV file whose first row holds names."""
    import polars as pl

    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{option}: {path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{option}: {path}: this is not text in UTF-8.") from error
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        table = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InputError(f"{option}: {path}: expected two columns, {what}; {error}.") from error
    if table.width < 2:
        raise InputError(f"{option}: {path}: expected two columns, {what}; there is {table.width}.")
    names, groups = table.columns[:2]
    return dict(zip(table[names].to_list(), table[groups].to_list(), strict=True))
