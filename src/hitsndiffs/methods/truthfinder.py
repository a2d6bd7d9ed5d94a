"""TruthFinder, in the log domain (Yin, Han and Yu 2008; Section III-A of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.order.ties import tie_groups

__all__ = ["TruthFinder"]

#: The largest trust: at 1, the logarithm of the doubt would be infinite.
NEARLY_ONE = 1 - 2.0**-53
#: Log doubts below this are lost beside numbers near 1.
RESOLVED = np.log(1e-9)
#: Exponentials of numbers that differ by this much are still within the range of a double.
EXPONENT_RANGE = 600.0
#: Terms whose logarithms are smaller by this much do not change a sum.
NEGLIGIBLE = 40.0
#: Most passes over the data for the final doubts.
PASSES = 100


@dataclass(kw_only=True, eq=False)
class TruthFinder(Method):
    """An option is wrong only if all of its choosers are; users are as trusted as their options.

    Parameters
    ----------
    formula
        ``"published"`` divides an option's weight by the sum within its item, as the code published
        with the paper does; ``"text"`` does not, as its text says.
    trust
        Every user's initial trust.
    tol, max_iterations
        The rounds end when the changes of the user scores sum to at most ``tol``.

    Notes
    -----
    ``s = mean w`` over the chosen options and ``w = 1 - Π (1 - s)`` over the choosers. The two
    formulas rank differently: undivided weights are all near 1, so that a user's least trusted
    options decide. With hundreds of users per option the product vanishes beside 1, all
    ``w`` are equal to the last bit, and the formula as written ranks nobody. The scores are then
    minus the logarithm of the mean doubt ``Π (1 - s)`` over the chosen options, which is the same
    ranking wherever users answered the same items; a note says so.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAA"), list("AAB"), list("BCC")])
    >>> TruthFinder().fit(r).scores_.round(2).tolist()
    [0.85, 0.85, 0.82, 0.0]
    """

    name: ClassVar[str] = "truthfinder"
    summary: ClassVar[str] = (
        "trust as a probability: an option is wrong only if all its choosers are"
    )
    use: ClassVar[str] = "as a rival in comparisons"
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {"formula": ("published", "text")}

    formula: str = "published"
    trust: float = 0.9
    tol: float = 1e-5
    max_iterations: int = 10_000

    def _fit(self, data: Engine) -> Fit:
        answers = data.answers_per_user
        s = np.full(data.n_users, self.trust)
        log_doubt, w = np.zeros(data.n_options), np.zeros(data.n_options)
        change, rounds = np.inf, 0
        while change > self.tol and rounds < self.max_iterations:
            log_doubt = data.choosers(np.log1p(-np.minimum(s, NEARLY_ONE)))
            w = -np.expm1(log_doubt)
            if self.formula == "published":
                w = data.items.share(w)
            new = data.choices(w) / answers
            change = float(np.abs(new - s).sum())
            s = new
            rounds += 1

        scores, notes = _resolved(s, self._log_doubts(log_doubt, data), data)
        # exactly one option is right: turn the options' separate probabilities into odds
        odds = np.log(np.maximum(-np.expm1(log_doubt), 1e-300)) - log_doubt
        return Fit(
            scores=scores,
            option_weights=w,
            key_probabilities=data.items.softmax(odds),
            converged=change <= self.tol,
            n_iterations=rounds,
            notes=notes,
            residual=change,
        )

    def _log_doubts(self, log_doubt: Floats, data: Engine) -> Floats:
        """The logarithm of each user's mean of ``Π (1 - s)`` over the chosen options.

        As published, an option's share of its item is ``1/Σw - doubt/Σw``: among users who answered
        the same items, trust falls as the mean of ``doubt/Σw`` rises. An item with one option says
        nothing; users who answered only such items get the median.
        """
        if self.formula == "text":
            return np.asarray(log_of_sums(data, log_doubt) - np.log(data.answers_per_user))
        within = data.items
        relative = log_doubt - np.log(np.maximum(within.sum(-np.expm1(log_doubt)), 1e-300))
        doubt = log_of_sums(data, np.where(within.sizes[within.of_option] > 1, relative, -np.inf))
        found = np.isfinite(doubt)
        middle = float(np.median(doubt[found])) if found.any() else 0.0
        return np.where(found, doubt - np.log(data.answers_per_user), middle)


def _resolved(s: Floats, doubt: Floats, data: Engine) -> tuple[Floats, tuple[str, ...]]:
    """The trust, or, where doubts are too small to show in it, minus their logarithm.

    Users who answered the same items rank alike in both, so there the loss of any level is a reason
    to switch; elsewhere trust must have lost more than half of the levels.
    """
    levels, shown = tie_groups(doubt).max() + 1, tie_groups(s).max() + 1
    lost = shown < levels if data.is_complete else shown < levels / 2
    if doubt.min() >= RESOLVED or not lost:
        return s, ()
    return -doubt, (
        "With this many users per option, trust differs by less than a double can hold; the "
        "scores are minus the logarithm of each user's mean doubt.",
    )


def log_of_sums(data: Engine, logs: Floats) -> Floats:
    """``log(choices(exp(logs)))`` for values too far apart for their exponentials.

    Options are added from the largest down, as many at a time as fit in a double, until the rest
    would change nobody's sum.
    """
    result = np.full(data.n_users, -np.inf)
    if (top := float(logs.max())) == -np.inf:
        return result
    for _ in range(PASSES):
        here = (logs <= top) & (logs > top - EXPONENT_RANGE)
        part = data.choices(np.where(here, np.exp(np.minimum(logs - top, 0.0)), 0.0))
        log_part = np.log(part, out=np.full(len(part), -np.inf), where=part > 0)
        result = np.asarray(np.logaddexp(result, log_part + top))
        rest = logs[(logs <= top - EXPONENT_RANGE) & (logs > -np.inf)]
        if rest.size == 0 or (result > rest.max() + NEGLIGIBLE).all():
            break
        top = float(rest.max())
    else:  # out of passes: what is left is not told apart
        result = np.asarray(np.maximum(result, top))
    return result
