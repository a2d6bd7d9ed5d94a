"""Connected components of the users: who can be compared with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Ints
from hitsndiffs.data.responses import Responses

if TYPE_CHECKING:
    from hitsndiffs.engines.base import Engine

__all__ = ["connected", "searched"]


def connected(data: Engine, linked_by: str = "options") -> Ints:
    """Number the components of the users: 0 is the largest, -1 marks users without answers.

    Parameters
    ----------
    data
        An engine whose answers are in memory.
    linked_by
        ``"options"``: two users are linked if they chose the same option (what a spectral method
        needs). ``"items"``: if they answered the same item (enough for a method that infers the
        item's key).
    """
    answered = data.answers_per_user > 0
    if not answered.any() or all_are_linked(data, int(answered.sum()), linked_by):
        return np.where(answered, 0, -1)
    return _labelled(data.responses, linked_by)


def all_are_linked(data: Engine, everybody: int, linked_by: str) -> bool:
    """Whether a short search finds that all who answered are linked.

    The search starts from the most chosen option (or the most answered item). Dense data need one
    round of sums or none. After 50 rounds it gives up and returns false.
    """
    counts = data.answers_per_item if linked_by == "items" else data.choosers_per_option
    if counts.max() == everybody:
        return True
    place = data.items.of_option if linked_by == "items" else np.arange(data.n_options)
    options, size = place == np.argmax(counts), 0
    for _ in range(50):
        found, reached = data.through(options[:, None].astype(float), _reached)
        if (now := int(reached[0])) in (size, everybody):
            return now == everybody
        size, options = now, found[:, 0] > 0
        if linked_by == "items":
            options = data.items.any(options)
        if options.all():
            return True
    return False


def _reached(sums: Any) -> Any:
    """Mark the users who chose any of some options, and count them."""
    marks = (sums > 0).astype(np.float64)
    return marks, marks.sum(axis=0)


def _labelled(responses: Responses, linked_by: str) -> Ints:
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    indptr, options = responses.rows
    m = responses.n_users
    others = responses.option_items[options] if linked_by == "items" else options
    n_others = responses.n_items if linked_by == "items" else responses.n_options
    user = np.repeat(np.arange(m), np.diff(indptr))
    graph = sparse.coo_array(
        (np.ones(len(user), dtype=np.int8), (user, others + m)), shape=(m + n_others, m + n_others)
    )
    _, found = connected_components(graph.tocsr(), directed=False)
    return _largest_first(found[:m].astype(np.int64), responses.answers_per_user > 0)


def searched(data: Engine, linked_by: str) -> Ints:
    """The same for any engine with NumPy user arrays, by following links from user to user.

    Every component takes several rounds of two sums, so this is for data with few components.
    """
    left = data.answers_per_user > 0
    answered = left.copy()
    labels = np.full(data.n_users, -1, dtype=np.int64)
    while left.any():
        reached, before = data.marked(np.flatnonzero(left)[:1]), 0
        while (now := int(reached.sum())) > before:
            before = now
            options = data.choosers(reached.astype(float)) > 0
            options = data.items.any(options) if linked_by == "items" else options
            reached = data.choices(options.astype(float)) > 0
        labels[reached] = labels.max() + 1
        left &= ~reached
    return _largest_first(labels, answered)


def _largest_first(labels: Ints, answered: Flags) -> Ints:
    """Number the components by size, ties by their first user."""
    m = len(labels)
    if not answered.any():
        return np.full(m, -1, dtype=np.int64)
    sizes = np.bincount(labels[answered], minlength=labels.max() + 1)
    first = np.full(len(sizes), m)
    np.minimum.at(first, labels[answered], np.flatnonzero(answered))
    order = np.lexsort((first, -sizes))
    number = np.empty(len(sizes), dtype=np.int64)
    number[order] = np.arange(len(sizes))
    return np.where(answered, number[labels], -1)
