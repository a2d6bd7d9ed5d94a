"""The commands of ``hnd``; each is a function of a neighbouring module."""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from hitsndiffs.cli.options import spread

__all__ = ["COMMANDS", "app_of"]

#: Command → the module that holds it, in the order of the help.
COMMANDS = {
    "rank": "rank",
    "check": "check",
    "audit": "audit",
    "methods": "listing",
    "formats": "listing",
    "compare": "compare",
    "marks": "marks",
    "labels": "labels",
    "score": "score",
    "simulate": "simulate",
    "serve": "serve",
}

INTRODUCTION = """Find out who is good, and what is right, from answers alone.

Give it a file with the answers of a class, a crowd or some language models to the same questions.
No answer key is needed: it ranks the users, and tells you the likely key.

[bold]Example[/bold]: a table with one row per student and one column per question:

    hnd rank quiz.csv
    hnd rank quiz.csv --out ranking.csv --key-out key.csv

Any command explains itself: hnd rank --help
"""


def _version(asked: bool) -> None:
    if asked:
        from hitsndiffs.results.version import version

        typer.echo(f"hnd {version()}")
        raise typer.Exit


def _hnd(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version.", metavar="", callback=_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


def app_of(*names: str) -> typer.Typer:
    """``hnd`` with some of its commands (default: all); each takes time to build."""
    app = typer.Typer(
        name="hnd",
        help=INTRODUCTION,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(_hnd)
    for name in names or COMMANDS:
        module = import_module(f"hitsndiffs.cli.{COMMANDS[name]}")
        app.command()(spread(getattr(module, name)))
    return app
