"""Commands without Pydantic, and whose help and errors speak of no Python types.

Typer converts every parameter with Pydantic, also those that were left out and those that are text
to begin with; importing it takes longer than ranking a small file. It also calls a flag ``<bool>``
and a file name ``<str>``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from typer.core import TyperCommand, TyperGroup

from hitsndiffs.errors import InputError

__all__ = ["Command", "Group"]

#: What is converted here, and what to call it.
KINDS: dict[type, tuple[Callable[[str], Any], str]] = {
    str: (str, "a text"),
    int: (int, "a whole number"),
    float: (float, "a number"),
    Path: (Path, "a file"),
}


class _Lean:
    """A command whose parameters are converted here where they can be."""

    def get_params(self, context: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(context)  # type: ignore[misc]
        for parameter in parameters:
            if not isinstance(parameter.process_value, partial):
                convert = parameter.process_value
                parameter.process_value = partial(_process, parameter, convert)
                _hide_type(parameter)
        return parameters


class Command(_Lean, TyperCommand):
    """One command."""


class Group(_Lean, TyperGroup):
    """All commands."""


def _process(parameter: Any, convert: Any, context: Any, value: Any) -> Any:
    # older versions of Typer describe their types otherwise, and need no Pydantic
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    single = parameter.nargs == 1 and not parameter.multiple
    if kind == list[str] and value and all(isinstance(text, str) for text in value):
        return list(value)
    if kind == list[str] and not value and not parameter.required:
        return None
    easy = not parameter.required if value is None else kind in KINDS
    if not (single and easy):
        return convert(context, value)
    if isinstance(value, str):
        value = _converted(parameter, kind, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def _converted(parameter: Any, kind: Any, value: str) -> Any:
    make, what = KINDS[kind]
    try:
        return make(value)
    except ValueError:
        raise InputError(f"{parameter.opts[0]} takes {what}; got {value!r}.") from None


def _hide_type(parameter: Any) -> None:
    """Show no type where the name says it all: flags, and arguments."""
    if parameter.param_type_name == "argument":
        parameter.display_type = lambda _: ""
    elif getattr(parameter, "is_flag", False):
        parameter.metavar = ""
