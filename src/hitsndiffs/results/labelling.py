"""What to label next and from whom, and what each worker does with the labels."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.lookup import no_such_user, python_value
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError
from hitsndiffs.methods.probability import normal_quantile
from hitsndiffs.results.cells import Cells, Tabled

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["NextLabels", "Workers", "next_labels", "workers"]

#: An order is the same if the scores before and after correlate at least so.
SAME_ORDER = 0.98


# -- what to label next -----------------------------------------------------------------------


def next_labels(
    ranking: Ranking, budget: int, *, users: Collection[Any] | None = None, each: int | None = None
) -> NextLabels:
    """The answers worth asking for next: one more for some items, and from whom.

    Parameters
    ----------
    ranking
        A ranking by a method that knows how likely each option is to be right.
    budget
        How many answers there will be; at most one more per item.
    users
        Who can be asked; everybody who is ranked if not given.
    each
        How many answers one user gives at most; any number if not given.
    """
    if budget < 1:
        raise InputError(f"budget must be a whole number from 1 up; got {budget!r}.")
    if ranking.key_chances is None or ranking.correct is None:
        raise InputError(
            f"Method '{ranking.method}' does not say how likely each option is to be right, so it "
            "cannot say what to label next; rank with method='auto'."
        )
    labels = ranking.responses.users.tolist()
    places = {str(label).strip(): n for n, label in enumerate(labels)}
    for user in users or ():
        if str(user).strip() not in places:
            raise no_such_user(user, labels)
    able = np.isfinite(ranking.correct)
    if users is not None:
        able &= np.isin(np.arange(len(labels)), [places[str(u).strip()] for u in users])
    return _planned(ranking, budget, np.flatnonzero(able), each)


@dataclass(frozen=True, eq=False, repr=False)
class NextLabels(Tabled):
    """The answers worth asking for next; see :func:`next_labels`.

    Attributes
    ----------
    items, users
        For each answer, the item and who should give it, both as places; most useful first.
    gains
        How much likelier the item's right answer is expected to become (0–1).
    right_now, right_then
        How many items' likely answers are expected to be right, now and with these answers.
    order_kept
        How far the order is expected to stay as it is with these answers: the correlation of the
        scores now and then. NaN without standard errors.
    """

    ranking: Ranking
    items: Ints
    users: Ints
    gains: Floats
    right_now: float
    right_then: float
    order_kept: float

    responses = property(attrgetter("ranking.responses"), doc="The answers so far.")

    def cells(self) -> Cells:
        """One row per answer: item, user, answers so far, likely answer, its chance, the gain."""
        r, found = self.ranking.responses, self.ranking.answer_key(with_confidence=True)
        likely = [found.get(python_value(r.items[i]), (None, np.nan)) for i in self.items]
        columns = {
            "item": r.items[self.items],
            "user": r.users[self.users],
            "answers": self.ranking.data.answers_per_item[self.items],
            "likely": [label for label, _ in likely],
            "confidence": np.array([chance for _, chance in likely], dtype=float),
            "gain": self.gains,
        }
        return Cells.of(columns, chance="confidence", label="likely")

    def facts(self) -> dict[str, Any]:
        """What these answers would change."""
        names = ("right_now", "right_then", "order_kept")
        return {name: getattr(self, name) for name in names}

    def sentence(self) -> str:
        """Whether more labels are worth it: what they would change in the key and the order."""
        n, labels = self.ranking.responses.n_items, count(len(self.items), "more label")
        kept = f"(correlation {np.floor(100 * self.order_kept) / 100:.2f})"
        if len(self.items) == 0:
            return "You can stop labelling: no further answer of these users would help."
        settled = self.right_then - self.right_now < 0.5
        same_order = not self.order_kept < SAME_ORDER
        if settled and same_order:
            known = np.isfinite(self.order_kept)
            order = f", and hardly the order of the users {kept}" if known else ""
            return (
                f"You can stop labelling: {labels} would change the likely answer for the better "
                f"on less than one item in {n:,}{order}."
            )
        if settled:
            return (
                "The likely answers are settled, but not the order of the users: with "
                f"{labels} it would still change {kept}."
            )
        said = (
            f"The likely answers are right for about {self.right_now:.0f} of {n:,} items; with "
            f"{labels}, for about {self.right_then:.0f}."
        )
        if not np.isfinite(self.order_kept):
            return said
        return f"{said} The order of the users would {'hardly ' * same_order}change {kept}."


def _planned(ranking: Ranking, budget: int, able: Ints, each: int | None) -> NextLabels:
    data, items = ranking.data, ranking.data.items
    assert ranking.correct is not None
    # whether the ranking as a whole is right stays open: answers to single items do not settle it
    chances = np.nan_to_num(np.asarray(ranking.fit.key_probabilities, dtype=float))
    sure = 1.0 if ranking.confidence is None else ranking.confidence
    level = _log_odds(ranking.correct)
    middle = float(np.mean(level[able])) if len(able) else 0.0
    ease = _log_odds(items.total(chances * data.choosers_per_option) / data.answers_per_item)
    order = able[np.argsort(-ranking.correct[able], kind="stable")].tolist()

    def expected(item: int, user: int) -> tuple[float, float]:
        odds = level[user] + ease[item] - middle
        own = chances[items.starts[item] : items.starts[item + 1]]
        return _expected(own, 1 / (1 + np.exp(-odds)))

    # each item's gain if the ablest user answered it; the real user is found in the order of these
    gains = np.array([expected(i, order[0])[0] if order else 0.0 for i in range(data.n_items)])
    left = np.full(data.n_users, data.n_items if each is None else each)
    asked: list[tuple[int, int, float]] = []
    now = np.maximum.reduceat(chances, items.starts[:-1])
    then = now.copy()
    for i in np.argsort(-gains, kind="stable").tolist():
        if len(asked) == budget or gains[i] <= 0:
            break
        user = next((u for u in order if left[u] and not _answered(ranking, u, i)), None)
        if user is not None:
            gain, then[i] = expected(i, user)
            left[user] -= 1
            asked.append((i, user, sure * gain))
    asked.sort(key=lambda one: -one[2])
    which, whom, gained = zip(*asked, strict=True) if asked else ((), (), ())
    right_now = float(np.maximum.reduceat(np.asarray(ranking.key_chances), items.starts[:-1]).sum())
    return NextLabels(
        ranking,
        np.array(which, dtype=np.int64),
        np.array(whom, dtype=np.int64),
        np.array(gained, dtype=float),
        right_now,
        right_now + sure * float((then - now).sum()),
        _order_kept(ranking, asked),
    )


def _order_kept(ranking: Ranking, asked: list[tuple[int, int, float]]) -> float:
    """The expected correlation of the users' scores before and after (item, user, gain) answers.

    Two things move a score. The user's own new answers: those so far stay, so this alone would
    give the root of the ratio of both reliabilities. And what the others say of the items: the gain
    of an item is the variance by which the chances of its options move, all together.
    """
    r, users = ranking.responses, (ranking.components == 0) & np.isfinite(ranking.own_errors)
    if not (ranking.verdict.allows_numbers and ranking.reliability > 0):
        return float("nan")
    answers = np.asarray(r.answers_per_user, dtype=float)
    new = np.bincount([user for _, user, _ in asked], minlength=len(answers))
    variance = float(ranking.scores[users].var(ddof=1))
    error = ranking.own_errors[users] ** 2 * answers[users] / (answers + new)[users]
    own = ranking.reliability + float(error.mean()) / variance
    options = np.diff(r.item_starts)
    per_answer = sum(gain / options[item] for item, _, gain in asked) / r.n_items
    key = 1 + float((per_answer / answers[users]).mean()) / variance
    return float(np.sqrt(min(own / key, 1.0)))


def _answered(ranking: Ranking, user: int, item: int) -> bool:
    """Whether a user answered an item."""
    ones, (first, last) = ranking.responses.ones, ranking.data.items.starts[item : item + 2]
    chosen = ones.indices[ones.indptr[user] : ones.indptr[user + 1]]
    return bool(np.any((chosen >= first) & (chosen < last)))


def _log_odds(share: Floats) -> Floats:
    clipped = np.clip(share, 0.02, 0.98)
    return np.asarray(np.log(clipped / (1 - clipped)))


def _expected(chances: Floats, right: float) -> tuple[float, float]:
    """What one more answer does to an item's chances: the gain, and the chance of the best then.

    The gain is the expected rise of the chance that the right option is given, by a user who gives
    it with probability ``right``.
    """
    k = len(chances)
    if k < 2:
        return 0.0, float(chances.max(initial=0.0))
    says = np.full((k, k), (1 - right) / (k - 1))  # right option × answer
    np.fill_diagonal(says, right)
    joint = chances[:, None] * says
    now = float(chances @ chances) / max(float(chances.sum()), 1e-12)
    then = float(((joint**2).sum(0) / np.maximum(joint.sum(0), 1e-300)).sum())
    return max(then - now, 0.0), float(joint.max(0).sum())


# -- what each worker does --------------------------------------------------------------------


def workers(ranking: Ranking) -> Workers:
    """How each user uses labels that all items share, and whether the answers follow the item."""
    labels = np.unique(np.asarray(ranking.responses.option_labels).astype(str))
    if len(labels) > 20:
        raise InputError(
            f"the items share no small set of labels: there are {len(labels):,} different ones, "
            "and at most 20 can be compared."
        )
    return Workers(ranking, tuple(labels.tolist()))


@dataclass(frozen=True, eq=False, repr=False)
class Workers(Tabled):
    """How users use the labels; see :func:`workers`.

    The table has one row per user: ``answers``, ``most_used`` label and its ``share``, how far
    the answers ``follow`` the question, and a ``remark`` where something stands out.
    """

    ranking: Ranking
    labels: tuple[str, ...]

    @cached_property
    def _is(self) -> Floats:
        """Options × labels: 1 where the option has the label."""
        own = np.asarray(self.ranking.responses.option_labels).astype(str)
        return np.asarray(own[:, None] == np.array(self.labels)[None, :], dtype=float)

    def _sums(self, weights: Floats) -> Floats:
        """Of each user, the sum over the chosen options of items with at least two answers."""
        data = self.ranking.data
        shared = (data.answers_per_item >= 2)[data.items.of_option].astype(float)
        shared = shared[:, None] if weights.ndim > 1 else shared
        return np.asarray(data.collect(data.choices(weights * shared)), dtype=float)

    @cached_property
    def _others(self) -> tuple[Floats, Floats]:
        """For each option: how often its other answerers gave each label, and how many they are."""
        data = self.ranking.data
        counts = data.items.sum(self._is * data.choosers_per_option[:, None]) - self._is
        others = np.maximum(data.answers_per_item - 1.0, 1.0)[data.items.of_option]
        return counts / others[:, None], others[:, None]

    @cached_property
    def said(self) -> Floats:
        """Users × labels: how often the user gave the label, on items that others answered."""
        return self._sums(self._is)

    @cached_property
    def expected(self) -> Floats:
        """Users × labels: how often others gave the label, on the items that the user answered."""
        return self._sums(self._others[0])

    @cached_property
    def z(self) -> Floats:
        """Users × labels: how far the user leans to the label, in standard errors."""
        share, others = self._others
        # a share of few answers is itself uncertain: one answer to each label is added
        share = (np.clip(share, 0, 1) * others + 1) / (others + len(self.labels))
        variance = self._sums(share * (1 - share))
        return (self.said - self.expected) / np.sqrt(np.maximum(variance, 1e-12))

    @cached_property
    def follows(self) -> Floats:
        """How far the answers follow the item, in standard errors of answers in random order.

        A user who ignores the questions has a value near 0, whatever labels they like.
        """
        share, said = self._others[0], self.said
        n = np.maximum(said.sum(1), 1)
        mean = (said * self.expected).sum(1) / n
        squares, columns = np.zeros((2, len(n)))
        for label, own in enumerate(share.T):  # the items' products of two labels' shares
            both = self._sums(share * own[:, None])
            columns += said[:, label] * (said * both).sum(1) / n**2
            squares += said[:, label] * both[:, label]
        rows = (said * (self.expected / n[:, None]) ** 2).sum(1)
        spread = squares - n * rows - n * columns + mean**2
        error = np.sqrt(np.maximum(spread, 0.0) / np.maximum(n - 1, 1))
        agreed = self._sums((share * self._is).sum(1))
        return np.where(error > 1e-9, (agreed - mean) / np.where(error > 1e-9, error, 1), 0.0)

    def remarks(self) -> list[str]:
        """What each user does, in words; empty where nothing stands out.

        A leaning is named if it is surer than chance among all users and labels (one wrong naming
        in twenty such tables). Answers are said to ignore the questions if they look random, and a
        user half as good as the typical one would be that much above chance as surely.
        """
        n = self.said.sum(1)
        enough = n > 0
        line = -float(normal_quantile(np.array(0.025 / max(enough.sum() * len(self.labels), 1))))
        label = np.argmax(np.where(self.expected > 0, self.z, -np.inf), axis=1)
        per_answer = self.follows / np.sqrt(np.maximum(n, 1))
        halfway = (np.median(per_answer[enough]) if enough.any() else 0.0) * np.sqrt(n) / 2
        lost = (halfway - self.follows > line) & (self.follows < 1.645)
        remarks = []
        for u in range(len(n)):
            said, k = [], label[u]
            if enough[u] and self.z[u, k] > line:
                times = _times(self.said[u, k] / max(self.expected[u, k], 1e-9))
                said.append(f"says {self.labels[k]} {times} as often as the others")
            if enough[u] and lost[u]:
                said.append("answers that do not follow the question")
            remarks.append("; ".join(said))
        return remarks

    def confusion(self, user: Any) -> Any:
        """What a user says, by what is likely right: shares of the labels, one row per label.

        Columns ``right``, ``items`` (how many items of the user are likely of this label), and one
        column for each label (the share of these on which the user says it).
        """
        return self.confusion_cells(user).frame(self.kind)

    def about(self, user: Any) -> str:
        """What stands out about a user, in a sentence."""
        remark = self.remarks()[self.ranking.user_number(user)]
        return f"{user}: {remark or 'nothing stands out'}."

    def confusion_cells(self, user: Any) -> Cells:
        """The columns of :meth:`confusion`."""
        place = self.ranking.user_number(user)
        chances = self.ranking.key_chances
        if chances is None:
            raise InputError(
                f"Method '{self.ranking.method}' does not say how likely each option is to be "
                "right; rank with method='auto'."
            )
        items = self.ranking.data.items
        by_label = items.sum(self._is * chances[:, None])
        ones = self.ranking.responses.ones
        mine = ones.indices[ones.indptr[place] : ones.indptr[place + 1]]
        table = by_label[mine].T @ self._is[mine]
        n = table.sum(1)
        shares = table / np.where(n > 0, n, np.nan)[:, None]
        says = {label: shares[:, k] for k, label in enumerate(self.labels)}
        columns = {"right": np.array(self.labels, dtype=object), "items": n.round(1), **says}
        return Cells.of(columns, share=" ".join(says))

    responses = property(attrgetter("ranking.responses"), doc="The answers.")

    def cells(self) -> Cells:
        """One row per user."""
        n = self.said.sum(1)
        most = np.argmax(self.said, axis=1)
        columns = {
            "user": self.responses.users,
            "answers": n.astype(np.int64),
            "most_used": np.array(self.labels, dtype=object)[most],
            "share": self.said.max(1) / np.maximum(n, 1),
            "follows": self.follows,
            "remark": np.array(self.remarks(), dtype=object),
        }
        return Cells.of(columns, share="share", words="remark")

    def sentence(self) -> str:
        """How many users stand out."""
        found = sum(bool(remark) for remark in self.remarks())
        users = count(len(self.said), "user")
        return f"{found or 'None'} of {users} stand{'s' * (found < 2)} out."


def _times(ratio: float) -> str:
    """A ratio in words: ``"twice"``, ``"1.6 times"``."""
    return "twice" if 1.95 <= ratio < 2.05 else f"{ratio:.1f} times"
