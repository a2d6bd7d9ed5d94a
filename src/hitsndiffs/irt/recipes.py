"""How the paper draws item parameters and abilities, one recipe per model.

The numbers are those of the paper's experiments: abilities on [0, 1], difficulties on
``[bmax - 1, bmax]`` with ``bmax = 0.5``, discriminations up to ``amax = 10``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hitsndiffs.irt.american_experience import american_experience
from hitsndiffs.irt.base import FloatArray, ResponseModel
from hitsndiffs.irt.binary import Glad, OnePL, ThreePL, TwoPL
from hitsndiffs.irt.polytomous import C1P, GRM, Bock, Samejima

__all__ = ["ABILITIES", "RECIPES", "Recipe", "Sizes", "spaced_bock"]

DEFAULT_BMAX = 0.5
DEFAULT_AMAX = 10.0
#: Guessing parameters of simulated 3PL items are uniform on [0, this].
HIGHEST_GUESSING = 0.5


@dataclass(frozen=True)
class Sizes:
    """What a recipe needs to know to draw items."""

    items: int = 100
    options: int = 3
    bmax: float = DEFAULT_BMAX
    amax: float = DEFAULT_AMAX


@dataclass(frozen=True)
class Recipe:
    """How one model's data are made.

    Attributes
    ----------
    about
        One line for the list of models.
    draw
        Draws the items.
    ability
        The distribution of abilities, a key of :data:`ABILITIES`.
    items, options
        Fixed numbers if the model leaves no choice; otherwise None.
    """

    about: str
    draw: Callable[[np.random.Generator, Sizes], ResponseModel]
    ability: str = "uniform"
    items: int | None = None
    options: int | None = None


def difficulties(rng: np.random.Generator, sizes: Sizes, *shape: int) -> FloatArray:
    """Uniform on ``[bmax - 1, bmax]``."""
    return rng.uniform(sizes.bmax - 1.0, sizes.bmax, size=shape)


def one_pl(rng: np.random.Generator, sizes: Sizes) -> OnePL:
    """``b`` uniform."""
    return OnePL(difficulties(rng, sizes, sizes.items))


def two_pl(rng: np.random.Generator, sizes: Sizes) -> TwoPL:
    """``a`` uniform on ``[0, amax]``, ``b`` uniform."""
    a = rng.uniform(0.0, sizes.amax, size=sizes.items)
    return TwoPL(discrimination=a, difficulty=difficulties(rng, sizes, sizes.items))


def three_pl(rng: np.random.Generator, sizes: Sizes) -> ThreePL:
    """As 2PL, with guessing uniform on [0, 0.5]."""
    base = two_pl(rng, sizes)
    c = rng.uniform(0.0, HIGHEST_GUESSING, size=sizes.items)
    return ThreePL(discrimination=base.discrimination, difficulty=base.difficulty, guessing=c)


def glad(rng: np.random.Generator, sizes: Sizes) -> Glad:
    """``a`` uniform on ``[0, amax]``."""
    return Glad(rng.uniform(0.0, sizes.amax, size=sizes.items))


def grm(rng: np.random.Generator, sizes: Sizes) -> GRM:
    """Sorted thresholds, ``a`` uniform on ``[0, 2 amax / (k + 1)]`` (about Bock's average)."""
    thresholds = difficulties(rng, sizes, sizes.items, sizes.options - 1)
    a = rng.uniform(0.0, 2.0 * sizes.amax / (sizes.options + 1), size=sizes.items)
    return GRM(discrimination=a, thresholds=np.sort(thresholds, axis=1))


def bock(rng: np.random.Generator, sizes: Sizes) -> Bock:
    """``a`` and ``b`` uniform, one of each per option."""
    a = rng.uniform(0.0, sizes.amax, size=(sizes.items, sizes.options))
    return Bock.from_difficulty(a, difficulties(rng, sizes, sizes.items, sizes.options))


def samejima(rng: np.random.Generator, sizes: Sizes) -> Samejima:
    """As Bock, with a "don't know" option that makes the logits sum to zero."""
    a = rng.uniform(0.0, sizes.amax, size=(sizes.items, sizes.options))
    return Samejima.from_difficulty(a, difficulties(rng, sizes, sizes.items, sizes.options))


def c1p(rng: np.random.Generator, sizes: Sizes) -> C1P:
    """Thresholds uniform on [0, 1], sorted."""
    return C1P(np.sort(rng.uniform(size=(sizes.items, sizes.options - 1)), axis=1))


def half_moon(rng: np.random.Generator, sizes: Sizes) -> ThreePL:
    """3PL items whose log discrimination plotted against difficulty looks like a half moon."""
    b = rng.uniform(-2.0, 3.0, size=sizes.items)
    distance = np.abs(b - 0.5) / 2.5
    log_a = rng.normal(0.4 * distance**2, 0.2 - 0.1 * distance)
    c = rng.uniform(0.0, HIGHEST_GUESSING, size=sizes.items)
    return ThreePL(discrimination=10.0**log_a, difficulty=b, guessing=c)


def spaced_bock(
    items: int = 100, options: int = 3, *, discrimination: float, bmax: float = DEFAULT_BMAX
) -> Bock:
    """Return the items of the paper's stability figures: all equally spaced, none drawn.

    All options of an item share one difficulty; the slopes are ``a · (1/k, 2/k, …, 1)``.

    Examples
    --------
    >>> spaced_bock(2, 3, discrimination=6.0).slopes.tolist()
    [[2.0, 4.0, 6.0], [2.0, 4.0, 6.0]]
    """
    edge = 0.5 - bmax / items
    b = np.linspace(-edge, edge, items)[:, None]
    slopes = np.tile(discrimination * np.arange(1, options + 1) / options, (items, 1))
    return Bock.from_difficulty(slopes, np.broadcast_to(b, slopes.shape))


def uniform_abilities(rng: np.random.Generator, users: int) -> FloatArray:
    """Uniform on [0, 1]."""
    return rng.uniform(size=users)


def normal_abilities(rng: np.random.Generator, users: int) -> FloatArray:
    """Standard normal."""
    return rng.standard_normal(users)


def spaced_abilities(rng: np.random.Generator, users: int) -> FloatArray:  # noqa: ARG001
    """``1/m, 2/m, …, 1``."""
    return np.arange(1, users + 1) / users


def mostly_able(rng: np.random.Generator, users: int) -> FloatArray:
    """Draw 10 % of the users on [0, ½] and 90 % on [½, 1].

    Evenly spread users would make consistent data symmetric, and no method could tell which end
    is up.
    """
    weak = int(0.1 * users)
    halves = rng.uniform(0.0, 0.5, size=weak), rng.uniform(0.5, 1.0, size=users - weak)
    return rng.permutation(np.concatenate(halves))


ABILITIES: dict[str, Callable[[np.random.Generator, int], FloatArray]] = {
    "uniform": uniform_abilities,
    "normal": normal_abilities,
    "spaced": spaced_abilities,
    "mostly-able": mostly_able,
}

RECIPES: dict[str, Recipe] = {
    "1pl": Recipe("Rasch: right or wrong, difficulty", one_pl, "normal", options=2),
    "2pl": Recipe("right or wrong, difficulty and discrimination", two_pl, options=2),
    "3pl": Recipe("2pl with guessing", three_pl, options=2),
    "glad": Recipe("right or wrong, discrimination only", glad, options=2),
    "grm": Recipe("graded response: ordered options", grm),
    "bock": Recipe("nominal: every option with its own slope", bock),
    "samejima": Recipe("bock with guessing by those who do not know", samejima),
    "c1p": Recipe("consistent answers: consecutive ones", c1p, "mostly-able"),
    "half-moon": Recipe("3pl, steep items are easy or hard", half_moon, "normal", options=2),
    "american-experience": Recipe(
        "3pl, the 40 items of a real history test",
        lambda rng, sizes: american_experience(),  # noqa: ARG005
        "normal",
        items=40,
        options=2,
    ),
}
