"""Compiled passes over option numbers (see :mod:`hitsndiffs.engines.sparse`).

``indptr`` and all vectors over users belong to one chunk of users; ``options`` are everybody's.
Option numbers are read as unsigned numbers (a signed index costs a comparison, as it might count
from the end), and several at a time, so that memory accesses need not wait for each other.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.engines.compiling import INT, array, kernel, read_only

_ROWS = (read_only(np.int64, 1), read_only(np.int32, 1))  # indptr, options
_GIVEN, _WANTED = read_only(np.float64, 1), array(np.float64, 1)
_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@kernel(*_ROWS, _GIVEN, _WANTED, also=(*_ROWS, read_only(np.uint64, 1), array(np.uint64, 1)))
def choices(indptr, options, weights, scores):
    """Write each user's sum of weights: real numbers, or words, whose sum wraps around."""
    zero = weights.dtype.type(0)
    low = np.uint64(indptr[0])
    for user in range(len(scores)):
        high = np.uint64(indptr[user + 1])
        even_sum, odd_sum = zero, zero
        p = low
        while p + _ONE < high:
            even_sum += weights[np.uint32(options[p])]
            odd_sum += weights[np.uint32(options[p + _ONE])]
            p += _TWO
        if p < high:
            even_sum += weights[np.uint32(options[p])]
        scores[user] = even_sum + odd_sum
        low = high


@kernel(*_ROWS, _GIVEN, _WANTED)
def choosers(indptr, options, scores, sums):
    """Add the users' scores to the sums of their options."""
    low = np.uint64(indptr[0])
    for user in range(len(scores)):
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


@kernel(*_ROWS, _GIVEN, _GIVEN, array(np.float64, 2))
def through(indptr, options, weights, scale, pairs):
    """Make both passes over a user's options while they are in the cache.

    An option's weight and sum are side by side in ``pairs``, so the second pass finds them in the
    cache: one memory access per response instead of two.
    """
    for option in range(len(weights)):
        pairs[option, 0] = weights[option]
        pairs[option, 1] = 0.0
    low = np.uint64(indptr[0])
    for user in range(len(scale)):
        high = np.uint64(indptr[user + 1])
        sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
        p = low
        while p + _THREE < high:
            sum0 += pairs[np.uint32(options[p]), 0]
            sum1 += pairs[np.uint32(options[p + _ONE]), 0]
            sum2 += pairs[np.uint32(options[p + _TWO]), 0]
            sum3 += pairs[np.uint32(options[p + _THREE]), 0]
            p += _FOUR
        while p < high:
            sum0 += pairs[np.uint32(options[p]), 0]
            p += _ONE
        score = ((sum0 + sum1) + (sum2 + sum3)) * scale[user]
        p = low
        while p + _THREE < high:
            option0, option1 = np.uint32(options[p]), np.uint32(options[p + _ONE])
            option2, option3 = np.uint32(options[p + _TWO]), np.uint32(options[p + _THREE])
            pairs[option0, 1] += score
            pairs[option1, 1] += score
            pairs[option2, 1] += score
            pairs[option3, 1] += score
            p += _FOUR
        while p < high:
            pairs[np.uint32(options[p]), 1] += score
            p += _ONE
        low = high


@kernel(*_ROWS, read_only(np.int64, 1), array(np.int64, 1), array(np.int64, 1))
def extremes(indptr, options, positions, lows, highs):
    """Record the smallest and the largest position of each option's choosers."""
    for user in range(len(positions)):
        position = positions[user]
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            lows[option] = min(lows[option], position)
            highs[option] = max(highs[option], position)


@kernel(read_only(np.float64, 4), INT, INT, array(np.float64, 2))
def add_in_order(partials, first, last, sums):
    """Add up the chunks' sums of the options ``first … last - 1``, chunk after chunk.

    The sum is the last of the numbers that a chunk keeps for an option.
    """
    kept = partials.shape[3] - 1
    for column in range(partials.shape[0]):
        for option in range(first, last):
            sums[column, option] = partials[column, 0, option, kept]
        for chunk in range(1, partials.shape[1]):
            for option in range(first, last):
                sums[column, option] += partials[column, chunk, option, kept]


@kernel(*_ROWS, read_only(np.float64, 2), array(np.float64, 2))
def look_up_columns(indptr, options, weights, sums):
    """Add up the weights of each user's options, all columns at once."""
    for user in range(len(sums)):
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            for c in range(sums.shape[1]):
                sums[user, c] += weights[option, c]


@kernel(*_ROWS, read_only(np.float64, 2), array(np.float64, 2))
def add_up_columns(indptr, options, values, sums):
    """Add each user's values to the sums of the user's options, all columns at once."""
    for user in range(len(values)):
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            for c in range(values.shape[1]):
                sums[option, c] += values[user, c]
