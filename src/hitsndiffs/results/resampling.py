"""Fit the same method again to part of the data, with comparable scores."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.lookup import answers_here
from hitsndiffs.data.progress import tracked
from hitsndiffs.errors import ConvergenceWarning
from hitsndiffs.methods import make
from hitsndiffs.results.uncertainty import reliability

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["half_reliability", "half_sample_errors", "refitted", "widening"]

#: Users from whom it is judged how well halves of the items agree, and the number of splits: the
#: median of five is off by .04 from that of forty, of three by .06 (30 × 20 answers, simulated).
SAMPLED, SPLITS = 2_000, 5


def widening(ranking: Ranking, errors: Floats) -> float:
    """What the errors of a method have to be multiplied by.

    An axis, a key or confusions are fitted to the very answers that are scored with them, so on
    noise they find order, with small errors. Halves of the items that are fitted apart show how
    much of it repeats. Readings need no such thing: their errors count the doubt of the key.
    """
    fit, users = ranking.fit, ranking.components == 0
    if fit.readings or ranking.consistent:
        return 1.0
    said = reliability(ranking.scores[users], errors[users])
    if not 0 < said < 1:
        return 1.0
    return float(np.sqrt(max(1.0, (1 - half_reliability(ranking)) / (1 - said))))


def half_reliability(ranking: Ranking) -> float:
    """How well the order repeats: the correlation of halves of the items that are fitted apart.

    Stepped up to the whole number of items (Spearman and Brown); 0 for a single item.
    """
    r = ranking.responses
    rng = np.random.default_rng(int(ranking.parameters.get("seed", 0)))
    if r.n_users > SAMPLED:
        chosen = np.sort(rng.choice(r.n_users, SAMPLED, replace=False))
        r = r.select(chosen)
        part = replace(ranking, responses=r, scores=ranking.scores[chosen])
        part.__dict__.pop("data", None)
    else:
        part = ranking
    found = []
    for _ in range(SPLITS if r.n_items > 1 else 0):
        items = rng.permutation(r.n_items)
        halves = [refitted(part, np.sort(half)) for half in np.array_split(items, 2)]
        both = np.isfinite(halves[0]) & np.isfinite(halves[1])
        spread = [float(np.ptp(half[both])) if both.any() else 0.0 for half in halves]
        same = float(np.corrcoef(halves[0][both], halves[1][both])[0, 1]) if min(spread) else 0.0
        found.append(max(2 * same / (1 + same), 0.0) if same > -1 else 0.0)
    return float(np.median(found)) if found else 0.0


def half_sample_errors(
    n_items: int,
    score: Callable[[Ints], Floats],
    reference: Floats,
    repeats: int,
    seed: int = 0,
) -> Floats:
    """Standard errors from random halves of the items, given the scores from all (reference).

    The spread of half-sample scores around the full scores estimates the full scores' own error
    (the delete-half jackknife). No item enters twice, as it would in a bootstrap with replacement.
    A single item cannot be halved: NaN.
    """
    half = n_items // 2
    if half == 0:
        return np.full_like(reference, np.nan)
    rng = np.random.default_rng(seed)
    total, count = np.zeros_like(reference), np.zeros_like(reference)
    for _ in tracked(range(repeats), "half of the items"):
        items = np.sort(rng.permutation(n_items)[:half])
        deviation = score(items) - reference
        known = np.isfinite(deviation)
        total[known] += deviation[known] ** 2
        count += known
    uneven = half / (n_items - half)  # 1 for an even number of items
    return np.where(count > 1, np.sqrt(uneven * total / np.maximum(count, 1)), np.nan)


def refitted(ranking: Ranking, items: Ints) -> Floats:
    """Scores of all users from some of the items, on the scale of the ranking.

    If the method of the ranking chose another one, that one is fitted.
    """
    method, parameters = ranking.method, dict(ranking.parameters)
    choice = ranking.fit.choice
    if choice is not None and choice.method is not None:
        method = choice.method
        if method == "dawid-skene":
            parameters["model"] = "full"
    part = ranking.responses.select(items=items)
    names = make(method).get_params()
    params = {k: v for k, v in parameters.items() if k in names}
    if "answers" in params:
        params["answers"] = answers_here(part.structure, params["answers"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = make(method, **params).fit(part).fit_
    scores = {"correct": fit.correct, "ability": fit.abilities}.get(ranking.by)
    scores = fit.scores if scores is None else scores
    return scores if ranking.by == "correct" else _on_scale(scores, ranking.scores)


def _on_scale(scores: Floats, reference: Floats) -> Floats:
    """Flip and stretch scores to fit a reference (an axis has no sign and no unit)."""
    known = np.isfinite(scores) & np.isfinite(reference)
    x, y = scores[known] - scores[known].mean(), reference[known] - reference[known].mean()
    size = float(np.linalg.norm(x))
    if size == 0:
        return scores
    stretch = np.linalg.norm(y) / size * (-1 if float(x @ y) < 0 else 1)
    return np.asarray((scores - scores[known].mean()) * stretch + reference[known].mean())
