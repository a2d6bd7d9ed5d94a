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
    yield "## Targets"
    yield ""
    yield from _targets(figures)
    if "limit" in figures:
        yield from _limit(figures["limit"]["rows"])
    for case, title in TITLES.items():
        if case in figures:
            yield ""
            yield f"## {title}"
            yield ""
            yield from _case(figures[case]["rows"])
    yield ""
    yield from (Path(__file__).parent / "notes.md").read_text(encoding="utf-8").splitlines()


TITLES = {
    "kernels": "(a) (b) (g) One round against SciPy CSR",
    "solve": "(c) A whole solve against dense NumPy",
    "files": "(d) File to ranking against Polars' bare read",
    "growth": "(e) Growth",
    "startup": "(f) Start-up",
    "reports": "(i) Reports: size, and seconds to build",
    "peers": "(h) Methods for real data, and peers",
    "billion": "A billion responses",
}


def _targets(figures: dict[str, Any]) -> Iterator[str]:
    yield "| what | asked | measured (spread) | |"
    yield "|---|---|---|---|"
    for case in TITLES:
        for row in figures.get(case, {"rows": []})["rows"]:
            if "demand" not in row:
                continue
            asked = f"≥ {row['least']:g}" if row["least"] is not None else f"≤ {row['most']:g}"
            spread = row.get("spread")
            shown = f" ({spread[0]:.2f}–{spread[1]:.2f})" if spread else ""
            word = "met" if row["met"] else "**not met**"
            unit = f" {row['unit']}".rstrip()
            yield f"| {row['demand']} | {asked}{unit} | {row['value']:.2f}{unit}{shown} | {word} |"


def _limit(rows: list[Row]) -> Iterator[str]:
    yield ""
    yield "## How far from the limit"
    yield ""
    yield "One read of the packed bytes and of the users' scale, at the bandwidth of `numpy.sum`:"
    yield ""
    yield "| | bandwidth | bytes of a round | limit | a round | times the limit |"
    yield "|---|---|---|---|---|---|"
    for row in rows:
        if "limit_ms" in row:
            yield (
                f"| {row['case'].removeprefix('limit, ')} | {row['bandwidth_gb_s']} GB/s "
                f"| {row['read_mb']} MB | {row['limit_ms']} ms | {row['round_ms']} ms "
                f"| {row['times_the_limit']} |"
            )


def _case(rows: list[Row]) -> Iterator[str]:
    """Timed contestants as tables, plain figures as lines."""
    open_case = None
    for row in rows:
        if "demand" in row:
            continue
        if "median" in row:
            if row["case"] != open_case:
                if open_case is not None:
                    yield ""
                open_case = row["case"]
                yield f"**{open_case}**{_facts(row)}"
                yield ""
                yield f"| | median | times faster than {row['baseline']} (middle half) |"
                yield "|---|---|---|"
            low, high = row["ratio_quartiles"]
            yield (
                f"| {row['name']} | {_seconds(row['median'])} "
                f"| {row['ratio']:.2f} ({low:.2f}–{high:.2f}) |"
            )
            continue
        if open_case is not None:
            open_case = None
            yield ""
        values = ", ".join(
            f"{k.replace('_', ' ')} {_plain(v)}" for k, v in row.items() if k not in HIDDEN
        )
        yield f"* {row['case']}: {values}"
        yield ""


HIDDEN = {"case", "case_of", "version"}
TIMED = {
    "case", "name", "seconds", "cpu_seconds", "median", "baseline", "ratio", "ratio_quartiles",
    "cpu_ratio", "cpu_ratio_quartiles",
}  # fmt: skip


def _facts(row: Row) -> str:
    facts = [f"{k.replace('_', ' ')} {_plain(v)}" for k, v in row.items() if k not in TIMED]
    return f" ({', '.join(facts)})" if facts else ""


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
