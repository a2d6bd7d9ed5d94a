"""The tables of a ranking: users, items, options, the likely key."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.results.columns import cells_of
from hitsndiffs.results.diagnostics import (
    guessing,
    inferred_key,
    item_columns,
    option_columns,
    right_chances,
)
from hitsndiffs.results.values import to_frame

if TYPE_CHECKING:
    from hitsndiffs.engines import Engine
    from hitsndiffs.methods import Fit
    from hitsndiffs.results.cluster import ClusterRanking
    from hitsndiffs.results.ranking import Ranking

__all__ = ["RankingTables", "key_frame"]

Vector = npt.NDArray[np.float64]


class RankingTables:
    """What a ranking says, in tables (:class:`hitsndiffs.Ranking` has these methods)."""

    if TYPE_CHECKING:  # a ranking has these
        responses: Responses
        fit: Fit
        method: str
        parameters: Mapping[str, Any]
        scores: Vector

        @property
        def users(self) -> npt.NDArray[Any]: ...  # noqa: D102
        @property
        def correct(self) -> Vector | None: ...  # noqa: D102
        @cached_property
        def data(self) -> Engine: ...  # noqa: D102

    def table(self) -> Any:
        """One row per user, best first, in the same kind of frame as the data."""
        return cells_of(self, None).frame(self.responses.kind)  # type: ignore[arg-type]

    def option_weights(self) -> Any:
        """One row per option: its weight, its choosers, how likely it is to be the right one."""
        r = self.responses
        blank = np.full(r.n_options, np.nan)
        columns = {
            "item": r.items[r.option_items],
            "option": r.option_labels,
            "weight": blank if self.fit.option_weights is None else self.fit.option_weights,
            "choosers": r.choosers_per_option,
            "key_probability": blank if self.key_chances is None else self.key_chances,
        }
        return to_frame(columns, r.kind)

    @cached_property
    def key_chances(self) -> Vector | None:
        """How likely each option is right, all readings of the answers considered."""
        return right_chances(self.responses.structure, self.fit, self.parameters)

    def answer_key(self, *, with_confidence: bool = False) -> dict[Any, Any]:
        """The likely right option of each item.

        Parameters
        ----------
        with_confidence
            Return ``(option, probability)`` instead of the option. The probability takes into
            account that the ranking as a whole may be wrong (:attr:`Ranking.confidence`).
        """
        items, chances = self.responses.structure, self.key_chances
        return inferred_key(items, self.fit, self.method, chances, with_confidence=with_confidence)

    def items(self, *, key: Mapping[Any, Any] | None = None) -> Any:
        """One row per item: likely key, difficulty, discrimination, and what looks wrong with it.

        Parameters
        ----------
        key
            An answer key to compare with the answers (item → option): items that look mis-keyed,
            or that seem to have two right answers, are marked.
        """
        held, chances = self.fit.key_probabilities, self.key_chances
        columns = item_columns(self.data, self.scores, held, key, chances)
        return to_frame(columns, self.responses.kind)

    def options(self, *, groups: int = 3) -> Any:
        """One row per option: the share of weak, middle and strong users who chose it.

        Parameters
        ----------
        groups
            How many groups of equal size to divide the users into, weakest first.
        """
        columns = option_columns(self.data, self.scores, groups)
        return to_frame(columns, self.responses.kind)

    def guessers(self) -> npt.NDArray[Any]:
        """Users whose answers are no better than guessing (needs expected shares correct)."""
        if self.correct is None:
            return self.users[:0]
        return self.users[guessing(self.data, self.correct)]


def key_frame(ranking: Ranking | ClusterRanking) -> Any:
    """Return the likely key as a Polars frame: item, answer, confidence."""
    import polars as pl

    key = ranking.answer_key(with_confidence=True)
    return pl.DataFrame(
        {
            "item": pl.Series([str(item) for item in key], dtype=pl.String),
            "answer": pl.Series([str(option) for option, _ in key.values()], dtype=pl.String),
            "confidence": pl.Series([sure for _, sure in key.values()], dtype=pl.Float64),
        }
    )
