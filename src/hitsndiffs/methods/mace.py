"""MACE: who knows, and who guesses in a way of their own (Hovy and others 2013)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.labels import sharing
from hitsndiffs.methods.probability import STEADY, digamma

__all__ = ["MACE"]


@dataclass(kw_only=True, eq=False)
class MACE(Method):
    """Each answer is either known or guessed, and users guess labels in their own proportions.

    User ``u`` knows an answer with probability ``θ[u]``, and else draws a label from ``ξ[u]``:

    ``P(u says l | right answer c) = θ[u] 1[l = c] + (1 - θ[u]) ξ[u, l]``.

    Fitted by variational Bayes, in turns, from users who know half: how likely each option is the
    right one; and how many answers each user knew, and guessed for each label. Where items have
    labels of their own, all options of an item are guessed alike.

    Parameters
    ----------
    competence_prior
        Both parameters of the Beta prior of ``θ``: below 1, users tend to know or to guess.
    strategy_prior
        Parameter of the Dirichlet prior of ``ξ``, for each label.
    tol, max_iterations
        The rounds end when no option's probability and no competence changes by more than ``tol``.

    Notes
    -----
    Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013, *Learning whom to trust with MACE*, NAACL.
    The authors take the best of several random starts; here there is one start, the votes.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("ABAB"), list("ABAB"), list("ABAA"), list("BBBB")])
    >>> MACE().fit(r).scores_.argsort(kind="stable").tolist()
    [3, 2, 0, 1]
    """

    name: ClassVar[str] = "mace"
    summary: ClassVar[str] = "each answer is known, or guessed in a way of the user's own"
    use: ClassVar[str] = "crowd labels with careless workers; as a rival in comparisons"
    reads_labels: ClassVar[bool] = True

    competence_prior: float = 0.5
    strategy_prior: float = 10.0
    tol: float = 1e-5
    max_iterations: int = 2_000

    def _fit(self, data: Engine) -> Fit:
        table = Table.of(data)
        user, option, n = table.user, table.option, table.per_user
        shared = sharing(data.items)
        k = 1 if shared.apart else len(shared.labels)
        # which strategy an answer tells about: the user's share of its label
        place = user * k + (0 if shared.apart else shared.numbers[option])
        guess = np.full(len(user), 1 / k)
        if shared.apart:
            guess = 1 / np.maximum(data.items.sizes, 2.0)[table.item]
        odds = np.ones(len(n))  # of knowing to guessing
        prior = self.competence_prior
        key, competence = np.zeros(table.n_options), np.full(len(n), 0.5)
        change, rounds = np.inf, 0
        while True:
            # E: how likely each option is the right one
            evidence = odds[user] / guess
            logs = sums(np.log1p(evidence), option, table.n_options)
            new = table.softmax(np.round(logs, STEADY))
            change, key = float(np.abs(new - key).max()), new
            # and how many answers were known
            knew = key[option] * evidence / (1 + evidence)
            known = sums(knew, user, table.n_users)
            share = (known + prior) / (n + 2 * prior)
            change, competence = max(change, float(np.abs(share - competence).max())), share
            rounds += 1
            if rounds == self.max_iterations or change <= self.tol:
                break
            # M: users' odds of knowing, and their shares of the labels where they guess
            odds = np.exp(digamma(known + prior) - digamma(n - known + prior))
            if not shared.apart:
                guessed = sums(1 - knew, place, table.n_users * k) + self.strategy_prior
                total = guessed.reshape(-1, k).sum(axis=1)
                guess = np.exp(digamma(guessed)[place] - digamma(total)[user])
        return Fit(
            scores=competence,
            option_weights=key,
            key_probabilities=key,
            correct=table.score(key),
            standard_errors=_beta_error(competence, n + 2 * prior),
            converged=change <= self.tol,
            n_iterations=rounds,
            residual=change,
        )


def _beta_error(mean: Floats, total: Floats) -> Floats:
    """Standard deviation of a Beta distribution."""
    found: Floats = np.sqrt(mean * (1 - mean) / (total + 1))
    return found
