"""Items: how hard and how discriminating each is, and who chose which option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hitsndiffs.errors import InputError
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.labels import clean, distinct
from hitsndiffs.show.tables import Item, item_list, option_groups, option_shares
from hitsndiffs.show.theme import LIGHT, altair

__all__ = ["item_chart", "items_chart", "option_rows", "options_chart"]

#: Above this many, items without a remark are counted in cells instead of drawn one by one.
POINTS_UP_TO = 1_500
CELLS = 30
#: At most this many doubtful items are drawn, and at most this many of them named.
DRAWN_DOUBTS, NAMED_DOUBTS = 300, 20
#: Maximum options of an item that get a line: the keys first, then the most chosen.
LINES = 6
WIDTH = 320


def items_chart(
    ranking: Ranking,
    *,
    key: Mapping[Any, Any] | None = None,
    items: Sequence[Item] | None = None,
) -> Any:
    """Items by difficulty and discrimination, the doubtful ones marked.

    Parameters
    ----------
    ranking
        The result.
    key
        An answer key to check against the answers.
    items
        The result of :func:`~hitsndiffs.show.tables.item_list`, if already known.
    """
    alt = altair()
    found = item_list(ranking, key) if items is None else items
    known = [item for item in found if item.share is not None and item.discrimination is not None]
    doubtful = [item for item in known if item.remark][:DRAWN_DOUBTS]
    sound = [item for item in known if not item.remark]
    x = alt.X(
        "share:Q",
        title="share of users who chose the likely key (easy at the right)",
        axis=alt.Axis(format="%", tickCount=5),
        scale=alt.Scale(domain=[0, 1]),
    )
    y = alt.Y("telling:Q", title="discrimination", axis=alt.Axis(tickCount=5))
    layers = [_sound(sound, x, y) if len(sound) <= POINTS_UP_TO else _counted(sound)]
    rows = _rows(doubtful)
    marked = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y)
    layers.append(
        marked.mark_point(
            filled=True, shape="triangle-up", color=LIGHT["warn"], size=90, opacity=1, aria=True
        ).encode(description="said:N", tooltip=alt.Tooltip("said:N", title=" "))
    )
    layers.append(
        alt.Chart(alt.Data(values=rows[:NAMED_DOUBTS]))
        .mark_text(align="left", dx=8, dy=-6, color=LIGHT["ink"], fontSize=12, limit=120)
        .encode(x=x, y=y, text="item:N")
    )
    return alt.layer(*layers).properties(width=WIDTH, height=260)


def _rows(items: Sequence[Item]) -> list[dict[str, Any]]:
    return [
        {
            "item": item.name,
            "share": item.share,
            "telling": item.discrimination,
            "said": f"{item.name}: {100 * (item.share or 0):.0f} % chose {item.key}"
            + (f"; {item.remark}" if item.remark else ""),
        }
        for item in items
    ]


def _sound(items: Sequence[Item], x: Any, y: Any) -> Any:
    alt = altair()
    return (
        alt.Chart(alt.Data(values=_rows(items)))
        .mark_point(filled=True, color=LIGHT["accent"], size=45, opacity=0.75, aria=True)
        .encode(x=x, y=y, description="said:N", tooltip=alt.Tooltip("said:N", title=" "))
    )


def _counted(items: Sequence[Item]) -> Any:
    """The number of items in each cell of a grid."""
    alt = altair()
    shares = np.array([item.share for item in items])
    telling = np.array([item.discrimination for item in items])
    counts, xs, ys = np.histogram2d(shares, telling, bins=CELLS)
    rows = [
        {
            "share": float(xs[i]),
            "x2": float(xs[i + 1]),
            "telling": float(ys[j]),
            "y2": float(ys[j + 1]),
            "size": float(np.sqrt(counts[i, j] / counts.max())),
        }
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_rect(color=LIGHT["accent"])
        .encode(
            x="share:Q",
            x2="x2:Q",
            y="telling:Q",
            y2="y2:Q",
            opacity=alt.Opacity("size:Q", legend=None, scale=alt.Scale(range=[0.15, 1])),
        )
    )


def options_chart(
    ranking: Ranking, *, item: Any = None, key: Mapping[Any, Any] | None = None
) -> Any:
    """The share of each option by ability group, for one item.

    Parameters
    ----------
    ranking
        The result.
    item
        The item; default: the first with a remark, else the first of all.
    key
        An answer key to check against the answers.
    """
    found = item_list(ranking, key)
    labels = [str(label) for label in ranking.responses.items]
    if item is None:
        chosen = next((i for i in found if i.remark), found[0])
    elif str(item) in labels:
        chosen = found[labels.index(str(item))]
    else:
        raise InputError(f"There is no item {item!r}; ranking.responses.items lists them all.")
    shares = option_shares(ranking, option_groups(ranking))
    rows = option_rows(ranking, chosen, shares)
    return item_chart(rows, shares.shape[1]).properties(width=WIDTH, height=260)


def item_chart(rows: list[dict[str, Any]], groups: int) -> Any:
    """Draw the options of one item, the key as a thick line.

    Parameters
    ----------
    rows
        Rows of the item (:func:`option_rows`).
    groups
        How many ability groups there are.
    """
    alt = altair()
    roles = ["key", "given", "other"]
    colour = alt.Color(
        "role:N",
        legend=None,
        scale=alt.Scale(domain=roles, range=[LIGHT["accent"], LIGHT["warn"], LIGHT["quiet"]]),
    )
    x = alt.X(
        "group:Q",
        title="weakest → strongest users",
        axis=alt.Axis(labels=False, ticks=False, grid=False, values=list(range(groups))),
        scale=alt.Scale(domain=[0, groups - 0.6], nice=False),
    )
    y = alt.Y(
        "share:Q",
        title=None,
        axis=alt.Axis(format="%", values=[0, 0.5, 1]),
        scale=alt.Scale(domain=[0, 1]),
    )
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, y=y, color=colour, detail="option:N")
    lines = base.mark_line(point={"size": 18, "filled": True, "opacity": 1}).encode(
        strokeWidth=alt.StrokeWidth(
            "role:N", legend=None, scale=alt.Scale(domain=roles, range=[3, 2.2, 1.2])
        ),
        strokeDash=alt.StrokeDash(
            "role:N", legend=None, scale=alt.Scale(domain=roles, range=[[1, 0], [6, 3], [1, 0]])
        ),
    )
    names = base.transform_filter("datum.last").mark_text(
        align="left", dx=6, fontSize=12, limit=60, fontWeight=600
    )
    return (lines + names.encode(text="name:N", y=alt.Y("place:Q"))).properties(
        width=170, height=110
    )


def option_rows(ranking: Ranking, item: Item, shares: Any) -> list[dict[str, Any]]:
    """The share of each option in each group, for one item.

    Parameters
    ----------
    ranking, item
        The result, and one of its items.
    shares
        Options × groups (:func:`~hitsndiffs.show.tables.option_shares`).
    """
    r = ranking.responses
    first, last = (int(place) for place in r.item_starts[item.number : item.number + 2])
    labels = [clean(label) for label in r.option_labels[first:last]]
    choosers = r.choosers_per_option[first:last]
    special = [item.key, item.given]
    order = sorted(range(last - first), key=lambda o: (labels[o] not in special, -choosers[o]))
    drawn = order[:LINES]
    names = dict(zip(drawn, distinct([labels[o] for o in drawn], 24), strict=True))
    ends = _apart([float(np.nan_to_num(shares[first + o, -1])) for o in drawn])
    rows = []
    for o, end in zip(drawn, ends, strict=True):
        role = "key" if labels[o] == item.key else "given" if labels[o] == item.given else "other"
        known = [g for g in range(shares.shape[1]) if np.isfinite(shares[first + o, g])]
        rows += [
            {
                "option": str(o),
                "name": names[o],
                "group": g,
                "share": float(shares[first + o, g]),
                "place": end,
                "role": role,
                "last": g == known[-1],
            }
            for g in known
        ]
    return rows


def _apart(values: Sequence[float], gap: float = 0.13) -> list[float]:
    """Heights for the names at the ends of the lines, spaced so that they do not overlap.

    >>> [round(v, 2) for v in _apart([0.5, 0.5, 1.0, 0.95])]
    [0.5, 0.63, 1.0, 0.87]
    """
    order = np.argsort(values, kind="stable")
    place = np.asarray(values, dtype=float)[order]
    for i in range(1, len(place)):
        place[i] = max(place[i], place[i - 1] + gap)
    highest = 1.0
    for i in reversed(range(len(place))):
        place[i] = min(place[i], highest)
        highest = place[i] - gap
    found = np.empty(len(place))
    found[order] = place
    return [float(value) for value in found]
