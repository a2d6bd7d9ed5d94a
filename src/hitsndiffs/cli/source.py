"""What the commands read: files of responses, and how to read them."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.text import note
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.surprising import SurprisinglyPopular

__all__ = ["Source", "file_named"]


@dataclass(frozen=True)
class Source:
    """Files of responses, and the options for reading them."""

    paths: list[str]
    user: str | None = None
    item: str | None = None
    option: str | None = None
    items: list[str] | None = None
    drop: list[str] | None = None
    key_row: int | None = None
    header_row: int | None = None
    header: bool | None = None
    sheet: str | None = None
    layout: str | None = None
    transpose: bool = False
    attempt: str | None = None
    duplicates: str = "error"
    format: str | None = None
    encoding: str | None = None
    separator: str | None = None
    blank: list[str] | None = None
    fold: bool = True
    plan: str | None = None
    max_memory: str | None = None

    @property
    def path(self) -> str:
        """The first file."""
        return self.paths[0]

    @property
    def name(self) -> str:
        """What to call the files in a sentence."""
        first = "standard input" if self.path == "-" else self.path
        return first if len(self.paths) == 1 else f"{first} and {len(self.paths) - 1} more"

    @property
    def said(self) -> dict[str, Any]:
        """The options that were given, by the library's names."""
        found = {}
        for field in fields(self)[1:]:  # all but the paths
            value = getattr(self, field.name)
            if value != field.default and value != []:
                found["blanks" if field.name == "blank" else field.name] = value
        return found

    def item_groups(self, said: str, option: str) -> dict[str, str] | str:
        """What belongs together: a file (item, group), a column of the answers, or ``names``."""
        from hitsndiffs.reading.beside import item_groups, two_columns

        path = file_named(said)
        if path is not None:
            return two_columns(path, option, "items and what they belong to")
        return said if said == "names" else item_groups(self.paths, self.said, said)

    def surprising(self, votes: Responses, predicted: str) -> SurprisinglyPopular:
        """The surprisingly popular answers, by a column of what users think others will answer."""
        from hitsndiffs.reading import read_responses
        from hitsndiffs.results.surprising import surprisingly_popular

        if self.option is None:
            raise InputError(
                "--predicted needs to know which column holds the users' own answers; name it "
                "with --option."
            )
        foreseen = read_responses(self.paths, **{**self.said, "option": predicted})
        return surprisingly_popular(votes, foreseen)

    def user_groups(self, said: str, option: str) -> dict[str, str]:
        """Who belongs together: a file (user, group), or a column of the answers."""
        from hitsndiffs.reading.beside import two_columns, user_groups

        path = file_named(said)
        if path is not None:
            return two_columns(path, option, "users and their groups")
        return user_groups(self.paths, self.said, said)

    def key(self, said: str | None, r: Responses, *, quiet: bool = False) -> Any:
        """The key in a file, or else the one that came with the answers, if any."""
        if said is None:
            return r.key
        from hitsndiffs.reading import read_key

        found = read_key(said, r)
        note(found.notes, quiet=quiet)
        return found

    def read(self, *, quiet: bool = False) -> Responses:
        """Read the files."""
        return self.read_with_plan(quiet=quiet)[0]

    def read_with_plan(
        self, *, quiet: bool = False, group: str | None = None
    ) -> tuple[Responses, Plan]:
        """Read the files (with the column of the groups, if named); also return the plan."""
        from hitsndiffs.reading import read_file

        source = self.path if len(self.paths) == 1 else self.paths
        with working(f"Reading {self.name}", quiet=quiet, told=True):
            said = self.said if group is None else {**self.said, "group": group}
            return read_file(source, **said)


def file_named(said: str) -> Path | None:
    """The file that an option names; ``None`` if it names a column."""
    tables = (".csv", ".tsv", ".parquet", ".json")
    return Path(said) if os.path.isfile(said) or Path(said).suffix.lower() in tables else None
