"""Simulated responses of users whose abilities are known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import DENSE_FROM, Responses
from hitsndiffs.errors import InputError, did_you_mean
from hitsndiffs.irt.answering import Answering
from hitsndiffs.irt.base import FloatArray, ResponseModel
from hitsndiffs.irt.codes import drawn, labels
from hitsndiffs.irt.recipes import ABILITIES, DEFAULT_AMAX, DEFAULT_BMAX, RECIPES, Recipe, Sizes

__all__ = ["Simulation", "simulate"]

#: Chances held at once; bounds the memory used besides the responses.
CHANCES_AT_ONCE = 1 << 19


@dataclass(frozen=True, eq=False)
class Simulation:
    """Responses together with the truth behind them.

    Attributes
    ----------
    responses
        What the users chose.
    abilities
        The true ability of each user, aligned with ``responses.users``.
    key
        Item label → label of its correct option, for every item of ``responses`` (perhaps nobody
        chose that option).
    model
        The item parameters.
    """

    responses: Responses
    abilities: FloatArray
    key: dict[str, str]
    model: ResponseModel

    @property
    def order(self) -> dict[str, list[str]]:
        """Item label → its option labels from worst to best, for methods that need the order."""
        text = self.model.option_labels
        rows = self.model.order[_item_numbers(self.responses)]
        return {
            item: [text[option] for option in row]
            for item, row in zip(self.responses.items.tolist(), rows.tolist(), strict=True)
        }


def simulate(
    model: str | ResponseModel,
    users: int = 100,
    items: int | None = None,
    options: int | None = None,
    seed: int | np.random.SeedSequence = 0,
    *,
    ability: str | npt.ArrayLike | None = None,
    bmax: float = DEFAULT_BMAX,
    amax: float = DEFAULT_AMAX,
    answer_probability: float = 1.0,
    missing: str = "fixed",
    answers_per_user: float | None = None,
    answers_tail: float = 1.0,
    blocks: int | None = None,
    at_once: int = CHANCES_AT_ONCE,
    dense_from: float = DENSE_FROM,
) -> Simulation:
    """Simulate responses with known abilities, as in the paper's experiments.

    Parameters
    ----------
    model
        ``"1pl"``, ``"2pl"``, ``"3pl"``, ``"glad"``, ``"grm"``, ``"bock"``, ``"samejima"``,
        ``"c1p"``, ``"half-moon"``, ``"american-experience"``, or a model object with its own items.
    users
        Number of users.
    items
        Number of items; 100 unless the model has its own.
    options
        Options per item; 3 unless the model has its own (right-or-wrong models have 2).
    seed
        Same seed, same data, whatever the memory or the machine.
    ability
        ``"uniform"`` on [0, 1], ``"normal"``, ``"spaced"`` (1/m … 1), ``"mostly-able"`` (90 % in
        the upper half of [0, 1]), or one number per user. By default what the paper uses for the
        model: uniform; mostly-able for ``c1p``; normal for ``half-moon`` and
        ``american-experience`` (and ``1pl``).
    bmax
        Difficulties are uniform on ``[bmax - 1, bmax]``: higher is harder.
    amax
        The largest discrimination (``grm``: ``2 amax / (options + 1)``).
    answer_probability, missing
        With ``missing="fixed"`` every user answers ``int(items * answer_probability)`` items
        chosen at random (the paper's published code). With ``missing="pairs"`` each user answers
        each item with that probability, so the number of answers varies (the paper's text).
    answers_per_user
        Alternatively: long-tailed numbers of answers with this median.
    answers_tail
        The spread of those numbers (standard deviation of the logarithm); 0 gives everybody the
        same number.
    blocks
        Alternatively: missing by design. The items are cut into this many blocks and every user
        answers two neighbouring ones.
    at_once
        How many chances are held at once; bounds the memory.
    dense_from
        Responses are held as a full table if at least this share of cells is answered.

    Returns
    -------
    Simulation
        Users are labelled ``user-001`` …, items ``item-01`` …, options ``A, B, C`` … (for ``grm``
        and ``c1p`` from worst to best) or ``wrong`` and ``right``.

    Examples
    --------
    >>> sim = simulate("samejima", users=50, items=20, seed=1)
    >>> sim.responses
    Responses(50 users × 20 items, 53 options, 1,000 responses)
    >>> sim.abilities.shape, sim.key["item-01"], sim.model
    ((50,), 'A', Samejima(20 items × 3 options))
    """
    recipe, source = _resolve(model)
    sizes = _sizes(source, recipe, items=items, options=options, bmax=bmax, amax=amax)
    if users < 1:
        raise InputError(f"users must be at least 1; got {users}.")
    answering = Answering(
        sizes.items, answer_probability, answers_per_user, answers_tail, blocks, missing
    )
    # One stream for each part, so e.g. fewer answers do not change the items and abilities.
    streams = _streams(seed)
    items_drawn = recipe.draw(next(streams), sizes)
    theta = _abilities(ability, recipe, next(streams), users)
    responses = _respond(
        items_drawn, theta, answering, next(streams), next(streams), at_once, dense_from
    )
    text = items_drawn.option_labels
    correct = items_drawn.correct[_item_numbers(responses)]
    key = dict(zip(responses.items.tolist(), (text[h] for h in correct.tolist()), strict=True))
    theta.flags.writeable = False
    return Simulation(responses=responses, abilities=theta, key=key, model=items_drawn)


def _resolve(model: str | ResponseModel) -> tuple[Recipe, str]:
    if isinstance(model, ResponseModel):
        given = lambda rng, sizes: model  # noqa: ARG005, E731
        fixed = Recipe("given", given, items=model.n_items, options=model.n_options)
        return fixed, f"the given {type(model).__name__}"
    if model not in RECIPES:
        hint = did_you_mean(str(model), RECIPES)
        raise InputError(f"model must be one of {', '.join(RECIPES)}; got {model!r}.{hint}")
    return RECIPES[model], model


def _sizes(
    source: str,
    recipe: Recipe,
    *,
    items: int | None,
    options: int | None,
    bmax: float,
    amax: float,
) -> Sizes:
    for name, asked, own in (("items", items, recipe.items), ("options", options, recipe.options)):
        if asked is not None and own is not None and asked != own:
            raise InputError(f"{source} has {own} {name}; got {name}={asked}. Leave {name} out.")
    usual = Sizes()
    sizes = Sizes(
        items=items or recipe.items or usual.items,
        options=options or recipe.options or usual.options,
        bmax=bmax,
        amax=amax,
    )
    if sizes.items < 1 or items == 0:
        raise InputError(f"items must be at least 1; got {items}.")
    if not 2 <= sizes.options < np.iinfo(np.uint16).max or options == 0:
        raise InputError(f"options must be from 2 to 65534; got {options}.")
    if not amax >= 0.0:
        raise InputError(f"amax must not be negative; got {amax}.")
    return sizes


def _streams(seed: int | np.random.SeedSequence) -> Iterator[np.random.Generator]:
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    # Not seed.spawn(): that would change the caller's object, and the next call's data with it.
    for place in range(4):
        child = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, place))
        yield np.random.default_rng(child)


def _abilities(
    ability: str | npt.ArrayLike | None, recipe: Recipe, rng: np.random.Generator, users: int
) -> FloatArray:
    if ability is None:
        ability = recipe.ability
    if isinstance(ability, str):
        if ability not in ABILITIES:
            raise InputError(
                f"ability must be one of {', '.join(ABILITIES)} or one number per user; "
                f"got {ability!r}."
            )
        return ABILITIES[ability](rng, users)
    theta = np.array(ability, dtype=np.float64)
    if theta.shape != (users,):
        raise InputError(
            f"ability must hold one number per user ({users}); got shape {theta.shape}."
        )
    return theta


def _respond(
    model: ResponseModel,
    theta: FloatArray,
    answering: Answering,
    rng: np.random.Generator,
    answering_rng: np.random.Generator,
    at_once: int,
    dense_from: float,
) -> Responses:
    """Draw everybody's answers, a block of users at a time."""
    users, items = len(theta), model.n_items
    names = {
        "users": labels("user", users, width=3),
        "items": labels("item", items, width=2),
    }
    dense = answering.density >= dense_from
    dtype = np.dtype(np.uint8 if model.n_options < 255 else np.uint16)
    table = np.empty((items, users) if dense else (0, 0), dtype=dtype)
    counts, chosen = [], []
    step = max(1, at_once // (items * model.n_options))
    for first in range(0, users, step):
        part = model.sample(theta[first : first + step], rng)
        answered = None if answering.complete else answering.draw(answering_rng, first, len(part))
        if dense:
            if answered is not None:
                part[~answered] = np.iinfo(part.dtype).max
            table[:, first : first + step] = part.T
        elif answered is not None:
            numbers = np.arange(items, dtype=np.int32) * model.n_options + part
            counts.append(answered.sum(axis=1))
            chosen.append(numbers[answered].astype(np.int32))
    if dense:
        return drawn(**names, option_labels=model.option_labels, codes=table)
    rows = np.cumsum([0, *np.concatenate(counts)]), np.concatenate(chosen)
    return drawn(**names, option_labels=model.option_labels, rows=rows)


def _item_numbers(responses: Responses) -> npt.NDArray[np.int64]:
    """The model's item numbers of simulated responses (labels count from 1)."""
    return np.array([int(item.rsplit("-", 1)[1]) - 1 for item in responses.items], dtype=np.int64)
