"""Sets of users as bits, compiled (see :mod:`hitsndiffs.engines.gram`)."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.engines.compiling import kernel

_ONE, _TWO, _FOUR, _LAST = np.uint64(1), np.uint64(2), np.uint64(4), np.uint64(56)
_ODD, _PAIRS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_NIBBLES, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@kernel()
def fill_bits(codes, set_items, set_codes, first, words, bits):
    """Write some words of every set: bit ``b`` of word ``w`` is user ``64 (first + w) + b``."""
    for s in range(len(set_items)):
        row, code = codes[set_items[s], 64 * first : 64 * (first + words)], set_codes[s]
        whole = len(row) // 64
        for w in range(whole):
            word = np.uint64(0)
            for b in range(64):
                word |= np.uint64(row[64 * w + b] == code) << np.uint64(b)
            bits[s, w] = word
        if whole < words:
            word = np.uint64(0)
            for b in range(64 * whole, len(row)):
                word |= np.uint64(row[b] == code) << np.uint64(b - 64 * whole)
            bits[s, whole] = word


@kernel()
def _ones(x):
    """Number of ones (the compiler turns these lines into one instruction)."""
    x = x - ((x >> _ONE) & _ODD)
    x = (x & _PAIRS) + ((x >> _TWO) & _PAIRS)
    x = (x + (x >> _FOUR)) & _NIBBLES
    return (x * _BYTES) >> _LAST


@kernel()
def count_pairs(bits, words, counts):
    """Add the sizes of the intersections of all pairs of sets (upper triangle)."""
    for i in range(len(bits)):
        one = bits[i, :words]
        for j in range(i, len(bits)):
            other = bits[j, :words]
            total = np.uint64(0)
            for w in range(words):
                total += _ones(one[w] & other[w])
            counts[i, j] += total
