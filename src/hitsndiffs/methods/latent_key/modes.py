"""The distinct solutions that several starts lead to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.progress import tracked
from hitsndiffs.methods.latent_key.copies import Witnesses
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.problem import Problem, Solution
from hitsndiffs.methods.latent_key.sampling import Sample, take_sample
from hitsndiffs.methods.latent_key.together import fit_all

__all__ = [
    "HOPELESS",
    "Mode",
    "consensus",
    "correlation",
    "find_modes",
    "fit_from",
    "merged",
    "multiple_correlation",
]

#: Abilities that correlate this well belong to one solution.
SAME = 0.99
#: Solutions this far behind after the first rounds (nats) are not continued.
HOPELESS = 200.0
#: Rounds before and after merging equal solutions.
FIRST, MORE = 10, 30
#: Everybody's initial log odds of being right, in the consensus.
START_VOTE = float(np.log(0.7 / 0.3))


@dataclass(frozen=True)
class Mode:
    """One solution of the model.

    Attributes
    ----------
    starts
        The starts that led to it.
    fit
        The solution.
    witnesses
        Who counts how much if this solution is right, and how well copying explains the rest.
    prior
        Log prior of this kind of solution, relative to the ordinary kind.
    one_label
        The label that is right in every item, where the solution says so.
    """

    starts: tuple[str, ...]
    fit: Solution
    witnesses: Witnesses
    prior: float = 0.0
    one_label: str | None = None

    @cached_property
    def evidence(self) -> float:
        """Log probability of all answers under this solution (a lower bound)."""
        w = self.witnesses
        return self.fit.evidence + float((1 - w.weights) @ w.copy_logs) + self.prior

    @property
    def by_user(self) -> Floats:
        """Each user's part of the evidence."""
        w = self.witnesses
        return w.weights * self.fit.posterior.log_evidence + (1 - w.weights) * w.copy_logs


def find_modes(problem: Problem, witnesses: Witnesses, starts: Mapping[str, Floats]) -> list[Mode]:
    """Fit from every start, merge equal solutions, and continue the distinct ones; best first.

    ``starts``: name → user scores to start from.
    """
    sample = take_sample(problem)
    here = witnesses.of(sample)
    begun = [sample.picked(normal_scores(problem.data, z)) for z in starts.values()]
    fits = fit_all([sample.problem] * len(begun), begun, "trying starts", max_rounds=FIRST)
    modes = merged([Mode((name,), fit, here) for name, fit in zip(starts, fits, strict=True)])
    best = modes[0].evidence
    hopeful = [mode for mode in modes if best - mode.evidence < HOPELESS]
    fits = fit_all(
        [sample.problem] * len(hopeful),
        [mode.fit for mode in hopeful],
        "carrying solutions on",
        max_rounds=MORE,
    )
    carried = merged([replace(mode, fit=fit) for mode, fit in zip(hopeful, fits, strict=True)])
    return merged(
        [
            replace(mode, fit=sample.for_all(mode.fit, FIRST), witnesses=witnesses)
            for mode in tracked(carried, "fitting everybody")
        ]
        + [
            replace(mode, fit=sample.for_all(mode.fit, 1), witnesses=witnesses)
            for mode in modes[len(hopeful) :]
        ]
    )


def fit_from(sample: Sample, scores: Floats, rounds: int) -> Solution:
    """A solution for everybody, from everybody's scores."""
    return sample.for_all(sample.fit(normal_scores(sample.whole.data, scores), rounds), 3)


def consensus(problem: Problem) -> Any:
    """One-coin agreement: each user's share of answers that agree with the weighted majority."""
    data, items = problem.data, problem.items
    counts = data.choosers(problem.witness)
    others = counts * np.log(np.maximum(items.sizes, 2) - 1)[items.of_option]
    key = problem.settle(items.softmax(counts * START_VOTE + others))
    for _ in range(50):
        votes = data.through(key[:, None], _votes, data.answers_per_user, problem.witness)[:, 0]
        new = problem.settle(items.softmax(votes + others))
        change = float(np.abs(new - key).max())
        key = new
        if change < 1e-6:
            break
    return data.mapped(key[:, None], _accuracy, data.answers_per_user)[:, 0]


def _accuracy(right: Floats, answers: Floats) -> Floats:
    return np.clip((right + 0.5) / (answers[:, None] + 1), 0.01, 0.99)


def _votes(right: Floats, answers: Floats, witness: Floats) -> Floats:
    p = _accuracy(right, answers)
    return witness[:, None] * np.log(p / (1 - p))


def merged(modes: list[Mode]) -> list[Mode]:
    """Distinct solutions, best evidence first."""
    distinct: list[Mode] = []
    for mode in sorted(modes, key=lambda mode: -mode.evidence):
        for k, kept in enumerate(distinct):
            if correlation(mode.fit.posterior.mean, kept.fit.posterior.mean) > SAME:
                distinct[k] = replace(kept, starts=kept.starts + mode.starts)
                break
        else:
            distinct.append(mode)
    return distinct


def correlation(a: Floats, b: Floats) -> float:
    """Pearson's correlation; 1 if one of the two does not vary."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt(float(a @ a) * float(b @ b)))
    return float(a @ b) / size if size > 0 else 1.0


def multiple_correlation(of: Floats, by: Sequence[Floats]) -> float:
    """How well a linear function of some variables gives another one (0 to 1).

    Adjusted for their number: 0 is expected where they have nothing to do with it.
    """
    of, by = of - of.mean(), [each - each.mean() for each in by]
    products = np.array([[float(a @ b) for b in by] for a in by])
    values, vectors = np.linalg.eigh(products)
    free = values > 1e-9 * values[-1]
    shared = (vectors.T @ [float(each @ of) for each in by])[free]
    left = 1 - float((shared**2 / values[free]).sum()) / float(of @ of)
    degrees = len(of) - 1 - int(free.sum())
    return float(np.sqrt(max(1 - left * (len(of) - 1) / degrees, 0.0))) if degrees > 0 else 0.0
