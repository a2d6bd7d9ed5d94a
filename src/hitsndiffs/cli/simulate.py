"""``hnd simulate``: responses with known abilities, as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from hitsndiffs.cli.options import OUTPUT, Quiet, Seed, option
from hitsndiffs.cli.text import for_people, say
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError, printable

__all__ = ["simulate"]

SIZE = "Size"
WHO_ANSWERS = "Who answers what"


@dataclass(frozen=True)
class Drawn:
    """What is drawn: arguments of :func:`hitsndiffs.simulate`."""

    users: Annotated[int, option("N", panel=SIZE)] = 100
    items: Annotated[int | None, option("N", "100, unless the model has its own.", panel=SIZE)] = (
        None
    )
    options: Annotated[
        int | None,
        option("N", "Options of each item: 3, unless the model has its own.", panel=SIZE),
    ] = None
    ability: Annotated[
        str | None,
        option("NAME", "How abilities are spread: uniform, normal, spaced or mostly-able."),
    ] = None
    bmax: Annotated[
        float | None,
        option("B", "Largest item difficulty; difficulties lie within 1 below it.", "--hardest"),
    ] = None
    amax: Annotated[
        float | None,
        option("A", "Largest item discrimination (higher = less noise).", "--sharpest"),
    ] = None
    answer_probability: Annotated[
        float | None,
        option("P", "The share of items that each user answers.", "--answered", panel=WHO_ANSWERS),
    ] = None
    missing: Annotated[
        str | None,
        option(
            "fixed|pairs",
            "That share for every user, or as a probability for every user and item.",
            panel=WHO_ANSWERS,
        ),
    ] = None
    answers_per_user: Annotated[
        float | None,
        option("N", "The median number of answers, with a long tail.", panel=WHO_ANSWERS),
    ] = None
    blocks: Annotated[
        int | None,
        option(
            "N", "Cut the items into blocks, of which each user answers two.", panel=WHO_ANSWERS
        ),
    ] = None


def simulate(
    *,
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="1pl, 2pl, 3pl, glad, grm, bock, samejima, c1p, half-moon or american-experience.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, option("DIR", "The folder to write into; made if new.", "--out", "-o")],
    drawn: Drawn,
    format: Annotated[str, option("csv|parquet", panel=OUTPUT)] = "csv",
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Simulate users of known ability, and write responses, abilities and key."""
    from hitsndiffs.irt import simulate, write_simulation
    from hitsndiffs.irt.writing import refuse_files
    from hitsndiffs.results.wording import sizes

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: this is a file; name a folder.")
    refuse_files(out, format)
    told = {name: value for name, value in vars(drawn).items() if value is not None}
    with working("Simulating", quiet=quiet, told=True):
        simulation = simulate(model, seed=seed or 0, **told)
        files = write_simulation(simulation, out, format)
    say(f"{model}: {sizes(simulation.responses)}.", quiet=quiet)
    for path in files:
        print(printable(str(path)) if for_people() else path)
