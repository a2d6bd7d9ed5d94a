"""The one place where tests get their responses; nothing here goes through the library's readers.

Tables are users × items arrays of whole numbers, -1 for no answer.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import settings
from hypothesis import strategies as st

from hitsndiffs.data.responses import Responses

Table = npt.NDArray[np.int64]

#: Whether every test tries all its seeds and settings (``make thorough``).
THOROUGH = os.environ.get("HITSNDIFFS_TESTS") == "thorough"


def some(cases: Iterable[Any], usual: int) -> list[Any]:
    """The first few of several seeds or settings that show the same; all in a thorough run."""
    return list(cases)[: None if THOROUGH else usual]


def examples(thorough: int, usual: int | None = None) -> settings:
    """Try a property on so many examples: usually on half of those of a thorough run."""
    usual = thorough // 2 if usual is None else usual
    return settings(max_examples=thorough if THOROUGH else usual)


def make_responses(
    table: Any,
    *,
    users: Sequence[Any] | None = None,
    items: Sequence[Any] | None = None,
    sparse: bool = False,
    dtype: Any = np.uint8,
    kind: str = "numpy",
) -> Responses:
    """Responses from a table, dense or as rows.

    Option labels are the numbers. Options nobody chose and items nobody answered are left out.
    ``dtype`` is that of the dense codes.
    """
    table = np.asarray(table)
    m, n = table.shape
    names = np.arange(n) if items is None else np.array(list(items), dtype=object)
    kept = [i for i in range(n) if (table[:, i] >= 0).any()]
    missing = np.iinfo(dtype).max
    labels: list[int] = []
    starts = [0]
    codes = np.full((len(kept), m), missing, dtype=dtype)
    for code, i in zip(codes, kept, strict=True):
        answered = table[:, i] >= 0
        options, places = np.unique(table[answered, i], return_inverse=True)
        code[answered] = places
        labels += options.tolist()
        starts.append(len(labels))
    layout: dict[str, Any] = {"codes": codes}
    if sparse:
        answered = missing != codes.T
        numbers = codes.T.astype(np.int32) + np.array(starts[:-1], dtype=np.int32)
        indptr = np.concatenate([[0], np.cumsum(answered.sum(axis=1))])
        layout = {"rows": (indptr, numbers[answered])}
    return Responses(
        users=np.arange(m) if users is None else np.array(list(users), dtype=object),
        items=names[kept],
        option_labels=np.array(labels, dtype=np.int64),
        item_starts=np.array(starts),
        kind=kind,
        **layout,
    )


def random_table(
    seed: int | np.random.Generator,
    m: int,
    n: int,
    k: int | Table,
    *,
    missing: float = 0.0,
    graded: bool = True,
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


def random_answers(
    users: int = 12, items: int = 8, options: int = 4, missing: float = 0.0, seed: int = 0
) -> Table:
    """Users of rising ability choose option 0 (the right one) more and more often."""
    rng = np.random.default_rng(seed)
    ability = np.linspace(0.2, 0.9, users)[rng.permutation(users)]
    right = rng.random((users, items)) < ability[:, None]
    wrong = rng.integers(1, options, (users, items))
    answers = np.where(right, 0, wrong)
    answers[rng.random((users, items)) < missing] = -1
    answers[np.arange(users), rng.integers(0, items, users)] = 0  # everybody answers something
    return answers


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
