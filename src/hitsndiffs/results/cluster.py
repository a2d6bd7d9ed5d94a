"""A ranking of users spread over a cluster; nothing user-sized is sent to the caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.files import write_folder
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods import Fit, make
from hitsndiffs.order.ties import TIE
from hitsndiffs.reading.cluster import connect, in_plain_words
from hitsndiffs.results.diagnostics import inferred_key, right_chances
from hitsndiffs.results.uncertainty import spread_intervals
from hitsndiffs.results.verdict import help_for

__all__ = ["ClusterRanking", "rank_on_cluster", "rank_there"]


def rank_there(
    data: Any, method: str, by: str | None, bootstrap: int, params: dict[str, Any]
) -> Any:
    """What :func:`hitsndiffs.rank` does with a Dask frame or an engine."""
    if bootstrap:
        raise InputError("A bootstrap has to refit the data, which the dask engine cannot do.")
    scheduler = params.pop("scheduler", None)
    params.pop("engine", None)
    limit = params.pop("here_up_to", None)
    client = getattr(data, "client", None) if isinstance(data, Engine) else connect(scheduler)
    with in_plain_words(client):
        if not isinstance(data, Engine):
            from hitsndiffs.engines.dask_frames import engine_of_frame

            data = engine_of_frame(data, client)
        if limit is not None:
            data.here_up_to = limit
        return rank_on_cluster(data, method, by=by, **params)


def rank_on_cluster(
    data: Engine, method: str = "auto", *, by: str | None = None, **params: Any
) -> ClusterRanking:
    """Rank users where their answers are stored.

    Parameters
    ----------
    data
        A cluster's engine.
    method, by, **params
        As for :func:`hitsndiffs.rank`.
    """
    estimator = make(method, **params).fit(data)
    fit = estimator.fit_
    scores = {None: fit.scores, "correct": fit.correct, "ability": fit.abilities}.get(by)
    if scores is None:
        raise InputError(
            f"Method '{method}' has no {by!r} score; leave 'by' out to rank by its own score."
        )
    errors = fit.standard_errors
    if scores is not fit.scores and data.largest(scores - fit.scores) > 0:
        errors = fit.ability_errors if by == "ability" else fit.correct_errors
    scores = data.kept(scores)
    ranks = data.kept(data.ranks(scores, TIE * max(data.largest(scores), 1e-300)))
    parameters = estimator.get_params()
    return ClusterRanking(data, method, parameters, fit, scores, ranks, errors)


@dataclass(frozen=True)
class ClusterRanking:
    """A ranking whose users stay on the workers.

    Attributes
    ----------
    data
        The engine.
    method, parameters, fit
        The method's name, its parameters, and everything it found.
    scores, ranks, standard_errors
        Dask arrays, one value per user. Ranks are exact: 1 = best, ties share a rank.
    """

    data: Any
    method: str
    parameters: Mapping[str, Any]
    fit: Fit
    scores: Any
    ranks: Any
    standard_errors: Any

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.data.n_users)

    @property
    def confidence(self) -> float | None:
        """How sure the method is of axis and sign (0–1)."""
        return self.fit.confidence

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        told = bool(self.parameters.get("answers"))
        helps, _ = help_for(self.fit, self.data.items, command=None, told=told)
        more = [f"To be surer: {helps}"] if helps else []
        return (*self.data.notes, *self.fit.sentences, *more)

    @cached_property
    def intervals(self) -> Any:
        """Best and worst rank that each user may truly have (95 %), as two columns."""
        errors: Any = self.standard_errors
        common = self.fit.common_errors
        if common is not None and self.standard_errors is self.fit.standard_errors:
            errors = np.sqrt(np.maximum(errors**2 - common**2, 0.0))
        return self.data.kept(spread_intervals(self.data, self.scores, errors, self.ranks))

    def answer_key(self, *, with_confidence: bool = False) -> dict[Any, Any]:
        """The likely right option of each item.

        Parameters
        ----------
        with_confidence
            Return ``(option, probability)`` instead of the option.
        """
        items = self.data.items
        chances = right_chances(items, self.fit, self.parameters)
        return inferred_key(items, self.fit, self.method, chances, with_confidence=with_confidence)

    def top(self, count: int = 20) -> dict[str, npt.NDArray[Any]]:
        """The best users, as columns."""
        users = self.data.top(self.scores, count)
        marks = self.data.marked(users)
        order = np.argsort(np.argsort(users))
        columns = {"user": self.data.user_labels(users)}
        for name, values in self._columns().items():
            columns[name] = self.data.picked(values, marks)[order]
        return columns

    def table(self) -> Any:
        """One row per user, in the order of the data: a Dask frame, one partition per part."""
        import dask.dataframe as dd
        import pandas as pd
        from dask.delayed import delayed

        columns = self._columns()
        blocks = [self.data.blocks(values) for values in columns.values()]
        frames = [
            delayed(_frame)(delayed(getattr)(part, "some_users"), tuple(columns), *own)
            for part, *own in zip(self.data.parts, *blocks, strict=True)
        ]
        labels = self.data.user_labels(np.arange(min(2, self.n_users)))
        meta = _frame(labels, tuple(columns), *(np.zeros(len(labels)) for _ in columns))
        return dd.from_delayed(frames, meta=pd.DataFrame(meta).iloc[:0])

    def write(self, folder: str | Path) -> None:
        """Let the workers write the table as Parquet, one file per part; whole or not at all.

        Workers must see the folder under the same path.
        """
        with in_plain_words(self.data.client):
            write_folder(
                Path(folder), lambda new: self.table().to_parquet(str(new), write_index=False)
            )

    def _columns(self) -> dict[str, Any]:
        columns = {"rank": self.ranks, "score": self.scores}
        if self.standard_errors is not None:
            columns["standard_error"] = self.standard_errors
            columns["rank_low"] = self.intervals[:, 0]
            columns["rank_high"] = self.intervals[:, 1]
        if self.fit.correct is not None:
            columns["correct"] = self.fit.correct
        if self.fit.abilities is not None:
            columns["ability"] = self.fit.abilities
        columns["answers"] = self.data.answers_per_user
        return columns


def _frame(users: Any, names: tuple[str, ...], *columns: Any) -> Any:
    import pandas as pd

    frame = pd.DataFrame({"user": pd.array([str(u) for u in users], dtype="string[pyarrow]")})
    for name, values in zip(names, columns, strict=True):
        frame[name] = np.asarray(values, dtype=np.float64)
    return frame
