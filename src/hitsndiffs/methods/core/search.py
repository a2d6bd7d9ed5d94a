"""From starts to readings: the distinct solutions, compared by one objective."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.methods.core.model import Model
from hitsndiffs.methods.core.settings import OFF, Settings
from hitsndiffs.methods.core.solution import Solution
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.core.witnesses import Witnesses
from hitsndiffs.methods.counting import EVERYBODY, SHEETS, UNUSUAL, ways_to_count
from hitsndiffs.methods.labels import mark_in_words

__all__ = ["SET_BACK", "Candidate", "Found", "find"]

#: What a reading loses that the witnesses hold for upside down: it comes last.
SET_BACK = 1e6
#: What the last rounds add to a reading's evidence, at most (nats).
LATE_GAIN = 100.0


@dataclass(frozen=True, eq=False)
class Candidate:
    """A reading in the making.

    Attributes
    ----------
    start
        Where it came from.
    model, solution
        What was fitted.
    counting
        Who counts as a witness in it (see :mod:`hitsndiffs.methods.counting`).
    penalty
        What it loses by its direction, and its prior (nats).
    label
        The label that is right in every item, if it is such a reading.
    whole, judged
        What was fitted to all answers, and its evidence if readings are compared by it; of a
        reading that was found on a part of them.
    """

    start: str
    model: Model
    solution: Solution
    counting: str
    penalty: float = 0.0
    label: int | None = None
    whole: tuple[Model, Solution] | None = None
    judged: float | None = None

    @property
    def evidence(self) -> float:
        """What readings are compared by."""
        found, model = self.solution.evidence, self.model
        if self.judged is not None and self.whole is not None:
            found, model = self.judged, self.whole[0]
        if self.label is not None:  # one label for all: the flat prior of every key is not needed
            has = np.zeros(model.table.n_items, dtype=bool)
            has[model.table.of_option[model.active]] = True
            found += float(np.log(model.table.options_each)[model.asked & has].sum())
        return found - self.penalty

    def fitted(self, rounds: int) -> Candidate:
        """The same after some rounds, without the options that are ruled out as keys."""
        solution = self.model.fit(self.solution, rounds)
        return replace(self, model=self.model.narrowed(solution.key), solution=solution)

    def apart(self, other: Candidate) -> float:
        """The share of the key in which two readings differ."""
        return self.model.table.apart(self.solution.key, other.solution.key)


@dataclass(frozen=True, eq=False)
class Found:
    """The distinct readings of a table, the likeliest first, and the witnesses."""

    table: Table
    readings: tuple[Candidate, ...]
    witnesses: Witnesses

    @property
    def best(self) -> Candidate:
        """The likeliest reading."""
        return self.readings[0]


def find(
    table: Table, settings: Settings, *, weights: Floats | None = None, names: Sequence[str] = ()
) -> Found:
    """The distinct readings of a table; ``weights`` say who counts, else it is seen from answers.

    Runs of one source are found by the users' names.
    """
    witnesses = Witnesses(table)
    # 1. who counts: everybody, or those who answer alike once. Where items share two labels,
    #    near-equal sheets are nothing unusual
    counts = {EVERYBODY: np.ones(table.n_users) if weights is None else weights}
    if settings.witnesses and weights is None:
        counts |= ways_to_count(table.user, table.option, table.of_option, names, table.n_users)
        if table.two:
            counts.pop(SHEETS, None)
    # 2. from every start a few rounds; the distinct ones, the best of them to the end. Copies
    #    counted once come first: a clique may have made itself the truth
    first = UNUSUAL if UNUSUAL in counts else EVERYBODY
    starts, habits = witnesses.starts(), False
    found = _readings(Model(table, settings, counts[first]), starts, first, witnesses)
    # 3. where labels are shared, some answers may be given by habit: if that explains far more
    if settings.habits and table.coded and not table.two:
        model = Model(table, settings, counts[first], habits=True)
        ahead = found[0].evidence + settings.habit_gain
        others = _readings(model, starts, first, witnesses, ahead)
        habits = bool(others) and others[0].evidence > ahead
        found = others if habits else found
    # 4. other ways to count show whether that matters; they start from votes and what was found
    again = {each.start: each.solution.key for each in found[:3]}
    for counting in sorted(counts.keys() - {first}):
        votes = sums(counts[counting][table.user], table.option, table.n_options)
        keys = {"majority": table.items.share((votes + 0.5) ** 2)}
        if counting == EVERYBODY:
            keys |= again
        model = Model(table, settings, counts[counting], habits=habits and counting != SHEETS)
        found += _readings(model, keys, counting, witnesses)
    if table.two:
        found += _marks(table, settings, first, counts[first])
    order = (first, EVERYBODY, SHEETS)
    found.sort(key=lambda each: (order.index(each.counting), -each.evidence))
    return Found(table, tuple(found), witnesses)


def _readings(
    model: Model, keys: Mapping[str, Floats], counting: str, witnesses: Witnesses,
    ahead: float = -np.inf,
) -> list[Candidate]:  # fmt: skip
    """The distinct readings that a model is led to from some keys, the best first.

    None if the first rounds say that none of them can come ahead of another model's evidence.
    """
    settings = model.settings

    def distinct(made: list[Candidate]) -> list[Candidate]:
        kept: list[Candidate] = []
        made = [
            replace(each, penalty=SET_BACK * witnesses.against(each.solution.key)) for each in made
        ]
        for each in sorted(made, key=lambda each: -each.evidence):
            if all(each.apart(other) > settings.same_reading for other in kept):
                kept.append(each)
        return kept

    # a few rounds with all candidates, and a few without those that are ruled out
    made = [Candidate(name, model, model.begin(key), counting) for name, key in keys.items()]
    for rounds in (settings.screen_rounds, settings.screen_rounds, 2):
        made = distinct([each.fitted(rounds) for each in made])
    best = made[: settings.kept_readings]
    if best[0].evidence < ahead - LATE_GAIN:
        return []
    return distinct([each.fitted(settings.rounds) for each in best])


def _marks(table: Table, settings: Settings, counting: str, weights: Floats) -> list[Candidate]:
    """One label is right in every item: marks, not answers.

    Then there is no leaning, and ability may be below chance. Which of the two labels it is cannot
    be seen: tests are rather easy than hard, and words may say it.
    """
    plain = replace(settings, leaning_variance=OFF, class_share=False, truncated=False)
    said = mark_in_words(table.items)
    made: list[Candidate] = []
    counts = (table.per_user, table.per_item)
    if min(x[x > 0].mean() for x in counts) < settings.marks_least:
        return made
    for label in (0, 1):
        key = table.one_label(label)
        name = table.items.option_labels[table.labels[0] == label][0]
        if said is not None and name != said:
            continue
        model = Model(table, plain, weights, active=key > 0)
        solution = model.fit(model.begin(key), settings.rounds)
        ease = solution.population.mean - settings.ability_mean
        penalty = 0.5 * ease**2 / settings.ability_variance
        penalty -= settings.marks_prior if said is None else 0.0
        made.append(Candidate(f"label {label}", model, solution, counting, penalty, label))
    return made
