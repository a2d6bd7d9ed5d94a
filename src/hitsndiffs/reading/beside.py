"""What a file says beside the answers: which items belong together, and which users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hitsndiffs.errors import InputError

__all__ = ["item_groups", "two_columns", "user_groups"]


def item_groups(files: Sequence[Any], options: Mapping[str, Any], column: str) -> dict[str, str]:
    """What the items belong to, by a column of a table with one row per answer.

    Parameters
    ----------
    files, options
        The files of the answers, and how they are read.
    column
        Its name.
    """
    from hitsndiffs.reading import read_responses

    r = read_responses(list(files), **{**options, "option": column})
    # the usual one where a file names several
    usual = np.lexsort((-np.arange(r.n_options), r.choosers_per_option, r.option_items))
    labels = r.option_labels[usual[r.item_starts[1:] - 1]].astype(str).tolist()
    return dict(zip(map(str, r.items.tolist()), labels, strict=True))


def user_groups(files: Sequence[Any], options: Mapping[str, Any], column: str) -> dict[str, str]:
    """Which users belong together, by a column; see :func:`item_groups`."""
    from hitsndiffs.reading import read_file

    source = files[0] if len(files) == 1 else list(files)
    groups = read_file(source, **{**options, "group": column})[0].groups or {}
    return {str(user): str(group) for user, group in groups.items()}


def two_columns(path: Path, option: str, what: str) -> dict[str, str]:
    """The first two columns of a CSV or TSV file whose first row holds names."""
    import polars as pl

    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"{option}: {path}: cannot be read ({error.strerror}).") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{option}: {path}: this is not text in UTF-8.") from error
    separator = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        table = pl.read_csv(text.encode(), separator=separator, infer_schema=False)
    except (pl.exceptions.PolarsError, ValueError) as error:
        raise InputError(f"{option}: {path}: expected two columns, {what}; {error}.") from error
    if table.width < 2:
        raise InputError(f"{option}: {path}: expected two columns, {what}; there is {table.width}.")
    return dict(table.select(table.columns[:2]).iter_rows())
