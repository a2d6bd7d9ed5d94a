"""Fit the same method again to part of the data, with comparable scores."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import answers_here
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import ConvergenceWarning
from hitsndiffs.methods import make

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["Refit"]

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Refit:
    """The method of a ranking, ready to be called on part of its data.

    Attributes
    ----------
    method, parameters
        Of the ranking; if its method chose another one, that one.
    by
        What the scores are.
    reference
        The scores from all data.
    """

    method: str
    parameters: Mapping[str, Any]
    by: str
    reference: Vector

    @classmethod
    def of(cls, ranking: Ranking) -> Self:
        """The method that made a ranking."""
        method, parameters = ranking.method, dict(ranking.parameters)
        choice = ranking.fit.choice
        if choice is not None and choice.method is not None:
            method = choice.method
            if method == "dawid-skene":
                parameters["model"] = "full"
        return cls(method, parameters, ranking.by, ranking.scores)

    def __call__(self, part: Responses) -> Vector:
        """Scores of all users from part of the items, on the scale of the reference."""
        names = make(self.method).get_params()
        params = {k: v for k, v in self.parameters.items() if k in names}
        if "answers" in params:
            params["answers"] = answers_here(part.structure, params["answers"])
        if "resamples" in params:
            params["resamples"] = 0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fit = make(self.method, **params).fit(part).fit_
        scores = {"correct": fit.correct, "ability": fit.abilities}.get(self.by)
        scores = fit.scores if scores is None else scores
        return scores if self.by == "correct" else _on_scale(scores, self.reference)


def _on_scale(scores: Vector, reference: Vector) -> Vector:
    """Flip and stretch scores to fit a reference (an axis has no sign and no unit)."""
    known = np.isfinite(scores) & np.isfinite(reference)
    x, y = scores[known] - scores[known].mean(), reference[known] - reference[known].mean()
    size = float(np.linalg.norm(x))
    if size == 0:
        return scores
    stretch = np.linalg.norm(y) / size * (-1 if float(x @ y) < 0 else 1)
    return np.asarray((scores - scores[known].mean()) * stretch + reference[known].mean())
