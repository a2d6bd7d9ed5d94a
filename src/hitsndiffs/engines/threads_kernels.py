"""Compiled passes of the threaded engine, over packed bytes and over option numbers.

Each layout has a pair: ``look_up`` writes a user's sum for each column, ``add_up`` adds a user's
values to the sums of a table. Columns are treated one after another, because a small table stays
in the nearest cache: that is faster than all columns side by side, up to about ten.

``first`` and ``last`` are the users to work on; ``offset`` is the user of the first column in
``sums`` or ``values``, which have one row per table.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.engines.compiling import inlined, kernel

# -- packed bytes: between codes, options and tables ---------------------------------------------
#
# ``quads`` holds the bytes of the narrow groups, four groups to a number, ``wide`` the numbers of
# the wide groups; both are stored in blocks of ``block`` users. ``starts`` says where the tables of
# the wide groups begin (its first entry is 1024 × the number of quads).

_BYTE, _8, _16, _24 = np.uint32(255), np.uint32(8), np.uint32(16), np.uint32(24)


@kernel
def pack(codes, members, group_starts, n_codes, n_narrow, quads, wide):
    """Pack the codes of one block of users; a code beyond the item's last means "no answer"."""
    width = codes.shape[1]
    numbers = np.empty(width, dtype=np.int64)
    for g in range(len(group_starts) - 1):
        numbers[:] = 0
        stride = 1
        for p in range(group_starts[g], group_starts[g + 1]):
            row, largest = codes[members[p]], n_codes[members[p]] - 1
            for b in range(width):
                numbers[b] += stride * min(np.int64(row[b]), largest)
            stride *= n_codes[members[p]]
        if g < n_narrow:
            row_of_four = quads[g // 4 * width : (g // 4 + 1) * width]
            shift = np.uint32(8 * (g % 4))
            for b in range(width):
                row_of_four[b] |= np.uint32(numbers[b]) << shift
        else:
            wide[(g - n_narrow) * width : (g - n_narrow + 1) * width] = numbers
    # the codes of empty groups count for nothing, but additions to one place wait for each other
    for g in range(n_narrow, (n_narrow + 3) // 4 * 4):
        row_of_four = quads[g // 4 * width : (g // 4 + 1) * width]
        shift = np.uint32(8 * (g % 4))
        for b in range(width):
            row_of_four[b] |= np.uint32(b & 255) << shift


@kernel
def fill_tables(weights, members, group_starts, item_starts, n_codes, table_starts, tables):
    """Write the summed weights of every code of every group; each item multiplies their number."""
    for column in range(len(tables)):
        for g in range(len(group_starts) - 1):
            table = tables[column, table_starts[g] :]
            table[0] = 0
            size = 1
            for p in range(group_starts[g], group_starts[g + 1]):
                i = members[p]
                n_options = item_starts[i + 1] - item_starts[i]
                for code in range(n_codes[i] - 1, -1, -1):
                    for v in range(size):
                        if code < n_options:
                            weight = weights[item_starts[i] + code, column]
                            table[code * size + v] = table[v] + weight
                        else:
                            table[code * size + v] = table[v]
                size *= n_codes[i]


@kernel
def spread(tables, members, group_starts, item_starts, n_codes, table_starts, sums):
    """Turn the sums of codes into those of options; it overwrites the tables.

    From a group's last item to its first: the sums of its options, then the sums over its codes.
    """
    for column in range(len(tables)):
        for g in range(len(group_starts) - 1):
            table = tables[column, table_starts[g] :]
            size = 1
            for p in range(group_starts[g], group_starts[g + 1]):
                size *= n_codes[members[p]]
            for p in range(group_starts[g + 1] - 1, group_starts[g] - 1, -1):
                i = members[p]
                size //= n_codes[i]
                n_options = item_starts[i + 1] - item_starts[i]
                for code in range(n_options):
                    total = 0.0
                    for v in range(size):
                        total += table[code * size + v]
                    sums[item_starts[i] + code, column] = total
                for code in range(1, n_codes[i]):
                    for v in range(size):
                        table[v] += table[code * size + v]


# -- packed bytes: the passes --------------------------------------------------------------------


@kernel
def _look_up(quads, wide, starts, start, table, sums):
    """Write the sums of one block's users, who begin at ``start``."""
    width, n_quads, n_wide = len(sums), starts[0] // 1024, len(starts) - 1
    sums[:] = 0
    for h in range(n_quads):
        row = quads[start * n_quads + h * width : start * n_quads + (h + 1) * width]
        first = 1024 * h
        table0, table1 = table[first : first + 256], table[first + 256 : first + 512]
        table2, table3 = table[first + 512 : first + 768], table[first + 768 : first + 1024]
        for b in range(width):
            four = row[b]
            sums[b] += (table0[four & _BYTE] + table1[(four >> _8) & _BYTE]) + (
                table2[(four >> _16) & _BYTE] + table3[four >> _24]
            )
    for g in range(n_wide):
        wide_row = wide[start * n_wide + g * width : start * n_wide + (g + 1) * width]
        part = table[starts[g] : starts[g + 1]]
        for b in range(width):
            sums[b] += part[wide_row[b]]


@kernel
def _add_up(quads, wide, starts, start, values, sums):
    """Add the values of one block's users to the entries of their codes.

    With four tables at once, an addition need not wait for the one before.
    """
    width, n_quads, n_wide = len(values), starts[0] // 1024, len(starts) - 1
    for h in range(n_quads):
        row = quads[start * n_quads + h * width : start * n_quads + (h + 1) * width]
        first = 1024 * h
        sums0, sums1 = sums[first : first + 256], sums[first + 256 : first + 512]
        sums2, sums3 = sums[first + 512 : first + 768], sums[first + 768 : first + 1024]
        for b in range(width):
            four, value = row[b], values[b]
            sums0[four & _BYTE] += value
            sums1[(four >> _8) & _BYTE] += value
            sums2[(four >> _16) & _BYTE] += value
            sums3[four >> _24] += value
    for g in range(n_wide):
        wide_row = wide[start * n_wide + g * width : start * n_wide + (g + 1) * width]
        part = sums[starts[g] : starts[g + 1]]
        for b in range(width):
            part[wide_row[b]] += values[b]


@kernel
def look_up(quads, wide, starts, block, first, last, tables, sums, offset):
    """From tables to users."""
    for start in range(first, last, block):
        stop = min(start + block, last)
        for column in range(len(tables)):
            part = sums[column, start - offset : stop - offset]
            _look_up(quads, wide, starts, start, tables[column], part)


@kernel
def add_up(quads, wide, starts, block, first, last, values, offset, sums):
    """From users to tables."""
    for start in range(first, last, block):
        stop = min(start + block, last)
        for column in range(len(sums)):
            part = values[column, start - offset : stop - offset]
            _add_up(quads, wide, starts, start, part, sums[column])


@kernel
def through(quads, wide, starts, block, first, last, tables, scale, sums):
    """Both passes over a block, with a number per user between them, while it is in the cache."""
    buffer = np.empty(block)
    for start in range(first, last, block):
        part = buffer[: min(block, last - start)]
        for column in range(len(tables)):
            _look_up(quads, wide, starts, start, tables[column], part)
            for b in range(len(part)):
                part[b] *= scale[start + b]
            _add_up(quads, wide, starts, start, part, sums[column])


# -- option numbers ------------------------------------------------------------------------------
#
# Option numbers are read as unsigned numbers (a signed index costs a comparison, as it might count
# from the end), and several at a time, so that memory accesses need not wait for each other.

_ONE, _TWO, _THREE, _FOUR = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)


@inlined
def _sum_of(options, low, high, weights):
    """The sum of the weights of one user's options."""
    zero = weights.dtype.type(0)
    sum0, sum1, sum2, sum3 = zero, zero, zero, zero
    p = low
    while p + _THREE < high:
        sum0 += weights[np.uint32(options[p])]
        sum1 += weights[np.uint32(options[p + _ONE])]
        sum2 += weights[np.uint32(options[p + _TWO])]
        sum3 += weights[np.uint32(options[p + _THREE])]
        p += _FOUR
    while p < high:
        sum0 += weights[np.uint32(options[p])]
        p += _ONE
    return (sum0 + sum1) + (sum2 + sum3)


@inlined
def _give(options, low, high, value, sums):
    """Add a value to the sums of one user's options."""
    p = low
    while p + _THREE < high:
        option0, option1 = np.uint32(options[p]), np.uint32(options[p + _ONE])
        option2, option3 = np.uint32(options[p + _TWO]), np.uint32(options[p + _THREE])
        sums[option0] += value
        sums[option1] += value
        sums[option2] += value
        sums[option3] += value
        p += _FOUR
    while p < high:
        sums[np.uint32(options[p])] += value
        p += _ONE


@kernel
def look_up_rows(indptr, options, first, last, tables, sums, offset):
    """From options to users."""
    for column in range(len(tables)):
        weights, part = tables[column], sums[column]
        low = np.uint64(indptr[first])
        for user in range(first, last):
            high = np.uint64(indptr[user + 1])
            part[user - offset] = _sum_of(options, low, high, weights)
            low = high


@kernel
def add_up_rows(indptr, options, first, last, values, offset, sums):
    """From users to options."""
    for column in range(len(sums)):
        part, own = sums[column], values[column]
        low = np.uint64(indptr[first])
        for user in range(first, last):
            high = np.uint64(indptr[user + 1])
            _give(options, low, high, own[user - offset], part)
            low = high


@kernel
def through_rows(indptr, options, first, last, tables, scale, sums):
    """Both passes over a user's options while they are in the cache.

    An option's weight and sum are side by side, so the second pass finds them in the cache: one
    memory access per answer instead of two.
    """
    pairs = np.empty((tables.shape[1], 2))
    weights, added = pairs[:, 0], pairs[:, 1]
    for column in range(len(tables)):
        weights[:], added[:] = tables[column], 0.0
        low = np.uint64(indptr[first])
        for user in range(first, last):
            high = np.uint64(indptr[user + 1])
            value = _sum_of(options, low, high, weights) * scale[user]
            _give(options, low, high, value, added)
            low = high
        sums[column] += added


# -- sets of users as bits -----------------------------------------------------------------------

_ODD, _PAIRS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333)
_NIBBLES, _BYTES = np.uint64(0x0F0F0F0F0F0F0F0F), np.uint64(0x0101010101010101)


@kernel
def fill_bits(codes, set_items, set_codes, bits):
    """Write the sets of some users: bit ``b`` of a set's word ``w`` is user ``64 w + b``."""
    for s in range(len(set_items)):
        row, code = codes[set_items[s]], set_codes[s]
        whole = len(row) // 64
        for w in range(whole):
            word = np.uint64(0)
            for b in range(64):
                word |= np.uint64(row[64 * w + b] == code) << np.uint64(b)
            bits[s, w] = word
        bits[s, whole:] = 0
        for b in range(64 * whole, len(row)):
            bits[s, whole] |= np.uint64(row[b] == code) << np.uint64(b - 64 * whole)


@kernel
def _ones(x):
    """Number of ones (the compiler turns these lines into one instruction)."""
    x = x - ((x >> _ONE) & _ODD)
    x = (x & _PAIRS) + ((x >> _TWO) & _PAIRS)
    x = (x + (x >> _FOUR)) & _NIBBLES
    return (x * _BYTES) >> np.uint64(56)


@kernel
def count_pairs(bits, counts):
    """Add the sizes of the intersections of all pairs of sets (upper triangle)."""
    for i in range(len(bits)):
        one = bits[i]
        for j in range(i, len(bits)):
            other = bits[j]
            total = np.uint64(0)
            for w in range(len(one)):
                total += _ones(one[w] & other[w])
            counts[i, j] += total
