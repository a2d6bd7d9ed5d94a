"""The passes over packed bytes, compiled (see :mod:`hitsndiffs.sums.packed` for the layout).

Everywhere, ``block``, ``first`` and ``last`` count users, and ``starts`` says where the tables of
the wide groups begin (its first entry is 256 × the number of narrow groups).
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.jit import INT, array, kernel, read_only

_BYTES, _WIDES = read_only(np.uint8, 1), read_only(np.uint16, 1)
_INTS, _FLOATS = read_only(np.int64, 1), read_only(np.float64, 1)
_COLUMNS = read_only(np.float64, 2)
_DATA = (_BYTES, _WIDES, _INTS, INT, INT, INT)  # packed, wide, table starts, block, first, last
_GROUPS = (_INTS, _INTS, _INTS, _INTS, _INTS)  # members, group starts, item starts, codes, tables


# -- packing ---------------------------------------------------------------------------


_OUT = (array(np.uint8, 1), array(np.uint16, 1))
_PACK = (INT, INT, INT, INT, _INTS, _INTS, _INTS, INT, array(np.int64, 1), *_OUT)


@kernel(read_only(np.uint8, 2), *_PACK, also=(read_only(np.uint16, 2), *_PACK))
def pack_codes(
    codes, offset, block, first, last, members, group_starts, n_codes, n_narrow,
    numbers, packed, wide,
):  # fmt: skip
    """Pack the users ``first … last - 1``; ``codes`` has ``offset`` as its first user.

    A code past the item's last is "no answer". ``numbers`` is room for one per user of a block.
    """
    n_groups = len(group_starts) - 1
    n_wide = n_groups - n_narrow
    for start in range(first, last, block):
        width = min(block, last - start)
        for g in range(n_groups):
            numbers[:width] = 0
            stride = 1
            for p in range(group_starts[g], group_starts[g + 1]):
                i = members[p]
                row = codes[i, start - offset : start - offset + width]
                largest = n_codes[i] - 1
                for b in range(width):
                    numbers[b] += stride * min(np.int64(row[b]), largest)
                stride *= n_codes[i]
            if g < n_narrow:
                place = start * n_narrow + g * width
                for b in range(width):
                    packed[place + b] = numbers[b]
            else:
                place = start * n_wide + (g - n_narrow) * width
                for b in range(width):
                    wide[place + b] = numbers[b]


@kernel(_INTS, read_only(np.int32, 1), INT, INT, INT, _INTS, _INTS, _INTS, INT, *_OUT)
def pack_rows(
    indptr, options, block, first, last, option_groups, option_steps, empty, n_narrow, packed, wide
):
    """Pack the users ``first … last - 1`` from their option numbers.

    Every user begins as one without answers (``empty``), and each option is a step from there.
    """
    n_wide = len(empty) - n_narrow
    for start in range(first, last, block):
        width = min(block, last - start)
        narrow_base, wide_base = start * n_narrow, start * n_wide
        for g in range(n_narrow):
            packed[narrow_base + g * width : narrow_base + (g + 1) * width] = empty[g]
        for g in range(n_wide):
            wide[wide_base + g * width : wide_base + (g + 1) * width] = empty[n_narrow + g]
        for b in range(width):
            for p in range(indptr[start + b], indptr[start + b + 1]):
                g, step = option_groups[options[p]], option_steps[options[p]]
                if g < n_narrow:
                    place = narrow_base + g * width + b
                    packed[place] = np.int64(packed[place]) + step
                else:
                    place = wide_base + (g - n_narrow) * width + b
                    wide[place] = np.int64(wide[place]) + step


# -- tables and histograms --------------------------------------------------------------


@kernel(_COLUMNS, *_GROUPS, INT, INT, array(np.float64, 2))
def fill_tables(
    weights, members, group_starts, item_starts, n_codes, table_starts, first, last, tables
):
    """Fill the tables of groups ``first … last - 1``, item by item: each multiplies the length."""
    for column in range(tables.shape[0]):
        for g in range(first, last):
            table = tables[column, table_starts[g] : table_starts[g + 1]]
            table[0] = 0.0
            size = 1
            for p in range(group_starts[g], group_starts[g + 1]):
                i = members[p]
                n_options = item_starts[i + 1] - item_starts[i]
                for code in range(n_codes[i] - 1, -1, -1):
                    weight = weights[item_starts[i] + code, column] if code < n_options else 0.0
                    for v in range(size):
                        table[code * size + v] = table[v] + weight
                size *= n_codes[i]


@kernel(array(np.float64, 3), *_GROUPS, INT, INT, array(np.float64, 2))
def spread(partials, members, group_starts, item_starts, n_codes, table_starts, first, last, sums):
    """Add up the chunks' histograms in order, and sum each over all items but one, in turn.

    The sums are made in the place of the first chunk's histograms.
    """
    for column in range(partials.shape[1]):
        for g in range(first, last):
            size = 1
            for p in range(group_starts[g], group_starts[g + 1]):
                size *= n_codes[members[p]]
            histogram = partials[0, column, table_starts[g] : table_starts[g + 1]]
            for chunk in range(1, partials.shape[0]):
                part = partials[chunk, column, table_starts[g] : table_starts[g + 1]]
                for v in range(size):
                    histogram[v] += part[v]
            for p in range(group_starts[g], group_starts[g + 1]):
                i = members[p]
                option = item_starts[i]
                n_options = item_starts[i + 1] - option
                sums[option : option + n_options, column] = 0.0
                size //= n_codes[i]
                for v in range(size):
                    total = 0.0
                    for code in range(n_codes[i]):
                        value = histogram[v * n_codes[i] + code]
                        total += value
                        if code < n_options:
                            sums[option + code, column] += value
                    histogram[v] = total


@kernel(_INTS, _INTS, *_GROUPS, array(np.int64, 1), array(np.int64, 1))
def spread_extremes(
    lows, highs, members, group_starts, item_starts, n_codes, table_starts, low, high
):
    """From the extremes of codes to those of options: every code counts for each of its items."""
    low[:] = np.iinfo(np.int64).max
    high[:] = np.iinfo(np.int64).min
    for g in range(len(group_starts) - 1):
        size = 1
        for p in range(group_starts[g], group_starts[g + 1]):
            size *= n_codes[members[p]]
        stride = 1
        for p in range(group_starts[g], group_starts[g + 1]):
            i = members[p]
            n_options = item_starts[i + 1] - item_starts[i]
            for v in range(size):
                code = v // stride % n_codes[i]
                if code < n_options:
                    option = item_starts[i] + code
                    low[option] = min(low[option], lows[table_starts[g] + v])
                    high[option] = max(high[option], highs[table_starts[g] + v])
            stride *= n_codes[i]


# -- passes over the users --------------------------------------------------------------


@kernel()
def _look_up(packed, wide, starts, start, width, table, scores):
    """One block: each user's sum of table entries. Four groups at once spare memory traffic."""
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    scores[:width] = 0.0
    base = start * n_narrow
    whole = n_narrow - n_narrow % 4
    for g in range(0, whole, 4):
        row0 = packed[base + g * width : base + (g + 1) * width]
        row1 = packed[base + (g + 1) * width : base + (g + 2) * width]
        row2 = packed[base + (g + 2) * width : base + (g + 3) * width]
        row3 = packed[base + (g + 3) * width : base + (g + 4) * width]
        table0 = table[g * 256 : (g + 1) * 256]
        table1 = table[(g + 1) * 256 : (g + 2) * 256]
        table2 = table[(g + 2) * 256 : (g + 3) * 256]
        table3 = table[(g + 3) * 256 : (g + 4) * 256]
        for b in range(width):
            scores[b] += (table0[row0[b]] + table1[row1[b]]) + (table2[row2[b]] + table3[row3[b]])
    for g in range(whole, n_narrow):
        row = packed[base + g * width : base + (g + 1) * width]
        part = table[g * 256 : (g + 1) * 256]
        for b in range(width):
            scores[b] += part[row[b]]
    base = start * n_wide
    for g in range(n_wide):
        wide_row = wide[base + g * width : base + (g + 1) * width]
        part = table[starts[g] : starts[g + 1]]
        for b in range(width):
            scores[b] += part[wide_row[b]]


@kernel()
def _add_up(packed, wide, starts, start, width, scores, sums):
    """One block: add each user's score where the user's codes are.

    Four histograms at once keep one addition from waiting for the last.
    """
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    base = start * n_narrow
    whole = n_narrow - n_narrow % 4
    for g in range(0, whole, 4):
        row0 = packed[base + g * width : base + (g + 1) * width]
        row1 = packed[base + (g + 1) * width : base + (g + 2) * width]
        row2 = packed[base + (g + 2) * width : base + (g + 3) * width]
        row3 = packed[base + (g + 3) * width : base + (g + 4) * width]
        sums0 = sums[g * 256 : (g + 1) * 256]
        sums1 = sums[(g + 1) * 256 : (g + 2) * 256]
        sums2 = sums[(g + 2) * 256 : (g + 3) * 256]
        sums3 = sums[(g + 3) * 256 : (g + 4) * 256]
        for b in range(width):
            score = scores[b]
            sums0[row0[b]] += score
            sums1[row1[b]] += score
            sums2[row2[b]] += score
            sums3[row3[b]] += score
    for g in range(whole, n_narrow):
        row = packed[base + g * width : base + (g + 1) * width]
        part = sums[g * 256 : (g + 1) * 256]
        for b in range(width):
            part[row[b]] += scores[b]
    base = start * n_wide
    for g in range(n_wide):
        wide_row = wide[base + g * width : base + (g + 1) * width]
        part = sums[starts[g] : starts[g + 1]]
        for b in range(width):
            part[wide_row[b]] += scores[b]


@kernel(*_DATA, _COLUMNS, array(np.float64, 2))
def choices(packed, wide, starts, block, first, last, tables, scores):
    """Sums of the users ``first … last - 1``; a row of ``scores`` per table."""
    for start in range(first, last, block):
        width = min(block, last - start)
        for column in range(tables.shape[0]):
            part = scores[column, start : start + width]
            _look_up(packed, wide, starts, start, width, tables[column], part)


@kernel(*_DATA, _COLUMNS, INT, array(np.float64, 2))
def choosers(packed, wide, starts, block, first, last, scores, offset, sums):
    """Histograms of the users ``first … last - 1``; ``scores`` has ``offset`` as its first user."""
    for start in range(first, last, block):
        width = min(block, last - start)
        for column in range(sums.shape[0]):
            part = scores[column, start - offset : start - offset + width]
            _add_up(packed, wide, starts, start, width, part, sums[column])


@kernel(*_DATA, _COLUMNS, _FLOATS, array(np.float64, 1), array(np.float64, 2))
def through(packed, wide, starts, block, first, last, tables, scale, buffer, sums):
    """Both passes over a block while its bytes are in the cache; ``buffer`` is room for a block."""
    for start in range(first, last, block):
        width = min(block, last - start)
        for column in range(tables.shape[0]):
            _look_up(packed, wide, starts, start, width, tables[column], buffer)
            for b in range(width):
                buffer[b] *= scale[start + b]
            _add_up(packed, wide, starts, start, width, buffer, sums[column])


@kernel(*_DATA, _INTS, array(np.int64, 1), array(np.int64, 1))
def extremes(packed, wide, starts, block, first, last, positions, lows, highs):
    """Smallest and largest position of every code among the users ``first … last - 1``."""
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    for start in range(first, last, block):
        width = min(block, last - start)
        for g in range(n_narrow):
            place = start * n_narrow + g * width
            for b in range(width):
                entry = g * 256 + np.int64(packed[place + b])
                lows[entry] = min(lows[entry], positions[start + b])
                highs[entry] = max(highs[entry], positions[start + b])
        for g in range(n_wide):
            place = start * n_wide + g * width
            for b in range(width):
                entry = starts[g] + np.int64(wide[place + b])
                lows[entry] = min(lows[entry], positions[start + b])
                highs[entry] = max(highs[entry], positions[start + b])
