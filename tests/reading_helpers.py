"""What the tests of tables and files share."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from hitsndiffs.data.encoding import series
from hitsndiffs.data.responses import Responses
from hitsndiffs.reading import build, delimited, source

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


def as_if_large(patch, chunk: int) -> None:
    """Read small files as large ones are read."""
    patch.setattr(delimited, "_SMALL", 0)
    patch.setattr(source, "CHUNK", chunk)
    patch.setattr(series, "_SHORT", 0)
    patch.setattr(build, "_THREADS_FROM", 0)


def as_parquet(text: str) -> bytes:
    out = io.BytesIO()
    pl.read_csv(text.encode()).write_parquet(out)
    return out.getvalue()
