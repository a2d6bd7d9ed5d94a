"""The page of the documentation: what the paper claims, what came out, where and why it differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from reproduction import explanations
from reproduction.agreement import AGREE_WITHIN, DISTURBED, Result, exponent
from reproduction.cells import BASE
from reproduction.contestants import contestant
from reproduction.figures import (
    BETWEEN,
    FIGURES,
    FROM_ONE,
    PAIRS,
    RANKERS,
    SIGNED,
    WITHOUT_KEY,
)
from reproduction.real import PAPER_SIZES, sizes
from reproduction.values import paper_value

__all__ = ["markdown"]

All = Mapping[str, Sequence[Result]]
Rows = Iterable[Sequence[Any]]

#: Times are compared from this size on; smaller data take almost no time.
LARGE = 1000
MIRT = (
    " The GRM-estimator is mirt with 21 points and a coarse tolerance, the paper's is girth: its "
    "multiples do not compare."
)
#: The paper stops a method after so many seconds.
TIMED_OUT = 1000
SIDES = ("users", "items")
#: More cells of one cause are counted.
MOST_LISTED = 4
MODELS = ("grm", "bock", "samejima")


def markdown(
    results: All, *, run: str, notes: Sequence[str], again: Mapping[Any, Result] | None = None
) -> str:
    """What agrees with the paper, what differs, and why; ``run`` says how the numbers were made."""
    parts = [
        ["# The paper's figures, reproduced", "", run, ""],
        [
            "Each heading gives the paper's claim, then what came out. A cell (a point of a line) "
            f"*agrees* when our mean and the paper's are within {AGREE_WITHIN:g} standard errors "
            "of their difference; the paper's spread is taken to be ours where it states none. "
            "Numbers in brackets are the paper's. Which code and which test belong to each figure "
            "is in [paper-map.md](paper-map.md).",
            "",
        ],
        _accuracy(results),
        _text_and_code(results),
        _consistent(results),
        _missing(results),
        _stability(results),
        _rounds(results),
        _times(results),
        _beta(results),
        _sizes(),
        _differences(results, again or {}),
        ["## Left out", "", *(f"- {note}" for note in notes), ""] if notes else [],
    ]
    return "\n".join(line for part in parts for line in part)


# -- accuracy -----------------------------------------------------------------------------------


def _accuracy(results: All) -> list[str]:
    """Agreement of every figure's accuracies, method by method."""
    kinds = {"accuracy": "simulated", "real": "real", "simulated": "other simulations"}
    shown = {k: v for k, v in kinds.items() if any(FIGURES[n].kind == k for n in results)}
    if not shown:
        return []
    rows = []
    for method in RANKERS:
        cells = [_agreeing(results, kind, method) for kind in shown]
        if any(cells):
            mean = _mean_accuracy(results, "accuracy/", method)
            rows.append([explanations.label(method), mean, *cells])
    together = explanations.share(results)
    lines = [
        "## Accuracy (Figures 4, 7, 9, 11, 12, 13)",
        "",
        "*“HnD robustly returns rankings for users with accuracy on average better than or equal "
        "to other truth discovery methods”; on the six real sets “PooledInvestment and HITS "
        "perform slightly better”.* Mean accuracy over the simulated figures, and the cells that "
        "agree:",
        "",
        *table(["method", "mean", *shown.values()], rows),
    ]
    if together.cells:
        lines += [
            f"HnD, ABH, HITS, Investment, PooledInvestment and True-answer together, simulated: "
            f"{together.agree} of {together.cells} ({together.share:.1%}). {_how_often(results)}",
            "",
        ]
    means = {
        r.method: r.value
        for r in results.get("real", ())
        if (r.panel, r.x) == ("accuracy", "mean") and r.method in WITHOUT_KEY
    }
    if means:
        best_first = sorted(means, key=lambda method: -means[method])
        said = ", ".join(f"{explanations.label(m)} {means[m]:.2f}" for m in best_first)
        lines += [f"Means over the six real sets: {said}.", ""]
    return lines


def _how_often(results: All) -> str:
    """At how many points HnD has the highest mean of the methods without a key."""
    best: dict[tuple[str, int], list[Result]] = {}
    for name, points in results.items():
        for r in points:
            if (
                FIGURES[name].kind == "accuracy"
                and r.panel == "accuracy"
                and r.method in WITHOUT_KEY
            ):
                best.setdefault((name, r.place), []).append(r)
    first = sum(max(own, key=lambda r: r.value).method == "hnd" for own in best.values())
    return (
        f"Of the methods without a key HnD has the highest mean at {first} of {len(best)} points."
    )


def _agreeing(results: All, kind: str, method: str) -> str:
    own = [
        r
        for name, points in results.items()
        if FIGURES[name].kind == kind
        for r in points
        if (r.panel, r.method) == ("accuracy", method) and r.verdict
    ]
    return f"{sum(r.verdict == 'agrees' for r in own)} of {len(own)}" if own else ""


#: Method → where the published code departs from the text.
DEPARTURES = {
    "hits": "HITS: it divides an option's weight by the sum within the item, the text does not, so "
    "HITS is the first eigenvector of C Cᵀ only where everybody answered everything. ",
    "truthfinder": "TruthFinder: it divides by that sum, too, and the text does not. ",
    "true-answer": "True-answer: the paper counts right answers, here it is their share (see "
    "missing answers). ",
    "grm": "GRM-estimator: the code gives an option its entry of an argsort where its rank is "
    "needed, and its figures show that; here options are in order. It uses the package girth, "
    "which takes 5 seconds where mirt, used here, takes 0.3; girth itself was not run. ",
}


def _ran(results: All, method: str) -> bool:
    return any(r.method == method for points in results.values() for r in points)


def _text_and_code(results: All) -> list[str]:
    """Mean accuracies where the text and the published code say different things."""
    names = {
        "truthfinder": "TruthFinder, weights divided (code)",
        "truthfinder-text": "TruthFinder by the text's formula",
        "grm": "GRM-estimator, options in order",
        "grm-levels": "GRM-estimator, the code's levels",
    }
    groups = {model: f"accuracy/{model}/" for model in MODELS} | {"real sets": "real"}
    rows = []
    for method, said in names.items():
        cells = [_mean_accuracy(results, prefix, method) for prefix in groups.values()]
        if any(cells):
            rows.append([said, *cells])
    if not rows:
        return []
    return [
        "## Where the text and the published code differ",
        "",
        "The stored values come from the published code. "
        + "".join(said for method, said in DEPARTURES.items() if _ran(results, method))
        + "Mean accuracy over the figures:",
        "",
        *table(["", *groups], rows),
        *_levels(results),
    ]


def _levels(results: All) -> list[str]:
    """How far the GRM-estimator with the published levels is tested at all."""
    said = []
    for model in ("bock", "samejima"):
        own = [
            r
            for name, points in results.items()
            if name.startswith(f"accuracy/{model}/")
            for r in points
            if (r.panel, r.method) == ("accuracy", "grm-levels") and r.verdict
        ]
        if own:
            agree = sum(r.verdict == "agrees" for r in own)
            spread, runs = np.median([r.deviation for r in own]), min(r.runs for r in own)
            away = AGREE_WITHIN * spread * np.sqrt(2 / runs)
            said.append(
                f"{agree} of {len(own)} cells of {model} agree ({runs} runs each, with a standard "
                f"deviation of {spread:.2f}: a mean that is {away:.2f} away still agrees)"
            )
    if not said:
        return []
    return [
        f"With the code's levels {'; '.join(said)}. Where that is wide, agreement says little: the "
        "published GRM-estimator on Samejima's data is in effect untested.",
        "",
    ]


def _mean_accuracy(results: All, prefix: str, method: str) -> str:
    own = [
        r
        for name, points in results.items()
        if name.startswith(prefix)
        for r in points
        if (r.panel, r.method) == ("accuracy", method) and r.x != "mean"
    ]
    if not own:
        return ""
    theirs = [r.paper for r in own if r.paper is not None]
    text = f"{np.mean([r.value for r in own]):.2f}"
    return text + (f" ({np.mean(theirs):.2f})" if theirs else "")


def _consistent(results: All) -> list[str]:
    found = explanations.perfect(results)
    if not found:
        return []
    return [
        "## Consistent answers (Figure 4h)",
        "",
        "*HnD and ABH are the only two methods that reconstruct the order.* Users sorted by their "
        "scores alone, ties at random, with no help from the PQ-tree that the library adds: on how "
        "many data sets do the users of every option stand next to each other?"
        + (" True-answer is given the key." if _ran(results, "true-answer") else "")
        + (" The GRM-estimator is given the order of the options." if _ran(results, "grm") else ""),
        "",
        *table(
            ["method", "data sets", "perfect"],
            [[explanations.label(method), sets, sure] for method, sets, sure in found],
        ),
    ]


def _missing(results: All) -> list[str]:
    rows = []
    for method in ("hnd", "hits", "true-answer", "true-answer-count"):
        cells = []
        for model in MODELS:
            points = results.get(f"accuracy/{model}/answer_probability", ())
            cells += [_beside(_line(points, panel, method).get(0)) for panel in ("accuracy", PAIRS)]
        if any(cells):
            rows.append([explanations.label(method), *cells])
    if not rows:
        return []
    return [
        "## Missing answers (Figures 4g, 9d, 9h)",
        "",
        "*Accuracy when each user answers each item with probability p.* The code lets every user "
        "answer the same number of items instead (`fixed`), and the paper's figures show that. By "
        "the text's rule (`pairs`) HITS and counted right answers, which add up, fall; HnD and "
        "shares, which average, stay. At p = 0.6:",
        "",
        *table(["", *(f"{m}, {how}" for m in MODELS for how in ("fixed", "pairs"))], rows),
    ]


# -- stability ----------------------------------------------------------------------------------


def _stability(results: All) -> list[str]:
    points = results.get("stability", ())
    said = {
        "variance": "variance of absolute entries (code), × 100",
        SIGNED: "variance, signs kept (text), × 100",
        "displacement": "displacement from the truth, places from 0 (code)",
        FROM_ONE: "displacement from the truth, places from 1",
        BETWEEN: "displacement between two runs (text)",
        "accuracy": "accuracy",
    }
    places = [place for place in (0, 5, 10, 20) if any(r.place == place for r in points)]
    rows = []
    for panel, words in said.items():
        for method in ("hnd", "abh"):
            at = _line(points, panel, method)
            if at:
                times = 100 if panel in ("variance", SIGNED) else 1
                cells = [_beside(at.get(p), ".3f", times) for p in places]
                rows.append([f"{contestant(method).label}: {words}", *cells])
    if not rows:
        return []
    figure = FIGURES["stability"]
    return [
        "## Stability of HnD and ABH (Figure 6)",
        "",
        "*HnD's eigenvector has a much smaller variance than ABH's, so its ranking is more stable "
        f"and more accurate.* {_steadier(points)} The variance is not the reason as worded: a unit "
        "vector whose mean is near 0 has variance 1/(m − 1), and the two differ by at most "
        f"{_variances_apart(points):.0%}. The code takes the variance of absolute entries, as the "
        "axis of Figure 6a says. The text of 6b compares runs, the code compares with the truth.",
        "",
        *table(["discrimination", *(f"{figure.x[p]:g}" for p in places)], rows),
    ]


def _steadier(points: Sequence[Result]) -> str:
    """At how many discriminations HnD does better, by each measure that is not a variance."""
    said = []
    for panel, better in (("displacement", min), (BETWEEN, min), ("accuracy", max)):
        ours, theirs = (_line(points, panel, method) for method in ("hnd", "abh"))
        both = [p for p in ours if p in theirs and ours[p].x > 0]
        first = sum(better(ours[p].value, theirs[p].value) == ours[p].value for p in both)
        said.append(f"{first} of {len(both)}")
    return (
        f"It is nearer to the truth at {said[0]} discriminations above 0, nearer to its second run "
        f"at {said[1]}, and more accurate at {said[2]}."
    )


def _variances_apart(points: Sequence[Result]) -> float:
    """The largest relative difference of the variances with their signs."""
    ours, theirs = (_line(points, SIGNED, method) for method in ("hnd", "abh"))
    return max((abs(ours[p].value / theirs[p].value - 1) for p in ours if p in theirs), default=0)


# -- time and rounds ----------------------------------------------------------------------------


def _rounds(results: All) -> list[str]:
    lines = []
    for side in SIDES:
        points = results.get(f"rounds/{side}", ())
        rows = []
        for method in FIGURES[f"rounds/{side}"].methods:
            at = _line(points, "iterations", method)
            if at:
                cells = [_range(at.get(p)) for p in range(len(FIGURES[f"rounds/{side}"].x))]
                rows.append([contestant(method).label, *cells])
        if rows:
            heads = [side, *(f"{x:,}" for x in FIGURES[f"rounds/{side}"].x)]
            lines += table(heads, rows)
    if not lines:
        return []
    judged = [r for side in SIDES for r in results.get(f"rounds/{side}", ()) if r.verdict]
    agree = sum(r.verdict == "agrees" for r in judged)
    return [
        "## Rounds (Figures 5 and 14b)",
        "",
        "*“Generally as the number of questions increase, the number of iterations increase as "
        "well”* (said of ABH-power). So it does, if slowly; HnD's rounds fall. Median of "
        f"{FIGURES['rounds/users'].least_runs} data sets, fewest and most below; the paper's "
        "median of five in brackets. ABH-power's rounds vary tenfold from one data set to the "
        f"next, so medians of five vary too. Compared by logarithms, {agree} of {len(judged)} "
        "medians agree (✗: not).",
        "",
        *lines,
    ]


def _range(r: Result | None) -> str:
    if r is None:
        return ""
    wrong = " ✗" if r.verdict in ("higher", "lower") else ""
    return f"{_beside(r, 'g')}{wrong}<br>{r.low:g}–{r.high:g}"


def _times(results: All) -> list[str]:
    lines = []
    for side in SIDES:
        points = results.get(f"scalability/{side}", ())
        if any(r.panel == "ratio" for r in points):
            lines += _ratios(points, side)
    if not lines:
        return []
    sets = max(r.runs for side in SIDES for r in results.get(f"scalability/{side}", ()))
    return [
        "## Time (Figure 5)",
        "",
        "*HnD-power is linear in users and items; ABH-power and the direct variants are quadratic "
        "in the users.* Processor time of the solver alone, one thread, as multiples of "
        "HnD-power's with full matrices on the same data in the same process (medians of up to "
        f"{sets} data sets, without those at which HnD-power took more than {DISTURBED:g} times "
        "its fastest: memory was being handed out); the paper's multiples in brackets. `on sums` "
        "are the library's solvers. An empty cell was not timed."
        + (MIRT if _ran({s: results.get(f"scalability/{s}", ()) for s in SIDES}, "grm") else ""),
        "",
        *_growth(results),
        *lines,
        *_claims(results),
    ]


def _growth(results: All) -> list[str]:
    """The power of the size that each method's seconds follow, and the paper's own."""
    lines = []
    for side in SIDES:
        figure, points = FIGURES[f"scalability/{side}"], results.get(f"scalability/{side}", ())
        said = []
        for method in ("hnd/power", "hnd/arnoldi", "abh/direct"):
            ours = exponent(
                (r.x, r.value) for r in points if (r.panel, r.method) == ("seconds", method)
            )
            known = (
                (x, paper_value(figure.name, "seconds", method, p)) for p, x in enumerate(figure.x)
            )
            theirs = exponent((x, y) for x, y in known if y is not None and y < TIMED_OUT)
            if ours is not None:
                text = f"{contestant(method).label} {ours:.1f}"
                said.append(text + ("" if theirs is None else f" ({theirs:.1f})"))
        if said:
            lines += [
                f"Seconds grow as this power of the {side}, from {LARGE:,} on: {', '.join(said)}.",
                "",
            ]
    return lines


def _ratios(points: Sequence[Result], side: str) -> list[str]:
    figure = FIGURES[f"scalability/{side}"]
    base = _line(points, "seconds", BASE)
    places = [p for p, x in enumerate(figure.x) if x >= LARGE and p in base]
    if not places:
        return []
    seconds = [f"{base[p].value:.3g}" for p in places]
    rows = [[f"{contestant(BASE).label}, seconds", *seconds]]
    for method in figure.methods:
        at = _line(points, "ratio", method)
        if method == BASE or not any(p in at for p in places):
            continue
        cells = []
        for p in places:
            theirs = _paper_ratio(side, method, p)
            text = f"{at[p].value:.3g}" if p in at else ""
            cells.append(text + ("" if theirs is None else f" ({theirs:.3g})"))
        rows.append([contestant(method).label, *cells])
    return table([side, *(f"{figure.x[p]:,}" for p in places)], rows)


def _paper_ratio(side: str, method: str, place: int) -> float | None:
    figure = f"scalability/{side}"
    own = paper_value(figure, "seconds", method, place)
    base = paper_value(figure, "seconds", BASE, place)
    if own is None or base is None or own >= TIMED_OUT:
        return None
    return own / base


def _claims(results: All) -> list[str]:
    lines = []
    users, items = (results.get(f"scalability/{side}", ()) for side in SIDES)
    at = _line(users, "ratio", "hnd/deflation")
    large = [p for p, r in at.items() if r.x > LARGE]
    if large:
        ours = _mean_ratio([at[p].value for p in large])
        theirs = _mean_ratio([_paper_ratio("users", "hnd/deflation", p) for p in large])
        lines += [
            "*“HnD-power is about 20 % faster than HnD-deflation on average for m > 1000”*: "
            f"HnD-deflation takes {ours} times as long (geometric mean; the paper's own numbers: "
            f"{theirs}). It spends rounds on the left eigenvector, which is known: the numbers of "
            "answers.",
            "",
        ]
    at = _line(items, "ratio", "abh/direct")
    if at and FIGURES["scalability/items"].x[max(at)] >= LARGE:
        last = max(at)
        own = _paper_ratio("items", "abh/direct", last)
        lines += [
            f"*“ABH-direct is slightly faster for fixed few users”*: {at[last].value:.2f} of "
            f"HnD-power's time at {at[last].x:,} items"
            + ("" if own is None else f" (the paper: {own:.2f})")
            + ". One product makes a 100 × 100 matrix; every round of HnD-power reads the users × "
            "options matrix twice.",
            "",
        ]
    return lines


def _mean_ratio(values: Iterable[float | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{np.exp(np.mean(np.log(known))):.2f}"


def _beta(results: All) -> list[str]:
    points = [r for r in results.get("abh-power/beta", ()) if r.panel == "relative rounds"]
    if len(points) < 3:
        return []
    x, y = (np.array([getattr(r, name) for r in points], dtype=float) for name in ("x", "value"))
    slope, cut = np.polyfit(x, y, 1)
    explained = 1 - (y - (slope * x + cut)).var() / y.var()
    said = ", ".join(f"{r.value:.2f} at {r.x:g}" for r in points)
    return [
        "## Rounds against β (Figure 14a)",
        "",
        "*“The iteration number of ABH-power is linear in terms of β.”* Rounds relative to those "
        f"at the smallest β: {said}. A straight line explains {explained:.1%} of it. The paper "
        "prints no values.",
        "",
    ]


def _sizes() -> list[str]:
    """Figure 10, which is a table."""
    here = sizes()
    said = (
        "As counted in the files; the paper's in brackets. Options: all that answers or key name."
    )
    rows: list[list[Any]] = [
        [name, *(f"{a} ({b})" for a, b in zip(here.get(name, theirs), theirs, strict=True))]
        for name, theirs in PAPER_SIZES.items()
    ]
    if not here:
        said = "As the paper says; the files are not here to be counted."
        rows = [[name, *theirs] for name, theirs in PAPER_SIZES.items()]
    return [
        "## The six real data sets (Figure 10)",
        "",
        said,
        "",
        *table(["data set", "users", "questions", "options"], rows),
    ]


# -- what differs -------------------------------------------------------------------------------


def _differences(results: All, again: Mapping[Any, Result]) -> list[str]:
    causes: dict[str, list[Result]] = {}
    for r in explanations.outliers(results):
        causes.setdefault(explanations.cause(r, again.get(r.key)), []).append(r)
    if not causes:
        return []
    lines = ["## What differs, and why", ""]
    for why, points in causes.items():
        lines += [f"{why} {_cells(points, again)}", ""]
    return lines


def _cells(points: Sequence[Result], again: Mapping[Any, Result]) -> str:
    """The cells of a cause: listed, or counted where they are many or another program's."""
    if points[0].method.startswith("grm"):
        apart = np.mean([r.value - r.paper for r in points if r.paper is not None])
        return f"Cells: {len(points)}, ours {apart:+.2f} from the paper's on average."
    if len(points) > MOST_LISTED:
        counts = Counter(explanations.label(r.method) for r in points)
        told = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        return f"{len(points)} cells ({told})."
    said = []
    for r in points:
        second = again.get(r.key)
        more = "" if second is None else f", again {second.value:.4g}"
        name = explanations.label(r.method)
        said.append(
            f"{name} in `{r.figure}` ({r.panel}) at {r.x}: {r.value:.4g} ({r.paper:.4g}{more})"
        )
    return "; ".join(said) + "."


# -- tables -------------------------------------------------------------------------------------


def table(heads: Sequence[str], rows: Rows) -> list[str]:
    """The lines of a table: names in the first column, numbers in the others."""
    return [
        "| " + " | ".join(heads) + " |",
        "|---|" + "---:|" * (len(heads) - 1),
        *("| " + " | ".join(map(str, row)) + " |" for row in rows),
        "",
    ]


def _line(points: Sequence[Result], panel: str, method: str) -> dict[int, Result]:
    return {r.place: r for r in points if (r.panel, r.method) == (panel, method)}


def _beside(r: Result | None, digits: str = ".2f", times: float = 1) -> str:
    """Our value, with the paper's in brackets."""
    if r is None:
        return ""
    text = f"{r.value * times:{digits}}"
    return text + ("" if r.paper is None else f" ({r.paper * times:{digits}})")
