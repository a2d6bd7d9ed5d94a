"""What the caller knows of the key: a prior on the key of those items, and weights of readings.

``answers`` are sure, a ``key`` may err. Both enter the model as a prior on the key of the items
they name. How likely each entry of a key is wrong is judged by :mod:`.keyed`.

Readings were found without what is known. Each takes it as evidence, and is *weighed* by how well
it foresaw the answers, not chosen: log w = log p + Σ log(0.6 q(answer) + 0.4 guess(answer)), where
a guess is half by popularity and half by the number of options. The certainty of each item is
bounded by the 0.4: items have lures, and keys have errors, so one answer must never outweigh all
others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.lookup import (
    answers_here,
    covered_items,
    known_options,
    right_options,
)

__all__ = ["Known", "known_key"]

#: Chance that an item tells nothing about the reading, whatever the answer.
UNTOLD = 0.4
#: Error rate of answers that are sure.
SURE = 1e-4
#: Error rate of a key before it is seen.
EXPECTED = 0.05


@dataclass(frozen=True, eq=False)
class Known:
    """Known options of some items.

    Attributes
    ----------
    options
        The options known to be right (those that somebody chose).
    doubtful
        For each of them, whether it may err.
    wrong
        For each of them, how likely it is wrong.
    unseen
        Items whose known right answer nobody chose (for sure): nobody is right there.
    """

    options: Ints
    doubtful: Flags
    wrong: Floats
    unseen: Ints

    @classmethod
    def entries(cls, options: Ints) -> Known:
        """Entries of a key, all of which may err."""
        n = len(options)
        return cls(options, np.ones(n, bool), np.full(n, EXPECTED), np.zeros(0, np.int64))

    def __bool__(self) -> bool:
        return len(self.options) + len(self.unseen) > 0

    def rates(self, rate: Any) -> Floats:
        """The error rate of each, if that of doubtful ones is given."""
        return np.where(self.doubtful, rate, SURE)

    def weighed(self, key: Floats) -> Known:
        """The same when each doubtful one is as likely wrong as the key says."""
        wrong = np.clip(1 - key[self.options], SURE, 1 - SURE)
        return replace(self, wrong=self.rates(wrong))

    def prior(self, items: Items, *, held: bool = False) -> Floats:
        """Log prior of every option as key (0 where nothing is known); held: none is wrong."""
        of_item = items.of_option[self.options]
        others = np.maximum(items.sizes[of_item] - 1, 1)
        rate, of_others = np.zeros_like(self.wrong) if held else self.wrong, np.zeros(items.n_items)
        with np.errstate(divide="ignore"):
            of_others[of_item] = np.log(rate / others)
        logs = of_others[items.of_option]
        logs[self.options] = np.log1p(-rate)
        return logs

    def foreseen(self, items: Items, key: Floats, popular: Floats) -> float:
        """Log probability of the known answers by a reading found without them, bounded.

        An item may tell nothing about the reading: then its right answer is as likely as it is
        popular, or any.
        """
        sizes = np.maximum(items.sizes[items.of_option[self.options]], 2)
        guess = (popular[self.options] + 1 / sizes) / 2
        found = np.log((1 - UNTOLD) * key[self.options] + UNTOLD * guess).sum()
        most = items.max(key)[items.starts[self.unseen]]
        sizes = np.maximum(items.sizes[self.unseen], 2)
        found += np.log((1 - UNTOLD) * (1 - most) + UNTOLD / sizes).sum()
        return float(found)

    def start(self, items: Items, key: Floats) -> Floats:
        """A key to start from: what is known, and elsewhere the key given."""
        return self._put_in(items, key, self.options)

    def settled(self, items: Items, key: Floats) -> Floats:
        """The key with sure answers put in; NaN for items whose answer nobody chose."""
        made = self._put_in(items, key, self.options[~self.doubtful])
        made[np.isin(items.of_option, self.unseen)] = np.nan
        return made

    def _put_in(self, items: Items, key: Floats, options: Ints) -> Floats:
        made = np.where(np.isin(items.of_option, items.of_option[options]), 0.0, key)
        made[options] = 1.0
        return made


def known_key(
    items: Items, answers: Mapping[Any, Any] | None, key: Mapping[Any, Any] | None
) -> Known:
    """What is known, as options: sure ``answers``, and a ``key`` that may err for other items."""
    answers = answers_here(items, answers)
    key = {
        item: option
        for item, option in answers_here(items, key).items()
        if str(item).strip() not in {str(each).strip() for each in answers}
    }
    sure, doubtful = known_options(items, answers), known_options(items, key)
    covered = covered_items(items, answers)
    covered[items.of_option[right_options(items, answers)]] = False
    options = np.concatenate([sure, doubtful])
    flags = np.repeat([False, True], [len(sure), len(doubtful)])
    return Known(options, flags, np.where(flags, EXPECTED, SURE), np.flatnonzero(covered))
