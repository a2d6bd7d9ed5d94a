"""The answer table as a picture: users × items, sorted by the result."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.display_names import distinct
from hitsndiffs.show.items_and_answers import chosen_options, right_answers
from hitsndiffs.show.theme import LIGHT, SHADES, Spec, category, mark, quantity

__all__ = ["answers_chart"]

#: Tables of up to this many rows and columns are drawn cell by cell; larger ones in this many
#: bands of users and blocks of items, coloured by the share of right answers.
ROWS, COLUMNS = 60, 80
BANDS, BLOCKS = 50, 60
#: Maximum users looked at; of more, this many are taken evenly from best to worst.
LOOKED_AT_USERS = 4_000
WIDTH = 430

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def answers_chart(ranking: Ranking, *, as_read: bool = False) -> Spec:
    """Right, wrong and missing answers; the best users on top, the easiest items at the left.

    Right means the likely key. If the answers are consistent, the colours meet along one line,
    and the users who chose the same answer are next to each other. ``as_read`` leaves users and
    items in the order of the data, to see what sorting does.
    """
    users = ranking.order[ranking.components[ranking.order] == 0]
    if as_read:
        users = np.sort(users)
    right = right_answers(ranking, chosen_options(ranking, _spread(users)))
    items = np.flatnonzero(~np.isnan(right).all(axis=0))  # another group may have its own
    if not as_read:
        items = items[np.argsort(-np.nanmean(right[:, items], axis=0), kind="stable")]
    table = right[:, items]
    title = "items" if as_read else "items, easiest first"
    if len(users) <= ROWS and len(items) <= COLUMNS:
        return _cells(ranking, table, users, items, title)
    return _bands(table, len(users), title, "user" if as_read else "rank")


def _spread(users: Ints) -> Ints:
    places = np.linspace(0, len(users) - 1, min(len(users), LOOKED_AT_USERS)).round()
    return users[np.unique(places.astype(np.int64))]


def _cells(ranking: Ranking, table: Array, users: Ints, items: Ints, title: str) -> Spec:
    names = distinct(ranking.users[users])
    questions = distinct(ranking.responses.items[items])
    states = np.where(np.isnan(table), "no answer", np.where(table == 1, "right", "wrong"))
    rows = [
        {"user": names[j], "item": questions[i], "answer": str(states[j, i])}
        for j in range(len(users))
        for i in range(len(items))
    ]
    colours = [LIGHT["accent"], LIGHT["warn-soft"], LIGHT["blank"]]
    step = float(np.clip(WIDTH / max(len(items), 1), 5, 16))
    quiet = {"ticks": False, "domain": False, "grid": False}
    across = {"labels": step >= 9, "labelAngle": -90, "labelLimit": 90, "labelPadding": 4}
    down = {"labelLimit": 150, "labelPadding": 6, "labelOverlap": False}
    return {
        "data": {"values": rows},
        "mark": mark("rect", stroke=LIGHT["surface"], strokeWidth=0.6),
        "encoding": {
            "x": category(
                "item", sort=None, title=title, axis={**quiet, **across, "titlePadding": 20}
            ),
            "y": category("user", sort=None, title=None, axis={**quiet, **down}),
            "color": category(
                "answer",
                title=None,
                scale={"domain": ["right", "wrong", "no answer"], "range": colours},
                legend={"orient": "top", "symbolType": "square", "symbolStrokeWidth": 0},
            ),
        },
        "width": {"step": step},
        "height": {"step": max(step, 14)},
    }


def _bands(table: Array, users: int, across: str, down: str) -> Spec:
    """Shares of right answers in bands of users and blocks of items."""
    bands = np.array_split(np.arange(table.shape[0]), min(BANDS, table.shape[0]))
    blocks = np.array_split(np.arange(table.shape[1]), min(BLOCKS, table.shape[1]))
    answered, right = ~np.isnan(table), np.nan_to_num(table)
    rows = []
    for y, band in enumerate(bands):
        for x, block in enumerate(blocks):
            n = int(answered[np.ix_(band, block)].sum())
            share = right[np.ix_(band, block)].sum() / n if n else None
            rows.append(
                {
                    "x": x,
                    "x2": x + 1,
                    "y": y / len(bands) * users,
                    "y2": (y + 1) / len(bands) * users,
                    "share": None if share is None else float(share),
                }
            )
    quiet = {"grid": False, "domain": False}
    colour = quantity(
        "share",
        title="share right",
        scale={
            "type": "threshold",
            "domain": [0.2, 0.4, 0.6, 0.8],
            "range": [LIGHT[name] for name in SHADES],
        },
        legend={"orient": "top", "format": ".0%"},
    )
    return {
        "data": {"values": rows},
        "mark": mark("rect"),
        "encoding": {
            "x": quantity(
                "x",
                title=across,
                axis={**quiet, "labels": False, "ticks": False},
                scale={"nice": False},
            ),
            "x2": {"field": "x2"},
            "y": quantity("y", title=down, axis=quiet, scale={"reverse": True, "nice": False}),
            "y2": {"field": "y2"},
            "color": {
                "condition": {"test": "isValid(datum.share)", **colour},
                "value": LIGHT["blank"],
            },
        },
        "width": WIDTH,
        "height": 360,
    }
