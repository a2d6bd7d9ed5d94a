"""A ranking as plain values and as text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.words import per_cent
from hitsndiffs.results.cells import jsonable, text_of

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["all_but_users", "as_dict", "as_json", "as_text"]

#: JSON names that Python does not allow as field names.
JSON_NAMES = {"lam": "lambda"}


def as_dict(ranking: Ranking) -> dict[str, Any]:
    """Everything as plain Python values (JSON types)."""
    return {name: ranking.cells().records() if name == "users" else value
            for name, value in all_but_users(ranking).items()}  # fmt: skip


def as_json(ranking: Ranking) -> str:
    """The same as text; the rows of the users are written column by column."""
    text = json.dumps(all_but_users(ranking), indent=2, ensure_ascii=False, allow_nan=False)
    before, after = text.split('"users": null', 1)
    return f'{before}"users": {ranking.cells().json()}{after}'


def all_but_users(ranking: Ranking) -> dict[str, Any]:
    """Everything, with ``None`` in place of the users."""
    r, fit, verdict, turned = ranking.responses, ranking.fit, ranking.verdict, ranking.orientation
    key: Any = None
    if fit.key_probabilities is not None:
        held = ranking.answer_key(with_confidence=True)
        key = {item: dict(zip(("option", "confidence"), own, strict=True))
               for item, own in held.items()}  # fmt: skip
    told = ("number", "probability", "evidence", "agreement", "says")
    readings = [
        {
            **_fields(reading, told),
            "apart": [dict(zip(("item", "holds", "first_holds"), one, strict=True))
                      for one in reading.apart],
        }
        for reading in ranking.readings
    ]  # fmt: skip
    asks = [{"item": item, "options": options} for item, options in verdict.asks]
    found = {
        **_fields(ranking, ("method", "parameters", "version", "by")),
        **_fields(r, ("n_users", "n_items", "n_options", "n_responses")),
        "verdict": {
            "sentence": str(verdict),
            **_fields(verdict, ("doubt", "help", "advice")),
            "asks": asks,
        },
        "users": None,
        **_fields(ranking, ("n_components", "consistent")),
        "orientation": turned and _fields(turned, ("how", "margin", "confidence")),
        **_fields(ranking, ("confidence", "reliability")),
        **_fields(fit, ("eigenvalues", "spectral_gap")),
        **_fields(ranking, ("converged", "n_iterations")),
        "details": _details(ranking),
        "readings": readings,
        "ask": [_fields(question, ("item", "gain", "holds")) for question in ranking.ask()],
        "answer_key": key,
        "notes": ranking.notes,
    }
    plain: dict[str, Any] = jsonable(found)
    return plain


def _fields(thing: Any, names: Iterable[str]) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in names}


def _details(ranking: Ranking) -> dict[str, Any]:
    """Further values of the method, by name; long arrays are left out."""
    fit = ranking.fit
    found: dict[str, Any] = {}
    if fit.choice is not None:
        found |= {"chosen": fit.choice.method or "none", "why": fit.choice.why}
    own = _fields(fit, ("solver", "residual", "eigenvalue"))
    found |= {name: value for name, value in own.items() if value is not None}
    if fit.alike is not None:
        users = [str(ranking.users[j]) for j in fit.alike.users]
        found |= {"copies": fit.alike.share, "n_alike": fit.alike.count, "alike": users}
    if fit.learnt is not None:
        learnt = _fields(fit.learnt, (part.name for part in fields(fit.learnt)))
        found |= {JSON_NAMES.get(name, name): value for name, value in learnt.items()
                  if np.size(value) <= 100}  # fmt: skip
    return found


def as_text(ranking: Ranking) -> str:
    """The verdict and the best five; no scores beside an order that is in doubt."""
    r, choice = ranking.responses, ranking.fit.choice
    chosen = "" if choice is None or choice.method is None else f" ({choice.method})"
    told = None if ranking.ratings else ranking.confidence
    sure = "" if told is None else f", confidence {per_cent(told)}"
    lines = [
        f"Ranking by {ranking.method}{chosen}: {r.n_users:,} users × {r.n_items:,} items{sure}",
        str(ranking.verdict),
    ]
    if ranking.verdict.doubt in ("nothing", "ratings"):
        return "\n".join(lines)
    shown = ranking.cells(ranking.order[:5])
    scores = shown.texts("score") if ranking.verdict.allows_numbers else [""] * len(shown)
    for rank, user, score in zip(shown.texts("rank"), shown.texts("user"), scores, strict=True):
        lines.append(f"{rank:>6}  {text_of(user, 'label'):<20.20}  {score:>8}".rstrip())
    if r.n_users > 5:
        lines.append(f"     …  ({r.n_users - 5:,} more)")
    return "\n".join(lines)
