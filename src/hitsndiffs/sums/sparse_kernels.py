"""The passes over option numbers, compiled (see :mod:`hitsndiffs.sums.sparse`).

The option numbers are read as unsigned ones: a signed index costs a comparison each (it might
count from the end). One vector has kernels of its own, with two options in flight at a time; in a
block of vectors the columns of an option lie side by side, and are worked on together.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import types

from hitsndiffs.sums.jit import array, kernel, read_only

_I, _F = types.int64, types.float64
_ROWS = (read_only(_I, 1), read_only(types.int32, 1), _I, _I)  # indptr, options, first, last
_ONE, _TWO = np.uint64(1), np.uint64(2)


# -- one vector -----------------------------------------------------------------------------


@kernel(*_ROWS, read_only(_F, 1), array(_F, 1))
def choices_one(indptr, options, first, last, weights, scores):
    """Sums of the users ``first … last - 1``."""
    low = np.uint64(indptr[first])
    for user in range(first, last):
        high = np.uint64(indptr[user + 1])
        even, odd = 0.0, 0.0
        p = low
        while p + _ONE < high:
            even += weights[np.uint32(options[p])]
            odd += weights[np.uint32(options[p + _ONE])]
            p += _TWO
        if p < high:
            even += weights[np.uint32(options[p])]
        scores[user] = even + odd
        low = high


@kernel(*_ROWS, read_only(_F, 1), array(_F, 1))
def choosers_one(indptr, options, first, last, scores, sums):
    """Sums of the options over the users ``first … last - 1``."""
    low = np.uint64(indptr[first])
    for user in range(first, last):
        high = np.uint64(indptr[user + 1])
        score = scores[user]
        p = low
        while p + _ONE < high:
            even, odd = np.uint32(options[p]), np.uint32(options[p + _ONE])
            sums[even] += score
            sums[odd] += score
            p += _TWO
        if p < high:
            sums[np.uint32(options[p])] += score
        low = high


@kernel(*_ROWS, read_only(_F, 1), read_only(_F, 1), array(_F, 1))
def through_one(indptr, options, first, last, weights, scale, sums):
    """Both passes over a user's options while they are in the cache."""
    low = np.uint64(indptr[first])
    for user in range(first, last):
        high = np.uint64(indptr[user + 1])
        even_sum, odd_sum = 0.0, 0.0
        p = low
        while p + _ONE < high:
            even_sum += weights[np.uint32(options[p])]
            odd_sum += weights[np.uint32(options[p + _ONE])]
            p += _TWO
        if p < high:
            even_sum += weights[np.uint32(options[p])]
        score = (even_sum + odd_sum) * scale[user]
        p = low
        while p + _ONE < high:
            even, odd = np.uint32(options[p]), np.uint32(options[p + _ONE])
            sums[even] += score
            sums[odd] += score
            p += _TWO
        if p < high:
            sums[np.uint32(options[p])] += score
        low = high


# -- a block of vectors ---------------------------------------------------------------------


@kernel(*_ROWS, read_only(_F, 2), array(_F, 2))
def choices(indptr, options, first, last, weights, scores):
    """Sums of the users ``first … last - 1``, for every column."""
    for user in range(first, last):
        scores[user] = 0.0
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            for column in range(weights.shape[1]):
                scores[user, column] += weights[option, column]


@kernel(*_ROWS, read_only(_F, 2), array(_F, 2))
def choosers(indptr, options, first, last, scores, sums):
    """Sums of the options over the users ``first … last - 1``, for every column."""
    for user in range(first, last):
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            for column in range(scores.shape[1]):
                sums[option, column] += scores[user, column]


@kernel(*_ROWS, read_only(_F, 2), read_only(_F, 1), array(_F, 2))
def through(indptr, options, first, last, weights, scale, sums):
    """Both passes over a user's options, for every column."""
    scores = np.empty(weights.shape[1])
    for user in range(first, last):
        scores[:] = 0.0
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            for column in range(weights.shape[1]):
                scores[column] += weights[option, column]
        scores *= scale[user]
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            for column in range(weights.shape[1]):
                sums[option, column] += scores[column]


# -- positions, and the chunks together -----------------------------------------------------


@kernel(*_ROWS, read_only(_I, 1), array(_I, 1), array(_I, 1))
def extremes(indptr, options, first, last, positions, lows, highs):
    """Smallest and largest position of each option's choosers among ``first … last - 1``."""
    for user in range(first, last):
        position = positions[user]
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            lows[option] = min(lows[option], position)
            highs[option] = max(highs[option], position)


@kernel(read_only(_F, 2), _I, _I, array(_F, 1))
def add_in_order(partials, first, last, sums):
    """Add up the chunks' sums from ``first`` to ``last - 1``, chunk after chunk."""
    total = sums[first:last]
    total[:] = partials[0, first:last]
    for chunk in range(1, partials.shape[0]):
        part = partials[chunk, first:last]
        for place in range(last - first):
            total[place] += part[place]
