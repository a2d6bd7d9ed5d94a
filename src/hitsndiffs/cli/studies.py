"""Commands for studies: ``compare``, ``score``, ``simulate``, ``reproduce``, and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hitsndiffs.cli.flags import (
    OUTPUT,
    Debug,
    Json,
    Quiet,
    Raw,
    Seed,
    Table,
    method_names,
    option,
)
from hitsndiffs.cli.inputs import Source, reads_file

__all__ = ["compare", "reproduce", "score", "simulate"]

SIZE = "Size"
WHO_ANSWERS = "Who answers what"


@reads_file
def compare(
    *,
    key: Annotated[
        Path | None,
        option(
            metavar="FILE", help="The right answers (columns item, answer): they judge the methods."
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        option(
            "--method",
            "-m",
            metavar="NAME",
            help="Only this one; may be given several times.",
            autocompletion=method_names,
        ),
    ] = None,
    seed: Seed = None,
    source: Source,
    out: Table = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare all methods on one file."""
    from hitsndiffs.cli.compare import compare_file

    compare_file(
        source,
        key=key,
        methods=method or None,
        seed=seed or 0,
        out=out,
        as_json=json,
        quiet=quiet,
    )


@reads_file
def score(
    *,
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A ranking that hnd rank --save wrote.", show_default=False
        ),
    ],
    source: Source,
    out: Table = None,
    raw: Raw = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Place newcomers by a saved ranking, without ranking everybody again."""
    from hitsndiffs.cli.score import score_file

    score_file(model, source, out=out, as_json=json, raw=raw, quiet=quiet)


def simulate(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="1pl, 2pl, 3pl, glad, grm, bock, samejima, c1p, half-moon or american-experience.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        option("--out", "-o", metavar="DIR", help="The folder to write into; made if new."),
    ],
    users: Annotated[int, option(metavar="N", panel=SIZE)] = 100,
    items: Annotated[
        int | None,
        option(metavar="N", help="100, unless the model has its own.", panel=SIZE),
    ] = None,
    options: Annotated[
        int | None,
        option(
            metavar="N",
            help="Options of each item: 3, unless the model has its own.",
            panel=SIZE,
        ),
    ] = None,
    ability: Annotated[
        str | None,
        option(
            metavar="NAME",
            help="How abilities are spread: uniform, normal, spaced or mostly-able.",
        ),
    ] = None,
    hardest: Annotated[
        float | None,
        option(metavar="B", help="The largest difficulty (they span 1); more is harder."),
    ] = None,
    sharpest: Annotated[
        float | None,
        option(metavar="A", help="The largest discrimination; more is less chance."),
    ] = None,
    answered: Annotated[
        float | None,
        option(metavar="P", help="The share of items that each user answers.", panel=WHO_ANSWERS),
    ] = None,
    missing: Annotated[
        str | None,
        option(
            metavar="fixed|pairs",
            help="That share for every user, or as a probability for every user and item.",
            panel=WHO_ANSWERS,
        ),
    ] = None,
    answers_per_user: Annotated[
        float | None,
        option(
            metavar="N",
            help="The median number of answers, with a long tail.",
            panel=WHO_ANSWERS,
        ),
    ] = None,
    blocks: Annotated[
        int | None,
        option(
            metavar="N",
            help="Cut the items into blocks, of which each user answers two.",
            panel=WHO_ANSWERS,
        ),
    ] = None,
    format: Annotated[str, option(metavar="csv|parquet", panel=OUTPUT)] = "csv",
    seed: Seed = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Simulate users of known ability, and write responses, abilities and key."""
    from hitsndiffs.cli.simulate import simulate_files

    drawn = {
        "items": items,
        "options": options,
        "ability": ability,
        "bmax": hardest,
        "amax": sharpest,
        "answer_probability": answered,
        "missing": missing,
        "answers_per_user": answers_per_user,
        "blocks": blocks,
    }
    simulate_files(
        model,
        out,
        format,
        users=users,
        seed=seed or 0,
        quiet=quiet,
        **{name: value for name, value in drawn.items() if value is not None},
    )


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FIGURE…|all",
            help="Names that --list shows, or beginnings of them.",
            show_default=False,
        ),
    ] = None,
    list_only: Annotated[bool, option("--list", help="List the figures, run none.")] = False,
    runs: Annotated[int, option(metavar="N", help="Runs per cell where the paper has 10.")] = 10,
    jobs: Annotated[
        int | None, option(metavar="N", help="Processes (default: one per core).")
    ] = None,
    seed: Seed = None,
    methods: Annotated[
        list[str] | None,
        option(metavar="NAME", help="Only this method; may be given several times."),
    ] = None,
    points: Annotated[
        int | None, option(metavar="N", help="At most this many points of each figure.")
    ] = None,
    out: Annotated[
        Path,
        option(
            "--out", "-o", metavar="DIR", help="For everything; an interrupted run goes on there."
        ),
    ] = Path("reproduction"),
    docs: Annotated[
        Path | None, option(metavar="FILE", help="Write the summary page here too.")
    ] = None,
    time_limit: Annotated[
        float | None,
        option(metavar="SECONDS", help="Take no timing further than this (20; the paper: 1000)."),
    ] = None,
    fetch: Annotated[
        Path | None,
        option(
            "--fetch-data",
            metavar="DIR",
            help="Fetch the paper's real data sets into this folder, check them, run nothing.",
        ),
    ] = None,
    debug: Debug = False,
) -> None:
    """Run the paper's figures, and set them beside the paper's values."""
    from hitsndiffs.cli.reproduce import fetch_data, reproduce_figures, show_figures

    if fetch is not None:
        fetch_data(fetch)
        return
    if list_only:
        show_figures()
        return
    code = reproduce_figures(
        figures or [],
        runs=runs,
        jobs=jobs,
        seed=seed or 0,
        methods=methods or None,
        points=points,
        out=out,
        docs=docs,
        time_limit=time_limit,
    )
    raise typer.Exit(code)
