"""Base of all methods: parameters, fitting component by component, fitted attributes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.lookup import known_options, no_such_user
from hitsndiffs.data.progress import working
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.errors import ConvergenceWarning, InputError
from hitsndiffs.methods.blas import one_thread
from hitsndiffs.methods.checks import check_params
from hitsndiffs.methods.fitted import Fit, Part, merged, spread_out
from hitsndiffs.methods.in_order import fit_in_order
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.order.ties import members

__all__ = ["Fit", "Method"]


@dataclass(kw_only=True, eq=False)
class Method:
    """Base of all methods: the constructor stores, :meth:`fit` computes.

    Parameters
    ----------
    seed
        Seed for random starts; the same seed gives the same result.
    engine, threads
        Which engine holds the data (see :func:`hitsndiffs.engines.open_engine`).
    """

    #: The name under which :func:`hitsndiffs.rank` knows the method.
    name: ClassVar[str]
    #: One line each: what the method does, and when to use it.
    summary: ClassVar[str]
    use: ClassVar[str]
    #: Users are comparable when they share "options" (spectral) or "items" (key-based).
    linked_by: ClassVar[str] = "items"
    #: Whether the method needs user arrays as NumPy arrays in this process. Methods that do not
    #: need them run on any engine.
    needs_memory: ClassVar[bool] = True
    #: Whether small data are first put into an order that depends only on the answers.
    orders_first: ClassVar[bool] = True
    #: Whether it may use that several items share a label.
    reads_labels: ClassVar[bool] = False
    #: Parameters that take one of a fixed set of words.
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {}

    seed: int = 0
    engine: str = "auto"
    threads: int | None = None

    # -- implemented by each method -----------------------------------------------------------

    def _fit(self, data: Engine) -> Fit:
        """Fit responses in which every user has answered something.

        Methods that compare users through shared options get one connected component at a time.
        """
        raise NotImplementedError

    # -- shared -------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Fit the method; fitted attributes end in ``_``.

        Parameters
        ----------
        X
            Users × items: :class:`~hitsndiffs.Responses`, or whatever :func:`hitsndiffs.rank`
            takes (a table, an array, a sparse matrix, a path).
        y
            Not used: there is no key. It is there for scikit-learn's pipelines.
        """
        with one_thread():
            return self._fitted(X if isinstance(X, Engine) else as_responses(X))

    def _fitted(self, responses: Responses | Engine) -> Self:
        data = open_engine(responses, self.engine, self.threads)
        self.n_features_in_ = data.n_items
        if data.n_options == 0:
            raise InputError("Nobody answered anything: there is nothing to rank.")
        if not data.choosers_per_option.all():
            raise InputError(
                "Some options were chosen by nobody, and every option needs a user who chose it; "
                "make the part of the data without keep_options."
            )
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

    def fit_predict(self, X: Any, y: Any = None) -> Any:
        """Fit the method, and return one score per user (higher is better)."""
        return self.fit(X, y).scores_

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn should know: answers are categories, and may be missing."""
        from sklearn.utils import InputTags, Tags, TargetTags  # type: ignore[import-untyped]

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            input_tags=InputTags(categorical=True, string=True, allow_nan=True, sparse=True),
        )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fit_")

    def _check(self, data: Engine) -> None:
        """Check the parameters, and that known answers and the strong user are in the data."""
        check_params(self.name, self.get_params(), self.one_of)
        if self.needs_memory and data.arrays != "numpy":
            raise data.cannot_serve(f"Method '{self.name}'")
        if answers := getattr(self, "answers", None):
            known_options(data.items, answers)
        strong = getattr(self, "strong_user", None)
        if strong is not None and data.user_number(strong) is None:
            raise no_such_user(strong, data.user_labels(np.arange(min(1000, data.n_users))))

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """Return the constructor's parameters (the scikit-learn convention)."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """Set parameters by name (the scikit-learn convention)."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise InputError(
                    f"Method '{self.name}' has no parameter {name!r}; it takes {', '.join(known)}."
                )
            setattr(self, name, value)
        return self

    def _fit_here(self, data: Engine) -> Fit:
        """Fit, in this process, a few answers that are held elsewhere."""
        return type(self)(**{**self.get_params(), "engine": "auto"}).fit(data.responses).fit_

    def _fit_parts(self, data: Engine, parts: list[Ints]) -> Fit:
        """Fit each part of the users separately; the largest comes first."""
        fitted = []
        alone = []
        for users in parts:
            if len(users) == 1 and self.linked_by == "options":
                alone.append(users[0])
                continue
            part, options = data.subset(users)
            fitted.append(Part(users, options, fit_in_order(self, part)))
        return merged(data, fitted, np.array(alone, dtype=np.int64))

    def _store(self, fit: Fit, labels: Ints) -> None:
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
            stacklevel=5,
        )
