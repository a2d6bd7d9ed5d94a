"""Several starts, and the distinct solutions they lead to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.progress import step
from hitsndiffs.engines import Engine
from hitsndiffs.methods.label_axes import label_centred_axes
from hitsndiffs.methods.labels import two_labels
from hitsndiffs.methods.latent_key.copies import (
    Witnesses,
    find_witnesses,
    group_weights,
    near_equals,
)
from hitsndiffs.methods.latent_key.found import Search, contradicts
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.habits import habits_of
from hitsndiffs.methods.latent_key.known import informed
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
from hitsndiffs.methods.latent_key.problem import Problem, Sizes
from hitsndiffs.methods.latent_key.sampling import take_sample
from hitsndiffs.methods.latent_key.signal import LeaningFit, LeaningProblem
from hitsndiffs.methods.latent_key.starts import both_ways, consensus
from hitsndiffs.spectral.shrinkage import Shrinkage, find_shrinkage

__all__ = ["Mode", "Search", "correlation", "search"]

Array = npt.NDArray[np.float64]

#: Log prior of two shared labels being marks: one of them is right in every item.
MARKS = log(0.05)


def search(
    data: Engine,
    *,
    answers: Mapping[Any, Any] | None = None,
    strong_user: Any = None,
    group: Mapping[Any, Any] | None = None,
    axes: int = 3,
    seed: int = 0,
    sizes: Sizes | None = None,
) -> Search:
    """Find the distinct solutions of the latent-key model.

    Parameters
    ----------
    data
        The data; every user has answered something.
    answers, strong_user
        What the caller knows.
    group
        Which group each user belongs to; each counts as one witness.
    axes
        Start from this many leading axes, both ways up, and from the consensus.
    seed
        For the axes.
    sizes
        What counts as large.
    """
    two = two_labels(data.items)
    kind = LeaningProblem if two else KeyProblem
    problem = kind(data, strong_user=strong_user, sizes=sizes)
    sample = take_sample(problem)
    if sample.users is not None and group is None:
        # solutions belong to the items: some thousand users find them, everybody joins at the end
        whole = kind(data, answers=answers, strong_user=strong_user, sizes=sizes)
        found = search(
            sample.problem.data,
            answers=answers,
            strong_user=strong_user,
            axes=axes,
            seed=seed,
            sizes=problem.sizes.all_users(),
        )
        return replace(found, sample=replace(sample, whole=whole))
    # 1. how much each user counts as a witness, to begin with: nearly equal sheets count once
    step("looking for copies")
    equal = data.how_many(data.fingerprints())
    once = 1.0 / np.maximum(equal, 1 + near_equals(problem))
    habits = None if two else habits_of(data)
    if habits is not None:
        once = once * habits.weights
    problem.weigh(once)
    if group is not None:
        once = group_weights(data, group)
        witnesses = Witnesses(once, 0.0 * once)
    else:
        first = fit_from(take_sample(problem), consensus(problem), rounds=12)
        witnesses = find_witnesses(problem, first)
        if habits is not None:
            witnesses = replace(witnesses, weights=witnesses.weights * habits.weights)
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
    if group is None:
        modes = _with_own_witnesses(problem, modes)
    # 5. where two labels are shared: the opposite truth, and one label right everywhere
    if two:
        modes = merged([*modes, *_opposite(problem, modes[0]), *_one_label(problem, witnesses)])
    # 6. what the caller knows: a strong user's word outweighs the answers of all others
    modes = sorted(modes, key=lambda mode: contradicts(problem, mode))
    problem.weigh(modes[0].witnesses.weights)
    found = Search(problem, modes, plain, once, habits)
    if not answers:
        return found
    return informed(found, kind(data, answers=answers, strong_user=strong_user, sizes=sizes))


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
        way = problem.odds if number == 1 else -problem.odds
        sample = take_sample(marks)
        fit = sample.for_all(sample.fit(normal_scores(problem.data, way), 30), 5)
        start = f"{marks.label} right everywhere"
        modes.append(Mode((start,), fit, witnesses, prior=marks.popularity, one_label=marks.label))
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
