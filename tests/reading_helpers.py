"""What the tests of tables and files share."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from hitsndiffs.data.responses import Responses
from hitsndiffs.reading.sizes import Sizes

#: How each kind of table is made from a mapping of columns.
KINDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table, "numpy": dict}

WIDE = "student,q1,q2,q3\nann,A,1,x\nbob,B,2,\ncat,A,,y\n"


def content(r: Responses) -> tuple[object, ...]:
    """Everything that the data say, whatever layout and kind they are held in."""
    indptr, options = r.rows
    labels = r.option_labels.tolist()
    return (
        r.users.tolist(),
        r.items.tolist(),
        labels,
        r.item_starts.tolist(),
        indptr.tolist(),
        options.tolist(),
    )


def answers(r: Responses) -> dict[tuple[object, object], object]:
    """(user, item) -> option, for every answer."""
    found = {}
    for i, item in enumerate(r.items.tolist()):
        for j, user in enumerate(r.users.tolist()):
            code = r.codes[i, j]
            if code != np.iinfo(r.codes.dtype).max:
                found[user, item] = r.option_labels[r.item_starts[i] + code]
    return found


def as_if_large(chunk: int | None) -> Sizes:
    """Sizes by which small files are read as large ones are; None for the usual ones."""
    return Sizes() if chunk is None else Sizes(small=0, chunk=chunk, short=0, threaded=0)


def as_parquet(text: str) -> bytes:
    out = io.BytesIO()
    pl.read_csv(text.encode()).write_parquet(out)
    return out.getvalue()
