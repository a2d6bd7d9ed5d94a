"""The ranking with its intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.display_names import distinct
from hitsndiffs.show.theme import LIGHT, Spec, category, mark, quantity, said_on_hover

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


def ranking_chart(ranking: Ranking, *, users: Sequence[Any] | None = None) -> Spec:
    """Users from best to worst, each with score and interval (a caterpillar plot).

    All users of the largest group, or only some; of many, a curve and both ends.
    """
    order = ranking.order[ranking.components[ranking.order] == 0]
    if users is not None:
        return _caterpillar(ranking, _asked(ranking, order, users))
    if len(order) <= ALL_DRAWN_UP_TO:
        return _caterpillar(ranking, order)
    ends = np.concatenate([order[:ENDS], order[-ENDS:]])
    parts = [_curve(ranking, order), _caterpillar(ranking, ends, gap=ENDS)]
    return {"vconcat": parts, "spacing": 28}


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


def _caterpillar(ranking: Ranking, users: Ints, gap: int | None = None) -> Spec:
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
    axis = {"format": _axis_format(ranking), "orient": "bottom", "tickCount": 6}
    scale = {"zero": False, "nice": True}
    x = quantity("score", title=score_title(ranking), axis=axis, scale=scale)
    names_axis = {
        "labelLimit": 150,
        "labelPadding": 8,
        "ticks": False,
        "domain": False,
        "labelOverlap": False,
    }
    y = category("user", sort=names, scale={"domain": names}, title=None, axis=names_axis)
    bars = {
        "mark": mark("rule", color=LIGHT["accent-soft"], strokeWidth=4, strokeCap="round"),
        "encoding": {"x": quantity("low"), "x2": {"field": "high"}, "y": y},
    }
    points = {
        "mark": mark("point", filled=True, color=LIGHT["accent"], size=55, opacity=1, aria=True),
        "encoding": {"x": x, "y": y, **said_on_hover()},
    }
    return {
        "data": {"values": rows},
        "layer": [bars, points],
        "width": WIDTH,
        "height": {"step": 19},
    }


def _axis_format(ranking: Ranking) -> str:
    return "%" if ranking.by == "correct" else ""


def _number(ranking: Ranking, value: float) -> str:
    return f"{100 * value:.0f} %" if ranking.by == "correct" else f"{value:.2f}"


def _curve(ranking: Ranking, order: Ints) -> Spec:
    """Score against rank, with the interval as a band; each point averages neighbouring users."""
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
    axis = {"format": _axis_format(ranking), "tickCount": 5}
    y = quantity("score", title=score_title(ranking), axis=axis, scale={"zero": False})
    x = quantity("rank", title="rank", scale={"domain": [1, len(order)], "nice": False})
    band = {
        "mark": mark("area", color=LIGHT["accent-soft"], opacity=0.7),
        "encoding": {"x": x, "y": quantity("low"), "y2": {"field": "high"}},
    }
    line = {
        "mark": mark("line", color=LIGHT["accent"], strokeWidth=2),
        "encoding": {"x": x, "y": y},
    }
    return {"data": {"values": rows}, "layer": [band, line], "width": WIDTH, "height": 170}
