"""Files that the workers of a Dask cluster read themselves, each some of them."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from hitsndiffs.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from hitsndiffs.engines.dask import DaskEngine

__all__ = ["connect", "disconnect", "in_plain_words", "is_dask_frame", "read_on_cluster"]

_PARQUET, _TEXT = (".parquet", ".pq"), {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: Text files are read in pieces of about this size.
PIECES = "64MB"
#: Clients that were made here, and are to be closed here.
_ours: WeakSet[Any] = WeakSet()


def is_dask_frame(table: Any) -> bool:
    """Whether a table is a Dask frame (Dask is not imported to find out)."""
    kind = type(table)
    return kind.__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(table, "dask")


def connect(scheduler: str | None = None) -> Any:
    """A client of a scheduler: the one named, one that is connected already, or a local cluster.

    Parameters
    ----------
    scheduler
        Its address, ``tcp://HOST:PORT``. Without one, a client that is open in this process is
        used; else a cluster is started on this machine, one worker process per core.
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
            client = Client(scheduler, timeout=10)
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
        _check_parquet(files)
        return dd.read_parquet(list(files), split_row_groups="adaptive")
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


def _check_parquet(files: Sequence[str]) -> None:
    """A broken file is found by its end, before any work is done."""
    import pyarrow
    import pyarrow.parquet

    first: tuple[str, list[str]] | None = None
    for text in files:
        if "://" in text:
            continue
        try:
            names = pyarrow.parquet.read_schema(text).names
        except (OSError, pyarrow.ArrowException) as error:
            raise InputError(
                f"{text} cannot be read as Parquet ({_first_line(error)}); write it again, or take "
                "it out."
            ) from error
        if first is None:
            first = text, names
        elif names != first[1]:
            raise InputError(
                f"{text} has other columns than {first[0]}: {_difference(names, first[1])}. Files "
                "that are ranked together need the same columns."
            )


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
