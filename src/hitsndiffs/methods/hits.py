"""HITS: hubs and authorities (Kleinberg 1999; Section III-A of the paper)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method

__all__ = ["HITS"]


@dataclass(kw_only=True, eq=False)
class HITS(Method):
    """Hubs and authorities: able users choose options that able users choose.

    Options get the sum of their choosers' scores, divided by its sum within the item; users get
    the sum of their options' weights, divided by the largest. When everybody answers everything
    this is the first eigenvector of ``C Cᵀ``, as in the paper's text; elsewhere the division, which
    its published code makes, changes the order. Users who answer more items score higher.

    Parameters
    ----------
    tol, max_iterations
        The rounds end when the relative changes of the user scores sum to at most ``tol``.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAA"), list("AAB"), list("ABC")])
    >>> HITS().fit(r).scores_.round(2).tolist()
    [1.0, 1.0, 0.86, 0.54]
    """

    needs_memory: ClassVar[bool] = False
    name: ClassVar[str] = "hits"
    summary: ClassVar[str] = "hubs and authorities: the first axis of shared choices"
    use: ClassVar[str] = "easy items, where most answers are right and everybody answers them all"
    linked_by: ClassVar[str] = "options"

    tol: float = 1e-5
    max_iterations: int = 10_000

    def _fit(self, data: Engine) -> Fit:
        s = data.everybody
        w = np.zeros(data.n_options)
        change, rounds = np.inf, 0
        while change > self.tol and rounds < self.max_iterations:
            w = data.items.share(data.choosers(s))
            new = data.choices(w)
            new = new / float(new.max())
            change = float((np.abs(new - s) / np.maximum(s, 1e-300)).sum())
            s = new
            rounds += 1
        return Fit(
            scores=s,
            option_weights=w,
            key_probabilities=w,
            converged=change <= self.tol,
            n_iterations=rounds,
            residual=change,
        )
