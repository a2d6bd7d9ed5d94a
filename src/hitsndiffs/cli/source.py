"""What the commands read: a file of responses, and how it is to be read."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, get_type_hints

from hitsndiffs.cli.options import (
    Choice,
    Duplicates,
    File,
    Format,
    Header,
    Item,
    Layout,
    Transpose,
    User,
)
from hitsndiffs.data.progress import working

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.reading import FileKind

__all__ = ["Source", "reads_file"]


@dataclass(frozen=True)
class Source:
    """A file of responses, and what the user said about it.

    Its fields are the argument and options of the commands that read one (:func:`reads_file`).
    """

    path: File
    user: User = None
    item: Item = None
    option: Choice = None
    layout: Layout = None
    transpose: Transpose = False
    duplicates: Duplicates = "error"
    format: Format = None
    header: Header = None

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
        with working(f"Reading {self.name}", quiet=quiet, told=True):
            return read_file(
                self.path,
                transpose=self.transpose,
                duplicates=self.duplicates,
                **{name: value for name, value in said.items() if value is not None},
            )


def reads_file(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take the options of a file, and get them as one ``source``.

    In the command's help, the options stand where ``source`` stands among its parameters.
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
