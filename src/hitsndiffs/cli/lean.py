"""Commands that convert only what was given, and whose help speaks of no Python types.

Typer converts every parameter with Pydantic, also those that were left out and those that are text
to begin with; importing Pydantic takes longer than ranking a small file. And it calls a flag
``<bool>`` and a file name ``<str>``.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup

__all__ = ["Command", "Group"]


class _Lean:
    """A command whose parameters are left as they are where there is nothing to convert."""

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
    left_out = value is None and not parameter.required and not parameter.multiple
    as_it_is = left_out or (isinstance(value, str) and _is_text(parameter))
    if not as_it_is or parameter.nargs != 1:
        return convert(context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def _is_text(parameter: Any) -> bool:
    """Whether a parameter takes any text (older versions of Typer need no Pydantic, nor this)."""
    descriptor = getattr(parameter, "type_descriptor", None)
    return getattr(descriptor, "annotation", None) is str


def _hide_type(parameter: Any) -> None:
    """Show no type where the name says it all: flags, and arguments."""
    if parameter.param_type_name == "argument":
        parameter.display_type = lambda _: ""
    elif getattr(parameter, "is_flag", False):
        parameter.metavar = ""
