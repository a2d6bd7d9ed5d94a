"""Numbers that look random but depend only on the input: the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["mixed"]

#: Constants of splitmix64: the step, two pairs of a shift and a factor, and a last shift.
STEP, FIRST_SHIFT, FIRST, SECOND_SHIFT, SECOND, LAST_SHIFT = (
    np.uint64(x) for x in (0x9E3779B97F4A7C15, 30, 0xBF58476D1CE4E5B9, 27, 0x94D049BB133111EB, 31)
)


def mixed(x: Any) -> Any:
    """Splitmix64: every input bit affects every output bit (for arrays of 64-bit words).

    >>> mixed(np.array([0, 1], dtype=np.uint64)).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    x = x + STEP
    x = (x ^ (x >> FIRST_SHIFT)) * FIRST
    x = (x ^ (x >> SECOND_SHIFT)) * SECOND
    return x ^ (x >> LAST_SHIFT)
