"""What lies behind a ranking: agreement of methods, leading axes, sheets that look copied."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError
from hitsndiffs.results.comparison import Comparison
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.alike import Alike, find_alike
from hitsndiffs.show.display_names import distinct
from hitsndiffs.show.rival_axes import LeadingAxes, find_axes
from hitsndiffs.show.theme import LIGHT, SHADES, Spec, category, mark, quantity, said_on_hover

__all__ = ["agreement_chart", "axes_chart", "copies_chart"]


def agreement_chart(comparison: Comparison) -> Spec:
    """How alike each pair of methods ranks (Spearman's correlation)."""
    names = [result.method for result in comparison.results if result.error is None]
    if len(names) < 2:
        raise InputError("Two methods or more are needed for a picture of their agreement.")
    places = [comparison.methods.index(name) for name in names]
    return _matrix(
        names,
        comparison.correlations[np.ix_(places, places)],
        title="rank correlation × 100",
        thresholds=[0.0, 0.3, 0.6, 0.9],
        step=34,
        unknown="–",
    )


def copies_chart(ranking: Ranking, *, alike: Alike | None = None) -> Spec:
    """Share of equal answers between users who agree more than ability explains."""
    found = find_alike(ranking) if alike is None else alike
    if len(found.users) < 2:
        raise InputError(
            "No users agree more than their abilities explain, so there is nothing to draw."
        )
    names = distinct(found.names, 40)
    return _matrix(
        names,
        found.same,
        title="equal answers, %",
        thresholds=[0.5, 0.7, 0.8, 0.9],
        step=30 if len(names) <= 16 else 20,
    )


def _matrix(
    names: list[str],
    values: npt.NDArray[np.float64],
    *,
    title: str,
    thresholds: list[float],
    step: int,
    unknown: str = "",
) -> Spec:
    """A lower triangle of coloured cells, with their numbers in hundredths."""
    rows = []
    for i, j in zip(*np.tril_indices(len(names), -1), strict=True):
        value = float(values[i, j])
        known = not np.isnan(value)
        rows.append(
            {
                "row": names[i],
                "column": names[j],
                "value": value if known else None,
                "text": f"{100 * value:.0f}" if known else unknown,
            }
        )
    quiet = {"ticks": False, "domain": False, "grid": False, "labelOverlap": False}
    across, down = {"labelAngle": -45, "labelLimit": 120}, {"labelLimit": 150}
    place = {
        "x": category("column", sort=names[:-1], title=None, axis={**quiet, **across}),
        "y": category("row", sort=names[1:], title=None, axis={**quiet, **down}),
    }
    shade = quantity(
        "value",
        title=title,
        scale={
            "type": "threshold",
            "domain": thresholds,
            "range": [LIGHT[name] for name in SHADES],
        },
        legend={
            "orient": "top",
            "format": ".0%",
            # the lowest shade has no label
            "labelExpr": "replace(datum.label || '', /%/g, '')",
        },
    )
    cells = {
        "mark": mark("rect", stroke=LIGHT["surface"], strokeWidth=1),
        "encoding": {
            **place,
            "color": {
                "condition": {"test": "isValid(datum.value)", **shade},
                "value": LIGHT["blank"],
            },
        },
    }
    on_dark = {"test": f"datum.value >= {thresholds[2]}", "value": LIGHT["surface"]}
    numbers = {
        "mark": mark("text", fontSize=11),
        "encoding": {
            **place,
            "text": category("text"),
            "color": {"condition": on_dark, "value": LIGHT["ink"]},
        },
    }
    return {
        "data": {"values": rows},
        "layer": [cells, numbers] if step >= 24 else [cells],
        "width": {"step": step},
        "height": {"step": step},
    }


def axes_chart(ranking: Ranking, *, axes: LeadingAxes | None = None) -> Spec:
    """Users on the two strongest axes of the answers, coloured by the ranking.

    If the colour changes along the first axis, the ranking shows the strongest difference between
    users; if it changes along the second, another difference is stronger.
    """
    found = find_axes(ranking) if axes is None else axes
    if found.points.shape[1] < 2:
        raise InputError("The answers have one axis only, so there is no second one to draw.")
    names = distinct(ranking.users[found.users])
    groups = ["weakest", "weaker", "middle", "stronger", "strongest"]
    rows = [
        {
            "x": float(x),
            "y": float(y),
            "group": groups[int(fifth)],
            "said": f"{name}: rank {rank_:.0f}",
        }
        for (x, y), fifth, name, rank_ in zip(
            found.points[:, :2],
            found.fifths,
            names,
            ranking.ranks[found.users],
            strict=True,
        )
    ]
    bare = {"labels": False, "ticks": False}
    return {
        "data": {"values": rows},
        "mark": mark(
            "point",
            filled=True,
            size=40,
            opacity=0.9,
            aria=True,
            stroke=LIGHT["quiet"],
            strokeWidth=0.5,
        ),
        "encoding": {
            "x": quantity("x", title=_axis_title(1, found), axis=bare),
            "y": quantity("y", title=_axis_title(2, found), axis=bare),
            "color": category(
                "group",
                title="users",
                sort=groups,
                scale={"domain": groups, "range": [LIGHT[name] for name in SHADES]},
                legend={"orient": "top", "symbolStrokeWidth": 0.5},
            ),
            **said_on_hover(),
        },
        "width": 320,
        "height": 260,
    }


def _axis_title(number: int, axes: LeadingAxes) -> str:
    return f"axis {number} (strength {axes.strengths[number - 1]:.2f})"
