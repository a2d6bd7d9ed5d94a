"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = [
    "FILE",
    "METHOD",
    "OUTPUT",
    "Attempt",
    "Blank",
    "Choice",
    "Debug",
    "Drop",
    "Duplicates",
    "Encoding",
    "Engine",
    "Files",
    "Fold",
    "Format",
    "Header",
    "HeaderRow",
    "Item",
    "Items",
    "Json",
    "KeyRow",
    "Layout",
    "MaxMemory",
    "PlanFile",
    "Quiet",
    "Raw",
    "Scheduler",
    "Seed",
    "Separator",
    "Sheet",
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

Files = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE…",
        help="Tables (CSV, Excel, ODS, Parquet, JSONL), exports that 'hnd formats' lists, folders "
        "of them, also packed; - reads standard input.",
        show_default=False,
    ),
]
Items = Annotated[
    list[str] | None,
    typer.Option(
        "--items",
        metavar="GLOB",
        help="Only these items (q*, 'Q[1-9]'); may be given several times.",
        rich_help_panel=FILE,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop",
        metavar="GLOB",
        help="Leave these items out; may be given several times.",
        rich_help_panel=FILE,
    ),
]
KeyRow = Annotated[
    int | None,
    typer.Option(
        "--key-row", metavar="N", help="The row that holds the key (from 1).", rich_help_panel=FILE
    ),
]
HeaderRow = Annotated[
    int | None,
    typer.Option(
        "--header-row", metavar="N", help="The row of the names (from 1).", rich_help_panel=FILE
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option("--sheet", metavar="NAME", help="Sheet of a spreadsheet.", rich_help_panel=FILE),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Of a text: utf-8, cp1252, utf-16, …",
        rich_help_panel=FILE,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator", metavar="MARK", help="Between cells: ; , tab, …", rich_help_panel=FILE
    ),
]
Attempt = Annotated[
    str | None,
    typer.Option(
        "--attempt",
        metavar="first|last|best",
        help="Which attempt of a person counts (default: first).",
        rich_help_panel=FILE,
    ),
]
Blank = Annotated[
    list[str] | None,
    typer.Option(
        "--blank",
        metavar="WORD",
        help="What is no answer, instead of the usual words; may be given several times.",
        rich_help_panel=FILE,
    ),
]
Fold = Annotated[
    bool,
    typer.Option(
        "--fold/--no-fold",
        help="Whether b and B are one answer.",
        rich_help_panel=FILE,
        show_default=False,
    ),
]
PlanFile = Annotated[
    str | None,
    typer.Option(
        "--plan",
        metavar="FILE.json",
        help="Read as this plan says ('hnd check --json' writes one).",
        rich_help_panel=FILE,
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        "--max-memory",
        metavar="SIZE",
        help="How much may be held at once: 500MB, 4GB (default: half of the machine's).",
        rich_help_panel=FILE,
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
        metavar="NAME",
        help="One that 'hnd formats' lists, or csv, tsv, xlsx, parquet, jsonl for plain tables.",
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
        metavar="auto|numpy|threads|cupy|dask",
        help="What does the sums: NumPy, threads (auto: by the size), a GPU, a cluster.",
        rich_help_panel=METHOD,
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        metavar="tcp://HOST:PORT",
        help="A Dask cluster to work on (--engine dask; without it, this machine).",
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
Raw = Annotated[
    bool,
    typer.Option(
        "--raw",
        help="Leave cells of CSV and TSV that look like formulas as they are (for programs).",
        rich_help_panel=OUTPUT,
    ),
]
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show where an error came from.", rich_help_panel=OUTPUT),
]
