"""``hnd reproduce``: the paper's figures, next to the paper's values."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hitsndiffs.cli.options import Seed, option
from hitsndiffs.cli.text import show_rows
from hitsndiffs.errors import InputError

__all__ = ["reproduce"]


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE…|all",
            help="Names that --list shows, or beginnings of them.",
            show_default=False,
        ),
    ] = None,
    list_only: Annotated[bool, option("", "List the figures, run none.", "--list")] = False,
    runs: Annotated[int, option("N", "Runs per cell where the paper has 10.")] = 10,
    jobs: Annotated[int | None, option("N", "Processes (default: one per core).")] = None,
    seed: Seed = None,
    methods: Annotated[
        list[str] | None, option("NAME", "Only this method; may be given several times.")
    ] = None,
    points: Annotated[int | None, option("N", "At most this many points of each figure.")] = None,
    out: Annotated[
        Path, option("DIR", "For everything; an interrupted run goes on there.", "--out", "-o")
    ] = Path("reproduction"),
    docs: Annotated[Path | None, option("FILE", "Write the summary page here too.")] = None,
    time_limit: Annotated[
        float | None,
        option("SECONDS", "Take no timing further than this (20; the paper: 1000)."),
    ] = None,
    fetch: Annotated[
        Path | None,
        option(
            "DIR",
            "Fetch the paper's real data sets into this folder, check them, run nothing.",
            "--fetch-data",
        ),
    ] = None,
) -> None:
    """Run the paper's figures, and set them beside the paper's values."""
    from hitsndiffs import paper
    from hitsndiffs.paper.real import require_data

    if fetch is not None:
        _fetch_data(fetch)
        return
    if list_only:
        rows = [(name, title, str(points)) for name, title, points in paper.list_figures()]
        show_rows(("figure", "what it shows", "points"), rows, names=(0,), words=(1,))
        return
    if not figures:
        raise InputError("Name a figure, or all; hnd reproduce --list shows what there is.")
    if figures == ["real"]:
        require_data()
    found = paper.reproduce(
        figures,
        runs=runs,
        jobs=jobs,
        seed=seed or 0,
        methods=methods or None,
        points=points,
        out=out,
        docs=docs,
        time_limit=time_limit,
    )
    for line in found.summary():
        print(line)
    if found.outcome.interrupted:
        raise typer.Exit(130)
    if not found.ok:
        raise typer.Exit(1)
    raise typer.Exit(2 if found.outcome.without_data else 0)


def _fetch_data(folder: Path) -> None:
    from hitsndiffs.paper.fetching import fetch_data
    from hitsndiffs.paper.real import FOLDER_VARIABLE

    files = fetch_data(folder)
    print(f"{len(files)} files fetched and checked. Now: export {FOLDER_VARIABLE}={folder}")
