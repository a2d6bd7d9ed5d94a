"""Connected components of the users: who can be compared with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Ints
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.engines.base import Engine

__all__ = ["connected"]

#: Rounds of the search from one option, before the links are followed one by one.
ROUNDS = 50


def connected(data: Engine, linked_by: str = "options") -> Any:
    """Number the components of the users: 0 is the largest, -1 marks users without answers.

    Parameters
    ----------
    data
        The answers. If they are not in memory, all users who answered must be linked.
    linked_by
        ``"options"``: two users are linked if they chose the same option (what a spectral method
        needs). ``"items"``: if they answered the same item (enough for a method that infers the
        item's key).
    """
    answered = data.answers_per_user > 0
    everybody = int(answered.sum())
    if everybody == 0 or _all_are_linked(data, everybody, linked_by):
        return answered.astype(np.int64) - 1
    if not data.in_memory:
        raise InputError(
            f"Not all users can be compared with each other (they share no {linked_by}), and "
            f"the {data.name} engine does not rank separate groups. Rank one group at a time, a "
            "sample of the users, or use the auto engine on one machine."
        )
    return data.user_array(_labelled(data, linked_by))


def _all_are_linked(data: Engine, everybody: int, linked_by: str) -> bool:
    """Whether a short search finds that all who answered are linked.

    The search starts from the most chosen option (or the most answered item). Dense data need one
    round of sums or none.
    """
    counts = data.answers_per_item if linked_by == "items" else data.choosers_per_option
    if counts.max() == everybody:
        return True
    place = data.items.of_option if linked_by == "items" else np.arange(data.n_options)
    options, size = place == np.argmax(counts), 0
    for _ in range(ROUNDS):
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


def _labelled(data: Engine, linked_by: str) -> Ints:
    """The components by size, ties by their first user."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    indptr, options = data.rows()
    m = data.n_users
    others = data.items.of_option[options] if linked_by == "items" else options
    size = m + (data.n_items if linked_by == "items" else data.n_options)
    user = np.repeat(np.arange(m), np.diff(indptr))
    graph = sparse.coo_array(
        (np.ones(len(user), dtype=np.int8), (user, others + m)), shape=(size, size)
    )
    labels = connected_components(graph.tocsr(), directed=False)[1][:m]
    answered = np.flatnonzero(np.diff(indptr))
    found, first, place, sizes = np.unique(
        labels[answered], return_index=True, return_inverse=True, return_counts=True
    )
    number = np.empty(len(found), dtype=np.int64)
    number[np.lexsort((first, -sizes))] = np.arange(len(found))
    components = np.full(m, -1, dtype=np.int64)
    components[answered] = number[place]
    return components
