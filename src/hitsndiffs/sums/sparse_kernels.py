"""The passes over option numbers, compiled (see :mod:`hitsndiffs.sums.sparse`).

``indptr`` and all vectors over users belong to one chunk of users; ``options`` are everybody's.
Option numbers are read as unsigned ones (a signed index costs a comparison each: it might count
from the end), and two at a time, so that one memory access need not wait for the other.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np
from numba import types

from hitsndiffs.jit import array, kernel, read_only

_I, _F = types.int64, types.float64
_ROWS = (read_only(_I, 1), read_only(types.int32, 1))  # indptr, options
_GIVEN, _WANTED = read_only(_F, 1), array(_F, 1)
_ONE, _TWO = np.uint64(1), np.uint64(2)


@kernel(*_ROWS, _GIVEN, _WANTED)
def choices(indptr, options, weights, scores):
    """Write the users' sums of weights."""
    low = np.uint64(indptr[0])
    for user in range(len(scores)):
        high = np.uint64(indptr[user + 1])
        even_sum, odd_sum = 0.0, 0.0
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


@kernel(*_ROWS, _GIVEN, _GIVEN, _WANTED)
def through(indptr, options, weights, scale, sums):
    """Both passes over a user's options while they are in the cache."""
    low = np.uint64(indptr[0])
    for user in range(len(scale)):
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


@kernel(*_ROWS, read_only(_I, 1), array(_I, 1), array(_I, 1))
def extremes(indptr, options, positions, lows, highs):
    """Note the smallest and the largest position of each option's choosers."""
    for user in range(len(positions)):
        position = positions[user]
        for p in range(indptr[user], indptr[user + 1]):
            option = np.uint32(options[p])
            lows[option] = min(lows[option], position)
            highs[option] = max(highs[option], position)


@kernel(read_only(_F, 3), _I, _I, array(_F, 2))
def add_in_order(partials, first, last, sums):
    """Add up the chunks' sums from ``first`` to ``last - 1``, chunk after chunk."""
    for column in range(partials.shape[0]):
        total = sums[column, first:last]
        total[:] = partials[column, 0, first:last]
        for chunk in range(1, partials.shape[1]):
            part = partials[column, chunk, first:last]
            for place in range(last - first):
                total[place] += part[place]
