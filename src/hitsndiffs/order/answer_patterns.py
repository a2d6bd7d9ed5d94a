"""Answer sheets: users with equal answers, treated as one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import open_engine
from hitsndiffs.order.ties import patterns

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["Sheets"]

IntVector = npt.NDArray[np.int64]


class Sheets:
    """The distinct answer sheets of some responses, and which sheets have each option.

    Attributes
    ----------
    members
        For each sheet, the numbers of the users who have it; users without answers are in none.
    sizes
        For each option, the number of sheets with it.
    """

    def __init__(self, responses: Responses) -> None:
        self.members: list[list[int]] = _equal_rows(responses)
        representatives = np.array([users[0] for users in self.members], dtype=np.int64)
        indptr, options = responses.some_rows(representatives)
        self.sizes: IntVector = np.bincount(options, minlength=responses.n_options)
        sheet = np.repeat(np.arange(len(self.members)), np.diff(indptr))
        self._choosers = sheet[np.argsort(options, kind="stable")]
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])

    def __len__(self) -> int:
        return len(self.members)

    def choosers(self, option: int) -> list[int]:
        """The sheets with an option."""
        chosen: list[int] = self._choosers[self._starts[option] : self._starts[option + 1]].tolist()
        return chosen

    @property
    def tested(self) -> IntVector:
        """The options that can break consistency: on at least two sheets, but not on all."""
        return np.flatnonzero((self.sizes > 1) & (self.sizes < len(self)))

    @property
    def alone(self) -> list[bool]:
        """For each sheet, whether it has an option that is on no other sheet."""
        alone = np.zeros(len(self), dtype=bool)
        alone[self._choosers[self._starts[:-1][self.sizes == 1]]] = True
        answer: list[bool] = alone.tolist()
        return answer

    def users(self, sheets: Iterable[int]) -> list[int]:
        """The users of some sheets, in sheet order."""
        return [user for sheet in sheets for user in self.members[sheet]]


def _equal_rows(responses: Responses) -> list[list[int]]:
    """Groups of users with equal answers, by first member; users without answers left out."""
    groups: dict[int, list[int]] = {}
    users = np.flatnonzero(responses.answers_per_user)
    numbers = patterns(open_engine(responses))[users]
    for user, number in zip(users.tolist(), numbers.tolist(), strict=True):
        groups.setdefault(number, []).append(user)
    return list(groups.values())
