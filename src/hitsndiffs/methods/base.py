"""What every method shares: parameters, fitting component by component, the fitted names."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import known_options, no_such_user
from hitsndiffs.data.progress import working
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.errors import ConvergenceWarning, InputError
from hitsndiffs.methods.checks import check_params
from hitsndiffs.methods.fitted import Fit, Part, merged, spread_out
from hitsndiffs.methods.in_order import fit_in_order
from hitsndiffs.order.ties import members

__all__ = ["Fit", "Method"]

Vector = npt.NDArray[np.float64]


@dataclass(kw_only=True, eq=False)
class Method:
    """Base of all methods: the constructor stores, :meth:`fit` computes.

    Parameters
    ----------
    seed
        For random starts; the same seed gives the same result.
    engine, threads
        Which engine holds the data (see :func:`hitsndiffs.engines.open_engine`).
    """

    #: The name under which :func:`hitsndiffs.rank` knows the method.
    name: ClassVar[str]
    #: One line: what it does; and one line: when to use it.
    summary: ClassVar[str]
    use: ClassVar[str]
    #: Users are comparable when they share "options" (spectral) or "items" (key-based).
    linked_by: ClassVar[str] = "items"
    #: Whether the method needs the users' numbers as NumPy arrays in this process; methods that
    #: do not work on any engine.
    needs_memory: ClassVar[bool] = True
    #: Whether small data are put into an order that follows from the answers first.
    orders_first: ClassVar[bool] = True
    #: Whether it may read what labels say across items (the same label in several).
    reads_labels: ClassVar[bool] = False
    #: Parameters that take one of some words.
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {}

    seed: int = 0
    engine: str = "auto"
    threads: int | None = None

    # -- to be written by each method ---------------------------------------------------------

    def _fit(self, data: Engine) -> Fit:
        """Fit responses in which every user has answered something.

        Methods that compare users through shared options get one connected component at a time.
        """
        raise NotImplementedError

    # -- shared -------------------------------------------------------------------------------

    def fit(self, responses: Responses | Engine) -> Self:
        """Fit the method; fitted names end in ``_``."""
        data = open_engine(responses, self.engine, self.threads)
        if data.n_options == 0:
            raise InputError("Nobody answered anything: there is nothing to rank.")
        self._check(data)
        labels = data.components(self.linked_by)
        if not data.in_memory:  # all users are comparable there, and all have answers
            few = data.n_responses <= data.here_up_to
            fit = spread_out(data, self._fit_here(data)) if few else self._fit(data)
            self._store(fit, labels)
            self.data_ = data
            return self
        labels = data.collect(labels)
        parts = members(labels)
        whole = len(parts[0]) == data.n_users
        with working(self.name):
            if whole:
                fitted = fit_in_order(self, data)
            elif self.linked_by == "items":
                fitted = self._fit_parts(data, [np.flatnonzero(labels >= 0)])
            else:
                fitted = self._fit_parts(data, parts)
        self._store(fitted, labels)
        self.data_ = data
        if not fitted.converged:
            self._warn(fitted)
        return self

    def _check(self, data: Engine) -> None:
        """Parameters must make sense, and what the caller knows must be about these data."""
        check_params(self.name, self.get_params(), self.one_of)
        if self.needs_memory and data.arrays != "numpy":
            raise data.cannot_serve(f"Method '{self.name}'")
        if answers := getattr(self, "answers", None):
            known_options(data.items, answers)
        strong = getattr(self, "strong_user", None)
        if strong is not None and data.user_number(strong) is None:
            raise no_such_user(strong, data.some_users)

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the constructor's parameters (the scikit-learn convention)."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name (the scikit-learn convention)."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(_unknown(self, name))
            setattr(self, name, value)
        return self

    def _fit_here(self, data: Engine) -> Fit:
        """The fit of a few answers that are elsewhere, in this process."""
        return type(self)(**{**self.get_params(), "engine": "auto"}).fit(data.responses).fit_

    def _fit_parts(self, data: Engine, parts: list[npt.NDArray[np.int64]]) -> Fit:
        """Fit each part of the users by itself; the first is the largest."""
        fitted = []
        alone = []
        for users in parts:
            if len(users) == 1 and self.linked_by == "options":
                alone.append(users[0])
                continue
            part, options = data.subset(users)
            fitted.append(Part(users, options, fit_in_order(self, part)))
        return merged(data, fitted, np.array(alone, dtype=np.int64))

    def _store(self, fit: Fit, labels: npt.NDArray[np.int64]) -> None:
        self.fit_ = fit
        self.scores_ = fit.scores
        self.option_weights_ = fit.option_weights
        self.key_probabilities_ = fit.key_probabilities
        self.abilities_ = fit.abilities
        self.correct_ = fit.correct
        self.standard_errors_ = fit.standard_errors
        self.orientation_ = fit.orientation
        self.converged_ = fit.converged
        self.n_iterations_ = fit.n_iterations
        self.components_ = labels

    def _warn(self, fit: Fit) -> None:
        residual = fit.residual
        change = "" if residual is None else f"; the last change was {residual:.2g}"
        warnings.warn(
            f"{self.name} stopped after {fit.n_iterations} rounds without settling{change}. The "
            "best result so far is kept; allow more rounds (max_iterations) or a larger change "
            "(tol).",
            ConvergenceWarning,
            stacklevel=4,
        )


def _unknown(method: Method, name: str) -> str:
    names = [f.name for f in fields(method)]
    return f"Method '{method.name}' has no parameter {name!r}; it takes {', '.join(names)}."
