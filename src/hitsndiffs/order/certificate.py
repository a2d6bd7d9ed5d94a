"""Whether a given order of the users is consistent with every option, in one pass over the data.

An *order* is a list of user numbers from one end to the other. It holds every user who answered
something, once. Leave out users without answers: among an option's choosers they would count as a
gap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.engines import Engine

__all__ = ["broken_options", "extra_blocks", "is_consecutive"]

IntVector = npt.NDArray[np.integer[Any]]


def is_consecutive(data: Engine, order: npt.ArrayLike) -> bool:
    """Whether the choosers of every option are neighbours in an order of the users.

    Parameters
    ----------
    data
        The data (:func:`hitsndiffs.engines.open_engine`).
    order
        The numbers of the users who answered something, from one end to the other.

    Examples
    --------
    >>> from hitsndiffs.data.responses import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> import numpy as np
    >>> codes = np.array([[0, 0, 1], [0, 1, 1]], dtype=np.uint8)  # items × users
    >>> r = Responses(users=np.arange(3), items=np.arange(2), option_labels=np.array([*"abab"]),
    ...               item_starts=np.array([0, 2, 4]), codes=codes)
    >>> is_consecutive(open_engine(r), [0, 1, 2])
    True
    >>> broken_options(open_engine(r), [0, 2, 1]).tolist()
    [0]
    """
    return len(broken_options(data, order)) == 0


def broken_options(
    data: Engine, order: npt.ArrayLike, *, first_items: int | None = None
) -> npt.NDArray[np.int64]:
    """Return the numbers of the options whose choosers are not neighbours in an order.

    Parameters
    ----------
    data, order
        As for :func:`is_consecutive`.
    first_items
        Look at only this many items, or a few more: far quicker if the answers follow no order,
        because the first or second item then shows it.
    """
    order = _as_order(order, data.n_users)
    positions = np.full(data.n_users, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    first, last = data.extremes(positions, first_items)
    if len(first) and first.min() < 0:
        option = int(np.argmin(first))
        raise InputError(
            "The order must hold every user who answered something; a user who chose option "
            f"number {option} is not among its {len(order):,} users."
        )
    return np.flatnonzero(last - first + 1 != data.choosers_per_option[: len(first)])


def extra_blocks(responses: Responses, order: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """Into how many blocks, beyond the first, an order splits each option's choosers.

    Parameters
    ----------
    responses
        The data.
    order
        The numbers of the users who answered something, from one end to the other.

    Returns
    -------
    array of int
        One number per option: 0 where the choosers are neighbours, or there are none.
    """
    order = _as_order(order, responses.n_users)
    n_answering = np.count_nonzero(responses.answers_per_user)
    if n_answering != len(order) or not responses.answers_per_user[order].all():
        raise InputError(
            f"The order must hold the {n_answering:,} users who answered something and no others; "
            f"got {len(order):,} users."
        )
    pairs = _dense_pairs(responses, order) if responses.is_dense else _row_pairs(responses, order)
    blocks: npt.NDArray[np.int64] = np.maximum(responses.choosers_per_option - pairs, 1)
    return blocks - 1


def _dense_pairs(responses: Responses, order: IntVector) -> npt.NDArray[np.int64]:
    """For each option, how many pairs of neighbours in the order both chose it."""
    pairs = np.zeros(responses.n_options, dtype=np.int64)
    starts = responses.item_starts
    for first, end, item_codes in zip(starts[:-1], starts[1:], responses.codes, strict=True):
        codes = item_codes[order]
        same = codes[1:][codes[1:] == codes[:-1]]
        pairs[first:end] = np.bincount(same, minlength=end - first)[: end - first]
    return pairs


def _row_pairs(responses: Responses, order: IntVector) -> npt.NDArray[np.int64]:
    indptr, options = responses.rows
    positions = np.full(responses.n_users, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    by_user = np.repeat(positions, np.diff(indptr))
    sequence = np.lexsort((by_user, options))
    options, by_user = options[sequence], by_user[sequence]
    pair = (options[1:] == options[:-1]) & (by_user[1:] == by_user[:-1] + 1)
    return np.bincount(options[1:][pair], minlength=responses.n_options)


def _as_order(order: npt.ArrayLike, n_users: int) -> IntVector:
    numbers = np.asarray(order)
    if numbers.size == 0:
        return np.zeros(0, dtype=np.int64)
    if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
        raise InputError(
            "An order is a flat list of user numbers; got an array of "
            f"{numbers.dtype} with shape {numbers.shape}."
        )
    if numbers.min() < 0 or numbers.max() >= n_users:
        wrong = numbers.min() if numbers.min() < 0 else numbers.max()
        raise InputError(
            f"An order holds user numbers from 0 to {n_users - 1}; got {wrong}. "
            "For labels, look up their place in responses.users."
        )
    times = np.bincount(numbers, minlength=n_users)
    if times.max() > 1:
        raise InputError(f"An order holds each user once; user number {times.argmax()} came twice.")
    return numbers
