"""How far to trust a mean of few answers: λ for options, μ for users, both from the data.

Option weights are means over choosers and user scores are means over answers. Few choosers or few
answers make an extreme mean by chance, so each is pulled towards zero: ``w = Σ s / (Dc + λ)`` and
``s = Σ w / (Dr + μ)``. Both constants are variance ratios (within / between) of one-way
random-effects models, estimated by moments:

* λ from the scores of each option's choosers, where a user's score leaves out the answer in
  question (otherwise every option would look informative);
* μ from the weights of each user's options, where an option's weight leaves out the user.

Everything is centred within items. Each quantity is again a pair of sums: nothing is stored per
answer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.spectral.axes import Axes, leading_axes

__all__ = ["Shrinkage", "find_shrinkage", "option_shrinkage", "shrunk", "user_shrinkage"]

#: Bounds of both constants: below, nothing is shrunk; above, everything is.
LOWEST, HIGHEST = 1e-3, 1e4
#: Most rounds of the search for them.
MOST_ROUNDS = 12


@dataclass(frozen=True)
class Shrinkage:
    """The two constants, the axes found with them, and how the search ended.

    Attributes
    ----------
    lam
        An option's mean score counts fully once it has many more than ``lam`` choosers.
    mu
        A user's mean weight counts fully once the user has many more than ``mu`` answers.
    axes
        Leading axes of the shrunken, item-centred operator.
    rounds, converged
        How many rounds the search took, and whether it converged.
    """

    lam: float
    mu: float
    axes: Axes
    rounds: int
    converged: bool


def find_shrinkage(data: Engine, *, axes: int = 3, seed: int = 0) -> Shrinkage:
    """Iterate axis → (λ, μ) → axis until the constants settle, and find the axes with them."""
    lam = mu = 3.0
    converged = False
    rounds = 0
    while rounds < MOST_ROUNDS and not converged:
        rounds += 1
        found = leading_axes(data, 1, lam=lam, mu=mu, centred=True, seed=seed, tol=1e-6)
        if len(found.values) == 0 or found.values[0] <= 1e-12:
            break
        s = found.scores[:, 0]
        new_lam = option_shrinkage(data, shrunk(data, s, lam), mu)
        new_mu = user_shrinkage(data, s, lam)
        step = max(abs(np.log(new_lam / lam)), abs(np.log(new_mu / mu)))
        lam, mu = new_lam, new_mu
        converged = step < 0.02
    final = leading_axes(data, axes, lam=lam, mu=mu, centred=True, seed=seed)
    return Shrinkage(lam, mu, final, rounds, converged)


def shrunk(data: Engine, s: Floats, lam: float) -> Floats:
    """Option weights from scores: shrunken means of the choosers' scores, centred in the item."""
    within = data.items
    counts = data.choosers_per_option.astype(float)
    totals = data.choosers(s)
    deviations = totals - counts * (within.sum(totals) / np.maximum(within.sum(counts), 1e-300))
    return within.centred(deviations / (counts + lam), counts)


def option_shrinkage(data: Engine, w: Floats, mu: float) -> float:
    """λ = variance of scores among an option's choosers / variance between option means."""
    within = data.items
    counts = data.choosers_per_option.astype(float)
    answers = data.answers_per_user
    t = data.choices(w)
    g = 1 / np.maximum(answers - 1 + mu, 1e-12)
    # leave-one-item-out score of user j at option o: (t_j - w_o) g_j; its sums over the choosers
    first = data.choosers(np.stack([t * g, g], axis=1))
    second = data.choosers(np.stack([(t * g) ** 2, t * g * g, g * g], axis=1))
    total = first[:, 0] - w * first[:, 1]
    squares = second[:, 0] - 2 * w * second[:, 1] + w**2 * second[:, 2]
    return _ratio(
        total - counts * (within.sum(total) / np.maximum(within.sum(counts), 1e-300)),
        counts,
        float(
            squares.sum()
            - (within.total(total) ** 2 / np.maximum(within.total(counts), 1e-300)).sum()
        ),
        groups=data.n_options - data.n_items,
        spread=float(counts.sum() - (counts**2 / np.maximum(within.sum(counts), 1e-300)).sum()),
    )


def user_shrinkage(data: Engine, s: Floats, lam: float) -> float:
    """μ = variance of weights among a user's options / variance between user means."""
    within = data.items
    counts = data.choosers_per_option.astype(float)
    answers = data.answers_per_user
    v = data.choosers(s)
    h = np.where(counts > 1, 1 / np.maximum(counts - 1 + lam, 1e-12), 0.0)
    # leave-one-user-out weight of option o for user j: (v_o - s_j) h_o, minus the item's mean
    u = v * h - (within.sum((counts - 1) * v * h) / np.maximum(within.sum(counts), 1e-300))
    first = data.choices(np.column_stack([u, h]))
    second = data.choices(np.column_stack([u * u, u * h, h * h]))
    total = first[:, 0] - s * first[:, 1]
    squares = second[:, 0] - 2 * s * second[:, 1] + s**2 * second[:, 2]
    n = float(answers.sum())
    mean = float(total.sum()) / n
    return _ratio(
        total - answers * mean,
        answers,
        float(squares.sum()) - n * mean**2,
        groups=data.n_users - 1,
        spread=n - float((answers**2).sum()) / n,
    )


def _ratio(totals: Floats, counts: Floats, squares: float, *, groups: int, spread: float) -> float:
    """Within / between variance of centred group totals, by moments."""
    # an option that nobody in a sample chose has no total either
    between_squares = float((totals**2 / np.maximum(counts, 1e-300)).sum())
    free = max(float(counts.sum()) - len(counts), 1.0)
    inside = max((squares - between_squares) / free, 0.0)
    between = (between_squares - groups * inside) / max(spread, 1e-12)
    if between <= 0:
        return HIGHEST
    return float(np.clip(inside / between, LOWEST, HIGHEST))
