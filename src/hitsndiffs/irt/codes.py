"""From drawn option numbers to :class:`~hitsndiffs.Responses`; unused options are dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.irt.base import Codes

__all__ = ["drawn", "from_codes", "labels"]

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
    """Dense responses from option numbers.

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
    return drawn(users, items, option_labels, codes=codes)


def drawn(users: Labels, items: Labels, option_labels: Sequence[str], **layout: Any) -> Responses:
    """Codes or rows in which every item has all options, without those that nobody chose."""
    width = len(option_labels)
    every = np.empty(width, dtype=object)
    every[:] = list(option_labels)
    whole = Responses(
        users=users,
        items=items,
        option_labels=np.tile(every, len(items)),
        item_starts=width * np.arange(len(items) + 1),
        **layout,
    )
    return whole.select()
