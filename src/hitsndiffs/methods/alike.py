"""Very similar answers: users who share more unusual answers than their ability makes likely.

*Unusual* is judged against a model in which everybody answers alone: ``P(user chooses option) =
softmax(popularity + slope · ability)`` within each item, fitted to the answers themselves, so wrong
options may depend on ability as much as right ones. Equal sheets of users who have everything right
are no surprise to it.

For two users the evidence is a likelihood ratio, in nats: the answers of one as a partial copy of
the other's (three tenths, six tenths or nearly all of them), against answers given alone. It is
taken both ways and under two scales of ability, and the least of the four counts. How far pairs of
independent users spread is seen from the pairs of these data: the bar continues their tail to where
hardly any class would have a pair beyond it. So it is higher where the model does not fit.

To *name* somebody takes that much. To *count for less* as a witness of the key takes less, since
nobody is accused and the reading without it is kept (see :mod:`.counting`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints, Words
from hitsndiffs.data.mixing import mixed
from hitsndiffs.data.responses import Responses
from hitsndiffs.methods.counting import SHEETS, runs, ways_to_count

__all__ = [
    "Alike",
    "expected_agreement",
    "find_alike",
]

#: Chance of naming anybody in a class of independent users, if the tail were exponential. It is not
#: quite, and one class in a hundred is allowed: ``benchmarks/alike.py`` measures it (5 of 1,088 at
#: this level, 11 at twice as much).
LEVEL = 0.0025
#: A pair with so many times the evidence that would be enough under a true model is no part of the
#: tail: copies do not hide each other.
BEYOND = 1.5
#: Shares of the answers that may be copied.
COPIED = (0.3, 0.6, 0.95)
#: Up to so many users all pairs are compared; of more, those who share all unusual answers in one
#: of so many parts of the items, where that is a surprise: so many pairs, the most surprising ones.
MOST_USERS, PARTS, MOST_PAIRS = 1_000, 4, 3_000
#: Values of the model (users × options) in memory at once; a larger test is compared on some items.
CELLS = 8_000_000
#: So many pairs with the most evidence show how far independent pairs spread.
TAIL = 20
#: Rounds of fitting; limits of ability in the scale of the middle half; weight of the popularity.
ROUNDS, EXTREME, POPULAR = 15, 6.0, 1.0
#: A prior that keeps the ability of users with everything right finite, and does little else.
HARDLY = 0.02
#: Two scales of ability: by the middle half of the users with a prior that lets extremes be extreme
#: (Student's t), and by the standard deviation with a normal prior.
SCALES = ((True, 3.0, ROUNDS), (False, np.inf, 10))

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Alike:
    """Pairs of users with very similar answers, and groups of repeated runs.

    Attributes
    ----------
    n_users
        Number of users.
    first, second
        The users of each pair, the strongest pair first. Pairs within a group of runs are not
        among them.
    strength
        Evidence against answers given alone, in nats.
    runs
        Groups of users that are repeated runs of one source: their names differ in a number at the
        end, and their answers are near-equal.
    """

    n_users: int
    first: Ints
    second: Ints
    strength: Floats
    runs: tuple[Ints, ...]

    @cached_property
    def users(self) -> Ints:
        """The users of all pairs, each once."""
        return np.unique(np.concatenate([self.first, self.second]))


def find_alike(responses: Responses) -> Alike:
    """Find users whose answers are very similar.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> found = find_alike(hnd.simulate("grm", users=40, items=60, seed=1).responses)
    >>> len(found.first), len(found.runs)
    (0, 0)
    """
    m = responses.n_users
    none = np.zeros(0, dtype=np.int64)
    if m < 4 or responses.n_items < 2:
        return Alike(m, none, none, np.zeros(0), ())
    chosen, few = _chosen(responses), m <= MOST_USERS
    group = np.sort(np.argsort(mixed(_words(chosen)), kind="stable")[:MOST_USERS])
    options = _Options.of(chosen[group])
    sheets = options.sheets(chosen[group])
    models = [options.fitted(sheets, *scale) for scale in SCALES]
    evidence = options.evidence(sheets, models)
    one, other = np.triu_indices(len(group), 1)
    found: tuple[Ints, ...] = ()
    if few:
        agree = sheets.ones @ sheets.ones.T / np.maximum(sheets.answered @ sheets.answered.T, 1)
        found = runs([str(user) for user in responses.users], agree)
        of_run = np.arange(m)
        for run in found:
            of_run[run] = run[0]
        apart = of_run[one] != of_run[other]
        one, other = one[apart], other[apart]
    strength = evidence[one, other]
    bar = _bar(strength, m * (m - 1) // 2)
    if not few:
        one, other = _sharing_a_part(chosen)
        strength = _verified(chosen, options, models, one, other)
    beyond = np.flatnonzero(strength > bar)
    order = beyond[np.argsort(-strength[beyond], kind="stable")]
    return Alike(m, one[order], other[order], strength[order], found)


def expected_agreement(responses: Responses) -> tuple[Matrix, Matrix, Matrix] | None:
    """What pairs of users agree on, and what they would if everybody answered alone.

    Users with near-equal sheets count once in the model of that: a large family would make its own
    mistakes usual.

    Returns three tables, users × users: items that both answered, equal answers among these, and
    how many equal answers their abilities make likely. ``None`` if the users are too many.
    """
    m, of_option = responses.n_users, np.asarray(responses.option_items, dtype=np.int64)
    if not 1 < m <= MOST_USERS or responses.n_items < 2:
        return None
    indptr, chosen_options = responses.rows
    user = np.repeat(np.arange(m), np.diff(indptr))
    answers = user, np.asarray(chosen_options, dtype=np.int64), of_option
    once = ways_to_count(*answers, (), m).get(SHEETS)
    chosen = _chosen(responses)
    options = _Options.of(chosen)
    sheets = options.sheets(chosen)
    model = options.fitted(sheets, *SCALES[1], weights=once)
    # as the answers say, and not drawn to the middle: able users agree because they are able
    ability = options.placed(model, sheets, model.ability, 15, HARDLY)
    p = options.chances(model, ability, sheets)
    return sheets.answered @ sheets.answered.T, sheets.ones @ sheets.ones.T, p @ p.T


def _chosen(r: Responses) -> Ints:
    """The chosen option of each user and item (-1: none), on at most as many items as fit."""
    most = max(CELLS // (2 * min(r.n_users, MOST_USERS)), 2)
    sizes = np.diff(r.item_starts)
    items = np.arange(r.n_items)
    if r.n_options > most:
        dealt = np.argsort(mixed(r.choosers_per_option[r.item_starts[:-1]].astype(np.uint64)))
        items = np.sort(dealt[: max(int(np.searchsorted(np.cumsum(sizes[dealt]), most)), 2)])
    place = np.full(r.n_items, -1)
    place[items] = np.arange(len(items))
    indptr, options = r.rows
    user = np.repeat(np.arange(r.n_users), np.diff(indptr))
    column = place[r.option_items[options]]
    kept = column >= 0
    chosen = np.full((r.n_users, len(items)), -1, dtype=np.int64)
    chosen[user[kept], column[kept]] = options[kept]
    return chosen


# -- the model of users who answer alone ----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Sheets:
    """Some users' answers as tables of ones: users × options, and users × items answered."""

    ones: Matrix
    answered: Matrix


@dataclass(frozen=True, eq=False)
class _Alone:
    """Slopes and levels of options, and abilities of users with a prior of so many degrees."""

    slopes: Floats
    level: Floats
    freedom: float
    ability: Floats


@dataclass(frozen=True, eq=False)
class _Options:
    """The options that some users chose, in items that several answered.

    Attributes
    ----------
    labels, item
        The number of each option in the data, and the place of its item among these.
    starts, columns
        For each item, its first option, and its column in the table of chosen options.
    """

    labels: Ints
    item: Ints
    starts: Ints
    columns: Ints

    @classmethod
    def of(cls, chosen: Ints) -> _Options:
        columns = np.flatnonzero((chosen >= 0).sum(axis=0) > 1)
        each = [np.unique(own[own >= 0]) for own in chosen[:, columns].T]
        sizes = np.array([len(own) for own in each], dtype=np.int64)
        labels = np.concatenate([np.zeros(0, dtype=np.int64), *each])
        item = np.repeat(np.arange(len(each)), sizes)
        return cls(labels, item, np.cumsum(sizes) - sizes, columns)

    def sheets(self, chosen: Ints) -> _Sheets:
        """The answers of some users, as far as they chose these options."""
        here = chosen[:, self.columns]
        place = np.searchsorted(self.labels, here).clip(0, max(len(self.labels) - 1, 0))
        known = (here >= 0) & (self.labels[place] == here)
        ones = np.zeros((len(here), len(self.labels)))
        user, column = np.nonzero(known)
        ones[user, place[user, column]] = 1.0
        return _Sheets(ones, known.astype(float))

    def _total(self, x: Any) -> Any:
        """Sums within items, at each option."""
        return np.add.reduceat(x, self.starts, axis=-1)[..., self.item]

    def chances(self, model: _Alone, ability: Floats, sheets: _Sheets) -> Matrix:
        """How likely each user, answering alone, chooses each option of the items answered."""
        logs = model.level + ability[:, None] * model.slopes
        raised = np.exp(logs - np.maximum.reduceat(logs, self.starts, axis=1)[:, self.item])
        found: Matrix = raised / self._total(raised) * sheets.answered[:, self.item]
        return found

    def fitted(
        self,
        sheets: _Sheets,
        by_middle: bool,
        freedom: float,
        rounds: int,
        weights: Floats | None = None,
    ) -> _Alone:
        """Fit the model, from the share of majority answers as the first ability.

        ``weights`` say how much each user counts for the options (1 if not given).
        """
        ones = sheets.ones
        weights = np.ones(len(ones)) if weights is None else weights
        counts = weights @ ones
        popularity = np.log((counts + 0.5) / self._total(counts + 0.5))
        most = np.maximum.reduceat(counts, self.starts)[self.item]
        ability = ones @ (counts == most) / np.maximum(sheets.answered.sum(axis=1), 1)
        ability = _scaled(ability, by_middle)
        model, spread = _Alone(np.zeros(len(counts)), popularity.copy(), freedom, ability), 1.0
        for _ in range(rounds):
            for _ in range(2):  # Newton's steps for the options
                p = self.chances(model, ability, sheets)
                beyond, w = ones - p, p * (1 - p)
                mine = weights * ability
                g_slope = mine @ beyond - model.slopes / spread
                g_level = weights @ beyond - POPULAR * (model.level - popularity)
                aa, ab, bb = (mine * ability) @ w + 1 / spread, mine @ w, weights @ w + POPULAR
                det = aa * bb - ab**2
                slopes = model.slopes + np.clip((bb * g_slope - ab * g_level) / det, -1, 1)
                level = model.level + np.clip((aa * g_level - ab * g_slope) / det, -1, 1)
                model = replace(model, slopes=slopes, level=level)
            spread = max(float((model.slopes**2 + bb / det).mean()), 0.02)
            ability = _scaled(self.placed(model, sheets, ability), by_middle)
        return replace(model, ability=ability)

    def placed(
        self, model: _Alone, sheets: _Sheets, ability: Floats, steps: int = 2, pull: float = 1.0
    ) -> Floats:
        """Newton's steps for the users; ``pull`` is the weight of the prior."""
        for _ in range(steps):
            p = self.chances(model, ability, sheets)
            f = model.freedom
            prior = pull * (1.0 if np.isinf(f) else (f + 1) / (f + ability**2))
            away = model.slopes - self._total(p * model.slopes)
            gradient = (sheets.ones - p) @ model.slopes - ability * prior
            ability = ability + np.clip(gradient / ((p * away**2).sum(axis=1) + prior), -0.7, 0.7)
        return np.asarray(ability)

    def evidence(self, sheets: _Sheets, models: Sequence[_Alone]) -> Matrix:
        """For each pair the least evidence, over both directions and all models (nats)."""
        common = sheets.answered @ sheets.answered.T
        found = np.full(common.shape, np.inf)
        for model in models:
            p = self.chances(model, model.ability, sheets)
            one_way = _copied(p, sheets.ones, common, lambda weights: weights @ sheets.ones.T)
            found = np.minimum(found, np.minimum(one_way, one_way.T))
        np.fill_diagonal(found, -np.inf)
        return found


def _copied(p: Matrix, ones: Matrix, common: Floats, add: Callable[[Matrix], Floats]) -> Floats:
    """The logarithm of how much likelier some users' answers are if others copied a part of them.

    ``common`` is the number of common answers, and ``add`` adds weights over the equal ones.
    """
    odds = 1 / np.clip(p, 1e-6, 1) - 1
    each = [add(ones * (np.log1p(c * odds) - np.log1p(-c))) + np.log1p(-c) * common for c in COPIED]
    most = np.maximum.reduce(each)
    return np.asarray(most + np.log(np.mean([np.exp(logs - most) for logs in each], axis=0)))


def _scaled(ability: Floats, by_middle: bool) -> Floats:
    ability = ability - np.median(ability)
    scale = float(ability.std())
    if by_middle:
        low, high = np.quantile(ability, [0.25, 0.75])
        scale = max(float(high - low) / 1.35, 0.8 * scale)
    return np.clip(ability / max(scale, 1e-9), -EXTREME, EXTREME)


def _bar(evidence: Floats, pairs: int) -> float:
    """The evidence from which a pair is named, of so many pairs."""
    enough = float(np.log(pairs / LEVEL))
    top = np.sort(evidence[evidence <= BEYOND * enough])[::-1][:TAIL]
    if len(top) < TAIL:
        return enough
    # an exponential tail by its median; under a true model its slope is below 1
    slope = max(float(np.median(top - top[-1])) / np.log(2), 1.0)
    return float(top[-1] + slope * np.log(TAIL / len(evidence) * pairs / LEVEL))


# -- many users -----------------------------------------------------------------------------------


def _words(chosen: Ints) -> Words:
    """A fingerprint of each row."""
    return np.asarray(mixed((chosen + 1).astype(np.uint64)).sum(axis=1, dtype=np.uint64))


def _sharing_a_part(chosen: Ints) -> tuple[Ints, Ints]:
    """Pairs who share all unusual answers in a part of the items, and hardly anybody else does."""
    counts = np.bincount(chosen[chosen >= 0], minlength=int(chosen.max()) + 1)
    answers = np.maximum((chosen >= 0).sum(axis=0), 1)
    share = np.where(chosen >= 0, counts[chosen], answers) / answers
    own = [np.unique(column[column >= 0]) for column in chosen.T]
    most = np.array(
        [options[np.argmax(counts[options])] if len(options) else -1 for options in own]
    )
    unusual = np.where(chosen == most, -1, chosen)
    surprise = np.where(unusual >= 0, -np.log(share), 0.0)
    found: list[tuple[Ints, Ints, Floats]] = []
    for part in range(PARTS):
        here, far = unusual[:, part::PARTS], surprise[:, part::PARTS].sum(axis=1)
        users = np.flatnonzero(far > np.log(len(chosen)))  # else somebody shares them by chance
        order = users[np.argsort(_words(here[users]), kind="stable")]
        words = _words(here[order])
        for step in (1, 2):  # neighbours are enough to find a group
            same = words[step:] == words[:-step]
            found.append((order[:-step][same], order[step:][same], far[order[:-step]][same]))
    one, other, far = (np.concatenate(side) for side in zip(*found, strict=True))
    pairs = np.argsort(-far, kind="stable")[:MOST_PAIRS]
    low, high = np.minimum(one, other)[pairs], np.maximum(one, other)[pairs]
    code = np.unique(low * len(chosen) + high)
    return code // len(chosen), code % len(chosen)


def _verified(
    chosen: Ints, options: _Options, models: Sequence[_Alone], one: Ints, other: Ints
) -> Floats:
    """The evidence of given pairs, by models that were fitted to some of the users."""
    strength = np.full(len(one), np.inf)
    size = max(CELLS // (4 * max(len(options.labels), 1)), 1)
    for first in range(0, len(strength), size):
        some = slice(first, first + size)
        sides = [options.sheets(chosen[side[some]]) for side in (one, other)]
        common = (sides[0].answered * sides[1].answered).sum(axis=1)
        same = sides[0].ones * sides[1].ones
        for model in models:
            for sheets in sides:
                ability = options.placed(model, sheets, np.zeros(len(same)), steps=12)
                p = options.chances(model, ability, sheets)
                least = _copied(p, same, common, lambda weights: weights.sum(axis=1))
                strength[some] = np.minimum(strength[some], least)
    return strength
