"""The exports that are recognised, one small file each; the more specific ones come first."""

from __future__ import annotations

from hitsndiffs.reading.formats.base import Format

__all__ = ["FORMATS", "find_format"]

FORMATS: tuple[Format, ...] = ()


def find_format(name: str) -> Format | None:
    """Return the format of that name."""
    return next((format for format in FORMATS if format.name == name), None)
