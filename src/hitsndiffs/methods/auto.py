"""The default: a certified order, or the latent key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit
from hitsndiffs.methods.certified import certified_fit
from hitsndiffs.methods.core.method import LatentKey
from hitsndiffs.methods.core.witnesses import correlation
from hitsndiffs.methods.fitted import Choice
from hitsndiffs.methods.labels import two_labels
from hitsndiffs.order.orientation import undecided
from hitsndiffs.spectral.shrinkage import shrunk

__all__ = ["Auto"]

#: Where the key's ability and the graded one correlate this well, ability is their average.
AGREE = 0.8
#: Shrinkage of options and users, and rounds, of the graded ability.
SHRINK, GRADED_ROUNDS = 5.0, 5
#: If a smaller share of the answers was given by more than one user, they look random.
LEAST_SHARED = 0.02


@dataclass(kw_only=True, eq=False)
class Auto(LatentKey):
    """A certified order where there is one, else one unknown right answer per item.

    1. If an order explains every answer, that order is the answer.
    2. Otherwise the latent-key model is fitted from several starts, and the evidence decides.

    Scores are the expected share of right answers; latent ability, which also uses what wrong
    answers say, is available too (``by="ability"``).

    Parameters
    ----------
    group, answers, key, strong_user, reading
        As in :class:`LatentKey`.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")])
    >>> Auto().fit(r).fit_.choice.method
    'hnd'
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "chooses by the evidence in the data, and says what and why"
    use: ClassVar[str] = "always a good start (the default)"

    def _fit(self, data: Engine) -> Fit:
        # 0. a perfect order needs no model; numbers drawn at random nearly always have some
        empty = _tells_nothing(data)
        at_random = empty is not None and (data.items.sizes > 1).any() and not _linked(data)
        exact = None if at_random else certified_fit(data, self)
        if exact is not None:
            assert exact.perfect is not None
            alone = exact.perfect.n_orders is not None and exact.perfect.n_orders <= 2
            why = "one order" if alone else "an order (there are others)"
            return replace(exact, choice=Choice("hnd", f"{why} explains every answer"))

        # 1. answers that tell nothing
        if empty is not None:
            return empty

        # 2. one unknown key per item
        fit = super()._fit(data)
        assert fit.abilities is not None
        why = (
            "all items share two labels, and people lean more or less towards one of them"
            if two_labels(data.items)
            else "each item has its own right answer"
        )
        return replace(
            fit,
            abilities=_graded(data, fit.abilities),
            choice=Choice("latent-key", why),
        )


def _graded(data: Engine, ability: Any) -> Any:
    """Ability by the key, averaged with one that also uses what wrong answers say.

    The latter is HnD with shrunken, item-centred weights, started from the former; it counts where
    the two agree.
    """
    answers = data.answers_per_user
    axis = ability
    for _ in range(GRADED_ROUNDS):
        weights = shrunk(data, axis, SHRINK)
        axis = data.choices(weights) / (answers + SHRINK)
        size = float(axis.std())
        if size <= 1e-12:
            return ability
        axis = (axis - float(axis.mean())) / size
    if correlation(axis, ability) < AGREE:
        return ability
    return (ability + axis * float(ability.std()) + float(ability.mean())) / 2


def _tells_nothing(data: Engine) -> Fit | None:
    """The result if all users answered alike or (almost) no answer is shared; else ``None``."""
    counts = data.choosers_per_option
    if data.n_users < 2:
        return None
    shared = int(counts[counts > 1].sum())
    if shared == 0:
        return _equal(
            data,
            "No two users gave the same answer to any item, so nothing can be compared. Are these "
            "answers, or measurements? Options must be the same text to be the same option",
        )
    if (data.items.sizes == 1).all():
        return _equal(data, "All users gave the same answers: nothing tells them apart")
    if shared < LEAST_SHARED * data.n_responses and data.n_responses >= 100:
        return _equal(
            data,
            f"Only {100 * shared / data.n_responses:.1f} % of the answers were given by more than "
            "one user: they look like numbers drawn at random",
        )
    return None


def _linked(data: Engine) -> bool:
    """Whether shared answers link all users, directly or through others."""
    return bool((data.collect(data.components("options")) == 0).all())


def _equal(data: Engine, why: str) -> Fit:
    zero = 0.0 * data.everybody
    counts = data.choosers_per_option.astype(float)
    return Fit(
        scores=zero,
        option_weights=np.zeros(data.n_options),
        key_probabilities=data.items.share(counts),
        standard_errors=zero + np.nan,
        orientation=undecided(np.zeros(1)),
        confidence=0.0,
        choice=Choice(None, why),
    )
