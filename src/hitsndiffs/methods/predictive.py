"""Which model predicts hidden answers better: the latent key or confusion matrices.

A tenth of the answers is hidden, each model is fitted to the rest, and the log probabilities that
they give to the hidden answers are compared pair by pair. Models of different kinds can be compared
fairly this way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.methods.dawid_skene import Confusions, DawidSkene
from hitsndiffs.methods.draws import option_draws, user_draws
from hitsndiffs.methods.latent_key.model import KeyFit, KeyProblem, weights_of

__all__ = ["Contest", "confusion_against_key"]

#: Share of the answers hidden in a turn; small data take up to :data:`MOST_TURNS` turns.
HIDDEN = 0.1
ONE_TURN_FROM = 50_000
MOST_TURNS = 3
#: Most rounds of the confusion matrices' fit, and the change that ends them.
CONFUSION_ROUNDS, CONFUSION_CHANGE = 100, 1e-3
#: Smallest probability given to an answer.
FLOOR = 1e-4


@dataclass(frozen=True)
class Contest:
    """How much better confusion matrices predict hidden answers than the latent key does.

    Attributes
    ----------
    gain
        Mean difference of log probabilities per hidden answer.
    error
        Its standard error, taking users as independent of each other.
    hidden
        Number of hidden answers.
    """

    gain: float
    error: float
    hidden: int

    @property
    def confusion_wins(self) -> bool:
        """Whether confusion matrices predict better (not on tests; close on crowd labels)."""
        return self.hidden > 0 and self.gain > 0

    @property
    def z(self) -> float:
        """The gain in standard errors."""
        return self.gain / max(self.error, 1e-12)


def confusion_against_key(data: Engine, start: Floats) -> Contest:
    """Compare the two models on hidden answers to items that share one label set.

    ``start``: abilities under the latent-key fit of all data.
    """
    turns = int(np.clip(ONE_TURN_FROM // max(data.n_responses, 1), 1, MOST_TURNS))
    pairs = [_one_turn(data, start, turn) for turn in range(turns)]
    users = np.concatenate([users for users, _ in pairs])
    return outcome(users, np.concatenate([difference for _, difference in pairs]))


def outcome(users: Ints, difference: Floats) -> Contest:
    """Sum up the contest: the mean difference, and its error with users as the units.

    ``difference``: the log probability of each hidden answer under confusion matrices, less that
    under the key.
    """
    if len(difference) == 0:
        return Contest(0.0, np.inf, 0)
    per_user = np.bincount(users, difference)
    gain = float(difference.mean())
    spread = per_user - gain * np.bincount(users)
    return Contest(gain, float(np.sqrt((spread**2).sum()) / len(users)), len(users))


def _one_turn(data: Engine, start: Floats, turn: int) -> tuple[Ints, Floats]:
    """Hide some answers; return their users, and log P(confusion) - log P(key) of each."""
    seen, options, users, hidden = _hide(data, turn)
    if len(options) == 0 or len(hidden) == 0:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    problem = KeyProblem(seen)
    key_fit = problem.fit(start, max_rounds=12)
    assert isinstance(key_fit, KeyFit)
    confusion = DawidSkene(
        model="hierarchical", max_iterations=CONFUSION_ROUNDS, tol=CONFUSION_CHANGE
    )
    found = confusion.fit_full(seen).learnt  # labels are shared, even if the rest shows few of them
    assert isinstance(found, Confusions)

    place = np.full(data.n_options, -1)
    place[options] = np.arange(len(options))
    kept = place[hidden] >= 0
    users, numbers = users[kept], place[hidden[kept]]
    by_key = _by_key(key_fit, users, numbers)
    by_confusion = (
        found.truth[seen.items.of_option[numbers]] * found.confusions[users, found.numbers[numbers]]
    ).sum(axis=1)
    return users, np.log(np.maximum(by_confusion, FLOOR)) - np.log(np.maximum(by_key, FLOOR))


def _hide(data: Engine, turn: int) -> tuple[Engine, Ints, Ints, Ints]:
    """The data without some answers; the options left; users and options of the hidden answers."""
    responses = data.responses
    indptr, options = responses.rows
    user = np.repeat(np.arange(data.n_users), np.diff(indptr))
    by_user = data.collect(user_draws(data, 1, seed=turn)[:, 0])
    by_option = option_draws(data, 1, seed=turn)[:, 0]
    hide = ((by_user[user] + by_option[options]) * 4096.0) % 1.0 < HIDDEN
    seen_of_user = np.bincount(user[~hide], minlength=data.n_users)
    hide &= (seen_of_user > 0)[user]  # everybody keeps some answer
    counts = np.bincount(user[~hide], minlength=data.n_users)
    left = options[~hide]
    kept = np.unique(left).astype(np.int64)
    rows = np.concatenate([[0], np.cumsum(counts)]), left
    seen = responses._changed(codes=None, rows=rows).select()
    opened = open_engine(seen, data.name, data.threads)
    return opened, kept, user[hide], options[hide].astype(np.int64)


def _by_key(fit: KeyFit, users: Ints, options: Ints) -> Floats:
    """P(hidden answer) under the latent key, averaged over the user's ability."""
    weights = fit.problem.data.collect(weights_of(fit))
    return np.asarray((fit.probabilities()[options] * weights[users]).sum(axis=1))
