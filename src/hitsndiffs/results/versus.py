"""Two users side by side: who is better, judged by the items that both answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.lookup import no_such_user, python_value, said_of
from hitsndiffs.data.words import count, per_cent
from hitsndiffs.errors import InputError
from hitsndiffs.methods.probability import normal_cdf
from hitsndiffs.results.cells import Cells, Kind, Tabled
from hitsndiffs.results.uncertainty import SURE, beliefs_of

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.results.ranking import Ranking

__all__ = ["Difference", "Pairing", "Pairs", "Versus", "cluster_numbers", "pairs", "versus"]


@dataclass(frozen=True)
class Difference:
    """An item that two users answered differently.

    Attributes
    ----------
    item
        Its label.
    a, b
        The two answers; of several runs the most frequent one.
    a_right, b_right
        How likely each is the right one; ``None`` for methods without a key.
    """

    item: Any
    a: Any
    b: Any
    a_right: float | None
    b_right: float | None


@dataclass(frozen=True, repr=False)
class Versus(Tabled):
    """Two users side by side; the table has the items on which they differ.

    Attributes
    ----------
    responses
        The answers.
    a, b
        The users, or groups of users who are runs of one source.
    probability
        That ``a`` is above ``b``.
    difference, standard_error
        By how large a share of the shared items ``a`` is likely right more often, and how far
        that would differ on other items of the kind; NaN for methods without a key.
    shared
        How many items both answered.
    clusters
        In how many clusters these items are; ``None`` where each stands for itself.
    items
        The items on which they differ, those that speak most for one of them first.
    """

    ROWS = "items"

    responses: Responses
    a: Any
    b: Any
    probability: float
    difference: float
    standard_error: float
    shared: int
    clusters: int | None
    items: tuple[Difference, ...]

    def facts(self) -> dict[str, Any]:
        """Who is compared, and what was found."""
        beside = ("responses", "items")
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name not in beside}

    def cells(self) -> Cells:
        """One row per item on which they differ: the answers, and how likely each is right."""
        names = ("item", str(self.a), str(self.b), f"right_{self.a}", f"right_{self.b}")
        columns = {
            name: [getattr(one, field.name) for one in self.items]
            for name, field in zip(names, fields(Difference), strict=True)
        }
        kinds: tuple[Kind, ...] = ("label", "label", "label", "chance", "chance")
        return Cells(columns, dict(zip(names, kinds, strict=True)))

    def sentence(self) -> str:
        """Who is above whom, and how surely."""
        first, second, chance = self.a, self.b, self.probability
        if chance < 0.5:
            first, second, chance = second, first, 1 - chance
        within = "" if self.clusters is None else f", in {count(self.clusters, 'cluster')}"
        return (
            f"{first} is above {second} with a probability of {per_cent(chance)}: they differ on "
            f"{len(self.items)} of {count(self.shared, 'item')} that both answered{within}."
        )


def versus(
    ranking: Ranking, a: Any, b: Any, *, clusters: Mapping[Any, Any] | str | None = None
) -> Versus:
    """Compare two users (see :meth:`hitsndiffs.Ranking.versus`)."""
    r, pairing = ranking.responses, Pairing(ranking)
    one, other = (pairing.side(_members(ranking, name)) for name in (a, b))
    of_item = None if clusters is None else cluster_numbers(r.items, clusters)
    found = pairing.met(one, other, of_item)
    differ = found.shared[one.chosen[found.shared] != other.chosen[found.shared]]
    differ = differ[np.argsort(-np.abs(one.worth - other.worth)[differ], kind="stable")]
    # while the order is in doubt, so is the key that goes with it
    held = ranking.key_chances if ranking.verdict.is_open else ranking.fit.key_probabilities
    labels = list(map(python_value, r.option_labels))
    items = tuple(
        Difference(
            python_value(r.items[i]),
            *(labels[option] for option in chosen),
            *(None if held is None else float(held[option]) for option in chosen),
        )
        for i, *chosen in zip(differ, one.chosen[differ], other.chosen[differ], strict=True)
    )
    name_a, name_b = (
        python_value(r.users[side.users[0]]) if len(side.users) == 1 else str(name)
        for side, name in ((one, a), (other, b))
    )
    known = held is not None and len(found.shared) > 0
    return Versus(
        r,
        name_a,
        name_b,
        found.above,
        found.difference if known else float("nan"),
        found.error if known else float("nan"),
        len(found.shared),
        None if of_item is None else len(np.unique(of_item[found.shared])),
        items,
    )


@dataclass(frozen=True, repr=False)
class Pairs(Tabled):
    """How likely each of some users is above each other; see :meth:`hitsndiffs.Ranking.pairs`.

    The table has one row per pair: ``user`` and ``other``, the ``probability`` that the user is
    above the other, the ``difference`` (by how large a share of the ``shared`` items the user is
    likely right more often), and its ``standard_error``.

    Attributes
    ----------
    responses
        The answers.
    users
        The users, in the order of the ranking.
    above
        Users × users: the probability that the one is above the other (NaN on the diagonal).
    difference, standard_error, shared
        Users × users, as in the table.
    """

    responses: Responses
    users: Array
    above: Floats
    difference: Floats
    standard_error: Floats
    shared: Ints

    def cells(self) -> Cells:
        """One row per pair, the better user first."""
        one, other = np.triu_indices(len(self.users), 1)
        columns = {"user": self.users[one], "other": self.users[other]}
        found = {"probability": self.above, "difference": self.difference,
                 "standard_error": self.standard_error, "shared": self.shared}  # fmt: skip
        pairs = {name: values[one, other] for name, values in found.items()}
        kinds = {"chance": "probability", "share": "difference standard_error"}
        return Cells.of({**columns, **pairs}, **kinds)

    def sentence(self) -> str:
        """How many of the pairs are told apart."""
        n = len(self.users)
        sure = int((np.nan_to_num(np.maximum(self.above, 1 - self.above)) >= SURE).sum()) // 2
        return (
            f"Of the {count(n * (n - 1) // 2, 'pair')} of the first {count(n, 'user')}, the "
            f"answers tell {sure:,} apart (with 95 % probability)."
        )


def pairs(
    ranking: Ranking, most: int = 20, *, clusters: Mapping[Any, Any] | str | None = None
) -> Pairs:
    """Compare the first users with each other (see :meth:`hitsndiffs.Ranking.pairs`)."""
    r, pairing = ranking.responses, Pairing(ranking)
    users = ranking.order[ranking.components[ranking.order] == 0][:most]
    sides = [pairing.side(np.array([user])) for user in users]
    of_item = None if clusters is None else cluster_numbers(r.items, clusters)
    above, difference, error = np.full((3, len(users), len(users)), np.nan)
    shared = np.zeros(above.shape, dtype=np.int64)
    for i, j in combinations(range(len(users)), 2):
        found = pairing.met(sides[i], sides[j], of_item)
        above[i, j], above[j, i] = found.above, 1 - found.above
        shared[i, j] = shared[j, i] = len(found.shared)
        if ranking.fit.key_probabilities is not None and len(found.shared):
            difference[i, j], error[i, j] = found.difference, found.error
    return Pairs(r, ranking.users[users], above, difference, error, shared)


def _members(ranking: Ranking, name: Any) -> Ints:
    """A user, or the users of a group (runs of one model)."""
    place = ranking.data.user_number(name)
    if place is not None:
        return np.array([place])
    groups = ranking.parameters.get("group") or {}
    own = said_of(ranking.users.tolist(), groups)
    members = np.flatnonzero([str(group).strip() == str(name).strip() for group in own])
    if len(members) == 0:
        raise no_such_user(name, [*ranking.users.tolist(), *dict.fromkeys(groups.values())])
    return members


def cluster_numbers(items: Array, clusters: Mapping[Any, Any] | str) -> Ints:
    """The cluster of each item, as a number; an item without one is a cluster of its own."""
    own = said_of(items.tolist(), clusters)
    number = {cluster: n for n, cluster in enumerate(dict.fromkeys(own.tolist()))}
    if set(number) == {None} or (len(number) == 1 and len(own) > 1):
        which = "none of the items" if None in number else "one cluster only"
        raise InputError(
            f"The clusters name {which}, so they tell no items apart; items are for example "
            f"{', '.join(repr(str(item)) for item in items[:3])}."
        )
    return np.array([n + len(number) if c is None else number[c] for n, c in enumerate(own)])


class Side(NamedTuple):
    """A user, or several runs of one: what their answers are worth, and which they chose most.

    Both are item by item; -1 is no answer.
    """

    users: Ints
    worth: Floats
    chosen: Ints


class Met(NamedTuple):
    """What the items that two sides answered say.

    These items, how likely the first side is above the second, and how much more its answers are
    worth on average, with the error of that.
    """

    shared: Ints
    above: float
    difference: float
    error: float


class Pairing:
    """What it takes to say which of two users is better.

    On the items that both answered, what their answers differ by is a paired sample: items that
    are hard for everybody drop out. With few shared items the scores know more, and are used.

    ``worth`` is what each option is worth: how likely it is right, or its weight. ``mean`` and
    ``spread`` say where each user is believed to stand by the scores alone (NaN: unknown),
    ``prior`` is the variance of the difference between two users' true shares, ``sure`` how sure it
    is that the order is one of ability, and ``by_pairs`` whether paired items may be used.
    """

    def __init__(self, ranking: Ranking) -> None:
        fit, r = ranking.fit, ranking.responses
        worth = fit.key_probabilities if fit.key_probabilities is not None else fit.option_weights
        self.worth = np.zeros(r.n_options) if worth is None else np.nan_to_num(worth)
        self.by_pairs = ranking.by == "correct"
        self.sure = (ranking.confidence or 0.0) if ranking.verdict.is_open else 1.0
        self.responses, self.components = r, ranking.components
        self.mean, self.spread = np.full((2, r.n_users), np.nan)
        self.prior = float("nan")
        for users, scores, errors in ranking.with_errors():
            beliefs = beliefs_of(scores, errors)
            self.mean[users], self.spread[users] = beliefs.mean, beliefs.sd
            if self.by_pairs and self.components[users[0]] == 0 and len(users) > 2:
                total = float(scores.var(ddof=1))
                self.prior = 2 * max(total - float((errors**2).mean()), 1e-3 * total, 1e-12)

    def side(self, users: Ints) -> Side:
        """What some users answered: a user, or the runs of one."""
        r = self.responses
        options, times = np.unique(r.some_rows(users)[1], return_counts=True)
        items = r.option_items[options]
        total = np.bincount(items, times, r.n_items)
        worth = np.bincount(items, times * self.worth[options], r.n_items) / np.maximum(total, 1)
        most = np.full(r.n_items, -1, dtype=np.int64)
        by_times = np.argsort(times, kind="stable")
        most[items[by_times]] = options[by_times]
        return Side(users, worth, most)

    def met(self, one: Side, other: Side, clusters: Ints | None = None) -> Met:
        """Compare two sides; the answers to the items of a cluster stand or fall together."""
        shared = np.flatnonzero((one.chosen >= 0) & (other.chosen >= 0))
        gain = (one.worth - other.worth)[shared]
        n, squares = max(len(gain), 1), float((gain**2).sum())
        # the variance of a sum of paired differences, with one item more that speaks for neither
        together = gain if clusters is None else np.bincount(clusters[shared], gain)
        variance = (float((together**2).sum()) + 1) / n**2
        wider = max(variance * n**2 / (squares + 1), 1.0)
        mean, error = float(gain.sum()) / n, float(np.sqrt(variance))
        first, second = one.users, other.users
        both = np.concatenate([first, second])
        components = set(self.components[both].tolist())
        if set(first) == set(second) or len(components) > 1 or -1 in components:
            return Met(shared, 0.5, mean, error)  # the same, or not to be compared
        apart = float(self.mean[first].mean() - self.mean[second].mean())
        spread = sum(
            float((self.spread[own] ** 2).sum()) / len(own) ** 2 for own in (first, second)
        )
        z = apart / np.sqrt(wider * spread) if spread > 0 else np.nan
        if len(gain) >= 0.5 * self.responses.answers_per_user[both].max() and (
            self.by_pairs or not np.isfinite(z)
        ):
            shrunk = 1.0 if np.isnan(self.prior) else self.prior / (self.prior + variance)
            z = mean * np.sqrt(shrunk / variance)
        chance = 0.5 if not np.isfinite(z) else float(normal_cdf(np.array([z]))[0])
        return Met(shared, self.sure * chance + (1 - self.sure) * 0.5, mean, error)
