"""Small responses for tests, coded by hand: nothing here goes through the library's readers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from hitsndiffs.data.responses import Responses

Table = npt.NDArray[np.int64]


def make_responses(
    table: Any,
    *,
    users: Sequence[Any] | None = None,
    items: Sequence[Any] | None = None,
    sparse: bool = False,
    kind: str = "numpy",
) -> Responses:
    """Responses from a users × items table of whole numbers; -1 is no answer.

    Option labels are the numbers. Options nobody chose and items nobody answered are left out.
    """
    table = np.asarray(table)
    m, n = table.shape
    names = np.arange(n) if items is None else np.array(list(items), dtype=object)
    kept = [i for i in range(n) if (table[:, i] >= 0).any()]
    labels: list[int] = []
    starts = [0]
    codes = np.full((len(kept), m), 255, dtype=np.uint8)
    for row, i in enumerate(kept):
        options = sorted({int(x) for x in table[:, i] if x >= 0})
        for place, option in enumerate(options):
            codes[row, table[:, i] == option] = place
        labels += options
        starts.append(len(labels))
    layout: dict[str, Any] = {"codes": codes}
    if sparse:
        chosen = [
            [starts[r] + int(codes[r, j]) for r in range(len(kept)) if codes[r, j] != 255]
            for j in range(m)
        ]
        indptr = np.concatenate([[0], np.cumsum([len(c) for c in chosen])])
        options_flat = np.array([o for c in chosen for o in c], dtype=np.int32)
        layout = {"rows": (indptr.astype(np.int64), options_flat)}
    return Responses(
        users=np.arange(m) if users is None else np.array(list(users), dtype=object),
        items=names[kept],
        option_labels=np.array(labels, dtype=np.int64),
        item_starts=np.array(starts),
        kind=kind,
        **layout,
    )


def random_table(
    seed: int, m: int, n: int, k: int, *, missing: float = 0.0, graded: bool = True
) -> Table:
    """Noisy answers; ``graded`` ones follow an ability, so that the second axis stands out."""
    rng = np.random.default_rng(seed)
    ability = rng.uniform(size=(m, 1))
    level = (
        ability * k + rng.normal(scale=0.6, size=(m, n)) if graded else rng.uniform(0, k, (m, n))
    )
    table = np.clip(level, 0, k - 1).astype(np.int64)
    table[rng.uniform(size=(m, n)) < missing] = -1
    return table


def c1p_table(seed: int, m: int, n: int, k: int, *, levels: int | None = None) -> Table:
    """Consistent answers in the right order: an option is the number of thresholds below ability.

    With ``levels`` few users have an ability of their own, so that many are identical.
    """
    rng = np.random.default_rng(seed)
    ability = np.sort(
        rng.uniform(size=m) if levels is None else rng.integers(0, levels, m) / levels
    )
    cuts = rng.uniform(-0.1, 1.1, size=(n, k - 1))
    return (ability[:, None, None] >= cuts).sum(axis=2).astype(np.int64)


seeds = st.integers(0, 2**32 - 1)


@st.composite
def tables(
    draw: st.DrawFn,
    *,
    users: tuple[int, int] = (2, 30),
    items: tuple[int, int] = (1, 12),
    options: tuple[int, int] = (2, 5),
    missing: bool = True,
) -> Table:
    """Any answers, graded or not, with or without gaps; at least one answer."""
    table = random_table(
        draw(seeds),
        draw(st.integers(*users)),
        draw(st.integers(*items)),
        draw(st.integers(*options)),
        missing=draw(st.sampled_from([0.0, 0.1, 0.4, 0.8])) if missing else 0.0,
        graded=draw(st.booleans()),
    )
    if (table < 0).all():
        table[0, 0] = 0
    return table


@st.composite
def consistent_tables(draw: st.DrawFn) -> Table:
    """Consistent answers, complete, in the right order; often with identical users."""
    return c1p_table(
        draw(seeds),
        draw(st.integers(2, 40)),
        draw(st.integers(1, 25)),
        draw(st.integers(2, 5)),
        levels=draw(st.sampled_from([None, 3, 6, 12])),
    )
