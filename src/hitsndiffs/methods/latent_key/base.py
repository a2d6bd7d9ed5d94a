"""Bases of the methods that look for a latent key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Method
from hitsndiffs.methods.latent_key.search import Search, search

__all__ = ["ByReading", "KeySearchMethod"]


@dataclass(kw_only=True, eq=False)
class KeySearchMethod(Method):
    """Base of the methods that compare solutions of the latent-key model.

    Parameters
    ----------
    axes
        Start from this many leading axes, both ways up, and from the consensus.
    group
        Which group each user belongs to (user → group): runs of one model, a team, a classroom.
        Each group counts as one witness, whatever its size; all members are still ranked.
    answers, strong_user
        Known right answers, and a user known to be strong: evidence like any other.
    """

    needs_memory: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = True

    axes: int = 3
    group: Mapping[Any, Any] | None = None
    answers: Mapping[Any, Any] | None = None
    strong_user: Any = None

    def _search(self, data: Engine) -> Search:
        return search(
            data,
            answers=self.answers,
            strong_user=self.strong_user,
            group=self.group,
            axes=self.axes,
            seed=self.seed,
        )


@dataclass(kw_only=True, eq=False)
class ByReading(KeySearchMethod):
    """Base of those that rank by one reading of the answers.

    Parameters
    ----------
    reading
        Its number: 1 is the likeliest, 2 the next, and so on.
    """

    reading: int = 1

    def _reading_of(self, count: int) -> int:
        """The number of the reading to rank by, from 0; an error if there are too few."""
        if self.reading > count:
            raise InputError(
                f"reading must be from 1 to {count}: the answers can be read in {count} "
                f"way{'s' if count > 1 else ''}; got {self.reading}."
            )
        return self.reading - 1
