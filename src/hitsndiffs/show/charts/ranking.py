"""The ranking with its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.labels import distinct
from hitsndiffs.show.theme import LIGHT, altair

__all__ = ["INTERVAL", "interval", "ranking_chart", "score_title"]

#: Up to this many users are all drawn; more are drawn as a curve, plus this many at either end.
ALL_DRAWN_UP_TO = 60
ENDS = 15
#: Points of the curve.
POINTS = 150
#: Standard errors to either side: 95 % of a normal distribution.
INTERVAL = 1.96
WIDTH = 320

Ints = npt.NDArray[np.int64]
Vector = npt.NDArray[np.float64]


def score_title(ranking: Ranking) -> str:
    """The axis title for the scores.

    >>> import hitsndiffs as hnd
    >>> score_title(hnd.rank([list("AAA"), list("AAB"), list("ABB")], method="majority"))
    'expected share of right answers'
    """
    return {
        "correct": "expected share of right answers",
        "ability": "ability",
    }.get(ranking.by, "score")


def interval(ranking: Ranking) -> tuple[Vector, Vector]:
    """The 95 % interval of each user's true score; shares stay between 0 and 1."""
    reach = INTERVAL * np.nan_to_num(ranking.standard_errors)
    low, high = ranking.scores - reach, ranking.scores + reach
    if ranking.by == "correct":
        return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)
    return low, high


def ranking_chart(ranking: Ranking, *, users: Sequence[Any] | None = None) -> Any:
    """Users from best to worst, each with score and interval (a caterpillar plot).

    Parameters
    ----------
    ranking
        What to draw; only the largest of several groups that cannot be compared.
    users
        Draw only these users (default: all, or a curve and both ends if there are many).
    """
    order = ranking.order[ranking.components[ranking.order] == 0]
    if users is not None:
        return _caterpillar(ranking, _asked(ranking, order, users))
    if len(order) <= ALL_DRAWN_UP_TO:
        return _caterpillar(ranking, order)
    ends = np.concatenate([order[:ENDS], order[-ENDS:]])
    alt = altair()
    return alt.vconcat(
        _curve(ranking, order),
        _caterpillar(ranking, ends, gap=ENDS),
        spacing=28,
    )


def _asked(ranking: Ranking, order: Ints, users: Sequence[Any]) -> Ints:
    names = {str(ranking.users[j]): int(j) for j in order}
    missing = [user for user in users if str(user) not in names]
    if missing:
        raise InputError(
            f"There is no user {missing[0]!r} in the ranking's largest group; "
            "ranking.users lists them all."
        )
    chosen = {names[str(user)] for user in users}
    return np.array([j for j in order if int(j) in chosen], dtype=np.int64)


def _caterpillar(ranking: Ranking, users: Ints, gap: int | None = None) -> Any:
    alt = altair()
    names = distinct(ranking.users[users])
    score = ranking.scores[users]
    reach = INTERVAL * np.nan_to_num(ranking.standard_errors[users])
    low, high = interval(ranking)
    rows = [
        {
            "user": name,
            "score": float(s),
            "low": float(low[j]),
            "high": float(high[j]),
            "said": f"{name}: rank {rank_:.0f}, {_number(ranking, s)} ± {_number(ranking, r)}",
        }
        for j, name, s, r, rank_ in zip(
            users, names, score, reach, ranking.ranks[users], strict=True
        )
    ]
    if gap is not None:
        names.insert(gap, "⋮")
        rows.append({"user": "⋮", "low": None})
    x = alt.X(
        "score:Q",
        title=score_title(ranking),
        axis=alt.Axis(format="%" if ranking.by == "correct" else "", orient="bottom", tickCount=6),
        scale=alt.Scale(zero=False, nice=True),
    )
    y = alt.Y(
        "user:N",
        sort=names,
        scale=alt.Scale(domain=names),
        title=None,
        axis=alt.Axis(
            labelLimit=150, labelPadding=8, ticks=False, domain=False, labelOverlap=False
        ),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(y=y)
    bars = base.mark_rule(color=LIGHT["accent-soft"], strokeWidth=4, strokeCap="round").encode(
        x=alt.X("low:Q"), x2="high:Q"
    )
    points = base.mark_point(
        filled=True, color=LIGHT["accent"], size=55, opacity=1, aria=True
    ).encode(x=x, description="said:N", tooltip=alt.Tooltip("said:N", title=" "))
    return (bars + points).properties(width=WIDTH, height=alt.Step(19))


def _number(ranking: Ranking, value: float) -> str:
    return f"{100 * value:.0f} %" if ranking.by == "correct" else f"{value:.2f}"


def _curve(ranking: Ranking, order: Ints) -> Any:
    """Score against rank, with the interval as a band; each point averages neighbouring users."""
    alt = altair()
    cells = np.array_split(order, min(POINTS, len(order)))
    low, high = interval(ranking)
    first = np.cumsum([0] + [len(cell) for cell in cells[:-1]])
    rows = [
        {
            "rank": float(place + (len(cell) + 1) / 2),
            "score": float(ranking.scores[cell].mean()),
            "low": float(low[cell].mean()),
            "high": float(high[cell].mean()),
        }
        for place, cell in zip(first, cells, strict=True)
    ]
    y = alt.Y(
        "score:Q",
        title=score_title(ranking),
        axis=alt.Axis(format="%" if ranking.by == "correct" else "", tickCount=5),
        scale=alt.Scale(zero=False),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("rank:Q", title="rank", scale=alt.Scale(domain=[1, len(order)], nice=False))
    )
    band = base.mark_area(color=LIGHT["accent-soft"], opacity=0.7).encode(
        y=alt.Y("low:Q"), y2="high:Q"
    )
    line = base.mark_line(color=LIGHT["accent"], strokeWidth=2).encode(y=y)
    return (band + line).properties(width=WIDTH, height=170)
