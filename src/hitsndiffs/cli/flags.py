"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    "Table",
    "Threads",
    "Transpose",
    "User",
    "method_names",
    "option",
]


def option(
    *names: str, help: str | None = None, metavar: str = "", panel: str | None = None, **more: Any
) -> Any:
    """Describe an option; flags have no ``metavar``, and the help shows none."""
    return typer.Option(*names, help=help, metavar=metavar, rich_help_panel=panel, **more)


def method_names(incomplete: str) -> list[str]:
    """Names of methods, for shell completion."""
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
    option(
        "--items",
        metavar="GLOB",
        help="Only these items (q*, 'Q[1-9]'); may be given several times.",
        panel=FILE,
    ),
]
Drop = Annotated[
    list[str] | None,
    option(
        "--drop",
        metavar="GLOB",
        help="Leave these items out; may be given several times.",
        panel=FILE,
    ),
]
KeyRow = Annotated[
    int | None,
    option("--key-row", metavar="N", help="The row that holds the key (from 1).", panel=FILE),
]
HeaderRow = Annotated[
    int | None,
    option("--header-row", metavar="N", help="The row with the names (from 1).", panel=FILE),
]
Sheet = Annotated[
    str | None,
    option("--sheet", metavar="NAME", help="Sheet of a spreadsheet.", panel=FILE),
]
Encoding = Annotated[
    str | None,
    option(
        "--encoding",
        metavar="NAME",
        help="Text encoding: utf-8, cp1252, utf-16, …",
        panel=FILE,
    ),
]
Separator = Annotated[
    str | None,
    option("--separator", metavar="MARK", help="Between cells: ; , tab, …", panel=FILE),
]
Attempt = Annotated[
    str | None,
    option(
        "--attempt",
        metavar="first|last|best",
        help="Which attempt of a person counts (default: first).",
        panel=FILE,
    ),
]
Blank = Annotated[
    list[str] | None,
    option(
        "--blank",
        metavar="WORD",
        help="Text that means 'no answer', replacing the usual words; may be given several times.",
        panel=FILE,
    ),
]
Fold = Annotated[
    bool,
    option(
        "--fold/--no-fold",
        help="Whether b and B are the same answer.",
        panel=FILE,
        show_default=False,
    ),
]
PlanFile = Annotated[
    str | None,
    option(
        "--plan",
        metavar="FILE.json",
        help="Read as this plan says ('hnd check --json' writes one).",
        panel=FILE,
    ),
]
MaxMemory = Annotated[
    str | None,
    option(
        "--max-memory",
        metavar="SIZE",
        help="Memory limit: 500MB, 4GB (default: half of the machine's memory).",
        panel=FILE,
    ),
]
User = Annotated[
    str | None,
    option("--user", metavar="NAME", help="Column of the users.", panel=FILE),
]
Item = Annotated[
    str | None,
    option("--item", metavar="NAME", help="Column of the items.", panel=FILE),
]
Choice = Annotated[
    str | None,
    option("--option", metavar="NAME", help="Column of the answers.", panel=FILE),
]
Layout = Annotated[
    str | None,
    option(
        metavar="wide|long",
        help="One row per user (wide) or per answer (long); detected if not given.",
        panel=FILE,
    ),
]
Transpose = Annotated[
    bool,
    option("--transpose", help="Rows are items, columns are users.", panel=FILE),
]
Duplicates = Annotated[
    str,
    option(
        metavar="error|first|last",
        help="What to do if a user gave two different answers to an item.",
        panel=FILE,
    ),
]
Format = Annotated[
    str | None,
    option(
        metavar="NAME",
        help="One that 'hnd formats' lists, or csv, tsv, xlsx, parquet, jsonl for plain tables.",
        panel=FILE,
    ),
]
Header = Annotated[
    bool | None,
    option(
        "--header/--no-header",
        help="Whether the first row holds names; detected if not given.",
        panel=FILE,
        show_default=False,
    ),
]
Seed = Annotated[
    int | None,
    option(metavar="N", help="For random starts (default 0).", panel=METHOD),
]
Engine = Annotated[
    str | None,
    option(
        metavar="auto|numpy|threads|cupy|dask",
        help="What runs the computation: NumPy or threads (auto: by size), a GPU, a cluster.",
        panel=METHOD,
    ),
]
Scheduler = Annotated[
    str | None,
    option(
        metavar="tcp://HOST:PORT",
        help="A Dask cluster to work on (--engine dask; without it, this machine).",
        panel=METHOD,
    ),
]
Threads = Annotated[
    int | None,
    option(metavar="N", help="How many threads (default: all cores).", panel=METHOD),
]
Table = Annotated[
    Path | None,
    option(
        "--out",
        "-o",
        metavar="FILE",
        help="Write the table: .csv, .tsv, .parquet or .json.",
        panel=OUTPUT,
    ),
]
Json = Annotated[bool, option("--json", help="Everything, as JSON.", panel=OUTPUT)]
Quiet = Annotated[
    bool,
    option("--quiet", "-q", help="Nothing but the result.", panel=OUTPUT),
]
Raw = Annotated[
    bool,
    option(
        "--raw",
        help="Leave cells of CSV and TSV that look like formulas as they are (for programs).",
        panel=OUTPUT,
    ),
]
Debug = Annotated[
    bool,
    option("--debug", help="Show where an error came from.", panel=OUTPUT),
]
