"""The data in a report, from which its script draws tables and pictures (``templates/report``)."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping, Sequence
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
from hitsndiffs.show.answers import Item, chosen_options, clean, option_shares
from hitsndiffs.show.parts import LONGEST, Labels

__all__ = ["listed_users", "report_data", "scale_of", "stored"]

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
#: An item has a curve if each ability group gave it this many answers: of fewer, a share is off by
#: more than a fifth (its standard error).
FEWEST_POINTS = 5
#: Maximum rows that are printed, and characters of an option.
PRINTED, LONGEST_OPTION = 600, 60
#: Labels have colours of their own, or a table of what a labeller does with them, if they are at
#: most so many.
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
    labels: Labels | None,
    asked: Cells | None,
    short: ShortForm | None,
    marked: Sequence[Marks] = (),
    clusters: Mapping[Any, Any] | str | None = None,
) -> dict[str, Any]:
    """The columns of the ranking, the items, the answers, and what the pictures need."""
    order = listed_users(ranking)
    cells = ranking.cells(order)
    shares, numbers = ranking.by == "correct", ranking.verdict.allows_numbers
    reach = 1.96 * np.nan_to_num(ranking.standard_errors)
    ends = np.nanmin(ranking.scores - reach), np.nanmax(ranking.scores + reach)
    bounds = [0.0, 1.0] if shares else [float(end) for end in ends]
    answers = _answers(ranking, order)
    pairing = None
    if answers["first"] > 0 and not ranking.ratings:
        pairing = Pairing(ranking)
    has_key = any(item.key is not None for item in items)
    curves = option_shares(ranking) if has_key and numbers else None
    spoken = labels and labels.workers and numbers and has_key and labels.workers.labels
    tabled = spoken if spoken and len(spoken) <= MOST_LABELS else ()
    doubts = sorted((item for item in items if item.remark), key=lambda item: item.urgency)
    return {
        "file": file,
        "main": ranking.by if ranking.by in cells.columns else "score",
        "shares": shares,
        "range": bounds,
        "scale": ["0 %", "50 %", "100 %"] if shares else [f"{bound:.2g}" for bound in bounds],
        "users": len(ranking.order),
        "tiers": int(ranking.tiers.max(initial=1)),
        "doubted": not numbers,
        "audited": audited,
        "shown": shown_columns(ranking),
        "printed": PRINTED,
        "columns": [_column(cells, name) for name in cells.columns],
        "groups": 0 if curves is None else curves.shape[1],
        "items": _item_data(ranking, items, curves, pairing, bool(tabled)),
        "labels": _scale(ranking),
        "spoken": [clean(label, LONGEST_OPTION) for label in tabled],
        "doubts": [item.number for item in doubts[:CARDS]],
        "answers": answers,
        "pairing": None if pairing is None else _pairing(ranking, pairing, order, clusters),
        "sections": None
        if parts is None
        else [
            {
                "name": clean(name, LONGEST_OPTION),
                "items": sorted(map(int, own.right)),
                "error": _rounded(own.sem / len(own.right), 4),
            }
            for name, own in parts.sections.items()
        ],
        "short": None
        if short is None
        else {"sizes": list(short.sizes), "kept": _rounded(np.asarray(short.kept), 3)},
        "marks": [_rounded(each.marks[order]) for each in marked],
        "asked": [] if asked is None else [_column(asked, name) for name in asked.columns],
    }


def stored(data: dict[str, Any]) -> tuple[str, bool]:
    """The data as text that is safe inside a page, and whether it is packed."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if max(len(data["columns"][0]["values"]), len(data["items"])) > PLAIN:
        packer = zlib.compressobj(6, zlib.DEFLATED, -15)  # 9: six times as long, 7 % less
        return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode(), True
    # it cannot open or close a tag
    return text.translate({ord(c): f"\\u{ord(c):04x}" for c in "<>&"}), False


def _rounded(values: Any, digits: int = 6) -> Any:
    """Numbers for JSON: rounded, with ``None`` for what is not known."""
    if values is None:
        return None
    plain = np.asarray(values, dtype=float).round(digits).tolist()
    if isinstance(plain, float):
        return plain if plain == plain else None
    return [None if value != value else value for value in plain]


def _column(cells: Cells, name: str) -> dict[str, Any]:
    values, kind = cells.values(name), cells.kinds[name]
    if kind == "label":
        values = [clean(value, LONGEST) for value in values]
    elif kind != "whole":
        values = [None if value is None else round(value, 4) for value in values]
    return {"name": name, "heading": cells.heading(name), "kind": kind, "values": values}


def _item_data(
    ranking: Ranking,
    items: Sequence[Item],
    curves: Any,
    pairing: Pairing | None,
    with_chances: bool,
) -> list[dict[str, Any]]:
    r = ranking.responses
    labels = [clean(label, LONGEST_OPTION) for label in r.option_labels.tolist()]
    choosers = r.choosers_per_option
    per_option = {}
    if pairing is not None:
        per_option["worth"] = pairing.worth
    if with_chances and ranking.key_chances is not None:
        per_option["chances"] = ranking.key_chances
    found = []
    for item in items:
        own, first = slice(item.options.start, item.options.stop), item.options.start
        drawn = item.drawn(choosers)
        is_drawn = curves is not None and item.answers >= FEWEST_POINTS * curves.shape[1]
        found.append(
            {
                "name": clean(item.name, LONGEST),
                "answers": item.answers,
                "options": labels[own],
                "counts": choosers[own].tolist(),
                "key": None if item.key is None else item.key - first,
                "given": None if item.given is None else item.given - first,
                "unseen": item.unseen,
                "sure": _rounded(item.confidence, 3),
                "share": _rounded(item.share, 3),
                "best": _rounded(item.strong_share, 3),
                "telling": _rounded(item.discrimination, 3),
                "remark": item.remark,
                "drawn": [option - first for option in drawn],
                "curve": [_rounded(curves[option], 3) for option in drawn] if is_drawn else [],
                **{name: _rounded(values[own], 3) for name, values in per_option.items()},
            }
        )
    return found


def _answers(ranking: Ranking, order: Ints) -> dict[str, Any]:
    """The answers of as many users as there is room for, one character each."""
    r = ranking.responses
    if r.n_items == 0 or np.diff(r.item_starts).max(initial=0) > MOST_OPTIONS:
        return {"first": 0, "last": 0, "code": ""}
    room = MOST_ANSWERS // r.n_items
    first, last = (len(order), 0) if len(order) <= room else (room // 2, room // 2)
    chosen = chosen_options(ranking, np.concatenate([order[:first], order[len(order) - last :]]))
    own = np.where(chosen < 0, -1, chosen - r.item_starts[:-1])
    code = (own + CODE).astype("<u2").tobytes().decode("utf-16-le")
    return {"first": first, "last": last, "code": code}


def _pairing(
    ranking: Ranking, pairing: Pairing, order: Ints, clusters: Mapping[Any, Any] | str | None
) -> dict[str, Any]:
    """What it takes to say which of two users is better (``templates/report/report.js``)."""
    told: dict[str, Any] = {
        "by_pairs": pairing.by_pairs,
        "prior": _rounded(pairing.prior, 12),
        "sure": pairing.sure,
    }
    if len(order) <= MOST_BELIEVED and np.isfinite(pairing.spread[order]).any():
        told["mean"] = _rounded(pairing.mean[order], 4)
        told["spread"] = _rounded(pairing.spread[order], 4)
    if clusters is not None:
        told["clusters"] = cluster_numbers(ranking.responses.items, clusters).tolist()
    return told


# -- labels of opinions ----------------------------------------------------------------------------

#: Words of opinions: which say no, which say neither or yes, and which are stronger or weaker.
_NO = re.compile(
    r"\b(dis(agree|sat)|un(sat|likely|import|favou?r|zufrieden|wichtig)|insatisf|desacuerdo)"
    r"|\b(not|nicht|kein\w*|pas|ne|no|never|nie)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(r"\bneither\b|\bweder\b|\bni\b|\bteils\b", re.IGNORECASE)
_YES = re.compile(
    r"agree|satisf|favou?r|import|likely|zu\b|zufrieden|wichtig|accord|acuerdo|always|yes|ja\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(strongly|completely|totally|very|extremely|fully|voll|völlig|ganz|sehr|überhaupt|gar|tout"
    r"|très|muy|totalmente|always|never)\b",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"\b(somewhat|slightly|tend|rather|mostly|eher|kaum|plutôt|algo|un peu)\b", re.IGNORECASE
)


def _scale(ranking: Ranking) -> list[str]:
    """The labels of opinions in their order, where the items share a few."""
    options = ranking.responses.option_labels.tolist()
    labels = {clean(label, LONGEST_OPTION) for label in options} if ranking.ratings else set()
    return scale_of(labels) if len(labels) <= MOST_LABELS else []


def scale_of(labels: Iterable[str]) -> list[str]:
    """Labels of opinions or ratings, from no to yes or from low to high.

    Numbers are in their order, words in that of what they say; what says neither is in the middle.

    >>> scale_of(["Agree", "Disagree", "Neutral", "Strongly agree", "Strongly disagree"])
    ['Strongly disagree', 'Disagree', 'Neutral', 'Agree', 'Strongly agree']
    >>> scale_of(["10", "9", "eher unzufrieden", "sehr zufrieden", "unzufrieden"])
    ['unzufrieden', 'eher unzufrieden', '9', '10', 'sehr zufrieden']
    """

    def place(label: str) -> tuple[float, float, str]:
        try:
            return 0.0, float(label.replace(",", ".")), label
        except ValueError:
            pass
        says_no, says_yes = _NO.search(label), _YES.search(label)
        if _NEITHER.search(label) or not (says_no or says_yes):
            return 0.0, 0.0, label
        strength = 3.0 if _STRONG.search(label) else 1.0 if _WEAK.search(label) else 2.0
        return (-strength if says_no else strength), 0.0, label

    return sorted(set(labels), key=place)
