"""How far users agree: Krippendorff's alpha, Fleiss' kappa, and Cohen's kappa for every pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError
from hitsndiffs.methods.alike import expected_agreement
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.methods.probability import normal_cdf, normal_quantile
from hitsndiffs.results.cells import Cells, Tabled
from hitsndiffs.results.metrics import false_discoveries

__all__ = ["Agreement", "agreement"]


#: So many users at a time are compared with all others.
BLOCK = 256
#: Users who share fewer items are not compared beyond their abilities.
FEWEST_COMMON = 5
#: Of the pairs said to agree beyond their abilities, at most this share is chance.
SURE = 0.05


def agreement(data: Any, *, order: Sequence[Any] | None = None) -> Agreement:
    """How far users agree with each other, beyond chance.

    Parameters
    ----------
    data
        The answers: anything that :func:`hitsndiffs.rank` takes.
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
    return Agreement(as_responses(data), order)


class Agreement(Tabled):
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

    @cached_property
    def _beyond_ability(self) -> tuple[Floats, Floats] | None:
        """Users × users: how far two agree beyond their abilities, and how sure that is (p).

        The first is the share of the answers that would have to be copied. Agreement counts as
        sure against the spread of most pairs, which a model of ability never fits quite.
        """
        found = expected_agreement(self.responses)
        if found is None:
            return None
        common, equal, expected = found
        share = expected / np.maximum(common, 1)
        error = np.sqrt(np.maximum(common * share * (1 - share), 1e-9))
        one, other = np.nonzero(np.triu(common >= FEWEST_COMMON, 1))
        z = ((equal - expected) / error)[one, other]
        if len(z) == 0:
            return None
        middle = float(np.median(z))
        # pairs of families widen the upper half, and pairs of unlike abilities the lower one
        halves = middle - np.quantile(z, 0.25), np.quantile(z, 0.75) - middle
        spread = max(float(min(halves) / normal_quantile(0.75)), 1.0)
        beyond = (equal - expected) / np.maximum(common - expected, 1e-9)
        p = np.ones_like(beyond)
        p[one, other] = false_discoveries(normal_cdf((middle - z) / spread))
        return np.clip(beyond, -1.0, 1.0), np.minimum(p, p.T)

    @property
    def _dependent(self) -> Floats | None:
        """Users × users: how far those agree beyond their abilities who surely do; 0 for others."""
        if self._beyond_ability is None:
            return None
        beyond, p = self._beyond_ability
        return np.where(p < SURE, np.maximum(beyond, 0.0), 0.0)

    @property
    def independent_votes(self) -> float | None:
        """As how many independent votes the users count in a majority, at most.

        Users who share answers beyond what their abilities make likely (copies, runs or families
        of models, schools) are less than one vote each: ``n`` users whose answers correlate by
        ``r`` count as ``n / (1 + (n - 1) r)``. Only pairs count that surely agree so. A mistake
        that all users share looks like a hard item, and is not seen. ``None`` with more users than
        can be compared in pairs.
        """
        shared, n = self._dependent, self.responses.n_users
        return None if shared is None else float(n**2 / (n + shared.sum()))

    def pairs(self, *, least: int = 5, most: int = 1000) -> Any:
        """Pairs of users, those that agree most surely beyond their abilities first.

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
            equal answers), ``kappa`` (beyond what their use of the labels makes likely), ``beyond``
            (beyond what their abilities make likely: the share that would have to be copied) and
            ``p`` (how likely such a pair is chance; false discovery rate). With more users than
            can be compared in pairs the last two are NaN, and the order is by kappa.
        """
        return self.cells(least=least, most=most).frame(self.kind)

    def cells(self, *, least: int = 5, most: int = 1000) -> Cells:
        """The columns of :meth:`pairs`."""
        rows = np.zeros((0, 7))
        for block in self._blocks(least):
            rows = np.concatenate([rows, block])
            first, second, items, _, kappa, _, p = rows.T
            rows = rows[np.lexsort((second, first, -items, -kappa, np.nan_to_num(p)))][:most]
        first, second, items, agreed, kappa, beyond, p = rows.T
        columns = {
            "user": self.responses.users[first.astype(int)],
            "other": self.responses.users[second.astype(int)],
            "items": items.astype(np.int64),
        }
        columns |= {"agreement": agreed, "kappa": kappa, "beyond": beyond, "p": p}
        plain = Cells.of(columns, share="agreement beyond")
        return replace(plain, headings={"beyond": "beyond ability", "p": "by chance (p)"})

    def facts(self) -> dict[str, Any]:
        """The figures of agreement."""
        names = ("alpha", "alpha_ordinal", "fleiss_kappa", "independent_votes")
        return {name: getattr(self, name) for name in names}

    def sentence(self) -> str:
        """How far the users agree, and as how many votes they count, in two sentences."""
        if not np.isfinite(self.alpha):
            return "No two users answered the same item differently, so agreement says nothing."
        said = f"Agreement is {self.alpha:.2f} (Krippendorff's alpha: 1 = full, 0 = chance)"
        if self.alpha_ordinal is not None:
            said += f"; {self.alpha_ordinal:.2f} with the labels in order"
        said += "."
        if self.n_items < self.responses.n_items:
            said += f" It counts the {count(self.n_items, 'item')} with at least two answers."
        if self._dependent is None:
            return said
        pairs = int((self._dependent > 0).sum()) // 2
        if pairs == 0:
            return said + " No two users agree clearly more than chance and ability make likely."
        return said + (
            f" {count(pairs, 'pair')} of users agree more than chance and ability make likely: the "
            f"{count(self.responses.n_users, 'user')} count as at most about "
            f"{self.independent_votes:.0f} independent votes."
        )

    def _blocks(self, least: int) -> Iterator[Floats]:
        """The columns of :meth:`pairs` for all pairs, a block of users at a time."""
        from scipy.sparse import csr_array

        r = self.responses
        chosen = r.ones.in_scipy
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
            kappa = np.divide(agreed - expected, room, out=np.zeros_like(room), where=room > 0)
            by_ability = np.full((2, len(i)), np.nan)
            if self._beyond_ability is not None:
                by_ability = np.stack([table[i + start, j] for table in self._beyond_ability])
            yield np.column_stack([i + start, j, n, agreed, kappa, *by_ability])
