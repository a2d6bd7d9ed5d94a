"""Compiled passes over packed bytes (see :mod:`hitsndiffs.engines.packed` for the layout).

``block``, ``first`` and ``last`` count users. ``quads`` holds the bytes of the narrow groups, four
groups to a number, ``singles`` the bytes of the remaining narrow groups, and ``wide`` the numbers
of the wide groups. ``starts`` says where the tables of the wide groups begin (its first entry is
256 × the number of narrow groups).
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.engines.compiling import INT, array, kernel, read_only

_PACKED = (read_only(np.uint32, 1), read_only(np.uint8, 1), read_only(np.uint16, 1))
_INTS, _FLOATS = read_only(np.int64, 1), read_only(np.float64, 1)
_COLUMNS = read_only(np.float64, 2)
_DATA = (*_PACKED, _INTS, INT, INT, INT)  # packed answers, table starts, block, first, last
_CHUNKS = (*_PACKED, _INTS, INT, _INTS, INT, INT)  # the same for chunks, and their bounds
_GROUPS = (_INTS, _INTS, _INTS, _INTS, _INTS)  # members, group starts, item starts, codes, tables


# -- packing ---------------------------------------------------------------------------


_OUT = (array(np.uint32, 1), array(np.uint8, 1), array(np.uint16, 1))
_BYTE, _8, _16, _24 = np.uint32(255), np.uint32(8), np.uint32(16), np.uint32(24)
_PACK = (INT, INT, INT, INT, _INTS, _INTS, _INTS, INT, array(np.int64, 1), *_OUT)


@kernel(read_only(np.uint8, 2), *_PACK, also=(read_only(np.uint16, 2), *_PACK))
def pack_codes(
    codes, offset, block, first, last, members, group_starts, n_codes, n_narrow,
    numbers, quads, singles, wide,
):  # fmt: skip
    """Pack the users ``first … last - 1``; the first user in ``codes`` is ``offset``.

    A code beyond the item's last one means "no answer". ``numbers`` is a buffer with one entry per
    user of a block.
    """
    n_groups = len(group_starts) - 1
    n_quads, n_singles, n_wide = n_narrow // 4, n_narrow % 4, n_groups - n_narrow
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
            if g < 4 * n_quads:
                place, shift = start * n_quads + g // 4 * width, 8 * (g % 4)
                for b in range(width):
                    before = np.int64(quads[place + b]) if shift else 0
                    quads[place + b] = before + (numbers[b] << shift)
            elif g < n_narrow:
                place = start * n_singles + (g - 4 * n_quads) * width
                for b in range(width):
                    singles[place + b] = numbers[b]
            else:
                place = start * n_wide + (g - n_narrow) * width
                for b in range(width):
                    wide[place + b] = numbers[b]


@kernel(_INTS, read_only(np.int32, 1), INT, INT, INT, _INTS, _INTS, _INTS, INT, *_OUT)
def pack_rows(
    indptr, options, block, first, last, option_groups, option_steps, empty, n_narrow,
    quads, singles, wide,
):  # fmt: skip
    """Pack the users ``first … last - 1`` from their option numbers.

    Every user starts without answers (``empty``), and each option adds a step.
    """
    n_quads, n_singles, n_wide = n_narrow // 4, n_narrow % 4, len(empty) - n_narrow
    for start in range(first, last, block):
        width = min(block, last - start)
        quad_base, single_base, wide_base = start * n_quads, start * n_singles, start * n_wide
        for h in range(n_quads):
            nothing = 0
            for k in range(4):
                nothing += empty[4 * h + k] << (8 * k)
            quads[quad_base + h * width : quad_base + (h + 1) * width] = nothing
        for g in range(n_singles):
            nothing = empty[4 * n_quads + g]
            singles[single_base + g * width : single_base + (g + 1) * width] = nothing
        for g in range(n_wide):
            wide[wide_base + g * width : wide_base + (g + 1) * width] = empty[n_narrow + g]
        for b in range(width):
            for p in range(indptr[start + b], indptr[start + b + 1]):
                g, step = option_groups[options[p]], option_steps[options[p]]
                if g < 4 * n_quads:
                    place = quad_base + g // 4 * width + b
                    quads[place] = np.int64(quads[place]) + step * (1 << (8 * (g % 4)))
                elif g < n_narrow:
                    place = single_base + (g - 4 * n_quads) * width + b
                    singles[place] = np.int64(singles[place]) + step
                else:
                    place = wide_base + (g - n_narrow) * width + b
                    wide[place] = np.int64(wide[place]) + step


# -- tables and histograms --------------------------------------------------------------


_FILL = (*_GROUPS, INT, INT)


@kernel(
    _COLUMNS, *_FILL, array(np.float64, 2),
    also=(read_only(np.uint64, 2), *_FILL, array(np.uint64, 2)),
)  # fmt: skip
def fill_tables(
    weights, members, group_starts, item_starts, n_codes, table_starts, first, last, tables
):
    """Fill the tables of groups ``first … last - 1``; each item multiplies the filled length."""
    for column in range(tables.shape[0]):
        for g in range(first, last):
            table = tables[column, table_starts[g] : table_starts[g + 1]]
            table[0] = 0
            size = 1
            for p in range(group_starts[g], group_starts[g + 1]):
                i = members[p]
                n_options = item_starts[i + 1] - item_starts[i]
                for code in range(n_codes[i] - 1, -1, -1):
                    if code < n_options:
                        weight = weights[item_starts[i] + code, column]
                        for v in range(size):
                            table[code * size + v] = table[v] + weight
                    else:
                        for v in range(size):
                            table[code * size + v] = table[v]
                size *= n_codes[i]


@kernel(array(np.float64, 3), *_GROUPS, INT, INT, array(np.float64, 2))
def spread(partials, members, group_starts, item_starts, n_codes, table_starts, first, last, sums):
    """Add up the chunks' histograms in order, and sum each over all items but one, in turn.

    The sums overwrite the first chunk's histograms.
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
    """Turn the extremes of codes into those of options: a code counts for each of its items."""
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
def _look_up(quads, singles, wide, starts, start, width, table, scores):
    """Write each user's sum of table entries, for one block."""
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    n_quads, n_singles = n_narrow // 4, n_narrow % 4
    scores[:width] = 0
    base = start * n_quads
    for h in range(n_quads):
        row = quads[base + h * width : base + (h + 1) * width]
        first = 1024 * h
        table0, table1 = table[first : first + 256], table[first + 256 : first + 512]
        table2, table3 = table[first + 512 : first + 768], table[first + 768 : first + 1024]
        for b in range(width):
            four = row[b]
            scores[b] += (table0[four & _BYTE] + table1[(four >> _8) & _BYTE]) + (
                table2[(four >> _16) & _BYTE] + table3[four >> _24]
            )
    base = start * n_singles
    for g in range(n_singles):
        single_row = singles[base + g * width : base + (g + 1) * width]
        part = table[1024 * n_quads + 256 * g : 1024 * n_quads + 256 * (g + 1)]
        for b in range(width):
            scores[b] += part[single_row[b]]
    base = start * n_wide
    for g in range(n_wide):
        wide_row = wide[base + g * width : base + (g + 1) * width]
        part = table[starts[g] : starts[g + 1]]
        for b in range(width):
            scores[b] += part[wide_row[b]]


@kernel()
def _add_up(quads, singles, wide, starts, start, width, scores, sums):
    """Add each user's score to the entries of the user's codes, for one block.

    With four histograms at once, an addition need not wait for the one before.
    """
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    n_quads, n_singles = n_narrow // 4, n_narrow % 4
    base = start * n_quads
    for h in range(n_quads):
        row = quads[base + h * width : base + (h + 1) * width]
        first = 1024 * h
        sums0, sums1 = sums[first : first + 256], sums[first + 256 : first + 512]
        sums2, sums3 = sums[first + 512 : first + 768], sums[first + 768 : first + 1024]
        for b in range(width):
            four, score = row[b], scores[b]
            sums0[four & _BYTE] += score
            sums1[(four >> _8) & _BYTE] += score
            sums2[(four >> _16) & _BYTE] += score
            sums3[four >> _24] += score
    base = start * n_singles
    for g in range(n_singles):
        single_row = singles[base + g * width : base + (g + 1) * width]
        part = sums[1024 * n_quads + 256 * g : 1024 * n_quads + 256 * (g + 1)]
        for b in range(width):
            part[single_row[b]] += scores[b]
    base = start * n_wide
    for g in range(n_wide):
        wide_row = wide[base + g * width : base + (g + 1) * width]
        part = sums[starts[g] : starts[g + 1]]
        for b in range(width):
            part[wide_row[b]] += scores[b]


@kernel(
    *_DATA, _COLUMNS, array(np.float64, 2),
    also=(*_DATA, read_only(np.uint64, 2), array(np.uint64, 2)),
)  # fmt: skip
def choices(quads, singles, wide, starts, block, first, last, tables, scores):
    """Write the sums of the users ``first … last - 1``, one row of ``scores`` per table."""
    for start in range(first, last, block):
        width = min(block, last - start)
        for column in range(tables.shape[0]):
            part = scores[column, start : start + width]
            _look_up(quads, singles, wide, starts, start, width, tables[column], part)


@kernel(*_CHUNKS, _COLUMNS, INT, array(np.float64, 3))
def choosers(quads, singles, wide, starts, block, bounds, first, last, scores, offset, sums):
    """Fill the histograms of chunks ``first … last - 1``; ``scores`` begin at user ``offset``."""
    for chunk in range(first, last):
        for start in range(bounds[chunk], bounds[chunk + 1], block):
            width = min(block, bounds[chunk + 1] - start)
            for column in range(sums.shape[1]):
                part = scores[column, start - offset : start - offset + width]
                _add_up(quads, singles, wide, starts, start, width, part, sums[chunk, column])


@kernel(*_CHUNKS, _COLUMNS, _FLOATS, array(np.float64, 1), array(np.float64, 3))
def through(quads, singles, wide, starts, block, bounds, first, last, tables, scale, buffer, sums):
    """Make both passes over a block while its bytes are in the cache; ``buffer`` holds a block."""
    for chunk in range(first, last):
        for start in range(bounds[chunk], bounds[chunk + 1], block):
            width = min(block, bounds[chunk + 1] - start)
            for column in range(tables.shape[0]):
                _look_up(quads, singles, wide, starts, start, width, tables[column], buffer)
                for b in range(width):
                    buffer[b] *= scale[start + b]
                _add_up(quads, singles, wide, starts, start, width, buffer, sums[chunk, column])


@kernel(*_DATA, _INTS, INT, array(np.int64, 1), array(np.int64, 1))
def extremes(quads, singles, wide, starts, block, first, last, positions, n_looked, lows, highs):
    """Record each code's smallest and largest position among the users ``first … last - 1``.

    Only the first ``n_looked`` narrow groups are read; if these are not all, wide ones are skipped.
    """
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    n_quads, n_singles = n_narrow // 4, n_narrow % 4
    if n_looked < n_narrow:
        n_wide = 0
    for start in range(first, last, block):
        width = min(block, last - start)
        for g in range(n_looked):
            place = start * n_quads + g // 4 * width
            if g >= 4 * n_quads:
                place = start * n_singles + (g - 4 * n_quads) * width
            for b in range(width):
                if g < 4 * n_quads:
                    code = (np.int64(quads[place + b]) >> (8 * (g % 4))) & 255
                else:
                    code = np.int64(singles[place + b])
                entry = g * 256 + code
                lows[entry] = min(lows[entry], positions[start + b])
                highs[entry] = max(highs[entry], positions[start + b])
        for g in range(n_wide):
            place = start * n_wide + g * width
            for b in range(width):
                entry = starts[g] + np.int64(wide[place + b])
                lows[entry] = min(lows[entry], positions[start + b])
                highs[entry] = max(highs[entry], positions[start + b])


# -- many columns at once ----------------------------------------------------------------
#
# The columns of a table entry are side by side: one look-up fetches them all, and adding them is
# one run of vector instructions. Users ``first … last - 1`` are in the block that begins at
# ``start`` and has ``width`` users. ``table`` and ``sums`` are flat, with ``columns`` per entry.


@kernel()
def _codes_of(quads, singles, wide, starts, start, width, g, b):
    """The table entry of a user's code in a group."""
    n_narrow = starts[0] // 256
    n_quads = n_narrow // 4
    if g < 4 * n_quads:
        place = start * n_quads + (g // 4) * width + b
        return 256 * g + np.int64((quads[place] >> np.uint32(8 * (g % 4))) & _BYTE)
    if g < n_narrow:
        n_singles = n_narrow % 4
        return 256 * g + np.int64(singles[start * n_singles + (g - 4 * n_quads) * width + b])
    n_wide = len(starts) - 1
    h = g - n_narrow
    return starts[h] + np.int64(wide[start * n_wide + h * width + b])


@kernel(*_PACKED, _INTS, INT, INT, INT, INT, INT, _FLOATS, array(np.float64, 1))
def look_up_columns(quads, singles, wide, starts, start, width, first, last, columns, table, sums):
    """Write each user's sums of table entries, ``columns`` per user."""
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    n_quads = n_narrow // 4
    sums[: (last - first) * columns] = 0.0
    for h in range(n_quads):
        for b in range(first - start, last - start):
            four = quads[start * n_quads + h * width + b]
            e0 = np.uint64(1024 * h + np.int64(four & _BYTE)) * np.uint64(columns)
            e1 = np.uint64(1024 * h + 256 + np.int64((four >> _8) & _BYTE)) * np.uint64(columns)
            e2 = np.uint64(1024 * h + 512 + np.int64((four >> _16) & _BYTE)) * np.uint64(columns)
            e3 = np.uint64(1024 * h + 768 + np.int64(four >> _24)) * np.uint64(columns)
            to = np.uint64((b + start - first) * columns)
            for c in range(columns):
                k = np.uint64(c)
                sums[to + k] += (table[e0 + k] + table[e1 + k]) + (table[e2 + k] + table[e3 + k])
    for g in range(4 * n_quads, n_narrow + n_wide):
        for b in range(first - start, last - start):
            entry = _codes_of(quads, singles, wide, starts, start, width, g, b)
            e, to = np.uint64(entry * columns), np.uint64((b + start - first) * columns)
            for c in range(columns):
                sums[to + np.uint64(c)] += table[e + np.uint64(c)]


@kernel(*_PACKED, _INTS, INT, INT, INT, INT, INT, _FLOATS, array(np.float64, 1))
def add_up_columns(quads, singles, wide, starts, start, width, first, last, columns, values, sums):
    """Add each user's values to the entries of the user's codes, ``columns`` per entry."""
    n_narrow, n_wide = starts[0] // 256, len(starts) - 1
    n_quads = n_narrow // 4
    for h in range(n_quads):
        for b in range(first - start, last - start):
            four = quads[start * n_quads + h * width + b]
            e0 = np.uint64(1024 * h + np.int64(four & _BYTE)) * np.uint64(columns)
            e1 = np.uint64(1024 * h + 256 + np.int64((four >> _8) & _BYTE)) * np.uint64(columns)
            e2 = np.uint64(1024 * h + 512 + np.int64((four >> _16) & _BYTE)) * np.uint64(columns)
            e3 = np.uint64(1024 * h + 768 + np.int64(four >> _24)) * np.uint64(columns)
            at = np.uint64((b + start - first) * columns)
            for c in range(columns):
                sums[e0 + np.uint64(c)] += values[at + np.uint64(c)]
            for c in range(columns):
                sums[e1 + np.uint64(c)] += values[at + np.uint64(c)]
            for c in range(columns):
                sums[e2 + np.uint64(c)] += values[at + np.uint64(c)]
            for c in range(columns):
                sums[e3 + np.uint64(c)] += values[at + np.uint64(c)]
    for g in range(4 * n_quads, n_narrow + n_wide):
        for b in range(first - start, last - start):
            entry = _codes_of(quads, singles, wide, starts, start, width, g, b)
            e, at = np.uint64(entry * columns), np.uint64((b + start - first) * columns)
            for c in range(columns):
                sums[e + np.uint64(c)] += values[at + np.uint64(c)]
