"""Surprisingly popular answers: what people say, against what they think others will say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.results.cells import Cells, Tabled

__all__ = ["SurprisinglyPopular", "surprisingly_popular"]

Floats = npt.NDArray[np.float64]


def surprisingly_popular(votes: Any, predictions: Any) -> SurprisinglyPopular:
    """The answer of each item that is more popular than people predicted.

    Where most people are wrong, those who know better often know that they are few. Prelec, Seung
    and McCoy (Nature, 2017): the right answer is the one that more people give than predicted.

    Parameters
    ----------
    votes
        What each user answered: anything that :func:`hitsndiffs.rank` takes.
    predictions
        What each user thinks most others will answer, in the same form, with the same items and
        labels.

    Examples
    --------
    >>> votes = [["yes"]] * 6 + [["no"]] * 4
    >>> predictions = [["yes"]] * 9 + [["no"]]
    >>> surprisingly_popular(votes, predictions).key
    {0: 'no'}
    """
    said, foreseen = as_responses(votes), as_responses(predictions)
    places = {str(item).strip(): n for n, item in enumerate(foreseen.items)}
    both = [n for n, item in enumerate(said.items) if str(item).strip() in places]
    if not both:
        raise InputError(
            "the predictions name none of the items of the votes; items of the votes are for "
            f"example {', '.join(repr(str(item)) for item in said.items[:3])}."
        )
    rows = [_Item.of(said, n, foreseen, places[str(said.items[n]).strip()]) for n in both]
    return SurprisinglyPopular(said, tuple(rows))


@dataclass(frozen=True)
class _Item:
    """An item's answers: their shares among the votes and among the predictions."""

    item: Any
    labels: tuple[str, ...]
    votes: Floats
    predicted: Floats
    answers: int

    @classmethod
    def of(cls, said: Responses, place: int, foreseen: Responses, there: int) -> _Item:
        """Count an item's votes and predictions, label by label."""
        counts: dict[str, list[float]] = {}
        for which, (r, i) in enumerate(((said, place), (foreseen, there))):
            for option in range(*r.item_starts[[i, i + 1]].tolist()):
                label = str(r.option_labels[option]).strip()
                counts.setdefault(label, [0.0, 0.0])[which] += float(r.choosers_per_option[option])
        table = np.array(list(counts.values()))
        votes, predicted = table.T / np.maximum(table.sum(0), 1)[:, None]
        item = python_value(said.items[place])
        return cls(item, tuple(counts), votes, predicted, int(table[:, 0].sum()))

    @property
    def surprise(self) -> Floats:
        """How much more popular each answer is than predicted; nobody's answer cannot win."""
        return np.where(self.votes > 0, self.votes - self.predicted, -np.inf)


@dataclass(frozen=True, eq=False, repr=False)
class SurprisinglyPopular(Tabled):
    """The answers that are more popular than predicted; see :func:`surprisingly_popular`.

    The table has one row per item: the popular and the surprisingly popular answer, and by how
    much: ``surprise`` is the share of votes above the predicted share, ``z`` is that in standard
    errors of the two shares.
    """

    responses: Responses
    rows: tuple[_Item, ...]

    @property
    def key(self) -> dict[Any, Any]:
        """Item → its surprisingly popular answer; ``hnd.rank(votes, key=found.key)`` weighs it."""
        return {row.item: row.labels[int(np.argmax(row.surprise))] for row in self.rows}

    def cells(self) -> Cells:
        """One row per item."""
        columns = {
            "item": [row.item for row in self.rows],
            "popular": [row.labels[int(np.argmax(row.votes))] for row in self.rows],
            "surprisingly_popular": list(self.key.values()),
            "surprise": np.array([row.surprise.max() for row in self.rows]),
            "z": np.array([_z(row) for row in self.rows]),
        }
        cells = Cells.of(columns, label="item", share="surprise")
        return Cells(cells.columns, cells.kinds, {"surprisingly_popular": "surprising"})

    def sentence(self) -> str:
        """On how many items the popular answer is not the surprisingly popular one."""
        other = sum(
            row.labels[int(np.argmax(row.votes))] != self.key[row.item] for row in self.rows
        )
        return (
            f"On {other:,} of {len(self.rows):,} items the surprisingly popular answer is not the "
            "most popular one."
        )


def _z(row: _Item) -> float:
    """The surprise in standard errors, both shares being of as many answers.

    The errors are those of shares with one answer more for and one against (0 of 4 is not never).
    """
    best, n = int(np.argmax(row.surprise)), row.answers + 2
    shares = (np.array([row.votes[best], row.predicted[best]]) * row.answers + 1) / n
    return float(row.surprise[best] / np.sqrt((shares * (1 - shares)).sum() / n))
