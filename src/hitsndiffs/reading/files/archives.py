"""Zip archives in memory, also with Zstandard members; the unpacked size is limited."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import PurePosixPath
from typing import Any

from hitsndiffs.errors import InputError

__all__ = ["Archive", "is_workbook", "unpack_zstd"]

_ZSTD_METHOD = 93


def is_workbook(names: list[str]) -> bool:
    """Whether the members of a zip are those of a spreadsheet (.xlsx, .xlsb, .ods)."""
    there = set(names)
    if "[Content_Types].xml" in there:
        return any(name.startswith("xl/") for name in there)
    return "mimetype" in there and "content.xml" in there


class Archive:
    """A zip archive; the members that are read may unpack to at most ``limit`` bytes in all."""

    def __init__(self, data: bytes, name: str, limit: int) -> None:
        self._data = data
        self._name = name
        self._limit = limit
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            members = self._zip.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise self._damaged(error) from None
        # if names repeat, the last one counts
        self._members = {
            member.filename: member
            for member in members
            if member.filename and not member.is_dir() and not _is_hidden(member.filename)
        }
        self.names = list(self._members)
        self._unpacked: dict[str, int] = {}

    def read(self, name: str) -> bytes:
        """Return the bytes of a member."""
        member = self._members[name]
        room = self._limit - sum(n for other, n in self._unpacked.items() if other != name)
        if member.flag_bits & 1:
            raise InputError(
                f"{self._name}: {name!r} in the archive is encrypted; unpack it first."
            )
        try:
            if member.compress_type == _ZSTD_METHOD:
                data = unpack_zstd(self._raw(member), f"{self._name}/{name}", room)
            else:
                with self._zip.open(member) as file:
                    data = file.read(room + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            OSError,
            EOFError,
            ValueError,
            NotImplementedError,
            struct.error,
        ) as error:
            raise self._damaged(error) from None
        if len(data) > room:
            raise too_large(f"{self._name}/{name}", self._limit)
        self._unpacked[name] = len(data)
        return data

    def _raw(self, member: zipfile.ZipInfo) -> bytes:
        """Return a member's bytes as stored (still packed)."""
        header = self._data[member.header_offset : member.header_offset + 30]
        n_name, n_extra = struct.unpack("<HH", header[26:30])
        begin = member.header_offset + 30 + n_name + n_extra
        return self._data[begin : begin + member.compress_size]

    def _damaged(self, error: Exception) -> InputError:
        reason = str(error).strip().rstrip(".")[:200]
        return InputError(
            f"{self._name}: the zip archive is damaged or cut short ({reason}); copy or pack it "
            "again."
        )


def _is_hidden(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return not parts or parts[0] == "__MACOSX" or parts[-1].startswith(("._", ".DS_Store"))


def too_large(name: str, limit: int) -> InputError:
    """Return the error for content that exceeds the limit."""
    return InputError(
        f"{name}: the content is larger than the memory limit allows ({limit / 2**20:,.0f} MiB); "
        "raise the limit if the machine has more memory."
    )


def unpack_zstd(data: bytes, name: str, limit: int) -> bytes:
    """Unpack consecutive Zstandard frames."""
    module = zstandard(name)
    parts, size = [], 0
    try:
        with module.ZstdDecompressor().stream_reader(
            io.BytesIO(data), read_across_frames=True
        ) as reader:
            while piece := reader.read(1 << 20):
                size += len(piece)
                if size > limit:
                    raise too_large(name, limit)
                parts.append(piece)
    except module.ZstdError as error:
        raise InputError(f"{name}: the zstd data are damaged or cut short ({error}).") from None
    return b"".join(parts)


def zstandard(name: str) -> Any:
    """Return the module that unpacks Zstandard."""
    try:
        import zstandard as module
    except ImportError:
        raise InputError(
            f"{name}: this is packed with zstd: pip install zstandard, or unpack it first."
        ) from None
    return module
