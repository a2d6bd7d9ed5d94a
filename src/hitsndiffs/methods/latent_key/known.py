"""What the caller knows: known answers choose among the solutions, and settle their keys.

Where no solution foresaw the known answers, the model itself is wrong for these data: a mistake
that many share is taken for the truth, and a fit that begins at the truth leaves it again. Then
people are placed along the strongest axes of the answers, turned such that those who gave the known
answers stand high, and the right option of every item is the one whose choosers stand highest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.keys import key_from_scores
from hitsndiffs.methods.latent_key.foresight import foreseen
from hitsndiffs.methods.latent_key.found import Search, Surprise
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.modes import Mode, correlation
from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.methods.latent_key.shares import HALVED, shared_out

__all__ = ["informed"]

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

#: Rounds that a solution is fitted again with the known keys put in.
REFIT_ROUNDS = 15
#: Solutions that rank alike with the known keys put in are one.
SAME_ORDER = 0.9
#: A solution is sure of a key from here on.
SURE = 0.9
#: Where none of the solutions is right, the axes turned to the known answers are this often.
TURNED = 0.75
#: Known answers are foreseen from the others in so many parts at most.
FOLDS = 5


def informed(found: Search, problem: Problem) -> Search:
    """Weigh the solutions by how well they foresaw the known answers, and put these in.

    Each solution says how likely every known answer is to be the right one; so do the axes of the
    answers, turned to those who gave the other known answers; and so do those who say that neither
    is right, for whom all options are alike.

    Parameters
    ----------
    found
        The search without the known answers.
    problem
        The same data, with them.
    """
    right = problem.known == 1.0
    if not right.any():  # right answers that nobody gave: they tell no solution from another
        modes = [
            replace(mode, fit=problem.fit(mode.fit, max_rounds=REFIT_ROUNDS))
            for mode in found.modes
            if mode.one_label is None
        ]
        return replace(found, problem=problem, modes=modes or found.modes)
    fitted: list[tuple[float, Mode]] = []
    for mode, chance in shared_out(found):
        if mode.one_label is not None:  # against the structure of the data: it must explain them
            chance /= 1 + (found.best.evidence - mode.evidence) / HALVED
        likely = foreseen(found, mode.fit.key, mode.fit.posterior.mean)
        logs = float(np.log(likely[right]).sum()) + float(np.log(max(chance, 1e-6)))
        if mode.one_label is None:
            problem.weigh(mode.witnesses.weights)
            again = problem.fit(mode.fit, max_rounds=REFIT_ROUNDS)
            fitted.append((logs, replace(mode, fit=again)))
        elif (mode.fit.key[right] == 1.0).all():
            fitted.append((logs, mode))
    left = max(1 - sum(chance for _, chance in shared_out(found)), 1e-6)
    # most of what is left for none of them is for the order that the known answers give
    popular = np.log(problem.items.share(problem.data.choosers(found.once) + 1))
    none = float(np.log(left * (1 - TURNED))) + float(popular[right].sum())
    logs = float(np.log(left * TURNED)) + _turned_logs(found, right, popular)
    fitted.append((logs, _turned(found, problem, right)))
    joined = _joined(fitted)
    top = max(each for each, _ in joined)
    weights = np.array([np.exp(each - top) for each, _ in joined])
    total = float(weights.sum() + np.exp(none - top))
    order = np.argsort(-weights, kind="stable")
    modes = [joined[i][1] for i in order]
    problem.weigh(modes[0].witnesses.weights)
    told = tuple((weights[order] / total).tolist())
    surprises = _surprises(found, right)
    return replace(found, problem=problem, modes=modes, told=told, surprises=surprises)


def _surprises(found: Search, right: Flags) -> tuple[Surprise, ...]:
    """Known answers where the best solution without them was sure of another one."""
    key, items = found.best.fit.key, found.problem.items
    made = []
    for option in np.flatnonzero(right).tolist():
        first, last = items.starts[items.of_option[option] :][:2]
        held = first + int(np.argmax(key[first:last]))
        if held != option and key[held] >= SURE:
            made.append(Surprise(option, held, float(key[held])))
    return tuple(made)


def _direction(found: Search, right: Flags) -> Any:
    """Everybody's place along the strongest axes, turned to those who gave the known answers."""
    data, marks = found.problem.data, right.astype(float)
    counts = data.choosers_per_option.astype(float)
    items = data.items
    told = data.choices(marks - items.sum(marks * counts) / items.sum(counts))
    place = 0.0 * told
    for axis in found.shrinkage.axes.scores.T:
        place = place + correlation(axis, told) * axis / max(float(axis.std()), 1e-12)
    return place


def _turned_logs(found: Search, right: Flags, popular: Array) -> float:
    """Log probability of the known answers, each foreseen from the others; the first from none."""
    options = np.flatnonzero(right)
    folds = min(FOLDS, len(options))
    blind = float(popular[options].sum())
    if folds < 2:
        return blind
    seen = 0.0
    for fold in range(folds):
        hidden = options[fold::folds]
        rest = right.copy()
        rest[hidden] = False
        place = _direction(found, rest)
        key = key_from_scores(found.problem.data, place)
        seen += float(np.log(foreseen(found, key, place)[hidden]).sum())
    return seen * (1 - 1 / folds) + blind / folds


def _turned(found: Search, problem: Problem, right: Flags) -> Mode:
    """The solution along the turned axes: its key is held, for the model alone would leave it."""
    data, witnesses = problem.data, found.best.witnesses
    if len(found.shrinkage.axes.values) == 0:
        marks = right.astype(float)
        scores = data.choices(marks - problem.items.sum(marks) / 2)
    else:
        scores = _direction(found, right)
        problem = problem.holding(key_from_scores(data, scores))
    problem.weigh(witnesses.weights)
    fit = problem.fit(normal_scores(data, scores), max_rounds=2 * REFIT_ROUNDS)
    return Mode(("known answers",), fit, witnesses)


def _joined(fitted: list[tuple[float, Mode]]) -> list[tuple[float, Mode]]:
    """Solutions that have come to rank alike are one, and as likely as both together."""
    kept: list[tuple[float, Mode]] = []
    for logs, mode in sorted(fitted, key=lambda pair: -pair[0]):
        for i, (other, first) in enumerate(kept):
            alike = correlation(mode.fit.posterior.mean, first.fit.posterior.mean) > SAME_ORDER
            if alike and mode.one_label == first.one_label:
                kept[i] = (float(np.logaddexp(other, logs)), first)
                break
        else:
            kept.append((logs, mode))
    return kept
