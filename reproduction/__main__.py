"""``python -m reproduction``: run figures of the paper, and set them beside the paper's values."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from hitsndiffs.errors import InputError
from reproduction.command import OUT, list_figures, reproduce
from reproduction.fetching import fetch_data
from reproduction.real import FOLDER_VARIABLE, require_data


def main(arguments: list[str] | None = None) -> int:
    """Run the command; 1: something failed, 2: wrong use or missing data, 130: interrupted."""
    asked = _parser().parse_args(arguments)
    try:
        return _run(asked)
    except InputError as error:
        print(f"reproduction: {error}", file=sys.stderr)
        return 2


def _run(asked: argparse.Namespace) -> int:
    if asked.fetch_data is not None:
        files = fetch_data(asked.fetch_data)
        print(f"{len(files)} files fetched and checked. Now:")
        print(f"export {FOLDER_VARIABLE}={asked.fetch_data}")
        return 0
    if asked.list:
        for name, title, points in list_figures():
            print(f"{name:<36} {points:>3} points  {title}")
        return 0
    if not asked.figures:
        raise InputError("Name a figure, or all; python -m reproduction --list shows them.")
    if asked.figures == ["real"]:
        require_data()
    found = reproduce(
        asked.figures,
        runs=asked.runs,
        jobs=asked.jobs,
        seed=asked.seed,
        methods=asked.methods,
        points=asked.points,
        out=asked.out,
        docs=asked.docs,
        time_limit=asked.time_limit,
    )
    print("\n".join(found.summary()))
    if found.outcome.interrupted:
        return 130
    if not found.ok:
        return 1
    return 2 if found.outcome.without_data else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m reproduction", description=__doc__)
    parser.add_argument(
        "figures", nargs="*", metavar="FIGURE", help="names, beginnings of names, or all"
    )
    parser.add_argument("--list", action="store_true", help="list the figures, run none")
    parser.add_argument(
        "--runs", type=int, default=10, metavar="N", help="runs per cell where the paper has 10"
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: one per core)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all data")
    parser.add_argument(
        "--methods", action="append", metavar="NAME", help="only this; may be given several times"
    )
    parser.add_argument("--points", type=int, metavar="N", help="at most so many points a figure")
    parser.add_argument(
        "--out", type=Path, default=Path(OUT), metavar="DIR", help="an interrupted run goes on here"
    )
    parser.add_argument("--docs", type=Path, metavar="FILE", help="write the page here too")
    parser.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="take no timing further than this (20; the paper: 1000)",
    )
    parser.add_argument(
        "--fetch-data",
        type=Path,
        metavar="DIR",
        help="fetch and check the paper's real data sets, run nothing",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
