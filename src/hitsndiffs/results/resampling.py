"""Fit the same method again to part of the data, with comparable scores."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import answers_here
from hitsndiffs.errors import ConvergenceWarning
from hitsndiffs.methods import make

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["refitted"]

Vector = npt.NDArray[np.float64]


def refitted(ranking: Ranking, items: npt.NDArray[np.int64]) -> Vector:
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
    if "resamples" in params:
        params["resamples"] = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = make(method, **params).fit(part).fit_
    scores = {"correct": fit.correct, "ability": fit.abilities}.get(ranking.by)
    scores = fit.scores if scores is None else scores
    return scores if ranking.by == "correct" else _on_scale(scores, ranking.scores)


def _on_scale(scores: Vector, reference: Vector) -> Vector:
    """Flip and stretch scores to fit a reference (an axis has no sign and no unit)."""
    known = np.isfinite(scores) & np.isfinite(reference)
    x, y = scores[known] - scores[known].mean(), reference[known] - reference[known].mean()
    size = float(np.linalg.norm(x))
    if size == 0:
        return scores
    stretch = np.linalg.norm(y) / size * (-1 if float(x @ y) < 0 else 1)
    return np.asarray((scores - scores[known].mean()) * stretch + reference[known].mean())
