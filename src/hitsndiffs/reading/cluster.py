"""Files that the workers of a Dask cluster read themselves, each some of them."""

from __future__ import annotations

import glob
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from hitsndiffs.errors import InputError, MissingExtraError
from hitsndiffs.reading.parquet import damaged
from hitsndiffs.reading.quiet import without_panics

if TYPE_CHECKING:
    from hitsndiffs.engines.dask import DaskEngine

__all__ = ["connect", "disconnect", "in_plain_words", "read_on_cluster"]

_PARQUET, _TEXT = (".parquet", ".pq"), {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: Text files are read in pieces of about this size.
PIECES = "64MB"
#: Cells of a Parquet file that make a part.
CELLS = 25_000_000
#: Clients that were made here, and are to be closed here.
_ours: WeakSet[Any] = WeakSet()


def connect(scheduler: str | None = None, *, timeout: float = 10) -> Any:
    """A client of a scheduler: the one named, one that is connected already, or a local cluster.

    Parameters
    ----------
    scheduler
        Its address, ``tcp://HOST:PORT``. Without one, a client that is open in this process is
        used; else a cluster is started on this machine, one worker process per core.
    timeout
        How many seconds to wait for the scheduler.
    """
    try:
        from distributed import Client, LocalCluster, get_client
    except ImportError as error:
        raise MissingExtraError(
            f"The engine dask needs Dask, which cannot be imported ({error}). Install it with: "
            "pip install 'hitsndiffs[dask]'"
        ) from error
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout=timeout)
        except (OSError, ValueError) as error:
            raise InputError(
                f"No Dask scheduler answers at {scheduler} ({_first_line(error)}). Start one with "
                "'dask scheduler' and workers with 'dask worker', or leave the scheduler out to "
                "work on this machine alone."
            ) from error
        if not client.scheduler_info()["workers"]:
            client.close()
            raise InputError(
                f"The Dask scheduler at {scheduler} has no workers; start some with "
                f"'dask worker {scheduler}'."
            )
        _ours.add(client)
        return client
    try:
        return get_client()
    except ValueError:
        from hitsndiffs.data.pool import available_cores

        with warnings.catch_warnings():  # the usual port is taken: the dashboard has another
            warnings.simplefilter("ignore", UserWarning)
            client = Client(LocalCluster(n_workers=available_cores(), threads_per_worker=1))
        _ours.add(client)
        return client


def disconnect(client: Any) -> None:
    """Close a client of :func:`connect`, and a cluster that it started; others are left alone."""
    if client in _ours:
        cluster = client.cluster
        client.close()
        if cluster is not None:
            cluster.close()


def read_on_cluster(
    sources: Any,
    client: Any,
    *,
    layout: str = "auto",
    user: str | None = None,
    item: str | None = None,
    option: str | None = None,
    duplicates: str = "error",
) -> DaskEngine:
    """Read Parquet, CSV or TSV files on the workers, which must see them under the same paths.

    Parameters
    ----------
    sources
        A file, a folder, a pattern with ``*``, or a list of these.
    client
        From :func:`connect`.
    layout, user, item, option, duplicates
        As for :func:`hitsndiffs.read_responses`.
    """
    from hitsndiffs.engines.dask_frames import engine_of_frame

    with in_plain_words():
        return engine_of_frame(
            _frame_of(_files(sources)),
            client,
            layout=layout,
            user=user,
            item=item,
            option=option,
            duplicates=duplicates,
            as_text=True,
        )


def _files(sources: Any) -> list[str]:
    """The files that are meant, in their order."""
    found: list[str] = []
    for source in [sources] if isinstance(sources, str | os.PathLike) else list(sources):
        text = os.fspath(source)
        if "://" in text:
            found.append(text)
        elif Path(text).is_dir():
            found += sorted(
                str(path)
                for path in Path(text).iterdir()
                if path.suffix.lower() in (*_PARQUET, *_TEXT) and not path.name.startswith(".")
            )
        elif glob.has_magic(text):
            found += sorted(glob.glob(text))
        else:
            found.append(text)
    if not found:
        raise InputError(f"There is no Parquet, CSV or TSV file at {sources}.")
    for text in found:
        if "://" not in text and not Path(text).is_file():
            raise InputError(f"There is no file {text}.")
    return found


def _frame_of(files: Sequence[str]) -> Any:
    import dask.dataframe as dd

    endings = {Path(text).suffix.lower() for text in files}
    if endings <= set(_PARQUET):
        if any("://" in text for text in files):
            return dd.read_parquet(list(files), split_row_groups="adaptive")
        return ParquetPieces(files)
    if len(endings) == 1 and endings <= set(_TEXT):
        return dd.read_csv(
            list(files),
            sep=_TEXT[endings.pop()],
            dtype=str,
            keep_default_na=False,
            blocksize=PIECES,
        )
    raise InputError(
        f"The engine dask reads files of one kind at a time: Parquet, CSV or TSV; got files that "
        f"end in {', '.join(sorted(ending or 'nothing' for ending in endings))}."
    )


class ParquetPieces:
    """Parquet files, cut into pieces that workers read with Polars.

    Through Dask's own frames, which are of pandas, it takes three times as long.

    Parameters
    ----------
    files
        Paths that the workers see too, in the order of the users.
    """

    def __init__(self, files: Sequence[str]) -> None:
        import pyarrow
        import pyarrow.parquet

        self.files, self.rows = list(files), []
        self.columns: list[str] = []
        for text in self.files:
            # a broken file is found by its end, before any work is done
            try:
                with pyarrow.parquet.ParquetFile(text) as file:
                    names, rows = file.schema_arrow.names, file.metadata.num_rows
            except (OSError, pyarrow.ArrowException) as error:
                raise InputError(
                    f"{text} cannot be read as Parquet ({_first_line(error)}); write it again, or "
                    "take it out."
                ) from error
            if self.columns and names != self.columns:
                raise InputError(
                    f"{text} has other columns than {self.files[0]}: "
                    f"{_difference(names, self.columns)}. Files that are ranked together need the "
                    "same columns."
                )
            self.columns = names
            self.rows.append(rows)

    def head(self, names: list[str]) -> Any:
        """The first rows of some columns."""
        return read_rows(self.files[0], 0, 1000, names)

    def to_delayed(self, names: list[str]) -> list[Any]:
        """The pieces with some columns, to be read by the workers."""
        from dask.delayed import delayed

        most = max(1, CELLS // max(len(names), 1))
        found = []
        for text, rows in zip(self.files, self.rows, strict=True):
            pieces = -(-rows // most)
            cuts = [rows * n // max(pieces, 1) for n in range(pieces + 1)]
            found += [
                delayed(read_rows, pure=False)(text, first, last - first, names)
                for first, last in pairwise(cuts)
            ]
        return found

    def to_frame(self) -> Any:
        """The files as a Dask frame."""
        import dask.dataframe as dd

        return dd.read_parquet(self.files, split_row_groups="adaptive")


def read_rows(path: str, first: int, count: int, names: list[str]) -> Any:
    """Some rows and columns of a Parquet file, as a frame of Polars."""
    import polars as pl

    try:
        with without_panics():
            return pl.scan_parquet(path).select(names).slice(first, count).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise damaged(path, error) from None


def _difference(names: list[str], wanted: list[str]) -> str:
    more, fewer = sorted(set(names) - set(wanted)), sorted(set(wanted) - set(names))
    parts = [f"{', '.join(more[:3])} besides"] if more else []
    parts += [f"{', '.join(fewer[:3])} missing"] if fewer else []
    return " and ".join(parts) or "another order"


@contextmanager
def in_plain_words() -> Iterator[None]:
    """Say in one sentence what went wrong on the cluster."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        yield
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(
            f"A worker has not enough memory for its part ({_first_line(error)}). Give workers "
            "more memory, or use more of them."
        ) from error
    except KilledWorker as error:
        raise InputError(
            "Workers died again and again at the same piece of work, most likely for want of "
            f"memory ({_first_line(error)}). Give them more memory, or use more and smaller "
            "files."
        ) from error
    except (CommClosedError, TimeoutError) as error:
        raise InputError(
            f"The connection to the Dask scheduler was lost ({_first_line(error)})."
        ) from error
    except (OSError, ValueError, UnicodeError) as error:
        raise InputError(f"A file cannot be read on the cluster: {_first_line(error)}.") from error


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
