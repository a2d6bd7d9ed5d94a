"""Items: how hard and how discriminating each is, and who chose which option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hitsndiffs.errors import InputError
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.display_names import clean, distinct
from hitsndiffs.show.items_and_answers import Item, item_list, option_groups, option_shares
from hitsndiffs.show.theme import LIGHT, Spec, category, mark, quantity, said_on_hover

__all__ = ["item_chart", "items_chart", "option_rows", "options_chart"]

#: Above this many, items without a remark are counted in cells instead of drawn one by one.
POINTS_UP_TO = 1_500
CELLS = 30
#: At most this many doubtful items are drawn, and at most this many of them named.
DRAWN_DOUBTS, NAMED_DOUBTS = 300, 20
#: Maximum options of an item that get a line: the keys first, then the most chosen.
LINES = 6
WIDTH, HEIGHT = 320, 260
#: Pixels of a name in a chart: per character, at most, and in height.
LETTER, LONGEST_NAME, LINE = 7, 120, 14


def items_chart(
    ranking: Ranking,
    *,
    key: Mapping[Any, Any] | None = None,
    items: Sequence[Item] | None = None,
) -> Spec:
    """Items by difficulty and discrimination, with marks on the doubtful ones (also by a key)."""
    found = item_list(ranking, key) if items is None else items
    known = [item for item in found if item.share is not None and item.discrimination is not None]
    doubtful = [item for item in known if item.remark][:DRAWN_DOUBTS]
    sound = [item for item in known if not item.remark]
    x = quantity(
        "share",
        title="share of users who chose the likely key (easy at the right)",
        axis={"format": "%", "tickCount": 5},
        scale={"domain": [0, 1]},
    )
    y = quantity("telling", title="discrimination", axis={"tickCount": 5})
    place = {"x": x, "y": y}
    rows = _rows(doubtful)
    heights = [0.0, *(item.discrimination or 0.0 for item in known)]
    marked = {
        "data": {"values": rows},
        "mark": mark(
            "point",
            filled=True,
            shape="triangle-up",
            color=LIGHT["warn"],
            size=90,
            opacity=1,
            aria=True,
        ),
        "encoding": {**place, **said_on_hover()},
    }
    named = {
        "data": {"values": _with_room(rows, float(np.ptp(heights)))[:NAMED_DOUBTS]},
        "mark": mark(
            "text",
            align="left",
            dx=8,
            dy=-6,
            color=LIGHT["ink"],
            fontSize=12,
            limit=LONGEST_NAME,
        ),
        "encoding": {**place, "text": category("item")},
    }
    others = _sound(sound, place) if len(sound) <= POINTS_UP_TO else _counted(sound)
    return {"layer": [others, marked, named], "width": WIDTH, "height": HEIGHT}


def _with_room(rows: Sequence[Spec], height: float) -> list[Spec]:
    """The rows whose names do not cover each other, in a chart that is ``height`` units high."""
    found: list[Spec] = []
    for row in rows:
        for other in found:
            left = min(row, other, key=lambda r: float(r["share"]))
            wide = min(LETTER * len(left["item"]), LONGEST_NAME)
            beside = abs(row["share"] - other["share"]) * WIDTH >= wide
            apart = abs(row["telling"] - other["telling"]) * HEIGHT >= LINE * height
            if not beside and not apart:
                break
        else:
            found.append(row)
    return found


def _rows(items: Sequence[Item]) -> list[Spec]:
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


def _sound(items: Sequence[Item], place: Spec) -> Spec:
    return {
        "data": {"values": _rows(items)},
        "mark": mark("point", filled=True, color=LIGHT["accent"], size=45, opacity=0.75, aria=True),
        "encoding": {**place, **said_on_hover()},
    }


def _counted(items: Sequence[Item]) -> Spec:
    """The number of items in each cell of a grid."""
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
    return {
        "data": {"values": rows},
        "mark": mark("rect", color=LIGHT["accent"]),
        "encoding": {
            "x": quantity("share"),
            "x2": {"field": "x2"},
            "y": quantity("telling"),
            "y2": {"field": "y2"},
            "opacity": quantity("size", legend=None, scale={"range": [0.15, 1]}),
        },
    }


def options_chart(
    ranking: Ranking, *, item: Any = None, key: Mapping[Any, Any] | None = None
) -> Spec:
    """The share of each option by ability group, for one item.

    By default for the first with a remark, also by a key, else for the first of all.
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
    return {**item_chart(rows, shares.shape[1]), "width": WIDTH, "height": HEIGHT}


def item_chart(rows: list[Spec], groups: int) -> Spec:
    """Draw the options of one item (:func:`option_rows`), the key as a thick line."""
    roles = ["key", "given", "other"]

    def by_role(look: list[Any]) -> Spec:
        scale = {"type": "ordinal", "domain": roles, "range": look}
        return category("role", legend=None, scale=scale)

    common = {
        "x": quantity(
            "group",
            title="weakest → strongest users",
            axis={"labels": False, "ticks": False, "grid": False, "values": list(range(groups))},
            scale={"domain": [0, groups - 0.6], "nice": False},
        ),
        "color": by_role([LIGHT["accent"], LIGHT["warn"], LIGHT["quiet"]]),
        "detail": category("option"),
    }
    lines = {
        "mark": mark("line", point={"size": 18, "filled": True, "opacity": 1}),
        "encoding": {
            **common,
            "y": quantity(
                "share",
                title=None,
                axis={"format": "%", "values": [0, 0.5, 1]},
                scale={"domain": [0, 1]},
            ),
            "strokeWidth": by_role([3, 2.2, 1.2]),
            "strokeDash": by_role([[1, 0], [6, 3], [1, 0]]),
        },
    }
    names = {
        "transform": [{"filter": "datum.last"}],
        "mark": mark("text", align="left", dx=6, fontSize=12, limit=60, fontWeight=600),
        "encoding": {**common, "y": quantity("place"), "text": category("name")},
    }
    return {"data": {"values": rows}, "layer": [lines, names], "width": 170, "height": 110}


def option_rows(ranking: Ranking, item: Item, shares: Any) -> list[Spec]:
    """The share of each option in each group, for one item; ``shares`` holds those of all."""
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
