"""Cells of many items to their final codes, compiled (see :mod:`hitsndiffs.encoding.blocks`)."""
# mypy: ignore-errors

from __future__ import annotations

import numpy as np

from hitsndiffs.jit import INT, array, kernel, read_only

__all__ = ["look_up"]


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
