"""What lies behind a ranking: agreement of methods, leading axes, sheets that look copied."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError
from hitsndiffs.results.comparison import Comparison
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.alike import Alike, find_alike
from hitsndiffs.show.axes import LeadingAxes, find_axes
from hitsndiffs.show.labels import distinct
from hitsndiffs.show.theme import LIGHT, SHADES, altair

__all__ = ["agreement_chart", "axes_chart", "copies_chart"]


def agreement_chart(comparison: Comparison) -> Any:
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


def copies_chart(ranking: Ranking, *, alike: Alike | None = None) -> Any:
    """Share of equal answers between users who agree more than ability explains.

    Parameters
    ----------
    ranking
        A ranking by a method that looks for copies (``latent-key``, ``auto``).
    alike
        The result of :func:`~hitsndiffs.show.alike.find_alike`, if already known.
    """
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
) -> Any:
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
    alt = altair()
    quiet = {"ticks": False, "domain": False, "grid": False, "labelOverlap": False}
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X(
            "column:N",
            sort=names[:-1],
            title=None,
            axis=alt.Axis(**quiet, labelAngle=-45, labelLimit=120),
        ),
        y=alt.Y("row:N", sort=names[1:], title=None, axis=alt.Axis(**quiet, labelLimit=150)),
    )
    cells = base.mark_rect(stroke=LIGHT["surface"], strokeWidth=1).encode(
        color=alt.condition(
            "isValid(datum.value)",
            alt.Color(
                "value:Q",
                title=title,
                scale=alt.Scale(
                    type="threshold", domain=thresholds, range=[LIGHT[name] for name in SHADES]
                ),
                legend=alt.Legend(
                    orient="top", format=".0%", labelExpr="replace(datum.label, /%/g, '')"
                ),
            ),
            alt.value(LIGHT["blank"]),
        )
    )
    dark = thresholds[2]
    numbers = base.mark_text(fontSize=11).encode(
        text="text:N",
        color=alt.condition(
            f"datum.value >= {dark}", alt.value(LIGHT["surface"]), alt.value(LIGHT["ink"])
        ),
    )
    layers = [cells, numbers] if step >= 24 else [cells]
    return alt.layer(*layers).properties(width=alt.Step(step), height=alt.Step(step))


def axes_chart(ranking: Ranking, *, axes: LeadingAxes | None = None) -> Any:
    """Users on the two strongest axes of the answers, coloured by the ranking.

    If the colour changes along the first axis, the ranking shows the strongest difference between
    users; if it changes along the second, another difference is stronger.

    Parameters
    ----------
    ranking
        The result.
    axes
        The result of :func:`~hitsndiffs.show.axes.find_axes`, if already known.
    """
    alt = altair()
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
    scatter = (
        alt.Chart(alt.Data(values=rows))
        .mark_point(
            filled=True, size=40, opacity=0.9, aria=True, stroke=LIGHT["quiet"], strokeWidth=0.5
        )
        .encode(
            x=alt.X("x:Q", title=_axis_title(1, found), axis=alt.Axis(labels=False, ticks=False)),
            y=alt.Y("y:Q", title=_axis_title(2, found), axis=alt.Axis(labels=False, ticks=False)),
            color=alt.Color(
                "group:N",
                title="users",
                sort=groups,
                scale=alt.Scale(domain=groups, range=[LIGHT[name] for name in SHADES]),
                legend=alt.Legend(orient="top", symbolStrokeWidth=0.5),
            ),
            description="said:N",
            tooltip=alt.Tooltip("said:N", title=" "),
        )
    )
    return scatter.properties(width=320, height=260)


def _axis_title(number: int, axes: LeadingAxes) -> str:
    return f"axis {number} (strength {axes.strengths[number - 1]:.2f})"
