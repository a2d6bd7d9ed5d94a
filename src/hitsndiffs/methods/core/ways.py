"""Readings with probabilities: before anything is known of the key, and after.

The first reading is as likely as the doubts allow. What is left is shared by those that disagree
with it, as far as their evidence goes; the rest stays with "none of them".

Readings were found without what is known. Each takes it as evidence, and all are *weighed* by how
well they foresaw it, not chosen: the ranking follows the mean of their keys. So one answer moves a
ranking as far as it should, and does not turn it round.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.methods.core.everybody import joined
from hitsndiffs.methods.core.keyed import keyed
from hitsndiffs.methods.core.known import Known
from hitsndiffs.methods.core.model import Model
from hitsndiffs.methods.core.search import SET_BACK, Found
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.solution import Solution
from hitsndiffs.methods.core.table import Table
from hitsndiffs.methods.core.witnesses import DISAGREE
from hitsndiffs.methods.counting import SHEETS

__all__ = ["ALONE", "LEAST", "NONE_OF_THEM", "Way", "informed", "ways_of"]

#: Chance that none of the readings is right, at least.
NONE_OF_THEM = 0.05
#: Answers are less independent than they count: this many nats have odds of e to one.
NATS = 10.0
#: Readings that disagree are as likely as this together, if the doubts leave so much: known answers
#: could not turn an order otherwise.
RIVALS = 0.1
#: Most readings that are kept, and the least probability that counts.
MOST_READINGS, LEAST = 5, 1e-3
#: The start of the reading that rests on the known answers alone.
ALONE = "known answers"
#: Rounds to take in what is known.
REFIT = 10


@dataclass(frozen=True, eq=False)
class Way:
    """A way to read all answers: its probability, its key for everything, what it was fitted by."""

    start: str
    probability: float
    evidence: float
    key: Floats
    model: Model
    solution: Solution
    label: int | None = None


def ways_of(found: Found, table: Table, sure: float, *, all_of_them: bool) -> list[Way]:
    """The readings that matter, with probabilities, for all answers of a table.

    Parameters
    ----------
    found
        The readings.
    table
        All answers; the readings may have been found on a part of them.
    sure
        How sure the first reading is, together with those that agree with it.
    all_of_them
        Whether all are needed to the end: to rank by one of them, or to weigh them.
    """
    best = found.best.solution.key
    with_it = np.array(
        [found.witnesses.agree(best, each.solution.key) >= DISAGREE for each in found.readings]
    )
    with_it[0] = True
    odds = _log_odds(found)
    chance = np.where(with_it, np.exp(odds), 0.0)
    share = sure * chance / chance.sum()
    if not with_it.all():
        left = max(1 - sure - NONE_OF_THEM, 0.0)
        others = np.where(with_it, 0.0, np.exp(odds - odds[~with_it].max()))
        explained = min(float(np.exp(odds[~with_it].max())), 1.0)
        share += max(left * explained, min(left, RIVALS)) * others / others.sum()
    made: list[Way] = []
    for number, (each, probability) in enumerate(zip(found.readings, share, strict=True)):
        many = probability < LEAST or len(made) >= MOST_READINGS
        # (it takes long to continue with all answers one that agrees)
        many |= found.table is not table and bool(with_it[number]) and not all_of_them
        if number == 0 or not many:
            # (nobody is ranked by the others until something is told)
            settle = number == 0 or all_of_them
            fitted = joined(each, found.table, table, settle=settle)
            key, evidence = fitted[1].key, each.evidence
            made.append(Way(each.start, float(probability), evidence, key, *fitted, each.label))
        elif with_it[number]:
            made[0] = replace(made[0], probability=made[0].probability + float(probability))
    return made


def _log_odds(found: Found) -> Floats:
    """How far each reading is behind the best that counts users in the same way.

    What counts in full: the prior odds against marks; that counting near-equal sheets once is no
    way to rank; how clearly the witnesses hold a reading for upside down.
    """
    best: dict[str, float] = {}
    odds = []
    for each in found.readings:
        evidence, prior = each.evidence + each.penalty, max(each.penalty, 0.0)
        if each.penalty >= SET_BACK:
            prior = abs(found.witnesses.direction(each.solution.key))
        prior += 1.0 if each.counting == SHEETS else 0.0
        lead = best.setdefault(each.counting, evidence) - evidence
        odds.append(-min(max(lead, 0.0) / NATS, 100.0) - prior)
    return np.array(odds)


def informed(
    ways: list[Way], table: Table, known: Known, settings: Settings
) -> tuple[list[Way], float | None]:
    """Every way takes in what is known, weighed by how well it foresaw it; and the error rate."""
    items, weights = table.items, ways[0].model.weights
    alone = keyed(table, known, settings, weights) if known.doubtful.any() else None
    if alone is not None:
        known = known.weighed(alone.key)
    popular = items.share(table.counts + 1)
    made = [_told(way, known, known.start(items, way.key)) for way in ways]
    logs = [
        np.log(max(way.probability, LEAST)) + known.foreseen(items, way.key, popular)
        for way in ways
    ]
    # none of them: what is known, with votes elsewhere, leads somewhere, if it leads anywhere else
    left = max(1 - sum(way.probability for way in ways), NONE_OF_THEM)
    guess = items.share((table.counts + 0.5) ** 2) if alone is None else alone.foreseen
    none = np.log(left) + known.foreseen(items, guess, popular)
    plain = Model(table, settings, weights)
    start = plain.begin(known.start(items, guess))
    rest = _told(Way(ALONE, left, -np.inf, guess, plain, start), known, start.key)
    if min(table.apart(rest.key, way.key) for way in made) > settings.same_reading:
        same = [way.evidence for way in made if way.model.weights is weights]
        behind = np.clip(max(same, default=0.0) - rest.evidence, 0.0, -NATS * np.log(LEAST))
        logs.append(none - behind / NATS)
        made.append(rest)
    most = max(*logs, none)
    chances = np.exp(np.array(logs) - most)
    chances /= chances[: len(ways)].sum() + np.exp(none - most)
    made = [
        replace(way, probability=float(chance))
        for way, chance in zip(made, chances, strict=True)
        if chance >= LEAST or chance == chances.max()
    ]
    made.sort(key=lambda way: -way.probability)
    # the ranking follows the mean of all, and is told by the way nearest to it
    weight = [way.probability for way in made]
    key = np.average([way.key for way in made], axis=0, weights=weight)
    rate = None if alone is None else float(known.wrong[known.doubtful].mean())
    return [replace(made[0], key=key), *made[1:]], rate


def _told(way: Way, known: Known, key: Floats) -> Way:
    """A way that has taken in what is known."""
    old, items = way.model, way.model.table.items
    active = None
    if way.label is not None:
        active = old.active.copy()
        active[known.options] = True
    prior = known.prior(items)
    model = Model(old.table, old.settings, old.weights, prior, active, habits=old.habits)
    found = model.fit(replace(way.solution, key=key), REFIT)
    return replace(way, evidence=found.evidence, key=found.key, model=model, solution=found)
