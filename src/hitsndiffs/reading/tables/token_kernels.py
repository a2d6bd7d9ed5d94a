"""Compiled single pass over the bytes of lines of cells; :mod:`.tokens` calls it.

A cell is a short text (a token), and a column of answers has few different tokens. Each item
numbers its tokens in order of appearance: tokens of at most one byte through a table of 256 places,
longer ones through a small hash table, keyed by the bytes themselves up to eight, else by a hash.
Tokens with equal keys are compared byte by byte, so collisions do no harm.
"""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.data.compiling import INT, array, kernel, read_only

__all__ = ["LEFT_OUT", "NO_PLACE", "USER", "scan_cells"]

#: Marks for columns that are not items.
USER, LEFT_OUT = -1, -2
#: The place of a token not seen yet.
NO_PLACE = 255

_NEWLINE, _QUOTE = np.uint8(10), np.uint8(34)
_SHORT = 8
_MIX = np.uint64(0x9E3779B97F4A7C15)
_OFFSET, _PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)  # FNV-1a

_TABLES = (array(np.uint8, 2), array(np.uint64, 2), array(np.uint8, 2))
_TOKENS = (array(np.int64, 2), array(np.int64, 2), array(np.int64, 1), INT)


@kernel()
def _hash(data, begin, end):
    value = _OFFSET
    for p in range(begin, end):
        value = (value ^ np.uint64(data[p])) * _PRIME
    return value ^ (value >> np.uint64(29))


@kernel()
def _key(data, begin, end):
    """Return a non-zero key for a token of two bytes or more; exact up to eight bytes."""
    if end - begin > _SHORT:
        return _hash(data, begin, end) | np.uint64(1)
    value = np.uint64(0)
    for p in range(begin, end):
        value = (value << np.uint64(8)) | np.uint64(data[p])
    return value


@kernel()
def _same(data, begin, end, other_begin, other_end):
    if end - begin != other_end - other_begin:
        return False
    k = 0
    while begin + k < end and data[begin + k] == data[other_begin + k]:
        k += 1
    return begin + k == end


@kernel()
def _quoted_end(data, begin):
    """Return where a quoted cell ends, from after its opening mark; -1 if a line ends first."""
    p = begin
    while data[p] != _QUOTE:
        if data[p] == _NEWLINE:
            return -1
        p += 1
    return p


@kernel()
def _plain_end(data, begin, separator):
    """Return where an unquoted cell ends; -1 if it holds a quotation mark."""
    p = begin
    while data[p] != separator and data[p] != _NEWLINE:
        if data[p] == _QUOTE:
            return -1
        p += 1
    return p


@kernel()
def _place(data, begin, end, i, keys, key_places, begins, ends, counts, most):
    """Return the place of a token of two bytes or more; -1 if the item has no place left."""
    key = _key(data, begin, end)
    last = keys.shape[1] - 1
    slot = np.int64((key * _MIX) >> np.uint64(40)) & last
    while keys[i, slot] != 0:
        if keys[i, slot] == key:
            place = np.int64(key_places[i, slot])
            if _same(data, begin, end, begins[i, place], ends[i, place]):
                return place
        slot = (slot + 1) & last
    place = counts[i]
    if place == most:
        return -1
    keys[i, slot] = key
    key_places[i, slot] = place
    begins[i, place] = begin
    ends[i, place] = end
    counts[i] = place + 1
    return place


@kernel(
    read_only(np.uint8, 1), read_only(np.int64, 1), INT, array(np.uint8, 2),
    *_TABLES, *_TOKENS, array(np.uint8, 1), array(np.int64, 1),
)  # fmt: skip
def scan_cells(
    data, columns, mark, places, letters, keys, key_places, begins, ends, counts, most,
    names, report,
):  # fmt: skip
    """Number the cells of whole lines; stop at the first line that is not plain.

    Parameters
    ----------
    data
        The lines; the last byte is a line end, and no byte is 0.
    columns
        For each cell of a line, the number of its item, or ``USER`` or ``LEFT_OUT``.
    mark
        The separator.
    places
        Items × lines (or more): the place of each cell's token among those of the item.
    letters
        Items × 256: the place of each one-byte token; index 0 is the empty token.
    keys, key_places
        Items × slots (a power of two): keys and places of longer tokens; key 0 marks a free slot.
    begins, ends
        Items × ``most`` (or more): where each token was first seen.
    counts
        How many tokens each item has seen; at most ``most``, which is less than the slots.
    names
        The names of the users, each followed by a line end.
    report
        Lines read, bytes of names, and whether all lines were plain.
    """
    separator = np.uint8(mark)
    n_columns = len(columns)
    n_bytes = len(data)
    p = 0
    row = 0
    written = 0
    report[2] = 0
    while p < n_bytes:
        for j in range(n_columns):
            i = columns[j]
            stop = separator if j < n_columns - 1 else _NEWLINE
            first = data[np.uint64(p)]
            if i >= 0:
                # Most cells are a one-byte token seen before. A line end never is, so a next byte
                # exists.
                known = letters[np.uint64(i), np.uint64(first)]
                if known != NO_PLACE and data[np.uint64(p + 1)] == stop:
                    places[np.uint64(i), np.uint64(row)] = known
                    p += 2
                    continue
            empty = (first == separator) | (first == _NEWLINE)
            letter = -1
            if not empty and first != _QUOTE and data[p + 1] == stop:
                begin, end = p, p + 1
                letter = np.int64(first)
            elif first == stop:
                begin = end = p
                letter = 0
            elif empty:
                return
            elif first == _QUOTE:
                begin = p + 1
                end = _quoted_end(data, begin)
                if end < 0 or data[end + 1] != stop:
                    return
                if end - begin < 2:
                    if data[begin] == separator:
                        return
                    letter = np.int64(data[begin]) if end > begin else 0
                p = end + 1 - (end - begin)
            else:
                begin = p
                end = _plain_end(data, begin, separator)
                if end < 0 or data[end] != stop:
                    return
            p += end - begin + 1
            if i >= 0:
                if letter < 0:
                    place = _place(
                        data, begin, end, i, keys, key_places, begins, ends, counts, most
                    )
                    if place < 0:
                        return
                else:
                    place = np.int64(letters[i, letter])
                    if place == NO_PLACE:
                        place = counts[i]
                        if place == most:
                            return
                        letters[i, letter] = place
                        begins[i, place] = begin
                        ends[i, place] = end
                        counts[i] = place + 1
                places[i, row] = place
            elif i == USER:
                for k in range(begin, end):
                    names[written] = data[k]
                    written += 1
                names[written] = _NEWLINE
                written += 1
        row += 1
        report[0] = row
        report[1] = written
    report[2] = 1
