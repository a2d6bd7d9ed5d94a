"""The graded-response model by marginal maximum likelihood (the paper's GRM-estimator)."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.lookup import answers_here, covered_items, known_options
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError, MissingExtraError
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.fitted import Learnt
from hitsndiffs.methods.keys import key_from_scores, key_given

__all__ = ["GRM", "GradedItems"]

#: The level of an option whose item has no order.
UNORDERED = -1


@dataclass(frozen=True)
class GradedItems(Learnt):
    """The curves of the items that take part.

    Attributes
    ----------
    items
        Their labels.
    slopes, thresholds
        Of each item; thresholds are a row per item, with NaN after the last of an item that has
        fewer levels than others.
    log_likelihood
        Of all answers.
    """

    items: npt.NDArray[Any]
    slopes: Floats
    thresholds: Floats
    log_likelihood: float


@dataclass(kw_only=True, eq=False)
class GRM(Method):
    """Ability by item response theory, when the order of the options (or the key) is known.

    Every item has a slope and ordered thresholds (Samejima's graded-response model); they are
    fitted by marginal maximum likelihood (EM) and the abilities are posterior means, with their
    standard errors. Needs the package ``mirt``: ``pip install "hitsndiffs[irt]"``.

    Parameters
    ----------
    order
        The options of each item from worst to best, item → list of options.
    key
        The right option of each item, item → option, for items without an order: all their other
        options count as wrong.
    quadrature
        Number of points at which the ability distribution is evaluated.
    tol, max_iterations
        Of the EM rounds.

    Notes
    -----
    Items that neither ``order`` nor ``key`` names do not count. Options that nobody chose cannot
    be told from their neighbours and take no part.
    """

    orders_first: ClassVar[bool] = False  # the order of the options is given
    name: ClassVar[str] = "grm"
    summary: ClassVar[str] = "graded-response model by marginal maximum likelihood"
    use: ClassVar[str] = "when the order of the options or the key is known (extra: irt)"

    order: Mapping[Any, Iterable[Any]] | None = None
    key: Mapping[Any, Any] | None = None
    quadrature: int = 41
    tol: float = 1e-4
    max_iterations: int = 1_000

    def _check(self, data: Engine) -> None:
        super()._check(data)
        if not self.order and not self.key:
            raise InputError(
                "Method 'grm' needs to know which options are better: give an order (a "
                "mapping of items to their options from worst to best) or a key (items to right "
                "options)."
            )
        levels = option_levels(data, self.order, self.key)
        if (levels == UNORDERED).all():
            names = list(self.order or self.key or {})
            raise InputError(
                f"None of the items of the order or key is in the data (the first is "
                f"{str(names[0])!r}); items are for example {str(data.items.labels[0])!r}."
            )

    def _fit(self, data: Engine) -> Fit:
        fit_mirt, fscores = _mirt()

        # 1. the answers as levels, 0 = worst, one column per item that tells users apart
        levels = option_levels(data, self.order, self.key)
        table, used = level_table(data, levels)
        if table.shape[1] == 0:
            return _nothing_to_fit(data)

        # 2. slopes and thresholds, then abilities
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = fit_mirt(
                table,
                model="GRM",
                n_categories=[int(c) for c in table.max(axis=0) + 1],
                n_quadpts=self.quadrature,
                tol=self.tol,
                max_iter=self.max_iterations,
                compute_standard_errors=False,
            )
            found = fscores(fitted, table, method="EAP")
        s = np.asarray(found.theta, dtype=float).reshape(-1)
        errors = np.asarray(found.standard_error, dtype=float).reshape(-1)

        # 3. what the options say
        counts = data.choosers_per_option
        dropped = data.n_items - len(used)
        notes = () if dropped == 0 else (f"{dropped} items without order or spread do not count.",)
        return Fit(
            scores=s,
            abilities=s,
            option_weights=data.choosers(s) / counts,
            key_probabilities=_key(self, data, s),
            standard_errors=errors,
            converged=bool(fitted.converged),
            n_iterations=int(fitted.n_iterations),
            notes=notes,
            learnt=GradedItems(
                items=data.items.labels[used],
                slopes=np.asarray(fitted.model.parameters["discrimination"], dtype=float),
                thresholds=_thresholds(fitted, table),
                log_likelihood=float(fitted.log_likelihood),
            ),
        )


def option_levels(
    data: Engine,
    order: Mapping[Any, Iterable[Any]] | None,
    key: Mapping[Any, Any] | None,
) -> Ints:
    """The place of each option from worst (0) to best; -1 where the item has no order."""
    levels = np.full(data.n_options, UNORDERED, dtype=np.int64)
    known = answers_here(data.items, key)
    levels[covered_items(data.items, known)[data.items.of_option]] = 0
    levels[known_options(data.items, known)] = 1
    orders = {str(item).strip(): options for item, options in (order or {}).items()}
    for number, item in enumerate(data.items.labels):
        if (name := str(item).strip()) not in orders:
            continue
        first, last = data.items.starts[number], data.items.starts[number + 1]
        places = {str(option).strip(): place for place, option in enumerate(orders[name])}
        texts = [str(label).strip() for label in data.items.option_labels[first:last]]
        if missing := [text for text in texts if text not in places]:
            raise InputError(
                f"The order of item {name!r} leaves out the option {missing[0]!r}, which was "
                f"chosen; it lists {', '.join(places)}. Name all options, from worst to best."
            )
        levels[first:last] = [places[text] for text in texts]
    return levels


def level_table(data: Engine, levels: Ints) -> tuple[Ints, Ints]:
    """Levels without gaps, users × items (-1 = no answer), and the numbers of these items.

    Items without an order, or in which only one level was chosen, are left out.
    """
    items = data.items.of_option.astype(np.int64)
    # levels without gaps: count the distinct lower ones within the item
    width = int(levels.max()) + 2
    pairs, place = np.unique(items * width + levels + 1, return_inverse=True)
    starts = np.searchsorted(pairs, np.arange(data.n_items) * width)
    dense = place.reshape(-1) - starts[items]
    distinct = np.diff(np.append(starts, len(pairs)))
    ordered = np.minimum.reduceat(levels, data.items.starts[:-1]) != UNORDERED
    used = np.flatnonzero(ordered & (distinct > 1))
    codes = data.responses.codes[used]
    answered = codes != np.iinfo(codes.dtype).max
    options = np.where(answered, codes.astype(np.int64), 0) + data.items.starts[used, None]
    return np.where(answered, dense[options], -1).T.copy(), used


def _thresholds(fitted: Any, table: Ints) -> Floats:
    """Rows of thresholds; mirt fills rows up with zeros, which could be taken for thresholds."""
    found = np.array(fitted.model.parameters["thresholds"], dtype=float)
    found[np.arange(found.shape[1]) >= table.max(axis=0)[:, None]] = np.nan
    return found


def _key(method: GRM, data: Engine, s: Floats) -> Floats:
    """The key: the best option of ordered items, the given key, and guesses for other items."""
    tops = {item: list(options)[-1] for item, options in (method.order or {}).items()}
    known = answers_here(data.items, {**(method.key or {}), **tops})
    return key_given(data, known, key_from_scores(data, s))


def _nothing_to_fit(data: Engine) -> Fit:
    zero = np.zeros(data.n_users)
    return Fit(
        scores=zero,
        abilities=zero,
        key_probabilities=key_from_scores(data, zero),
        standard_errors=np.ones(data.n_users),
        notes=("No item has answers of two levels: nothing tells the users apart.",),
    )


def _mirt() -> tuple[Any, Any]:
    try:
        from mirt import fit_mirt, fscores
    except ImportError:
        raise MissingExtraError(
            "Method 'grm' fits the graded-response model with the package mirt, which is not "
            "installed: pip install 'hitsndiffs[irt]'."
        ) from None
    return fit_mirt, fscores
