"""Files out: whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from hitsndiffs.errors import InputError

__all__ = ["TABLES", "check_target", "table_writer", "write_whole"]

#: Endings of tables.
TABLES = (".csv", ".tsv", ".parquet", ".json")


def check_target(path: Path, option: str, source: str | None = None) -> None:
    """Refuse a file that cannot be written, before any work is done.

    Parameters
    ----------
    path
        What the user asked for.
    option
        The option that named it, for the message.
    source
        The file that is read, which is not to be overwritten.
    """
    if path.suffix.lower() not in TABLES and not _is_device(path):
        raise InputError(
            f"{option} {path}: the ending says what to write, and it must be one of "
            f"{', '.join(TABLES)}; got {path.suffix or 'none'}."
        )
    if path.is_dir():
        raise InputError(f"{option} {path}: this is a folder; name a file in it.")
    folder = path.resolve().parent
    if not folder.is_dir():
        raise InputError(f"{option} {path}: there is no folder {folder}; make it first.")
    if not os.access(folder, os.W_OK) and not _is_device(path):
        raise InputError(f"{option} {path}: the folder {folder} cannot be written to.")
    if source is not None and _same(path, source):
        raise InputError(f"{option} {path}: this is the file that is read; name another one.")


def table_writer(frame: Any, path: Path) -> Callable[[Path], None]:
    """Return what writes a Polars frame in the format of a file's ending."""

    def write(part: Path) -> None:
        if path.suffix.lower() == ".parquet":
            frame.write_parquet(part)
        elif path.suffix.lower() == ".json":
            frame.write_json(part)
        else:
            frame.write_csv(part, separator="\t" if path.suffix.lower() == ".tsv" else ",")

    return write


def write_whole(files: Mapping[Path, Callable[[Path], None]]) -> None:
    """Write some files: each beside its place first, and moved there when all are complete."""
    parts: dict[Path, Path] = {}
    try:
        for path, write in files.items():
            if _is_device(path):
                write(path)
                continue
            place = path.resolve()
            parts[place] = place.with_name(f".{place.name}.{uuid.uuid4().hex[:8]}.part")
            write(parts[place])
        for place, part in parts.items():
            part.replace(place)
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


def _same(path: Path, source: str) -> bool:
    return path.exists() and os.path.exists(source) and os.path.samefile(path, source)


def _is_device(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()
