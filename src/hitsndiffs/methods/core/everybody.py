"""Large data: readings are compared on a part, the best one is fitted on more, all users join.

Keys, difficulties and slopes belong to the items, and some thousand users determine them. Once
they are known, everybody's ability follows from one pass over the data: with a grid of abilities
(and of leanings, where two labels are shared), a user's log likelihood is a sum over the chosen
options.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.engines import Engine
from hitsndiffs.methods.core.model import SETTLED, Model
from hitsndiffs.methods.core.search import Candidate, Found
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.solution import Solution
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.draws import item_words, sampled_users, user_draws

__all__ = ["abilities_of_all", "compared_part", "continued", "joined", "users_to_fit"]

#: Abilities from chance up to where nobody errs, and leanings in standard deviations.
ABILITIES = np.linspace(0.0, 1.0, 15)
LEANINGS = np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
#: Most standard deviations above the mean, and rows of a block.
UP = 4.0
#: Items and users of a part: at least so many, if there are.
FEWEST = 150


def users_to_fit(data: Engine, settings: Settings) -> Ints | None:
    """The users on whom the model is fitted; ``None`` for all."""
    pairs = _pairs(data.items.sizes, data.answers_per_item, settings)
    share = settings.fitted_pairs / max(pairs, 1.0)
    if share >= 0.7:
        return None
    users = sampled_users(data, share, bring=True)
    return np.flatnonzero(data.collect(users))


def compared_part(table: Table, data: Engine, users: Ints | None, settings: Settings) -> Table:
    """Some users' answers to some items: enough to tell readings apart."""
    pairs = _pairs(table.items.sizes, table.per_item, settings)
    share = settings.compared_pairs / max(pairs, 1.0)
    if share >= 0.7:
        return table
    m, n = float((table.per_user > 0).sum()), float((table.per_item > 0).sum())
    some_items = min(1.0, max(np.sqrt(share * n / m), FEWEST / n, share if n > m else 0.0))
    some_users = min(1.0, max(share / some_items, FEWEST / m))
    some_items = min(1.0, max(share / some_users, FEWEST / n))
    words = item_words(data).astype(np.float64) / 2.0**64
    draws = data.collect(user_draws(data, 1, 3)[:, 0])
    draws = draws if users is None else draws[users]
    return table.part(_lowest(draws, some_users), _lowest(words, some_items))


def _lowest(draws: Floats, share: float) -> Flags:
    """Mark a share of the entries: those with the lowest draws."""
    chosen = np.zeros(len(draws), dtype=bool)
    chosen[np.argsort(draws, kind="stable")[: int(np.ceil(share * len(draws)))]] = True
    return chosen


def _pairs(sizes: Floats, answers: Any, settings: Settings) -> float:
    return float((np.minimum(sizes, settings.most_candidates) * answers).sum())


def continued(found: Found, table: Table) -> Found:
    """Readings of a part, fitted to all answers of a table and compared by these.

    A part seldom tells near readings apart, and one that it holds for poor may come out best. The
    more answers there are, the fewer readings are continued, and the better a part tells them
    apart.
    """
    if found.table is table:
        return found
    best, settings = found.best, found.best.model.settings
    pairs = _pairs(table.items.sizes, table.per_item, settings)
    count = max(1, int(settings.fitted_pairs / pairs))
    mine = [each for each in found.readings if each.counting == best.counting]
    others = [each for each in found.readings if each.counting != best.counting]
    for number, each in enumerate(mine[:count]):
        whole = joined(each, found.table, table)
        judged = whole[1].evidence if count > 1 else None
        mine[number] = replace(each, whole=whole, judged=judged)
    if count > 1:
        mine = sorted(mine[:count], key=lambda each: -each.evidence)
    return replace(found, readings=(*mine, *others))


def joined(
    each: Candidate, part: Table, table: Table, *, settle: bool = True
) -> tuple[Model, Solution]:
    """A part's reading, continued with all answers of a table; to the end if it is to settle."""
    if part is table:
        return each.model, each.solution
    if each.whole is not None:
        return each.whole
    solution, settings = each.solution, each.model.settings
    key = part.in_whole(solution.key, 0.0)
    active = None if each.label is None else table.one_label(each.label) > 0
    model = Model(table, settings, each.model.weights, active=active, habits=each.model.habits)
    # whom the part left out: by the answers to its items, else like everybody
    fitted, asked, right = part.per_user > 0, table.within(key) > 0, table.right(key)
    answers = sums(asked[table.item].astype(float), table.user, table.n_users)
    guess = np.log((right + 1) / (answers - right + 1))
    guess += float(np.log(table.options_each - 1)[asked].mean())
    guess = np.where(answers > 0, guess, solution.population.mean)
    guess = np.maximum(guess, 0.0 if settings.truncated else -np.inf)
    start = replace(
        solution,
        key=key,
        ability=np.where(fitted, solution.ability, guess),
        leaning=np.where(fitted, solution.leaning, solution.population.lean),
        difficulty=part.in_whole(solution.difficulty, 0.0),
        slope=part.in_whole(solution.slope, 1.0),
        evidence=-np.inf,
        rounds=0,
        converged=False,
        habit=None,
    )
    found = model.fit(start, 2)
    model = model.narrowed(found.key)
    if settle:
        tolerance = SETTLED + 1e-6 * abs(found.evidence)
        found = model.fit(found, settings.screen_rounds, tolerance)
    return model, found


def abilities_of_all(data: Engine, model: Model, solution: Solution) -> tuple[Any, Any, Any]:
    """Everybody's ability, its error, and the variance of the number right (user arrays)."""
    population = solution.population
    sd = np.sqrt(population.variance)
    grid = ABILITIES * (population.mean + UP * sd)
    leans = LEANINGS * np.sqrt(population.leaning) + population.lean
    if model.side is None:
        leans = np.zeros(1)
    thetas, betas = (x.ravel() for x in np.meshgrid(grid, leans, indexing="ij"))
    logits = np.zeros((data.n_options, len(thetas)))
    logits += solution.slope[:, None] * (thetas - population.mean)
    logits += (solution.difficulty - model.offset + population.mean)[:, None]
    if model.side is not None:
        logits += model.side[:, None] * betas
    chance = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    key, items = solution.key[:, None], data.items
    wrong = items.sum(key * (1 - chance)) - key * (1 - chance)
    likely = key * chance + wrong / np.maximum(items.sizes - 1, 1)[items.of_option][:, None]
    logs = np.log(np.maximum(likely, 1e-12))
    spread = items.sum(key * chance * (1 - chance))
    prior = -0.5 * (thetas - population.mean) ** 2 / population.variance
    if len(leans) > 1:
        prior = prior - 0.5 * (betas - population.lean) ** 2 / population.leaning
    mean_spread = spread.mean(axis=1)

    found = data.choices(logs, partial(_placed, prior=prior, thetas=thetas))
    return found[:, 0], found[:, 1], data.choices(mean_spread)


def _placed(sums: Floats, prior: Floats, thetas: Floats) -> Floats:
    """Ability and its error, from the log-likelihood at each place of the grid."""
    logs = sums + prior
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    mean = weights @ thetas
    return np.stack([mean, np.sqrt(np.maximum(weights @ thetas**2 - mean**2, 1e-12))], axis=1)
