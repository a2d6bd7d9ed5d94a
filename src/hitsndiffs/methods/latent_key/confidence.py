"""How sure a solution is: what speaks for it, and the probability that it is right.

A solution is right when its order is ability and the right way up. Nothing in the answers says so
outright; what can be seen is how far it is ahead of the next solution that disagrees, whether the
strongest axis, another model and another rule of who is a witness agree with it, how many
independent users there are, and how much of the order is chance. How these go together with being
right was learnt on simulated answer sheets of many kinds (``python -m
benchmarks.arena.calibration``; its table shows how it holds on kinds that were left out). Bounds
are not learnt: each has an argument.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hitsndiffs.order.orientation import MOST_CONFIDENCE

__all__ = [
    "COUNTS",
    "DISAGREE",
    "SHARED_MISTAKES",
    "Signs",
    "bound",
    "label_bound",
    "shared_bound",
    "sureness",
]

#: Leads and their size in standard errors count up to here.
MOST_STEADY, MOST_LEAD = 6.0, 8.0


@dataclass(frozen=True)
class Signs:
    """What speaks for a solution and against it.

    Attributes
    ----------
    steadiness
        The lead over the rival in units of its spread over independent users.
    lead
        Logarithm of one plus the lead (nats).
    alone
        1 where there is no rival at all.
    axis
        Correlation with the strongest axis, without its sign.
    rules
        Correlation with the solution in which nearly equal sheets count once.
    models
        Correlation with the order by confusion matrices, where all items share two labels; else 1.
    users
        Logarithm of the number of independent users.
    reliability
        Share of the scores' variance that is not chance.
    excess
        Logarithm of how much more than expected pairs of users agree or disagree.
    one_label
        1 where the solution holds one label right in every item, and no words say which.
    follows
        1 where the order follows the share of one label, or the shares of all together.
    """

    steadiness: float
    lead: float
    alone: float
    axis: float
    rules: float
    models: float
    users: float
    reliability: float
    excess: float
    one_label: float
    follows: float


#: The most that is said where two explanations are left and nothing tells them apart: one label
#: right everywhere or its opposite (with abilities reversed, the answers are equally likely), two
#: models that disagree, a lead that other users of the same kind could have reversed, or an order
#: that explains less than half of what users agree on.
EITHER = 0.55
#: Orders that correlate less than this disagree about who is good.
DISAGREE = 0.5
#: A lead of less than this many standard errors could be reversed by other users of the same kind.
UNSTEADY = 0.25
#: Where the strongest axis correlates less than this with the order, something is stronger than
#: what is taken for ability. Then at most this is said.
WEAK_AXIS, OTHER_AXIS = 0.6, 0.79
#: From this excess of agreement on (twice what is expected) something else is at work.
SHARED_MISTAKES = 0.7
#: Where the order follows the shares of labels, leaning to some of them would look the same.
FOLLOWED = 0.75
#: Where all of the scores' variance is chance, it is no surer than this.
UNRELIABLE = 0.7
#: A lead of this many nats has odds of e to one: answers are less independent than they count.
NATS = 3.0
#: A logistic function: a constant, and what each sign counts for (never against it).
CONSTANT = -0.371
COUNTS: dict[str, float] = {"lead": 0.088, "rules": 0.698, "reliability": 1.187}


def sureness(signs: Signs) -> float:
    """Probability that a solution with these signs is right, whatever its labels say."""
    logit = CONSTANT + sum(each * getattr(signs, name) for name, each in COUNTS.items())
    return min(float(1 / (1 + np.exp(-logit))), MOST_CONFIDENCE, bound(signs))


def bound(signs: Signs) -> float:
    """What the probability can be at most.

    Where two solutions are equally likely, the sign is a coin toss. The ranking is not sure either
    where the lead is unsteady, where chance could have made the order, where another axis is
    stronger or another model disagrees, or where users agree far beyond what the solution explains.
    """
    lead = float(np.expm1(signs.lead))
    no_tie = 1.0 if signs.alone else float(1 / (1 + np.exp(-lead / NATS)))
    steady = signs.alone or signs.steadiness >= UNSTEADY
    told_apart = UNRELIABLE + (1 - UNRELIABLE) * signs.reliability
    return min(
        no_tie,
        told_apart,
        1.0 if steady and signs.models >= DISAGREE else EITHER,
        1.0 if signs.axis >= WEAK_AXIS else OTHER_AXIS,
        shared_bound(signs),
    )


def shared_bound(signs: Signs) -> float:
    """The same where users agree far beyond what the solution explains; known answers lift it."""
    return 1.0 if signs.excess <= SHARED_MISTAKES else EITHER


def label_bound(signs: Signs) -> float:
    """The same where the order is the use of one label; known answers lift it."""
    if signs.one_label:
        return EITHER
    return FOLLOWED if signs.follows else 1.0
