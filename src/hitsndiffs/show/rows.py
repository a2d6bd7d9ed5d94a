"""The rows of the ranking table in a page: some as HTML, all as data that the page can search."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.charts.ranking import interval
from hitsndiffs.show.display_names import clean

__all__ = ["Row", "Rows", "ranking_rows"]

#: The first rows, up to this many, are written as HTML; the page's script adds the others.
WRITTEN = 100
#: Up to this many rows are stored as plain data; more are packed (deflate, base64).
PLAIN = 1_000
#: The page can search this many users; of more, half are from the top, half from the bottom.
SEARCHED = 100_000
#: Maximum characters of a name in the data.
LONGEST_USER = 120


@dataclass(frozen=True)
class Row:
    """One user: the texts of the cells, and the bar's positions between 0 and 100."""

    rank: str
    user: str
    score: str
    error: str
    ranks: str
    answers: str
    group: str
    low: float
    middle: float
    high: float


@dataclass(frozen=True)
class Rows:
    """The ranking as rows.

    Attributes
    ----------
    written
        The rows that the page holds as HTML.
    data
        All searchable rows as text: JSON, or packed.
    packed
        Whether the data are packed.
    n_data, n_users
        How many rows are in the data, and how many users there are.
    groups
        Whether the users fall into several groups.
    shares
        Whether the scores are shares of right answers.
    """

    written: list[Row]
    data: str
    packed: bool
    n_data: int
    n_users: int
    groups: bool
    shares: bool


def ranking_rows(ranking: Ranking, *, searched: int = SEARCHED) -> Rows:
    """Make the rows of a ranking, best first, for a page that holds up to ``searched`` users."""
    order = ranking.order
    if len(order) > searched:
        order = np.concatenate([order[: searched // 2], order[-(searched - searched // 2) :]])
    shares = ranking.by == "correct"
    low, high = interval(ranking)
    lowest = 0.0 if shares else float(np.nanmin(low))
    highest = 1.0 if shares else float(np.nanmax(high))
    first, last = ranking.rank_intervals()
    numbers: dict[str, Any] = {
        "rank": _whole(ranking.ranks[order]),
        "score": _rounded(ranking.scores[order]),
        "error": _rounded(ranking.standard_errors[order]),
        "first": _whole(first[order]),
        "last": _whole(last[order]),
        "answers": ranking.responses.answers_per_user[order].tolist(),
        "group": (ranking.components[order] + 1).tolist(),
    }
    names = [clean(user, LONGEST_USER) for user in ranking.users[order].tolist()]
    data = {
        "user": names,
        **numbers,
        "shares": shares,
        "range": [lowest, highest],
    }
    if ranking.n_components == 1:
        del data["group"]
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = len(order) > PLAIN
    written = [
        _row(names[i], {name: values[i] for name, values in numbers.items()}, data, low[j], high[j])
        for i, j in enumerate(order[:WRITTEN].tolist())
    ]
    return Rows(
        written=written,
        data=_packed(text) if packed else _harmless(text),
        packed=packed,
        n_data=len(order),
        n_users=len(ranking.order),
        groups=ranking.n_components > 1,
        shares=shares,
    )


def _row(name: str, value: dict[str, Any], data: dict[str, Any], low: float, high: float) -> Row:
    lowest, highest = data["range"]

    def place(x: float | None) -> float:
        if x is None or not np.isfinite(x) or highest <= lowest:
            return 0.0
        return round(float(100 * (x - lowest) / (highest - lowest)), 1)

    def said(x: float | None) -> str:
        if x is None:
            return ""
        return f"{100 * x:.1f}" if data["shares"] else f"{x:.3f}"

    score = said(value["score"])
    return Row(
        rank="–" if value["rank"] is None else f"{value['rank']:,}",
        user=name,
        score=f"{score} %" if score and data["shares"] else score or "–",
        error=f"± {said(value['error'])}" if value["error"] is not None else "",
        ranks="" if value["first"] is None else f"{value['first']:,}–{value['last']:,}",
        answers=f"{value['answers']:,}",
        group=str(value["group"]) if value["group"] > 0 else "–",
        low=place(low),
        middle=place(value["score"]),
        high=place(high),
    )


def _whole(values: Any) -> list[int | None]:
    return [None if np.isnan(v) else int(v) for v in values.tolist()]


def _rounded(values: Any) -> list[float | None]:
    """As many digits as are shown: the page and the file must round alike."""
    return [None if v != v else v for v in np.round(values, 3).tolist()]


def _packed(text: str) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode()


def _harmless(text: str) -> str:
    """JSON that is safe inside a page: it cannot open or close a tag."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
