"""How sure: what speaks against the best reading, each with what it bounds the confidence by.

A ranking is right when its order is ability and the right way up. The answers never say so
outright. What can be seen is how far the best reading is ahead of the next one that disagrees,
whether it matters who counts as a witness, and how much of the scores is chance. Rankings that
share no code with the model (votes, Dawid–Skene, the double-centred axis, the leading axes) are
witnesses: what they say makes one score. They bound the confidence; they never choose.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hitsndiffs.methods.core.search import SET_BACK, Candidate, Found
from hitsndiffs.methods.core.witnesses import DISAGREE, correlation, rank_correlation
from hitsndiffs.methods.counting import SHEETS
from hitsndiffs.methods.fitted import Doubt

__all__ = ["EITHER", "FOLLOWED", "FOLLOWS", "MOST_FOLLOWED", "doubts", "sureness"]

#: The most that is said without known answers, and where two explanations are left and nothing
#: tells them apart.
MOST, EITHER = 0.89, 0.55
#: Log odds of a direction: below them (nine to one) it is a toss-up.
WEAK = 2.2
#: Where the two simple rankings nearest to an order agree less well with it than this on average
#: (less two for each user who contradicts it throughout), they disagree; where all agree this well,
#: they outweigh a reading that some users would turn into the first. (Of 469 rankings of real and
#: simulated data, 49 are then wrong and said at more than .6, and 57 right and said at less; 50 and
#: 65 with a rule per witness.)
SUPPORTED = 0.75
#: An order follows a label's share above this correlation, if there are at most this many labels;
#: and it follows the use of three or more together above this multiple correlation. Then leaning to
#: labels would look the same, and no more than this is said.
FOLLOWS, MOST_FOLLOWED, FOLLOWS_ALL, FOLLOWED = 0.95, 12, 0.9, 0.75


def doubts(found: Found) -> tuple[Doubt, ...]:
    """The reasons for doubt, as codes with values, the strongest first."""
    made = (Doubt(code, float(value), float(bound)) for code, value, bound in _doubts(found))
    return tuple(sorted(made, key=lambda each: each.bound))


def sureness(of: tuple[Doubt, ...]) -> float:
    """Probability that the best reading is right."""
    return min(MOST, *(each.bound for each in of))


def _doubts(found: Found) -> Iterator[tuple[str, float, float]]:
    table, best, witnesses = found.table, found.best, found.witnesses
    key = best.solution.key
    reliability = _reliability(best)
    yield "noise", reliability, 0.5 + 0.45 * reliability

    # another reading, by the evidence; and one that other users' weights would give
    agree = [witnesses.agree(key, each.solution.key) for each in found.readings]
    mine = [each.counting == best.counting for each in found.readings]
    pairs = list(zip(found.readings, agree, mine, strict=True))
    rivals = [each for each, with_it, same in pairs if same and with_it < DISAGREE]
    if rivals:
        lead = min(best.evidence - each.evidence for each in rivals)
        yield "rival", lead, 0.5 + 0.39 * (1 - np.exp(-lead / 10))
    ways: dict[str, float] = {}
    for each, with_it, same in pairs:  # the best one of every other way to count
        if not same:
            ways.setdefault(each.counting, with_it)
    # (near-equal sheets once is the most careful way; that those who are alike outvote others is
    # no news)
    turned = ways.get(SHEETS, min(ways.values(), default=1.0))
    if turned < 0:
        yield "who counts", turned, EITHER

    # witnesses; and whether the lead is one of a few users (the rule of one standard error)
    along = _along(found)
    support = float(np.mean(sorted(along)[-2:])) - 2 * witnesses.contrary(key)
    if support < SUPPORTED:
        yield "witnesses", support, EITHER
    errors = [_in_errors(best, each) for each in rivals if each.penalty < SET_BACK]
    if np.mean(along) < SUPPORTED and min(errors, default=np.inf) < 1:
        yield "who took part", min(errors), EITHER

    # which way up
    if table.two:
        direction, informed = witnesses.direction(key), witnesses.informed(key)
        if direction < WEAK:
            yield "toss-up", direction, max(1 / (1 + np.exp(-direction)), 0.5)
        elif informed < 2:  # a few users more or less would turn it round
            yield "toss-up", informed, EITHER

    # the order is the use of labels
    follows, all_together = _follows(found)
    if best.label is not None:
        yield "marks", 1.0, EITHER
    elif follows > FOLLOWS or all_together > FOLLOWS_ALL:
        yield "follows", max(follows, all_together), FOLLOWED


def _along(found: Found) -> list[float]:
    """How far simple rankings go along with the best reading; axes have no direction."""
    table, witnesses, key = found.table, found.witnesses, found.best.solution.key
    score, here = table.score(key)[witnesses.here], witnesses.here
    places = [table.choices(axis) / np.maximum(table.per_user, 1) for axis in witnesses.axes.T]
    axes = [abs(rank_correlation(score, place[here])) for place in places]
    others = [witnesses.majority]
    if table.coded:
        others += [witnesses.confusions, witnesses.axis]
    return [max(axes, default=0.0), *(witnesses.agree(key, each) for each in others)]


def _reliability(best: Candidate) -> float:
    """Share of the scores' variance that is not chance."""
    table, weights = best.model.table, best.model.weights * best.model.here
    score = table.score(best.solution.key)
    mean = float(weights @ score) / weights.sum()
    spread = float(weights @ (score - mean) ** 2)
    noise = float(weights @ (best.solution.chance / np.maximum(table.per_user, 1) ** 2))
    return min(max(1 - noise / spread, 0.0), 1.0) if spread > 0 else 0.0


def _in_errors(best: Candidate, other: Candidate) -> float:
    """The lead of a reading in standard errors (Vuong's test), by what users answered.

    Or by the evidence if that is less: it counts what each reading made fit. A group that answers
    alike may outvote everybody else, and then the lead varies much from user to user.
    """
    weights = best.model.weights * best.model.here
    ahead = best.model.told(best.solution) - other.model.told(other.solution)
    total = float(weights @ ahead)
    spread = float(weights @ (ahead - total / weights.sum()) ** 2)
    lead = best.solution.evidence - best.penalty - other.solution.evidence + other.penalty
    return min(total, max(lead, 0.0)) / max(float(np.sqrt(spread)), 1e-9)


def _follows(found: Found) -> tuple[float, float]:
    """The largest correlation of the order with the use of one label, without its sign.

    And the multiple correlation with the uses of all, if there are three or more.
    """
    table, here = found.table, found.witnesses.here
    label, count = table.labels
    if not table.coded or count > MOST_FOLLOWED:
        return 0.0, 0.0
    score = table.score(found.best.solution.key)[here]
    uses = [table.score((label == each).astype(float))[here] for each in range(count)]
    one = max(abs(rank_correlation(score, use)) for use in uses)
    if count < 3 or len(score) < 3 * count:
        return one, 0.0
    columns = np.column_stack([np.ones(len(score)), *uses[1:]])
    return one, correlation(columns @ np.linalg.lstsq(columns, score, rcond=None)[0], score)
