"""Operators on user scores, and solvers that find their leading axes."""

from hitsndiffs.spectral.axes import Axes, leading_axes
from hitsndiffs.spectral.laplacian import FIEDLER_SOLVERS, fiedler
from hitsndiffs.spectral.operators import Averaging, Laplacian
from hitsndiffs.spectral.solvers import SOLVERS, Solution, solve

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
