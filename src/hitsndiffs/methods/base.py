"""What every method shares: parameters, fitting component by component, the fitted names."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hitsndiffs.components import components
from hitsndiffs.errors import ConvergenceWarning, InputError
from hitsndiffs.methods.checks import check_params
from hitsndiffs.orientation import Orientation, known_options, user_number
from hitsndiffs.responses import Responses
from hitsndiffs.sums import Sums, open_sums
from hitsndiffs.ties import members

__all__ = ["Fit", "Method"]

Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """What a method found on some responses (users without answers are NaN).

    Attributes
    ----------
    scores
        One per user; higher is better.
    option_weights
        One per option; what choosing it says about the user.
    key_probabilities
        One per option: how likely it is the right one of its item (sums to 1 within an item).
    correct, abilities
        Expected share of right answers (0–1), and latent ability, where the method has them.
    standard_errors
        Of the scores.
    orientation
        How the upper end was found, for methods that cannot tell it themselves.
    eigenvalues
        The strongest axes' eigenvalues, for spectral methods.
    confidence
        0–1, how sure the method is of axis and sign.
    converged, n_iterations
        Of the method's own iteration.
    notes
        Sentences that the user should read.
    details
        Further numbers of the method, by name.
    """

    scores: Vector
    option_weights: Vector | None = None
    key_probabilities: Vector | None = None
    correct: Vector | None = None
    abilities: Vector | None = None
    standard_errors: Vector | None = None
    orientation: Orientation | None = None
    eigenvalues: Vector | None = None
    confidence: float | None = None
    converged: bool = True
    n_iterations: int = 0
    notes: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True, eq=False)
class Method:
    """Base of all methods: the constructor stores, :meth:`fit` computes.

    Parameters
    ----------
    seed
        For random starts; the same seed gives the same result.
    engine, threads
        Which engine computes the sums (see :func:`hitsndiffs.sums.open_sums`).
    """

    #: The name under which :func:`hitsndiffs.rank` knows the method.
    name: ClassVar[str]
    #: One line: what it does; and one line: when to use it.
    summary: ClassVar[str]
    use: ClassVar[str]
    #: Users are comparable when they share "options" (spectral) or "items" (key-based).
    linked_by: ClassVar[str] = "items"
    #: Parameters that take one of some words.
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {}

    seed: int = 0
    engine: str = "auto"
    threads: int | None = None

    # -- to be written by each method ---------------------------------------------------------

    def _fit(self, responses: Responses, sums: Sums) -> Fit:
        """Fit responses in which every user has answered something.

        Methods that compare users through shared options get one connected component at a time.
        """
        raise NotImplementedError

    # -- shared -------------------------------------------------------------------------------

    def fit(self, responses: Responses) -> Self:
        """Fit the method; fitted names end in ``_``."""
        self._check(responses)
        sums = open_sums(responses, self.engine, self.threads)
        labels = components(responses, sums, self.linked_by)
        parts = members(labels)
        if not parts:
            raise InputError("Nobody answered anything: there is nothing to rank.")
        whole = len(parts[0]) == responses.n_users
        if whole:
            fitted = self._fit(responses, sums)
        elif self.linked_by == "items":
            fitted = self._fit_part(responses, np.flatnonzero(labels >= 0))
        else:
            fitted = self._fit_parts(responses, parts)
        self._store(fitted, labels)
        if not fitted.converged:
            self._warn(fitted)
        return self

    def _check(self, responses: Responses) -> None:
        """Parameters must make sense, and what the caller knows must be about these data."""
        check_params(self.name, self.get_params(), self.one_of)
        if answers := getattr(self, "answers", None):
            known_options(responses, answers)
        if (strong := getattr(self, "strong_user", None)) is not None:
            user_number(responses, strong)

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

    def _fit_part(self, responses: Responses, users: npt.NDArray[np.int64]) -> Fit:
        """Fit some of the users, and spread the result over all of them."""
        part, options = responses.restrict(users)
        fit = self._fit(part, open_sums(part, self.engine, self.threads))

        def spread(values: Vector | None, places: Any, size: int) -> Vector | None:
            if values is None:
                return None
            out = np.full(size, np.nan)
            out[places] = values
            return out

        scores = spread(fit.scores, users, responses.n_users)
        assert scores is not None
        m, q = responses.n_users, responses.n_options
        return replace(
            fit,
            scores=scores,
            correct=spread(fit.correct, users, m),
            abilities=spread(fit.abilities, users, m),
            standard_errors=spread(fit.standard_errors, users, m),
            option_weights=spread(fit.option_weights, options, q),
            key_probabilities=spread(fit.key_probabilities, options, q),
        )

    def _fit_parts(self, responses: Responses, parts: list[npt.NDArray[np.int64]]) -> Fit:
        """Fit each component by itself; what is said of the whole is said of the largest."""
        fits = [self._fit_part(responses, part) for part in parts if len(part) > 1]
        alone = np.array([part[0] for part in parts if len(part) == 1], dtype=np.int64)
        if not fits:
            scores = np.full(responses.n_users, np.nan)
            scores[alone] = 0.0
            return Fit(scores=scores, notes=("No two users chose the same option.",))
        merged = fits[0]
        for name in (
            "scores",
            "option_weights",
            "key_probabilities",
            "correct",
            "abilities",
            "standard_errors",
        ):
            columns = [getattr(fit, name) for fit in fits]
            if any(column is None for column in columns):
                continue
            total = columns[0].copy()
            for column in columns[1:]:
                np.copyto(total, column, where=~np.isnan(column))
            if name == "scores":
                total[alone] = 0.0
            merged = replace(merged, **{name: total})
        return replace(
            merged,
            converged=all(fit.converged for fit in fits),
            n_iterations=max(fit.n_iterations for fit in fits),
        )

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
        residual = fit.details.get("residual")
        change = "" if residual is None else f"; the last change was {residual:.2g}"
        warnings.warn(
            f"{self.name} stopped after {fit.n_iterations} rounds without settling{change}. The "
            "best result so far is kept; allow more rounds (max_iterations=) or a larger tol=.",
            ConvergenceWarning,
            stacklevel=4,
        )


def _unknown(method: Method, name: str) -> str:
    names = [f.name for f in fields(method)]
    return f"Method '{method.name}' has no parameter {name!r}; it takes {', '.join(names)}."
