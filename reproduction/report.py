"""The output of a run: tables, and a page for the browser."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hitsndiffs.data.files import text_writer, write_whole
from reproduction import explanations
from reproduction.agreement import AGREE_WITHIN, Result
from reproduction.diagrams import SPECIAL_CASES, graph
from reproduction.drawings import CURVES, worked_example
from reproduction.figures import FIGURES, Figure

__all__ = ["page", "write_tables", "write_text"]

All = Mapping[str, Sequence[Result]]

CSV_COLUMNS = (
    "figure",
    "panel",
    "method",
    "x",
    "value",
    "error",
    "deviation",
    "runs",
    "paper",
    "distance",
    "verdict",
)


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole({path: text_writer(text)})


def write_tables(figure: Figure, results: Sequence[Result], folder: Path) -> list[Path]:
    """Write a figure's numbers as CSV and JSON."""
    rows: list[dict[str, Any]]
    if figure.kind == "curves":
        rows = [
            {"curve": curve.label, "ability": float(t), "chance": float(p)}
            for curve in CURVES[figure.name]()
            for t, p in zip(curve.theta, curve.chance, strict=True)
        ]
        told: Any = rows
    elif figure.kind == "models":
        told = rows = [asdict(arrow) for arrow in SPECIAL_CASES]
    elif figure.kind == "tripartite":
        told = graph()
        rows = [
            {"part": part, "from": one, "to": other}
            for part, edges in told.items()
            for one, other in edges
        ]
    elif figure.kind == "example":
        told = worked_example()
        rows = [
            {"user": user, "answers": "".join(answers), "score": score}
            for (user, answers), score in zip(told["answers"].items(), told["scores"], strict=True)
        ]
    else:
        rows = [{name: getattr(r, name) for name in CSV_COLUMNS} for r in results]
        told = {"figure": figure.name, "title": figure.title, "points": rows}
    text = io.StringIO()
    table = csv.DictWriter(text, fieldnames=list(rows[0]) if rows else list(CSV_COLUMNS))
    table.writeheader()
    table.writerows(rows)
    paths = [folder / f"{figure.slug}.{ending}" for ending in ("csv", "json")]
    write_text(paths[0], text.getvalue())
    write_text(paths[1], json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    return paths


# -- the page for the browser -------------------------------------------------------------------

PAGE_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:68rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem} h2{font-size:1.15rem;margin-top:2.5rem}
img{max-width:100%;height:auto} table{border-collapse:collapse;font-size:13px;margin:.5rem 0}
th,td{padding:.15rem .6rem;text-align:right;border-bottom:1px solid #eee} th{background:#f6f6f6}
td:first-child,th:first-child{text-align:left}
.agrees{background:#e3f1ea}.higher{background:#dcebf7}.lower{background:#fbe6d6}
summary{cursor:pointer;color:#0072B2} .small{color:#555;font-size:13px}
"""


def page(results: All, *, title: str, notes: Sequence[str], pictures: Mapping[str, Path]) -> str:
    """One HTML page with all figures, and a verdict for every cell."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{html.escape(title)}</title><style>{PAGE_STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        "<p class='small'>A cell agrees when our value and the paper's are within "
        f"{AGREE_WITHIN:g} standard errors (theirs and ours together). "
        "<span class='agrees'>agrees</span> <span class='higher'>ours is higher</span> "
        "<span class='lower'>ours is lower</span></p>",
        _counts_table(results),
        *(f"<p>{html.escape(note)}</p>" for note in notes),
        "<p>" + " · ".join(f"<a href='#{FIGURES[n].slug}'>{n}</a>" for n in results) + "</p>",
    ]
    for name, points in results.items():
        parts.append(_section(FIGURES[name], points, pictures.get(name)))
    return "\n".join([*parts, "</body></html>\n"])


def _counts_table(results: All) -> str:
    counts = explanations.counts(results)
    if not counts:
        return ""
    rows = "".join(
        f"<tr><td>{explanations.label(c.method)}</td><td>{c.cells}</td><td>{c.agree}</td>"
        f"<td>{c.share:.1%}</td></tr>"
        for c in counts
    )
    return (
        "<table><tr><th>accuracy figures</th><th>cells</th><th>agree</th><th>share</th></tr>"
        f"{rows}</table>"
    )


def _section(figure: Figure, points: Sequence[Result], picture: Path | None) -> str:
    parts = [f"<h2 id='{figure.slug}'>{html.escape(figure.title)}</h2>"]
    parts.append(f"<p class='small'>{figure.name}</p>")
    if picture is not None:
        pdf = picture.with_suffix(".pdf").as_posix()
        shown = html.escape(picture.as_posix())
        parts.append(f"<a href='{pdf}'><img src='{shown}' alt='{html.escape(figure.title)}'></a>")
    for panel in dict.fromkeys(r.panel for r in points):
        own = [r for r in points if r.panel == panel]
        agree = sum(r.verdict == "agrees" for r in own)
        compared = sum(bool(r.verdict) for r in own)
        said = f"{agree} of {compared} cells agree" if compared else "no values in the paper"
        opened = "" if compared == agree else " open"
        parts.append(
            f"<details{opened}><summary>{html.escape(panel)}: {said}</summary>"
            f"{_cells_table(own)}</details>"
        )
    return "\n".join(parts)


def _cells_table(points: Sequence[Result]) -> str:
    """One row per method, one column per point: ours, the paper's, the distance."""
    places = sorted({r.place for r in points})
    x = {r.place: r.x for r in points}
    head = "".join(f"<th>{html.escape(str(x[place]))}</th>" for place in places)
    rows = []
    for method in dict.fromkeys(r.method for r in points):
        at = {r.place: r for r in points if r.method == method}
        cells = "".join(_cell(at.get(place)) for place in places)
        rows.append(f"<tr><td>{html.escape(explanations.label(method))}</td>{cells}</tr>")
    return f"<table><tr><th></th>{head}</tr>{''.join(rows)}</table>"


def _cell(r: Result | None) -> str:
    if r is None:
        return "<td></td>"
    text = f"{r.value:.4g}"
    if r.paper is not None:
        text += f" <span class='small'>({r.paper:.4g})</span>"
    if r.distance is None:
        return f"<td>{text}</td>"
    return f"<td class='{r.verdict}' title='{r.distance:+.1f} standard errors'>{text}</td>"
