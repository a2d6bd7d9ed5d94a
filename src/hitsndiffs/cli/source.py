"""What the commands read: a file of responses, and how it is to be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hitsndiffs.progress import working

if TYPE_CHECKING:
    from hitsndiffs.reading import FileKind
    from hitsndiffs.responses import Responses

__all__ = ["Source"]


@dataclass(frozen=True)
class Source:
    """A file of responses, and what the user said about it."""

    path: str
    user: str | None = None
    item: str | None = None
    option: str | None = None
    layout: str | None = None
    transpose: bool = False
    duplicates: str = "error"
    format: str | None = None
    header: bool | None = None

    @property
    def name(self) -> str:
        """What to call it in a sentence."""
        return "standard input" if self.path == "-" else self.path

    def read(self, *, quiet: bool = False) -> Responses:
        """Read it."""
        return self.read_with_kind(quiet=quiet)[0]

    def read_with_kind(self, *, quiet: bool = False) -> tuple[Responses, FileKind]:
        """Read it, and say what kind of file it was."""
        from hitsndiffs.reading import read_file

        said: dict[str, Any] = {
            "user": self.user,
            "item": self.item,
            "option": self.option,
            "layout": self.layout,
            "format": self.format,
            "header": self.header,
        }
        with working(f"Reading {self.name}", quiet=quiet):
            return read_file(
                self.path,
                transpose=self.transpose,
                duplicates=self.duplicates,
                **{name: value for name, value in said.items() if value is not None},
            )
