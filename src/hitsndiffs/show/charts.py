"""All charts, by name, as Vega-Altair charts: for notebooks, and to save."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.results.comparison import Comparison
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.answers import (
    Item,
    chosen_options,
    clean,
    equal_answers,
    item_list,
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
#: Maximum users on the axes (taken evenly from best to worst), pairs that look alike, and users of
#: these.
DRAWN_USERS, DRAWN_PAIRS, DRAWN_ALIKE = 800, 20, 30
#: Bars of a histogram.
BARS = 40
WIDTH, HEIGHT = 420, 260
#: Pixels of a name in a chart: per character, at most, and in height.
LETTER, LONGEST_NAME, LINE = 7, 120, 14
#: An axis without lines.
BARE = {"ticks": False, "domain": False, "grid": False}


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
        caption = f"{ranking.verdict.caption}."
        title = alt.Title(title, subtitle=caption, subtitleColor=LIGHT["warn"])
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


def distinct(labels: Iterable[object], longest: int = 60) -> list[str]:
    """Clean labels, and number those that cleaning made equal.

    A chart draws equal names on one line, so different users need different names.

    >>> distinct(["ann", "abcdef", "abcdeg"], 4)
    ['ann', 'abc… (1)', 'abc… (2)']
    """
    cleaned = [clean(label, longest) for label in labels]
    often, seen = Counter(cleaned), Counter[str]()
    found = []
    for label in cleaned:
        seen[label] += 1
        found.append(f"{label} ({seen[label]})" if often[label] > 1 else label)
    return found


def _data(alt: Any, **columns: Any) -> Chart:
    """A chart of some columns; what is not known is missing."""
    plain = [np.asarray(values, dtype=object).tolist() for values in columns.values()]
    rows = [
        {name: None if v != v else v for name, v in zip(columns, row, strict=True)}
        for row in zip(*plain, strict=True)
    ]
    return alt.Chart(alt.Data(values=rows))


def _evenly(numbers: Ints, most: int) -> Ints:
    """At most so many of the numbers, from the first to the last."""
    places = np.linspace(0, len(numbers) - 1, min(len(numbers), most)).round()
    return numbers[np.unique(places.astype(np.int64))]


# -- users ----------------------------------------------------------------------------------------


def ranking_chart(alt: Any, ranking: Ranking, *, users: Sequence[Any] | None = None) -> Chart:
    """Users from best to worst, each with score, interval and tier (a caterpillar plot).

    All users of the largest group, or only some; of many, a curve and both ends.
    """
    order = ranking.order[ranking.components[ranking.order] == 0]
    if users is not None:
        places = {str(ranking.users[j]): place for place, j in enumerate(order)}
        missing = [user for user in users if str(user) not in places]
        if missing:
            raise InputError(
                f"There is no user {missing[0]!r} in the ranking's largest group; "
                "ranking.users lists them all."
            )
        return _caterpillar(alt, ranking, order[sorted({places[str(user)] for user in users})])
    if len(order) <= ALL_DRAWN_UP_TO:
        return _caterpillar(alt, ranking, order)
    ends = np.concatenate([order[:ENDS], [-1], order[-ENDS:]])
    return alt.vconcat(_curve(alt, ranking, order), _caterpillar(alt, ranking, ends), spacing=28)


def _interval(ranking: Ranking) -> tuple[Array, Array]:
    """The 95 % interval of each user's true score; shares stay between 0 and 1."""
    reach = 1.96 * np.nan_to_num(ranking.standard_errors)
    bounds = (0.0, 1.0) if ranking.by == "correct" else (None, None)
    return np.clip(ranking.scores - reach, *bounds), np.clip(ranking.scores + reach, *bounds)


def _scores(alt: Any, ranking: Ranking, channel: Callable[..., Any]) -> Any:
    """The channel of the scores, with its axis."""
    titles = {"correct": "expected share of right answers", "ability": "ability"}
    return channel(
        "score:Q",
        title=titles.get(ranking.by, "score"),
        axis=alt.Axis(format="%" if ranking.by == "correct" else "", tickCount=6),
        scale=alt.Scale(zero=False),
    )


def _caterpillar(alt: Any, ranking: Ranking, users: Ints) -> Chart:
    """Users with their intervals; -1 stands for those left out."""
    low, high = _interval(ranking)
    names = np.array(distinct(ranking.users[users]), dtype=object)
    names[users < 0] = "⋮"
    drawn = users[users >= 0]
    labels = alt.Axis(**BARE, labelLimit=150, labelPadding=8, labelOverlap=False)
    order = names.tolist()
    y = alt.Y("user:N", sort=order, scale=alt.Scale(domain=order), title=None, axis=labels)
    tiers = np.unique(ranking.tiers[drawn]).tolist()
    colour = alt.value(LIGHT["accent"])
    if 1 < len(tiers) < len(SHADES):
        shades = [LIGHT[name] for name in SHADES[::-1][: len(tiers)]]
        scale = alt.Scale(domain=tiers, range=shades)
        colour = alt.Color("tier:O", scale=scale, legend=alt.Legend(orient="top"))
    base = _data(
        alt,
        user=names[users >= 0],
        score=ranking.scores[drawn],
        low=low[drawn],
        high=high[drawn],
        rank=ranking.ranks[drawn].astype(np.int64),
        tier=ranking.tiers[drawn],
    ).encode(y=y)
    told = alt.Tooltip("score:Q", format=".0%" if ranking.by == "correct" else ".2f")
    bars = base.mark_rule(color=LIGHT["accent-soft"], strokeWidth=4, strokeCap="round")
    points = base.mark_point(filled=True, size=60, opacity=1, stroke=LIGHT["accent"])
    return alt.layer(
        bars.encode(x="low:Q", x2="high:Q"),
        points.encode(
            x=_scores(alt, ranking, alt.X),
            color=colour,
            tooltip=["user:N", "rank:Q", "tier:O", told],
        ),
    ).properties(width=WIDTH, height=alt.Step(19))


def _curve(alt: Any, ranking: Ranking, order: Ints) -> Chart:
    """Score against rank, with the interval as a band; each point averages neighbouring users."""
    starts: Ints = np.arange(min(POINTS, len(order))) * len(order) // min(POINTS, len(order))
    sizes = np.diff(starts, append=len(order))

    def mean(values: Array) -> Array:
        return np.asarray(np.add.reduceat(values[order], starts) / sizes)

    low, high = map(mean, _interval(ranking))
    middle = starts + (sizes + 1) / 2
    x = alt.X("rank:Q", scale=alt.Scale(domain=[1, len(order)], nice=False))
    base = _data(alt, rank=middle, score=mean(ranking.scores), low=low, high=high).encode(x=x)
    band = base.mark_area(color=LIGHT["accent-soft"], opacity=0.7).encode(y="low:Q", y2="high:Q")
    line = base.mark_line(color=LIGHT["accent"], strokeWidth=2)
    line = line.encode(y=_scores(alt, ranking, alt.Y))
    return alt.layer(band, line).properties(width=WIDTH, height=170)


def scores_chart(alt: Any, ranking: Ranking) -> Chart:
    """How many users have which score, and below them the items on the same scale."""
    scores = ranking.scores[np.isfinite(ranking.scores)]
    if ranking.by != "correct":
        bounds = float(scores.min()), float(scores.max()) + 1e-9
        return _histogram(alt, scores, bounds, "users", "score", ".2~f")
    title = "expected share of right answers"
    users = _histogram(alt, scores, (0.0, 1.0), "users", title, "%")
    known = [item.share for item in item_list(ranking) if item.share is not None]
    if not known:
        return users
    items = _histogram(
        alt, np.array(known), (0.0, 1.0), "items", "easy items at the right", "%", down=True
    )
    return alt.vconcat(users, items, spacing=4)


def _histogram(
    alt: Any,
    values: Array,
    bounds: tuple[float, float],
    what: str,
    title: str,
    form: str,
    down: bool = False,
) -> Chart:
    counts, edges = np.histogram(values, bins=BARS, range=bounds)
    some = counts > 0
    axis = alt.Axis(format=form, orient="bottom", grid=False)
    scale = alt.Scale(domain=list(bounds), nice=False)
    ends = [alt.Tooltip(f"{end}:Q", format=form) for end in ("from", "to")]
    columns = {"from": edges[:-1][some], "to": edges[1:][some], what: counts[some]}
    return (
        _data(alt, **columns)
        .mark_bar(color=LIGHT["quiet" if down else "accent"], binSpacing=1)
        .encode(
            x=alt.X("from:Q", title=title, axis=axis, scale=scale),
            x2="to:Q",
            y=alt.Y(
                f"{what}:Q",
                scale=alt.Scale(reverse=down, zero=True),
                axis=alt.Axis(tickCount=4, format="d"),
            ),
            y2=alt.datum(0),
            tooltip=[*ends, f"{what}:Q"],
        )
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
    told = ["usual", "another", "no answer"] if ranking.ratings else ["right", "wrong", "no answer"]
    states = np.array(told)[np.nan_to_num(1 - right[:, items], nan=2).astype(np.int64)]
    step = float(np.clip(430 / max(len(items), 1), 5, 16))
    first = "those most agree on" if ranking.ratings else "easiest"
    colours = [LIGHT["accent"], LIGHT["warn-soft"], LIGHT["blank"]]
    across = alt.Axis(**BARE, labels=step >= 9, labelAngle=-90, labelLimit=90, titlePadding=20)
    return (
        _data(
            alt,
            user=np.repeat(distinct(ranking.users[users]), len(items)),
            item=np.tile(distinct(ranking.responses.items[items]), len(users)),
            answer=states.ravel(),
        )
        .mark_rect(stroke=LIGHT["surface"], strokeWidth=0.6)
        .encode(
            x=alt.X(
                "item:N",
                sort=None,
                title="items" if as_read else f"items, {first} first",
                axis=across,
            ),
            y=alt.Y(
                "user:N",
                sort=None,
                title=None,
                axis=alt.Axis(**BARE, labelLimit=150, labelPadding=6, labelOverlap=False),
            ),
            color=alt.Color(
                "answer:N",
                title=None,
                scale=alt.Scale(domain=told, range=colours),
                legend=alt.Legend(orient="top", symbolType="square", symbolStrokeWidth=0),
            ),
            tooltip=["user:N", "item:N", "answer:N"],
        )
        .properties(width=alt.Step(step), height=alt.Step(max(step, 14)))
    )


# -- items ----------------------------------------------------------------------------------------


def items_chart(alt: Any, ranking: Ranking, *, key: Mapping[Any, Any] | None = None) -> Chart:
    """Items by difficulty and discrimination, with marks on the doubtful ones (also by a key)."""
    found = item_list(ranking, key)
    known = [item for item in found if item.share is not None and item.discrimination is not None]
    doubtful = [item for item in known if item.remark][:DRAWN_DOUBTS]
    sound = [item for item in known if not item.remark]
    sound = [sound[i] for i in _evenly(np.arange(len(sound)), MOST_ITEMS)]
    labels = ranking.responses.option_labels

    def drawn(items: Sequence[Item]) -> Any:
        return _data(
            alt,
            item=[item.name for item in items],
            key=[None if item.key is None else clean(labels[item.key]) for item in items],
            share=[item.share for item in items],
            discrimination=[item.discrimination for item in items],
            remark=[item.remark for item in items],
        ).encode(
            x=alt.X(
                "share:Q",
                title="share of users who chose the likely key (easy at the right)",
                axis=alt.Axis(format="%", tickCount=5),
                scale=alt.Scale(domain=[0, 1]),
            ),
            y=alt.Y("discrimination:Q", axis=alt.Axis(tickCount=5)),
        )

    share = alt.Tooltip("share:Q", format=".0%")
    told = {"tooltip": ["item:N", "key:N", share, "discrimination:Q", "remark:N"]}
    point = {"filled": True, "color": LIGHT["accent"], "size": 45, "opacity": 0.75}
    mark = {"filled": True, "shape": "triangle-up", "color": LIGHT["warn"], "opacity": 1}
    text = {"align": "left", "dx": 8, "dy": -6, "color": LIGHT["ink"], "fontSize": 12}
    heights = [0.0, *(item.discrimination or 0.0 for item in known)]
    named = _with_room(doubtful, float(np.ptp(heights)))[:NAMED_DOUBTS]
    return alt.layer(
        drawn(sound).mark_point(**point).encode(**told),
        drawn(doubtful).mark_point(**mark, size=90).encode(**told),
        drawn(named).mark_text(**text, limit=LONGEST_NAME).encode(text="item:N"),
    ).properties(width=WIDTH, height=HEIGHT)


def _with_room(items: Sequence[Item], height: float) -> list[Item]:
    """The items whose names do not cover each other, in a chart that is ``height`` units high."""
    found: list[Item] = []
    for item in items:
        x, y = (item.share or 0.0) * WIDTH, (item.discrimination or 0.0) * HEIGHT
        for other in found:
            other_x = (other.share or 0.0) * WIDTH
            left = item if x <= other_x else other
            beside = abs(x - other_x) >= min(LETTER * len(left.name), LONGEST_NAME)
            if not beside and abs(y - (other.discrimination or 0.0) * HEIGHT) < LINE * height:
                break
        else:
            found.append(item)
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
        shown = next((i for i in found if i.remark), found[0])
    elif str(item) in labels:
        shown = found[labels.index(str(item))]
    else:
        raise InputError(f"There is no item {item!r}; ranking.responses.items lists them all.")
    r, drawn = ranking.responses, shown.drawn(ranking.responses.choosers_per_option)
    shares = option_shares(ranking)[drawn]
    n_groups = shares.shape[1]
    names = distinct(r.option_labels[drawn], 24)
    roles = ["key" if o == shown.key else "given" if o == shown.given else "other" for o in drawn]
    known = np.isfinite(shares)
    groups = np.broadcast_to(np.arange(n_groups), shares.shape)
    is_last = groups == np.max(np.where(known, groups, -1), axis=1, keepdims=True)
    ends = np.array(_apart(np.nan_to_num(shares[:, -1]).tolist()))[:, None]

    def by_role(channel: Callable[..., Any], look: list[Any]) -> Any:
        scale = alt.Scale(type="ordinal", domain=["key", "given", "other"], range=look)
        return channel("role:N", legend=None, scale=scale)

    base = _data(
        alt,
        option=np.repeat(names, n_groups)[known.ravel()],
        group=groups[known],
        share=shares[known],
        place=np.where(is_last, ends, np.nan)[known],  # where the name is, at the end of its line
        role=np.repeat(roles, n_groups)[known.ravel()],
    ).encode(
        x=alt.X(
            "group:Q",
            title="weakest → strongest users",
            axis=alt.Axis(labels=False, ticks=False, grid=False, values=list(range(n_groups))),
            scale=alt.Scale(domain=[0, n_groups - 0.6], nice=False),
        ),
        color=by_role(alt.Color, [LIGHT["accent"], LIGHT["warn"], LIGHT["quiet"]]),
        detail="option:N",
    )
    percent = alt.Axis(format="%", values=[0, 0.5, 1])
    lines = base.mark_line(point=alt.OverlayMarkDef(size=18, filled=True, opacity=1)).encode(
        y=alt.Y("share:Q", title=None, axis=percent, scale=alt.Scale(domain=[0, 1])),
        strokeWidth=by_role(alt.StrokeWidth, [3, 2.2, 1.2]),
        strokeDash=by_role(alt.StrokeDash, [[1, 0], [6, 3], [1, 0]]),
        tooltip=["option:N", alt.Tooltip("share:Q", format=".0%")],
    )
    texts = base.transform_filter("datum.place != null").mark_text(
        align="left", dx=6, fontSize=12, limit=60, fontWeight=600
    )
    named = texts.encode(y="place:Q", text="option:N")
    return alt.layer(lines, named).properties(width=WIDTH, height=HEIGHT)


def _apart(values: Sequence[float], gap: float = 0.07) -> list[float]:
    """Heights for the names at the ends of the lines, spaced so that they do not overlap.

    >>> [round(v, 2) for v in _apart([0.5, 0.5, 1.0, 0.98])]
    [0.5, 0.57, 1.0, 0.93]
    """
    order, steps = np.argsort(values, kind="stable"), gap * np.arange(len(values))
    up = np.maximum.accumulate(np.asarray(values)[order] - steps) + steps
    room = np.minimum(up, 1.0 - steps[::-1])  # none is above the top
    found = np.empty(len(values))
    found[order] = room
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
    x, y = part.collect(found.scores)[np.searchsorted(of_one, users)].T
    groups = ["weakest", "weaker", "middle", "stronger", "strongest"]
    fifths = np.array(groups)[4 - places * 5 // len(order)]
    bare = alt.Axis(labels=False, ticks=False)
    titles = [f"axis {k + 1} (strength {found.values[k]:.2f})" for k in range(2)]
    shades = alt.Scale(domain=groups, range=[LIGHT[name] for name in SHADES])
    ranks = ranking.ranks[users].astype(np.int64)
    return (
        _data(alt, user=distinct(ranking.users[users]), rank=ranks, x=x, y=y, users=fifths)
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
    same = np.divide(equal, common, out=np.full(equal.shape, np.nan), where=common > 0)
    order = _side_by_side(same)[:DRAWN_ALIKE]
    names = distinct(ranking.users[users[order]], 40)
    return _matrix(alt, names, same[np.ix_(order, order)], "equal answers, %", [0.5, 0.7, 0.8, 0.9])


def _side_by_side(same: Array) -> Ints:
    """An order in which each user is followed by the most similar one left."""
    known = np.nan_to_num(same)
    np.fill_diagonal(known, -1.0)
    order = [int(np.argmax(known.max(axis=1)))]
    while len(order) < len(same):
        known[:, order[-1]] = -2.0
        order.append(int(np.argmax(known[order[-1]])))
    return np.array(order, dtype=np.int64)


def _matrix(alt: Any, names: list[str], values: Array, title: str, steps: list[float]) -> Chart:
    """A lower triangle of coloured cells, with their numbers in hundredths."""
    rows, columns = np.tril_indices(len(names), -1)
    shades, labels = [LIGHT[name] for name in SHADES], np.array(names, dtype=object)
    quiet = {**BARE, "labelOverlap": False}
    across = alt.Axis(**quiet, labelAngle=-45, labelLimit=120)
    base = _data(alt, row=labels[rows], column=labels[columns], value=values[rows, columns]).encode(
        x=alt.X("column:N", sort=names[:-1], title=None, axis=across),
        y=alt.Y("row:N", sort=names[1:], title=None, axis=alt.Axis(**quiet)),
    )
    shade = alt.Color(
        "value:Q",
        title=title,
        scale=alt.Scale(type="threshold", domain=steps, range=shades),
        # the lowest shade has no label
        legend=alt.Legend(
            orient="top", format=".0%", labelExpr="replace(datum.label || '', /%/g, '')"
        ),
    )
    known, is_dark = "isValid(datum.value)", f"datum.value >= {steps[2]}"
    cells = base.mark_rect(stroke=LIGHT["surface"], strokeWidth=1).encode(
        color=alt.condition(known, shade, alt.value(LIGHT["blank"])), tooltip=["row:N", "column:N"]
    )
    on_dark = alt.condition(is_dark, alt.value(LIGHT["surface"]), alt.value(LIGHT["ink"]))
    text = f"{known} ? format(100 * datum.value, '.0f') : '–'"
    numbers = base.transform_calculate(text=text).mark_text(fontSize=11)
    numbers = numbers.encode(text="text:N", color=on_dark)
    step = alt.Step(34 if len(names) <= 16 else 20)
    layers = [cells, numbers] if len(names) <= 16 else [cells]
    return alt.layer(*layers).properties(width=step, height=step)


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
