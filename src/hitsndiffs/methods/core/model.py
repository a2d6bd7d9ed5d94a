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
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Flags, Floats
from hitsndiffs.methods.core.cells import cells_of
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.solution import Habit, Population, Solution
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.probability import log_gamma

__all__ = ["Model", "frequent"]

#: Most that a Newton step moves abilities, difficulties and leanings; and slopes.
STEP, SLOPE_STEP = 1.5, 0.5


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
    """

    def __init__(
        self, table: Table, settings: Settings, weights: Floats | None = None,
        prior: Floats | None = None, active: Flags | None = None, *, habits: bool = False,
    ) -> None:  # fmt: skip
        self.table, self.settings = table, settings
        self.weights = np.ones(table.n_users) if weights is None else weights
        self.prior = np.zeros(table.n_options) if prior is None else prior
        two = table.two and settings.leaning
        self.side = (1.0 - 2.0 * table.labels[0]) if two else None
        self.offset = np.log(table.options_each - 1)[table.of_option]
        self.habits = habits
        self.wrong = self._wrong(self.weights[table.user])
        self._among(frequent(table, settings.most_candidates) if active is None else active)
        self.here = table.per_user > 0
        self.truncated = settings.truncated
        self.shares_classes = settings.class_share and table.coded
        self.asked = table.per_item > 0

    def _among(self, active: Flags) -> None:
        """Set the candidates."""
        table = self.table
        self.active, self.cells = active, cells_of(table, active)
        # items without any candidate (not asked, or nobody is right) tell nothing of the key
        self.keyless = table.within(active.astype(float))[table.of_option] == 0
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

    # -- starting ---------------------------------------------------------------------------

    def begin(self, key: Floats) -> Solution:
        """A solution to start from: the key, and abilities by it."""
        table, settings = self.table, self.settings
        key = np.where(self.active, key, 0.0)
        key = table.items.share(key)
        right = table.right(key)
        ability = np.log((right + 1) / (table.per_user - right + 1))
        ability += float(np.log(table.options_each - 1)[self.asked].mean())
        n = table.labels[1]
        zero = np.zeros(table.n_options)
        population = Population(
            mean=float(ability[self.here].mean()),
            variance=settings.ability_variance,
            raw_mean=settings.ability_mean,
            difficulty=settings.difficulty_variance,
            slope=settings.slope_variance,
            leaning=settings.leaning_variance,
            lean=0.0,
            share=np.full(n, -np.log(n)),
        )
        return Solution(
            key, ability, 0 * ability, 0 * ability, zero, zero + 1.0, population,
            -np.inf, 0 * ability, 0, False,
        )  # fmt: skip

    def fit(
        self, start: Solution, rounds: int, tolerance: float = 0.02, reach: float = -np.inf
    ) -> Solution:
        """Rounds until the evidence settles, or could not come within reach in those left."""
        found, before = start, -np.inf
        for number in range(rounds):
            found = self.round(found)
            gain = found.evidence - before
            if number > 2 and abs(gain) < tolerance:
                return replace(found, converged=True)
            if number > 2 and found.evidence + gain * (rounds - number - 1) < reach:
                return found
            before = found.evidence
        return found

    def told(self, found: Solution) -> Floats:
        """Log probability of each user's answers, with all else as in a solution."""
        table, cells = self.table, self.cells
        chance = _chance(self._logits(found, found.difficulty, found.slope))
        key = found.key[cells.candidates]
        likely = cells.over_item(cells.right * chance, key)
        counts = table.counts
        others = table.within(counts)[table.of_option] - counts
        others += np.maximum(table.options_each[table.of_option] - 1, 1)
        wrong = (1 - cells.right) * (1 - chance)
        if table.two:
            likely += cells.over_item(wrong, key)
        else:
            fall = cells.over_item(wrong, key / others[cells.candidates])
            likely += fall * (counts[table.option] + 1)
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
        evidence = made.evidence + model.wrong + model._log_prior(found.population)
        evidence = np.where(self.active, evidence, np.where(self.keyless, 0.0, -np.inf))
        return evidence, solution.ability

    def _by_habits(self, found: Solution) -> float:
        return 0.0 if found.habit is None else float(self.weights @ found.habit.gain)

    # -- a round ----------------------------------------------------------------------------

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
        evidence = found.evidence + wrong + self._log_prior(old.population)
        evidence = np.where(self.active, evidence, np.where(self.keyless, 0.0, -np.inf))
        key = np.where(self.keyless, 0.0, self.table.softmax(evidence))
        of_items = _log_sum(self.table, evidence)[self.asked].sum()  # 0 for those without a key
        # 3. everybody's ability and leaning, by all keys in proportion
        old, found = self._centred(old, found, key)
        users = self._users(old, key, found, asked)
        # 4. what all have in common
        return Solution(
            key=key,
            ability=users.ability,
            ability_error=np.sqrt(users.variance),
            leaning=users.leaning,
            difficulty=found.difficulty,
            slope=np.exp(found.log_slope),
            population=self._population(old.population, key, found, users),
            evidence=float(of_items + users.log_prior + self._by_habits(old)),
            chance=users.chance,
            rounds=old.rounds + 1,
            converged=False,
            habit=None if not self.habits else self._habit(old, key, users),
        )

    def _logits(self, old: Solution, difficulty: Floats, slope: Floats) -> Array:
        """Of P(right), in all cells."""
        of, mean = self.cells.candidates, old.population.mean
        users = self.cells.users
        level = (difficulty + mean - self.offset)[of]
        rows = [slope[of] if self.settings.slope else np.ones(len(of)), level]
        columns = [old.ability[users] - mean, np.ones(len(users))]
        if self.side is not None:
            rows.append(np.asarray(self.side[of], dtype=float))
            columns.append(old.leaning[users])
        return self.cells.linear(rows, columns)

    def _candidates(self, old: Solution, weight: Any) -> _Candidates:
        """A Newton step for each candidate; its log likelihood with prior and Laplace term."""
        settings, cells, population = self.settings, self.cells, old.population
        of, users = cells.candidates, cells.users
        logits = self._logits(old, old.difficulty, old.slope)
        chance = _chance(logits)
        value = (cells.right * logits - _softplus(logits)) * weight
        surprise = (cells.right - chance) * weight
        curve = chance * (1 - chance) * weight
        d, slope = old.difficulty[of], old.slope[of]
        s, n, ones = np.log(slope), len(of), np.ones(len(users))
        gap, unsure = old.ability[users] - population.mean, old.ability_error[users] ** 2
        # gradients and curvature; a term that is off has no gradient and unit curvature
        g_d, h_dd, g_s, h_ss, h_ds = np.zeros(n), np.ones(n), np.zeros(n), np.ones(n), np.zeros(n)
        evidence = cells.over_users(value, ones)[0]
        moved, by_gap = cells.over_users(surprise, ones, gap)
        curved, with_gap, with_gap2, blur = cells.over_users(curve, ones, gap, gap**2, unsure)
        scale = 1.0
        if settings.difficulty:
            g_d = moved - d / population.difficulty
            h_dd = curved + 1 / population.difficulty
            evidence -= 0.5 * d**2 / population.difficulty
            scale *= population.difficulty
        if settings.slope:
            # abilities are not known exactly: a steep item would make its own answers fit (this is
            # the slope's part in the users' Laplace terms)
            blur = blur * slope**2
            g_s = slope * by_gap - s / population.slope - blur
            h_ss = slope**2 * with_gap2 + 1 / population.slope + 2 * blur
            evidence -= 0.5 * s**2 / population.slope
            scale *= population.slope
            if settings.difficulty:
                h_ds = slope * with_gap
        determinant = np.maximum(h_dd * h_ss - h_ds**2, 1e-9)
        if settings.laplace:
            evidence -= 0.5 * np.log(determinant * scale)
        step_d = (h_ss * g_d - h_ds * g_s) / determinant
        step_s = (h_dd * g_s - h_ds * g_d) / determinant
        return _Candidates(
            difficulty=self._options(d + np.clip(step_d, -STEP, STEP)),
            log_slope=self._options(s + np.clip(step_s, -SLOPE_STEP, SLOPE_STEP)),
            difficulty_variance=self._options(h_ss / determinant * settings.difficulty),
            slope_variance=self._options(h_dd / determinant * settings.slope),
            evidence=self._options(evidence),
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
        mean = population.mean
        return (
            replace(
                old,
                ability=mean + shift + stretch * (old.ability - mean),
                population=replace(
                    population, mean=mean + shift, variance=population.variance * stretch**2
                ),
            ),
            replace(found, difficulty=found.difficulty - shift, log_slope=found.log_slope - turn),
        )

    def _users(self, old: Solution, key: Floats, found: _Candidates, asked: Any) -> _Users:
        """A Newton step for ability and leaning; their log prior with the Laplace term."""
        settings, cells, population = self.settings, self.cells, old.population
        n, slope = self.table.n_users, np.exp(found.log_slope)
        logits = self._logits(old, found.difficulty, slope)
        chance = _chance(logits)
        likely = key[cells.candidates]
        steep = likely * slope[cells.candidates] if settings.slope else likely
        steeper = steep * slope[cells.candidates] if settings.slope else likely
        side = np.zeros(len(likely)) if self.side is None else self.side[cells.candidates]
        surprise, curve = (cells.right - chance) * asked, chance * (1 - chance) * asked
        moved, leant = map(self._everybody, cells.over_candidates(surprise, steep, likely * side))
        variance, curved, crossed = map(
            self._everybody, cells.over_candidates(curve, likely, steeper, steep * side)
        )
        # gradients and curvature of ability (a) and leaning (b)
        gap = old.ability - population.mean
        g_a = moved - gap / population.variance
        h_aa = curved + 1 / population.variance
        g_b, h_bb, h_ab = np.zeros(n), np.ones(n), np.zeros(n)
        log_prior, scale = -0.5 * gap**2 / population.variance, population.variance
        if self.side is not None:
            lean = old.leaning - population.lean
            g_b = leant - lean / population.leaning
            h_bb = variance + 1 / population.leaning
            h_ab = crossed
            log_prior -= 0.5 * lean**2 / population.leaning
            scale *= population.leaning
        determinant = np.maximum(h_aa * h_bb - h_ab**2, 1e-9)
        if settings.laplace:
            log_prior -= 0.5 * np.log(scale * determinant)
        # the normal approximation of a user's ability, and what of it is above chance
        peak = old.ability + (h_bb * g_a - h_ab * g_b) / determinant
        spread = np.sqrt(h_bb / determinant)
        mean, above = peak, old.ability + np.clip(peak - old.ability, -STEP, STEP)
        ability_variance = spread**2
        if self.truncated:
            above = np.maximum(above, 0.0)
            log_mass, hazard = _above_zero(peak / spread)
            mean = peak + spread * hazard
            shrunk = 1 - hazard * (peak / spread + hazard)
            ability_variance = ability_variance * np.clip(shrunk, 0.0, 1.0)
            beyond = np.minimum(peak - old.ability, 0.0) * (peak < 0)
            whole = population.mean / math.sqrt(population.variance)
            log_prior += log_mass - float(_above_zero(np.array([whole]))[0][0])
            log_prior += 0.5 * (beyond / spread) ** 2
        leaning = old.leaning + np.clip(
            (g_b - h_ab * (above - old.ability)) / h_bb, -STEP, STEP
        ) * (self.side is not None)
        return _Users(
            ability=above,
            mean=mean,
            variance=ability_variance,
            leaning=leaning,
            leaning_variance=h_aa / determinant,
            chance=variance,
            log_prior=float((self.weights * log_prior)[self.here].sum()),
            logits=logits,
        )

    def _population(
        self, old: Population, key: Floats, found: _Candidates, users: _Users
    ) -> Population:
        settings, table = self.settings, self.table
        witness = self.weights * self.here
        n_users, n_items = float(witness.sum()), float(self.asked.sum())
        # abilities: mean and variance, with a few users' worth of prior
        centre = float((witness * users.mean).sum()) / n_users
        raw, weight = centre, settings.ability_weight
        spread = float((witness * ((users.mean - centre) ** 2 + users.variance)).sum())
        spread = (spread + weight * settings.ability_variance) / (n_users + weight)
        if self.truncated:  # of a normal variable that is cut off at chance
            at, sd = old.mean / math.sqrt(old.variance), math.sqrt(old.variance)
            hazard = float(_above_zero(np.array([at]))[1][0])
            centre -= sd * hazard
            spread /= max(1 - at * hazard - hazard**2, 0.1)
        mean = (n_users * centre + settings.ability_mean * old.variance) / (n_users + old.variance)
        mean = max(mean, settings.least_mean)
        variance = min(spread, settings.most_variance)
        # leanings
        lean, leaning = 0.0, old.leaning
        if self.side is not None:
            lean = float((witness * users.leaning).sum() / (n_users + 2 * old.leaning))
            leant = (witness * ((users.leaning - lean) ** 2 + users.leaning_variance)).sum()
            leaning = float((leant + weight * settings.leaning_variance) / (n_users + weight))
        # items
        weight = settings.item_weight
        spread = float(key @ (found.difficulty**2 + found.difficulty_variance))
        difficulty = (spread + weight * settings.difficulty_variance) / (n_items + weight)
        spread = float(key @ (found.log_slope**2 + found.slope_variance))
        slope = (spread + weight * settings.slope_variance) / (n_items + weight)
        share = old.share
        if self.shares_classes:
            counted = sums(key, table.labels[0], len(share)) + settings.share_weight
            share = np.log(counted / counted.sum())
        return Population(
            mean=mean,
            variance=max(float(variance), settings.least_variance),
            raw_mean=raw,
            difficulty=float(difficulty),
            slope=min(float(slope), settings.slope_most),
            leaning=leaning,
            lean=lean,
            share=share,
        )

    # -- the key's prior, and wrong answers -------------------------------------------------

    def _log_prior(self, population: Population) -> Floats:
        table = self.table
        if self.shares_classes:
            return self.prior + population.share[table.labels[0]]
        return self.prior - np.log(table.options_each)[table.of_option]

    def _habit(self, old: Solution, key: Floats, users: _Users) -> Habit:
        """Which answers were given by habit: a label that a user gives whatever is asked.

        User u answers a share τ_u by the shares π_u of labels, and the rest by the key. Each
        answer is by habit with odds τ π(label) : (1 − τ) P(answer by the key).
        """
        table, settings = self.table, self.settings
        labels, count = table.labels
        m, label, user = table.n_users, labels[table.option], table.user
        by_habit = np.full(len(user), settings.habit_share)
        before = old.habit
        if before is not None:
            by_habit = before.by_habit
        # habits, by the answers given by habit so far
        total = sums(by_habit, user, m)
        pooled = float(total.sum()) / len(user)
        share = (total + settings.habit_weight * pooled) / (table.per_user + settings.habit_weight)
        usual = sums(by_habit, label, count) + 1.0
        usual /= usual.sum()
        given = sums(by_habit, user * count + label, m * count)
        given = (given.reshape(m, count) + usual) / (total[:, None] + 1)
        # the chance of each answer by the key: right, or the option's share of the wrong ones
        kept = sums(1 - by_habit, table.option, table.n_options)
        others = table.within(kept)[table.of_option] - kept
        others = np.log(np.maximum(others + table.options_each[table.of_option] - 1, 1))
        each = self.cells.right * users.logits - _softplus(users.logits)
        by_key = self.cells.over_item(each, key[self.cells.candidates])
        by_key += (1 - key[table.option]) * np.log(kept[table.option] + 1)
        by_key -= (table.within(key * others)[table.of_option] - key * others)[table.option]
        log_habit = np.log(share[user] * given[user, label])
        log_key = np.log1p(-share[user])
        odds = log_habit - log_key - by_key
        new = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
        # what this adds to the evidence (a lower bound)
        entropy = -(new * np.log(np.maximum(new, 1e-12)))
        entropy -= (1 - new) * np.log(np.maximum(1 - new, 1e-12))
        gain = sums(new * log_habit + (1 - new) * log_key + entropy, user, m)
        gain -= 0.5 * (count - 1) * np.log1p(sums(new, user, m))
        return Habit(new, share, gain)

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
    """Abilities and leanings after a step, their variances, the chance in numbers right.

    And the log prior of all, and the logits of P(right) in all cells.
    """

    ability: Floats
    mean: Floats
    variance: Floats
    leaning: Floats
    leaning_variance: Floats
    chance: Floats
    log_prior: float
    logits: Array


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


def _log_sum(table: Table, logs: Floats) -> Floats:
    starts = table.items.starts[:-1]
    most = np.maximum.reduceat(logs, starts)
    most = np.where(np.isfinite(most), most, 0.0)
    total = np.add.reduceat(np.exp(logs - most[table.of_option]), starts)
    with np.errstate(divide="ignore"):
        found: Floats = most + np.log(total)
    return found
