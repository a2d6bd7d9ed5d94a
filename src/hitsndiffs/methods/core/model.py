"""The model: a hidden ability per user, an unknown key per item, one objective.

If candidate ``k`` is the key of item ``i``, then user ``u`` is right with

    logit P(right) = θ_u + δ_k + (e^{s_k} − 1)(θ_u − μ) ± β_u − log(options − 1)

θ is ability (0 = chance), δ and s the candidate's difficulty and slope, β the user's leaning where
two labels are shared (``+`` where the key is the first, ``−`` where it is the second). Wrong
answers fall on the other options by shares of the item's own, with a Dirichlet prior that is
integrated out. θ, δ, s and β have normal priors with learned variances. The key of each item is
summed over; its prior is flat, or the learned share of the classes, times what is known of it.

Each round takes a Newton step for items and one for users. The evidence is the Laplace
approximation of the log probability of the answers: the same for every kind of data, so readings
can be compared by it.
"""

from __future__ import annotations

import math
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Floats
from hitsndiffs.methods.core.cells import cells_of
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.solution import Habit, Population, Solution
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.probability import log_gamma

__all__ = ["SETTLED", "Model", "frequent"]

#: Most that a Newton step moves abilities, difficulties and leanings; and slopes.
STEP, SLOPE_STEP = 1.5, 0.5
#: A fit has settled when its evidence gains less (nats).
SETTLED = 0.05


class Model:
    """Fits one reading of a table, round by round.

    Parameters
    ----------
    table
        The answers.
    settings
        Terms and priors.
    weights
        How much each user counts as a witness.
    prior
        Log prior of each option as key, for what is known of it (0 without).
    active
        The candidates; by default the most frequent options.
    habits
        Whether some answers are given whatever is asked.
    """

    def __init__(
        self, table: Table, settings: Settings, weights: Floats | None = None,
        prior: Floats | None = None, active: Flags | None = None, *, habits: bool = False,
    ) -> None:  # fmt: skip
        self.table, self.settings, self.habits = table, settings, habits
        self.weights = np.ones(table.n_users) if weights is None else weights
        self.prior = np.zeros(table.n_options) if prior is None else prior
        self.side = 1.0 - 2.0 * table.labels[0] if table.two else None
        self.offset = np.log(table.options_each - 1)[table.of_option]
        self.wrong = self._wrong(self.weights[table.user])
        self.here, self.asked = table.per_user > 0, table.per_item > 0
        self._among(frequent(table, settings.most_candidates) if active is None else active)

    def _among(self, active: Flags) -> None:
        """Set the candidates."""
        self.active, self.cells = active, cells_of(self.table, active)
        # items without any candidate (not asked, or nobody is right) tell nothing of the key
        has = self.table.within(active.astype(float)) > 0
        self.keyless = ~has[self.table.of_option]
        self.weight = self.cells.asked
        if (self.weights != 1).any():
            self.weight = self.cells.asked * self.cells.of_users(self.weights[self.cells.users])

    def narrowed(self, key: Floats) -> Model:
        """The same model without the candidates that the key rules out."""
        same = copy(self)
        keep = self.active & (key > self.settings.least_key)
        if (keep != self.active).any():
            same._among(keep)
        return same

    # -- starting and fitting ---------------------------------------------------------------

    def begin(self, key: Floats) -> Solution:
        """A solution to start from: the key, and abilities by it."""
        table, settings = self.table, self.settings
        key = table.items.share(np.where(self.active, key, 0.0))
        right = table.right(key)
        ability = np.log((right + 1) / (table.per_user - right + 1))
        ability += float(np.log(table.options_each - 1)[self.asked].mean())
        n, nobody = table.labels[1], 0 * ability
        population = Population(
            mean=float(ability[self.here].mean()),
            variance=settings.ability_variance,
            difficulty=settings.difficulty_variance,
            slope=settings.slope_variance,
            leaning=settings.leaning_variance,
            lean=0.0,
            share=np.full(n, -np.log(n)),
        )
        zero = np.zeros(table.n_options)
        return Solution(key, ability, nobody, nobody, zero, zero + 1, population, -np.inf, nobody)

    def fit(self, start: Solution, rounds: int, tolerance: float = SETTLED) -> Solution:
        """Rounds until the evidence settles."""
        found, before = start, -np.inf
        for number in range(rounds):
            found = self.round(found)
            if number > 2 and abs(found.evidence - before) < tolerance:
                return replace(found, converged=True)
            before = found.evidence
        return found

    def round(self, old: Solution) -> Solution:
        """One round: candidates, keys, users, population."""
        # 1. difficulty and slope of every candidate, as if it were the key
        wrong, weight, asked = self.wrong, self.weight, self.cells.asked
        if old.habit is not None:  # answers by habit say nothing of keys and abilities
            keep = self.cells.of_answers(1 - old.habit.by_habit)
            wrong = self._wrong(self.weights[self.table.user] * (1 - old.habit.by_habit))
            weight, asked = weight * keep, asked * keep
        found = self._candidates(old, weight)
        if old.rounds == 0:
            found = self._candidates(
                replace(old, difficulty=found.difficulty, slope=np.exp(found.log_slope)), weight
            )
        # 2. the key: what each candidate explains, and its prior
        evidence = self._of_keys(found.evidence + wrong, old.population)
        key = np.where(self.keyless, 0.0, self.table.softmax(evidence))
        total = self._log_sum(evidence)
        # 3. everybody's ability and leaning, by all keys in proportion
        old, found = self._centred(old, found, key)
        users = self._users(old, key, found, asked)
        total += float((self.weights * users.log_prior)[self.here].sum())
        if old.habit is not None:
            total += float(self.weights @ old.habit.gain)
        # 4. what all have in common
        return Solution(
            key=key,
            ability=users.ability,
            ability_error=np.sqrt(users.variance),
            leaning=users.leaning,
            difficulty=found.difficulty,
            slope=np.exp(found.log_slope),
            population=self._population(old.population, key, found, users),
            evidence=total,
            chance=users.chance,
            rounds=old.rounds + 1,
            habit=self._habit(old.habit, key, users.logits) if self.habits else None,
        )

    # -- the steps of a round ---------------------------------------------------------------

    def _logits(self, old: Solution, difficulty: Floats, slope: Floats) -> Array:
        """Of P(right), in all cells."""
        of, mean, users = self.cells.candidates, old.population.mean, self.cells.users
        rows = [slope[of], (difficulty + mean - self.offset)[of]]
        columns = [old.ability[users] - mean, np.ones(len(users))]
        if self.side is not None:
            rows.append(np.asarray(self.side[of], dtype=float))
            columns.append(old.leaning[users])
        return self.cells.linear(rows, columns)

    def _candidates(self, old: Solution, weight: Any) -> _Candidates:
        """A Newton step for each candidate; its log likelihood with prior and Laplace term."""
        cells, population = self.cells, old.population
        logits = self._logits(old, old.difficulty, old.slope)
        chance = _chance(logits)
        value = (cells.right * logits - _softplus(logits)) * weight
        surprise = (cells.right - chance) * weight
        curve = chance * (1 - chance) * weight
        d, slope = old.difficulty[cells.candidates], old.slope[cells.candidates]
        s, ones = np.log(slope), np.ones(len(cells.users))
        gap = old.ability[cells.users] - population.mean
        unsure = old.ability_error[cells.users] ** 2
        evidence = cells.over_users(value, ones)[0]
        moved, by_gap = cells.over_users(surprise, ones, gap)
        curved, with_gap, with_gap2, blur = cells.over_users(curve, ones, gap, gap**2, unsure)
        # abilities are not known exactly: a steep item would make its own answers fit (this is the
        # slope's part in the users' Laplace terms)
        blur = blur * slope**2
        step = _newton(
            moved - d / population.difficulty,
            slope * by_gap - s / population.slope - blur,
            curved + 1 / population.difficulty,
            slope**2 * with_gap2 + 1 / population.slope + 2 * blur,
            slope * with_gap,
        )
        evidence -= 0.5 * (d**2 / population.difficulty + s**2 / population.slope)
        if self.settings.laplace:
            evidence -= 0.5 * np.log(step.determinant * population.difficulty * population.slope)
        return _Candidates(
            difficulty=self._options(d + np.clip(step.first, -STEP, STEP)),
            log_slope=self._options(s + np.clip(step.second, -SLOPE_STEP, SLOPE_STEP)),
            difficulty_variance=self._options(step.first_variance),
            slope_variance=self._options(step.second_variance),
            evidence=self._options(evidence),
        )

    def _of_keys(self, evidence: Floats, population: Population) -> Floats:
        """Log probability of every option as key, with its prior."""
        table = self.table
        if self.settings.class_share and table.coded:
            prior = self.prior + population.share[table.labels[0]]
        else:
            prior = self.prior - np.log(table.options_each)[table.of_option]
        return np.where(self.active, evidence + prior, np.where(self.keyless, 0.0, -np.inf))

    def _log_sum(self, logs: Floats) -> float:
        """The log probability of all items' answers (0 for items without a key)."""
        most = self.table.items.max(logs)
        most = np.where(np.isfinite(most), most, 0.0)
        with np.errstate(divide="ignore"):
            each = np.log(self.table.within(np.exp(logs - most)))
        each += most[self.table.items.starts[:-1]]
        return float(each[self.asked].sum())

    def _centred(
        self, old: Solution, found: _Candidates, key: Floats
    ) -> tuple[Solution, _Candidates]:
        """Difficulties average 0 and log slopes too: what they share belongs to the abilities.

        No logit changes; without this, rounds creep along a ridge.
        """
        shift, turn = (
            float(key @ x) / float(key.sum()) for x in (found.difficulty, found.log_slope)
        )
        stretch, population = float(np.exp(turn)), old.population
        mean, variance = population.mean + shift, population.variance * stretch**2
        ability = mean + stretch * (old.ability - population.mean)
        population = replace(population, mean=mean, variance=variance)
        return (
            replace(old, ability=ability, population=population),
            replace(found, difficulty=found.difficulty - shift, log_slope=found.log_slope - turn),
        )

    def _users(self, old: Solution, key: Floats, found: _Candidates, asked: Any) -> _Users:
        """A Newton step for ability and leaning; their log prior with the Laplace term."""
        cells, population = self.cells, old.population
        slope = np.exp(found.log_slope)
        logits = self._logits(old, found.difficulty, slope)
        chance = _chance(logits)
        likely, slope = key[cells.candidates], slope[cells.candidates]
        side = np.zeros(len(likely)) if self.side is None else self.side[cells.candidates]
        steep = likely * slope
        surprise, curve = (cells.right - chance) * asked, chance * (1 - chance) * asked
        moved, leant = map(self._everybody, cells.over_candidates(surprise, steep, likely * side))
        variance, curved, crossed = map(
            self._everybody, cells.over_candidates(curve, likely, steep * slope, steep * side)
        )
        leans = self.side is not None
        gap, lean = old.ability - population.mean, (old.leaning - population.lean) * leans
        step = _newton(
            moved - gap / population.variance,
            leant - lean / population.leaning,
            curved + 1 / population.variance,
            variance * leans + 1 / population.leaning,
            crossed,
        )
        log_prior = -0.5 * (gap**2 / population.variance + lean**2 / population.leaning)
        if self.settings.laplace:
            log_prior -= 0.5 * np.log(step.determinant * population.variance * population.leaning)
        # the normal approximation of a user's ability, and what of it is above chance
        spread, spread_squared = np.sqrt(step.first_variance), step.first_variance
        peak = old.ability + step.first
        mean, ability = peak, old.ability + np.clip(step.first, -STEP, STEP)
        if self.settings.truncated:
            ability = np.maximum(ability, 0.0)
            log_mass, hazard = _above_zero(peak / spread)
            mean = peak + spread * hazard
            shrunk = 1 - hazard * (peak / spread + hazard)
            spread_squared = spread_squared * np.clip(shrunk, 0.0, 1.0)
            whole = _above_zero(np.array([population.mean / math.sqrt(population.variance)]))
            beyond = np.minimum(step.first, 0.0) * (peak < 0)
            log_prior += log_mass - float(whole[0][0]) + 0.5 * (beyond / spread) ** 2
        # (the leaning goes with the ability that was reached)
        leaned = step.second - step.cross * (ability - old.ability - step.first)
        return _Users(
            ability=ability,
            mean=mean,
            variance=spread_squared,
            leaning=old.leaning + np.clip(leaned, -STEP, STEP) * leans,
            leaning_variance=step.second_variance,
            chance=variance,
            log_prior=log_prior,
            logits=logits,
        )

    def _population(
        self, old: Population, key: Floats, found: _Candidates, users: _Users
    ) -> Population:
        """Means and variances, with a few users' or items' worth of prior."""
        settings, witness = self.settings, self.weights * self.here
        n_users, n_items = float(witness.sum()), float(self.asked.sum())

        def variance(squares: Any, count: float, prior: float, weight: float) -> float:
            return float((squares + weight * prior) / (count + weight))

        centre = float(witness @ users.mean) / n_users
        squares = witness @ ((users.mean - centre) ** 2 + users.variance)
        spread = variance(squares, n_users, settings.ability_variance, settings.user_weight)
        mean = centre
        if settings.truncated:  # of a normal variable that is cut off at chance
            sd = math.sqrt(old.variance)
            at = old.mean / sd
            hazard = float(_above_zero(np.array([at]))[1][0])
            mean -= sd * hazard
            spread /= max(1 - at * hazard - hazard**2, 0.1)
        mean = (n_users * mean + settings.ability_mean * old.variance) / (n_users + old.variance)
        lean = float(witness @ users.leaning) / (n_users + settings.user_weight * old.leaning)
        leant = witness @ ((users.leaning - lean) ** 2 + users.leaning_variance)
        hard = key @ (found.difficulty**2 + found.difficulty_variance)
        steep = key @ (found.log_slope**2 + found.slope_variance)
        share = sums(key, self.table.labels[0], len(old.share)) + settings.share_weight
        return Population(
            mean=max(mean, 0.0) if settings.truncated else mean,
            variance=min(max(spread, settings.least_variance), settings.most_variance),
            difficulty=variance(hard, n_items, settings.difficulty_variance, settings.item_weight),
            slope=variance(steep, n_items, settings.slope_variance, settings.item_weight),
            leaning=variance(leant, n_users, settings.leaning_variance, settings.user_weight),
            lean=lean,
            share=np.log(share / share.sum()),
        )

    def _options(self, values: Floats) -> Floats:
        """Values of the candidates, at all options (0 elsewhere)."""
        found = np.zeros(self.table.n_options)
        found[self.cells.candidates] = values
        return found

    def _everybody(self, values: Floats) -> Floats:
        """Values of the users who answered, at all users (0 elsewhere)."""
        found = np.zeros(self.table.n_users)
        found[self.cells.users] = values
        return found

    # -- wrong answers, and habits ----------------------------------------------------------

    def _wrong(self, weights: Floats) -> Floats:
        """Log probability of where the wrong answers fall, for each candidate key.

        ``weights`` of the answers.
        """
        table = self.table
        if table.two:
            return np.zeros(table.n_options)
        counts = sums(weights, table.option, table.n_options)
        wrong = table.within(counts)[table.of_option] - counts
        others = table.options_each[table.of_option] - 1
        if not self.settings.distractors:
            return -wrong * np.log(np.maximum(others, 1))
        prior = self.settings.common_errors
        each = log_gamma(prior + counts) - log_gamma(prior)
        fall = table.within(each)[table.of_option] - each
        found: Floats = log_gamma(prior * others) - log_gamma(prior * others + wrong) + fall
        return found

    def _habit(self, before: Habit | None, key: Floats, logits: Array) -> Habit:
        """Which answers were given by habit: a label that a user gives whatever is asked.

        User u answers a share τ_u by the shares π_u of labels, and the rest by the key. Each
        answer is by habit with odds τ π(label) : (1 − τ) P(answer by the key).
        """
        table, settings = self.table, self.settings
        labels, count = table.labels
        m, label, user = table.n_users, labels[table.option], table.user
        by_habit = np.full(len(user), settings.habit_share) if before is None else before.by_habit
        # habits, by the answers given by habit so far
        total = sums(by_habit, user, m)
        pooled = settings.habit_weight * float(total.sum()) / len(user)
        share = (total + pooled) / (table.per_user + settings.habit_weight)
        usual = sums(by_habit, label, count) + 1.0
        given = sums(by_habit, user * count + label, m * count).reshape(m, count)
        given = (given + usual / usual.sum()) / (total[:, None] + 1)
        # the chance of each answer by the key: right, or the option's share of the wrong ones
        kept = sums(1 - by_habit, table.option, table.n_options)
        others = table.within(kept)[table.of_option] - kept
        others = np.log(np.maximum(others + table.options_each[table.of_option] - 1, 1))
        each = self.cells.right * logits - _softplus(logits)
        by_key = self.cells.over_item(each, key[self.cells.candidates])
        by_key += (1 - key[table.option]) * np.log(kept[table.option] + 1)
        by_key -= (table.within(key * others)[table.of_option] - key * others)[table.option]
        log_habit, log_key = np.log(share[user] * given[user, label]), np.log1p(-share[user])
        odds = np.clip(log_habit - log_key - by_key, -25, 25)
        new = 1 / (1 + np.exp(-odds))
        # what this adds to the evidence (a lower bound)
        entropy = -new * np.log(new) - (1 - new) * np.log1p(-new)
        gain = sums(new * log_habit + (1 - new) * log_key + entropy, user, m)
        gain -= 0.5 * (count - 1) * np.log1p(sums(new, user, m))
        return Habit(new, gain)

    # -- what a solution says of users and items --------------------------------------------

    def told(self, found: Solution) -> Floats:
        """Log probability of each user's answers, with all else as in a solution."""
        table, cells = self.table, self.cells
        chance = _chance(self._logits(found, found.difficulty, found.slope))
        key = found.key[cells.candidates]
        others = table.within(table.counts)[table.of_option] - table.counts
        others += np.maximum(table.options_each[table.of_option] - 1, 1)
        if table.two:
            others, each = np.ones(table.n_options), np.ones(len(table.user))
        else:
            each = table.counts[table.option] + 1
        likely = cells.over_item(cells.right * chance, key)
        wrong = (1 - cells.right) * (1 - chance)
        likely += each * cells.over_item(wrong, key / others[cells.candidates])
        logs = np.log(np.maximum(likely, 1e-12))
        if found.habit is None:
            return sums(logs, table.user, table.n_users)
        logs *= 1 - found.habit.by_habit
        return sums(logs, table.user, table.n_users) + found.habit.gain

    def foreseen(self, found: Solution, rounds: int = 4) -> tuple[Floats, Floats]:
        """Log probability of each item's answers by each candidate key, judged by other items.

        Every answer counts as a user of its own, whose ability follows from that user's answers to
        all other items: else an item would be evidence for its own key. Returned, too, is that
        ability, for each answer.
        """
        table, cells = self.table, self.cells
        chance = _chance(self._logits(found, found.difficulty, found.slope))
        steep, likely = found.slope[cells.candidates], found.key[cells.candidates]
        n, user = len(table.user), table.user
        told = cells.over_item(cells.right - chance, likely * steep)
        curve = cells.over_item(chance * (1 - chance), likely * steep**2)
        precision = 1 / np.maximum(found.ability_error[user], 1e-6) ** 2
        precision = np.maximum(precision - curve, 1 / found.population.variance)
        alone = Table(table.items, n, np.arange(n), table.option)
        model = Model(alone, self.settings, self.weights[user], active=self.active)
        solution = replace(
            found,
            ability=found.ability[user] - told / precision,
            ability_error=1 / np.sqrt(precision),
            leaning=found.leaning[user],
        )
        for _ in range(rounds):
            made = model._candidates(solution, model.weight)
            solution = replace(solution, difficulty=made.difficulty, slope=np.exp(made.log_slope))
        return model._of_keys(made.evidence + model.wrong, found.population), solution.ability


@dataclass(frozen=True)
class _Candidates:
    """Difficulties and log slopes after a step, their variances, and the log likelihoods."""

    difficulty: Floats
    log_slope: Floats
    difficulty_variance: Floats
    slope_variance: Floats
    evidence: Floats


@dataclass(frozen=True)
class _Users:
    """Abilities and leanings after a step, their variances, and log priors.

    And the part of the numbers right that is chance, and the logits of P(right) in all cells.
    """

    ability: Floats
    mean: Floats
    variance: Floats
    leaning: Floats
    leaning_variance: Floats
    chance: Floats
    log_prior: Floats
    logits: Array


class _Newton(NamedTuple):
    """Steps in two directions, their variances, how the second goes with the first."""

    first: Floats
    second: Floats
    first_variance: Floats
    second_variance: Floats
    cross: Floats
    determinant: Floats


def _newton(g_a: Floats, g_b: Floats, h_aa: Floats, h_bb: Floats, h_ab: Floats) -> _Newton:
    """From gradients and curvatures, element by element."""
    determinant = np.maximum(h_aa * h_bb - h_ab**2, 1e-9)
    return _Newton(
        (h_bb * g_a - h_ab * g_b) / determinant,
        (h_aa * g_b - h_ab * g_a) / determinant,
        h_bb / determinant,
        h_aa / determinant,
        h_ab / h_bb,
        determinant,
    )


def _chance(logits: Array) -> Array:
    """The logistic function, by the fastest way."""
    found = np.tanh(logits * 0.5)
    found += 1
    found *= 0.5
    return found


def _softplus(logits: Array) -> Array:
    """log(1 + e^x)."""
    found = np.log1p(np.exp(-np.abs(logits)))
    found += np.maximum(logits, 0)
    return found


def _above_zero(at: Floats) -> tuple[Floats, Floats]:
    """Of a normal variable, ``at`` standard deviations above 0: log P(> 0), and the hazard there.

    By the rational approximation of Abramowitz and Stegun (26.2.17), which keeps far tails.
    """
    size = np.abs(at)
    t = 1 / (1 + 0.2316419 * size)
    poly = t * (
        0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429)))
    )
    log_density = -0.5 * (size * size + math.log(2 * math.pi))
    log_tail = log_density + np.log(poly)
    log_mass = np.where(at > 0, np.log1p(-np.exp(log_tail)), log_tail)
    return log_mass, np.exp(log_density - log_mass)


def frequent(table: Table, most: int) -> Flags:
    """The most frequent options of each item."""
    if table.items.sizes.max(initial=0) <= most:
        return table.counts > 0
    order = np.lexsort((-table.counts, table.of_option))
    place = np.empty(table.n_options, dtype=np.int64)
    place[order] = np.arange(table.n_options)
    place -= table.items.starts[:-1][table.of_option]
    return (place < most) & (table.counts > 0)
