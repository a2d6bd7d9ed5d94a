"""The second half of ``hnd check``: what the likely key says about items and users."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hitsndiffs.results.diagnostics import best_options, item_remarks
from hitsndiffs.results.findings import Finding
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.sureness import sureness
from hitsndiffs.results.wording import count, listed, per_cent

__all__ = ["ability_finding", "key_findings"]

#: An item's key is settled when it is this likely.
KEY_SETTLED = 0.9


def ability_finding(ranking: Ranking) -> Iterator[Finding]:
    """Say how sure it is that the ranking is by ability, with the best on top."""
    said = sureness(ranking)
    if said is None or ranking.confidence is None:
        return
    choice = ranking.fit.choice
    method = ranking.method if choice is None else choice.method or "none"
    yield Finding(
        "ability",
        f"{said} Method {method}.",
        {"confidence": ranking.confidence, "method": method},
        concern=ranking.confidence < 0.8,
    )


def key_findings(ranking: Ranking, key: Mapping[Any, Any] | None) -> Iterator[Finding]:
    """Say how sure the likely key is, which items look wrong, who guesses, who may have copied.

    Parameters
    ----------
    ranking
        A ranking by a method that infers a key.
    key
        An answer key to compare with the answers.
    """
    r = ranking.responses
    probabilities = ranking.fit.key_probabilities
    if probabilities is None:
        return
    _, sure = best_options(ranking.data.items, probabilities)
    settled = int((sure >= KEY_SETTLED).sum())
    yield Finding(
        "likely key",
        f"The answers settle the key of {settled} of {count(r.n_items, 'item')} "
        f"(at least {per_cent(KEY_SETTLED)} sure).",
        {"settled": settled, "mean_confidence": float(np.mean(np.maximum(sure, 0)))},
    )
    yield from ability_finding(ranking)
    found = item_remarks(ranking.data, ranking.scores, probabilities, key)
    remarks = {
        str(item): remark.text for item, remark in zip(r.items, found, strict=True) if remark.text
    }
    yield Finding(
        "items",
        "No item looks wrong."
        if not remarks
        else f"{count(len(remarks), 'item')} to look at: "
        + "; ".join(f"{item}: {remark}" for item, remark in list(remarks.items())[:5])
        + ("; and more." if len(remarks) > 5 else "."),
        {"remarks": remarks},
        concern=any(remark.kind == "mis-keyed" for remark in found),
    )
    guessers = ranking.guessers()
    yield Finding(
        "guessing",
        "Every user does better than guessing."
        if len(guessers) == 0
        else f"{count(len(guessers), 'user')} cannot be told from guessing: {listed(guessers)}.",
        {"users": [str(user) for user in guessers]},
        concern=len(guessers) > 0.5 * r.n_users,
    )
    alike = ranking.fit.alike
    n_copied = 0 if alike is None else alike.count
    copied = [] if alike is None else [str(ranking.users[j]) for j in alike.users]
    yield Finding(
        "near copies",
        "No users agree more than their abilities explain."
        if not copied
        else f"{count(n_copied, 'user')} agree with others more than ability explains (copied "
        f"sheets or a shared source): {listed(copied)}.",
        {"n_users": n_copied, "users": copied},
        concern=bool(copied),
    )
