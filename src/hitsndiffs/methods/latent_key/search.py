"""Several starts, the distinct solutions they lead to, and how far the best is ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import erf, log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.progress import step
from hitsndiffs.engines import Engine
from hitsndiffs.methods.label_axes import label_centred_axes
from hitsndiffs.methods.labels import two_labels
from hitsndiffs.methods.latent_key.copies import Witnesses, find_witnesses, near_equals
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.marks import MarksProblem
from hitsndiffs.methods.latent_key.model import KeyProblem
from hitsndiffs.methods.latent_key.modes import (
    HOPELESS,
    Mode,
    correlation,
    find_modes,
    fit_from,
    merged,
)
from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.methods.latent_key.sampling import take_sample
from hitsndiffs.methods.latent_key.signal import LeaningFit, LeaningProblem
from hitsndiffs.methods.latent_key.starts import both_ways, consensus
from hitsndiffs.spectral.shrinkage import Shrinkage, find_shrinkage

__all__ = ["Mode", "Search", "correlation", "search"]

Array = npt.NDArray[np.float64]

#: Solutions that correlate less than this disagree about who is good.
DISAGREE = 0.5
#: Steadiness where every start led to solutions that agree.
NO_RIVAL = 3.0
#: Logistic regression of being right: constant, log(1 + steadiness), agreement.
CALIBRATION = (-2.16, 0.94, 3.76)
#: Log prior of two shared labels being marks: one of them is right in every item.
MARKS = log(0.05)


@dataclass(frozen=True)
class Search:
    """All solutions found, best evidence first (after those that heed what the caller knows).

    Attributes
    ----------
    problem
        The data, with copies weighed.
    modes
        The distinct solutions.
    shrinkage
        λ, μ and the leading axes of the answers, every user counting once.
    """

    problem: Problem
    modes: list[Mode]
    shrinkage: Shrinkage

    @property
    def witness(self) -> Array:
        """How much each user counts as a witness."""
        return self.best.witnesses.weights

    @property
    def best(self) -> Mode:
        """The solution with the highest evidence that heeds what the caller knows."""
        return self.modes[0]

    @cached_property
    def rival(self) -> Mode | None:
        """The best solution that disagrees about who is good (but heeds what the caller knows)."""
        ability = self.best.fit.posterior.mean
        for mode in self.modes[1:]:
            disagrees = correlation(mode.fit.posterior.mean, ability) < DISAGREE
            if disagrees and not _contradicts(self.problem, mode):
                return mode
        return None

    @property
    def lead(self) -> float:
        """How far the best solution is ahead of its rival (nats; infinite without a rival)."""
        return np.inf if self.rival is None else self.best.evidence - self.rival.evidence

    @property
    def steadiness(self) -> float:
        """The lead in units of its own spread over the users (a paired comparison, user by user).

        A lead that few users carry may be gone with other users of the same kind.
        """
        if self.rival is None:
            return NO_RIVAL
        parts = self.best.by_user - self.rival.by_user
        spread = float(parts.std()) * np.sqrt(len(parts))
        return self.lead / max(spread, 1e-9)

    @cached_property
    def agreement(self) -> float:
        """How well the best solution agrees with the strongest axis of the answers (0 to 1)."""
        axes = self.shrinkage.axes
        if len(axes.values) == 0:
            return 1.0
        return abs(correlation(axes.scores[:, 0], self.best.fit.posterior.mean))

    @property
    def confidence(self) -> float:
        """Probability that the best solution is right about axis and sign.

        A logistic function of :attr:`steadiness` and :attr:`agreement`, fitted on simulated and
        real data with known keys (the arena's reliability table shows how it holds); but never
        more than the probability that the lead over the rival is no luck: where two solutions are
        equally likely, the sign is a toss of a coin. At most ½ where even the best solution
        contradicts what the caller knows.
        """
        sure = _confidence(self.steadiness, self.agreement)
        return min(sure, 0.5) if _contradicts(self.problem, self.best) else sure

    @property
    def doubt(self) -> str:
        """A sentence for results that are not sure."""
        return (
            "Two readings of the answers are almost equally likely, and they disagree about who "
            "is good. Give one or two known answers, or name one strong user, to settle it."
        )


def _confidence(steadiness: float, agreement: float) -> float:
    base, per_log_steadiness, per_agreement = CALIBRATION
    logit = base + per_log_steadiness * np.log1p(max(steadiness, 0.0)) + per_agreement * agreement
    no_luck = 0.5 * (1 + erf(steadiness / sqrt(2)))
    return float(min(1 / (1 + np.exp(-logit)), no_luck))


def search(
    data: Engine,
    *,
    answers: Mapping[Any, Any] | None = None,
    strong_user: Any = None,
    axes: int = 3,
    seed: int = 0,
) -> Search:
    """Find the distinct solutions of the latent-key model.

    Parameters
    ----------
    data
        The data; every user has answered something.
    answers, strong_user
        What the caller knows.
    axes
        Start from this many leading axes, both ways up, and from the consensus.
    seed
        For the axes.
    """
    two = two_labels(data.items)
    kind = LeaningProblem if two else KeyProblem
    problem = kind(data, answers=answers, strong_user=strong_user)
    # 1. how much each user counts as a witness, to begin with: nearly equal sheets count once
    step("looking for copies")
    equal = data.how_many(data.fingerprints())
    problem.weigh(1.0 / np.maximum(equal, 1 + near_equals(problem)))
    first = fit_from(take_sample(problem), consensus(problem), rounds=12)
    witnesses = find_witnesses(problem, first)
    problem.weigh(witnesses.weights)

    # 2. the leading axes, and the same with copies weighed
    step("finding the strongest axes")
    plain = weighed = _axes(data, axes, seed, two=two)
    if (problem.witness < 1).any():
        weighed = _axes(data, axes, seed, two=two, witness=problem.witness)

    # 3. distinct solutions from several starts
    starts = both_ways(weighed, 1 if two else axes) | {"consensus": consensus(problem)}
    modes = find_modes(problem, witnesses, starts)

    step("comparing the solutions")
    # 4. who is a copy depends on the solution: a clique may have made itself the truth
    modes = _with_own_witnesses(problem, modes)
    # 5. where two labels are shared: the opposite truth, and one label right everywhere
    if two:
        modes = merged([*modes, *_opposite(problem, modes[0]), *_one_label(problem, witnesses)])
    modes = _heeding(problem, modes)
    problem.weigh(modes[0].witnesses.weights)
    return Search(problem, modes, plain)


def _axes(
    data: Engine, count: int, seed: int, *, two: bool, witness: Array | None = None
) -> Shrinkage:
    """The leading axes; where two labels are shared, once everybody's leaning is taken out."""
    if two:
        return label_centred_axes(data, count, witness=witness, seed=seed)
    return find_shrinkage(data, axes=count, user_weights=witness, seed=seed)


def _opposite(problem: Problem, best: Mode) -> list[Mode]:
    """The best solution turned round, as far as it is one."""
    if not isinstance(problem, LeaningProblem) or not isinstance(best.fit, LeaningFit):
        return []
    problem.weigh(best.witnesses.weights)
    fit = problem.fit(problem.mirrored(best.fit), max_rounds=30)
    return [replace(best, starts=("opposite",), fit=fit)]


def _one_label(problem: Problem, witnesses: Witnesses) -> list[Mode]:
    """The reading that one label is right in every item: marks, not answers.

    Then ability is all there is, with slopes of the items' own, and no leaning. The structure of
    the data speaks against it, so that it needs clear evidence.
    """
    assert isinstance(problem, LeaningProblem)
    modes = []
    for number in (0, 1):
        marks = MarksProblem(problem.data, witnesses.weights)
        marks.strong, marks.strong_users = problem.strong, problem.strong_users
        marks.number = number
        if ((problem.known >= 0) & (problem.known != marks.marked)).any():
            continue  # a known answer says otherwise
        marks.known = problem.known
        way = problem.odds if number == 1 else -problem.odds
        sample = take_sample(marks)
        fit = sample.for_all(sample.fit(normal_scores(problem.data, way), 30), 5)
        start = f"{marks.label} right everywhere"
        modes.append(
            Mode((start,), fit, witnesses, prior=marks.popularity, one_label=marks.label)
        )
    # which of the two labels it is, popularity says; that it is one, must be paid for once
    most = max((mode.prior for mode in modes), default=0.0)
    return [replace(mode, prior=MARKS + mode.prior - most) for mode in modes]


def _with_own_witnesses(problem: Problem, modes: list[Mode]) -> list[Mode]:
    """Judge every solution that is not far behind by the copies that it sees besides.

    A solution keeps the copies found to begin with, and takes its own only where they explain the
    answers better.
    """
    best = max(mode.evidence for mode in modes)
    judged = []
    for mode in modes:
        judged.append(mode)
        if len(modes) == 1 or best - mode.evidence >= HOPELESS:
            continue
        problem.weigh(mode.witnesses.weights)
        own = mode.witnesses.joined(find_witnesses(problem, mode.fit))
        if bool((own.weights == mode.witnesses.weights).all()):
            continue
        problem.weigh(own.weights)
        fit = problem.fit(mode.fit, max_rounds=20)
        other = replace(mode, fit=fit, witnesses=own)
        if other.evidence > mode.evidence:
            judged[-1] = other
    return merged(judged)


def _heeding(problem: Problem, modes: list[Mode]) -> list[Mode]:
    """Solutions that contradict what the caller knows come last.

    One user's prior, or a few known answers, cannot outweigh the answers of all others; but the
    caller's word can.
    """
    return sorted(modes, key=lambda mode: _contradicts(problem, mode))


def _contradicts(problem: Problem, mode: Mode) -> bool:
    """Whether the strong user stands below the middle, or known answers speak against ability."""
    ability = mode.fit.posterior.mean
    if problem.strong is not None and ability[problem.strong] < problem.data.median(ability):
        return True
    right = np.flatnonzero(problem.known == 1.0)
    if len(right) == 0:
        return False
    # those who chose a known right answer should be abler than those who answered otherwise
    counts = problem.data.choosers_per_option.astype(float)
    totals = problem.data.choosers(ability)
    answers, sums = problem.items.sum(counts)[right], problem.items.sum(totals)[right]
    return bool((totals[right] - counts[right] * sums / answers).sum() < 0)
