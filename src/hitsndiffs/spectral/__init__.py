"""Operators on user scores, and solvers that find their leading axes."""

from hitsndiffs.spectral.axes import Axes, leading_axes
from hitsndiffs.spectral.operators import Averaging, Laplacian
from hitsndiffs.spectral.solvers import SOLVERS, Solution, solve

__all__ = ["SOLVERS", "Averaging", "Axes", "Laplacian", "Solution", "leading_axes", "solve"]
