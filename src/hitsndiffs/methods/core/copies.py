"""Who counts as one: users who share (nearly) all of their unusual answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.encoding.option_book import is_blank
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.core.settings import Settings
from hitsndiffs.methods.core.table import Table

__all__ = ["group_weights", "witness_weights"]

#: With more users, nobody is compared with everybody.
MOST_USERS = 3_000


def witness_weights(table: Table, settings: Settings) -> Floats:
    """One over the number of users who share the user's unusual answers."""
    m = table.n_users
    if m > MOST_USERS:
        return np.ones(m)
    common = np.zeros(table.n_options, dtype=bool)
    common[table.top(table.counts)] = True
    rare = ~common[table.option]
    asked, odd, chosen = (
        _marked(table.user[some], places[some], m, count)
        for places, some, count in (
            (table.item, slice(None), table.n_items),
            (table.item, rare, table.n_items),
            (table.option, rare, table.n_options),
        )
    )
    same, mine, both = chosen @ chosen.T, odd @ asked.T, asked @ asked.T
    either = mine + mine.T - odd @ odd.T
    most = np.maximum(table.per_user[:, None], table.per_user[None])
    alike = (same >= settings.unusual_shared * either) & (same >= settings.least_unusual)
    alike &= both >= 0.5 * most
    np.fill_diagonal(alike, True)
    return np.asarray(1.0 / alike.sum(axis=1))


def _marked(user: Any, place: Any, n_users: int, count: int) -> Any:
    marked = np.zeros((n_users, count), dtype=np.float32)
    marked[user, place] = 1.0
    return marked


def group_weights(data: Engine, group: Mapping[Any, Any]) -> Any:
    """One over the size of each user's group; a user without a group is a group of one.

    Users are compared as text.
    """
    if not data.in_memory:
        raise data.cannot_serve("Counting by groups")
    names = {str(user).strip(): str(of) for user, of in group.items() if not is_blank(of)}
    users = [str(user).strip() for user in data.user_labels(np.arange(data.n_users))]
    here = [names[user] for user in users if user in names]
    if not here:
        some = ", ".join(repr(user) for user in users[:3])
        raise InputError(
            f"The groups name none of the users; users are for example {some}. Say which user "
            "belongs to which group."
        )
    sizes = Counter(here)
    return data.user_array(
        np.array([1.0 / sizes[names[user]] if user in names else 1.0 for user in users])
    )
