"""Agreement with the most chosen option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.keys import share_errors
from hitsndiffs.methods.scoring import Scoring

__all__ = ["Majority"]


@dataclass(kw_only=True, eq=False)
class Majority(Method):
    """The share of a user's answers that are their item's most chosen option.

    Where several options tie for most chosen, each counts for its share (½ for two, …).

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
    >>> Majority().fit(r).scores_.round(2).tolist()
    [0.5, 0.83, 0.83, 0.17]
    """

    needs_memory: ClassVar[bool] = False
    name: ClassVar[str] = "majority"
    summary: ClassVar[str] = "share of answers that agree with the most chosen option"
    use: ClassVar[str] = "a quick, robust baseline where most answers are right"

    def _fit(self, data: Engine) -> Fit:
        counts = data.choosers_per_option.astype(float)
        most_chosen = counts == data.items.max(counts)
        w = data.items.share(most_chosen.astype(float))
        n = data.answers_per_user
        s = data.choices(w) / n
        return Fit(
            scores=s,
            option_weights=w,
            key_probabilities=data.items.share(counts),
            correct=s,
            standard_errors=share_errors(data, w, s, n),
            n_iterations=1,
            scoring=Scoring(w, shares=True),
        )
