"""A perfect order, if there is one: certified, but only as sure as answers alone can be.

A perfect order fits every answer, and so does its reverse. Where it is the use of one label, a
leaning to that label would look the same. So the bounds of :mod:`.core.doubt` hold here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from hitsndiffs.data.words import Detail
from hitsndiffs.engines import Engine
from hitsndiffs.methods.axis import with_key
from hitsndiffs.methods.core.doubt import EITHER, FOLLOWED, FOLLOWS, MOST_FOLLOWED
from hitsndiffs.methods.core.witnesses import rank_correlation
from hitsndiffs.methods.exact import along
from hitsndiffs.methods.fitted import Fit
from hitsndiffs.methods.hnd import HND
from hitsndiffs.methods.labels import mark_in_words, sharing, two_labels
from hitsndiffs.methods.majority import Majority
from hitsndiffs.order.perfect import may_be_perfect, perfect_order

__all__ = ["certified_fit"]

#: Said of an order with two places, of one that is the share of a label, and of labels read as
#: marks.
TWO_CAMPS = (
    "There are two answer sheets in this order: the users fall into two camps, and which of them "
    "is right does not follow from how many are in each."
)
MARKS = (
    "The order is the share of {!r}: the answers look like marks, with that label right in every "
    "item. They cannot show whether that label or its opposite is right."
)
MARKS_IN_WORDS = (
    "The labels are read as marks: {!r} is right in every item, and the order is its share. If "
    "they are answers, say so with one or two known answers."
)
FOLLOWING = (
    "The order follows how often people chose {!r} (correlation {:.2f}; those who chose it more "
    "stand {}): a leaning to that label would look the same, so this cannot be called sure."
)


def certified_fit(data: Engine, method: Any) -> Fit | None:
    """A perfect order, if there is one: HnD's, or the PQ-tree's; else ``None``."""
    if not data.in_memory:  # the check needs the order of all users in one place
        return None
    fit = _perfect(data, method, method.answers)
    if fit is None or _how(fit) in ("known answers", "strong user"):
        return fit
    if len(np.unique(data.collect(fit.scores))) <= 2:
        fit = _at_most(EITHER, fit, TWO_CAMPS)
    label, agreement = _followed(data, fit)
    if abs(agreement) <= FOLLOWS:
        return fit
    if not two_labels(data.items):
        way = "higher" if agreement > 0 else "lower"
        return _at_most(FOLLOWED, fit, FOLLOWING.format(label, agreement, way))
    mark = mark_in_words(data.items)
    if mark is None:
        return _at_most(EITHER, fit, MARKS.format(label))
    fit = _perfect(data, method, dict.fromkeys(data.items.labels.tolist(), mark))
    assert fit is not None
    fit = _at_most(FOLLOWED, fit)
    assert fit.orientation is not None
    turned = replace(fit.orientation, how="words")
    return replace(fit, orientation=turned, notes=(*fit.notes, MARKS_IN_WORDS.format(mark)))


def _how(fit: Fit) -> str:
    return "" if fit.orientation is None else fit.orientation.how


def _perfect(data: Engine, method: Any, answers: Mapping[Any, Any] | None) -> Fit | None:
    known = {"answers": answers, "strong_user": method.strong_user}
    if (data.collect(data.components("options")) == 0).all():
        plain = HND(seed=method.seed, engine=method.engine, threads=method.threads, **known)
        if (data.choosers_per_option == data.n_users).all():
            return None
        fit = plain.without_key(data)
        if fit.perfect is None:
            return None
    else:  # parts that share no option: agreement with the majority says which comes first
        if not may_be_perfect(data):
            return None
        found = perfect_order(data, data.collect(Majority()._fit(data).scores))
        if found is None:
            return None
        fit = along(data, found, **known)
    if np.ptp(data.collect(fit.scores)) == 0:
        return None
    fit = with_key(data, fit)
    note = Detail("Every single answer fits this order, and the reverse of it.")
    return replace(fit, abilities=fit.scores, notes=(note, *fit.notes))


def _followed(data: Engine, fit: Fit) -> tuple[str, float]:
    """The shared label whose use the order follows most closely, and the correlation of ranks."""
    shared = sharing(data.items)
    if shared.apart or not 2 <= len(shared.labels) <= MOST_FOLLOWED:
        return "", 0.0
    uses = data.collect(data.choices(np.eye(len(shared.labels))[shared.numbers]))
    shares = uses / data.collect(data.answers_per_user)[:, None]
    scores = data.collect(fit.scores)
    found = [rank_correlation(scores, share) for share in shares.T]
    closest = max(range(len(found)), key=lambda k: (round(abs(found[k]), 9), found[k]))
    return str(shared.labels[closest]), found[closest]


def _at_most(bound: float, fit: Fit, *why: str) -> Fit:
    """The same fit, no surer than a bound; ``why`` is noted where that makes a difference."""
    assert fit.orientation is not None
    assert fit.confidence is not None
    if fit.confidence <= bound:
        return fit
    turned = replace(fit.orientation, confidence=bound)
    return replace(fit, confidence=bound, orientation=turned, notes=(*fit.notes, *why))
