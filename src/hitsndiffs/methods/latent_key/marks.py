"""The reading that two shared labels are marks: one of them is right in every item.

Then there is no leaning to tell from ability: ability *is* the share of that label, with a slope
per item (a two-parameter logistic model). The answers cannot say which of the two labels is right,
except that it should be the more frequent one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines import Engine
from hitsndiffs.methods.labels import label_numbers
from hitsndiffs.methods.latent_key.candidates import Curves, fit_curves, log_prior_of
from hitsndiffs.methods.latent_key.leaning_candidates import PSEUDO_LEANING
from hitsndiffs.methods.latent_key.leanings import LeaningFit
from hitsndiffs.methods.latent_key.learnt import Population
from hitsndiffs.methods.latent_key.model import CurvesFit, begun, expect
from hitsndiffs.methods.latent_key.problem import Problem, Solution, Start
from hitsndiffs.methods.probability import log_curves, logistic

__all__ = ["MarksFit", "MarksProblem", "beyond_evidence"]

#: How many users the leanings' prior, a normal distribution, may be worth; the one that explains
#: them best is taken. And the part of the prior that is even over all points.
WORTH = (2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 1e3)
FROM_ALL = 1e-3


@dataclass(frozen=True)
class MarksFit(CurvesFit):
    """The solution of the model; there is a curve for every item."""

    problem: MarksProblem

    def probabilities(self) -> Floats:
        """P(option | ability), one row per option."""
        return np.exp(self.logs)

    def share_errors(self) -> Any:
        """Standard errors of the shares of the label: chance in the answers."""
        p = np.exp(self.logs)
        return self._errors_at_places(p * (1 - p))

    @property
    def population(self) -> Population:
        """Means of the slopes and intercepts, and the label that is right."""
        return replace(super().population, right_everywhere=self.problem.label)


class MarksProblem(Problem):
    """Two shared labels, one of which is right in every item; :attr:`label` says which."""

    label: str

    def part(self, data: Engine, witness: Any, options: Ints) -> MarksProblem:
        """The same problem with some users or some options."""
        part = super().part(data, witness, options)
        part.label = self.label
        return part

    @cached_property
    def marked(self) -> Any:
        """1 for the options with that label."""
        names, numbers = label_numbers(self.items)
        return (names == self.label)[numbers].astype(float)

    @property
    def ease(self) -> float:
        """Log odds of choosing the label, on average over the items."""
        counts = self.data.choosers(self.witness)
        mine, all_ = self.items.total(counts * self.marked), self.items.total(counts)
        share = float(((mine + 1) / (all_ + 2)).mean())
        return float(np.log(share / (1 - share)))

    def begin(self, start: Start) -> Any:
        """The items' curves, and how many chose each option, over the grid of abilities."""
        return begun(self, start, self.data.n_items)

    def round(self, state: Any, rounds: int) -> tuple[MarksFit, Any]:
        """The solution after a round, and what the next one needs."""
        curves, chosen = state
        right = self.items.total(chosen * self.marked[:, None])
        curves, bend = fit_curves(curves, right, self.items.total(chosen), rounds)
        logs = self._logs(curves)
        chosen, of_users = expect(self, logs)
        evidence = of_users + float(log_prior_of(curves, bend[2]).sum())
        fit = MarksFit(self, self.marked, logs, evidence, rounds, curves)
        return fit, (curves.pooled(np.ones(self.data.n_items), bend, rounds), chosen)

    def applied(self, solution: Solution) -> MarksFit:
        """Apply a solution found for some of the users to these, who answered the same items."""
        assert isinstance(solution, MarksFit)
        return replace(solution, problem=self, logs=self._logs(solution.curves))

    def _logs(self, curves: Curves) -> Floats:
        right, wrong = log_curves(curves.lines)
        of = self.items.of_option
        return np.where(self.marked[:, None] > 0, right[of], wrong[of])


def beyond_evidence(fit: LeaningFit) -> float:
    """Excess evidence of a model with leanings, when compared with marks, which have none (nats).

    Its evidence takes the learnt distribution of the leanings as given, and it is a lower bound,
    which is looser the more the keys are in doubt. Correcting for both makes the comparison fair.
    """
    return _learnt_spread(fit) - _loose_bound(fit)


def _learnt_spread(fit: LeaningFit) -> float:
    """How much the evidence gains from having learnt how leanings are spread.

    The comparison averages over the possible shares of the leanings (Dirichlet, about a normal
    distribution).
    """
    shares, points = fit.signal.leanings, fit.problem.points
    users = float(fit.problem.witness.sum())
    counts = np.maximum(shares * (users + PSEUDO_LEANING) - PSEUDO_LEANING / len(points), 0.0)
    mean = counts @ points / users
    variance = (counts @ (points - mean) ** 2 + PSEUDO_LEANING) / (users + PSEUDO_LEANING)
    normal = np.exp(-((points - mean) ** 2) / (2 * variance))
    usual = (1 - FROM_ALL) * normal / normal.sum() + FROM_ALL / len(points)
    averaged = max(_together(counts, worth * usual) for worth in WORTH)
    return float(counts @ np.log(shares)) - averaged


def _together(counts: Floats, prior: Floats) -> float:
    """Log probability of who is at which point, averaging shares over a Dirichlet distribution."""
    from scipy.special import gammaln

    each = gammaln(counts + prior) - gammaln(prior)
    return float(each.sum() + gammaln(prior.sum()) - gammaln(counts.sum() + prior.sum()))


def _loose_bound(fit: LeaningFit) -> float:
    """How far the evidence is too low because it treats keys and users as independent.

    The second term of the expansion whose first is the bound: half the variance of what each answer
    says about key and user together (Plefka 1982), with curves linear about the choosers' mean.
    """
    problem, signal = fit.problem, fit.signal
    data, witness = problem.data, problem.witness
    ability, sd, _, leaning, leaning_sd = fit.described[:, :5].T
    n = np.maximum(data.choosers(witness), 1e-9)  # in a sample an option may have no choosers
    columns = [witness * each for each in (ability, leaning, sd**2, leaning_sd**2)]
    at, lean, wide, lean_wide = (data.choosers(np.stack(columns, axis=1)) / n[:, None]).T
    way = 2.0 * problem.numbers - 1
    right = logistic(signal.slope * at + way * lean + signal.intercepts)
    # the other label's intercept, for where that one is right
    other = np.where(problem.other < 0, signal.intercepts, signal.intercepts[problem.other])
    wrong = logistic(signal.slope * at - way * lean + other)
    by_ability = (signal.slope * (1 - right + wrong)) ** 2 * wide
    by_leaning = (1 - right - wrong) ** 2 * lean_wide
    return 0.5 * float((fit.key * (1 - fit.key) * n) @ (by_ability + by_leaning))
