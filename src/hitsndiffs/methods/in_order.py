"""Fit in an order that depends only on the answers: input order and names change nothing.

Small data are put into that order first (:mod:`hitsndiffs.order.canonical`), and the result is
mapped back to the caller's order. Users whom nothing tells apart may still get different places; a
note then says so.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.lookup import answers_here, known_options
from hitsndiffs.engines import Engine
from hitsndiffs.methods.fitted import USER_ARRAYS, Fit, collected
from hitsndiffs.methods.labels import sharing, two_labels
from hitsndiffs.order.canonical import Colouring, canonical
from hitsndiffs.order.numbering import renumbered

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
    colouring = _colouring(method, data)
    found = canonical(colouring)
    here = data.opened(found.responses)
    fit = renumbered(
        collected(here, method._fit(here)),
        {"user": found.users, "item": found.items, "option": found.options},
        {"user": data.n_users, "item": data.n_items, "option": data.n_options},
    )
    if any(getattr(method, name, None) for name in TELLING):
        return fit
    return with_open_places(fit, colouring)


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


def with_open_places(fit: Fit, colouring: Colouring) -> Fit:
    """Level users whom nothing tells apart, or note that they get different places."""
    colours = colouring.first
    if colours.n_users == len(colours.users):
        return fit
    groups = np.unique(colours.users, return_inverse=True)[1].reshape(-1)
    scores = np.asarray(fit.scores, dtype=float)
    size = max(float(np.nanmax(np.abs(scores), initial=0.0)), 1e-300)
    low, high = np.full((2, int(groups.max()) + 1), np.nan)
    np.fmin.at(low, groups, scores)
    np.fmax.at(high, groups, scores)
    spread = np.nan_to_num(high - low) / size

    # 1. differences that are rounding are averaged out
    inside = ((spread > 0) & (spread <= TIED_ROUNDING))[groups]

    def mean(values: Any) -> Any:
        means = np.bincount(groups, values) / np.bincount(groups)
        return np.where(inside, means[groups], values)

    found = {name: getattr(fit, name) for name in USER_ARRAYS}
    if inside.any():
        fit = replace(fit, **{name: mean(x) for name, x in found.items() if x is not None})

    # 2. others are named, unless they are the same order upside down, which is noted already
    open_end = fit.orientation is not None and not fit.orientation.decided
    for group in np.argsort(-spread, kind="stable"):
        if spread[group] <= TIED_ROUNDING:
            break
        if open_end and abs(low[group] + high[group]) <= TIED_ROUNDING * size:
            continue
        users = np.flatnonzero(groups == group)
        ends = users[[np.argmax(scores[users]), np.argmin(scores[users])]]
        return _undetermined(fit, colouring.data.responses.users[ends])
    return fit


def _undetermined(fit: Fit, users: Any) -> Fit:
    """The fit with a note that swapping two users would fit equally well."""
    note = (
        f"Nothing in the answers tells {users[0]} and {users[1]} apart, but they get "
        "different places: swapping them would fit equally well, so the order is not determined "
        "by the data. One known answer or one strong user would help."
    )
    readings = fit.readings
    if readings and readings[0].probability > MOST_SURE_UNTOLD:
        readings = (replace(readings[0], probability=MOST_SURE_UNTOLD), *readings[1:])
    sure = None if fit.confidence is None else min(fit.confidence, MOST_SURE_UNTOLD)
    return replace(fit, confidence=sure, readings=readings, notes=(*fit.notes, note))
