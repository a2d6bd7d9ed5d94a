"""The commands of ``hnd`` and their options; the neighbouring modules do the work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hitsndiffs.cli.flags import (
    METHOD,
    OUTPUT,
    Debug,
    Engine,
    Json,
    Quiet,
    Raw,
    Scheduler,
    Seed,
    Threads,
    method_names,
    option,
)
from hitsndiffs.cli.inputs import Source, reads_file
from hitsndiffs.cli.serve import serve
from hitsndiffs.cli.studies import compare, reproduce, score, simulate
from hitsndiffs.data.pool import limited_threads

__all__ = ["app"]

INTRODUCTION = """Find out who is good, and what is right, from answers alone.

Give it a file with the answers of a class, a crowd or some language models to the same questions.
No answer key is needed: it ranks the users, and tells you the likely key.

[bold]Example[/bold]: a table with one row per student and one column per question:

    hnd rank quiz.csv
    hnd rank quiz.csv --out ranking.csv --key-out key.csv

Any command explains itself: hnd rank --help
"""

app = typer.Typer(
    name="hnd",
    help=INTRODUCTION,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        from hitsndiffs.results.version import version

        typer.echo(f"hnd {version()}")
        raise typer.Exit


@app.callback()
def _hnd(
    version: Annotated[
        bool,
        option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


@app.command()
@reads_file
def rank(
    *,
    method: Annotated[
        str | None,
        option(
            "--method",
            "-m",
            metavar="NAME",
            help="One of those that 'hnd methods' lists.",
            autocompletion=method_names,
            panel=METHOD,
        ),
    ] = None,
    by: Annotated[
        str | None,
        option(
            metavar="correct|ability",
            help="Rank by the expected share of right answers, or by latent ability.",
            panel=METHOD,
        ),
    ] = None,
    answers: Annotated[
        Path | None,
        option(
            metavar="FILE",
            help="Right answers that you know (columns item, answer); a few will do.",
            panel=METHOD,
        ),
    ] = None,
    group: Annotated[
        str | None,
        option(
            metavar="COLUMN|FILE",
            help="The column of the users' groups (runs of one model, a team), or a file of users "
            "and groups. A group is one witness.",
            panel=METHOD,
        ),
    ] = None,
    reading: Annotated[
        int | None,
        option(
            metavar="N",
            help="Rank by another reading of the answers (2, 3, …).",
            panel=METHOD,
        ),
    ] = None,
    use_key: Annotated[
        bool,
        option(
            "--use-key",
            help="Use the key that the file holds as known answers.",
            panel=METHOD,
        ),
    ] = False,
    strong_user: Annotated[
        str | None,
        option(metavar="NAME", help="A user who is certainly good.", panel=METHOD),
    ] = None,
    solver: Annotated[
        str | None,
        option(
            metavar="NAME",
            help="How a spectral method is computed: lanczos, power, …",
            panel=METHOD,
        ),
    ] = None,
    sample: Annotated[
        int | None,
        option(metavar="N", help="Rank N users only, drawn at random.", panel=METHOD),
    ] = None,
    bootstrap: Annotated[
        int | None,
        option(
            metavar="N",
            help="Errors from this many random halves of the items (slow).",
            panel=METHOD,
        ),
    ] = None,
    seed: Seed = None,
    engine: Engine = None,
    scheduler: Scheduler = None,
    threads: Threads = None,
    source: Source,
    out: Annotated[
        Path | None,
        option(
            "--out",
            "-o",
            metavar="FILE",
            help="Write the ranking: .csv, .tsv, .parquet or .json (a folder: --engine dask).",
            panel=OUTPUT,
        ),
    ] = None,
    key_out: Annotated[
        Path | None,
        option(metavar="FILE", help="Write the likely answer key.", panel=OUTPUT),
    ] = None,
    report: Annotated[
        Path | None,
        option(
            metavar="FILE.html",
            help="Write a report to read and hand on: one page that needs nothing else.",
            panel=OUTPUT,
        ),
    ] = None,
    save: Annotated[
        Path | None,
        option(
            metavar="FILE.json",
            help="Keep the ranking, for 'hnd score' and hnd.load.",
            panel=OUTPUT,
        ),
    ] = None,
    key: Annotated[
        Path | None,
        option(
            metavar="FILE",
            help="A key for the report to compare with the answers (the ranking stays the same).",
            panel=OUTPUT,
        ),
    ] = None,
    top: Annotated[
        int | None,
        option(metavar="N", help="Show the best N only.", panel=OUTPUT),
    ] = None,
    raw: Raw = False,
    everybody: Annotated[bool, option("--all", help="Show everybody.", panel=OUTPUT)] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rank the users of a file, best first, and infer the answer key.

    On a terminal you get a table; through a pipe every user, with tabs between the columns.
    """
    from hitsndiffs.cli.rank import Job, rank_file

    params = {
        "strong_user": strong_user,
        "reading": reading,
        "solver": solver,
        "seed": seed,
        "engine": engine,
        "threads": threads,
    }
    job = Job(
        source=source,
        method=method,
        by=by,
        bootstrap=bootstrap or 0,
        sample=sample,
        params={name: value for name, value in params.items() if value is not None},
        scheduler=scheduler,
        answers=answers,
        group=group,
        use_key=use_key,
        out=out,
        key_out=key_out,
        report=report,
        save=save,
        key=key,
        as_json=json,
        top=top,
        everybody=everybody,
        raw=raw,
        quiet=quiet,
    )
    with limited_threads(threads):
        rank_file(job)


@app.command()
@reads_file
def check(
    *,
    key: Annotated[
        str | None,
        option(
            metavar="FILE", help="A key to compare with the answers: items that look mis-keyed."
        ),
    ] = None,
    full: Annotated[
        bool,
        option("--full", help="Leave nothing out, however long it takes."),
    ] = False,
    seed: Seed = None,
    engine: Engine = None,
    threads: Threads = None,
    source: Source,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Look at a file: what is in it, and what stands in the way of a good ranking."""
    from hitsndiffs.cli.check import check_file

    with limited_threads(threads):
        check_file(
            source,
            key=key,
            full=full,
            seed=seed or 0,
            engine=engine or "auto",
            threads=threads,
            as_json=json,
            quiet=quiet,
        )


@app.command()
def methods(json: Json = False, debug: Debug = False) -> None:
    """List the methods: what each does, and when to use it."""
    from hitsndiffs.cli.listing import list_methods

    list_methods(as_json=json)


@app.command()
def formats(json: Json = False, debug: Debug = False) -> None:
    """List the exports that are recognised, and the plain tables that can be read."""
    from hitsndiffs.cli.listing import list_formats

    list_formats(as_json=json)


app.command()(compare)
app.command()(score)
app.command()(simulate)
app.command()(reproduce)
app.command()(serve)
