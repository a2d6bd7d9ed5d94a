"""Label centring: the strongest axes of the answers once everybody's leaning is taken out.

Where all items share two labels, the strongest axis is who says "true". Label centring does for
leaning what item centring does for missing items: from every answer it subtracts the item's share
of the label and the user's own excess of it. The axes are those of the residuals.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.labels import label_numbers
from hitsndiffs.spectral.axes import Axes, top_pairs
from hitsndiffs.spectral.shrinkage import Shrinkage

__all__ = ["LabelCentred", "label_centred_axes"]

#: Shrinkage of a user's leaning, of scores and of weights (in answers).
SHRINK = 3.0


@dataclass(frozen=True)
class LabelCentred:
    """Answers to items with two labels, minus the items' shares and the users' leanings.

    Attributes
    ----------
    data
        The data.
    second
        1 for options with the second label, 0 for the others.
    shares
        Each item's share of the second label.
    leanings
        How much more often than others each user chose it (shrunken; a user array).
    witness
        How much each user counts.
    """

    data: Engine
    second: Floats
    shares: Floats
    leanings: Floats
    witness: Floats

    @classmethod
    def of(cls, data: Engine, witness: Floats | None = None) -> LabelCentred:
        """Estimate shares and leanings from the data."""
        _, numbers = label_numbers(data.items)
        second = (numbers == 1).astype(float)
        counts = data.choosers_per_option.astype(float)
        shares = data.items.total(second * counts) / data.answers_per_item
        excess = data.choices(second - shares[data.items.of_option])
        leanings = excess / (data.answers_per_user + SHRINK)
        return cls(data, second, shares, leanings, data.everybody if witness is None else witness)

    def columns(self, weights: Floats) -> Floats:
        """Item weights as option weights: for the answer itself, and for having answered."""
        each = weights[self.data.items.of_option]
        return np.column_stack(
            [(self.second - self.shares[self.data.items.of_option]) * each, each]
        )

    def scores(self, weights: Floats) -> Any:
        """Everybody's score from the items' weights (a user array)."""
        d = self.data
        return d.choices(self.columns(weights), _score, self.leanings, d.answers_per_user)[:, 0]

    def item_weights(self, scores: Floats) -> Floats:
        """How much more often abler users give each item's second label, leanings taken out."""
        d = self.data
        scores = self.witness * scores
        back = d.choosers(np.stack([scores, scores * self.leanings], axis=1))
        return self._residuals(back) / (d.answers_per_item + SHRINK)

    def around(self, x: Floats) -> Floats:
        """From items to users and back (symmetric)."""
        d = self.data
        root = 1 / np.sqrt(d.answers_per_item + SHRINK)
        back = d.through(
            self.columns(root * x), _back, self.leanings, d.answers_per_user, self.witness
        )
        return np.asarray(root * self._residuals(back))

    def _residuals(self, back: Floats) -> Floats:
        """For each item, sums over its answers less shares and leanings."""
        total = self.data.items.total(back)
        mine = self.data.items.total(self.second * back[:, 0])
        return np.asarray(mine - self.shares * total[:, 0] - total[:, 1])


def label_centred_axes(
    data: Engine, count: int, *, witness: Floats | None = None, seed: int = 0
) -> Shrinkage:
    """The strongest axes of the label-centred answers."""
    centred = LabelCentred.of(data, witness)
    found = top_pairs(centred.around, data.n_items, count, seed=seed, tol=1e-8)
    good = found.values > 1e-9
    root = 1 / np.sqrt(data.answers_per_item + SHRINK)
    weights = root[:, None] * found.vectors[:, good]
    columns = [centred.scores(w) for w in weights.T]
    scores = np.column_stack(columns) if columns else data.everybody[:, None][:, :0]
    axes = Axes(found.values[good], scores, found.products, 0.0, True)
    return Shrinkage(SHRINK, SHRINK, axes, 1, True)


def _centred(sums: Floats, leanings: Floats) -> Floats:
    return sums[:, 0] - leanings * sums[:, 1]


def _score(sums: Floats, leanings: Floats, answers: Floats) -> Floats:
    return (_centred(sums, leanings) / (answers + SHRINK))[:, None]


def _back(sums: Floats, leanings: Floats, answers: Floats, witness: Floats) -> Floats:
    score = witness * _centred(sums, leanings) / (answers + SHRINK)
    return np.column_stack([score, score * leanings])
