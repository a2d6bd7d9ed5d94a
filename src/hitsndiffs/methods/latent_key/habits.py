"""Answering habits: users who give one label whatever is asked.

Where items share three labels or more (the letters of a test), some users answer many items by one
letter. Their answers agree with each other, and say nothing about what is right; so such a user is
less of a witness. (Where all items share *two* labels, leanings are part of the model, see
:mod:`.signal`.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import Engine
from hitsndiffs.methods.labels import sharing

__all__ = ["Habits", "habits_of"]

#: So many labels at most; so many standard errors beyond everybody's use of a label are a habit.
HABIT_LABELS, CLEAR = 30, 4.0
#: A user who answers by habit alone still counts this much.
LEAST_WITNESS = 1e-3
#: A habit makes up at least this share of the answers.
MOSTLY = 0.5


@dataclass(frozen=True)
class Habits:
    """How much of their answers users give by habit.

    Attributes
    ----------
    shares
        The share of each user's answers beyond everybody's use of the label (0: no clear habit).
    labels
        The number of the label in :attr:`names`, for each user.
    names
        All labels.
    """

    shares: Any
    labels: Any
    names: npt.NDArray[Any]

    @property
    def weights(self) -> Any:
        """How much of a witness each user is left."""
        return np.maximum((1 - self.shares) ** 2, LEAST_WITNESS)

    def told(self, data: Engine, most: int = 3) -> str | None:
        """Name users who answer one label whatever is asked; ``None`` where there are none."""
        clear = self.shares > 0
        number = int(clear.sum())
        if number == 0:
            return None
        some = data.first(clear, most)
        labels = data.collect(self.labels)[some]
        named = [
            f"{user} ({self.names[label]})"
            for user, label in zip(data.user_labels(some), labels, strict=True)
        ]
        more = f" and {number - len(named)} more" if number > len(named) else ""
        verb = "answers" if number == 1 else "answer"
        return (
            f"{', '.join(named)}{more} {verb} mostly one label whatever is asked; as witnesses "
            "they count for less."
        )


def habits_of(data: Engine) -> Habits | None:
    """Find habits; ``None`` where items do not share three labels or more."""
    shared = sharing(data.items)
    if shared.apart or not 3 <= len(shared.labels) <= HABIT_LABELS or data.n_users < 3:
        return None
    n = data.answers_per_user
    uses = data.choices(np.eye(len(shared.labels))[shared.numbers])
    best, label, error = -1.0 * data.everybody, 0 * data.everybody, 0 * data.everybody
    usual = [data.median(uses[:, i] / n) for i in range(len(shared.labels))]
    total = max(sum(usual), 1e-12)
    for i, middle in enumerate(usual):
        rate = min(max(middle / total, 0.02), 0.9)
        beyond = (uses[:, i] / n - rate) / (1 - rate)
        more = beyond > best
        best = np.where(more, beyond, best)
        label = np.where(more, i, label)
        error = np.where(more, np.sqrt(rate / (1 - rate) / n), error)
    clear = (best > CLEAR * error) & (best >= MOSTLY)
    shares = np.where(clear, np.clip(best, 0.0, 1.0), 0.0)
    return Habits(shares, label.astype(np.int64), shared.labels)
