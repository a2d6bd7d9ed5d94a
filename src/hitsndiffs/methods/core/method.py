"""The latent-key estimator: readings, what is known, everybody's scores, and doubt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.progress import step
from hitsndiffs.data.words import count
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Method
from hitsndiffs.methods.core.doubt import doubts, sureness
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
from hitsndiffs.methods.core.witnesses import DISAGREE, correlation
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
    starts
        Where the readings came from, in their order.
    ability_mean, ability_sd
        Of the population: logits above chance.
    label_shares
        Each label and how often it is right, where all items share two labels.
    error_rate
        Of the key that was given, if one was.
    """

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
        asked = np.arange(data.n_users) if users is None else users
        table = Table.of(data, users)
        weights = None
        if self.group is not None:
            weights = data.collect(group_weights(data, self.group))[asked]
        # 2. the distinct readings, found on a part of them
        step("comparing readings")
        part = compared_part(table, data, users, settings)
        names: list[str] = []
        if weights is None and part.n_users <= MOST_NAMED:
            names = [str(user) for user in data.user_labels(asked)]
        found = find(part, settings, weights=weights, names=names)
        found = continued(found, table)
        counted = None if weights is not None else _counted(found, asked)
        found = self._with_strong(found, data, asked)
        # 3. how sure the best one is, and what is left for the others; what is known weighs them
        why = doubts(found)
        told = bool(known) or self.reading > 1
        ways = ways_of(found, table, sureness(why), all_of_them=told)
        rate = None
        if known:
            step("taking in what is known")
            ways, rate = informed(ways, table, known, settings)
        # 4. everybody's scores by one of them
        n = data.answers_per_user
        readings, ways = _told(data, table, ways)
        if not 1 <= self.reading <= len(ways):
            many = f"{len(ways)} way{'s' if len(ways) > 1 else ''}"
            raise InputError(
                f"reading must be from 1 to {len(ways)}: the answers can be read in {many}; got "
                f"{self.reading}."
            )
        limit = sureness(why)
        if known:  # what is known settles all but the chance in the other items
            left = 1 - len(known.options) / data.n_items
            limit = 1 - (1 - next(each.bound for each in why if each.code == "noise")) * left
        readings[0] = replace(readings[0], probability=min(readings[0].probability, limit))
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
        return Fit(
            scores=correct,
            option_weights=key,
            key_probabilities=key,
            correct=correct,
            abilities=(ability - population.mean) / sd,
            standard_errors=np.sqrt(chance + doubt) / n,
            ability_errors=error / sd,
            confidence=readings[self.reading - 1].probability,
            converged=True,
            n_iterations=solution.rounds,
            readings=tuple(readings),
            questions=_questions(data, readings, known),
            doubts=why,
            alike=counted,
            notes=() if counted is None or not counted.count else (_said(counted, table.n_users),),
            learnt=Learning(
                starts=tuple(way.start for way in ways),
                ability_mean=population.mean,
                ability_sd=sd,
                label_shares=_label_shares(table, population.share),
                error_rate=rate,
            ),
        )

    def _with_strong(self, found: Found, data: Engine, users: Ints) -> Found:
        """Readings that place the strong user below the median come last."""
        number = None if self.strong_user is None else data.user_number(self.strong_user)
        place = np.flatnonzero(users == number)
        here = found.table.per_user > 0
        if not here[place].any():
            return found

        def low(each: Candidate) -> bool:
            score = found.table.score(each.solution.key)
            return bool(score[place[0]] < np.median(score[here]))

        return replace(found, readings=tuple(sorted(found.readings, key=low)))


def _counted(found: Found, users: Ints) -> AlikeUsers:
    """Those who do not count as one witness each in the best reading."""
    weights = found.best.model.weights
    less = np.flatnonzero(weights < 1)
    return AlikeUsers(len(less), tuple(users[less][:100].tolist()), float(1 - weights.mean()))


def _said(counted: AlikeUsers, of: int) -> str:
    least = round(counted.count - counted.share * of)
    return (
        f"{counted.count:,} of {of:,} users have nearly the same unusual answers as others, or are "
        f"repeated runs: together they count as {count(least, 'user')} (--group overrules this)."
    )


def _label_shares(table: Table, share: Any) -> tuple[tuple[str, float], ...]:
    if not table.two:
        return ()
    names = [str(table.items.option_labels[table.labels[0] == k][0]) for k in range(2)]
    return tuple(zip(names, np.exp(share).tolist(), strict=True))


def _told(data: Engine, table: Table, ways: list[Way]) -> tuple[list[Reading], list[Way]]:
    """The ways as readings; those that agree about who is good are one, as sure as all of them.

    One that rests on the known answers alone makes none of the others surer.
    """
    says = "every item has one right answer of its own"
    if table.two:
        says = "all items share two labels, and people lean more or less towards one of them"
    made: list[Reading] = []
    first: list[Way] = []
    owns: list[Any] = []  # (once something is known the first way's key is the mean of all)
    for way in ways:
        own = shares = data.choices(np.nan_to_num(way.key)) / data.answers_per_user
        if way.key is not way.solution.key:
            own = data.choices(way.solution.key) / data.answers_per_user
        for place, other in enumerate(made):
            if correlation(own, owns[place]) >= DISAGREE:
                more = 0.0 if way.start == ALONE else way.probability
                made[place] = replace(other, probability=min(other.probability + more, 1.0))
                break
        else:
            agreement = correlation(shares, made[0].correct if made else shares)
            made.append(Reading(way.probability, way.evidence, agreement, says, way.key, shares))
            first.append(way)
            owns.append(own)
    return made, first


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
