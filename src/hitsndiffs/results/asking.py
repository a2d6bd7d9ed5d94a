"""The readings of a ranking, how they differ, and which answers to ask for."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.words import per_cent
from hitsndiffs.errors import InputError
from hitsndiffs.methods.readings import Reading
from hitsndiffs.results.diagnostics import best_options

if TYPE_CHECKING:
    from hitsndiffs.data.items import Items
    from hitsndiffs.engines import Engine
    from hitsndiffs.methods.fitted import Fit

__all__ = ["Asked", "Asking", "Told"]

#: At most this many items that tell two readings apart are named.
NAMED_ITEMS = 10


@dataclass(frozen=True)
class Told:
    """One reading of the answers, in the caller's labels.

    Attributes
    ----------
    number
        1 is the likeliest, used by default; ``reading=2`` ranks by the second.
    probability, evidence, agreement, says
        See :class:`hitsndiffs.methods.readings.Reading`.
    correct
        Everybody's expected share of right answers.
    key
        For each item, the option that it takes to be right.
    apart
        Items where it takes a different option to be right than the first reading does, surest
        first: item, this reading's option, the first reading's option.
    """

    number: int
    probability: float
    evidence: float
    agreement: float
    says: str
    correct: npt.NDArray[np.float64] = field(repr=False)
    key: dict[Any, Any]
    apart: tuple[tuple[Any, Any, Any], ...]

    def __str__(self) -> str:
        """One line, plus one for each of the first items that tell it apart."""
        lines = [
            f"Reading {self.number}: probability {per_cent(self.probability)}; {self.says}; "
            f"agreement with reading 1 {self.agreement:.2f}."
        ]
        lines += [
            f"  {item}: takes {mine} to be right; reading 1 takes {first}"
            for item, mine, first in self.apart[:3]
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class Asked:
    """An item whose right answer would settle most.

    Attributes
    ----------
    item
        Its label.
    gain
        How much its answer is expected to reveal about the readings (nats).
    holds
        The option each reading takes to be right, in the order of the readings.
    """

    item: Any
    gain: float
    holds: tuple[Any, ...]


class Asking:
    """What :class:`hitsndiffs.Ranking` knows about other readings of the answers."""

    if TYPE_CHECKING:
        fit: Fit

        @cached_property
        def data(self) -> Engine: ...  # noqa: D102

    @property
    def readings(self) -> list[Told]:
        """The distinct ways to read the answers, likeliest first; empty for methods without them.

        Examples
        --------
        >>> import hitsndiffs as hnd
        >>> ranking = hnd.rank(hnd.simulate("samejima", users=40, items=20, seed=2).responses)
        >>> [reading.number for reading in ranking.readings][0]
        1
        """
        found = self.fit.readings
        items = self.data.items
        return [_told(items, n, reading, found[0]) for n, reading in enumerate(found, 1)]

    def ask(self, k: int = 2) -> list[Asked]:
        """Return the items whose right answers would settle most, best first.

        Pass the answers to ``rank(..., answers={item: option})``.

        Parameters
        ----------
        k
            How many items.

        Examples
        --------
        >>> import hitsndiffs as hnd
        >>> ranking = hnd.rank(hnd.simulate("samejima", users=40, items=20, seed=2).responses)
        >>> len(ranking.ask(k=2))
        2
        """
        if k < 1:
            raise InputError(f"k must be a whole number from 1 up; got {k!r}.")
        items = self.data.items
        keys = [best_options(items, reading.key)[0] for reading in self.fit.readings]
        made = []
        for question in self.fit.questions[:k]:
            options = [int(key[question.item]) for key in keys]
            labels = items.option_labels
            holds = tuple(python_value(labels[o]) if o >= 0 else None for o in options)
            made.append(Asked(python_value(items.labels[question.item]), question.gain, holds))
        return made


def _told(of: Items, number: int, reading: Reading, first: Reading) -> Told:
    mine, sure = best_options(of, reading.key)
    theirs, _ = best_options(of, first.key)
    label = [python_value(x) for x in of.option_labels]
    items = [python_value(x) for x in of.labels]
    other = np.flatnonzero((mine != theirs) & (mine >= 0) & (theirs >= 0))
    other = other[np.argsort(-sure[other], kind="stable")][:NAMED_ITEMS]
    return Told(
        number=number,
        probability=reading.probability,
        evidence=reading.evidence,
        agreement=reading.agreement,
        says=reading.says,
        correct=reading.correct,
        key={items[i]: label[o] for i, o in enumerate(mine.tolist()) if o >= 0},
        apart=tuple((items[i], label[mine[i]], label[theirs[i]]) for i in other.tolist()),
    )
