"""How sure a solution is: what speaks for it, and the probability that it is right.

A solution is right when its order is ability and the right way up. Nothing in the answers says so
outright; what can be seen is how far it is ahead of the next solution that disagrees, whether the
strongest axis, the majority and another rule of who is a witness agree with it, how many
independent users there are, and how far users agree beyond what the solution explains. How these
go together with being right was learnt on simulated answer sheets of many kinds (the arena's
leave-one-kind-out table shows how it holds on kinds that were left out).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["COUNTS", "SHARED_MISTAKES", "Signs", "bounded", "sureness"]

#: Leads and their size in standard errors count up to here.
MOST_STEADY, MOST_LEAD = 6.0, 8.0


@dataclass(frozen=True)
class Signs:
    """What speaks for a solution and against it, on scales for a logistic function.

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
    second
        Strength of the second axis as a share of the first.
    rules
        Correlation with the solution in which nearly equal sheets count once.
    majority
        Correlation with agreement with the consensus.
    users, answers
        Logarithms of the number of independent users, and of the answers of one.
    reliability
        Share of the scores' variance that is not chance.
    excess
        Logarithm of how much more than expected pairs of users agree or disagree.
    settled
        How sure the key is, on average over the items.
    right
        How much better than chance the answers are, if the solution holds.
    two
        1 where all items share two labels, and so
    marks
        how far the reading that one label is right everywhere is behind (tens of nats).
    """

    steadiness: float
    lead: float
    alone: float
    axis: float
    second: float
    rules: float
    majority: float
    users: float
    answers: float
    reliability: float
    excess: float
    settled: float
    right: float
    two: float
    marks: float


#: Where all of the scores' variance is chance, it is no surer than this.
UNRELIABLE = 0.7
#: From this excess of agreement on (twice what is expected) something else is at work, and it is no
#: surer than this.
SHARED_MISTAKES, UNEXPLAINED = 0.7, 0.59
#: A lead of this many nats has odds of e to one: answers are less independent than they count.
NATS = 3.0
#: Logistic regression of being right: a constant, and what each sign counts for.
CONSTANT = -0.44
COUNTS: dict[str, float] = {
    "lead": 0.345,
    "alone": -0.951,
    "rules": 0.584,
    "two": -1.073,
    "marks": 0.699,
}


def sureness(signs: Signs) -> float:
    """Probability that a solution with these signs is right."""
    logit = CONSTANT + sum(each * getattr(signs, name) for name, each in COUNTS.items())
    return bounded(signs, float(1 / (1 + np.exp(-logit))))


def bounded(signs: Signs, chance: float) -> float:
    """What a probability can be at most.

    Where two solutions are equally likely, the sign is a toss of a coin; where chance could have
    made the order, or users agree far beyond what the solution explains, it is not sure.
    """
    lead = float(np.expm1(signs.lead))
    no_luck = 1.0 if signs.alone else float(1 / (1 + np.exp(-lead / NATS)))
    told_apart = UNRELIABLE + (1 - UNRELIABLE) * signs.reliability
    explained = 1.0 if signs.excess <= SHARED_MISTAKES else UNEXPLAINED
    return min(chance, no_luck, told_apart, explained)
