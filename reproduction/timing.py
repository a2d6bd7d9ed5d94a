"""Processor time of a solver from the laid-out data to the axis, without what ``rank`` adds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.irt import Simulation
from hitsndiffs.spectral.solvers import fiedler, solve
from reproduction.contestants import BY_FULL_MATRICES, PAPER_TOL, Contestant, contestant
from reproduction.full_matrices import one_hot, run_variant

__all__ = ["Clock"]


@dataclass
class Clock:
    """Times contestants on one data set.

    Attributes
    ----------
    sim
        The data.
    seed
        For the solvers' random starts.
    rank
        :func:`hitsndiffs.rank`, for methods that are more than a solver.
    """

    sim: Simulation
    seed: int
    rank: Callable[..., Any]

    @cached_property
    def _matrix(self) -> npt.NDArray[np.float64]:
        return one_hot(self.sim.responses)

    @cached_property
    def _order(self) -> dict[str, list[str]]:
        return self.sim.order

    @cached_property
    def _data(self) -> Engine:
        return open_engine(self.sim.responses)

    def time(self, name: str) -> float:
        """Run one contestant; return the seconds of processor time that it took."""
        who = contestant(name)
        if who.method == BY_FULL_MATRICES:
            return run_variant(name, self._matrix, seed=self.seed, tol=PAPER_TOL).seconds
        data = self._data  # laid out before the clock starts
        if who.needs == "order":
            self._order  # noqa: B018
        begin = time.process_time()
        self._run(who, data)
        return time.process_time() - begin

    def _run(self, who: Contestant, data: Engine) -> None:
        if who.method == "hnd":
            solve(data, who.params["solver"], seed=self.seed, tol=PAPER_TOL)
        elif who.method == "abh":
            fiedler(data, who.params["solver"], seed=self.seed, tol=PAPER_TOL)
        else:
            self.rank(self.sim.responses, method=who.method, order=self._order, **who.params)
