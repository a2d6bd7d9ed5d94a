"""From starts to readings: the distinct solutions, compared by one objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.methods.core.directions import Witnesses
from hitsndiffs.methods.core.model import Model
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.solution import Solution
from hitsndiffs.methods.core.starts import one_label, starts
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.counting import EVERYBODY, SHEETS, UNUSUAL, ways_to_count
from hitsndiffs.methods.labels import mark_in_words

__all__ = ["Candidate", "Found", "find"]

#: What a reading loses that the witnesses hold for upside down: it comes last.
SET_BACK = 1e6


@dataclass(frozen=True, eq=False)
class Candidate:
    """A reading in the making.

    Attributes
    ----------
    start
        Where it came from.
    model, solution
        What was fitted.
    penalty
        What it loses by its direction, and its prior (nats).
    counting
        Who counts as a witness in it (see :mod:`hitsndiffs.methods.counting`).
    label
        The label that is right in every item, if it is such a reading.
    whole, judged
        What was fitted to all answers, and its evidence if readings are compared by it; of a
        reading that was found on a part of them.
    """

    start: str
    model: Model
    solution: Solution
    penalty: float
    counting: str
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
            flat = np.log(model.table.options_each)
            found += float(
                flat[model.asked & (model.table.within(model.active.astype(float)) > 0)].sum()
            )
        return found - self.penalty


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
    table: Table, settings: Settings, *, weights: Floats | None = None,
    prior: Floats | None = None, names: Sequence[str] = (),
) -> Found:  # fmt: skip
    """The distinct readings of a table; ``weights`` say who counts, else it is seen from answers.

    Runs of one source are found by the users' names.
    """
    witnesses = Witnesses(table)
    # 1. who counts: everybody, or those who answer alike once. Where items share two labels,
    #    near-equal sheets are nothing unusual
    ways = {EVERYBODY: np.ones(table.n_users) if weights is None else weights}
    if settings.copies and weights is None:
        ways |= ways_to_count(table.user, table.option, table.of_option, names, table.n_users)
        if table.two:
            ways.pop(SHEETS, None)
    keys = starts(table, witnesses.axes)
    if table.two:
        assert witnesses.confusions_key is not None
        assert witnesses.axis_key is not None
        keys["confusions"] = witnesses.confusions_key
        keys["double-centred"] = table.items.share(0.9 * witnesses.axis_key + 0.05)
    # 2. from every start a few rounds; the distinct ones, the best of them to the end. Copies
    #    counted once come first: a clique may have made itself the truth. Other ways to count show
    #    whether that matters; they start from the votes and from what was found
    first = UNUSUAL if UNUSUAL in ways else EVERYBODY
    model = Model(table, settings, ways[first], prior)
    final = _readings(model, keys, first, witnesses)
    # 3. where labels are shared, some answers may be given by habit: if that explains far more
    if settings.habits and table.coded and 2 < table.labels[1] <= settings.most_habits:
        habits = Model(table, settings, ways[first], prior, habits=True)
        ahead = final[0].evidence + settings.habit_gain
        others = _readings(habits, keys, first, witnesses, ahead)
        if others and others[0].evidence > ahead:
            model, final = habits, others
    if first != EVERYBODY:
        again = {"majority": keys["majority"]}
        again |= {each.start: each.solution.key for each in final[:3]}
        everybody = Model(table, settings, ways[EVERYBODY], prior, habits=model.habits)
        final += _readings(everybody, again, EVERYBODY, witnesses)
    if SHEETS in ways:
        votes = sums(ways[SHEETS][table.user], table.option, table.n_options)
        votes = table.items.share((votes + 0.5) ** 2)
        sheets = Model(table, settings, ways[SHEETS], prior)
        final += _readings(sheets, {"majority": votes}, SHEETS, witnesses)
    if table.two and _may_be_marks(table, settings):
        marks = (first, ways[first])
        final += [_marks(table, label, marks, settings, prior) for label in (0, 1)]
    order = (first, EVERYBODY, SHEETS)
    final.sort(key=lambda each: (order.index(each.counting), -each.evidence))
    return Found(table, tuple(final), witnesses)


def _readings(
    model: Model, keys: dict[str, Floats], counting: str, witnesses: Witnesses,
    ahead: float = -np.inf,
) -> list[Candidate]:  # fmt: skip
    """The distinct readings that a model is led to from some keys, the best first.

    None if the first rounds say that none of them can come ahead of another model's evidence.
    """
    settings, made = model.settings, []
    for name, key in keys.items():
        fitted = _fit(model, model.begin(key), settings)
        made.append(_judged(Candidate(name, *fitted, 0.0, counting), witnesses, settings))
    best = _distinct(made, settings)[: settings.kept_readings]
    if best[0].evidence < ahead - settings.late_gain:
        return []
    done: list[Candidate] = []
    for each in best:
        first = max((other.evidence for other in done), default=-np.inf)
        solution = each.model.fit(each.solution, settings.rounds, reach=first + each.penalty)
        done.append(_judged(replace(each, solution=solution), witnesses, settings))
    return _distinct(done, settings)


def _fit(model: Model, start: Solution, settings: Settings) -> tuple[Model, Solution]:
    """A few rounds with all candidates, and a few without those that are ruled out."""
    found = model.fit(start, settings.screen_rounds)
    model = model.narrowed(found.key)
    found = model.fit(found, settings.screen_rounds)
    model = model.narrowed(found.key)
    return model, model.fit(found, 2)


def _may_be_marks(table: Table, settings: Settings) -> bool:
    """Whether there are enough answers to tell how hard items are, and leaning from ability."""
    per_user, per_item = (x[x > 0].mean() for x in (table.per_user, table.per_item))
    return bool(per_user >= settings.marks_per_user and per_item >= settings.marks_per_item)


def _marks(
    table: Table, label: int, rule: tuple[str, Floats], settings: Settings, prior: Floats | None
) -> Candidate:
    """One label is right in every item: marks, not answers.

    Then there is no leaning, and ability may be below chance. Which of the two labels it is cannot
    be seen: tests are rather easy than hard, and words may say it.
    """
    plain = replace(
        settings, leaning=False, class_share=False, truncated=False,
        least_mean=-np.inf,
    )  # fmt: skip
    counting, weights = rule
    key = one_label(table, label)
    model = Model(table, plain, weights, prior, key > 0)
    solution = model.fit(model.begin(key), settings.rounds)
    ease = solution.population.raw_mean
    penalty = 0.5 * ((ease - settings.ease) / settings.ease_sd) ** 2 - settings.marks_prior
    said = mark_in_words(table.items)
    if said is not None:
        is_it = (table.items.option_labels[table.labels[0] == label][0]) == said
        penalty += settings.marks_prior + (-settings.said_marks if is_it else settings.said_marks)
    return Candidate(f"label {label}", model, solution, penalty, counting, label)


def _judged(each: Candidate, witnesses: Witnesses, settings: Settings) -> Candidate:
    """The same with what it loses by its direction."""
    penalty = 0.0
    if each.label is not None:
        return each
    if settings.direction and witnesses.table.two:
        if witnesses.direction(each.solution.key) < 0:
            penalty = SET_BACK
    elif each.solution.population.raw_mean < settings.least_mean:
        penalty = settings.upside_down
    return replace(each, penalty=penalty)


def _distinct(made: list[Candidate], settings: Settings) -> list[Candidate]:
    """The best of those with nearly the same key, by the same rule of who counts."""
    kept: list[Candidate] = []
    for each in sorted(made, key=lambda each: -each.evidence):
        table, key = each.model.table, each.solution.key
        asked = max(float((table.per_item > 0).sum()), 1.0)
        apart = (
            np.abs(key - other.solution.key).sum() / (2 * asked)
            for other in kept
            if other.counting == each.counting
        )
        if min(apart, default=1.0) > settings.same_reading:
            kept.append(each)
    return kept
