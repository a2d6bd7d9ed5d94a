"""docs/performance.md from the figures that the benchmarks wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["write_page"]

Row = dict[str, Any]


def write_page(results: Path, page: Path) -> None:
    """Write the page; cases without figures are left out."""
    figures = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in results.glob("*.json")
    }
    if not figures:
        return
    page.parent.mkdir(exist_ok=True)
    page.write_text("\n".join(_lines(figures)) + "\n", encoding="utf-8")
    print(f"written: {page.name}")


def _lines(figures: dict[str, Any]) -> Iterator[str]:
    yield "# Performance"
    yield ""
    yield "Written by `python benchmarks/run.py`; the single times are in `benchmarks/results/`."
    yield ""
    machine = next(iter(figures.values()))["machine"]
    for key in ("processor", "memory", "system", "versions"):
        yield f"* {key}: {machine.get(key, 'unknown')}"
    loads = ", ".join(
        f"{case} {content['machine'].get('load when started', '?')}"
        for case, content in sorted(figures.items())
    )
    yield f"* load of the machine when each case was started: {loads}"
    yield ""
    yield from _headlines(figures)
    yield ""
    yield "## Side by side"
    yield ""
    yield "| what | contestant | median | times faster than the first (middle half) |"
    yield "|---|---|---|---|"
    for case in CASES:
        yield from _timed(figures.get(case, {"rows": []})["rows"])
    yield ""
    yield "## Other figures"
    yield ""
    for case in CASES:
        yield from _facts(figures.get(case, {"rows": []})["rows"])
    yield ""
    yield from (Path(__file__).parent / "notes.md").read_text(encoding="utf-8").splitlines()


#: The benchmarks in the order of the page.
CASES = ("kernels", "limit", "solve", "files", "growth", "startup", "reports", "peers", "billion")


def _headlines(figures: dict[str, Any]) -> Iterator[str]:
    yield "| what | measured (spread) |"
    yield "|---|---|"
    for case in CASES:
        for row in figures.get(case, {"rows": []})["rows"]:
            if "headline" in row:
                spread = row.get("spread")
                shown = f" ({spread[0]:.2f}–{spread[1]:.2f})" if spread else ""
                unit = f" {row['unit']}".rstrip()
                yield f"| {row['headline']} | {row['value']:.2f}{unit}{shown} |"


def _timed(rows: list[Row]) -> Iterator[str]:
    """The contestants of each case, one row each."""
    last = None
    for row in rows:
        if "median" not in row:
            continue
        case = "" if row["case"] == last else row["case"]
        last = row["case"]
        low, high = row["ratio_quartiles"]
        ratio = f"{row['ratio']:.2f} ({low:.2f}–{high:.2f})" if not case else ""
        yield f"| {case} | {row['name']} | {_seconds(row['median'])} | {ratio} |"


def _facts(rows: list[Row]) -> Iterator[str]:
    for row in rows:
        if not {"headline", "median", "plain arithmetic", "plain_arithmetic"} & row.keys():
            values = ", ".join(
                f"{k.replace('_', ' ')} {_plain(v)}" for k, v in row.items() if k not in HIDDEN
            )
            yield f"* {row['case']}: {values}"


HIDDEN = {"case", "case_of", "version", "all_ratios"}


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return " / ".join(map(_plain, value))
    return str(value)


def _seconds(value: float) -> str:
    return f"{value * 1e3:.1f} ms" if value < 1 else f"{value:.2f} s"
