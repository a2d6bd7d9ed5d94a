"""How a command declares its options, and the options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "METHOD",
    "OUTPUT",
    "CompareGroups",
    "Debug",
    "Engine",
    "Explain",
    "Json",
    "Key",
    "Quiet",
    "Raw",
    "Sections",
    "Seed",
    "Table",
    "Threads",
    "method_option",
    "option",
    "spread",
]

#: Headings in the help.
METHOD = "The method"
OUTPUT = "What comes out"

_KEYWORD = inspect.Parameter.KEYWORD_ONLY


def option(
    metavar: str, help: str | None = None, *names: str, panel: str | None = None, **more: Any
) -> Any:
    """Describe an option: what stands for its value (a flag has none), and what it does.

    Parameters
    ----------
    metavar, help
        What the help shows.
    names
        What is typed, if not the name of the parameter.
    panel
        The heading in the help.
    more
        Further settings of ``typer.Option``.
    """
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel, **more)


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the fields of its dataclasses as options, and ``--debug``.

    In the command's help, the fields appear where the dataclass is among the parameters.
    ``--debug`` is for :mod:`hitsndiffs.cli.outcome`, which shows the errors of all commands.
    """
    own = inspect.signature(command, eval_str=True).parameters
    leaves = [leaf for parameter in own.values() for leaf in _leaves(parameter)]
    if "debug" not in own:
        debug = inspect.Parameter("debug", _KEYWORD, default=False, annotation=Debug)
        leaves.append(debug)

    @wraps(command)
    def with_options(**given: Any) -> None:
        command(**{name: _filled(parameter, given) for name, parameter in own.items()})

    with_options.__signature__ = inspect.Signature(leaves)  # type: ignore[attr-defined]
    with_options.__annotations__ = {leaf.name: leaf.annotation for leaf in leaves}
    return with_options


def _leaves(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """The options that a parameter stands for."""
    if not is_dataclass(parameter.annotation):
        return [parameter.replace(kind=_KEYWORD)]
    return [leaf for field in _fields(parameter.annotation) for leaf in _leaves(field)]


def _filled(parameter: inspect.Parameter, given: dict[str, Any]) -> Any:
    """The value of a parameter, from the options given."""
    if not is_dataclass(parameter.annotation):
        return given[parameter.name]
    kind: Any = parameter.annotation
    return kind(**{field.name: _filled(field, given) for field in _fields(kind)})


def _fields(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    found = inspect.signature(kind).parameters.values()
    return [field.replace(annotation=hints[field.name]) for field in found]


def method_option(help: str, **more: Any) -> Any:
    """The option ``--method``, with the methods' names for shells that complete words."""

    def names(incomplete: str) -> list[str]:
        from hitsndiffs.methods import METHODS

        return [name for name in METHODS if name.startswith(incomplete)]

    return option("NAME", help, "--method", "-m", autocompletion=names, **more)


Key = Annotated[
    str | None,
    option("FILE", "An answer key, which may have errors (columns item, answer; several as A;C)."),
]
Seed = Annotated[int | None, option("N", "For random starts (default 0).", panel=METHOD)]
Engine = Annotated[
    str | None,
    option(
        "NAME",
        "What computes: auto, numpy or threads (auto: by size), cupy (a GPU), dask (a cluster).",
        panel=METHOD,
    ),
]
Threads = Annotated[int | None, option("N", "How many threads (default: all cores).", panel=METHOD)]
Sections = Annotated[
    str | None,
    option(
        "COLUMN|FILE|names",
        "The section of each item (a file: columns item, section; 'names': by what is before the "
        "number in an item's name): sub-scores, and whether they add anything.",
        panel=OUTPUT,
    ),
]
CompareGroups = Annotated[
    str | None,
    option(
        "COLUMN|FILE",
        "Groups of users to compare (a file: columns user, group): items harder for one of two.",
        panel=OUTPUT,
    ),
]
Table = Annotated[
    Path | None,
    option(
        "FILE",
        "Write the table: .csv, .tsv, .parquet or .json (--engine dask: a folder).",
        "--out",
        "-o",
    ),
]
Explain = Annotated[
    bool, option("", "Say how it was found, and what goes without saying.", "--explain")
]
Json = Annotated[bool, option("", "Everything, as JSON.", "--json", panel=OUTPUT)]
Quiet = Annotated[bool, option("", "Nothing but the result.", "--quiet", "-q", panel=OUTPUT)]
Raw = Annotated[
    bool,
    option(
        "",
        "Leave cells of CSV and TSV that look like formulas as they are (for programs).",
        "--raw",
        panel=OUTPUT,
    ),
]
Debug = Annotated[bool, option("", "Show where an error came from.", "--debug", panel=OUTPUT)]
