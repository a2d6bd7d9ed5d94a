"""Ranking: the one result type, and :func:`rank`, which makes it."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs import _version
from hitsndiffs.errors import InputError
from hitsndiffs.frames import jsonable, python_value, to_frame
from hitsndiffs.methods import Fit, Method, make
from hitsndiffs.order import ordered_users
from hitsndiffs.orientation import Orientation
from hitsndiffs.responses import Responses
from hitsndiffs.sums import open_sums
from hitsndiffs.ties import ranks_of

__all__ = ["Ranking", "rank"]

Vector = npt.NDArray[np.float64]

QUANTITIES = ("correct", "ability")


def rank(responses: Any, method: str = "auto", *, by: str | None = None, **params: Any) -> Ranking:
    """Rank users by ability, from their answers alone.

    Parameters
    ----------
    responses
        :class:`~hitsndiffs.Responses`, or any table that :meth:`Responses.from_wide` takes.
    method
        A name of :data:`hitsndiffs.METHODS`.
    by
        ``"correct"`` (expected share of right answers) or ``"ability"`` (latent ability): what
        the scores are, for methods that have both. Default: what the method does best.
    **params
        Parameters of the method, for example ``solver=``, ``answers=``, ``strong_user=``,
        ``seed=``, ``engine=``.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> r = hnd.Responses.from_wide(
    ...     [list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")], users=list("vwxyz")
    ... )
    >>> ranking = hnd.rank(r, method="hnd")
    >>> ranking.ranks.tolist(), ranking.consistent
    ([1.0, 2.0, 3.0, 4.0, 5.0], True)
    >>> ranking.answer_key()
    {0: 'A', 1: 'A', 2: 'A'}
    """
    if not isinstance(responses, Responses):
        responses = Responses.from_wide(responses)
    if by is not None and by not in QUANTITIES:
        raise InputError(f"by must be one of {', '.join(QUANTITIES)}; got {by!r}.")
    estimator = make(method, **params)
    estimator.fit(responses)
    return Ranking.of(responses, estimator, by)


@dataclass(frozen=True, repr=False, eq=False)
class Ranking:
    """Users in order of ability, with what speaks for and against the order.

    Arrays are aligned with ``responses.users``; a user without answers has NaN.

    Attributes
    ----------
    responses
        The data.
    method, parameters
        What made the ranking.
    fit
        Everything the method found (:class:`hitsndiffs.methods.Fit`).
    by
        What the scores are: ``"correct"``, ``"ability"`` or ``"score"`` (the method's own).
    scores, ranks
        Higher score = better; rank 1 = best, ties share a rank; within each component.
    components
        0 = the largest component, -1 = no answers. Users of different components cannot be
        compared.
    order
        User numbers from best to worst, component after component, users without answers last.
        Inside a score tie users with equal answers stand together.
    consistent
        Whether the order is certified: every option's choosers stand side by side.
    version
        Of the software.
    """

    responses: Responses
    method: str
    parameters: Mapping[str, Any]
    fit: Fit
    by: str
    scores: Vector
    ranks: Vector
    components: npt.NDArray[np.int64]
    order: npt.NDArray[np.int64]
    consistent: bool
    version: str

    @classmethod
    def of(cls, responses: Responses, method: Method, by: str | None = None) -> Ranking:
        """Make the ranking of a fitted method."""
        fit, labels = method.fit_, method.components_
        scores, quantity = _scores(method, fit, by)
        sums = open_sums(responses, method.engine, method.threads)
        order, consistent = ordered_users(responses, sums, scores, labels)
        return cls(
            responses=responses,
            method=method.name,
            parameters=method.get_params(),
            fit=fit,
            by=quantity,
            scores=_read_only(scores),
            ranks=_read_only(ranks_of(scores, labels)),
            components=_read_only(labels),
            order=_read_only(np.concatenate([order, np.flatnonzero(labels < 0)])),
            consistent=consistent,
            version=_version.version(),
        )

    # -- short names for what the method found -------------------------------------------------

    @property
    def users(self) -> npt.NDArray[Any]:
        """User labels, in the order of the data."""
        return self.responses.users

    @property
    def abilities(self) -> Vector | None:
        """Latent abilities, where the method has them."""
        return self.fit.abilities

    @property
    def correct(self) -> Vector | None:
        """Expected share of right answers (0–1), where the method has it."""
        return self.fit.correct

    @property
    def standard_errors(self) -> Vector:
        """Of the scores; NaN where the method has none (``by=`` asked for other scores, say)."""
        found = self.fit.standard_errors
        if found is None or not _same(self.scores, self.fit.scores):
            return np.full(self.responses.n_users, np.nan)
        return found

    @property
    def orientation(self) -> Orientation | None:
        """How the upper end was found (``None``: the method knows it by itself)."""
        return self.fit.orientation

    @property
    def confidence(self) -> float | None:
        """0–1, how sure the method is of axis and sign."""
        return self.fit.confidence

    @property
    def converged(self) -> bool:
        """Whether the iteration settled."""
        return self.fit.converged

    @property
    def n_iterations(self) -> int:
        """Rounds over the data."""
        return self.fit.n_iterations

    @property
    def spectral_gap(self) -> float | None:
        """How far the next axis is from this one, relative to the larger: 0 (equal) to 1."""
        values = self.fit.eigenvalues
        if values is None or len(values) == 0:
            return None
        here, following = float(values[0]), float(values[1]) if len(values) > 1 else 0.0
        larger = max(abs(here), abs(following))
        return abs(here - following) / larger if larger > 0 else None

    @property
    def n_components(self) -> int:
        """Number of groups of users that cannot be compared with each other."""
        return int(self.components.max()) + 1

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know: of the data, the method, and the comparison."""
        found = [*self.responses.notes, *self.fit.notes]
        silent = int((self.components < 0).sum())
        if silent:
            names = ", ".join(str(u) for u in self.users[self.components < 0][:5])
            more = ", …" if silent > 5 else ""
            found.append(f"{silent} user(s) gave no answers and have no rank: {names}{more}.")
        if self.n_components > 1:
            sizes = np.bincount(self.components[self.components >= 0])
            listed = ", ".join(str(size) for size in sizes[:5]) + (", …" if len(sizes) > 5 else "")
            found.append(
                f"The users fall into {self.n_components} groups (sizes {listed}) that cannot be "
                "compared with each other; each is ranked by itself."
            )
        return tuple(found)

    # -- tables --------------------------------------------------------------------------------

    def table(self) -> Any:
        """One row per user, best first, in the kind of frame that the data came in."""
        return to_frame(self._columns(), self.responses.kind)

    def _columns(self) -> dict[str, Any]:
        o = self.order
        columns: dict[str, Any] = {
            "user": self.users[o],
            "rank": self.ranks[o],
            "score": self.scores[o],
            "standard_error": self.standard_errors[o],
        }
        if self.correct is not None:
            columns["correct"] = self.correct[o]
        if self.abilities is not None:
            columns["ability"] = self.abilities[o]
        columns["answers"] = self.responses.answers_per_user[o]
        columns["component"] = self.components[o]
        return columns

    def option_weights(self) -> Any:
        """One row per option: its weight, its choosers, how likely it is the right one."""
        r = self.responses
        blank = np.full(r.n_options, np.nan)
        columns = {
            "item": r.items[r.option_items],
            "option": r.option_labels,
            "weight": blank if self.fit.option_weights is None else self.fit.option_weights,
            "choosers": r.choosers_per_option,
            "key_probability": (
                blank if self.fit.key_probabilities is None else self.fit.key_probabilities
            ),
        }
        return to_frame(columns, r.kind)

    def answer_key(self, *, with_confidence: bool = False) -> dict[Any, Any]:
        """The likely right option of each item.

        Parameters
        ----------
        with_confidence
            Give ``(option, probability)`` instead of the option.
        """
        r = self.responses
        options, sure = self._key()
        key: dict[Any, Any] = {}
        for item, option, p in zip(r.items, options, sure, strict=True):
            if option >= 0:
                label = python_value(r.option_labels[option])
                key[python_value(item)] = (label, float(p)) if with_confidence else label
        return key

    def _key(self) -> tuple[npt.NDArray[np.int64], Vector]:
        """For each item, its likeliest option (-1: none) and how likely it is."""
        r = self.responses
        if self.fit.key_probabilities is None:
            raise InputError(f"Method '{self.method}' does not infer an answer key.")
        p = np.where(np.isnan(self.fit.key_probabilities), -1.0, self.fit.key_probabilities)
        best = np.maximum.reduceat(p, r.item_starts[:-1])
        is_best = p >= best[r.option_items]
        first = np.flatnonzero(is_best)[::-1]
        option = np.full(r.n_items, -1, dtype=np.int64)
        option[r.option_items[first]] = first
        option[best < 0] = -1
        return option, best

    def items(self) -> Any:
        """One row per item: how it was answered, its likely key, and how sure that is."""
        r = self.responses
        columns: dict[str, Any] = {
            "item": r.items,
            "answers": r.answers_per_item,
            "options": np.diff(r.item_starts),
        }
        if self.fit.key_probabilities is not None:
            option, sure = self._key()
            safe = np.maximum(option, 0)
            labels = r.option_labels[safe].astype(object)
            labels[option < 0] = None
            columns["key"] = labels
            columns["confidence"] = np.where(option >= 0, sure, np.nan)
            share = r.choosers_per_option[safe] / r.answers_per_item
            columns["share"] = np.where(option >= 0, share, np.nan)
        return to_frame(columns, r.kind)

    # -- for machines and for people -----------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Everything, in plain Python values (JSON's types)."""
        columns = {name: jsonable(values) for name, values in self._columns().items()}
        names = list(columns)
        key = (
            {
                str(item): {"option": jsonable(option), "confidence": p}
                for item, (option, p) in self.answer_key(with_confidence=True).items()
            }
            if self.fit.key_probabilities is not None
            else None
        )
        turned = self.orientation
        return {
            "method": self.method,
            "parameters": {k: jsonable(v) for k, v in self.parameters.items()},
            "version": self.version,
            "by": self.by,
            "n_users": self.responses.n_users,
            "n_items": self.responses.n_items,
            "n_options": self.responses.n_options,
            "n_responses": self.responses.n_responses,
            "users": [
                dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)
            ],
            "n_components": self.n_components,
            "consistent": self.consistent,
            "orientation": None
            if turned is None
            else {
                "how": turned.how,
                "margin": jsonable(turned.margin),
                "confidence": jsonable(turned.confidence),
            },
            "confidence": jsonable(self.confidence),
            "eigenvalues": jsonable(self.fit.eigenvalues),
            "spectral_gap": self.spectral_gap,
            "converged": self.converged,
            "n_iterations": self.n_iterations,
            "details": {k: jsonable(v) for k, v in self.fit.details.items()},
            "answer_key": key,
            "notes": list(self.notes),
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """:meth:`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def __repr__(self) -> str:
        r = self.responses
        sure = "certified consistent" if self.consistent else "not certified"
        lines = [f"Ranking by {self.method}: {r.n_users:,} users × {r.n_items:,} items, {sure}"]
        for rank_, user, score in self._best(5):
            lines.append(f"{rank_:>6}  {user:<20.20}  {score:8.3f}")
        if r.n_users > 5:
            lines.append(f"     …  ({r.n_users - 5:,} more)")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{rank_}</td><td>{html.escape(user)}</td><td>{score:.3f}</td></tr>"
            for rank_, user, score in self._best(20)
        )
        title = html.escape(repr(self).split("\n")[0])
        more = self.responses.n_users - 20
        rest = f"<p>… {more:,} more</p>" if more > 0 else ""
        return (
            f"<p><b>{title}</b></p><table><thead><tr><th>rank</th><th>user</th><th>score</th>"
            f"</tr></thead><tbody>{rows}</tbody></table>{rest}"
        )

    def _best(self, count: int) -> list[tuple[str, str, float]]:
        return [
            (
                "–" if np.isnan(self.ranks[j]) else str(int(self.ranks[j])),
                str(self.users[j]),
                float(self.scores[j]),
            )
            for j in self.order[:count]
        ]


def _scores(method: Method, fit: Fit, by: str | None) -> tuple[Vector, str]:
    choice = {"correct": fit.correct, "ability": fit.abilities}
    if by is not None:
        values = choice[by]
        if values is None:
            has = [name for name, v in choice.items() if v is not None]
            raise InputError(
                f"Method '{method.name}' has no {by!r} score; "
                + (f"use by={has[0]!r}." if has else "leave by= out.")
            )
        return values, by
    for name, values in choice.items():
        if values is not None and _same(values, fit.scores):
            return fit.scores, name
    return fit.scores, "score"


def _same(a: Vector, b: Vector) -> bool:
    return a is b or np.array_equal(a, b, equal_nan=True)


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
