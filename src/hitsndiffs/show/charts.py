"""All charts, by name, as Vega-Altair charts: for notebooks, and to save."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.results.comparison import Comparison
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.items_and_answers import (
    Item,
    chosen_options,
    clean,
    distinct,
    equal_answers,
    item_list,
    option_groups,
    option_shares,
    right_answers,
)
from hitsndiffs.show.theme import LIGHT, SHADES, library, shown_offline
from hitsndiffs.spectral import leading_axes

__all__ = ["CHARTS", "plot", "plot_comparison"]

Array = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Chart = Any

#: Up to this many users are all drawn; more are drawn as a curve, plus this many at either end.
ALL_DRAWN_UP_TO, ENDS, POINTS = 60, 15, 150
#: Tables of answers of up to this many rows and columns are drawn cell by cell; of larger ones,
#: this many rows and columns, taken evenly.
ROWS, COLUMNS = 60, 80
#: Above this many, only items with a remark and an even choice of the others are drawn.
MOST_ITEMS = 1_500
#: At most this many doubtful items are drawn and named.
DRAWN_DOUBTS, NAMED_DOUBTS = 300, 20
#: Options of an item that get a line: the keys first, then the most chosen.
LINES = 6
#: Maximum users on the axes (taken evenly from best to worst), pairs that look alike, and users of
#: these.
DRAWN_USERS, DRAWN_PAIRS, DRAWN_ALIKE = 800, 20, 30
#: Bars of a histogram.
BARS = 40
WIDTH, HEIGHT = 420, 260
#: Pixels of a name in a chart: per character, at most, and in height.
LETTER, LONGEST_NAME, LINE = 7, 120, 14


def plot(ranking: Ranking, name: str = "ranking", **options: Any) -> Chart:
    """Draw a ranking; see :meth:`hitsndiffs.Ranking.plot`."""
    if name not in CHARTS:
        raise InputError(f"There is no chart {name!r}; the charts are {', '.join(CHARTS)}.")
    title, draw = CHARTS[name]
    if ranking.ratings and name in OF_ABILITY:
        raise InputError(
            f"These answers look like opinions or ratings ({ranking.ratings}): none is right, so "
            "there is nothing to draw. If some are right, rank with a key or with known answers."
        )
    alt = library()
    if options.get("as_read"):
        title = "The answers, in the order of the data"
    elif not (ranking.verdict.allows_numbers or ranking.ratings):
        title = alt.Title(
            title, subtitle=f"{ranking.verdict.caption}.", subtitleColor=LIGHT["warn"]
        )
    try:
        chart = draw(alt, ranking, **options)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        raise InputError(f"Chart {name!r} does not take this option: {error}.") from None
    return shown_offline(chart.properties(title=title))


def plot_comparison(comparison: Comparison) -> Chart:
    """Draw a comparison, as how alike each pair of methods ranks (Spearman's correlation)."""
    names = [result.method for result in comparison.results if result.error is None]
    if len(names) < 2:
        raise InputError("Two methods or more are needed for a picture of their agreement.")
    places = [comparison.methods.index(name) for name in names]
    values = comparison.correlations[np.ix_(places, places)]
    chart = _matrix(library(), names, values, "rank correlation × 100", [0.0, 0.3, 0.6, 0.9])
    return shown_offline(chart.properties(title="How alike the methods rank"))


# -- users ----------------------------------------------------------------------------------------


def ranking_chart(alt: Any, ranking: Ranking, *, users: Sequence[Any] | None = None) -> Chart:
    """Users from best to worst, each with score, interval and tier (a caterpillar plot).

    All users of the largest group, or only some; of many, a curve and both ends.
    """
    order = ranking.order[ranking.components[ranking.order] == 0]
    if users is not None:
        return _caterpillar(alt, ranking, _asked(ranking, order, users))
    if len(order) <= ALL_DRAWN_UP_TO:
        return _caterpillar(alt, ranking, order)
    ends = np.concatenate([order[:ENDS], order[-ENDS:]])
    parts = _curve(alt, ranking, order), _caterpillar(alt, ranking, ends, gap=ENDS)
    return alt.vconcat(*parts, spacing=28)


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


def _interval(ranking: Ranking) -> tuple[Array, Array]:
    """The 95 % interval of each user's true score; shares stay between 0 and 1."""
    reach = 1.96 * np.nan_to_num(ranking.standard_errors)
    ends = ranking.scores - reach, ranking.scores + reach
    if ranking.by == "correct":
        return np.clip(ends[0], 0.0, 1.0), np.clip(ends[1], 0.0, 1.0)
    return ends


def _scores(alt: Any, ranking: Ranking, channel: Callable[..., Any], **more: Any) -> Any:
    """The channel of the scores, with its axis."""
    shares = ranking.by == "correct"
    titles = {"correct": "expected share of right answers", "ability": "ability"}
    return channel(
        "score:Q",
        title=titles.get(ranking.by, "score"),
        axis=alt.Axis(format="%" if shares else "", tickCount=6),
        scale=alt.Scale(zero=False),
        **more,
    )


def _caterpillar(alt: Any, ranking: Ranking, users: Ints, gap: int | None = None) -> Chart:
    names = distinct(ranking.users[users])
    low, high = _interval(ranking)
    rows = [
        {
            "user": name,
            "score": float(ranking.scores[j]),
            "low": float(low[j]),
            "high": float(high[j]),
            "rank": int(ranking.ranks[j]),
            "tier": int(ranking.tiers[j]),
        }
        for j, name in zip(users, names, strict=True)
    ]
    if gap is not None:
        names.insert(gap, "⋮")
        rows.append({"user": "⋮", "low": None, "high": None})
    y = alt.Y(
        "user:N",
        sort=names,
        scale=alt.Scale(domain=names),
        title=None,
        axis=alt.Axis(
            labelLimit=150, labelPadding=8, ticks=False, domain=False, labelOverlap=False
        ),
    )
    tiers = sorted({int(ranking.tiers[j]) for j in users})
    colour = alt.value(LIGHT["accent"])
    if 1 < len(tiers) <= len(SHADES) - 1:
        shades = [LIGHT[name] for name in SHADES[::-1][: len(tiers)]]
        scale = alt.Scale(domain=tiers, range=shades)
        colour = alt.Color("tier:O", scale=scale, legend=alt.Legend(orient="top"))
    told = alt.Tooltip("score:Q", format=".0%" if ranking.by == "correct" else ".2f")
    base = alt.Chart(alt.Data(values=rows)).encode(y=y)
    bars = base.mark_rule(color=LIGHT["accent-soft"], strokeWidth=4, strokeCap="round")
    points = base.mark_point(filled=True, size=60, opacity=1, stroke=LIGHT["accent"])
    points = points.encode(color=colour, tooltip=["user:N", "rank:Q", "tier:O", told])
    return alt.layer(
        bars.encode(x=alt.X("low:Q"), x2="high:Q"),
        points.encode(x=_scores(alt, ranking, alt.X)),
    ).properties(width=WIDTH, height=alt.Step(19))


def _curve(alt: Any, ranking: Ranking, order: Ints) -> Chart:
    """Score against rank, with the interval as a band; each point averages neighbouring users."""
    cells = np.array_split(order, min(POINTS, len(order)))
    low, high = _interval(ranking)
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
    scale = alt.Scale(domain=[1, len(order)], nice=False)
    base = alt.Chart(alt.Data(values=rows)).encode(x=alt.X("rank:Q", scale=scale))
    band = base.mark_area(color=LIGHT["accent-soft"], opacity=0.7).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(color=LIGHT["accent"], strokeWidth=2)
    return alt.layer(band, line.encode(y=_scores(alt, ranking, alt.Y))).properties(
        width=WIDTH, height=170
    )


def scores_chart(alt: Any, ranking: Ranking) -> Chart:
    """How many users have which score, and below them the items on the same scale."""
    scores = ranking.scores[np.isfinite(ranking.scores)]
    shares = ranking.by == "correct"
    bounds = (0.0, 1.0) if shares else (float(scores.min()), float(scores.max()) + 1e-9)
    users = _bars(alt, scores, bounds, "users", LIGHT["accent"], shares)
    known = [item.share for item in item_list(ranking) if item.share is not None]
    if not known or not shares:
        return users
    items = _bars(alt, np.array(known), bounds, "items", LIGHT["quiet"], shares, down=True)
    return alt.vconcat(users, items, spacing=4)


def _bars(
    alt: Any,
    values: Array,
    bounds: tuple[float, float],
    what: str,
    colour: str,
    shares: bool,
    down: bool = False,
) -> Chart:
    counts, edges = np.histogram(values, bins=BARS, range=bounds)
    rows = [
        {"from": float(a), "to": float(b), what: int(n)}
        for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)
        if n
    ]
    form = "%" if shares else ".2~f"
    title = "easy items at the right" if down else "expected share of right answers"
    x = alt.X(
        "from:Q",
        title=title if shares else "score",
        axis=alt.Axis(format=form, orient="bottom", grid=False),
        scale=alt.Scale(domain=list(bounds), nice=False),
    )
    y = alt.Y(
        f"{what}:Q",
        scale=alt.Scale(reverse=down, zero=True),
        axis=alt.Axis(tickCount=4, format="d"),
    )
    edges_told = [alt.Tooltip("from:Q", format=form), alt.Tooltip("to:Q", format=form)]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=colour, binSpacing=1)
        .encode(x=x, x2="to:Q", y=y, y2=alt.datum(0), tooltip=[*edges_told, f"{what}:Q"])
        .properties(width=WIDTH, height=90 if down else 150)
    )


# -- answers --------------------------------------------------------------------------------------


def answers_chart(alt: Any, ranking: Ranking, *, as_read: bool = False) -> Chart:
    """Right, wrong and missing answers; the best users on top, the easiest items at the left.

    Right means the likely key; of opinions, the usual answer is set apart. If the answers are
    consistent, the colours meet along one line, and the users who chose the same answer are next
    to each other. ``as_read`` leaves users and items in the order of the data, to see what sorting
    does.
    """
    users = ranking.order[ranking.components[ranking.order] == 0]
    users = _evenly(np.sort(users) if as_read else users, ROWS)
    right = right_answers(ranking, chosen_options(ranking, users))
    items = np.flatnonzero(~np.isnan(right).all(axis=0))  # another group may have its own
    if not as_read:
        items = items[np.argsort(-np.nanmean(right[:, items], axis=0), kind="stable")]
    items = _evenly(items, COLUMNS)
    names = distinct(ranking.users[users])
    questions = distinct(ranking.responses.items[items])
    table = right[:, items]
    told = ["usual", "another", "no answer"] if ranking.ratings else ["right", "wrong", "no answer"]
    states = np.where(np.isnan(table), told[2], np.where(table == 1, told[0], told[1]))
    rows = [
        {"user": names[j], "item": questions[i], "answer": str(states[j, i])}
        for j in range(len(users))
        for i in range(len(items))
    ]
    step = float(np.clip(430 / max(len(items), 1), 5, 16))
    quiet = {"ticks": False, "domain": False, "grid": False}
    across = alt.Axis(**quiet, labels=step >= 9, labelAngle=-90, labelLimit=90, titlePadding=20)
    down = alt.Axis(**quiet, labelLimit=150, labelPadding=6, labelOverlap=False)
    scale = alt.Scale(
        domain=told,
        range=[LIGHT["accent"], LIGHT["warn-soft"], LIGHT["blank"]],
    )
    legend = alt.Legend(orient="top", symbolType="square", symbolStrokeWidth=0)
    first = "those most agree on" if ranking.ratings else "easiest"
    title = "items" if as_read else f"items, {first} first"
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_rect(stroke=LIGHT["surface"], strokeWidth=0.6)
        .encode(
            x=alt.X("item:N", sort=None, title=title, axis=across),
            y=alt.Y("user:N", sort=None, title=None, axis=down),
            color=alt.Color("answer:N", title=None, scale=scale, legend=legend),
            tooltip=["user:N", "item:N", "answer:N"],
        )
        .properties(width=alt.Step(step), height=alt.Step(max(step, 14)))
    )


def _evenly(numbers: Ints, most: int) -> Ints:
    """At most so many of the numbers, from the first to the last."""
    places = np.linspace(0, len(numbers) - 1, min(len(numbers), most)).round()
    return numbers[np.unique(places.astype(np.int64))]


# -- items ----------------------------------------------------------------------------------------


def items_chart(alt: Any, ranking: Ranking, *, key: Mapping[Any, Any] | None = None) -> Chart:
    """Items by difficulty and discrimination, with marks on the doubtful ones (also by a key)."""
    found = item_list(ranking, key)
    known = [item for item in found if item.share is not None and item.discrimination is not None]
    doubtful = _item_rows([item for item in known if item.remark][:DRAWN_DOUBTS])
    sound = [item for item in known if not item.remark]
    sound = [sound[i] for i in _evenly(np.arange(len(sound)), MOST_ITEMS)]
    heights = [0.0, *(item.discrimination or 0.0 for item in known)]
    place = {
        "x": alt.X(
            "share:Q",
            title="share of users who chose the likely key (easy at the right)",
            axis=alt.Axis(format="%", tickCount=5),
            scale=alt.Scale(domain=[0, 1]),
        ),
        "y": alt.Y("discrimination:Q", axis=alt.Axis(tickCount=5)),
    }
    told = ["item:N", "key:N", alt.Tooltip("share:Q", format=".0%"), "discrimination:Q", "remark:N"]

    def drawn(rows: list[dict[str, Any]]) -> Any:
        return alt.Chart(alt.Data(values=rows))

    named = _with_room(doubtful, float(np.ptp(heights)))[:NAMED_DOUBTS]
    return alt.layer(
        drawn(_item_rows(sound))
        .mark_point(filled=True, color=LIGHT["accent"], size=45, opacity=0.75)
        .encode(**place, tooltip=told),
        drawn(doubtful)
        .mark_point(filled=True, shape="triangle-up", color=LIGHT["warn"], size=90, opacity=1)
        .encode(**place, tooltip=told),
        drawn(named)
        .mark_text(align="left", dx=8, dy=-6, color=LIGHT["ink"], fontSize=12, limit=LONGEST_NAME)
        .encode(**place, text="item:N"),
    ).properties(width=WIDTH, height=HEIGHT)


def _item_rows(items: Sequence[Item]) -> list[dict[str, Any]]:
    return [
        {
            "item": item.name,
            "key": item.key,
            "share": item.share,
            "discrimination": item.discrimination,
            "remark": item.remark,
        }
        for item in items
    ]


def _with_room(rows: Sequence[dict[str, Any]], height: float) -> list[dict[str, Any]]:
    """The rows whose names do not cover each other, in a chart that is ``height`` units high."""
    found: list[dict[str, Any]] = []
    for row in rows:
        for other in found:
            left = min(row, other, key=lambda r: float(r["share"]))
            wide = min(LETTER * len(left["item"]), LONGEST_NAME)
            beside = abs(row["share"] - other["share"]) * WIDTH >= wide
            gap = abs(row["discrimination"] - other["discrimination"]) * HEIGHT
            if not beside and gap < LINE * height:
                break
        else:
            found.append(row)
    return found


def options_chart(
    alt: Any, ranking: Ranking, *, item: Any = None, key: Mapping[Any, Any] | None = None
) -> Chart:
    """The share of each option by ability group, for one item; the key is a thick line.

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
    groups = option_groups(ranking)
    rows = _option_rows(ranking, chosen, option_shares(ranking, groups))
    roles = ["key", "given", "other"]

    def by_role(channel: Callable[..., Any], look: list[Any]) -> Any:
        scale = alt.Scale(type="ordinal", domain=roles, range=look)
        return channel("role:N", legend=None, scale=scale)

    x = alt.X(
        "group:Q",
        title="weakest → strongest users",
        axis=alt.Axis(labels=False, ticks=False, grid=False, values=list(range(groups))),
        scale=alt.Scale(domain=[0, groups - 0.6], nice=False),
    )
    percent = alt.Axis(format="%", values=[0, 0.5, 1])
    colour = by_role(alt.Color, [LIGHT["accent"], LIGHT["warn"], LIGHT["quiet"]])
    base = alt.Chart(alt.Data(values=rows)).encode(x=x, color=colour, detail="option:N")
    told = ["option:N", alt.Tooltip("share:Q", format=".0%")]
    lines = base.mark_line(point=alt.OverlayMarkDef(size=18, filled=True, opacity=1)).encode(
        y=alt.Y("share:Q", title=None, axis=percent, scale=alt.Scale(domain=[0, 1])),
        strokeWidth=by_role(alt.StrokeWidth, [3, 2.2, 1.2]),
        strokeDash=by_role(alt.StrokeDash, [[1, 0], [6, 3], [1, 0]]),
        tooltip=told,
    )
    names = (
        base.transform_filter("datum.place != null")
        .mark_text(align="left", dx=6, fontSize=12, limit=60, fontWeight=600)
        .encode(y="place:Q", text="option:N")
    )
    return alt.layer(lines, names).properties(width=WIDTH, height=HEIGHT)


def _option_rows(ranking: Ranking, item: Item, shares: Array) -> list[dict[str, Any]]:
    """The share of each option in each group; the last row of an option places its name."""
    r = ranking.responses
    first, last = (int(place) for place in r.item_starts[item.number : item.number + 2])
    labels = [clean(label) for label in r.option_labels[first:last]]
    choosers = r.choosers_per_option[first:last]
    special = [item.key, item.given]
    order = sorted(range(last - first), key=lambda o: (labels[o] not in special, -choosers[o]))
    drawn = order[:LINES]
    names = distinct([labels[o] for o in drawn], 24)
    ends = _apart([float(np.nan_to_num(shares[first + o, -1])) for o in drawn])
    rows = []
    for o, name, end in zip(drawn, names, ends, strict=True):
        role = "key" if labels[o] == item.key else "given" if labels[o] == item.given else "other"
        known = [g for g in range(shares.shape[1]) if np.isfinite(shares[first + o, g])]
        rows += [
            {
                "option": name,
                "group": g,
                "share": float(shares[first + o, g]),
                "place": end if g == known[-1] else None,
                "role": role,
            }
            for g in known
        ]
    return rows


def _apart(values: Sequence[float], gap: float = 0.07) -> list[float]:
    """Heights for the names at the ends of the lines, spaced so that they do not overlap.

    >>> [round(v, 2) for v in _apart([0.5, 0.5, 1.0, 0.98])]
    [0.5, 0.57, 1.0, 0.93]
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


# -- what lies behind -----------------------------------------------------------------------------


def axes_chart(alt: Any, ranking: Ranking) -> Chart:
    """Users on the two strongest axes of the answers, coloured by the ranking.

    If the colour changes along the first axis, the ranking shows the strongest difference between
    users; if it changes along the second, another difference is stronger.
    """
    order = ranking.order[ranking.components[ranking.order] == 0]
    data, of_one = ranking.data, np.sort(order)
    part = data if len(order) == data.n_users else data.subset(of_one)[0]
    seed = int(ranking.parameters.get("seed", 0))
    found = leading_axes(part, 2, seed=seed, tol=1e-8) if len(order) > 2 else None
    if found is None or len(found.values) < 2:
        raise InputError("The answers have one axis only, so there is no second one to draw.")
    places = _evenly(np.arange(len(order)), DRAWN_USERS)
    users = order[places]
    points = part.collect(found.scores)[np.searchsorted(of_one, users)]
    groups = ["weakest", "weaker", "middle", "stronger", "strongest"]
    fifths = 4 - places * 5 // len(order)
    names = distinct(ranking.users[users])
    rows = [
        {"user": name, "rank": int(rank), "x": float(x), "y": float(y), "users": groups[fifth]}
        for (x, y), fifth, name, rank in zip(
            points, fifths.tolist(), names, ranking.ranks[users], strict=True
        )
    ]
    bare = alt.Axis(labels=False, ticks=False)
    titles = [f"axis {k + 1} (strength {found.values[k]:.2f})" for k in range(2)]
    shades = alt.Scale(domain=groups, range=[LIGHT[name] for name in SHADES])
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_point(filled=True, size=40, opacity=0.9, stroke=LIGHT["quiet"], strokeWidth=0.5)
        .encode(
            x=alt.X("x:Q", title=titles[0], axis=bare),
            y=alt.Y("y:Q", title=titles[1], axis=bare),
            color=alt.Color("users:N", sort=groups, scale=shades, legend=alt.Legend(orient="top")),
            tooltip=["user:N", "rank:Q"],
        )
        .properties(width=WIDTH, height=HEIGHT)
    )


def copies_chart(alt: Any, ranking: Ranking) -> Chart:
    """Share of equal answers between users who agree more than ability explains."""
    found = find_alike(ranking.responses)
    users = np.unique(np.concatenate([found.first[:DRAWN_PAIRS], found.second[:DRAWN_PAIRS]]))
    if len(users) < 2:
        raise InputError(
            "No users agree more than their abilities explain, so there is nothing to draw."
        )
    common, equal, _ = equal_answers(ranking, users)
    same = np.divide(equal, common, out=np.full_like(equal, np.nan), where=common > 0)
    order = _side_by_side(same)[:DRAWN_ALIKE]
    names = distinct(ranking.users[users[order]], 40)
    return _matrix(alt, names, same[np.ix_(order, order)], "equal answers, %", [0.5, 0.7, 0.8, 0.9])


def _side_by_side(same: Array) -> Ints:
    """An order in which each user is followed by the most similar one left."""
    known = np.nan_to_num(same)
    np.fill_diagonal(known, -1.0)
    order = [int(np.argmax(known.max(axis=1)))]
    left = set(range(len(same))) - set(order)
    while left:
        order.append(max(left, key=lambda j: (known[order[-1], j], -j)))
        left.remove(order[-1])
    return np.array(order, dtype=np.int64)


def _matrix(alt: Any, names: list[str], values: Array, title: str, steps: list[float]) -> Chart:
    """A lower triangle of coloured cells, with their numbers in hundredths."""
    rows = [
        {"row": names[i], "column": names[j], "value": None if v != v else float(v)}
        for i, j in zip(*np.tril_indices(len(names), -1), strict=True)
        for v in [values[i, j]]
    ]
    quiet = {"ticks": False, "domain": False, "grid": False, "labelOverlap": False}
    across, down = alt.Axis(**quiet, labelAngle=-45, labelLimit=120), alt.Axis(**quiet)
    shades = [LIGHT[name] for name in SHADES]
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("column:N", sort=names[:-1], title=None, axis=across),
        y=alt.Y("row:N", sort=names[1:], title=None, axis=down),
    )
    # the lowest shade has no label
    legend = alt.Legend(
        orient="top", format=".0%", labelExpr="replace(datum.label || '', /%/g, '')"
    )
    shade = alt.Color(
        "value:Q",
        title=title,
        scale=alt.Scale(type="threshold", domain=steps, range=shades),
        legend=legend,
    )
    known = "isValid(datum.value)"
    cells = base.mark_rect(stroke=LIGHT["surface"], strokeWidth=1).encode(
        color=alt.condition(known, shade, alt.value(LIGHT["blank"])), tooltip=["row:N", "column:N"]
    )
    step = 34 if len(names) <= 16 else 20
    on_dark = alt.condition(
        f"datum.value >= {steps[2]}", alt.value(LIGHT["surface"]), alt.value(LIGHT["ink"])
    )
    numbers = (
        base.transform_calculate(text=f"{known} ? format(100 * datum.value, '.0f') : '–'")
        .mark_text(fontSize=11)
        .encode(text="text:N", color=on_dark)
    )
    chart = alt.layer(cells, numbers) if len(names) <= 16 else alt.layer(cells)
    return chart.properties(width=alt.Step(step), height=alt.Step(step))


#: Charts that show who is able, or what able users chose.
OF_ABILITY = ("ranking", "scores", "items", "options")
#: Name → title and drawing function.
CHARTS: dict[str, tuple[str, Callable[..., Chart]]] = {
    "ranking": ("Users from best to worst, with 95 % intervals", ranking_chart),
    "scores": ("Scores of users, and difficulty of items", scores_chart),
    "answers": ("The answers, sorted by the result", answers_chart),
    "items": ("Items by difficulty and discrimination", items_chart),
    "options": ("Who chose which option", options_chart),
    "axes": ("The two strongest differences between users", axes_chart),
    "copies": ("Users with very similar answers", copies_chart),
}
