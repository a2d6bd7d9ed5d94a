"""The commands of ``hnd``; each is a function of a neighbouring module."""

from __future__ import annotations

from typing import Annotated

import typer

from hitsndiffs.cli.audit import audit
from hitsndiffs.cli.check import check
from hitsndiffs.cli.compare import compare
from hitsndiffs.cli.labels import labels
from hitsndiffs.cli.listing import formats, methods
from hitsndiffs.cli.marks import marks
from hitsndiffs.cli.options import option, spread
from hitsndiffs.cli.rank import rank
from hitsndiffs.cli.score import score
from hitsndiffs.cli.serve import serve
from hitsndiffs.cli.simulate import simulate

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
        bool, option("", "Show the version.", "--version", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


_COMMANDS = (rank, check, audit, methods, formats, compare, marks, labels, score, simulate, serve)
for _command in _COMMANDS:
    app.command()(spread(_command))
