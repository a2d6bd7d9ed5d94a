"""Cells to numbers, compiled (see :mod:`hitsndiffs.data.encoding.blocks` and ``views``)."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.data.compiling import INT, array, kernel, read_only

__all__ = ["NO_PLACE", "look_up", "number_views"]

#: The place of a cell without a value, and of a slot without a text.
NO_PLACE = 255

_MIX = np.uint64(0x9E3779B97F4A7C15)
_LENGTH = np.uint64(0xFFFFFFFF)
#: Blots the byte out of the view of a text of one byte, and leaves its length.
_BUT_A_LETTER = np.uint64(0xFFFFFF00FFFFFFFF)
#: Texts up to this length are held in the view itself.
_LONGEST = np.uint64(12)


@kernel(
    read_only(np.uint8, 2), INT, read_only(np.int64, 1), read_only(np.uint8, 2), INT,
    array(np.uint8, 2),
)  # fmt: skip
def look_up(places, n_rows, targets, tables, first_row, codes):
    """Write ``tables[k, places[k]]`` into the row ``targets[k]`` of the codes, unless that is -1.

    The ``n_rows`` first places of every item go to the users from ``first_row`` on.
    """
    for k in range(len(targets)):
        if targets[k] < 0:
            continue
        row = np.uint64(targets[k])
        for r in range(n_rows):
            place = places[np.uint64(k), np.uint64(r)]
            codes[row, np.uint64(first_row + r)] = tables[np.uint64(k), np.uint64(place)]


@kernel(
    read_only(np.uint64, 2), read_only(np.uint8, 1), INT, array(np.uint64, 2),
    array(np.uint8, 1), array(np.uint8, 1), INT, array(np.uint8, 1), array(np.int64, 1),
)  # fmt: skip
def number_views(views, valid, first_bit, texts, letters, slots, most, places, report):
    """Number the texts of a column as they come; stop at the first long or surplus one.

    Parameters
    ----------
    views
        Arrow's views of texts: the length in 32 bits, then the text if it has at most 12 bytes.
    valid, first_bit
        A bit for each text, from the bit given on: 0 for null. Empty when nothing is null.
    texts
        The views of the texts that were seen, in the order of their places.
    letters, slots
        For each byte and each hash the place of a text, 255 where there is none. The number of
        slots is a power of two, and more than ``most``.
    most
        How many texts there may be.
    places
        The place of each text; 255 for null.
    report
        How many texts there are so far; whether all cells could be numbered.
    """
    last = np.uint64(len(slots) - 1)
    count = report[0]
    report[1] = 0
    for r in range(len(views)):
        bit = first_bit + r
        if len(valid) > 0 and (valid[bit >> 3] >> (bit & 7)) & 1 == 0:
            places[r] = NO_PLACE
            continue
        head, tail = views[np.uint64(r), 0], views[np.uint64(r), 1]
        letter = np.uint64(0)
        if head & _BUT_A_LETTER == np.uint64(1):
            letter = head >> np.uint64(32)
            if letters[letter] != NO_PLACE:
                places[np.uint64(r)] = letters[letter]
                continue
        slot = (((head ^ (tail * _MIX)) * _MIX) >> np.uint64(40)) & last
        place = slots[slot]
        while place != NO_PLACE and (
            texts[np.uint64(place), 0] != head or texts[np.uint64(place), 1] != tail
        ):
            slot = (slot + np.uint64(1)) & last
            place = slots[slot]
        if place == NO_PLACE:
            if (head & _LENGTH) > _LONGEST or count == most:
                return
            place = np.uint8(count)
            slots[slot] = place
            if letter > 0:
                letters[letter] = place
            texts[count, 0] = head
            texts[count, 1] = tail
            count += 1
            report[0] = count
        places[np.uint64(r)] = place
    report[1] = 1
