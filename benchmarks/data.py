"""Graded answers of any size, quickly: in memory, or as CSV and Parquet files.

The paper's graded-response model (abilities uniform on [0, 1], slopes on [0, 10], thresholds on
[-0.5, 0.5] as in its Section IV), with abilities in 256 steps and chances in 256 steps, so that an
answer costs a few look-ups. Option A is the best one of every item.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses

__all__ = ["graded_codes", "graded_responses", "write_csv", "write_parquet"]

LETTERS = "ABCDEFGH"
STEPS = 256
BLOCK = 1_000_000


def graded_codes(
    users: int,
    items: int = 100,
    options: int = 3,
    seed: int = 0,
    first_block: int = 0,
    steepest: float = 10.0,
) -> npt.NDArray[np.uint8]:
    """Codes (items × users), 0 for the best option; the items depend on the seed only."""
    rng = np.random.default_rng(seed)
    slopes = rng.uniform(0, steepest, items)
    thresholds = np.sort(rng.uniform(-0.5, 0.5, (items, options - 1)), axis=1)
    rng = np.random.default_rng([seed, first_block])
    ability = rng.integers(0, STEPS, users, dtype=np.uint8)
    levels = (np.arange(STEPS) + 0.5) / STEPS - 0.5
    codes = np.full((items, users), options - 1, dtype=np.uint8)
    for i in range(items):
        chance = rng.integers(0, STEPS, users, dtype=np.uint8)
        for threshold in thresholds[i]:
            above = STEPS / (1 + np.exp(slopes[i] * (threshold - levels)))
            codes[i] -= chance < np.minimum(above, STEPS - 1).astype(np.uint8)[ability]
    return codes


def graded_responses(
    users: int,
    items: int = 100,
    options: int = 3,
    seed: int = 0,
    steepest: float = 10.0,
    *,
    turned: bool = False,
) -> Responses:
    """The same as Responses; every option has to be chosen by somebody.

    Turned, the best option has another letter in every item, as in a test.
    """
    codes = graded_codes(users, items, options, seed, steepest=steepest)
    if turned:
        codes = (codes + np.arange(items, dtype=np.uint8)[:, None]) % np.uint8(options)
    codes[:, :options] = np.arange(options, dtype=np.uint8)
    return Responses(
        users=np.arange(users),
        items=np.arange(items),
        option_labels=np.tile(np.arange(options), items),
        item_starts=np.arange(items + 1) * options,
        codes=codes,
    )


def write_parquet(path: Path, users: int, items: int = 100, options: int = 3) -> None:
    """A wide Parquet file with user names and letters, written a million users at a time."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    letters = pa.array(list(LETTERS[:options]))
    schema = pa.schema([("user", pa.string())] + [(f"q{i}", pa.string()) for i in range(items)])
    with pq.ParquetWriter(path, schema) as writer:
        for block, first in enumerate(range(0, users, BLOCK)):
            count = min(BLOCK, users - first)
            columns = [pa.array(_names(first, count))]
            for codes in graded_codes(count, items, options, first_block=block):
                columns.append(letters.take(pa.array(codes)))  # noqa: PERF401
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def write_csv(path: Path, parquet: Path) -> None:
    """The same table as CSV."""
    import polars as pl

    pl.scan_parquet(parquet).sink_csv(path)


def _names(first: int, count: int) -> list[str]:
    return [f"student-{k}" for k in range(first + 1, first + count + 1)]
