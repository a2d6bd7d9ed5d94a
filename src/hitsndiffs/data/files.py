"""Files out: whole or not at all."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

__all__ = ["is_device", "write_whole"]


def write_whole(files: Mapping[Path, Callable[[Path], None]]) -> None:
    """Write some files: each beside its place first, and moved there when all are complete.

    Parameters
    ----------
    files
        Path → what writes to the path that it is given.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "greeting.txt"
    ...     write_whole({path: lambda part: print(part.write_text("hello"))})
    ...     path.read_text()
    5
    'hello'
    """
    parts: dict[Path, Path] = {}
    try:
        for path, write in files.items():
            if is_device(path):
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


def is_device(path: Path) -> bool:
    """Whether a path is something to write into, but no file (``/dev/stdout``)."""
    return path.exists() and not path.is_file() and not path.is_dir()
