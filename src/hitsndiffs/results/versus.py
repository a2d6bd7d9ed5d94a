"""Two users side by side: who is better, judged by the items that both answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.lookup import no_such_user, python_value, said_of
from hitsndiffs.data.words import count, per_cent
from hitsndiffs.errors import InputError
from hitsndiffs.methods.probability import normal_cdf
from hitsndiffs.results.cells import Cells, Tabled
from hitsndiffs.results.tiers import SURE
from hitsndiffs.results.uncertainty import beliefs_of

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
        columns: dict[str, Any] = {"item": [one.item for one in self.items]}
        columns[str(self.a)] = [one.a for one in self.items]
        columns[str(self.b)] = [one.b for one in self.items]
        right = {f"right_{self.a}": [one.a_right for one in self.items],
                 f"right_{self.b}": [one.b_right for one in self.items]}  # fmt: skip
        names = dict.fromkeys(columns, "label") | dict.fromkeys(right, "chance")
        return Cells({**columns, **right}, cast(Any, names))

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
    sides = [_members(ranking, name) for name in (a, b)]
    pairing, r = Pairing.of(ranking), ranking.responses
    (worth_a, chosen_a), (worth_b, chosen_b) = (_answers(ranking, pairing, own) for own in sides)
    shared = np.flatnonzero((chosen_a >= 0) & (chosen_b >= 0))
    gain = worth_a[shared] - worth_b[shared]
    of_cluster = None if clusters is None else cluster_numbers(r.items, clusters)[shared]
    chance, error = pairing.above(sides[0], sides[1], gain, of_cluster)
    differ = shared[chosen_a[shared] != chosen_b[shared]]
    differ = differ[np.argsort(-np.abs(worth_a[differ] - worth_b[differ]), kind="stable")]
    # while the order is in doubt, so is the key that goes with it
    held = ranking.key_chances if ranking.verdict.is_open else ranking.fit.key_probabilities
    items = tuple(
        Difference(
            item=python_value(r.items[i]),
            a=python_value(r.option_labels[chosen_a[i]]),
            b=python_value(r.option_labels[chosen_b[i]]),
            a_right=None if held is None else float(held[chosen_a[i]]),
            b_right=None if held is None else float(held[chosen_b[i]]),
        )
        for i in differ.tolist()
    )
    known = held is not None and len(gain) > 0
    names = [
        python_value(r.users[own[0]]) if len(own) == 1 else str(name)
        for own, name in zip(sides, (a, b), strict=True)
    ]
    return Versus(
        responses=r,
        a=names[0],
        b=names[1],
        probability=chance,
        difference=float(gain.mean()) if known else float("nan"),
        standard_error=error if known else float("nan"),
        shared=len(shared),
        clusters=None if of_cluster is None else len(np.unique(of_cluster)),
        items=items,
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
    users = ranking.order[ranking.components[ranking.order] == 0][:most]
    pairing, n = Pairing.of(ranking), len(users)
    answers = [_answers(ranking, pairing, np.array([user])) for user in users]
    of_item = None if clusters is None else cluster_numbers(ranking.responses.items, clusters)
    above, difference, error = np.full((3, n, n), np.nan)
    shared = np.zeros((n, n), dtype=np.int64)
    for i in range(n):
        for j in range(i + 1, n):
            both = (answers[i][1] >= 0) & (answers[j][1] >= 0)
            gain = answers[i][0][both] - answers[j][0][both]
            of_cluster = None if of_item is None else of_item[both]
            chance, error[i, j] = pairing.above(users[[i]], users[[j]], gain, of_cluster)
            above[i, j], above[j, i] = chance, 1 - chance
            shared[i, j] = shared[j, i] = both.sum()
            if len(gain) and ranking.fit.key_probabilities is not None:
                difference[i, j] = gain.mean()
    error[np.isnan(difference)] = np.nan
    return Pairs(ranking.responses, ranking.users[users], above, difference, error, shared)


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


def _answers(ranking: Ranking, pairing: Pairing, users: Ints) -> tuple[Floats, Ints]:
    """For each item the mean worth of the users' answers, and the most frequent one (-1: none)."""
    r = ranking.responses
    _, chosen = r.some_rows(users)
    options, times = np.unique(chosen, return_counts=True)
    items = r.option_items[options]
    total = np.bincount(items, times, r.n_items)
    worth = np.bincount(items, times * pairing.worth[options], r.n_items) / np.maximum(total, 1)
    most = np.full(r.n_items, -1, dtype=np.int64)
    by_times = np.argsort(times, kind="stable")
    most[items[by_times]] = options[by_times]
    return worth, most


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


@dataclass(frozen=True)
class Pairing:
    """What it takes to say which of two users is better.

    On the items that both answered, what their answers differ by is a paired sample: items that
    are hard for everybody drop out. With few shared items the scores know more, and are used.

    Attributes
    ----------
    worth
        What each option is worth: how likely it is right, or its weight.
    by_pairs
        Whether the paired items may be used; otherwise the scores are.
    prior
        The variance of the difference between two users' true shares; NaN if not known.
    mean, spread
        Where each user is believed to stand by the scores alone, and how surely (NaN: unknown).
    sure
        How sure it is that the order is one of ability.
    components, answered
        Of each user: who can be compared, and how many items were answered.
    """

    worth: Floats
    by_pairs: bool
    prior: float
    mean: Floats
    spread: Floats
    sure: float
    components: Ints
    answered: Ints

    @classmethod
    def of(cls, ranking: Ranking) -> Pairing:
        """What a ranking says about pairs of users."""
        fit, r = ranking.fit, ranking.responses
        worth = fit.key_probabilities if fit.key_probabilities is not None else fit.option_weights
        mean, spread = np.full((2, r.n_users), np.nan)
        known = np.isfinite(ranking.standard_errors)
        for component in range(ranking.n_components):
            users = np.flatnonzero(known & (ranking.components == component))
            if len(users) > 1:
                beliefs = beliefs_of(ranking.scores[users], ranking.own_errors[users])
                mean[users], spread[users] = beliefs.mean, beliefs.sd
        doubted = ranking.verdict.is_open
        return cls(
            worth=np.zeros(r.n_options) if worth is None else np.nan_to_num(worth),
            by_pairs=ranking.by == "correct",
            prior=_prior(ranking),
            mean=mean,
            spread=spread,
            sure=(ranking.confidence or 0.0) if doubted else 1.0,
            components=ranking.components,
            answered=r.answers_per_user,
        )

    def above(
        self, first: Ints, second: Ints, gain: Floats, of_cluster: Ints | None = None
    ) -> tuple[float, float]:
        """How likely the first is above the second, and the error of the mean gain.

        Parameters
        ----------
        first, second
            The users of each side.
        gain
            What the first side's answers are worth more, on each item that both answered.
        of_cluster
            The cluster of each of these items: within one, answers stand or fall together.
        """
        n, squares = max(len(gain), 1), float((gain**2).sum())
        # the variance of a sum of paired differences, with one item more that speaks for neither
        together = gain if of_cluster is None else np.bincount(of_cluster, gain)
        variance = (float((together**2).sum()) + 1) / n**2
        wider = max(variance * n**2 / (squares + 1), 1.0)
        error = float(np.sqrt(variance))
        both = np.concatenate([first, second])
        components = set(self.components[both].tolist())
        if set(first) == set(second) or len(components) > 1 or -1 in components:
            return 0.5, error  # the same, or not to be compared
        apart = float(self.mean[first].mean() - self.mean[second].mean())
        spread = sum(
            float((self.spread[own] ** 2).sum()) / len(own) ** 2 for own in (first, second)
        )
        z = apart / np.sqrt(wider * spread) if spread > 0 else np.nan
        if len(gain) >= 0.5 * self.answered[both].max() and (self.by_pairs or not np.isfinite(z)):
            shrunk = 1.0 if np.isnan(self.prior) else self.prior / (self.prior + variance)
            z = float(gain.sum()) / n * np.sqrt(shrunk / variance)
        return self._chance(z), error

    def _chance(self, z: float) -> float:
        chance = 0.5 if not np.isfinite(z) else float(normal_cdf(np.array([z]))[0])
        return self.sure * chance + (1 - self.sure) * 0.5


def _prior(ranking: Ranking) -> float:
    """The variance of the difference between two users' true shares; NaN if it is not known."""
    users = (ranking.components == 0) & np.isfinite(ranking.own_errors)
    if ranking.by != "correct" or users.sum() < 3:
        return float("nan")
    total = float(ranking.scores[users].var(ddof=1))
    return 2 * max(total - float((ranking.own_errors[users] ** 2).mean()), 1e-3 * total, 1e-12)
