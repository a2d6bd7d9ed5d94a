"""Folders, and the files in them, as documents."""

from __future__ import annotations

import os
from functools import cached_property, partial
from pathlib import Path, PurePosixPath

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Document, Kind, Sample
from hitsndiffs.reading.files.documents import FileDocument, Settings
from hitsndiffs.reading.files.source import open_path

__all__ = ["FolderDocument", "files_in", "open_document"]


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
