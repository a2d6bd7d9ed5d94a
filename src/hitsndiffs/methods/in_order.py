"""Fit in an order that depends only on the answers: input order and names change nothing.

Small data are put into that order first (:mod:`hitsndiffs.order.canonical`), and the result is
mapped back to the caller's order. Users whom nothing tells apart may still get different places; a
note then says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.lookup import answers_here, known_options
from hitsndiffs.engines import Engine
from hitsndiffs.methods.fitted import USER_ARRAYS, Fit, collected, numbered
from hitsndiffs.methods.labels import sharing, two_labels
from hitsndiffs.methods.readings import Reading
from hitsndiffs.order.canonical import Canonical, Colouring, canonical
from hitsndiffs.order.perfect import PerfectOrder

if TYPE_CHECKING:
    from hitsndiffs.methods.base import Method

__all__ = ["fit_in_order"]

#: Data with more answers are fitted as they come: there the order changes only rounding.
UP_TO = 2_000_000
#: Between users whom nothing tells apart, score differences up to this (relative) are rounding, and
#: are averaged out.
TIED_ROUNDING = 1e-6
#: Highest confidence where users whom nothing tells apart get different places.
MOST_SURE_UNTOLD = 0.5
#: Parameters that tell users or options apart in ways that the colouring does not know.
TELLING = ("key", "order", "group")


def fit_in_order(method: Method, data: Engine) -> Fit:
    """Fit a method so that the order and names of users, items and options change nothing."""
    if not (method.orders_first and data.in_memory) or data.n_responses > UP_TO:
        return collected(data, method._fit(data))
    found = canonical(_colouring(method, data))
    here = data.opened(found.responses)
    fit = _brought_back(collected(here, method._fit(here)), found)
    if any(getattr(method, name, None) for name in TELLING):
        return fit
    return _with_open_places(fit, found.colouring)


def _colouring(method: Method, data: Engine) -> Colouring:
    """What tells users and options apart for this method."""
    known = answers_here(data.items, getattr(method, "answers", None))
    strong = getattr(method, "strong_user", None)
    user = None if strong is None else data.user_number(strong)
    shared = sharing(data.items) if method.reads_labels else None
    together = shared is not None and (not shared.apart or two_labels(data.items))
    return Colouring(
        data,
        shared.numbers if shared is not None and together else None,
        known_options(data.items, known) if known else None,
        None if user is None else np.array([user]),
    )


def _brought_back(fit: Fit, found: Canonical) -> Fit:
    """The same fit in the caller's order of users, items and options."""
    changed: dict[str, Any] = {
        name: _placed(getattr(fit, name), found.users) for name in USER_ARRAYS
    }
    if fit.scoring is not None:
        weights = _placed(fit.scoring.weights, found.options)
        changed["scoring"] = replace(fit.scoring, weights=weights)
    return replace(
        fit,
        **changed,
        option_weights=_placed(fit.option_weights, found.options),
        key_probabilities=_placed(fit.key_probabilities, found.options),
        perfect=None if fit.perfect is None else _perfect(fit.perfect, found),
        readings=tuple(_reading(reading, found) for reading in fit.readings),
        questions=tuple(replace(q, item=int(found.items[q.item])) for q in fit.questions),
        alike=numbered(fit.alike, found.users),
        learnt=fit.learnt and fit.learnt.put_back(found.users, found.items, found.options),
    )


def _placed(values: Any, order: Ints) -> Any:
    if values is None:
        return None
    placed = np.empty_like(values)
    placed[order] = values
    return placed


def _perfect(perfect: PerfectOrder, found: Canonical) -> PerfectOrder:
    first, last = (_placed(ends, found.options) for ends in (perfect.first, perfect.last))
    return replace(perfect, order=found.users[perfect.order], first=first, last=last)


def _reading(reading: Reading, found: Canonical) -> Reading:
    return replace(
        reading,
        key=_placed(reading.key, found.options),
        correct=_placed(reading.correct, found.users),
    )


def _with_open_places(fit: Fit, colouring: Colouring) -> Fit:
    """Note where users whom nothing tells apart get different places."""
    if colouring.first.tell_all_users_apart:
        return fit
    groups = np.unique(colouring.first.users, return_inverse=True)[1].reshape(-1)
    scores = np.asarray(fit.scores, dtype=float)
    size = max(float(np.nanmax(np.abs(scores), initial=0.0)), 1e-300)
    low, high = np.full((2, int(groups.max()) + 1), np.nan)
    np.fmin.at(low, groups, scores)
    np.fmax.at(high, groups, scores)
    spread = np.nan_to_num(high - low) / size
    apart = _levelled(fit, groups, spread)
    wide = np.flatnonzero(spread > TIED_ROUNDING)
    open_end = fit.orientation is not None and not fit.orientation.decided
    for group in wide[np.argsort(-spread[wide], kind="stable")]:
        if open_end and abs(low[group] + high[group]) <= TIED_ROUNDING * size:
            continue  # the same order upside down, which is noted already
        users = np.flatnonzero(groups == group)
        best, worst = users[np.argmax(scores[users])], users[np.argmin(scores[users])]
        if colouring.alike(int(best), int(worst)):
            return _said(apart, colouring, int(best), int(worst))
    return apart


def _levelled(fit: Fit, groups: Ints, spread: Floats) -> Fit:
    """Average the values of users whom nothing tells apart, if they differ only by rounding."""
    some = (spread > 0) & (spread <= TIED_ROUNDING)
    if not some.any():
        return fit
    members, inside = np.bincount(groups), some[groups]

    def mean(values: Any) -> Any:
        if values is None:
            return None
        means = np.bincount(groups, values) / members
        return np.where(inside, means[groups], values)

    return replace(fit, **{name: mean(getattr(fit, name)) for name in USER_ARRAYS})


def _said(fit: Fit, colouring: Colouring, one: int, other: int) -> Fit:
    users = colouring.data.responses.users
    note = (
        f"Nothing in the answers tells {users[one]} and {users[other]} apart, but they get "
        "different places: swapping them would fit equally well, so the order is not determined "
        "by the data. One known answer or one strong user would help."
    )
    readings = fit.readings
    if readings and readings[0].probability > MOST_SURE_UNTOLD:
        readings = (replace(readings[0], probability=MOST_SURE_UNTOLD), *readings[1:])
    sure = None if fit.confidence is None else min(fit.confidence, MOST_SURE_UNTOLD)
    return replace(fit, confidence=sure, readings=readings, notes=(*fit.notes, note))
