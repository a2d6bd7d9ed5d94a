"""Investment and PooledInvestment (Pasternack and Roth 2010; Section III-A of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method

__all__ = ["Investment", "PooledInvestment"]


@dataclass(kw_only=True, eq=False)
class _Investing(Method):
    """Base of both methods: users spread their trust over their options and earn it back."""

    needs_memory: ClassVar[bool] = False

    rounds: int = 10
    exponent: float = 1.2

    def _start(self, data: Engine) -> Floats:
        raise NotImplementedError

    def _grown(self, data: Engine, invested: Floats) -> Floats:
        raise NotImplementedError

    def _fit(self, data: Engine) -> Fit:
        answers = data.answers_per_user
        trust = data.everybody
        w = self._start(data)
        for _ in range(self.rounds):
            # each option pays out its score in proportion to what was invested in it
            invested = data.choosers(trust / answers)
            payout = np.divide(w, invested, out=np.zeros_like(w), where=invested > 0)
            trust = trust / answers * data.choices(payout)
            # only ratios of trust matter; a mean of 1 avoids over- and underflow
            trust = data.user_array(trust)
            trust = data.user_array(trust / float(trust.mean()))
            w = self._grown(data, data.choosers(trust / answers))
        return Fit(
            scores=trust,
            option_weights=w,
            key_probabilities=data.items.share(w),
            n_iterations=self.rounds,
        )


@dataclass(kw_only=True, eq=False)
class Investment(_Investing):
    """Users invest their trust in their options, which grow by a power of what was invested.

    The rounds do not converge (the rich get richer), so their number is fixed, as in the paper.

    Parameters
    ----------
    rounds
        Number of rounds.
    exponent
        The power ``g``: an option's score is the ``g``-th power of what was invested in it.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAA"), list("AAB"), list("BCC")])
    >>> (-Investment().fit(r).scores_).argsort(kind="stable").tolist()
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "investment"
    summary: ClassVar[str] = "users invest trust in options, which pay back with growth"
    use: ClassVar[str] = "as a rival in comparisons"

    def _start(self, data: Engine) -> Floats:
        """The share of all users who chose the option."""
        return data.choosers_per_option / data.n_users

    def _grown(self, data: Engine, invested: Floats) -> Floats:  # noqa: ARG002
        return np.power(invested, self.exponent)


@dataclass(kw_only=True, eq=False)
class PooledInvestment(_Investing):
    """Investment with growth shared out within each item.

    An option's score is what was invested in it, times its share of the item's ``g``-th powers.
    The rounds do not converge, so their number is fixed, as in the paper.

    Parameters
    ----------
    rounds
        Number of rounds.
    exponent
        The power ``g``.

    Notes
    -----
    All options start alike. (The paper's ``1/k`` has one ``k`` for all items, and the result does
    not depend on its value. Starting at one over the number of options that were chosen, item by
    item, moves the correlations on the paper's data by up to 0.007.)

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAA"), list("AAB"), list("BCC")])
    >>> (-PooledInvestment().fit(r).scores_).argsort(kind="stable").tolist()
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "pooled-investment"
    summary: ClassVar[str] = "investment, with growth shared out within each item"
    use: ClassVar[str] = (
        "small tests with one right answer per item; the best of the paper's rivals"
    )

    exponent: float = 1.4

    def _start(self, data: Engine) -> Floats:
        """The same for every option."""
        return np.full(data.n_options, 1 / np.diff(data.items.starts).max())

    def _grown(self, data: Engine, invested: Floats) -> Floats:
        # divide by the item's largest first: powers of tiny numbers would vanish
        largest = data.items.max(invested)
        relative = np.divide(invested, largest, out=np.zeros_like(invested), where=largest > 0)
        return invested * data.items.share(np.power(relative, self.exponent))
