"""A key that may err, against the answers: how likely each of its entries is right.

The key as it stands says who is able, better than any ranking without a key: a few wrong entries
hardly matter. So the model is fitted with the key held, and for each item, every candidate is
judged by users whose ability is known from all *other* items. Then

    P(key of the item = k | entry g)  ∝  P(answers | k)^τ · (1 − ε if k = g, else ε / others).

The error rate ε is unknown, and so is τ: answers are less independent than the model takes them to
be, so evidence counts for less than it says. Both follow from how well the answers foresee the
entries, and both are averaged over, not chosen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.methods.core.known import Known
from hitsndiffs.methods.core.model import Model, frequent
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.table import Table

__all__ = ["Keyed", "keyed"]

#: How much evidence may count (its logarithm is normal around 0, with this standard deviation: on
#: simulated tests it is estimated as 1, on real ones as .3 to 1.2), and the rates of errors
#: (Beta: one entry in thirty is wrong).
TEMPERS, SPREAD = np.exp(np.linspace(-4, 0.7, 25)), 0.7
RATES, WRONG, RIGHT = np.geomspace(0.003, 0.5, 25), 1.0, 30.0
#: Rounds with the key held. More change nothing.
ROUNDS = 6


@dataclass(frozen=True, eq=False)
class Keyed:
    """What a key and the answers say together.

    Attributes
    ----------
    key
        For each option, how likely it is the right one.
    foreseen
        The same by the answers alone, whatever the item's own entry says.
    fits
        How much better the answers foresee the entries than a guess does (nats).
    ability
        Of the users, by the key.
    """

    key: Floats
    foreseen: Floats
    fits: float
    ability: Floats


def keyed(table: Table, known: Known, settings: Settings, weights: Floats | None = None) -> Keyed:
    """Weigh what is said of the key against the answers."""
    items = table.items
    # the key says which way is up, so ability may be below chance
    settings = replace(settings, truncated=False, least_mean=-np.inf)
    active = frequent(table, settings.most_candidates)
    active[known.options] = True
    model = Model(table, settings, weights, known.prior(items, held=True), active)
    popular = items.share(table.counts + 0.5)
    found = model.fit(model.begin(known.start(items, popular)), ROUNDS)
    evidence = model.foreseen(found)

    given = known.options
    others = np.maximum(items.sizes[items.of_option[given]] - 1, 1)
    by_temper = [items.softmax(temper * evidence) for temper in TEMPERS]
    right = 1 - known.rates(RATES[:, None])
    weight = np.empty((len(TEMPERS), len(RATES)))
    for t, foreseen in enumerate(by_temper):
        weight[t] = np.log(_chance(foreseen[given], right, others)).sum(axis=1)
    fits = float(weight.max() + np.log(others + 1).sum())
    weight -= 0.5 * (np.log(TEMPERS)[:, None] / SPREAD) ** 2
    weight += WRONG * np.log(RATES) + RIGHT * np.log(1 - RATES)
    weight = np.exp(weight - weight.max())
    weight /= weight.sum()

    # averaged over both: what the entries add to what the answers foresee
    key, alone = np.zeros(items.n_options), np.zeros(items.n_options)
    for each, foreseen in zip(weight, by_temper, strict=True):
        chance = _chance(foreseen[given], right, others)
        factor = np.full(items.n_items, each.sum())
        factor[items.of_option[given]] = each @ ((1 - right) / others / chance)
        more = foreseen * factor[items.of_option]
        more[given] = foreseen[given] * (each @ (right / chance))
        key += more
        alone += each.sum() * foreseen
    return Keyed(key, alone, fits, found.ability)


def _chance(foreseen: Floats, right: Floats, others: Floats) -> Floats:
    """P(entry) for each error rate."""
    return np.asarray(right * foreseen + (1 - right) * (1 - foreseen) / others)
