"""Several starts, the distinct solutions they lead to, and how far the best is ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import erf, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.progress import step, tracked
from hitsndiffs.engines import Engine
from hitsndiffs.methods.latent_key.copies import Witnesses, find_witnesses, near_equals
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.model import KeyFit, KeyProblem, Sizes, fit_key
from hitsndiffs.methods.latent_key.sampling import Sample, take_sample
from hitsndiffs.methods.latent_key.starts import both_ways, consensus
from hitsndiffs.spectral.shrinkage import Shrinkage, find_shrinkage

__all__ = ["Mode", "Search", "correlation", "search"]

Array = npt.NDArray[np.float64]

#: Abilities that correlate this well belong to one solution.
SAME = 0.99
#: Solutions that correlate less than this disagree about who is good.
DISAGREE = 0.5
#: Steadiness where every start led to solutions that agree.
NO_RIVAL = 3.0
#: Logistic regression of being right: constant, log(1 + steadiness), agreement.
CALIBRATION = (-2.16, 0.94, 3.76)
#: A group of users with nearly the same answers is worth a start of its own from this share on.
CLIQUE = 0.1
#: Solutions this far behind after the first rounds are not carried on (nats).
HOPELESS = 200.0


@dataclass(frozen=True)
class Mode:
    """One solution of the model.

    Attributes
    ----------
    starts
        Those that led to it.
    fit
        The solution.
    witnesses
        Who counts how much if this solution is right, and how well copying explains the rest.
    """

    starts: tuple[str, ...]
    fit: KeyFit
    witnesses: Witnesses

    @cached_property
    def evidence(self) -> float:
        """Log probability of all answers under this solution (a lower bound)."""
        w = self.witnesses
        return self.fit.evidence + float((1 - w.weights) @ w.copy_logs)

    @property
    def by_user(self) -> Array:
        """Each user's part of the evidence."""
        w = self.witnesses
        return w.weights * self.fit.posterior.log_evidence + (1 - w.weights) * w.copy_logs


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

    problem: KeyProblem
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
    sizes: Sizes = Sizes(),  # noqa: B008  (it is frozen)
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
    sizes
        What counts as large.
    """
    problem = KeyProblem(data, answers=answers, strong_user=strong_user, sizes=sizes)
    # 1. how much each user counts as a witness, to begin with
    step("looking for copies")
    problem.weigh(1.0 / data.how_many(data.fingerprints()))
    first = _fit(take_sample(problem), consensus(problem), rounds=12)
    witnesses = find_witnesses(problem, first)
    problem.weigh(witnesses.weights)

    # 2. the leading axes, and the same with copies weighed
    step("finding the strongest axes")
    plain = find_shrinkage(data, axes=axes, seed=seed)
    weighed = plain
    if (problem.witness < 1).any():
        weighed = find_shrinkage(data, axes=axes, user_weights=problem.witness, seed=seed)

    # 3. distinct solutions from several starts
    starts = both_ways(weighed) | {"consensus": consensus(problem)}
    modes = find_modes(problem, witnesses, starts) + _without_near_equals(problem)

    # 4. who is a copy depends on the solution: a clique may have made itself the truth
    step("comparing the solutions")
    modes = _heeding(problem, _with_own_witnesses(problem, modes))
    problem.weigh(modes[0].witnesses.weights)
    return Search(problem, modes, plain)


def _without_near_equals(problem: KeyProblem) -> list[Mode]:
    """The consensus once more, as if users with nearly the same answers were one.

    From every other start a large group of copies, each a little different, is the truth.
    """
    least = CLIQUE * problem.data.n_users
    others = near_equals(problem, least)
    if others.max() < max(least, 1):
        return []
    problem.weigh(1 / (1 + others))
    fit = _fit(take_sample(problem), consensus(problem), rounds=12)
    witnesses = find_witnesses(problem, fit)
    problem.weigh(witnesses.weights)
    fit = fit_key(problem, fit, max_rounds=20)
    return [Mode(("consensus, near copies once",), fit, witnesses)]


def _with_own_witnesses(problem: KeyProblem, modes: list[Mode]) -> list[Mode]:
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
        problem.weigh(own.weights)
        fit = fit_key(problem, mode.fit, max_rounds=20)
        other = Mode(mode.starts, fit, own)
        if other.evidence > mode.evidence:
            judged[-1] = other
    return _merged(judged)


def _heeding(problem: KeyProblem, modes: list[Mode]) -> list[Mode]:
    """Solutions that contradict what the caller knows come last.

    One user's prior, or a few known answers, cannot outweigh the answers of all others; but the
    caller's word can.
    """
    return sorted(modes, key=lambda mode: _contradicts(problem, mode))


def _contradicts(problem: KeyProblem, mode: Mode) -> bool:
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


def find_modes(
    problem: KeyProblem,
    witnesses: Witnesses,
    starts: Mapping[str, Array],
    *,
    first: int = 10,
    more: int = 30,
) -> list[Mode]:
    """Fit from every start, merge equal solutions, and carry the distinct ones on; best first.

    Parameters
    ----------
    problem, witnesses
        The data, and the copies in them.
    starts
        Name → user scores to start from.
    first, more
        Rounds before and after merging.
    """
    sample = take_sample(problem)
    here = witnesses.of(sample)
    modes = _merged(
        [
            Mode((name,), sample.fit(normal_scores(problem.data, z), first), here)
            for name, z in tracked(starts.items(), "trying starts")
        ]
    )
    best = modes[0].evidence
    hopeful = [mode for mode in modes if best - mode.evidence < HOPELESS]
    carried = _merged(
        [
            _carried_on(sample.problem, mode, more)
            for mode in tracked(hopeful, "carrying solutions on")
        ]
    )
    return _merged(
        [
            Mode(mode.starts, sample.for_all(mode.fit, first), witnesses)
            for mode in tracked(carried, "fitting everybody")
        ]
        + [
            Mode(mode.starts, sample.for_all(mode.fit, 1), witnesses)
            for mode in modes[len(hopeful) :]
        ]
    )


def _carried_on(problem: KeyProblem, mode: Mode, rounds: int) -> Mode:
    fit = fit_key(problem, mode.fit, max_rounds=rounds)
    return Mode(mode.starts, fit, mode.witnesses)


def _fit(sample: Sample, scores: Array, rounds: int) -> KeyFit:
    """Everybody's solution from everybody's scores."""
    return sample.for_all(sample.fit(normal_scores(sample.whole.data, scores), rounds), 3)


def _merged(modes: list[Mode]) -> list[Mode]:
    """Distinct solutions, best evidence first."""
    distinct: list[Mode] = []
    for mode in sorted(modes, key=lambda mode: -mode.evidence):
        for k, kept in enumerate(distinct):
            if correlation(mode.fit.posterior.mean, kept.fit.posterior.mean) > SAME:
                distinct[k] = Mode(kept.starts + mode.starts, kept.fit, kept.witnesses)
                break
        else:
            distinct.append(mode)
    return distinct


def correlation(a: Array, b: Array) -> float:
    """Pearson's; 1 where one of the two does not vary."""
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt(float(a @ a) * float(b @ b)))
    return float(a @ b) / size if size > 0 else 1.0
