"""The latent-key estimator: readings, what is known, everybody's scores, and doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.progress import step
from hitsndiffs.data.words import count
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Method
from hitsndiffs.methods.core.directions import correlation
from hitsndiffs.methods.core.doubt import DISAGREE, Signs, doubts, signs, sureness, unlucky
from hitsndiffs.methods.core.everybody import (
    abilities_of_all,
    compared_part,
    continued,
    users_to_fit,
)
from hitsndiffs.methods.core.known import Known, known_key
from hitsndiffs.methods.core.search import Candidate, Found, find
from hitsndiffs.methods.core.settings import DEFAULT, Settings
from hitsndiffs.methods.core.table import Table
from hitsndiffs.methods.core.ways import ALONE, LEAST, NONE_OF_THEM, Way, informed, ways_of
from hitsndiffs.methods.counting import group_weights
from hitsndiffs.methods.fitted import AlikeUsers, Fit, Learnt
from hitsndiffs.methods.readings import Question, Reading, questions

__all__ = ["LatentKey", "Learning"]

#: Names are looked at among so many users, at most: that takes their text.
MOST_NAMED = 10_000


@dataclass(frozen=True)
class Learning(Learnt):
    """What the model learnt besides scores and key.

    Attributes
    ----------
    signs
        What the confidence is computed from.
    starts
        Where the readings came from, in their order.
    ability_mean, ability_sd
        Of the population: logits above chance.
    label_shares
        Each label and how often it is right, where all items share two labels.
    error_rate
        Of the key that was given, if one was.
    """

    signs: Signs
    starts: tuple[str, ...]
    ability_mean: float
    ability_sd: float
    label_shares: tuple[tuple[str, float], ...] = ()
    error_rate: float | None = None


@dataclass(kw_only=True, eq=False)
class LatentKey(Method):
    """One unknown right answer per item; the evidence decides which.

    Parameters
    ----------
    group
        Which group each user belongs to (user → group): runs of one model, a team, a classroom.
        Each group counts as one witness, whatever its size; all members are still ranked.
    answers
        Known right answers (item → option): sure.
    key
        An answer key that may err (item → option), of some items or all.
    strong_user
        A user known to be strong: readings that place that user low come last.
    reading
        The number of the reading to rank by: 1 is the likeliest, 2 the next, and so on.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("ABCA"), list("ABCB"), list("ABDA"), list("CDCA")])
    >>> LatentKey().fit(r).correct_.argmax().item()
    0
    """

    name: ClassVar[str] = "latent-key"
    summary: ClassVar[str] = "one unknown right answer per item, chosen by evidence"
    use: ClassVar[str] = "tests, quizzes, language models: items with one right answer each"
    needs_memory: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = True
    #: The model's terms and numbers (the ablation changes them).
    settings: ClassVar[Settings] = DEFAULT

    group: Mapping[Any, Any] | None = None
    answers: Mapping[Any, Any] | None = None
    key: Mapping[Any, Any] | None = None
    strong_user: Any = None
    reading: int = 1

    def _fit(self, data: Engine) -> Fit:
        settings = self.settings
        known = known_key(data.items, self.answers, self.key)
        # 1. some of the answers, or all, as arrays
        users = users_to_fit(data, settings)
        table = Table.of(data, users)
        weights = None if self.group is None else data.collect(group_weights(data, self.group))
        if weights is not None and users is not None:
            weights = weights[users]
        # 2. the distinct readings, found on a part of them
        step("comparing readings")
        part = compared_part(table, data, users, settings)
        names: list[str] = []
        if weights is None and part.n_users <= MOST_NAMED:
            asked = np.arange(data.n_users) if users is None else users
            names = [str(user) for user in data.user_labels(asked)]
        found = find(part, settings, weights=weights, names=names)
        found = continued(found, table)
        counted = None if weights is not None else _counted(found, users)
        found = self._with_strong(found, data, users)
        seen = signs(found)
        told = bool(known) or self.reading > 1
        ways = ways_of(found, table, sureness(seen), all_of_them=told)
        # 3. what is known weighs them
        rate = None
        if known:
            step("taking in what is known")
            ways, rate = informed(ways, table, known, settings)
        # 4. everybody's scores by one of them
        return self._result(data, table, ways, users, seen, known, rate, counted)

    # -- readings ---------------------------------------------------------------------------

    def _with_strong(self, found: Found, data: Engine, users: Any) -> Found:
        """Readings that place the strong user below the median come last."""
        if self.strong_user is None:
            return found
        number = data.user_number(self.strong_user)
        if number is not None and users is not None:
            place = np.flatnonzero(users == number)
            number = int(place[0]) if len(place) else None
        if number is None or found.table.per_user[number] == 0:
            return found
        here = found.table.per_user > 0

        def low(each: Candidate) -> bool:
            score = found.table.score(each.solution.key)
            return bool(score[number] < np.median(score[here]))

        return replace(found, readings=tuple(sorted(found.readings, key=low)))

    # -- the result -------------------------------------------------------------------------

    def _result(
        self, data: Engine, table: Table, ways: list[Way], users: Any, seen: Signs,
        known: Known, rate: float | None, counted: AlikeUsers | None,
    ) -> Fit:  # fmt: skip
        if not 1 <= self.reading <= len(ways):
            many = f"{len(ways)} way{'s' if len(ways) > 1 else ''}"
            raise InputError(
                f"reading must be from 1 to {len(ways)}: the answers can be read in {many}; got "
                f"{self.reading}."
            )
        n = data.answers_per_user
        chosen = ways[self.reading - 1]
        key = known.settled(data.items, chosen.key)
        correct = data.choices(np.nan_to_num(key)) / n
        solution, population = chosen.solution, chosen.solution.population
        if users is None:
            ability, error, chance = (
                data.user_array(table.alike(values))
                for values in (solution.ability, solution.ability_error, solution.chance)
            )
        else:
            ability, error, chance = abilities_of_all(data, chosen.model, solution)
        sd = float(np.sqrt(population.variance))
        doubt = data.choices(np.nan_to_num(key * (1 - key)))
        first = data.choices(np.nan_to_num(ways[0].key)) / n
        readings = []
        for way in ways:
            shares = data.choices(np.nan_to_num(way.key)) / n
            agreement = correlation(shares, first)
            readings.append(
                Reading(way.probability, way.evidence, agreement, _says(table), way.key, shares)
            )
        # a reading is as sure as all that agree with it
        merged = _together(readings, ways)
        # readings that agree do not make each other surer than the bounds allow; what is known
        # settles all but the chance in the other items
        limit = sureness(seen)
        if known:
            told = len(known.options) / data.n_items
            limit = 1 - (1 - unlucky(seen)) * (1 - told)
        merged[0] = replace(merged[0], probability=min(merged[0].probability, limit))
        asked = _questions(data, merged, known)
        why = doubts(seen)
        labels: tuple[tuple[str, float], ...] = ()
        if table.two:
            names = [str(data.items.option_labels[table.labels[0] == k][0]) for k in range(2)]
            labels = tuple(zip(names, np.exp(population.share).tolist(), strict=True))
        return Fit(
            scores=correct,
            option_weights=key,
            key_probabilities=key,
            correct=correct,
            abilities=(ability - population.mean) / sd,
            standard_errors=np.sqrt(chance + doubt) / n,
            ability_errors=error / sd,
            confidence=merged[self.reading - 1].probability,
            converged=True,
            n_iterations=solution.rounds,
            readings=tuple(merged),
            questions=asked,
            doubts=why,
            alike=counted,
            notes=() if counted is None or not counted.count else (_said(counted, table.n_users),),
            learnt=Learning(
                signs=seen,
                starts=tuple(way.start for way in ways),
                ability_mean=population.mean,
                ability_sd=sd,
                label_shares=labels,
                error_rate=rate,
            ),
        )


def _counted(found: Found, users: Any) -> AlikeUsers:
    """Those who do not count as one witness each in the best reading."""
    weights = found.best.model.weights
    less = np.flatnonzero(weights < 1)
    named = less if users is None else users[less]
    return AlikeUsers(len(less), tuple(named[:100].tolist()), float(1 - weights.mean()))


def _said(counted: AlikeUsers, of: int) -> str:
    least = round(counted.count - counted.share * of)
    return (
        f"{counted.count:,} of {of:,} users have nearly the same unusual answers as others, or are "
        f"repeated runs: together they count as {count(least, 'user')} (--group overrules this)."
    )


def _says(table: Table) -> str:
    if table.two:
        return "all items share two labels, and people lean more or less towards one of them"
    return "every item has one right answer of its own"


def _together(readings: list[Reading], ways: list[Way]) -> list[Reading]:
    """Readings that agree about who is good, as one: the likeliest, as sure as all of them.

    One that rests on the known answers alone makes none of the others surer.
    """
    made: list[Reading] = []
    for each, way in zip(readings, ways, strict=True):
        for place, other in enumerate(made):
            if correlation(each.correct, other.correct) >= DISAGREE:
                more = 0.0 if way.start == ALONE else each.probability
                sure = min(other.probability + more, 1.0)
                made[place] = replace(other, probability=sure)
                break
        else:
            made.append(each)
    return made


def _questions(data: Engine, readings: list[Reading], known: Known) -> tuple[Question, ...]:
    """The items whose right answers would tell most."""
    open_ = np.ones(data.n_items)
    open_[data.items.of_option[known.options]] = 0.0
    open_[known.unseen] = 0.0
    popular = data.items.share(data.choosers_per_option.astype(float) + 1)
    keys = [0.6 * np.nan_to_num(each.key) + 0.4 * popular for each in readings]
    chances = [max(each.probability, LEAST) for each in readings]
    left = max(1 - sum(chances), NONE_OF_THEM)
    return questions(data.items, [*keys, popular], [*chances, left], data.answers_per_item, open_)
