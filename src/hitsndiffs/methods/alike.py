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

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
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
    chosen = _chosen(responses)
    if m <= MOST_USERS:
        group = np.arange(m)
        candidates = None
    else:
        candidates = _sharing_a_part(chosen)
        group = np.sort(np.argsort(mixed(_words(chosen)), kind="stable")[:MOST_USERS])
    sheets = _Sheets(chosen[group])
    models = [sheets.fitted(*scale) for scale in SCALES]
    evidence = sheets.evidence(models)
    here = np.triu_indices(len(group), 1)
    pairs = len(here[0]) if candidates is None else m * (m - 1) // 2
    found = _runs(responses, sheets) if candidates is None else ()
    of_run = np.full(m, -1)
    for number, run in enumerate(found):
        of_run[run] = number
    apart = (of_run[here[0]] < 0) | (of_run[here[0]] != of_run[here[1]])
    bar = _bar(evidence[here][apart], pairs)
    if candidates is None:
        one, other = (side[apart] for side in here)
        strength = evidence[here][apart]
    else:
        one, other, strength = _verified(chosen, sheets, models, candidates)
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
    indptr, options = responses.rows
    user = np.repeat(np.arange(m), np.diff(indptr))
    once = ways_to_count(user, np.asarray(options, dtype=np.int64), of_option, (), m).get(SHEETS)
    sheets = _Sheets(_chosen(responses))
    model = sheets.fitted(*SCALES[1], weights=once)
    # as the answers say, and not drawn to the middle: able users agree because they are able
    ability = sheets.placed(model, sheets.ones, sheets.answered, model.ability, 15, HARDLY)
    p = sheets.chances(ability, model.slopes, model.level, sheets.answered)
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


#: Two scales of ability: by the middle half of the users with a prior that lets extremes be extreme
#: (Student's t), and by the standard deviation with a normal prior.
SCALES = ((True, 3.0, ROUNDS), (False, np.inf, 10))


class _Sheets:
    """Some users' answers as a table of ones, and the model of users who answer alone."""

    def __init__(self, chosen: Ints) -> None:
        answered = chosen >= 0
        keep = answered.sum(axis=0) > 1
        chosen, answered = chosen[:, keep], answered[:, keep]
        labels = np.unique(chosen[answered])
        self.labels = labels
        code = np.searchsorted(labels, np.where(answered, chosen, labels[0] if len(labels) else 0))
        m, n = chosen.shape
        user, item = np.nonzero(answered)
        self.item = np.zeros(len(labels), dtype=np.int64)
        self.item[code[user, item]] = item
        order = np.argsort(self.item, kind="stable")
        rank = np.argsort(order)
        self.labels, self.item = labels[order], self.item[order]
        self.starts = np.searchsorted(self.item, np.arange(n))
        self.ones = np.zeros((m, len(labels)))
        self.ones[user, rank[code[user, item]]] = 1.0
        self.answered = answered.astype(float)
        self.column = np.flatnonzero(keep)

    def _total(self, x: Any) -> Any:
        """Sums within items, at each option."""
        return np.add.reduceat(x, self.starts, axis=-1)[..., self.item]

    def chances(self, ability: Floats, slopes: Floats, level: Floats, answered: Floats) -> Matrix:
        """How likely each user, answering alone, chooses each option of the items answered."""
        logs = level + ability[:, None] * slopes
        raised = np.exp(logs - np.maximum.reduceat(logs, self.starts, axis=1)[:, self.item])
        found: Matrix = raised / self._total(raised) * answered[:, self.item]
        return found

    def fitted(
        self, by_middle: bool, freedom: float, rounds: int, weights: Floats | None = None
    ) -> _Alone:
        """Fit the model, from the share of majority answers as the first ability.

        ``weights`` say how much each user counts for the options (1 if not given).
        """
        weights = np.ones(len(self.ones)) if weights is None else weights
        counts = weights @ self.ones
        popularity = np.log((counts + 0.5) / self._total(counts + 0.5))
        most = np.maximum.reduceat(counts, self.starts)[self.item]
        ability = self.ones @ (counts == most) / np.maximum(self.answered.sum(axis=1), 1)
        ability = _scaled(ability, by_middle)
        slopes, level, spread = np.zeros(len(counts)), popularity.copy(), 1.0
        for _ in range(rounds):
            for _ in range(2):  # Newton's steps for the options
                p = self.chances(ability, slopes, level, self.answered)
                beyond, w = self.ones - p, p * (1 - p)
                mine = weights * ability
                g_slope = mine @ beyond - slopes / spread
                g_level = weights @ beyond - POPULAR * (level - popularity)
                aa, ab, bb = (mine * ability) @ w + 1 / spread, mine @ w, weights @ w + POPULAR
                det = aa * bb - ab**2
                slopes = slopes + np.clip((bb * g_slope - ab * g_level) / det, -1, 1)
                level = level + np.clip((aa * g_level - ab * g_slope) / det, -1, 1)
            spread = max(float((slopes**2 + bb / det).mean()), 0.02)
            ability = self.placed(_Alone(slopes, level, freedom), self.ones, self.answered, ability)
            ability = _scaled(ability, by_middle)
        return _Alone(slopes, level, freedom, ability)

    def placed(
        self,
        model: _Alone,
        ones: Matrix,
        answered: Floats,
        ability: Floats,
        steps: int = 2,
        pull: float = 1.0,
    ) -> Floats:
        """Newton's steps for the users; ``pull`` is the weight of the prior."""
        for _ in range(steps):
            p = self.chances(ability, model.slopes, model.level, answered)
            f = model.freedom
            prior = pull * (1.0 if np.isinf(f) else (f + 1) / (f + ability**2))
            away = model.slopes - self._total(p * model.slopes)
            gradient = (ones - p) @ model.slopes - ability * prior
            ability = ability + np.clip(gradient / ((p * away**2).sum(axis=1) + prior), -0.7, 0.7)
        return np.asarray(ability)

    def evidence(self, models: Sequence[_Alone]) -> Matrix:
        """For each pair the least evidence, over both directions and all models (nats)."""
        common = self.answered @ self.answered.T
        found = np.full(common.shape, np.inf)
        for model in models:
            p = self.chances(model.ability, model.slopes, model.level, self.answered)
            odds = 1 / np.clip(p, 1e-6, 1) - 1
            each = np.stack(
                [
                    (self.ones * (np.log1p(c * odds) - np.log1p(-c))) @ self.ones.T
                    + np.log1p(-c) * common
                    for c in COPIED
                ]
            )
            found = np.minimum(found, np.minimum(_mean(each), _mean(each).T))
        np.fill_diagonal(found, -np.inf)
        return found


@dataclass(frozen=True, eq=False)
class _Alone:
    """The model of users who answer alone: slopes and levels of options, abilities of users."""

    slopes: Floats
    level: Floats
    freedom: float
    ability: Any = None


def _mean(logs: Matrix) -> Matrix:
    """The logarithm of the mean over the first axis."""
    most = logs.max(axis=0)
    return np.asarray(most + np.log(np.exp(logs - most).mean(axis=0)))


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


def _runs(responses: Responses, sheets: _Sheets) -> tuple[Ints, ...]:
    common = sheets.answered @ sheets.answered.T
    agree = sheets.ones @ sheets.ones.T / np.maximum(common, 1)
    return runs([str(user) for user in responses.users], agree)


# -- many users -----------------------------------------------------------------------------------


def _words(chosen: Ints) -> npt.NDArray[np.uint64]:
    """A fingerprint of each row."""
    return np.asarray(mixed((chosen + 1).astype(np.uint64)).sum(axis=1, dtype=np.uint64))


def _sharing_a_part(chosen: Ints) -> tuple[Ints, Ints]:
    """Pairs who share all unusual answers in a part of the items, and hardly anybody else does."""
    counts = np.bincount(chosen[chosen >= 0], minlength=int(chosen.max()) + 1)
    answers = np.maximum((chosen >= 0).sum(axis=0), 1)
    share = np.where(chosen >= 0, counts[chosen], answers) / answers
    unusual = np.where(chosen == _most_chosen(chosen, counts), -1, chosen)
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
    most = np.argsort(-far, kind="stable")[:MOST_PAIRS]
    low, high = np.minimum(one, other)[most], np.maximum(one, other)[most]
    code = np.unique(low * len(chosen) + high)
    return code // len(chosen), code % len(chosen)


def _most_chosen(chosen: Ints, counts: Ints) -> Ints:
    """The option of each item (column) that most users chose."""
    options = (np.unique(column[column >= 0]) for column in chosen.T)
    return np.array([own[np.argmax(counts[own])] if len(own) else -1 for own in options])


def _verified(
    chosen: Ints, sheets: _Sheets, models: Sequence[_Alone], pairs: tuple[Ints, Ints]
) -> tuple[Ints, Ints, Floats]:
    """The evidence of given pairs, by a model that was fitted to some of the users."""
    strength = np.full(len(pairs[0]), -np.inf)
    size = max(CELLS // (4 * max(len(sheets.labels), 1)), 1)
    order = np.argsort(sheets.labels)
    for first in range(0, len(strength), size):
        some = slice(first, first + size)
        sides = []
        for side in (pairs[0][some], pairs[1][some]):
            here = chosen[side][:, sheets.column]
            place = np.searchsorted(sheets.labels[order], here).clip(0, len(order) - 1)
            known = sheets.labels[order][place] == here
            ones = np.zeros((len(side), len(order)))
            row, column = np.nonzero(known)
            ones[row, order[place[row, column]]] = 1.0
            sides.append((ones, known.astype(float)))
        common = (sides[0][1] * sides[1][1]).sum(axis=1)
        same = sides[0][0] * sides[1][0]
        least = np.full(len(common), np.inf)
        for model in models:
            for ones, known in sides:
                ability = sheets.placed(model, ones, known, np.zeros(len(ones)), steps=12)
                p = sheets.chances(ability, model.slopes, model.level, known)
                odds = 1 / np.clip(p, 1e-6, 1) - 1
                each = np.stack(
                    [
                        (same * (np.log1p(c * odds) - np.log1p(-c))).sum(axis=1)
                        + np.log1p(-c) * common
                        for c in COPIED
                    ]
                )
                least = np.minimum(least, _mean(each))
        strength[some] = least
    return pairs[0], pairs[1], strength
