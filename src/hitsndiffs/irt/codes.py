"""From drawn option numbers to :class:`~hitsndiffs.Responses`; unused options are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.irt.base import Codes

__all__ = ["from_codes", "from_rows", "labels"]

Labels = npt.NDArray[np.object_]


def labels(prefix: str, count: int, width: int) -> Labels:
    """Number users or items from 1, with leading zeros.

    Examples
    --------
    >>> labels("user", 2, width=3).tolist()
    ['user-001', 'user-002']
    """
    width = max(width, len(str(count)))
    made = np.empty(count, dtype=object)
    made[:] = [f"{prefix}-{number:0{width}d}" for number in range(1, count + 1)]
    return made


def from_codes(
    codes: Codes, *, users: Labels, items: Labels, option_labels: Sequence[str]
) -> Responses:
    """Dense responses from option numbers; changes ``codes`` in place.

    Options that nobody chose and items that nobody answered are left out.

    Parameters
    ----------
    codes
        ``(n_items, n_users)``: the option's number, or the largest value of the type for no answer.
    users, items
        Labels.
    option_labels
        The labels of the options, the same for every item.

    Examples
    --------
    >>> codes = np.array([[0, 2, 0], [1, 1, 255]], dtype=np.uint8)
    >>> made = from_codes(
    ...     codes, users=labels("user", 3, 1), items=labels("item", 2, 1), option_labels="ABC"
    ... )
    >>> made.option_labels.tolist(), made.codes.tolist()
    (['A', 'C', 'B'], [[0, 1, 0], [0, 0, 255]])
    """
    missing = np.iinfo(codes.dtype).max
    width = len(option_labels)
    chosen = np.zeros((len(codes), width), dtype=bool)
    for number, column in enumerate(codes):
        chosen[number] = np.bincount(column, minlength=width)[:width] > 0
        if not chosen[number].all():
            places = np.full(int(missing) + 1, missing, dtype=codes.dtype)
            places[:width] = np.cumsum(chosen[number]) - 1
            codes[number] = places[column]
    answered = chosen.any(axis=1)
    return Responses(
        users=users,
        codes=codes if answered.all() else codes[answered],
        **_options(chosen, items, option_labels),
    )


def from_rows(
    counts: npt.NDArray[np.int64],
    options: npt.NDArray[np.int32],
    *,
    users: Labels,
    items: Labels,
    option_labels: Sequence[str],
) -> Responses:
    """Sparse responses from each user's chosen options, numbered ``item * k + option``.

    Parameters
    ----------
    counts
        Answers per user.
    options
        The chosen options, user by user, increasing within a user.
    users, items, option_labels
        As in :func:`from_codes`.

    Examples
    --------
    >>> from_rows(
    ...     np.array([1, 2]),
    ...     np.array([2, 0, 4], dtype=np.int32),
    ...     users=labels("user", 2, 1),
    ...     items=labels("item", 2, 1),
    ...     option_labels="ABC",
    ... ).option_labels.tolist()
    ['A', 'C', 'B']
    """
    width = len(option_labels)
    chosen = np.bincount(options, minlength=len(items) * width) > 0
    places = (np.cumsum(chosen) - 1).astype(np.int32)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return Responses(
        users=users,
        rows=(indptr, places[options]),
        **_options(chosen.reshape(-1, width), items, option_labels),
    )


def _options(
    chosen: npt.NDArray[np.bool_], items: Labels, option_labels: Sequence[str]
) -> dict[str, Any]:
    """Labels and starts of the options that somebody chose."""
    answered = chosen.any(axis=1)
    sizes = chosen[answered].sum(axis=1)
    every = np.empty(len(option_labels), dtype=object)
    every[:] = list(option_labels)
    return {
        "items": items[answered],
        "option_labels": np.tile(every, (len(items), 1))[chosen],
        "item_starts": np.concatenate([[0], np.cumsum(sizes)]),
    }
