"""Base of the models with an unknown key: the data, what is known, and a solution.

The models are the latent key (:mod:`.model`), the same with habits (:mod:`.habits`), and, for two
labels shared by all items, leanings (:mod:`.leanings`) and marks (:mod:`.marks`). The search for
solutions, copies and readings treats them alike.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.lookup import answers_here, covered_items, known_options
from hitsndiffs.engines import Engine
from hitsndiffs.methods.latent_key.candidates import ItemBlock, item_blocks
from hitsndiffs.methods.latent_key.grid import Posterior, at_place
from hitsndiffs.methods.latent_key.learnt import Population
from hitsndiffs.methods.latent_key.pairs import Pairs

__all__ = ["START_SD", "Problem", "Sizes", "Solution", "Start"]

#: Spread of abilities about the scores to start from.
START_SD = 0.5


@dataclass(frozen=True)
class Sizes:
    """Size thresholds.

    Attributes
    ----------
    sample_users, sample_answers
        A sample has about this many users, or more if items would have fewer answers than this.
    sample_items, sample_answers_of_user
        The same for items, and for the answers of the users.
    many_users, many_items
        With more than this, a fit that continues from a solution may settle after three rounds.
    """

    sample_users: int = 10_000
    sample_answers: int = 2_000
    sample_items: int = 2_000
    sample_answers_of_user: int = 500
    many_users: int = 20_000
    many_items: int = 4_000

    def all_users(self) -> Sizes:
        """The same, without sampling of users."""
        return replace(self, sample_users=2**62)


class Problem(ABC):
    """The data of a model, and what the caller knows.

    Parameters
    ----------
    data
        The data; every user has answered something.
    witness
        How much each user counts as a witness (copies count less than one).
    answers
        Known right answers: their keys are certain.
    strong_user
        A user known to be strong: a prior on that user's ability.
    sizes
        Size thresholds.
    """

    #: Default size thresholds.
    usual_sizes: ClassVar[Sizes] = Sizes()
    #: Copies agree on at least this share of the items where their abilities do not predict it.
    least_copied: ClassVar[float] = 0.0
    #: A fit settles when its evidence changes by less than 0.02 nats plus this share of it.
    steady: ClassVar[float] = 1e-6

    witness: Floats
    #: A key that fits must keep, if given: for readings that the model alone would abandon.
    held: Floats | None = None

    def __init__(
        self,
        data: Engine,
        witness: Floats | None = None,
        *,
        answers: Mapping[Any, Any] | None = None,
        strong_user: Any = None,
        sizes: Sizes | None = None,
    ) -> None:
        self.data = data
        self.sizes = self.usual_sizes if sizes is None else sizes
        self.items = data.items
        #: The user known to be strong; ``None`` for one who is not here or has no answers.
        self.strong = None if strong_user is None else data.user_number(strong_user)
        self.strong_users: tuple[Any, ...] = ()
        if self.strong is not None:
            self.strong_users = (data.marked(np.array([self.strong])),)
        #: 1 for a known right option, 0 for the others of its item, -1 elsewhere.
        self.known = np.full(data.n_options, -1.0)
        if answers:
            self._mark_known(answers)
        self.weigh(data.everybody if witness is None else witness)

    @cached_property
    def blocks(self) -> list[ItemBlock]:
        """The items, in blocks that fit the cache."""
        return item_blocks(self.data)

    @cached_property
    def pairs(self) -> Pairs:
        """What pairs of users have in common (for small data)."""
        return Pairs(self.data)

    def weigh(self, witness: Floats) -> None:
        """Set how much each user counts, and what follows from the counts alone."""
        self.witness = witness

    def fit(self, start: Start, *, max_rounds: int = 150) -> Solution:
        """Fit the model: rounds until the evidence settles.

        Parameters
        ----------
        start
            A solution to continue (of these items), the abilities of one (of other items), or one
            score per user, on the grid's scale.
        max_rounds
            Most rounds (at least 1).
        """
        state, before, first = self.begin(start), -np.inf, self._first_rounds(start)
        for rounds in range(1, max_rounds + 1):
            fit, state = self.round(state, rounds)
            if rounds > first and self.settles(fit.evidence, before):
                return replace(fit, converged=True)
            before = fit.evidence
        return fit

    def settles(self, evidence: Any, before: Any) -> Any:
        """Whether the evidence hardly changed in a round (for one fit, or for several)."""
        return abs(evidence - before) < 0.02 + self.steady * abs(evidence)

    @abstractmethod
    def begin(self, start: Start) -> Any:
        """What the first round needs."""

    @abstractmethod
    def round(self, state: Any, rounds: int) -> tuple[Solution, Any]:
        """The solution after a round (counted from 1), and what the next one needs."""

    def _first_rounds(self, start: Start) -> int:  # noqa: ARG002
        """A fit settles after more rounds than this."""
        return 9

    @abstractmethod
    def applied(self, solution: Solution) -> Solution:
        """Apply a solution found for some of the users to these, who answered the same items."""

    def part(self, data: Engine, witness: Any, options: Ints) -> Self:
        """The same problem with some users (weighted by ``witness``) or with some options."""
        strong = self.strong
        name = None if strong is None else self.data.user_labels(np.array([strong]))[0]
        part = type(self)(data, witness, strong_user=name, sizes=self.sizes, **self._own(data))
        part.known = self.known[options]
        part.held = None if self.held is None else self.held[options]
        return part

    def _own(self, part: Engine) -> dict[str, Any]:  # noqa: ARG002
        """Further parameters of the model, for a part of the data."""
        return {}

    def weighing(self, witness: Floats) -> Self:
        """The same problem, with other weights of the users."""
        same = copy(self)
        same.weigh(witness)
        return same

    def holding(self, key: Floats) -> Self:
        """The same problem, with fits that keep a given key."""
        same = copy(self)
        same.held = self.settle(key)
        return same

    @property
    def certain(self) -> Floats:
        """P(option is the key) where that is settled before any fit, -1 elsewhere."""
        return self.known if self.held is None else self.held

    def settle(self, key: Floats) -> Floats:
        """The key's posterior, with the certain keys put in."""
        return np.where(self.certain >= 0, self.certain, key)

    def right_shares(self, key: Floats) -> Any:
        """Each user's expected share of right answers by a key (a user array)."""
        return self.data.choices(key) / self.data.answers_per_user

    def reported(self, key: Floats) -> Floats:
        """The key's posterior, NaN for items whose known right answer nobody chose."""
        return np.where(self.items.sum(key) > 0, key, np.nan)

    def _mark_known(self, answers: Mapping[Any, Any]) -> None:
        self.known[covered_items(self.items, answers)[self.items.of_option]] = 0.0
        self.known[known_options(self.items, answers_here(self.items, answers))] = 1.0


@dataclass(frozen=True)
class Solution(ABC):
    """One solution of a model; its arrays have one row per option.

    Attributes
    ----------
    problem
        The data.
    key
        P(option is the key of its item), one per option.
    logs
        What choosing each option says about the user, over the grid.
    evidence
        Lower bound of the log probability of the answers: what solutions are compared by.
    rounds, converged
        Of the iteration.
    """

    problem: Any
    key: Floats
    logs: Floats
    evidence: float
    rounds: int
    converged: bool = field(default=False, kw_only=True)

    @cached_property
    @abstractmethod
    def posterior(self) -> Posterior:
        """The posterior of the abilities (user arrays)."""

    @abstractmethod
    def probabilities(self) -> Floats:
        """P(option) at every point of the grid, one row per option."""

    @cached_property
    @abstractmethod
    def places(self) -> Any:
        """The point of the grid nearest to each user."""

    @abstractmethod
    def share_errors(self) -> Any:
        """Standard errors of the expected shares of right answers: chance, and doubt about keys."""

    def _errors_at_places(self, chance: Floats) -> Any:
        """These errors, from the variance of answers over the grid, taken at the users' places."""
        data = self.problem.data
        spread = data.mapped(chance, at_place, self.places)[:, 0]
        doubt = data.choices(self.key * (1 - self.key))
        return np.sqrt(spread + doubt) / data.answers_per_user

    def common_errors(self, key: Floats) -> Any | None:  # noqa: ARG002
        """The error that all shares under a key have in common; ``None`` if negligible."""
        return None

    @property
    @abstractmethod
    def population(self) -> Population:
        """What the model learnt about all items together."""


#: Where a fit starts (see :meth:`Problem.fit`).
Start = Solution | Posterior | Floats
