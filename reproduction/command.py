"""Run figures, compare them with the paper, and write the pages."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitsndiffs.errors import InputError
from reproduction import explanations
from reproduction.agreement import Result, summarise
from reproduction.cells import Rank
from reproduction.contestants import available
from reproduction.document import markdown
from reproduction.figures import FIGURES, Figure, choose
from reproduction.plots import draw, have_matplotlib
from reproduction.report import page, write_tables, write_text
from reproduction.runner import TIME_LIMIT, Outcome, run_cells
from reproduction.store import Store

__all__ = ["OUT", "Reproduction", "list_figures", "reproduce"]

#: Where a run leaves everything, unless told otherwise.
OUT = "out/reproduction"
TITLE = "HITSnDIFFs: the paper's figures, reproduced"


@dataclass(frozen=True)
class Reproduction:
    """What a run found, and where it is stored.

    Attributes
    ----------
    results
        Figure → its points with their verdicts.
    outcome
        How the run went: cells computed and kept, failures, whether it was interrupted.
    notes
        What was left out, in sentences.
    out
        The folder with ``index.html``, ``reproduction.md``, ``data/``, ``plots/`` and ``cells/``.
    again
        A second look at points that do not agree (see :func:`.explanations.recheck`).
    """

    results: dict[str, list[Result]]
    outcome: Outcome
    notes: list[str]
    out: Path
    again: dict[tuple[str, str, str, int], Result]

    @property
    def ok(self) -> bool:
        """Whether everything asked for was computed."""
        return not self.outcome.failures and not self.outcome.interrupted

    def summary(self) -> list[str]:
        """Lines for the screen."""
        done = self.outcome
        lines = [f"{done.computed:,} cells computed, {done.kept:,} kept from before."]
        for count in explanations.counts(self.results):
            name = explanations.label(count.method)
            lines.append(f"{name:<18} {count.agree:>4} of {count.cells:>4} cells agree")
        together = explanations.share(self.results)
        if together.cells:
            lines.append(
                f"Accuracy cells of the six methods that must agree: {together.share:.1%} within "
                "three standard errors of the paper."
            )
        if self.again:
            agree = sum(r.verdict == "agrees" for r in self.again.values())
            lines.append(
                f"{len(self.again)} points that differ were run again on other data: {agree} agree."
            )
        lines += [
            f"{explanations.label(method)} perfect on {sure} of {sets} consistent data sets."
            for method, sets, sure in explanations.perfect(self.results)
        ]
        lines += self.notes
        lines += [f"FAILED {failure}" for failure in done.failures]
        if done.interrupted:
            lines.append("Interrupted; finished cells are kept. Run the same command to go on.")
        lines.append(f"See {self.out / 'index.html'}")
        return lines


def list_figures() -> list[tuple[str, str, int]]:
    """Name, title and number of points of every figure.

    Examples
    --------
    >>> list_figures()[0]
    ('accuracy/grm/items', 'GRM, varying number of items', 7)
    """
    return [(figure.name, figure.title, len(figure.x)) for figure in FIGURES.values()]


def reproduce(
    figures: Sequence[str] = ("all",),
    *,
    runs: int = 10,
    jobs: int | None = None,
    seed: int = 0,
    methods: Sequence[str] | None = None,
    out: str | os.PathLike[str] = OUT,
    points: int | None = None,
    docs: str | os.PathLike[str] | None = None,
    time_limit: float | None = None,
    pictures: bool = True,
    rank: Rank | None = None,
) -> Reproduction:
    """Run figures of the paper and compare them with its values.

    Parameters
    ----------
    figures
        Names (see :func:`list_figures`), beginnings of names, or ``all``.
    runs
        Runs per cell where the paper has 10; elsewhere in proportion (the paper has 100 for the
        stability figures, 5 for the timings).
    jobs
        Number of processes; by default, one per core.
    seed
        Seed for all data.
    methods
        Only these; other methods of the library may be named too, and appear beside the paper's.
    out
        The folder for all output. Cells already finished there are not run again.
    points
        At most this many points per figure, for a quick look.
    docs
        Where to write a copy of the page for the documentation.
    time_limit
        A method is not timed on larger data if it would take more seconds than this (20 by
        default; 1000 in the paper).
    pictures
        Whether to draw; without Matplotlib, nothing is drawn and a note says so.
    rank
        Replaces :func:`hitsndiffs.rank` (in tests).
    """
    if runs < 1:
        raise InputError(f"runs must be at least 1; got {runs}.")
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit must be above 0 seconds; got {time_limit}.")
    if jobs is not None and jobs < 1:
        raise InputError(f"jobs must be at least 1; got {jobs}.")
    begin = time.monotonic()
    chosen = choose(figures)
    names, notes = _methods(chosen, methods, rank)
    folder = Path(out)
    store = Store(folder / "cells")
    outcome = run_cells(
        chosen,
        store,
        runs=runs,
        seed=seed,
        jobs=jobs or os.cpu_count() or 1,
        methods=names,
        points=points,
        time_limit=TIME_LIMIT if time_limit is None else time_limit,
        rank=rank,
    )
    notes += outcome.notes
    results = {
        figure.name: summarise(figure, store, seed=seed, runs=runs, methods=methods and names)
        for figure in chosen
    }
    again = {}
    if rank is None and not outcome.interrupted:
        again = explanations.recheck(
            results, store, seed=seed, runs=runs, jobs=jobs or os.cpu_count() or 1, outcome=outcome
        )
    found = Reproduction(results, outcome, notes, folder, again)
    command = f"python -m reproduction {' '.join(figures)} --runs {runs} --seed {seed}"
    command += "" if points is None else f" --points {points}"
    command += "".join(f" --methods {name}" for name in methods or ())
    command += "" if time_limit is None else f" --time-limit {time_limit:g}"
    # Report the time only if this run computed every cell.
    minutes = (time.monotonic() - begin) / 60 if outcome.kept == 0 else 0.0
    _write(
        found,
        store,
        chosen,
        runs=runs,
        seed=seed,
        command=command,
        minutes=minutes,
        docs=docs,
        drawn=pictures,
    )
    return found


def _methods(
    chosen: Sequence[Figure], methods: Sequence[str] | None, rank: Rank | None
) -> tuple[list[str], list[str]]:
    asked = list(methods or dict.fromkeys(name for f in chosen for name in f.methods))
    return (asked, []) if rank is not None else available(asked)


def _write(
    found: Reproduction,
    store: Store,
    chosen: Sequence[Figure],
    *,
    runs: int,
    seed: int,
    command: str,
    minutes: float,
    docs: Any,
    drawn: bool,
) -> None:
    """Write tables and pictures of the chosen figures, and pages on all figures in the folder."""
    if drawn and not have_matplotlib():
        drawn = False
        found.notes.append("No pictures: Matplotlib is not installed (pip install matplotlib).")
    for figure in chosen:
        points = found.results[figure.name]
        if points or not figure.panels:
            write_tables(figure, points, found.out / "data")
            if drawn:
                draw(figure, points, found.out / "plots")
    shown: dict[str, Sequence[Result]] = {}
    pictures = {}
    for name, figure in FIGURES.items():
        picture = Path("plots") / f"{figure.slug}.png"
        if (found.out / picture).exists():
            pictures[name] = picture
        points = found.results.get(name) or summarise(figure, store, seed=seed, runs=runs)
        if points or name in pictures:
            shown[name] = points
    text = page(shown, title=TITLE, notes=found.notes, pictures=pictures)
    write_text(found.out / "index.html", text)
    run = _how_it_was_made(found, command, minutes)
    text = markdown(shown, run=run, notes=found.notes, again=found.again)
    write_text(found.out / "reproduction.md", text)
    if docs is not None:
        write_text(Path(docs), text)


def _how_it_was_made(found: Reproduction, command: str, minutes: float) -> str:
    """The command, the machine and the time; kept for later runs that only write the page."""
    record = found.out / "run.json"
    cores = os.cpu_count() or 1
    machine = f"{cores} cores ({platform.machine()}), Python {platform.python_version()}"
    if hasattr(os, "getloadavg") and (load := os.getloadavg()[1]) > cores + 1:
        machine += f", busy with other work (load {load:.0f})"
    if found.outcome.kept == 0 and found.outcome.computed and not found.outcome.interrupted:
        told = (
            f"Written by one uninterrupted run of `{command}`: {found.outcome.computed:,} cells in "
            f"{minutes:.0f} minutes on {machine}. Do not edit."
        )
        write_text(record, json.dumps({"run": told}, indent=1) + "\n")
        return told
    if record.exists() and found.outcome.computed == 0:
        kept: str = json.loads(record.read_text(encoding="utf-8"))["run"]
        return kept
    return (
        f"Written by `{command}` on {machine}: {found.outcome.computed:,} cells, and "
        f"{found.outcome.kept:,} of earlier runs into the same folder. Do not edit."
    )
