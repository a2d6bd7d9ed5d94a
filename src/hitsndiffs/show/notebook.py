"""How rankings, responses and comparisons look in a notebook: plain HTML, nothing to install."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, missing
from hitsndiffs.reading import Plan
from hitsndiffs.results.cells import Cells
from hitsndiffs.results.columns import rank_ranges, shown_columns
from hitsndiffs.results.comparison import Comparison
from hitsndiffs.results.diagnostics import best_options
from hitsndiffs.results.ranking import Ranking
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
    >>> ">&lt;b&gt;</td>" in notebook_html(hnd.Responses.from_wide([["A"], ["<b>"]]))
    True
    """
    views: dict[type, Callable[[Any], str]]
    views = {Ranking: _ranking, Comparison: _comparison, Plan: _plan, Responses: _responses}
    return next(view(thing) for kind, view in views.items() if isinstance(thing, kind))


def _ranking(ranking: Ranking) -> str:
    r, said = ranking.responses, ranking.verdict
    many = r.n_users > 2 * SHOWN_ROWS
    users = ranking.order[: SHOWN_ROWS if many else None]
    cells, names = ranking.cells(users), shown_columns(ranking)
    drawn = {"user": _answers_behind(ranking, users)}
    if "bar" in names:
        drawn |= {"bar": _bars(ranking, users), "range": rank_ranges(cells)}
    scale = "0 … 100 %" if ranking.by == "correct" else "95 % interval"
    lines = [f"{count(r.n_users, 'user')}, {count(r.n_items, 'item')}; method {ranking.method}."]
    if said.help:
        lines.append(f"{said.advice}: {said.help}")
    if not said.allows_numbers:
        lines.append(f"{said.caption}.")
    rest = r.n_users - len(users)
    return _page(
        str(said),
        lines,
        _table(cells, names, drawn, {"bar": scale, "range": "rank range"}),
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
    columns = list(zip(*first_answers(r, users, items, 20), strict=True))
    heads = ["", *(clean(item, 20) for item in r.items[:items])]
    cells = Cells.of({str(place): column for place, column in enumerate(columns)})
    gaps = "none missing." if r.is_complete else f"{missing(r)} missing."
    more = [
        count(n - shown, f"more {noun}")
        for n, shown, noun in ((r.n_users, users, "user"), (r.n_items, items, "item"))
        if n > shown
    ]
    return _page(
        f"Responses: {count(r.n_users, 'user')} × {count(r.n_items, 'item')}",
        [f"{count(r.n_options, 'option')}, {count(r.n_responses, 'answer')}, {gaps}"],
        _table(cells, list(cells.columns), {}, dict(zip(cells.columns, heads, strict=True))),
        f"… and {' and '.join(more)}." if more else "",
        r.notes,
    )


def _comparison(comparison: Comparison) -> str:
    cells = comparison.cells()
    pairs = list(zip(cells.values("method"), cells.values("error"), strict=True))
    fitted = cells.only([row for row, (_, error) in enumerate(pairs) if error is None])
    bars = [
        f'<svg width="100" height="10" aria-hidden="true"><rect width="{100 * max(share, 0):.0f}" '
        f'height="10" rx="2" fill="{POINT}"/></svg>'
        for share in (value or 0.0 for value in fitted.values("agreement"))
    ]
    judged = ["accuracy", "key_recovered"] if comparison.true_scores is not None else []
    heads = {"agreement": "agreement with the others", "bar": ""}
    names, r = ["method", *judged, "agreement", "bar", "seconds"], comparison.responses
    failed = [f"{method} was left out: {error}" for method, error in pairs if error is not None]
    return _page(
        f"{count(len(fitted), 'method')} on {count(r.n_users, 'user')}, {count(r.n_items, 'item')}",
        [comparison.advice()],
        _table(fitted, names, {"bar": bars}, heads),
        "",
        [*failed, *r.notes],
    )


def _plan(plan: Plan) -> str:
    what, how = zip(*plan.lines(), strict=True)
    cells = Cells.of({"what": what, "how": [clean(words, 1000) for words in how]})
    return _page(f"How it is read: {plan.line}", [], _table(cells, ["what", "how"], {}, {}), "", [])


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


def _table(
    cells: Cells, names: Sequence[str], drawn: Mapping[str, list[str]], heads: Mapping[str, str]
) -> str:
    """Some columns as HTML; ``drawn`` has those that are HTML already, ``heads`` other headings."""

    def cell(tag: str, name: str, text: str) -> str:
        side = "left" if cells.kinds.get(name) in ("label", "words") else "right"
        return f'<{tag} style="text-align:{side}">{text}</{tag}>'

    def row(tag: str, texts: Sequence[str]) -> str:
        made = (cell(tag, name, text) for name, text in zip(names, texts, strict=True))
        return f"<tr>{''.join(made)}</tr>"

    head = [html.escape(heads[n] if n in heads else cells.heading(n)) for n in names]
    columns = [drawn[n] if n in drawn else map(html.escape, cells.texts(n)) for n in names]
    body = "".join(row("td", texts) for texts in zip(*columns, strict=True))
    return f"<table><thead>{row('th', head)}</thead><tbody>{body}</tbody></table>"
