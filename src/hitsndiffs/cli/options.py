"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "FILE",
    "METHOD",
    "OUTPUT",
    "Choice",
    "Debug",
    "Duplicates",
    "Engine",
    "File",
    "Format",
    "Header",
    "Item",
    "Json",
    "Layout",
    "Quiet",
    "Seed",
    "Threads",
    "Transpose",
    "User",
    "method_names",
]


def method_names(incomplete: str) -> list[str]:
    """Names of methods, for a shell that completes them."""
    from hitsndiffs.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]


FILE = "The file"
METHOD = "The method"
OUTPUT = "What comes out"

File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet or JSONL (also .gz); - reads standard input.",
        show_default=False,
    ),
]
User = Annotated[
    str | None,
    typer.Option("--user", metavar="NAME", help="Column of the users.", rich_help_panel=FILE),
]
Item = Annotated[
    str | None,
    typer.Option("--item", metavar="NAME", help="Column of the items.", rich_help_panel=FILE),
]
Choice = Annotated[
    str | None,
    typer.Option("--option", metavar="NAME", help="Column of the answers.", rich_help_panel=FILE),
]
Layout = Annotated[
    str | None,
    typer.Option(
        metavar="wide|long",
        help="One row per user (wide) or per answer (long); found out when not given.",
        rich_help_panel=FILE,
    ),
]
Transpose = Annotated[
    bool,
    typer.Option("--transpose", help="Rows are items, columns are users.", rich_help_panel=FILE),
]
Duplicates = Annotated[
    str,
    typer.Option(
        metavar="error|first|last",
        help="When a user answered an item twice, differently.",
        rich_help_panel=FILE,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        metavar="csv|tsv|parquet|jsonl",
        help="Found out from content and name when not given.",
        rich_help_panel=FILE,
    ),
]
Header = Annotated[
    bool | None,
    typer.Option(
        "--header/--no-header",
        help="Whether the first row holds names; found out when not given.",
        rich_help_panel=FILE,
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    typer.Option(metavar="N", help="For random starts (default 0).", rich_help_panel=METHOD),
]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="auto|numpy|threads",
        help="What does the sums: plain NumPy, or threads (auto: by the size).",
        rich_help_panel=METHOD,
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="How many threads (default: all cores).", rich_help_panel=METHOD
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Everything, as JSON.", rich_help_panel=OUTPUT)]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Nothing but the result.", rich_help_panel=OUTPUT),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show where an error came from.", rich_help_panel=OUTPUT),
]
