"""Score newcomers with an existing fit, without fitting again."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.keys import right_errors, share_errors
from hitsndiffs.order.numbering import PER_OPTION

__all__ = ["Scoring"]


@dataclass(frozen=True)
class Scoring:
    """A score is a mean over the chosen options: ``Σ weights / (answers + extra)``.

    Attributes
    ----------
    weights
        One per option of the fit.
    extra
        Further answers, of weight 0, that everybody is credited with (shrinkage).
    shares
        Whether weights are probabilities of being right, and scores shares of right answers.
    """

    weights: Floats = field(metadata=PER_OPTION)
    extra: float = 0.0
    shares: bool = False

    def place(self, data: Engine, weights: Floats) -> tuple[Floats, Floats]:
        """Newcomers' scores by the weights of the options they chose, and the standard errors."""
        n = data.answers_per_user
        sums = data.choices(weights)
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = np.where(n > 0, sums / (n + self.extra), np.nan)
            if self.shares:  # a few right answers do not make a user infallible
                errors = right_errors(data, weights, (sums + 1) / (n + 2), n)
            else:
                errors = share_errors(data, weights, sums / n, n) * n / (n + self.extra)
        return scores, errors
