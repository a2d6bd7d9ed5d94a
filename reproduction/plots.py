"""Pictures in one colour-blind-safe style, with the paper's values faint behind ours.

Matplotlib is imported only here, and only when a picture is drawn.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hitsndiffs.data.files import Writer, bytes_writer, write_whole
from reproduction.agreement import Result
from reproduction.contestants import CONTESTANTS, contestant
from reproduction.diagrams import draw_models, draw_tripartite
from reproduction.drawings import CURVES, worked_example
from reproduction.figures import ABSOLUTE, BETWEEN, FIGURES, FROM_ONE, PAIRS, SIGNED, Figure
from reproduction.values import DATA, paper_values

__all__ = ["draw", "have_matplotlib"]

# Okabe and Ito's colours, distinguishable with every kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C6D1F")
MARKERS = ("o", "s", "^", "v", "D", "P", "X", "*")
PANEL_LABELS = {
    "accuracy": "accuracy (Spearman)",
    "seconds": "seconds",
    "iterations": "rounds (bars: fewest to most)",
    "variance": "variance of |eigenvector|",
    "displacement": "mean displacement (as published)",
    "ratio": "time / HnD-power's",
    SIGNED: "variance of the eigenvector",
    FROM_ONE: "mean displacement (from 1)",
    BETWEEN: "mean displacement between runs",
    PAIRS: "accuracy, pairs at random",
    "relative rounds": "rounds / fewest",
}
WIDTH, HEIGHT, MOST_COLUMNS = 4.6, 3.4, 3
PAPER_STYLE = {"alpha": 0.3, "linestyle": "--", "linewidth": 1.0, "zorder": 1}
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "pdf.fonttype": 42,
}


def have_matplotlib() -> bool:
    """Whether pictures can be drawn here."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def draw(figure: Figure, results: Sequence[Result], folder: Path) -> list[Path]:
    """Draw a figure with its points as PNG and PDF, named after it."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure as Canvas

    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        canvas = Canvas(layout="constrained")
        FigureCanvasAgg(canvas)
        _DRAW[figure.kind](canvas, figure, results)
        canvas.suptitle(figure.title, fontsize=10)
        pictures: dict[Path, Writer] = {}
        for ending in ("png", "pdf"):
            # Without version (PNG) and date (PDF), the same numbers give the same file.
            stamp = {"Software": None} if ending == "png" else {"CreationDate": None}
            drawn = io.BytesIO()
            canvas.savefig(drawn, format=ending, dpi=150, metadata=stamp)
            pictures[folder / f"{figure.slug}.{ending}"] = bytes_writer(drawn.getvalue())
        write_whole(pictures)
    return list(pictures)


def _look(method: str, figure: Figure) -> dict[str, Any]:
    """The colour and marker of a method, the same in every figure of its kind."""
    if method in CONTESTANTS:
        is_timed = figure.kind == "scalability" or "/" in method
        rankers = tuple(name for name in CONTESTANTS if "/" not in name)
        place = (FIGURES["scalability/users"].methods if is_timed else rankers).index(method)
    else:
        place = sum(map(ord, method))
    look = {"color": COLOURS[place % len(COLOURS)], "marker": MARKERS[place % len(MARKERS)]}
    if place >= len(COLOURS):  # colours repeat, with hollow markers
        look["markerfacecolor"] = "white"
    return look


def _panels(canvas: Any, figure: Figure) -> Iterator[tuple[Any, str]]:
    count = max(1, len(figure.panels))
    columns = min(count, MOST_COLUMNS)
    rows = -(-count // columns)
    canvas.set_size_inches(WIDTH * columns + 1.4, HEIGHT * rows)
    axes = canvas.subplots(rows, columns, squeeze=False).ravel()
    yield from zip(axes[:count], figure.panels, strict=True)


def _lines(canvas: Any, figure: Figure, results: Sequence[Result]) -> None:
    """Lines with error bars, with the paper's lines behind."""
    theirs = paper_values().get(figure.beside or figure.name, {})
    our_x, their_x = _x_axes(results, theirs)
    for axes, panel in _panels(canvas, figure):
        for method, values in theirs.get(panel, {}).items():
            if method in figure.methods:
                axes.plot(
                    their_x, _gaps(values), **PAPER_STYLE, **_look(method, figure), markersize=4
                )
        for method in dict.fromkeys(r.method for r in results if r.panel == panel):
            line = [r for r in results if (r.panel, r.method) == (panel, method)]
            axes.errorbar(
                [our_x.get(r.place, r.x) for r in line],
                [r.value for r in line],
                yerr=_error_bars(figure, line),
                label=contestant(method).label,
                markersize=4,
                linewidth=1.3,
                capsize=2,
                zorder=3,
                **_look(method, figure),
            )
        axes.set_xlabel(figure.x_label)
        axes.set_ylabel(PANEL_LABELS.get(panel, panel))
        if figure.log_x:
            axes.set_xscale("log")
            if not figure.log_y:  # label the points themselves
                axes.set_xticks(figure.x, [f"{x:g}" for x in figure.x])
                axes.minorticks_off()
        if figure.log_y:
            axes.set_yscale("log")
        elif figure.kind == "stability" and panel != "accuracy":
            # else a difference of two per cent fills the picture
            axes.set_ylim(0, 1.05 * axes.get_ylim()[1])
    _legend(canvas, paper=bool(theirs))


def _error_bars(figure: Figure, line: Sequence[Result]) -> Any:
    """Standard errors; for rounds, from the fewest to the most; none for times."""
    if figure.kind == "rounds":
        return [[r.value - r.low for r in line], [r.high - r.value for r in line]]
    return None if figure.log_y else [r.error for r in line]


def _x_axes(
    results: Sequence[Result], theirs: dict[str, Any]
) -> tuple[dict[int, Any], Sequence[Any]]:
    """The x of our points and theirs; for difficulty, it is the users' mean accuracy."""
    their_x = theirs.get("mean_user_accuracy", theirs.get("x", ()))
    return {r.place: r.value for r in results if r.method == DATA}, their_x


def _gaps(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else value for value in values]


def _legend(canvas: Any, *, paper: bool = True) -> None:
    handles: dict[str, Any] = {}
    for axes in canvas.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        canvas.legend(
            handles.values(),
            handles.keys(),
            loc="outside right center",
            fontsize=8,
            title="faint: the paper" if paper else None,
            title_fontsize=8,
        )


def _bars(canvas: Any, figure: Figure, results: Sequence[Result]) -> None:
    """One group of bars per data set, with the paper's values as hollow bars behind.

    Where a correlation is negative, the paper draws its absolute value; that bar is hatched.
    """
    drawn = {(r.x, r.method): r.value for r in results if r.panel == ABSOLUTE}
    results = [r for r in results if r.panel == "accuracy"]
    groups = list(dict.fromkeys(r.x for r in results))
    methods = list(dict.fromkeys(r.method for r in results))
    scatter = figure.model == "half-moon"
    canvas.set_size_inches(max(WIDTH, 1.3 * len(groups) + 3) + WIDTH * scatter, HEIGHT)
    panes = canvas.subplots(1, 1 + scatter, squeeze=False)[0]
    width = 0.8 / max(len(methods), 1)
    for number, method in enumerate(methods):
        line = [r for r in results if r.method == method]
        at = [groups.index(r.x) + (number - (len(methods) - 1) / 2) * width for r in line]
        look = _look(method, figure)
        colour, repeated = str(look["color"]), "markerfacecolor" in look
        paper = _gaps([r.paper for r in line])
        panes[0].bar(at, paper, width, color="none", edgecolor=colour, alpha=0.45, zorder=1)
        errors = [r.deviation for r in line] if figure.paper_runs > 1 else None
        values = [r.value for r in line]
        label = contestant(method).label
        fill = (
            {"color": "white", "edgecolor": colour, "hatch": "...."}
            if repeated
            else {"color": colour}
        )
        panes[0].bar(at, values, width * 0.6, yerr=errors, label=label, capsize=2, **fill)
        turned = [drawn[r.x, method] if r.value < 0 and drawn else 0.0 for r in line]
        if any(turned):
            panes[0].bar(
                at,
                turned,
                width * 0.6,
                color="none",
                edgecolor=colour,
                hatch="////",
                label=f"|{label}|, as the paper draws it",
            )
    panes[0].set_xticks(range(len(groups)), [str(group) for group in groups])
    panes[0].set_ylabel(PANEL_LABELS["accuracy"])
    panes[0].axhline(0, color="black", linewidth=0.6)
    if figure.kind == "simulated":
        panes[0].set_xlabel("number of users")
    if scatter:
        _half_moon(panes[1])
    _legend(canvas)


def _half_moon(axes: Any) -> None:
    import numpy as np

    from hitsndiffs.irt import ThreePL, simulate

    model = simulate("half-moon", users=2, items=500, seed=0).model
    assert isinstance(model, ThreePL)
    axes.scatter(model.difficulty, np.log10(model.discrimination), s=6, color=COLOURS[0], alpha=0.6)
    axes.set_xlabel("difficulty b")
    axes.set_ylabel("log10 of discrimination a")


def _curves(canvas: Any, figure: Figure, results: Sequence[Result]) -> None:  # noqa: ARG001
    canvas.set_size_inches(WIDTH + 1.8, HEIGHT)
    axes = canvas.subplots()
    for curve in CURVES[figure.name]():
        style = ("-", "--", ":")[curve.line]
        colour = COLOURS[curve.colour]
        axes.plot(curve.theta, curve.chance, style, color=colour, label=curve.label)
    if figure.name == "curves/intro":
        axes.set_title("difficulties and abilities invented, as the answers are", fontsize=7)
        for user, ability in enumerate((0.85, 0.6, 0.4, 0.15), start=1):
            axes.annotate(f"u{user}", (ability, 0.0), (ability, 0.06), ha="center", fontsize=9)
            axes.plot([ability], [0.0], "k|", markersize=10)
    axes.set_xlabel("ability θ")
    axes.set_ylabel("chance of the correct answer" if "intro" in figure.name else "chance")
    canvas.legend(loc="outside right center", fontsize=8)


def _example(canvas: Any, figure: Figure, results: Sequence[Result]) -> None:  # noqa: ARG001
    steps = worked_example()
    canvas.set_size_inches(WIDTH * 1.6, 2.6)
    left, right = canvas.subplots(1, 2, width_ratios=(2, 1))
    left.imshow(steps["C"], cmap="Blues", vmin=0, vmax=1.4, aspect="auto")
    left.set_xticks(range(len(steps["columns"])), steps["columns"], rotation=45, ha="right")
    left.set_yticks(range(4), list(steps["answers"]))
    left.set_title("response matrix C", fontsize=9)
    left.grid(visible=False)
    right.barh(range(4), steps["scores"], color=COLOURS[0])
    right.set_yticks(range(4), list(steps["answers"]))
    right.invert_yaxis()
    right.set_title("HnD scores", fontsize=9)
    canvas.supxlabel(
        "The answers are invented: the paper prints them as a picture only. They have all the "
        "properties that its text states.",
        fontsize=7,
    )


_DRAW = {
    "accuracy": _lines,
    "scalability": _lines,
    "rounds": _lines,
    "stability": _lines,
    "beta": _lines,
    "real": _bars,
    "simulated": _bars,
    "curves": _curves,
    "example": _example,
    "models": lambda canvas, *_: draw_models(canvas, COLOURS),
    "tripartite": lambda canvas, *_: draw_tripartite(canvas, COLOURS),
}
