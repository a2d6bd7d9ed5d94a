"""How sure: what speaks for the best reading, and what bounds it.

A ranking is right when its order is ability and the right way up. The answers never say so
outright. What can be seen is how far the best reading is ahead of the next one that disagrees,
whether rankings that share no code with the model agree with it (votes, Dawid–Skene, the
double-centred axis, the leading axes), whether it matters who counts as a witness, and how much of
the scores is chance. Witnesses bound the confidence; they never choose.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.methods.core.directions import correlation, rank_correlation
from hitsndiffs.methods.core.search import SET_BACK, Candidate, Found
from hitsndiffs.methods.counting import SHEETS
from hitsndiffs.methods.fitted import Doubt

__all__ = [
    "DISAGREE", "DOUBT", "EITHER", "FOLLOWED", "FOLLOWS", "MOST_FOLLOWED", "Signs", "doubts",
    "signs", "sureness", "unlucky",
]  # fmt: skip

#: Orders that correlate less than this disagree about who is good.
DISAGREE = 0.5
#: The most that is said without known answers, and where two explanations are left and nothing
#: tells them apart.
MOST, EITHER = 0.89, 0.55
#: Log odds of a direction: below the first (nine to one) it is a toss-up; where it needs no
#: witnesses, the second stands for it.
WEAK, CLEAR = 2.2, 10.0
#: Witnesses that agree this well with an order outweigh another reading that some users would turn
#: into the first.
SUPPORTED = 0.7
#: A camp that contradicts the others: in all but one of 29 real sets hardly anybody does.
CONTRARY = 0.1
#: Below this confidence, what speaks against the order is said in sentences too.
DOUBT = 0.8
#: An order follows a label's share above this correlation, if there are at most this many labels;
#: and it follows the use of three or more together above this multiple correlation. Then leaning to
#: labels would look the same, and no more than this is said.
FOLLOWS, MOST_FOLLOWED, FOLLOWS_ALL, FOLLOWED = 0.95, 12, 0.9, 0.75


@dataclass(frozen=True)
class Signs:
    """What speaks for the best reading and against it.

    Attributes
    ----------
    lead
        How far it is ahead of the next reading that disagrees (nats).
    among_users
        The same in standard errors: is it more than the chance of who took part? A group that
        answers alike may outvote everybody else, and then the lead varies much from user to user.
    majority, confusions, axis, axes
        Correlation with agreement with the majority, with Dawid–Skene (with the majority again
        where labels are not shared) and the double-centred axis (then 1), and the largest with a
        leading axis, without its sign.
    rules
        Correlation with the best reading when near-equal sheets count as one, or else others.
    reliability
        Share of the scores' variance that is not chance.
    direction, informed
        Log odds of the direction of two labels; the users' mean informedness in standard errors.
    contrary
        The share of users who are right clearly less often than by guessing (0 for two labels).
    users
        Logarithm of the number of users who count.
    above_chance
        The users' mean ability.
    follows, follows_all
        The largest correlation with the use of one label, without its sign, and the multiple
        correlation with the uses of all (three or more).
    marks
        1 where one label is right in every item.
    """

    lead: float
    among_users: float
    majority: float
    confusions: float
    axis: float
    axes: float
    rules: float
    reliability: float
    direction: float
    informed: float
    contrary: float
    users: float
    above_chance: float
    follows: float
    follows_all: float
    marks: float

    @property
    def support(self) -> float:
        """How far the witnesses agree with it, on average."""
        return (self.majority + self.confusions + self.axis) / 3


def signs(found: Found) -> Signs:
    """What can be seen of the best reading."""
    table, best, witnesses = found.table, found.best, found.witnesses
    here = witnesses.here
    score = table.score(best.solution.key)

    def agree(other: Candidate) -> float:
        return rank_correlation(score[here], table.score(other.solution.key)[here])

    mine = [each for each in found.readings if each.counting == best.counting]
    apart = [each for each in mine[1:] if agree(each) < DISAGREE]
    rivals = [best.evidence - each.evidence for each in apart]
    others: dict[str, Candidate] = {}
    for each in found.readings:  # the best one of every other way to count
        if each.counting != best.counting:
            others.setdefault(each.counting, each)
    if SHEETS in others:  # the most careful way; that those who are alike outvote others is no news
        others = {SHEETS: others[SHEETS]}
    along = [
        abs(witnesses.agree(score, table.choices(axis) / np.maximum(table.per_user, 1)))
        for axis in witnesses.axes.T
    ]
    majority = witnesses.agree(score, witnesses.majority)
    label, count = table.labels
    few = count if table.coded and count <= MOST_FOLLOWED else 0
    shares = [table.score((label == each).astype(float)) for each in range(few)]
    uses = [abs(witnesses.agree(score, share)) for share in shares]
    weights = best.model.weights * here
    mean = float(weights @ score) / weights.sum()
    spread = float(weights @ (score - mean) ** 2) / weights.sum()
    noise = float((weights * best.solution.chance / np.maximum(table.per_user, 1) ** 2).sum())
    noise /= weights.sum()
    return Signs(
        lead=min(rivals, default=1e3),
        among_users=min(
            # (what the witnesses of direction have ruled out is left to them)
            (_in_errors(best, each) for each in apart if each.penalty < SET_BACK),
            default=1e3,
        ),
        majority=majority,
        confusions=witnesses.agree(score, witnesses.confusions) if table.coded else majority,
        axis=witnesses.agree(score, witnesses.axis) if table.coded else 1.0,
        axes=max(along, default=0.0),
        rules=min(map(agree, others.values()), default=1.0),
        reliability=min(max(1 - noise / spread, 0.0), 1.0) if spread > 0 else 0.0,
        direction=witnesses.direction(best.solution.key) if table.two else CLEAR,
        informed=witnesses.among_users(best.solution.key) if table.two else CLEAR,
        contrary=0.0 if table.two else witnesses.contrary(best.solution.key),
        users=float(np.log(weights.sum())),
        above_chance=best.solution.population.raw_mean,
        follows=max(uses, default=0.0),
        follows_all=_together(score[here], [share[here] for share in shares]),
        marks=float(best.label is not None),
    )


def doubts(seen: Signs) -> tuple[Doubt, ...]:
    """The reasons for doubt, as codes with values, each with what it bounds the confidence by."""
    made = []

    def bound(code: str, value: float, limit: float) -> None:
        made.append(Doubt(code, float(value), float(limit)))

    if seen.lead < 1e3:
        bound("rival", seen.lead, 0.5 + 0.39 * (1 - np.exp(-seen.lead / 10)))
    if seen.among_users < 1 and seen.support < SUPPORTED:  # the rule of one standard error
        bound("who took part", seen.among_users, EITHER)
    if seen.majority < 0.3 and not seen.confusions > 0.7:
        bound("votes", seen.majority, EITHER)
    if seen.confusions < 0.3 and seen.confusions != seen.majority:
        bound("confusions", seen.confusions, EITHER)
    # axes are weak where answers are few; Dawid-Skene is not
    if not (seen.confusions > 0.9 and seen.majority > SUPPORTED and seen.reliability > 0.5):
        if seen.axis < 0.3:
            bound("axis", seen.axis, EITHER)
        if seen.axes < 0.4:
            bound("axes", seen.axes, EITHER)
    if seen.rules < 0:
        bound("who counts", seen.rules, EITHER)
    if seen.direction < WEAK:
        bound("toss-up", seen.direction, max(1 / (1 + np.exp(-seen.direction)), 0.5))
    elif seen.informed < 2:  # a few users more or less would turn it round
        bound("toss-up", seen.informed, EITHER)
    if seen.contrary > CONTRARY:
        bound("against", seen.contrary, EITHER)
    if seen.marks:
        bound("marks", 1.0, EITHER)
    elif seen.follows > FOLLOWS or seen.follows_all > FOLLOWS_ALL:
        bound("follows", max(seen.follows, seen.follows_all), FOLLOWED)
    bound("noise", seen.reliability, unlucky(seen))
    return tuple(sorted(made, key=lambda each: each.bound))


def sureness(seen: Signs) -> float:
    """Probability that the best reading is right."""
    return min(MOST, *(each.bound for each in doubts(seen)))


def unlucky(seen: Signs) -> float:
    """The most that is said where part of the scores is chance."""
    return 0.5 + 0.45 * seen.reliability


def _in_errors(best: Candidate, other: Candidate) -> float:
    """The lead of a reading in standard errors (Vuong's test), by what users answered.

    Or by the evidence if that is less: it counts what each reading made fit.
    """
    weights = best.model.weights * best.model.here
    ahead = best.model.told(best.solution) - other.model.told(other.solution)
    total = float(weights @ ahead)
    spread = float(weights @ (ahead - total / weights.sum()) ** 2)
    lead = best.solution.evidence - best.penalty - other.solution.evidence + other.penalty
    return min(total, max(lead, 0.0)) / max(float(np.sqrt(spread)), 1e-9)


def _together(score: Floats, uses: list[Floats]) -> float:
    """The multiple correlation of a score with the uses of three or more labels."""
    if len(uses) < 3 or len(score) < 3 * len(uses):
        return 0.0
    table = np.column_stack([np.ones(len(score)), *uses[1:]])
    fitted = table @ np.linalg.lstsq(table, score, rcond=None)[0]
    return correlation(fitted, score)
