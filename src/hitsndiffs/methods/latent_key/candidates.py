"""The options' part of a round: every option is a candidate for the key of its item.

Candidates compete only within their item, so the work is done in blocks of items that fit the
cache, on several threads if there are many blocks. Arrays have one row per candidate. Between that
axis and the grid there may be another one: several fits side by side (see :mod:`.together`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.items import Items
from hitsndiffs.data.pool import Run
from hitsndiffs.engines import Engine
from hitsndiffs.methods.latent_key.grid import THETA
from hitsndiffs.methods.probability import log_curves, logistic

if TYPE_CHECKING:
    from hitsndiffs.methods.latent_key.problem import Problem

__all__ = [
    "Curves",
    "ItemBlock",
    "Weighed",
    "about_key",
    "expected_logs",
    "fit_curves",
    "for_blocks",
    "item_blocks",
    "log_prior_of",
    "weigh_candidates",
]

#: One number, or one for each of several fits side by side.
Number = float | Floats
#: The parameters of a model's candidates.
Parameters = TypeVar("Parameters")

#: Candidates handled at once: their curves over the grid fit the cache.
CANDIDATES_AT_ONCE = 1024
#: Fewer blocks than this run on one thread: others would wait for the interpreter's lock.
MANY_BLOCKS = 16
#: Newton steps in the first round, and in every other.
FIRST_STEPS, STEPS = 8, 2
#: The grid's powers 1, θ and θ², for sums over it.
POWERS: Floats = THETA[:, None] ** np.arange(3)


@dataclass(frozen=True)
class Curves:
    """Slope and intercept of every candidate key, and the population they come from."""

    slopes: Floats
    intercepts: Floats
    mean_slope: Number = 1.0
    var_slope: Number = 0.25
    mean_intercept: Number = 0.0
    var_intercept: Number = 2.25

    @classmethod
    def start(cls, n_options: int) -> Curves:
        """All candidates alike."""
        return cls(np.ones(n_options), np.zeros(n_options))

    @property
    def lines(self) -> Floats:
        """Their logits over the grid, one row per candidate (computed anew each time)."""
        return _lines(self.slopes, self.intercepts)

    def pooled(self, key: Floats, curvature: Floats, rounds: int) -> Curves:
        """The same curves; in every second round, the population is estimated anew from the keys.

        Means and variances of slopes and intercepts, with ten pseudo-items (``curvature``: see
        :func:`fit_curves`).
        """
        if rounds % 2:
            return self
        slope, intercept, determinant = curvature
        pseudo = 10.0
        total = key.sum(axis=0) + pseudo
        mean_a = (((key * self.slopes).sum(axis=0) + pseudo) / total).clip(0.2, 5.0)
        mean_b = (key * self.intercepts).sum(axis=0) / total
        wide_a = np.minimum(intercept / determinant, self.var_slope)
        wide_b = np.minimum(slope / determinant, self.var_intercept)
        var_a = (key * ((self.slopes - mean_a) ** 2 + wide_a)).sum(axis=0) + pseudo * 0.25
        var_b = (key * ((self.intercepts - mean_b) ** 2 + wide_b)).sum(axis=0) + pseudo * 2.25
        return replace(
            self,
            mean_slope=mean_a,
            mean_intercept=mean_b,
            var_slope=(var_a / total).clip(0.01, 4.0),
            var_intercept=(var_b / total).clip(0.05, 16.0),
        )


@dataclass(frozen=True)
class ItemBlock:
    """Some neighbouring items: their options, and sums within them."""

    options: slice
    items: Items


def item_blocks(data: Engine, size: int = CANDIDATES_AT_ONCE) -> list[ItemBlock]:
    """Cut the items into blocks of about ``size`` options."""
    starts = data.items.starts
    cuts = np.searchsorted(starts, np.arange(size, starts[-1], size), side="right") - 1
    bounds = np.unique([0, *cuts.tolist(), data.n_items]).tolist()
    return [
        ItemBlock(slice(int(starts[first]), int(starts[last])), data.items.block(first, last))
        for first, last in pairwise(bounds)
    ]


def for_blocks(problem: Problem, work: Callable[[int], None]) -> None:
    """Call ``work`` with the number of every block of items; on one thread if they are few."""
    many = len(problem.blocks) >= MANY_BLOCKS
    Run(problem.data.threads if many else 1)(len(problem.blocks), work)


@dataclass(frozen=True)
class Weighed(Generic[Parameters]):
    """All candidates after a round.

    Attributes
    ----------
    fitted
        The parameters that fit best.
    key
        P(the candidate is the key of its item).
    prior
        Log prior of being the key, the parameters' part included.
    logs
        What choosing the option says about the user, over the grid.
    curvature
        Second derivatives in the parameters.
    """

    fitted: Parameters
    key: Floats
    prior: Floats
    logs: Floats
    curvature: Floats


def weigh_candidates(
    problem: Problem, curves: Curves, chosen: Floats, fixed: Floats, rounds: int
) -> Weighed[Curves]:
    """Fit every candidate's curve, and let the candidates of each item compete.

    Parameters
    ----------
    problem
        The items, and what is certain about their keys.
    curves, rounds
        Starting values, and the number of this round.
    chosen
        How many chose each option, over the grid of abilities.
    fixed
        Log prior of each candidate that does not depend on the curves.
    """
    known = problem.certain if chosen.ndim == 2 else problem.certain[:, None]
    size = chosen.shape[:-1]
    slopes, intercepts, key, prior = np.empty((4, *size))
    curvature, logs = np.empty((3, *size)), np.empty(chosen.shape)

    def work(number: int) -> None:
        part, items = problem.blocks[number].options, problem.blocks[number].items
        here = replace(curves, slopes=curves.slopes[part], intercepts=curves.intercepts[part])
        count = chosen[part]
        answered = items.sum(count)
        here, bend = fit_curves(here, count, answered, rounds)
        lines = here.lines  # the logit: log right - log wrong
        wrong = log_curves(lines)[1]
        prior[part] = log_prior_of(here, bend[2]) + fixed[part]
        fit = np.einsum("...c,...c", count, lines) + np.einsum("...c,...c", answered, wrong)
        key[part] = np.where(known[part] >= 0, known[part], items.softmax(fit + prior[part]))
        logs[part] = _expected(items, key[part], lines, wrong)
        slopes[part], intercepts[part], curvature[:, part] = here.slopes, here.intercepts, bend

    for_blocks(problem, work)
    fitted = replace(curves, slopes=slopes, intercepts=intercepts)
    return Weighed(fitted, key, prior, logs, curvature)


def about_key(key: Floats, prior: Floats) -> Any:
    """The keys' part of the evidence: how likely they are a priori, and how much in doubt."""
    return (key * (prior - np.log(np.maximum(key, 1e-300)))).sum(axis=0)


def expected_logs(problem: Problem, key: Floats, curves: Curves) -> Floats:
    """What choosing an option says about ability: its log likelihood averaged over the key."""
    logs = np.empty((len(key), len(THETA)))

    def work(number: int) -> None:
        part, items = problem.blocks[number].options, problem.blocks[number].items
        here = replace(curves, slopes=curves.slopes[part], intercepts=curves.intercepts[part])
        lines = here.lines
        logs[part] = _expected(items, key[part], lines, log_curves(lines)[1])

    for_blocks(problem, work)
    return logs


def fit_curves(
    c: Curves, chosen: Floats, answered: Floats, rounds: int, steps: int | None = None
) -> tuple[Curves, Floats]:
    """Maximise each candidate's log posterior in ``(a, b)``: damped Newton steps.

    Most of the way is gone in the first round; later ones need a few ``steps``.
    Returns the curves, and at the end the second derivatives in slope and in intercept, and the
    determinant of all of them, as rows.
    """
    a, b = c.slopes, c.intercepts
    others = _powers(answered - chosen)
    for _ in range(steps or (FIRST_STEPS if rounds == 1 else STEPS)):
        # if the candidate is the key: how many would not choose it
        miss = logistic(_lines(-a, -b))
        missed = answered * miss
        missing = _powers(missed)
        miss *= missed
        first, second = missing - others, missing - _powers(miss)
        grad_a = first[1] - (a - c.mean_slope) / c.var_slope
        grad_b = first[0] - (b - c.mean_intercept) / c.var_intercept
        h_aa, h_ab, h_bb = second[2] + 1 / c.var_slope, second[1], second[0] + 1 / c.var_intercept
        det = np.maximum(h_aa * h_bb - h_ab**2, 1e-10)
        # the method is quicker than np.clip, and small data wait for little else
        a = (a + ((h_bb * grad_a - h_ab * grad_b) / det).clip(-1.0, 1.0)).clip(0.0, 8.0)
        b = (b + ((h_aa * grad_b - h_ab * grad_a) / det).clip(-2.0, 2.0)).clip(-12.0, 12.0)
    return replace(c, slopes=a, intercepts=b), np.stack([h_aa, h_bb, det])


def _lines(slopes: Floats, intercepts: Floats) -> Floats:
    """``a θ + b`` over the grid, one row per candidate."""
    return slopes[..., None] * THETA + intercepts[..., None]


def _powers(over_grid: Floats) -> Floats:
    """Sums over the grid, times 1, θ and θ²; these come first."""
    return np.moveaxis(over_grid @ POWERS, -1, 0)


def log_prior_of(c: Curves, determinant: Floats) -> Floats:
    """Log prior of slope and intercept, with the width of their posterior (Laplace)."""
    return np.asarray(
        -((c.slopes - c.mean_slope) ** 2) / (2 * c.var_slope)
        - (c.intercepts - c.mean_intercept) ** 2 / (2 * c.var_intercept)
        - 0.5 * np.log(c.var_slope * c.var_intercept)
        - 0.5 * np.log(determinant)
    )


def _expected(items: Items, key: Floats, lines: Floats, wrong: Floats) -> Floats:
    k = key[..., None]
    return items.sum(k * wrong) + k * lines
