"""Write a simulation to files: responses, abilities and key; all three or none."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hitsndiffs.data.files import Writer, write_whole
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    import polars as pl

    from hitsndiffs.data.responses import Responses
    from hitsndiffs.irt.simulation import Simulation

__all__ = ["WRITTEN_FORMATS", "refuse_files", "write_simulation"]

WRITTEN_FORMATS = ("csv", "parquet")


def write_simulation(
    simulation: Simulation, directory: str | os.PathLike[str], format: str = "csv"
) -> list[Path]:
    """Write the responses, the abilities and the key.

    Dense responses are written wide (a row per user, a column per item, empty = no answer), sparse
    ones long (user, item, option). The files appear once all are complete.

    Parameters
    ----------
    simulation
        What :func:`~hitsndiffs.simulate` returned.
    directory
        Created if missing; existing files of these names are refused, not replaced.
    format
        ``"csv"`` or ``"parquet"``.

    Returns
    -------
    list of Path
        ``responses``, ``abilities`` and ``key``, with the ending of the format.

    Examples
    --------
    >>> import tempfile
    >>> from hitsndiffs.irt import simulate
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     [path.name for path in write_simulation(simulate("grm", users=9), folder)]
    ['responses.csv', 'abilities.csv', 'key.csv']
    """
    import polars as pl

    refuse_files(directory, format)
    tables: dict[str, Callable[[], pl.DataFrame]] = {
        "responses": lambda: _responses_table(simulation.responses),
        "abilities": lambda: pl.DataFrame(
            {
                "user": pl.Series(simulation.responses.users.tolist(), dtype=pl.String),
                "ability": simulation.abilities,
            }
        ),
        "key": lambda: pl.DataFrame(
            {"item": list(simulation.key), "answer": list(simulation.key.values())}
        ),
    }
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)

    def writer(make: Callable[[], pl.DataFrame]) -> Writer:
        if format == "csv":
            return lambda part: make().write_csv(part)
        return lambda part: make().write_parquet(part)

    files = {folder / f"{name}.{format}": writer(make) for name, make in tables.items()}
    write_whole(files)
    return list(files)


def refuse_files(directory: str | os.PathLike[str], format: str) -> None:
    """Refuse an unknown format, and a folder that already has these files."""
    if format not in WRITTEN_FORMATS:
        raise InputError(f"format must be one of {', '.join(WRITTEN_FORMATS)}; got {format!r}.")
    for name in ("responses", "abilities", "key"):
        path = Path(directory) / f"{name}.{format}"
        if os.path.lexists(path):
            raise InputError(
                f"{path}: this file is there already; name another folder, or remove it first."
            )


def _responses_table(responses: Responses) -> pl.DataFrame:
    import polars as pl

    users = pl.Series("user", responses.users.tolist(), dtype=pl.String)
    kinds = pl.Enum(sorted(set(responses.option_labels.tolist())))
    if not responses.is_dense:
        indptr, options = responses.rows
        items = pl.Enum(responses.items.tolist())
        answered = responses.option_items[options]
        return pl.DataFrame(
            {
                "user": users.gather(np.repeat(np.arange(len(users)), np.diff(indptr))),
                "item": pl.Series(responses.items.tolist(), dtype=items).gather(answered),
                "option": pl.Series(responses.option_labels.tolist(), dtype=kinds).gather(options),
            }
        )
    columns = [users]
    for number, codes in enumerate(responses.codes):
        first, last = responses.item_starts[number], responses.item_starts[number + 1]
        own = [*responses.option_labels[first:last].tolist(), None]  # the last one: no answer
        text = pl.Series(responses.items[number], own, dtype=kinds)
        columns.append(text.gather(np.minimum(codes, last - first)))
    return pl.DataFrame(columns)
