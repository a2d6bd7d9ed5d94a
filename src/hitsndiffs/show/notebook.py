"""How rankings, responses and comparisons look in a notebook: plain HTML, nothing to install."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.reading import Plan
from hitsndiffs.results.columns import COLUMNS, rank_ranges, shown_columns
from hitsndiffs.results.comparison import Comparison
from hitsndiffs.results.diagnostics import best_options
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.wording import count, missing, per_cent
from hitsndiffs.show.answers import chosen_options, clean, first_answers

__all__ = ["notebook_html"]

Ints = npt.NDArray[np.int64]

#: Rows of a table; users and items in a preview of the answers.
SHOWN_ROWS = 15
CORNER = (6, 8)

#: Colours that are readable on light and on dark pages.
LINE, POINT, GREY = "#7ba7d6", "#2f74c0", "#808a97"


def notebook_html(thing: Any) -> str:
    """The HTML of a ranking, responses, a comparison or a plan.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> "<td>&lt;b&gt;</td>" in notebook_html(hnd.Responses.from_wide([["A"], ["<b>"]]))
    True
    """
    if isinstance(thing, Ranking):
        return _ranking(thing)
    if isinstance(thing, Comparison):
        return _comparison(thing)
    if isinstance(thing, Plan):
        return _plan(thing)
    assert isinstance(thing, Responses)
    return _responses(thing)


def _ranking(ranking: Ranking) -> str:
    r, said = ranking.responses, ranking.verdict
    many = r.n_users > 2 * SHOWN_ROWS
    users = ranking.order[: SHOWN_ROWS if many else None]
    cells = ranking.cells(users)
    names = shown_columns(ranking)
    made = {
        "user": lambda: _answers_behind(ranking, users),
        "bar": lambda: _bars(ranking, users),
        "range": lambda: rank_ranges(cells),
    }
    columns = {
        name: made[name]() if name in made else [html.escape(text) for text in cells.texts(name)]
        for name in names
    }
    scale = "0 … 100 %" if ranking.by == "correct" else "95 % interval"
    extra = {"bar": scale, "range": "rank range"}
    heads = [extra.get(name) or COLUMNS[name].heading for name in names]
    body = list(zip(*(columns[name] for name in names), strict=True))
    rest = r.n_users - len(users)
    helps = [f"{said.advice}: {said.help}"] if said.help else []
    return _page(
        str(said),
        [
            f"{count(r.n_users, 'user')}, {count(r.n_items, 'item')}; method {ranking.method}.",
            *helps,
            *([] if said.allows_numbers else [f"{said.caption}."]),
        ],
        _table(heads, body, left=[names.index("user")]),
        f"… and {count(rest, 'more user')}; ranking.table() has them all." if rest else "",
        ranking.notes,
    )


def _answers_behind(ranking: Ranking, users: Ints) -> list[str]:
    """Each user's name; a click shows where the answers differ from the likely key."""
    r, p = ranking.responses, None if ranking.ratings else ranking.fit.key_probabilities
    names = [html.escape(clean(user, 60)) for user in ranking.users[users].tolist()]
    if p is None:
        return names
    key, _ = best_options(r.structure, p)
    chosen = chosen_options(ranking, users)
    cells = []
    for name, own in zip(names, chosen, strict=True):
        places = np.flatnonzero((own >= 0) & (key >= 0) & (own != key))
        told = [
            f"{clean(r.items[i], 30)}: {clean(r.option_labels[own[i]], 30)}"
            f" (likely {clean(r.option_labels[key[i]], 30)})"
            for i in places[:SHOWN_ROWS]
        ]
        more = [f"and {len(places) - SHOWN_ROWS:,} more"] if len(places) > SHOWN_ROWS else []
        lines = "<br>".join(map(html.escape, [*told, *more])) or "nowhere"
        cells.append(
            f"<details><summary>{name}</summary><small>differs from the likely key:<br>{lines}"
            "</small></details>"
        )
    return cells


def _bars(ranking: Ranking, users: Ints) -> list[str]:
    """Each user's score with its 95 % interval, as a dot on a line."""
    reach = 1.96 * np.nan_to_num(ranking.standard_errors)
    low, high = ranking.scores - reach, ranking.scores + reach
    least, most = (0.0, 1.0) if ranking.by == "correct" else (np.nanmin(low), np.nanmax(high))
    places = np.nan_to_num(
        (np.stack([low, ranking.scores, high]) - least) / max(most - least, 1e-9)
    )
    return [
        '<svg width="120" height="12" viewBox="-5 0 110 12" aria-hidden="true">'
        f'<line x1="{a:.1f}" x2="{c:.1f}" y1="6" y2="6" stroke="{LINE}" stroke-width="4" '
        f'stroke-linecap="round"/><circle cx="{b:.1f}" cy="6" r="4" fill="{POINT}"/></svg>'
        for a, b, c in (100 * np.clip(places[:, users], 0.0, 1.0)).T
    ]


def _responses(r: Responses) -> str:
    users, items = (min(most, n) for most, n in zip(CORNER, (r.n_users, r.n_items), strict=True))
    heads = ["", *(clean(item, 20) for item in r.items[:items])]
    body = [[html.escape(cell) for cell in row] for row in first_answers(r, users, items, 20)]
    lines = [
        f"{count(r.n_options, 'option')}, {count(r.n_responses, 'answer')}, "
        + ("none missing." if r.is_complete else f"{missing(r)} missing.")
    ]
    more = [
        f"{count(n - shown, f'more {noun}')}"
        for n, shown, noun in ((r.n_users, users, "user"), (r.n_items, items, "item"))
        if n > shown
    ]
    return _page(
        f"Responses: {count(r.n_users, 'user')} × {count(r.n_items, 'item')}",
        lines,
        _table(heads, body, left=range(len(heads))),
        f"… and {' and '.join(more)}." if more else "",
        r.notes,
    )


def _comparison(comparison: Comparison) -> str:
    judged = comparison.true_scores is not None
    heads = ["method", "agreement with the others", "", "seconds"]
    if judged:
        heads[1:1] = ["with the key", "key found"]
    body, errors = [], []
    for row in comparison.rows():
        if row["error"] is not None:
            errors.append(f"{row['method']} was left out: {row['error']}")
            continue
        agreement = row["agreement"]
        width = 0.0 if agreement is None else 100 * max(agreement, 0.0)
        bar = (
            f'<svg width="100" height="10" aria-hidden="true"><rect width="{width:.0f}" '
            f'height="10" rx="2" fill="{POINT}"/></svg>'
        )
        cells = [html.escape(row["method"]), _digits(agreement), bar, f"{row['seconds']:.2f}"]
        if judged:
            found = row["key_recovered"]
            cells[1:1] = [_digits(row["accuracy"]), "–" if found is None else per_cent(found)]
        body.append(cells)
    r = comparison.responses
    return _page(
        f"{count(len(body), 'method')} on {count(r.n_users, 'user')}, {count(r.n_items, 'item')}",
        [comparison.advice()],
        _table(heads, body, left=(0,)),
        "",
        [*errors, *r.notes],
    )


def _plan(plan: Plan) -> str:
    body = [
        [html.escape(clean(what)), html.escape(clean(words, 1000))] for what, words in plan.lines()
    ]
    return _page(
        f"How it is read: {plan.line}", [], _table(["what", "how"], body, left=(0, 1)), "", []
    )


def _digits(value: float | None) -> str:
    return "–" if value is None or np.isnan(value) else f"{value:.2f}"


def _page(title: str, lines: Iterable[str], table: str, more: str, notes: Iterable[str]) -> str:
    """Put the parts together; texts are escaped here, the table is already HTML."""
    said = "".join(f"<div>{html.escape(clean(line, 1000))}</div>" for line in lines)
    below = f'<div style="color:{GREY}">{html.escape(more)}</div>' if more else ""
    listed = "".join(f"<li>{html.escape(clean(note, 1000))}</li>" for note in notes)
    noted = f"<details><summary>Notes</summary><ul>{listed}</ul></details>" if listed else ""
    return (
        f'<div style="max-width:60em"><div style="font-weight:600;margin-bottom:.3em">'
        f'{html.escape(title)}</div>{said}<div style="overflow-x:auto">{table}</div>{below}{noted}'
        "</div>"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: Iterable[int]) -> str:
    """A table; heads are escaped here, cells are already HTML."""
    aligned = set(left)

    def cell(tag: str, place: int, text: str) -> str:
        style = "" if place in aligned else ' style="text-align:right"'
        plain = ' style="text-align:left"' if place in aligned and tag == "th" else style
        return f"<{tag}{plain}>{text}</{tag}>"

    head = "".join(cell("th", place, html.escape(text)) for place, text in enumerate(heads))
    body = "".join(
        f"<tr>{''.join(cell('td', place, text) for place, text in enumerate(row))}</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
