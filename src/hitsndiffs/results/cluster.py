"""A ranking of users spread over a cluster; nothing user-sized is sent to the caller."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hitsndiffs.data.files import write_folder
from hitsndiffs.data.items import Items
from hitsndiffs.data.words import count
from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods import Fit, make
from hitsndiffs.order.ties import tie_limit
from hitsndiffs.reading.cluster import connect, in_plain_words
from hitsndiffs.results.columns import COLUMNS, Cells, dressed
from hitsndiffs.results.found import Found, scores_by
from hitsndiffs.results.uncertainty import spread_intervals
from hitsndiffs.results.verdict import Command, Reason

__all__ = ["ClusterRanking", "rank_on_cluster", "rank_there"]

#: The columns that are on the workers: all but the names, and what takes all users at once.
THERE = (
    "rank",
    "score",
    "standard_error",
    "rank_low",
    "rank_high",
    "correct",
    "ability",
    "answers",
)


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
    data: Any, method: str = "auto", *, by: str | None = None, **params: Any
) -> ClusterRanking:
    """Rank users where their answers are stored: those of a cluster's engine."""
    estimator = make(method, **params).fit(data)
    fit = estimator.fit_

    def same(x: Any, y: Any) -> bool:
        return x is y or float(abs(x - y).max()) == 0

    scores, quantity, errors = scores_by(method, fit, by, same)
    scores = data.user_array(scores)
    ranks = data.user_array(data.ranks(scores, tie_limit(scores)))
    parameters = estimator.get_params()
    return ClusterRanking(data, method, parameters, fit, quantity, scores, ranks, errors)


@dataclass(frozen=True)
class ClusterRanking(Found):
    """A ranking whose users stay on the workers; see :class:`hitsndiffs.Ranking`.

    Scores, ranks (exact) and standard errors are Dask arrays, one value per user.
    """

    data: Any
    method: str
    parameters: Mapping[str, Any]
    fit: Fit
    by: str
    scores: Any
    ranks: Any
    standard_errors: Any
    command: Command | None = None

    @property
    def structure(self) -> Items:
        """The items and their options."""
        items: Items = self.data.items
        return items

    def __len__(self) -> int:
        return int(self.data.n_users)

    def _how_far(self, sure: str) -> Reason:
        return Reason("many", {"users": f"the {count(len(self), 'user')}", "sure": sure})

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know."""
        return (*self.data.notes, *self.fit.sentences)

    @property
    def responses(self) -> Any:
        """What knows how many answers each user gave."""
        return self.data

    @cached_property
    def intervals(self) -> tuple[Any, Any]:
        """Best and worst rank that each user may truly have (95 %); ``None`` if not known."""
        errors, common = self.standard_errors, self.fit.common_errors
        if errors is None:
            return None, None
        if common is not None and id(errors) == id(self.fit.standard_errors):
            errors = np.sqrt(np.maximum(errors**2 - common**2, 0.0))
        both = self.data.user_array(spread_intervals(self.data, self.scores, errors, self.ranks))
        return both[:, 0], both[:, 1]

    def top(self, count: int = 20) -> Any:
        """The best users, in a Polars frame with the columns of :meth:`Ranking.table`."""
        return self.cells(count).frame()

    def cells(self, count: int) -> Cells:
        """The columns of :meth:`top`, for whoever shows them."""
        users = self.data.top(self.scores, count)
        found = {n: self.data.collect(values, users) for n, values in self._columns().items()}
        found["user"] = np.asarray(self.data.user_labels(users))
        columns = {name: found[name] for name in COLUMNS if name in found}
        return dressed(columns, shares=self.by == "correct")

    def table(self) -> Any:
        """One row per user, in the order of the data: a Dask frame, one partition per part."""
        import dask.dataframe as dd
        import pandas as pd
        from dask.delayed import delayed

        columns = self._columns()
        blocks = [self.data.blocks(values) for values in columns.values()]
        frames = [
            delayed(_frame)(delayed(getattr)(part, "responses").users, tuple(columns), *own)
            for part, *own in zip(self.data.parts, *blocks, strict=True)
        ]
        labels = self.data.user_labels(np.arange(min(2, len(self))))
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
        """The columns that are on the workers."""
        found = {name: COLUMNS[name].values(self) for name in THERE}
        return {name: values for name, values in found.items() if values is not None}


def _frame(users: Any, names: tuple[str, ...], *columns: Any) -> Any:
    import pandas as pd

    frame = pd.DataFrame({"user": pd.array([str(u) for u in users], dtype="string[pyarrow]")})
    for name, values in zip(names, columns, strict=True):
        frame[name] = np.asarray(values, dtype=np.float64)
        if COLUMNS[name].kind == "whole":
            frame[name] = frame[name].astype("Int64")
    return frame
