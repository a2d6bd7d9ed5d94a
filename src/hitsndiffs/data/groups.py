"""A column that says which group each user belongs to: a team, a class, the runs of one model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from hitsndiffs.data.factor import Factor
from hitsndiffs.data.labels import Place
from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.words import count, shortened
from hitsndiffs.errors import InputError

__all__ = ["groups_in_words", "user_groups"]


def user_groups(users: Factor, groups: Factor, place: Place, column: Any) -> dict[Any, Any]:
    """Return user → group, from the user and the group of each row.

    A user whose cells are all blank is in no group; a user in two groups is refused, in a message
    that names the ``place`` and the ``column``.

    Examples
    --------
    >>> users = Factor(["ann", "bob"], np.array([0, 0, 1], dtype=np.int32))
    >>> user_groups(users, Factor(["x"], np.array([-1, 0, -1], dtype=np.int32)), Place(), "team")
    {'ann': 'x'}
    """
    rows = np.flatnonzero((users.numbers >= 0) & (groups.numbers >= 0))
    who = users.numbers[rows]
    first = np.full(len(users.labels), -1, dtype=np.int64)
    first[who[::-1]] = rows[::-1]  # reversed: the last write wins, so the first row stays
    differ = rows[groups.numbers[first[who]] != groups.numbers[rows]]
    if len(differ):
        user = int(users.numbers[differ[0]])
        one, other = (groups.labels[groups.numbers[row]] for row in (first[user], differ[0]))
        raise InputError(
            f"{place.source}, {place.rows([first[user], differ[0]])}: the user "
            f"{shortened(str(users.labels[user]))!r} is in two groups ({column!r}: "
            f"{shortened(str(one))!r} and {shortened(str(other))!r}); give each user one."
        )
    return {
        python_value(users.labels[user]): python_value(groups.labels[groups.numbers[first[user]]])
        for user in np.flatnonzero(first >= 0).tolist()
    }


def groups_in_words(column: Any, groups: Mapping[Any, Any], users: Iterable[Any]) -> str:
    """Return one sentence on how a column of groups was used.

    Examples
    --------
    >>> groups_in_words("team", {"a": "x", "b": "x"}, ["a", "b", "c"])
    "Took 'team' as the users' groups: 1 group; 1 user without a group counts alone."
    """
    each = [groups.get(user) for user in users]
    sizes = Counter(group for group in each if group is not None)
    said = f"Took {column!r} as the users' groups: {count(len(sizes), 'group')}"
    alone = len(each) - sizes.total()
    if alone:
        said += f"; {count(alone, 'user')} without a group count{'s' * (alone == 1)} alone"
    return f"{said}."
