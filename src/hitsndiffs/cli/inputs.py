"""What the commands read: files of responses, and how to read them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from hitsndiffs.cli.flags import (
    Attempt,
    Blank,
    Choice,
    Drop,
    Duplicates,
    Encoding,
    Files,
    Fold,
    Format,
    Header,
    HeaderRow,
    Item,
    Items,
    KeyRow,
    Layout,
    MaxMemory,
    PlanFile,
    Separator,
    Sheet,
    Transpose,
    User,
)
from hitsndiffs.data.progress import working

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.reading import Plan

__all__ = ["Source", "reads_file"]


@dataclass(frozen=True)
class Source:
    """Files of responses, and the options for reading them.

    Its fields are the argument and options of the commands that read files (:func:`reads_file`).
    """

    paths: Files
    user: User = None
    item: Item = None
    option: Choice = None
    items: Items = None
    drop: Drop = None
    key_row: KeyRow = None
    header_row: HeaderRow = None
    header: Header = None
    sheet: Sheet = None
    layout: Layout = None
    transpose: Transpose = False
    attempt: Attempt = None
    duplicates: Duplicates = "error"
    format: Format = None
    encoding: Encoding = None
    separator: Separator = None
    blank: Blank = None
    fold: Fold = True
    plan: PlanFile = None
    max_memory: MaxMemory = None

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
        for option in fields(self)[1:]:  # all but the paths
            value = getattr(self, option.name)
            if value != option.default and value != []:
                found["blanks" if option.name == "blank" else option.name] = value
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


def reads_file(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options for reading files, which it gets as one ``source``.

    In the command's help, the options appear where ``source`` is among its parameters.
    """
    hints = get_type_hints(Source, include_extras=True)
    fields = [
        p.replace(kind=p.KEYWORD_ONLY, annotation=hints[p.name])
        for p in inspect.signature(Source).parameters.values()
    ]
    names = [field.name for field in fields]

    @wraps(command)
    def with_options(**given: Any) -> None:
        source = Source(**{name: given.pop(name) for name in names})
        command(source=source, **given)

    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    for p in signature.parameters.values():
        own = p.replace(kind=p.KEYWORD_ONLY)
        parameters += fields if p.name == "source" else [own]
    with_options.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    with_options.__annotations__ = {p.name: p.annotation for p in parameters}
    return with_options
