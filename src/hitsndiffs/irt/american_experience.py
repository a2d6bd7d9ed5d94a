"""The 40 items of the American Experience test as 3PL items.

DeMars, *Item Response Theory*, p. 87. Her discriminations are in the normal metric; the logistic
model needs them multiplied by 1.7.
"""

from __future__ import annotations

import numpy as np

from hitsndiffs.irt.binary import ThreePL

__all__ = ["american_experience"]

NORMAL_TO_LOGISTIC = 1.7

# fmt: off
DISCRIMINATION = (
    0.82, 0.57, 0.81, 0.68, 0.69, 0.77, 1.14, 1.42, 0.79, 0.59,
    0.79, 0.48, 0.89, 0.8, 0.82, 0.7, 1.01, 0.6, 0.83, 0.64,
    0.82, 0.76, 0.89, 0.95, 0.69, 0.74, 0.75, 0.77, 1.07, 0.75,
    0.56, 0.71, 0.68, 0.9, 0.82, 0.9, 0.62, 0.46, 0.54, 0.67,
)
DIFFICULTY = (
    -1.47, 0.11, -0.75, 1.15, 0.18, -1.1, 0.0, 0.05, -1.53, -0.59,
    0.69, -2.11, -0.55, -0.43, 0.15, -0.45, 0.47, -0.15, -2.11, -1.87,
    -0.01, -1.12, -0.62, 0.01, 0.08, 0.05, -0.92, -0.03, -1.31, -0.04,
    0.38, -1.58, 0.29, 0.07, 0.01, 0.99, 0.68, -2.06, 0.44, 0.68,
)
GUESSING = (
    0.15, 0.26, 0.26, 0.15, 0.26, 0.12, 0.32, 0.28, 0.37, 0.28,
    0.14, 0.21, 0.29, 0.33, 0.22, 0.25, 0.25, 0.24, 0.14, 0.19,
    0.21, 0.25, 0.2, 0.19, 0.23, 0.15, 0.23, 0.21, 0.17, 0.23,
    0.15, 0.21, 0.23, 0.15, 0.12, 0.18, 0.24, 0.18, 0.17, 0.26,
)
# fmt: on


def american_experience() -> ThreePL:
    """Return the 40 items.

    Examples
    --------
    >>> american_experience()
    ThreePL(40 items × 2 options)
    """
    return ThreePL(
        discrimination=NORMAL_TO_LOGISTIC * np.array(DISCRIMINATION),
        difficulty=np.array(DIFFICULTY),
        guessing=np.array(GUESSING),
    )
