"""Surprisingly popular answers: what people say, against what they think others will say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.results.cells import Cells, Tabled

__all__ = ["SurprisinglyPopular", "surprisingly_popular"]


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
    rows = [_counted(said, n, foreseen, places[str(said.items[n]).strip()]) for n in both]
    return SurprisinglyPopular(said, tuple(rows))


class _Item(NamedTuple):
    """An item's answers: which is said most, and which is more popular than predicted, by how much.

    ``z`` is the surprise in standard errors of both shares.
    """

    item: Any
    popular: str
    surprising: str
    surprise: float
    z: float


def _counted(said: Responses, place: int, foreseen: Responses, there: int) -> _Item:
    """Count an item's votes and predictions, label by label."""
    counts: dict[str, list[float]] = {}
    for which, (r, i) in enumerate(((said, place), (foreseen, there))):
        for option in range(*r.item_starts[[i, i + 1]].tolist()):
            label = str(r.option_labels[option]).strip()
            counts.setdefault(label, [0.0, 0.0])[which] += float(r.choosers_per_option[option])
    table, labels = np.array(list(counts.values())), list(counts)
    shares = table / np.maximum(table.sum(0), 1)
    surprise = np.where(table[:, 0] > 0, shares[:, 0] - shares[:, 1], -np.inf)
    best = int(np.argmax(surprise))
    # errors are those of shares with one answer more for and one against (0 of 4 is not never)
    n = table[:, 0].sum()
    safe = (shares[best] * n + 1) / (n + 2)
    z = surprise[best] / np.sqrt((safe * (1 - safe)).sum() / (n + 2))
    popular = labels[int(np.argmax(table[:, 0]))]
    item = python_value(said.items[place])
    return _Item(item, popular, labels[best], float(surprise[best]), float(z))


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
        return {row.item: row.surprising for row in self.rows}

    def cells(self) -> Cells:
        """One row per item."""
        item, popular, surprising, surprise, z = map(list, zip(*self.rows, strict=True))
        columns: dict[str, Any] = {"item": item, "popular": popular}
        columns |= {
            "surprisingly_popular": surprising,
            "surprise": np.array(surprise),
            "z": np.array(z),
        }
        cells = Cells.of(columns, label="item", share="surprise")
        return Cells(cells.columns, cells.kinds, {"surprisingly_popular": "surprising"})

    def sentence(self) -> str:
        """On how many items the popular answer is not the surprisingly popular one."""
        other = sum(row.popular != row.surprising for row in self.rows)
        return (
            f"On {other:,} of {len(self.rows):,} items the surprisingly popular answer is not the "
            "most popular one."
        )
