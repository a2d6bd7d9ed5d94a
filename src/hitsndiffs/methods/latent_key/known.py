"""What the caller knows: known answers choose among the solutions, and settle their keys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.found import Search
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.modes import Mode, correlation
from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.methods.latent_key.shares import shared_out

__all__ = ["informed"]

Array = npt.NDArray[np.float64]

#: A key is never taken to be surer than this much away from 0 and 1.
KEY_FLOOR = 0.02
#: Rounds that a solution is fitted again with the known keys put in.
REFIT_ROUNDS = 15
#: Solutions that rank alike with the known keys put in are one.
SAME_ORDER = 0.9


def informed(found: Search, problem: Problem) -> Search:
    """Weigh the solutions by how well they foresaw the known answers, and put these in.

    Each solution says how likely every known answer is to be the right one; so do those who say
    that none of the solutions is right, for whom all options are alike, and for whom ability is
    looked for from the known answers alone.

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
    sizes = np.maximum(problem.items.sizes, 2)[problem.items.of_option]
    fitted: list[tuple[float, Mode]] = []
    for mode, chance in shared_out(found):
        foreseen = (mode.fit.key + KEY_FLOOR) / (1 + KEY_FLOOR * sizes)
        logs = float(np.log(foreseen[right]).sum()) + float(np.log(max(chance, 1e-6)))
        if mode.one_label is None:
            problem.weigh(mode.witnesses.weights)
            again = problem.fit(mode.fit, max_rounds=REFIT_ROUNDS)
            fitted.append((logs, replace(mode, fit=again)))
        elif (mode.fit.key[right] == 1.0).all():
            fitted.append((logs, mode))
    left = max(1 - sum(chance for _, chance in shared_out(found)), 1e-6)
    # half of what is left for none of them is for the order that the known answers alone give
    logs = float(np.log(left / 2)) - float(np.log(sizes[right]).sum())
    fitted.append((logs, _from_known(found, problem, right)))
    joined = _joined(fitted)
    top = max(each for each, _ in joined)
    weights = np.array([np.exp(each - top) for each, _ in joined])
    total = float(weights.sum() + np.exp(logs - top))
    order = np.argsort(-weights, kind="stable")
    modes = [joined[i][1] for i in order]
    problem.weigh(modes[0].witnesses.weights)
    told = tuple((weights[order] / total).tolist())
    return replace(found, problem=problem, modes=modes, told=told)


def _from_known(found: Search, problem: Problem, right: npt.NDArray[np.bool_]) -> Mode:
    """The solution that the known answers alone lead to."""
    data, marks = problem.data, right.astype(float)
    scores = data.choices(marks - problem.items.sum(marks) / 2)
    problem.weigh(found.best.witnesses.weights)
    fit = problem.fit(normal_scores(data, scores), max_rounds=2 * REFIT_ROUNDS)
    return Mode(("known answers",), fit, found.best.witnesses)


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
