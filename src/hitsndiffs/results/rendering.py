"""A ranking as plain values and as text."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.results.cells import jsonable, text_of
from hitsndiffs.results.wording import per_cent

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
    verdict = ranking.verdict
    key = (
        {
            str(item): {"option": jsonable(option), "confidence": p}
            for item, (option, p) in ranking.answer_key(with_confidence=True).items()
        }
        if ranking.fit.key_probabilities is not None
        else None
    )
    turned = ranking.orientation
    return {
        "method": ranking.method,
        "parameters": {k: jsonable(v) for k, v in ranking.parameters.items()},
        "version": ranking.version,
        "by": ranking.by,
        "n_users": ranking.responses.n_users,
        "n_items": ranking.responses.n_items,
        "n_options": ranking.responses.n_options,
        "n_responses": ranking.responses.n_responses,
        "verdict": {
            "sentence": str(verdict),
            "doubt": verdict.doubt,
            "help": verdict.help,
            "advice": verdict.advice,
            "asks": [{"item": item, "options": list(options)} for item, options in verdict.asks],
        },
        "users": None,
        "n_components": ranking.n_components,
        "consistent": ranking.consistent,
        "orientation": None
        if turned is None
        else {
            "how": turned.how,
            "margin": jsonable(turned.margin),
            "confidence": jsonable(turned.confidence),
        },
        "confidence": jsonable(ranking.confidence),
        "reliability": jsonable(ranking.reliability),
        "eigenvalues": jsonable(ranking.fit.eigenvalues),
        "spectral_gap": ranking.fit.spectral_gap,
        "converged": ranking.converged,
        "n_iterations": ranking.n_iterations,
        "details": _details(ranking),
        "readings": [
            {
                "number": told.number,
                "probability": jsonable(told.probability),
                "evidence": jsonable(told.evidence),
                "agreement": jsonable(told.agreement),
                "says": told.says,
                "apart": [
                    {"item": jsonable(i), "holds": jsonable(mine), "first_holds": jsonable(first)}
                    for i, mine, first in told.apart
                ],
            }
            for told in ranking.readings
        ],
        "ask": [
            {"item": jsonable(q.item), "gain": q.gain, "holds": [jsonable(h) for h in q.holds]}
            for q in ranking.ask()
        ],
        "answer_key": key,
        "notes": list(ranking.notes),
    }


def _details(ranking: Ranking) -> dict[str, Any]:
    """Further values of the method, by name; long arrays are left out."""
    fit = ranking.fit
    found: dict[str, Any] = {}
    if fit.choice is not None:
        found |= {"chosen": fit.choice.method or "none", "why": fit.choice.why}
    for name in ("solver", "residual", "eigenvalue"):
        if (value := getattr(fit, name)) is not None:
            found[name] = jsonable(value)
    if fit.alike is not None:
        users = [str(ranking.users[j]) for j in fit.alike.users]
        found |= {"copies": jsonable(fit.alike.share), "n_alike": fit.alike.count, "alike": users}
    if fit.learnt is not None:
        for part in fields(fit.learnt):
            value = getattr(fit.learnt, part.name)
            if np.size(value) <= 100:
                found[JSON_NAMES.get(part.name, part.name)] = jsonable(value)
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
