"""A key that may err, against the answers: how likely each of its entries is right.

The key as it stands says who is able, better than any ranking without a key: a few wrong entries
hardly matter. So the model is fitted with the key held, and for each item, every candidate is
judged by users whose ability is known from all *other* items. Three features speak for a candidate:
how well the model explains the item's answers by it, how often it was chosen, and how able its
choosers are. The model alone would be too sure where wrong options depend on ability, which it does
not know of. Then

    P(key = k | entry g)  ∝  exp(τ w · features of k) · (1 − ε if k = g, else ε / others).

The weights w are the same for every test; the error rate ε and the scale τ, which says how much
evidence may count at all, are averaged over, not chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.methods.core.known import Known
from hitsndiffs.methods.core.model import Model, frequent
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.solution import Solution
from hitsndiffs.methods.core.table import Table, sums

__all__ = ["Judgement", "Keyed", "judgement", "keyed"]

#: The features' weights: ``python -m benchmarks.audit --weights`` learns them from the keys of real
#: tests. Weights of each test's own find no more (AUC .953 and .957, with these .953 and .958).
WEIGHTS = np.array([2.9, 0.2, 1.0])
#: How much the weights may count (its logarithm is normal around 0, with this standard
#: deviation), and the rates of errors (Beta: one entry in twenty is wrong).
SCALES, SPREAD = np.exp(np.linspace(-2.5, 1.2, 20)), 0.5
RATES, WRONG, RIGHT = np.geomspace(0.003, 0.5, 25), 2.0, 40.0
#: At least this share of the users guess, so of many somebody hits the right answer. (Where nobody
#: did, in 14 of the 2,716 items of 30 tests, 32 users or fewer had answered.)
GUESS = 0.1
#: Rounds with the key held. More change nothing.
ROUNDS = 6
#: The choosers' mean ability counts as if so many more average ones had chosen the option, and an
#: item's options as if each had been chosen so often once more.
AVERAGE_CHOOSERS, ONCE_MORE = 3.0, 0.3


@dataclass(frozen=True, eq=False)
class Keyed:
    """What a key and the answers say together.

    Attributes
    ----------
    key
        For each option, how likely it is the right one.
    foreseen
        The same by the answers alone, whatever the item's own entry says.
    told
        How much better the answers foresee the entries than a guess does (nats).
    untold
        How much a guess leaves open (nats).
    ability
        Of the users, by the key.
    abler
        For each option, how much abler its choosers are than the item's others (in standard
        deviations; ability by all other items).
    """

    key: Floats
    foreseen: Floats
    told: float
    untold: float
    ability: Floats
    abler: Floats


def keyed(table: Table, known: Known, settings: Settings, weights: Floats | None = None) -> Keyed:
    """Weigh what is said of the key against the answers."""
    found, judged = judgement(table, known, settings, weights)
    given, right = known.options, 1 - known.rates(RATES[:, None])
    by_scale = [judged.foreseen(scale * WEIGHTS) for scale in SCALES]
    weight = np.stack([np.log(judged.chance(each, right)).sum(axis=1) for each in by_scale])
    untold = float(np.log(table.items.sizes[table.of_option[given]]).sum())
    told = float(weight.max()) + untold
    weight -= 0.5 * (np.log(SCALES)[:, None] / SPREAD) ** 2
    weight += WRONG * np.log(RATES) + RIGHT * np.log(1 - RATES)
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()

    # averaged over both: what the entries add to what the answers foresee
    items = table.items
    key, alone = np.zeros(items.n_options), np.zeros(items.n_options)
    for each, foreseen in zip(weight, by_scale, strict=True):
        chance = judged.chance(foreseen, right)
        factor = np.full(items.n_items, each.sum())
        factor[items.of_option[given]] = each @ ((1 - right) / judged.others / chance)
        more = foreseen * factor[items.of_option]
        more[given] = foreseen[given] * (each @ (right / chance))
        key += more
        alone += each.sum() * foreseen
    return Keyed(key, alone, told, untold, found.ability, judged.abler)


def judgement(
    table: Table, known: Known, settings: Settings, weights: Floats | None = None
) -> tuple[Solution, Judgement]:
    """The model with the key held, and what speaks for each candidate by it."""
    items = table.items
    # the key says which way is up, so ability may be below chance
    settings = replace(settings, truncated=False)
    active = frequent(table, settings.most_candidates)
    active[known.options] = True
    model = Model(table, settings, weights, known.prior(items, held=True), active)
    popular = items.share(table.counts + 0.5)
    found = model.fit(model.begin(known.start(items, popular)), ROUNDS)
    evidence, ability = model.foreseen(found)

    votes = model.weights[table.user]
    answers = np.maximum(sums(votes, table.item, items.n_items), 1e-9)
    chosen = sums(votes, table.option, items.n_options)
    mean = sums(votes * ability, table.item, items.n_items) / answers
    beyond = ability - mean[table.item]
    spread = np.sqrt(sums(votes * beyond**2, table.item, items.n_items) / answers) + 1e-9
    beyond = sums(votes * beyond / spread[table.item], table.option, items.n_options)
    possible = np.isfinite(evidence)
    best = items.max(evidence)
    behind = np.where(possible, evidence - np.where(np.isfinite(best), best, 0.0), 0.0)
    features = np.column_stack(
        [
            behind / np.sqrt(np.maximum(answers, 1))[items.of_option],
            np.log(items.share(chosen + ONCE_MORE)),
            2 * beyond / (chosen + AVERAGE_CHOOSERS),
        ]
    )
    abler = beyond / np.maximum(chosen, 1)
    guessed = (answers / items.sizes)[items.of_option] * GUESS
    prior = np.where(possible, np.where(chosen > 0, 0.0, -guessed), -np.inf)
    return found, Judgement(items, features, prior, known.options, abler)


@dataclass(frozen=True, eq=False)
class Judgement:
    """Features of every option, and the entries of a key.

    Attributes
    ----------
    items
        Items and options.
    features
        Options × features.
    prior
        Log prior of each option as the key.
    given
        The options that the key names.
    abler
        How much abler the choosers of each option are.
    """

    items: Items
    features: Floats
    prior: Floats
    given: Ints
    abler: Floats

    @property
    def others(self) -> Floats:
        """How many other options each entry's item has (at least 1)."""
        return np.maximum(self.items.sizes[self.items.of_option[self.given]] - 1, 1)

    def foreseen(self, weights: Floats) -> Floats:
        """P(each option is the key) by the answers alone."""
        return self.items.softmax(self.features @ weights + self.prior)

    def chance(self, foreseen: Floats, right: Floats) -> Floats:
        """P(each entry), if entries are right so often."""
        of_given = foreseen[self.given]
        return np.asarray(right * of_given + (1 - right) * (1 - of_given) / self.others)
