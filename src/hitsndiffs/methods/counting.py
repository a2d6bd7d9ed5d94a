"""Who counts as a witness of the key: everybody once, or those who answer alike once together.

Models take users for independent. Where some are not, they outvote the others; where able users
merely agree, counting them once loses the best witnesses. So several ways to count are compared:

* everybody counts;
* users who share nearly all of their *unusual* answers, and repeated runs of one source, count as
  one together;
* users whose *whole* sheets are near-equal count as one together. Able users agree as well, so this
  is no way to rank; a ranking that it turns round rests on who counts.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.cells import is_blank
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError

__all__ = ["EVERYBODY", "SHEETS", "UNUSUAL", "group_weights", "runs", "ways_to_count"]

#: The ways to count, by what counts once.
EVERYBODY, UNUSUAL, SHEETS = "everybody", "unusual answers once", "near-equal sheets once"
#: With more users nobody is compared with everybody.
MOST_COUNTED = 3_000
#: Users who share this share of their unusual answers, and at least so many, count as one.
SHARED, FEWEST_SHARED = 0.9, 8
#: Sheets are compared as a whole if both users answered so many items.
FEWEST_COMMON = 15
#: Users named alike are only runs of one source where so many others can be compared with.
FEWEST_OTHERS = 5
#: A name that ends in a number, also in brackets: model-1, model@2, model (temperature 0.7, seed
#: 12). Checkpoints (the second group) say outright what they are, and may say how much they have
#: seen: model step1000-tokens4B.
RUN = re.compile(
    r"^(.*?[^\s\d_.#@-])[\s_.#@-]*"
    r"(?:(?:(step|epoch|checkpoint)|seed|run|rep|repeat|sample|trial|s|r)[\s_-]*)?"
    r"\d+(?:[\s_-]*tokens[\s_-]*\d+[a-z]*)?[\s)\]}]*$",
    re.IGNORECASE,
)

Matrix = npt.NDArray[np.floating[Any]]


def ways_to_count(
    user: Ints, option: Ints, of_option: Ints, names: Sequence[str], n_users: int
) -> dict[str, Floats]:
    """How much each user counts, by each way in which not everybody counts fully.

    A user's weight is 1 over the number of users who count as one with that user.

    Parameters
    ----------
    user, option
        Of each answer.
    of_option
        The item of each option.
    names
        The users' names, by which repeated runs are found (without: none are).
    n_users
        How many users there are, also those without an answer.

    Examples
    --------
    >>> sheets = np.array([[k] * 16 for k in (1, 1, 2, 0, 0, 0)])
    >>> user, item = np.indices(sheets.shape).reshape(2, -1)
    >>> option, of_option = sheets.ravel() + 3 * item, np.repeat(np.arange(16), 3)
    >>> found = ways_to_count(user, option, of_option, "abcdef", 6)
    >>> found[UNUSUAL].tolist()
    [0.5, 0.5, 1.0, 1.0, 1.0, 1.0]
    >>> found[SHEETS].round(2).tolist()
    [0.5, 0.5, 1.0, 0.33, 0.33, 0.33]
    """
    here, row = np.unique(user, return_inverse=True)
    if not 2 <= len(here) <= MOST_COUNTED:
        return {}
    m, n, item = len(here), int(of_option[-1]) + 1, of_option[option]
    counts = np.bincount(option, minlength=len(of_option))
    order = np.lexsort((-counts, of_option))
    top = np.zeros(len(of_option), dtype=bool)
    top[order[np.searchsorted(of_option, np.arange(n))]] = True

    said, asked = _table(row, option, (m, len(of_option))), _table(row, item, (m, n))
    odd = ~top[option]
    unusual = _table(row[odd], option[odd], said.shape)
    strange = _table(row[odd], item[odd], asked.shape)
    both, same = asked @ asked.T, unusual @ unusual.T
    mine = strange @ asked.T
    either = mine + mine.T - strange @ strange.T
    answers = asked.sum(axis=1)
    alike = (same >= SHARED * either) & (same >= FEWEST_SHARED)
    alike &= 2 * both >= np.maximum.outer(answers, answers)

    agree = said @ said.T
    by_chance = np.bincount(of_option, counts.astype(float) ** 2)
    by_chance = (by_chance / np.maximum(np.bincount(item, minlength=n), 1) ** 2).astype(np.float32)
    expected = (asked * by_chance) @ asked.T
    near = (both >= FEWEST_COMMON) & (2 * (agree - expected) >= both - expected)

    found = {}
    for name, together in ((UNUSUAL, alike), (SHEETS, near)):
        np.fill_diagonal(together, val=True)
        size = together.sum(axis=1)
        if name == UNUSUAL and len(names):
            for run in runs([names[u] for u in here], agree / np.maximum(both, 1)):
                size[run] = np.maximum(size[run], len(run))
        if (size > 1).sum() >= 2:
            weights = np.ones(n_users)
            weights[here] = 1.0 / size
            found[name] = weights
    return found


def _table(row: Ints, column: Ints, shape: tuple[int, ...]) -> Matrix:
    table = np.zeros(shape, dtype=np.float32)
    table[row, column] = 1.0
    return table


def runs(names: Sequence[str], agree: Matrix) -> tuple[Ints, ...]:
    """Groups of users named alike who agree with each other more than with anybody else.

    Names are alike if they differ in a number at the end; checkpoints of a model, named as such,
    need not agree (early ones seldom do). No model is asked: a source that ran often shapes what a
    model takes for usual.

    Parameters
    ----------
    names
        Of the users.
    agree
        Users × users: the share of their common items on which they agree.
    """
    stems: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        if (match := RUN.match(name.strip())) is not None:
            stems[match[1].lower(), match[2] is not None].append(place)
    groups = {key: np.array(g) for key, g in stems.items() if 1 < len(g) < len(names)}
    told = [group for (_, in_words), group in groups.items() if in_words]
    others = [group for (_, in_words), group in groups.items() if not in_words]
    near = sum(_near(agree, group) for group in others)
    return tuple(told) if 2 * near < len(others) else (*told, *others)


def _near(agree: Matrix, group: Ints) -> bool:
    """Whether the users of a group agree with each other more than with anybody else."""
    others = np.setdiff1d(np.arange(len(agree)), group)
    if len(others) < FEWEST_OTHERS:  # a class, its teacher and a guest
        return False
    inside = agree[np.ix_(group, group)][~np.eye(len(group), dtype=bool)]
    outside = agree[np.ix_(group, others)]
    if len(others) < len(group):  # to be nearest says little where the others are few
        return bool(np.quantile(inside, 0.1) > outside.max())
    typical = np.median(inside.reshape(len(group), -1), axis=1)
    return bool(np.median(typical - outside.max(axis=1)) > 0)


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
