"""Several starts, the distinct solutions they lead to, and how far the best is ahead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.grid import spread_scores
from hitsndiffs.methods.latent_key.model import KeyFit, KeyProblem, fit_key

__all__ = ["Mode", "find_modes"]

Array = npt.NDArray[np.float64]

#: Abilities that correlate this well belong to one solution.
SAME = 0.99
#: Solutions this far behind after the first rounds are not carried on (nats).
HOPELESS = 200.0


@dataclass(frozen=True)
class Mode:
    """One solution of the model, the starts that led to it, and its evidence."""

    starts: tuple[str, ...]
    fit: KeyFit

    @property
    def evidence(self) -> float:
        """Log probability of the answers under this solution (a lower bound)."""
        return self.fit.evidence


def find_modes(
    problem: KeyProblem, starts: Mapping[str, Array], *, first: int = 10, more: int = 30
) -> list[Mode]:
    """Fit from every start, merge equal solutions, and carry the distinct ones on; best first.

    Parameters
    ----------
    problem
        The data.
    starts
        Name → user scores to start from.
    first, more
        Rounds before and after merging.
    """
    fits = {
        name: fit_key(problem, spread_scores(z), max_rounds=first) for name, z in starts.items()
    }
    modes = _merged([Mode((name,), fit) for name, fit in fits.items()])
    best = modes[0].evidence
    carried = [
        Mode(
            mode.starts,
            fit_key(problem, mode.fit.posterior.weights, curves=mode.fit.curves, max_rounds=more),
        )
        if best - mode.evidence < HOPELESS
        else mode
        for mode in modes
    ]
    return _merged(carried)


def _merged(modes: list[Mode]) -> list[Mode]:
    """Distinct solutions, best evidence first."""
    distinct: list[Mode] = []
    for mode in sorted(modes, key=lambda mode: -mode.evidence):
        for k, kept in enumerate(distinct):
            if _correlation(mode.fit.posterior.mean, kept.fit.posterior.mean) > SAME:
                distinct[k] = Mode(kept.starts + mode.starts, kept.fit)
                break
        else:
            distinct.append(mode)
    return distinct


def _correlation(a: Array, b: Array) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / size if size > 0 else 1.0
