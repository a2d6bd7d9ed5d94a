"""The passes over option numbers, compiled (see :mod:`hitsndiffs.sums.sparse`).

The numbers are read as unsigned ones: a signed index costs a comparison each (it might count from
the end). One column has loops of its own; for more, the columns of an option lie side by side.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import types

from hitsndiffs.sums.jit import array, kernel, read_only

_I = types.int64
_ROWS = (read_only(_I, 1), read_only(types.int32, 1), _I, _I)  # indptr, options, first, last
_ONE, _TWO = np.uint64(1), np.uint64(2)
_COLUMNS, _SUMS = read_only(types.float64, 2), array(types.float64, 2)


@kernel(*_ROWS, _COLUMNS, _SUMS)
def choices(indptr, options, first, last, weights, scores):
    """Sums of the users ``first … last - 1``."""
    columns = weights.shape[1]
    flat = weights.ravel()
    for user in range(first, last):
        low, high = np.uint64(indptr[user]), np.uint64(indptr[user + 1])
        if columns == 1:
            one, two = 0.0, 0.0
            p = low
            while p + _ONE < high:
                one += flat[np.uint32(options[p])]
                two += flat[np.uint32(options[p + _ONE])]
                p += _TWO
            if p < high:
                one += flat[np.uint32(options[p])]
            scores[user, 0] = one + two
        else:
            scores[user] = 0.0
            for p in range(low, high):
                for column in range(columns):
                    scores[user, column] += weights[np.uint32(options[p]), column]


@kernel(*_ROWS, _COLUMNS, _SUMS)
def choosers(indptr, options, first, last, scores, sums):
    """Sums of the options over the users ``first … last - 1``."""
    columns = scores.shape[1]
    flat = sums.ravel()
    for user in range(first, last):
        low, high = np.uint64(indptr[user]), np.uint64(indptr[user + 1])
        if columns == 1:
            for p in range(low, high):
                flat[np.uint32(options[p])] += scores[user, 0]
        else:
            for p in range(low, high):
                for column in range(columns):
                    sums[np.uint32(options[p]), column] += scores[user, column]


@kernel(*_ROWS, _COLUMNS, read_only(types.float64, 1), _SUMS)
def through(indptr, options, first, last, weights, scale, sums):
    """Both passes over a user's options while they are in the cache."""
    columns = weights.shape[1]
    flat, flat_sums = weights.ravel(), sums.ravel()
    scores = np.empty(columns)
    for user in range(first, last):
        low, high = np.uint64(indptr[user]), np.uint64(indptr[user + 1])
        if columns == 1:
            one, two = 0.0, 0.0
            p = low
            while p + _ONE < high:
                one += flat[np.uint32(options[p])]
                two += flat[np.uint32(options[p + _ONE])]
                p += _TWO
            if p < high:
                one += flat[np.uint32(options[p])]
            score = (one + two) * scale[user]
            for p in range(low, high):
                flat_sums[np.uint32(options[p])] += score
        else:
            scores[:] = 0.0
            for p in range(low, high):
                for column in range(columns):
                    scores[column] += weights[np.uint32(options[p]), column]
            scores *= scale[user]
            for p in range(low, high):
                for column in range(columns):
                    sums[np.uint32(options[p]), column] += scores[column]


@kernel(*_ROWS, read_only(_I, 1), array(_I, 1), array(_I, 1))
def extremes(indptr, options, first, last, positions, lows, highs):
    """Smallest and largest position of each option's choosers among ``first … last - 1``."""
    for user in range(first, last):
        position = positions[user]
        for p in range(indptr[user], indptr[user + 1]):
            option = options[p]
            lows[option] = min(lows[option], position)
            highs[option] = max(highs[option], position)


@kernel(_COLUMNS, _I, _I, array(types.float64, 1))
def add_in_order(partials, first, last, sums):
    """Add up the chunks' sums from ``first`` to ``last - 1``, chunk after chunk."""
    total = sums[first:last]
    total[:] = partials[0, first:last]
    for chunk in range(1, partials.shape[0]):
        part = partials[chunk, first:last]
        for place in range(last - first):
            total[place] += part[place]
