"""Numbers that look random and follow from what is given: the same on every machine."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["mixed"]


def mixed(x: Any) -> Any:
    """Splitmix64: every bit of the input moves every bit of the output (64-bit words).

    >>> mixed(np.array([0, 1], dtype=np.uint64)).tolist()
    [16294208416658607535, 10451216379200822465]
    """
    with np.errstate(over="ignore"):
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
