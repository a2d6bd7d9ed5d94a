"""How far users agree: Krippendorff's alpha, Fleiss' kappa, and Cohen's kappa for every pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count
from hitsndiffs.engines.opening import open_engine
from hitsndiffs.errors import InputError
from hitsndiffs.results.values import to_frame

__all__ = ["Agreement", "agreement"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: So many users at a time are compared with all others.
BLOCK = 256


def agreement(data: Any, *, order: Sequence[Any] | None = None) -> Agreement:
    """How far users agree with each other, beyond chance.

    Parameters
    ----------
    data
        The answers: :class:`Responses`, or anything that :meth:`Responses.from_wide` takes.
    order
        The labels from lowest to highest, for :attr:`Agreement.alpha_ordinal`. Labels that are
        numbers have their own order.

    Examples
    --------
    >>> found = agreement([["yes", "no", "no"], ["yes", "no", "yes"], ["yes", "no", None]])
    >>> round(found.alpha, 3), round(found.fleiss_kappa, 3)
    (0.562, 0.333)
    >>> found.pairs(least=1)["kappa"].round(3).to_list()
    [1.0, 1.0, 0.4]
    """
    responses = data if isinstance(data, Responses) else Responses.from_wide(data)
    return Agreement(responses, order)


class Agreement:
    """How far users agree with each other; see :func:`agreement`.

    Labels are compared across items: the "yes" of one item is the "yes" of all. Only items that
    at least two users answered count.
    """

    def __init__(self, responses: Responses, order: Sequence[Any] | None = None) -> None:
        self.responses = responses
        self.labels, self._label = np.unique(
            np.asarray(responses.option_labels).astype(str), return_inverse=True
        )
        counts = np.asarray(responses.choosers_per_option, dtype=float)
        items = responses.option_items
        answers = np.bincount(items, counts, minlength=responses.n_items)
        kept = answers[items] >= 2
        self._counts, self._items, self._answers = counts[kept], items[kept], answers
        self._kept = kept
        self._order = self._ordered(order)

    def _ordered(self, order: Sequence[Any] | None) -> Ints | None:
        """The place of each label from lowest to highest, if there is such an order."""
        if order is not None:
            places = {str(label): place for place, label in enumerate(order)}
            missing = [label for label in self.labels.tolist() if label not in places]
            if missing:
                raise InputError(
                    f"order must name every label; it lacks {', '.join(map(repr, missing[:5]))}."
                )
            given = [places[label] for label in self.labels.tolist()]
            return np.argsort(np.argsort(given))
        try:
            values = self.labels.astype(float)
        except ValueError:
            return None
        return np.argsort(np.argsort(values, kind="stable"))

    @property
    def n_items(self) -> int:
        """How many items at least two users answered."""
        return int((self._answers >= 2).sum())

    @cached_property
    def _totals(self) -> Floats:
        """How often each label was given, in items with at least two answers."""
        label = self._label[self._kept]
        return np.asarray(np.bincount(label, self._counts, len(self.labels)), dtype=float)

    @cached_property
    def alpha(self) -> float:
        """Krippendorff's alpha for labels without an order: 1 is full agreement, 0 is chance."""
        n = self._totals.sum()
        per_answer = self._counts / (self._answers[self._items] - 1)
        unequal = n - float(per_answer @ (self._counts - 1))
        expected = (n * n - float(self._totals @ self._totals)) / (n - 1) if n > 1 else 0.0
        return float(1 - unequal / expected) if expected > 0 else float("nan")

    @cached_property
    def alpha_ordinal(self) -> float | None:
        """Krippendorff's alpha for ordered labels; ``None`` where the labels have no order."""
        if self._order is None:
            return None
        by_place = np.zeros(len(self.labels))
        by_place[self._order] = self._totals
        below = np.cumsum(by_place) - by_place / 2  # the rank of each label's middle answer
        distance = (below[:, None] - below[None, :]) ** 2
        table = np.zeros((self.responses.n_items, len(self.labels)))
        table[self._items, self._order[self._label[self._kept]]] = self._counts
        table = table[self._answers >= 2]
        weights = 1 / (table.sum(1) - 1)
        observed = float(((table @ distance) * table).sum(1) @ weights)
        expected = float(by_place @ distance @ by_place) / (by_place.sum() - 1)
        return 1 - observed / expected if expected > 0 else float("nan")

    @cached_property
    def fleiss_kappa(self) -> float:
        """Fleiss' kappa: the mean agreement within items, beyond what the labels' shares give."""
        n = self._answers[self._items]
        each = np.bincount(
            self._items,
            self._counts * (self._counts - 1) / (n * (n - 1)),
            minlength=self.responses.n_items,
        )
        agreed = float(each[self._answers >= 2].mean()) if self.n_items else float("nan")
        shares = self._totals / self._totals.sum() if self.n_items else self._totals
        chance = float(shares @ shares)
        return (agreed - chance) / (1 - chance) if chance < 1 else float("nan")

    def pairs(self, *, least: int = 5, most: int = 1000) -> Any:
        """Pairs of users with their agreement and Cohen's kappa, the most alike first.

        Parameters
        ----------
        least
            How many items both must have answered.
        most
            How many pairs to return at most.

        Returns
        -------
        table
            Columns ``user``, ``other``, ``items`` (answered by both), ``agreement`` (the share of
            equal answers) and ``kappa`` (beyond what their use of the labels makes likely).
        """
        return to_frame(self.pair_columns(least=least, most=most), self.responses.kind)

    def pair_columns(self, *, least: int = 5, most: int = 1000) -> dict[str, Any]:
        """The columns of :meth:`pairs`, by name."""
        rows = np.zeros((0, 5))
        for block in self._blocks(least):
            rows = np.concatenate([rows, block])
            rows = rows[np.lexsort((rows[:, 1], rows[:, 0], -rows[:, 2], -rows[:, 4]))][:most]
        users = self.responses.users
        first, second = rows[:, 0].astype(int), rows[:, 1].astype(int)
        return {
            "user": users[first],
            "other": users[second],
            "items": rows[:, 2].astype(np.int64),
            "agreement": rows[:, 3],
            "kappa": rows[:, 4],
        }

    def sentence(self) -> str:
        """How far the users agree, in a sentence."""
        if not np.isfinite(self.alpha):
            return "No two users answered the same item differently, so agreement says nothing."
        said = f"Krippendorff's alpha is {self.alpha:.2f} (1 = full agreement, 0 = chance)"
        if self.alpha_ordinal is not None:
            said += f"; {self.alpha_ordinal:.2f} with the labels in order"
        return said + f". It counts {count(self.n_items, 'item')} with at least two answers."

    def _blocks(self, least: int) -> Iterator[Floats]:
        """Rows (user, other, items, agreement, kappa) of all pairs, a block of users at a time."""
        from scipy.sparse import csr_array

        r = self.responses
        ones = open_engine(r).by_user
        chosen = csr_array((np.ones(len(ones.indices)), ones.indices, ones.indptr), ones.shape)
        options = np.arange(r.n_options)
        to_item = csr_array((np.ones(r.n_options), (options, r.option_items)))
        answered = (chosen @ to_item).tocsr()
        by_label = [
            (chosen[:, own] @ to_item[own]).tocsr()
            for own in (np.flatnonzero(self._label == label) for label in range(len(self.labels)))
        ]
        for start in range(0, r.n_users, BLOCK):
            part = slice(start, min(start + BLOCK, r.n_users))
            common = (answered[part] @ answered.T).toarray()
            equal = (chosen[part] @ chosen.T).toarray()
            chance = np.zeros_like(common)
            for label in by_label:
                mine = (label[part] @ answered.T).toarray()
                chance += mine * (answered[part] @ label.T).toarray()
            later = np.arange(r.n_users)[None, :] > np.arange(part.start, part.stop)[:, None]
            i, j = np.nonzero(later & (common >= max(least, 1)))
            n = common[i, j]
            agreed, expected = equal[i, j] / n, chance[i, j] / n**2
            room = 1 - expected
            kappa = np.where(room > 0, (agreed - expected) / np.where(room > 0, room, 1), np.nan)
            yield np.column_stack([i + start, j, n, agreed, np.nan_to_num(kappa, nan=0.0)])

    def __repr__(self) -> str:
        return f"Agreement(alpha={self.alpha:.3f}, items={self.n_items:,})"
