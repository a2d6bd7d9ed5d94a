"""The engine: the one object through which a method sees the data.

With ``C`` the users × options matrix of ones (never built), every method is an iteration of

``choices(w) = C w``
    for each user, the sum of ``w`` over the options the user chose;
``choosers(s) = Cᵀ s``
    for each option, the sum of ``s`` over the users who chose it;
``through(w, step) = Cᵀ step(C w)``
    from options to users and back in one pass, block of users by block of users.

An engine holds the answers: in this process's memory, in packed bytes, on a GPU or on a cluster.
Arrays with one entry per option are always NumPy arrays. Arrays with one entry per user are *user
arrays* and belong to the engine: methods do arithmetic and reductions on them, and ask the engine
for anything that needs an order of the users. Only :meth:`Engine.collect` brings a whole user array
to the caller.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints, Words
from hitsndiffs.data.layouts import Rows
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.data.items import Items

__all__ = ["Engine", "Step", "Stepped", "option_words", "scaled"]

#: The result of a step: one row per user, or a pair of that and a short vector of side sums.
Stepped = Floats | tuple[Floats, Floats]
#: The work on a block of users: it gets their sums (one row per user) and their parts of some user
#: arrays, and must treat each user independently.
Step = Callable[..., Stepped]


def scaled(sums: Floats, scale: Floats) -> Floats:
    """The step of a linear pass: each user's sums times one number (some engines compile it)."""
    return sums * (scale if sums.ndim == 1 else scale[:, None])


def option_words(n_options: int, seed: int = 20240513) -> Words:
    """Random 64-bit numbers, one per option; their sum over an answer sheet is its fingerprint."""
    return np.random.default_rng(seed).integers(0, 2**64, n_options, dtype=np.uint64)


class Engine(ABC):
    """What a method may ask of the data; a vector may also be a block, with one vector per column.

    The first part is what an engine brings. The second part follows from it, and is written once.

    Attributes
    ----------
    items
        Items and options, with their labels (always in memory).
    n_users
        Number of users, including those without answers.
    threads
        How many threads a method may use for its own work.
    here_up_to
        Up to this many answers, methods are fitted in the caller's process (for remote engines).
    """

    #: The name that callers give, and the library of its user arrays: numpy, cupy or dask.
    name: ClassVar[str]
    arrays: ClassVar[str] = "numpy"

    items: Items
    n_users: int
    threads: int
    here_up_to: int = 0

    # -- the sums ---------------------------------------------------------------------------

    @abstractmethod
    def choices(self, weights: Array, step: Step | None = None, *arrays: Any) -> Any:
        """``C w``: for each user, the sum over the options the user chose (a user array).

        With a step, ``step(C w, …)``, without keeping ``C w``. Weights that are whole numbers of
        64 bits are added modulo 2⁶⁴.
        """

    @abstractmethod
    def choosers(self, scores: Any) -> Floats:
        """``Cᵀ s``: for each option, the sum over the users who chose it.

        Sums of whole numbers are exact while they stay below 2⁵³.
        """

    @abstractmethod
    def through(self, weights: Floats, step: Step, *arrays: Any) -> Any:
        """``Cᵀ step(C w, …)``: from options to options in one pass; nothing user-sized is kept.

        Parameters
        ----------
        weights
            A block of columns over the options (with no columns, the step uses only the arrays),
            or one vector for the linear step.
        step
            Turns a block of users' sums, and their parts of ``arrays``, into the values to sum for
            the options they chose. :func:`scaled` is the linear step.
        *arrays
            User arrays.

        Returns
        -------
        sums
            One row per option; if the step returns side sums, a pair of that and their total.
        """

    # -- user arrays ------------------------------------------------------------------------

    def user_array(self, x: Any) -> Any:
        """A user array from values in this process, or its own with its values computed now."""
        return x

    def collect(self, x: Any, users: Any = None) -> Array:
        """A user array as a NumPy array in this process, whole or for some users.

        The users are numbers, or a Boolean user array.
        """
        return np.asarray(x if users is None else x[users])

    def levelled(self, x: Any, limit: float) -> Any:
        """Values in a chain (gaps of at most ``limit``) get the midpoint of the chain's ends."""
        order = x.argsort()
        ordered = x[order]
        apart = ordered[1:] - ordered[:-1] > limit
        if apart.all():
            return x
        end = np.ones_like(apart, shape=1)
        begins = np.concatenate([end, apart])
        middles = (ordered[begins] + ordered[np.concatenate([apart, end])]) / 2
        found = np.empty_like(x)
        found[order] = middles[np.cumsum(begins) - 1]
        return found

    def values_at(self, x: Any, places: Sequence[int]) -> list[float]:
        """The values at some places in sorted order, lowest first, counted from 0."""
        ordered = np.partition(x, list(places))
        return [float(ordered[place]) for place in places]

    # -- users and parts --------------------------------------------------------------------

    @abstractmethod
    def user_labels(self, users: Ints) -> Array:
        """Labels of a few users."""

    @abstractmethod
    def user_number(self, label: Any) -> int | None:
        """The place of the user with this label (compared as text), or ``None``."""

    @abstractmethod
    def rows(self, users: Ints | None = None) -> Rows:
        """The options that some users chose (default: all), in this process.

        Returns
        -------
        indptr, options
            User ``j`` of these chose ``options[indptr[j]:indptr[j + 1]]``.
        """

    @abstractmethod
    def subset(self, users: Any, *, keep_options: bool = False) -> tuple[Engine, Ints]:
        """Some users on an engine of the same kind, and which options remain.

        The users are numbers, or a Boolean user array. Options and items that none of them chose
        are dropped, unless ``keep_options``.
        """

    def opened(self, part: Responses) -> Engine:
        """Other answers on an engine of the same kind."""
        from hitsndiffs.engines import open_engine

        return open_engine(part, self.name)

    # -- what follows from these ------------------------------------------------------------

    @property
    def in_memory(self) -> bool:
        """Whether user arrays can be brought to the caller whole."""
        return self.arrays != "dask"

    @property
    def n_items(self) -> int:
        """Number of items that somebody answered."""
        return self.items.n_items

    @property
    def n_options(self) -> int:
        """Number of options that somebody chose, over all items."""
        return self.items.n_options

    @cached_property
    def choosers_per_option(self) -> Ints:
        """How many users chose each option (the paper's column sums ``Dc``)."""
        return self.choosers(self.everybody).astype(np.int64)

    @cached_property
    def answers_per_item(self) -> Ints:
        """How many users answered each item."""
        return np.add.reduceat(self.choosers_per_option, self.items.starts[:-1])

    @cached_property
    def answers_per_user(self) -> Any:
        """How many items each user answered, as real numbers (the paper's row sums ``Dr``)."""
        return self.choices(np.ones(self.n_options))

    @cached_property
    def n_responses(self) -> int:
        """Number of answers."""
        return int(self.choosers_per_option.sum())

    @property
    def is_complete(self) -> bool:
        """Whether every user answered every item."""
        return self.n_responses == self.n_users * self.n_items

    @cached_property
    def everybody(self) -> Any:
        """A user array of ones."""
        return self.user_array(np.ones(self.n_users))

    def fingerprints(self, words: Words | None = None) -> Any:
        """A 64-bit number per user, the same on every engine: equal sheets ⇔ equal numbers.

        It is the sum (modulo 2⁶⁴) of the words of the options that the user chose: exact for any
        order and any partition. Two different sheets collide with probability 2⁻⁶⁴.

        Parameters
        ----------
        words
            One 64-bit number per option (default: :func:`option_words`); 0 for options to ignore.
        """
        return self.choices(option_words(self.n_options) if words is None else words)

    def reduced(self, act: Callable[..., Any], *arrays: Any) -> Any:
        """The sum of ``act(*blocks)`` over blocks of users; the result must not be user-sized."""
        step = _SideSums(act)
        return self.through(np.empty((self.n_options, 0)), step, *arrays)[1]

    def components(self, linked_by: str) -> Any:
        """The number of each user's connected component: 0 is the largest, -1 means no answers.

        Two users are linked if they chose the same option (``"options"``) or answered the same
        item (``"items"``).
        """
        from hitsndiffs.engines.components import connected

        return connected(self, linked_by)

    @cached_property
    def responses(self) -> Responses:
        """The answers themselves, for work that needs everything in memory."""
        return Responses(
            users=self.user_labels(np.arange(self.n_users)),
            items=self.items.labels,
            option_labels=self.items.option_labels,
            item_starts=self.items.starts,
            rows=self.rows(),
        )

    def cannot_serve(self, what: str) -> InputError:
        """The error for work that needs all users in this process when they are elsewhere."""
        return InputError(
            f"{what} needs all users in one machine's memory, and the {self.name} engine keeps "
            "them elsewhere. Rank a sample of the users, or use the auto engine on one machine."
        )


class _SideSums:
    """A step that sums nothing over the options (a class, as it travels to other processes)."""

    def __init__(self, act: Callable[..., Any]) -> None:
        self._act = act

    def __call__(self, sums: Any, *arrays: Any) -> Stepped:
        return sums, self._act(*arrays)
