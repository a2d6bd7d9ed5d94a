"""Tables out, in the kind of frame that came in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["to_frame"]


def to_frame(columns: Mapping[str, Any], kind: str) -> Any:
    """Make a table of some columns.

    Parameters
    ----------
    columns
        Name → values.
    kind
        ``"pandas"``, ``"pyarrow"``, or anything else for Polars.
    """
    plain = {name: _plain(values) for name, values in columns.items()}
    if kind == "pandas":
        import pandas as pd

        return pd.DataFrame(plain)
    if kind == "pyarrow":
        import pyarrow as pa

        return pa.table(plain)
    import polars as pl

    return pl.DataFrame(plain, strict=False)


def _plain(values: Any) -> Any:
    """Labels may be NumPy objects of one type: give the frame library the real type."""
    if isinstance(values, np.ndarray) and values.dtype == object:
        return values.tolist()
    return values
