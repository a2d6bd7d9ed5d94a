"""The data in a report, from which its script draws tables and pictures (``templates/report``)."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.results.cells import Cells
from hitsndiffs.results.columns import shown_columns
from hitsndiffs.results.marks import Marks
from hitsndiffs.results.parts import Parts
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.short_form import ShortForm
from hitsndiffs.results.versus import Pairing, cluster_numbers
from hitsndiffs.show.items_and_answers import (
    Item,
    chosen_options,
    clean,
    option_groups,
    option_shares,
    scale_of,
)

__all__ = ["LONGEST", "listed_users", "report_data", "stored", "urgency"]

Ints = npt.NDArray[np.int64]

#: The report lists this many users; of more, half are from the top, half from the bottom.
MOST_USERS = 100_000
#: It holds this many answers; of more, those of the first and last users. A megabyte, packed.
MOST_ANSWERS = 4_000_000
#: Items with more options than this have no answers in the report (free text).
MOST_OPTIONS = 50_000
#: Of more users than this, two are compared by the items that both answered only: what is known of
#: each user's score would be a quarter of the file.
MOST_BELIEVED = 5_000
#: Up to this many rows are stored as plain data; more are packed (deflate, base64).
PLAIN = 200
#: At most this many doubtful items get a picture of their own.
CARDS = 12
#: Options of an item that get a line: the keys first, then the most chosen.
LINES = 6
#: An item has a curve if each ability group gave it this many answers: of fewer, a share is off by
#: more than a fifth (its standard error).
FEWEST_POINTS = 5
#: Maximum rows that are printed.
PRINTED = 600
#: Maximum characters of a name, and of an option.
LONGEST, LONGEST_OPTION = 120, 60
#: Labels of opinions have colours of their own if they are at most so many.
MOST_LABELS = 11
#: Codes of options begin here, after the characters that end a string or a line.
CODE = 36


def listed_users(ranking: Ranking) -> Ints:
    """The users in the report, best first; of very many, those at both ends."""
    order, half = ranking.order, MOST_USERS // 2
    return order if len(order) <= MOST_USERS else np.concatenate([order[:half], order[-half:]])


def report_data(
    ranking: Ranking,
    items: Sequence[Item],
    *,
    file: str,
    audited: bool,
    parts: Parts | None,
    short: ShortForm | None,
    marked: Sequence[Marks] = (),
    clusters: Mapping[Any, Any] | str | None = None,
) -> dict[str, Any]:
    """The columns of the ranking, the items, the answers, and what the pictures need."""
    order = listed_users(ranking)
    cells = ranking.cells(order)
    shares, in_doubt = ranking.by == "correct", not ranking.verdict.allows_numbers
    main = ranking.by if ranking.by in cells.columns else "score"
    reach = 1.96 * np.nan_to_num(ranking.standard_errors)
    ends = np.nanmin(ranking.scores - reach), np.nanmax(ranking.scores + reach)
    bounds = [0.0, 1.0] if shares else [float(end) for end in ends]
    answers = _answers(ranking, order)
    has_key = any(item.key is not None for item in items)
    groups = option_groups(ranking) if has_key and not in_doubt else 0
    has_pairs = answers["first"] > 0 and not ranking.ratings
    return {
        "file": file,
        "main": main,
        "shares": shares,
        "range": bounds,
        "scale": ["0 %", "50 %", "100 %"] if shares else [f"{bound:.2g}" for bound in bounds],
        "users": len(ranking.order),
        "tiers": int(ranking.tiers.max(initial=1)),
        "doubted": in_doubt,
        "audited": audited,
        "shown": shown_columns(ranking),
        "printed": PRINTED,
        "columns": [_column(cells, name) for name in cells.columns],
        "groups": groups,
        "items": _item_data(ranking, items, groups, has_pairs),
        "labels": _labels(ranking),
        "doubts": [i.number for i in sorted((i for i in items if i.remark), key=urgency)][:CARDS],
        "answers": answers,
        "pairing": _pairing(ranking, order, clusters) if has_pairs else None,
        "sections": None if parts is None else _sections(parts),
        "short": None if short is None else _short(short),
        "marks": [_known(each.marks[order]) for each in marked],
    }


def stored(data: dict[str, Any]) -> tuple[str, bool]:
    """The data as text that is safe inside a page, and whether it is packed."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if max(len(data["columns"][0]["values"]), len(data["items"])) > PLAIN:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)  # 9: six times as long, 7 % less
        return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode(), True
    # it cannot open or close a tag
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"}), False


def urgency(item: Item) -> tuple[bool, bool, int]:
    """Wrong keys first, then items with two right answers, then in the order of the test."""
    return item.doubt not in ("wrong", "mis-keyed"), not item.wrong_key, item.number


def _column(cells: Cells, name: str) -> dict[str, Any]:
    values, kind = cells.values(name), cells.kinds[name]
    if kind == "label":
        values = [clean(value, LONGEST) for value in values]
    elif kind != "whole":
        values = [None if value is None else round(value, 4) for value in values]
    return {"name": name, "heading": cells.heading(name), "kind": kind, "values": values}


def _item_data(
    ranking: Ranking, items: Sequence[Item], groups: int, has_pairs: bool
) -> list[dict[str, Any]]:
    r = ranking.responses
    labels = [clean(label, LONGEST_OPTION) for label in r.option_labels.tolist()]
    choosers = r.choosers_per_option
    shares = np.round(option_shares(ranking, groups), 3) if groups else None
    worth = np.round(Pairing.of(ranking).worth, 3) if has_pairs else None
    found = []
    for item in items:
        first, last = (int(place) for place in r.item_starts[item.number : item.number + 2])
        counts = choosers[first:last]
        key = None if item.key_option is None else item.key_option - first
        given = None if item.given_option is None else item.given_option - first
        special = [o for o in (key, given) if o is not None]
        drawn = sorted(range(last - first), key=lambda o: (o not in special, -counts[o]))[:LINES]
        found.append(
            {
                "name": clean(item.name, LONGEST),
                "answers": item.answers,
                "options": labels[first:last],
                "counts": counts.tolist(),
                "key": key,
                "given": given,
                "unseen": item.given if given is None else None,
                "sure": _short_number(item.confidence),
                "share": _short_number(item.share),
                "best": _short_number(item.strong_share),
                "telling": _short_number(item.discrimination),
                "remark": item.remark,
                "drawn": drawn,
                "curve": [_known(shares[first + o]) for o in drawn]
                if shares is not None and item.answers >= FEWEST_POINTS * groups
                else [],
                **({} if worth is None else {"worth": worth[first:last].tolist()}),
            }
        )
    return found


def _labels(ranking: Ranking) -> list[str]:
    """The labels of opinions in their order, where the items share a few."""
    r = ranking.responses
    labels = {clean(label, LONGEST_OPTION) for label in r.option_labels.tolist()}
    return scale_of(labels) if ranking.ratings and len(labels) <= MOST_LABELS else []


def _known(values: Any) -> list[float | None]:
    return [None if v != v else v for v in values.tolist()]


def _short_number(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _answers(ranking: Ranking, order: Ints) -> dict[str, Any]:
    """The answers of as many users as there is room for, one character each."""
    r = ranking.responses
    if r.n_items == 0 or np.diff(r.item_starts).max(initial=0) > MOST_OPTIONS:
        return {"first": 0, "last": 0, "code": ""}
    room = MOST_ANSWERS // r.n_items
    first, last = (len(order), 0) if len(order) <= room else (room // 2, room // 2)
    users = np.concatenate([order[:first], order[len(order) - last :]])
    chosen = chosen_options(ranking, users)
    own = np.where(chosen < 0, -1, chosen - r.item_starts[:-1])
    code = (own + CODE).astype("<u2").tobytes().decode("utf-16-le")
    return {"first": first, "last": last, "code": code}


def _pairing(
    ranking: Ranking, order: Ints, clusters: Mapping[Any, Any] | str | None
) -> dict[str, Any]:
    """What it takes to say which of two users is better (``templates/report/report.js``)."""
    pairing = Pairing.of(ranking)
    believed: dict[str, list[Any]] = {}
    if len(order) <= MOST_BELIEVED and np.isfinite(pairing.spread[order]).any():
        believed = {
            "mean": _known(np.round(pairing.mean[order], 4)),
            "spread": _known(np.round(pairing.spread[order], 4)),
        }
    if clusters is not None:
        believed["clusters"] = cluster_numbers(ranking.responses.items, clusters).tolist()
    return {
        "by_pairs": pairing.by_pairs,
        "prior": None if np.isnan(pairing.prior) else pairing.prior,
        "sure": pairing.sure,
        **believed,
    }


def _sections(parts: Parts) -> list[dict[str, Any]]:
    return [
        {
            "name": clean(name, LONGEST_OPTION),
            "items": sorted(map(int, own.right)),
            "error": None if own.sem != own.sem else round(own.sem / len(own.right), 4),
        }
        for name, own in parts.sections.items()
    ]


def _short(short: ShortForm) -> dict[str, Any]:
    return {"sizes": list(short.sizes), "kept": [round(float(kept), 3) for kept in short.kept]}
