"""Operators on user scores, and solvers that find their leading axes."""

from hitsndiffs.spectral.axes import Axes, leading_axes
from hitsndiffs.spectral.operators import Averaging, Laplacian
from hitsndiffs.spectral.solvers import FIEDLER_SOLVERS, SOLVERS, Solution, fiedler, solve

__all__ = [
    "FIEDLER_SOLVERS",
    "SOLVERS",
    "Averaging",
    "Axes",
    "Laplacian",
    "Solution",
    "fiedler",
    "leading_axes",
    "solve",
]
