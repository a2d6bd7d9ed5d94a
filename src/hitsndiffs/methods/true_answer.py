"""Agreement with a given key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.lookup import answers_here, covered_items, known_options, right_options
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.keys import key_from_scores, key_given, share_errors

__all__ = ["TrueAnswer"]


@dataclass(kw_only=True, eq=False)
class TrueAnswer(Method):
    """The share of right answers under a given key (the paper's cheating baseline).

    The paper counts right answers. That ranks alike where users answered equally many items; else
    the share does not punish those who answered fewer.

    Parameters
    ----------
    key
        The right option of each item, item → option. It may name only some of the items; the
        others do not count.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
    >>> TrueAnswer(key={0: "A", 1: "A"}).fit(r).scores_.tolist()
    [1.0, 1.0, 0.5, 0.0]
    """

    needs_memory: ClassVar[bool] = False
    name: ClassVar[str] = "true-answer"
    summary: ClassVar[str] = "share of right answers under a key that you give"
    use: ClassVar[str] = "when the key is known, or to judge the others"

    key: Mapping[Any, Any] | None = None

    def _check(self, data: Engine) -> None:
        super()._check(data)
        if not self.key:
            raise InputError(
                "Method 'true-answer' counts right answers and needs to know them: give a "
                "key, a mapping of items to their right options."
            )
        if not answers_here(data.items, self.key):
            known_options(data.items, self.key)  # raises, naming an item that is not in the data

    def _fit(self, data: Engine) -> Fit:
        known = answers_here(data.items, self.key)
        right = np.zeros(data.n_options)
        right[right_options(data.items, known)] = 1.0
        covered = covered_items(data.items, known)[data.items.of_option].astype(float)

        # the share of right answers among those that the key covers
        n = np.rint(data.choices(covered))
        total = data.choices(right)
        mean = float(total.sum()) / max(float(n.sum()), 1)
        s = np.where(n > 0, total / np.maximum(n, 1), mean)

        return Fit(
            scores=s,
            option_weights=right,
            key_probabilities=key_given(data, known, key_from_scores(data, s)),
            correct=s,
            standard_errors=share_errors(data, right, s, n),
            n_iterations=1,
            notes=tuple(_notes(len(known), len(self.key or {}), int((n == 0).sum()))),
        )


def _notes(used: int, given: int, outside: int) -> list[str]:
    notes = []
    if used < given:
        notes.append(f"{given - used} of {given} items of the key are not in the data.")
    if outside:
        notes.append(
            f"{outside} users answered no item that the key covers; they stand at the mean."
        )
    return notes
