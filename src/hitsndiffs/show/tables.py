"""The tables of a ranking as plain columns, from any kind of frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.results.diagnostics import Remark, item_remarks
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.labels import clean

__all__ = [
    "Item",
    "chosen_options",
    "columns",
    "item_list",
    "option_groups",
    "option_shares",
    "right_answers",
]

Ints = npt.NDArray[np.int64]

#: Cells of answer sheets handled at once.
CELLS_AT_ONCE = 4_000_000


def columns(frame: Any) -> dict[str, list[Any]]:
    """Columns of a frame of any kind, by name.

    >>> import polars as pl
    >>> columns(pl.DataFrame({"a": [1, 2]}))
    {'a': [1, 2]}
    """
    import narwhals as nw

    found: dict[str, list[Any]] = nw.from_native(frame, eager_only=True).to_dict(as_series=False)
    return found


@dataclass(frozen=True)
class Item:
    """One item, as charts and reports describe it (``None``: not known)."""

    number: int
    name: str
    answers: int
    options: int
    key: str | None = None
    confidence: float | None = None
    share: float | None = None
    discrimination: float | None = None
    strong_share: float | None = None
    given: str | None = None
    remark: str = ""
    doubt: str = ""

    @property
    def wrong_key(self) -> bool:
        """Whether the key is in doubt: another answer seems right, or a second one does too."""
        return self.doubt in ("mis-keyed", "double-keyed")


def item_list(ranking: Ranking, key: Mapping[Any, Any] | None = None) -> list[Item]:
    """All items in the order of the data.

    Parameters
    ----------
    ranking
        The result.
    key
        An answer key to check against the answers.
    """
    found = columns(ranking.items(key=key))
    n = len(found["item"])
    probabilities = ranking.fit.key_probabilities
    remarks = (
        [Remark()] * n
        if probabilities is None
        else item_remarks(ranking.data, ranking.scores, probabilities, key)
    )

    def number(name: str, i: int) -> float | None:
        value = found[name][i] if name in found else None
        return None if value is None or not np.isfinite(value) else float(value)

    def text(name: str, i: int) -> str | None:
        value = found[name][i] if name in found else None
        return None if value is None or value != value else clean(value)

    return [
        Item(
            number=i,
            name=clean(found["item"][i]),
            answers=int(found["answers"][i]),
            options=int(found["options"][i]),
            key=text("key", i),
            confidence=number("confidence", i),
            share=number("share", i),
            discrimination=number("discrimination", i),
            strong_share=number("strong_share", i),
            given=text("given_key", i),
            remark=clean(remarks[i].text) if remarks[i].text else "",
            doubt=remarks[i].kind,
        )
        for i in range(n)
    ]


def option_groups(ranking: Ranking) -> int:
    """The number of ability groups in a chart: each needs about ten users."""
    return int(np.clip(ranking.responses.n_users // 10, 2, 5))


def option_shares(ranking: Ranking, groups: int) -> Any:
    """The share of each group, weakest first, that chose each option: options × groups."""
    found = columns(ranking.options(groups=groups))
    return np.array([found[f"share_group_{g + 1}"] for g in range(groups)], dtype=float).T


def chosen_options(ranking: Ranking, users: Ints) -> Ints:
    """The number of the option that each user chose, -1 without an answer: users × items."""
    data, r = ranking.data, ranking.responses
    table = np.full((len(users), r.n_items), -1, dtype=np.int64)
    size = max(CELLS_AT_ONCE // max(r.n_options, 1), 1)
    for first in range(0, len(users), size):
        options, columns = np.nonzero(data.sheets(users[first : first + size]))
        table[first + columns, r.option_items[options]] = options
    return table


def right_answers(ranking: Ranking, chosen: Ints) -> npt.NDArray[np.float64]:
    """1 if the chosen option is the likely key, 0 if not, NaN without an answer."""
    key = _likely_key(ranking)
    return np.where(chosen < 0, np.nan, key[np.maximum(chosen, 0)])


def _likely_key(ranking: Ranking) -> npt.NDArray[np.float64]:
    """1 for the likeliest option of each item (the most chosen one if the method infers no key)."""
    r = ranking.responses
    p = ranking.fit.key_probabilities
    value = r.choosers_per_option.astype(float) if p is None else np.nan_to_num(p, nan=-1.0)
    best = np.maximum.reduceat(value, r.item_starts[:-1])
    first = np.flatnonzero(value >= best[r.option_items])[::-1]
    chosen = np.zeros(r.n_items, dtype=np.int64)
    chosen[r.option_items[first]] = first
    right = np.zeros(r.n_options)
    right[chosen] = 1.0
    return right
