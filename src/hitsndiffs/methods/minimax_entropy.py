"""Minimax conditional entropy: confusions of users and of items (Zhou and others 2014)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.ones import Ones
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.core.table import Table
from hitsndiffs.methods.keys import share_errors
from hitsndiffs.methods.labels import need_shared
from hitsndiffs.methods.probability import STEADY

__all__ = ["MinimaxEntropy"]

#: Answers × labels² up to which it runs: some 4 GB of memory.
MOST_CELLS = 100_000_000


@dataclass(kw_only=True, eq=False)
class MinimaxEntropy(Method):
    """Users and items both confuse labels, and the key makes the answers least uncertain.

    For items that share their labels. Where ``c`` is right, user ``u`` says ``l`` on item ``i``
    with

    ``P(l | c) ∝ exp(σ[u, c, l] + τ[i, c, l])``,

    the distribution of largest entropy that has each user's and each item's counts of confusions.
    Of all keys the one is sought whose answers have the smallest such entropy. Its dual is
    maximised in turns, each of which can only raise it: the probabilities of the keys,
    ``Q[i, c] ∝ Π P(answers to i | c)``; a step for all ``σ``; and one for all ``τ``. Both have
    quadratic penalties, ``½ a Σσ² + ½ b Στ²``.

    Parameters
    ----------
    penalty
        For ``k`` labels, ``a`` is this times ``k²``; ``b`` is ``a`` times the mean number of
        answers per user, divided by that per item.
    tol, max_iterations
        The rounds end when no label's probability, no ``σ`` and no ``τ`` changes by more than
        ``tol``.

    Notes
    -----
    Zhou, Liu, Platt and Meek 2014, *Aggregating ordinal labels from crowds by minimax conditional
    entropy*, ICML; with Shah 2015, *Regularized minimax conditional entropy for crowdsourcing*,
    arXiv:1503.07240. They do not rank users; the score is the expected share of right answers.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("ABABA"), list("ABABA"), list("ABABB"), list("BAABB")])
    >>> (-MinimaxEntropy().fit(r).scores_).argsort(kind="stable").tolist()
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "minimax-entropy"
    summary: ClassVar[str] = "users and items confuse labels; the key with the least entropy"
    use: ClassVar[str] = "crowd labels where items mislead; as a rival in comparisons"
    reads_labels: ClassVar[bool] = True

    penalty: float = 0.25
    tol: float = 1e-3
    max_iterations: int = 2_000

    def _fit(self, data: Engine) -> Fit:
        why = "users and items have tables of confusions"
        need_shared(data.items, "Method 'minimax-entropy'", why)
        table = Table.of(data)
        numbers, k = table.labels
        if (cells := len(table.user) * k**2) > MOST_CELLS:
            raise InputError(
                f"Method 'minimax-entropy' keeps a number for each answer and pair of labels, at "
                f"most {MOST_CELLS:,}; here they are {cells:,}. Take some of the users or items, "
                "or use dawid-skene."
            )
        said = np.eye(k)[numbers[table.option]][:, None, :]  # answers × 1 × labels
        of_user = self.penalty * k**2
        of_item = of_user * table.n_items / table.n_users
        by_user = _adding(table.user, table.n_users)
        by_item = _adding(table.item, table.n_items)
        users = np.zeros((table.n_users, k, k))  # σ [u, c, l]
        items = np.zeros((table.n_items, k, k))  # τ [i, c, l]
        truth, change, rounds = table.by_label, np.inf, 0
        while rounds < self.max_iterations and change > self.tol:
            weight = truth[table.item][:, :, None]
            p = _softmax(users[table.user] + items[table.item])
            step = _step(by_user, weight * (said - p), weight, users, of_user)
            users, change = users + step, float(np.abs(step).max())
            p = _softmax(users[table.user] + items[table.item])
            step = _step(by_item, weight * (said - p), weight, items, of_item)
            items, change = items + step, max(change, float(np.abs(step).max()))
            p = _softmax(users[table.user] + items[table.item])
            logs = _added(by_item, np.log((p * said).sum(axis=2)))
            new = _softmax(np.round(logs, STEADY))
            change, truth = max(change, float(np.abs(new - truth).max())), new
            rounds += 1
        key = data.items.share(truth[table.of_option, numbers])
        right = table.score(key)
        return Fit(
            scores=right,
            option_weights=key,
            key_probabilities=key,
            correct=right,
            standard_errors=share_errors(data, key, right, data.answers_per_user),
            converged=change <= self.tol,
            n_iterations=rounds,
            residual=change,
        )


def _adding(place: Ints, count: int) -> Ones:
    """Adds up the rows of all answers of each user or item."""
    order = np.argsort(place, kind="stable")
    return Ones(np.searchsorted(place[order], np.arange(count + 1)), order, len(place))


def _added(adding: Ones, values: Floats) -> Floats:
    found: Floats = (adding @ values.reshape(len(values), -1)).reshape(-1, *values.shape[1:])
    return found


def _step(adding: Ones, uphill: Floats, weight: Floats, values: Floats, penalty: float) -> Floats:
    """A step that cannot overshoot: no softmax bends more than ½."""
    found: Floats = (_added(adding, uphill) - penalty * values) / (
        _added(adding, weight) / 2 + penalty
    )
    return found


def _softmax(logs: Floats) -> Floats:
    found: Floats = np.exp(logs - logs.max(axis=-1, keepdims=True))
    found /= found.sum(axis=-1, keepdims=True)
    return found
