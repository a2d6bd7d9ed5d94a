"""Names for the kinds of arrays that numbers come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Flags", "Floats", "Ints", "Words"]

#: Anything: labels, codes, what a caller gives.
Array = npt.NDArray[Any]
#: Vectors and tables of numbers: scores, weights, counts that are computed with.
Floats = npt.NDArray[np.float64]
#: Numbers of users, items and options; counts.
Ints = npt.NDArray[np.int64]
#: True or false.
Flags = npt.NDArray[np.bool_]
#: 64 bits without a sign: fingerprints, colours, draws.
Words = npt.NDArray[np.uint64]
