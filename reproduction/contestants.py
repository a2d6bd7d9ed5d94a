"""The methods as the paper ran them, with their parameters and names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

from hitsndiffs.errors import InputError

__all__ = ["BY_COUNT", "CONTESTANTS", "Contestant", "available", "contestant"]

#: "Maximal L2-norm of 10⁻⁵ over the change" (Section IV-A).
PAPER_TOL = 1e-5


@dataclass(frozen=True)
class Contestant:
    """One line of a figure.

    Attributes
    ----------
    name
        Its name in the figures and the stored values.
    label
        Its label in the report, as in the paper.
    method, params
        The arguments of :func:`hitsndiffs.rank`.
    needs
        What it needs besides the responses: ``"key"``, ``"order"``, ``"levels"`` (the order as the
        published code has it) or None.
    ours
        Whether it is ours rather than the paper's.
    growth
        Rough exponent of its time in the number of users (2: it stores a users × users matrix).
    paper
        Its name in the paper's stored values, if different.
    """

    name: str
    label: str
    method: str
    params: dict[str, Any] = field(default_factory=dict)
    needs: str | None = None
    ours: bool = False
    growth: float = 1.0
    paper: str = ""


#: Take the place of a library method: see published, full_matrices.
BY_COUNT, BY_FULL_MATRICES = "right-answers", "full-matrices"

_HND = {"tol": PAPER_TOL, "gap": False}
#: Coarser than the default: four times as fast, with the same accuracy to within 0.002.
_GRM = {"quadrature": 21, "tol": 1e-2}
_ALL = (
    Contestant("hnd", "HnD", "hnd", {"solver": "power", **_HND}),
    Contestant("abh", "ABH", "abh", {"solver": "direct"}),
    Contestant("hits", "HITS", "hits"),
    Contestant("truthfinder", "TruthFinder", "truthfinder"),
    Contestant("investment", "Investment", "investment"),
    Contestant("pooled-investment", "PooledInvestment", "pooled-investment"),
    Contestant("true-answer", "True-answer", "true-answer", needs="key"),
    Contestant("grm", "GRM-estimator", "grm", _GRM, needs="order"),
    # the paper's text where its code differs, and its code where that is at fault
    Contestant("truthfinder-text", "TruthFinder by the text", "truthfinder", {"formula": "text"}),
    Contestant("true-answer-count", "True-answer, counted", BY_COUNT, needs="key"),
    Contestant("grm-levels", "GRM, the code's levels", "grm", _GRM, needs="levels", paper="grm"),
    # with full matrices, as the paper times them (see full_matrices)
    Contestant("hnd/power", "HnD-power", BY_FULL_MATRICES),
    Contestant("hnd/arnoldi", "HnD-direct", BY_FULL_MATRICES, growth=2.0),
    Contestant("hnd/deflation", "HnD-deflation", BY_FULL_MATRICES),
    Contestant("abh/direct", "ABH-direct", BY_FULL_MATRICES, growth=2.0),
    Contestant("abh/power", "ABH-power", BY_FULL_MATRICES, growth=2.0),
    # the library's solvers, which need only the two sums
    Contestant("hnd/power-sums", "HnD-power on sums", "hnd", {"solver": "power"}, ours=True),
    Contestant(
        "hnd/deflation-sums", "HnD-deflation on sums", "hnd", {"solver": "deflation"}, ours=True
    ),
    Contestant("hnd/lanczos", "HnD-Lanczos", "hnd", {"solver": "lanczos"}, ours=True),
    Contestant("abh/power-sums", "ABH-power, D a vector", "abh", {"solver": "power"}, ours=True),
    Contestant("abh/lanczos", "ABH-Lanczos", "abh", {"solver": "lanczos"}, ours=True),
)
CONTESTANTS: dict[str, Contestant] = {one.name: one for one in _ALL}


def contestant(name: str) -> Contestant:
    """Return a contestant; any library method can be one, with its default parameters.

    Examples
    --------
    >>> contestant("hnd").params["solver"]
    'power'
    """
    if name in CONTESTANTS:
        return CONTESTANTS[name]
    return Contestant(name, name, name, ours=True)


def available(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the names that can run here, and sentences about those left out."""
    from hitsndiffs.methods import METHODS

    can, words = [], []
    for name in names:
        method = contestant(name).method
        if method == "grm" and find_spec("mirt") is None:
            words.append(
                "The GRM-estimator is left out: it needs the package mirt "
                "(pip install 'hitsndiffs[irt]')."
            )
        elif method not in (BY_COUNT, BY_FULL_MATRICES) and method not in METHODS:
            raise InputError(f"There is no method {name!r}; choose from {', '.join(METHODS)}.")
        else:
            can.append(name)
    return can, list(dict.fromkeys(words))
