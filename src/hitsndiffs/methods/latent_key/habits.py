"""Answering habits: users who give one label whatever is asked.

Where items share three labels or more (the letters of a test), some users answer many items with
one letter. Their answers agree with each other, but say nothing about what is right. Here habits
are part of the model. Each user belongs to one of several classes: without a habit, or with the
habit of giving label ``l`` to a share ``s`` of the items. Then

    P(option | θ, l, s) = s [the option has label l] + (1 - s) P_key(option | θ),

where ``P_key`` is the latent-key model's probability, wrong options included. Classes and abilities
live on a grid of all pairs; the size of each class is learnt. (Where all items share *two* labels,
leanings are part of the model, see :mod:`.leanings`.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Flags, Floats, Ints
from hitsndiffs.engines import Engine
from hitsndiffs.methods.labels import label_numbers, sharing
from hitsndiffs.methods.latent_key.candidates import (
    Curves,
    about_key,
    expected_logs,
    weigh_candidates,
)
from hitsndiffs.methods.latent_key.grid import THETA, Posterior, nearest, posterior_of
from hitsndiffs.methods.latent_key.model import (
    KeyFit,
    KeyProblem,
    Posteriors,
    chosen_about,
    stepping,
    with_prior,
)
from hitsndiffs.methods.latent_key.problem import Sizes, Solution, Start
from hitsndiffs.methods.latent_key.sampling import Sample
from hitsndiffs.methods.probability import STEADY

__all__ = ["HabitFit", "HabitProblem", "Habits", "habits_of"]

#: Most labels that items may share, and most labels considered as habits.
HABIT_LABELS, MOST_HABITS = 30, 5
#: A user overuses a label if the excess over others' use is more than this many standard errors and
#: at least this share of the answers.
CLEAR, NOTED = 4.0, 0.25
#: Habits matter if at least this share of the users overuses some label; labels that less than this
#: share overuses are left out.
HABITS_MATTER, RARE_HABIT = 0.05, 0.02
#: Habits are part of the model only if its table (options × columns) is no larger than this.
HABIT_CELLS = 1_000_000
#: The shares of answers that a habit may account for.
HABIT_SHARES: Floats = np.array([0.3, 0.5, 0.7, 0.9])
#: Prior share of users without a habit, and how many users the prior is worth.
NO_HABIT, PSEUDO_USERS = 0.9, 10.0
#: Users who give one label to this share of the items beyond others count for less, and are named.
MOSTLY = 0.5
#: A user who answers by habit alone still counts this much.
LEAST_WITNESS = 1e-3


@dataclass(frozen=True)
class Habits:
    """Labels that some users give far more often than others do.

    Attributes
    ----------
    labels
        Their numbers in :attr:`names`.
    names
        All labels.
    numbers
        The number of each option's label.
    shares
        The share of each user's answers beyond others' use of the label (0: no clear overuse).
    of_users
        The number of that label, for each user.
    """

    labels: tuple[int, ...]
    names: npt.NDArray[Any]
    numbers: Ints
    shares: Any
    of_users: Any

    @property
    def weights(self) -> Any:
        """How much each user still counts as a witness.

        Those who mostly give one label agree with each other whatever is asked.
        """
        left = np.maximum((1 - self.shares) ** 2, LEAST_WITNESS)
        return np.where(self.shares >= MOSTLY, left, 1.0)

    def overused(self, data: Engine) -> Callable[[Ints], Flags]:
        """A function that says which options (rows) have the label that users (columns) overuse."""
        label = data.collect(np.where(self.shares > 0, self.of_users, -1))
        return lambda users: self.numbers[:, None] == label[users]

    def picked(self, sample: Sample) -> Habits:
        """The habits of a sample's users."""
        shares, of_users = (sample.picked(x) for x in (self.shares, self.of_users))
        return replace(self, shares=shares, of_users=of_users)

    def fit_in(self, data: Engine) -> bool:
        """Whether they are small enough to be part of the model."""
        classes = 1 + len(self.labels) * len(HABIT_SHARES)
        return data.n_options * classes * len(THETA) <= HABIT_CELLS

    def told(self, data: Engine) -> str | None:
        """Name users who mostly give one label whatever is asked; ``None`` if there are none."""
        clear = self.shares >= MOSTLY
        number = int(clear.sum())
        if number == 0:
            return None
        some = data.first(clear, 3)
        labels = data.collect(self.of_users)[some]
        named = [
            f"{user} ({self.names[label]})"
            for user, label in zip(data.user_labels(some), labels, strict=True)
        ]
        more = f" and {number - len(named)} more" if number > len(named) else ""
        verb = "gives" if number == 1 else "give"
        return (
            f"{', '.join(named)}{more} mostly {verb} one label whatever is asked, so they count "
            "for less as witnesses."
        )


def habits_of(data: Engine) -> Habits | None:
    """Look for labels that some users give far more often than others; ``None`` if few do.

    >>> from hitsndiffs import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> table = [list("ABC" * 10)] * 9 + [["B"] * 30]
    >>> habits_of(open_engine(Responses.from_wide(table))).labels
    (1,)
    """
    shared = sharing(data.items)
    if shared.apart or not 3 <= len(shared.labels) <= HABIT_LABELS or data.n_users < 3:
        return None
    n = data.answers_per_user
    uses = data.choices(np.eye(len(shared.labels))[shared.numbers])
    usual = np.array([data.median(uses[:, i] / n) for i in range(len(shared.labels))])
    usual = np.clip(usual / max(float(usual.sum()), 1e-12), 0.02, 0.9)
    common, most, label = [], 0.0 * data.everybody, 0 * data.everybody
    for i, rate in enumerate(usual.tolist()):
        beyond = (uses[:, i] / n - rate) / (1 - rate)
        clear = (beyond > CLEAR * np.sqrt(rate / (1 - rate) / n)) & (beyond >= NOTED)
        common.append(float(clear.sum()) / data.n_users)
        label = np.where(clear & (beyond > most), i, label)
        most = np.where(clear, np.maximum(most, beyond), most)
    if float((most > 0).sum()) < HABITS_MATTER * data.n_users:
        return None
    order = np.argsort(-np.array(common), kind="stable")[:MOST_HABITS]
    labels = tuple(sorted(int(i) for i in order if common[i] >= RARE_HABIT))
    if not labels:
        return None
    return Habits(labels, shared.labels, shared.numbers, most, label.astype(np.int64))


class HabitProblem(KeyProblem):
    """The data of the latent-key model with habits (see :class:`.Problem`).

    Parameters
    ----------
    labels
        Numbers of the labels that may be habits.
    """

    #: A round has a column for every habit and ability, so the thresholds are lower.
    usual_sizes: ClassVar[Sizes] = Sizes(sample_users=2_000, sample_answers=1_000, many_users=4_000)

    def __init__(self, data: Engine, *args: Any, labels: tuple[int, ...], **kwargs: Any) -> None:
        super().__init__(data, *args, **kwargs)
        self.labels = labels
        self.names, numbers = label_numbers(data.items)
        #: For every option and class: the probability that it is chosen by habit.
        by_habit = [np.zeros(data.n_options)]
        by_habit += [s * (numbers == label) for label in labels for s in HABIT_SHARES]
        self.by_habit: Floats = np.stack(by_habit, axis=1)
        #: The share of answers that every class gives by habit.
        self.shares: Floats = np.concatenate([[0.0], np.tile(HABIT_SHARES, len(labels))])

    def _own(self, part: Engine) -> dict[str, Any]:
        """The habits whose labels occur in a part of the data."""
        names = label_numbers(part.items)[0].tolist()
        wanted = [self.names[label] for label in self.labels]
        return {"labels": tuple(names.index(name) for name in wanted if name in names)}

    @property
    def first(self) -> Floats:
        """The prior share of users in every class."""
        habits = len(self.shares) - 1
        if habits == 0:
            return np.ones(1)
        return np.concatenate([[NO_HABIT], np.full(habits, (1 - NO_HABIT) / habits)])

    def begin(self, start: Start) -> Any:
        """The curves, how many chose each option, and the share of users in every class."""
        if isinstance(start, HabitFit) and len(start.common) == len(self.first):
            chosen, _ = self._expect(start.logs, start.by_key, start.common)
            return start.curves, chosen, start.common
        return Curves.start(self.data.n_options), chosen_about(self, start), self.first

    def round(self, state: Any, rounds: int) -> tuple[HabitFit, Any]:
        """The solution after a round, and what the next one needs."""
        curves, chosen, common = state
        chosen = np.round(chosen, STEADY)
        counts = chosen.sum(axis=1)  # of the answers that were not given by habit
        found = weigh_candidates(self, curves, chosen, self.of_counts(counts), rounds)
        key = found.key
        wrong = self._wrong(key, counts)
        logs, by_key = self._columns(found.logs + wrong[:, None])
        chosen, side = self._expect(logs, by_key, common)
        # for wrong options the shares are integrated out, not estimated
        evidence = float(side[0] + about_key(key, found.prior) - counts @ wrong)
        evidence += PSEUDO_USERS * float(self.first @ np.log(common / self.first))
        curves = found.fitted.pooled(key, found.curvature, rounds)
        fit = HabitFit(self, key, logs, evidence, rounds, curves, common, by_key, counts)
        users = side[1:]
        common = (users + PSEUDO_USERS * self.first) / (float(users.sum()) + PSEUDO_USERS)
        return fit, (curves, chosen, common)

    def applied(self, solution: Solution) -> HabitFit:
        """Apply a solution found for some of the users to these, who answered the same items."""
        assert isinstance(solution, HabitFit)
        logs = expected_logs(self, solution.key, solution.curves)
        wrong = self._wrong(solution.key, solution.counts)
        logs, by_key = self._columns(logs + wrong[:, None])
        return replace(solution, problem=self, logs=logs, by_key=by_key)

    def _wrong(self, key: Floats, counts: Floats) -> Floats:
        """Expected log share of an option among the wrong ones of its item."""
        items = self.items
        others = np.maximum(items.sizes[items.of_option], 2) - 1
        rest = key * np.log(np.maximum(items.sum(counts) - counts, 0.0) + others)
        not_key = items.sum(key) - key
        return np.asarray(not_key * np.log(counts + 1) - (items.sum(rest) - rest))

    def _columns(self, logs: Floats) -> tuple[Floats, Floats]:
        """Log probability of every option, and how likely the key (no habit) gave it.

        There is a block of columns for every class, with a column for every ability.
        """
        by_key = np.exp(logs)[:, None, :] * (1 - self.shares)[:, None]
        whole = by_key + self.by_habit[:, :, None]
        q = len(logs)
        columns = np.log(np.maximum(whole, 1e-300))
        columns[:, 0] = logs
        return columns.reshape(q, -1), (by_key / np.maximum(whole, 1e-300)).reshape(q, -1)

    def _expect(self, logs: Floats, by_key: Floats, common: Floats) -> tuple[Floats, Floats]:
        """How many chose each option by the key, over the grid; evidence, and classes' sizes."""
        of_classes = np.log(common)

        def step(
            sums: Floats,
            witness: Floats,
            strong: Flags | None = None,
            posteriors: Posteriors = posterior_of,
        ) -> tuple[Floats, Floats]:
            weights, _, _, chance, evidence = by_class(sums, of_classes, strong, posteriors)
            weights *= (chance * witness[:, None])[..., None]
            side = np.concatenate([(witness @ evidence).reshape(1), witness @ chance])
            return weights.reshape(sums.shape), side

        act = stepping(self.data, step)
        chosen, side = self.data.through(logs, act, self.witness, *self.strong_users)
        effective = (chosen * by_key).reshape(len(logs), len(common), len(THETA)).sum(axis=1)
        return effective, side


@dataclass(frozen=True)
class HabitFit(KeyFit):
    """One solution of the model.

    Attributes
    ----------
    common
        The share of users in every class.
    by_key
        How likely each answer was given by the key, not by habit, for every class and ability.
    counts
        How many chose each option, not counting habit.
    """

    problem: HabitProblem
    common: Floats
    by_key: Floats
    counts: Floats

    @cached_property
    def described(self) -> Any:
        """Mean, spread and log evidence of the abilities, and the chance of every class."""
        of_classes = np.log(self.common)

        def step(
            sums: Floats, strong: Flags | None = None, posteriors: Posteriors = posterior_of
        ) -> Floats:
            _, means, spreads, chance, evidence = by_class(sums, of_classes, strong, posteriors)
            mean = (chance * means).sum(axis=1)
            second = (chance * (spreads**2 + means**2)).sum(axis=1)
            sd = np.sqrt(np.maximum(second - mean**2, 0.0))
            return np.column_stack([mean, sd, evidence, chance])

        data = self.problem.data
        return data.mapped(self.logs, stepping(data, step), *self.problem.strong_users)

    @cached_property
    def posterior(self) -> Posterior:
        """The posterior of the abilities (user arrays)."""
        return Posterior(*self.described[:, :3].T)

    def probabilities(self) -> Floats:
        """P(option) for every class and ability, one row per option."""
        p = self.problem
        by_key = super().probabilities()[:, None, :] * (1 - p.shares)[:, None]
        return np.asarray((by_key + p.by_habit[:, :, None]).reshape(len(by_key), -1))

    @cached_property
    def places(self) -> Any:
        """The class and the point of the grid nearest to each user."""
        return nearest(self.posterior.mean) + len(THETA) * self.described[:, 3:].argmax(axis=1)

    def share_errors(self) -> Any:
        """Standard errors of the expected shares of right answers: chance, and doubt about keys.

        Chance is that of answers at the user's class and ability.
        """
        p = self.probabilities()
        return self._errors_at_places(self.problem.items.sum(self.key[:, None] * p * (1 - p)))


def by_class(
    sums: Floats,
    of_classes: Floats,
    strong: Flags | None,
    posteriors: Posteriors = posterior_of,
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Posteriors of ability in every class, the chances of the classes, and the log evidence.

    Returns weights on the grid, means, spreads and chances for every user and class, and the
    evidence for every user.
    """
    shape = (len(sums), len(of_classes))
    every = None if strong is None else strong.repeat(shape[1])
    rows = with_prior(sums.reshape(-1, len(THETA)), every)
    weights, mean, spread_, logs = posteriors(rows)
    logs = logs.reshape(shape) + np.asarray(of_classes, like=logs)
    top = logs.max(axis=1, keepdims=True)
    raised = np.exp(logs - top)
    total = raised.sum(axis=1, keepdims=True)
    evidence = (top + np.log(total)).ravel()
    means, spreads = mean.reshape(shape), spread_.reshape(shape)
    return weights.reshape(*shape, len(THETA)), means, spreads, raised / total, evidence
