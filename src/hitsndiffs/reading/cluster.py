"""Read files on a Dask cluster: each worker reads some of them."""

from __future__ import annotations

import glob
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from hitsndiffs.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from hitsndiffs.engines.dask import DaskEngine

__all__ = ["connect", "disconnect", "ended_if_stuck", "in_plain_words", "read_on_cluster"]

_PARQUET, _TEXT = (".parquet", ".pq"), {".csv": ",", ".tsv": "\t", ".tab": "\t"}
#: Seconds between two checks of the workers, and how long all of them may wait for memory.
LOOK, PATIENCE = 2.0, 60.0
#: Clients opened here, and to be closed here.
_ours: WeakSet[Any] = WeakSet()


def connect(scheduler: str | None = None, *, timeout: float = 10) -> Any:
    """Return a client: of the scheduler named, one already connected, or of a local cluster.

    Parameters
    ----------
    scheduler
        Its address, ``tcp://HOST:PORT``. Without one, a client already open in this process is
        used; failing that, a cluster is started here, with one worker process per core.
    timeout
        How many seconds to wait for the scheduler.
    """
    try:
        from distributed import Client, LocalCluster, get_client
    except ImportError as error:
        raise MissingExtraError(
            f"The dask engine needs Dask, which cannot be imported ({error}). Install it with: "
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
        from hitsndiffs.data.processes import safe_path

        with safe_path(), warnings.catch_warnings():  # the dashboard moves if its port is taken
            warnings.simplefilter("ignore", UserWarning)
            client = Client(LocalCluster(n_workers=available_cores(), threads_per_worker=1))
        _ours.add(client)
        return client


def disconnect(client: Any) -> None:
    """Close a client that :func:`connect` opened, and any cluster it started; ignore others."""
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
    here_up_to: int | None = None,
) -> DaskEngine:
    """Read Parquet, CSV or TSV files on the workers, which must see them under the same paths.

    Parameters
    ----------
    sources
        A file, a folder, a pattern with ``*``, or a list of these.
    client
        From :func:`connect`.
    layout, user, item, option, duplicates, here_up_to
        As for :func:`hitsndiffs.read_responses`.
    """
    from hitsndiffs.engines.dask_frames import engine_of_frame

    with in_plain_words(client):
        frame = _frame_of(_files(sources))
        try:
            return engine_of_frame(
                frame,
                client,
                layout=layout,
                user=user,
                item=item,
                option=option,
                duplicates=duplicates,
                as_text=True,
                here_up_to=here_up_to,
            )
        except (InputError, TimeoutError):
            raise
        except (OSError, ValueError):
            if hasattr(frame, "pieces"):  # find out which file it was
                client.gather(client.map(_try, frame.pieces(frame.columns), pure=False))
            raise


def _try(piece: Callable[[], Any]) -> None:
    """Read a piece, only for the error it may raise."""
    piece()


def _files(sources: Any) -> list[str]:
    """Return the files that the sources name, in order."""
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

    from hitsndiffs.reading.cluster_files import ParquetPieces, TextPieces

    endings = {Path(text).suffix.lower() for text in files}
    here = not any("://" in text for text in files)
    if endings <= set(_PARQUET):
        if here:
            return ParquetPieces(files)
        return dd.read_parquet(list(files), split_row_groups="adaptive")
    separators = {_TEXT.get(ending) for ending in endings}
    if len(separators) == 1 and None not in separators:
        separator = str(separators.pop())
        if here:
            return TextPieces(files, separator)
        return dd.read_csv(list(files), sep=separator, dtype=str, keep_default_na=False)
    raise InputError(
        f"The dask engine reads files of one kind at a time: Parquet, CSV or TSV; got files that "
        f"end in {', '.join(sorted(ending or 'nothing' for ending in endings))}."
    )


@contextmanager
def in_plain_words(client: Any) -> Iterator[None]:
    """Turn cluster failures into one-sentence errors; end waits that would last for ever."""
    from distributed import KilledWorker
    from distributed.comm import CommClosedError

    try:
        with nullcontext() if client is None else ended_if_stuck(client):
            yield
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(
            f"Workers do not have enough memory for their parts ({_first_line(error)}). Give "
            "workers more memory, or use more of them."
        ) from error
    except KilledWorker as error:
        raise InputError(
            f"Workers died repeatedly on the same task (the last was {error.last_worker.address}), "
            "most likely because they ran out of memory. Give workers more memory, or use more of "
            "them."
        ) from error
    except (CommClosedError, TimeoutError) as error:
        raise InputError(
            f"The connection to the Dask scheduler was lost ({_first_line(error)})."
        ) from error
    except (OSError, ValueError, UnicodeError) as error:
        raise InputError(f"A file cannot be read on the cluster: {_first_line(error)}.") from error


@contextmanager
def ended_if_stuck(client: Any, patience: float = PATIENCE, look: float = LOOK) -> Iterator[None]:
    """End the work of a block with a :class:`MemoryError` if it only waits for memory.

    A worker starts nothing new while its memory is nearly full. If that does not change, the caller
    would wait forever for a result, without any message.

    Parameters
    ----------
    client
        A connection to the scheduler.
    patience, look
        How many seconds work may stand still for lack of memory, and the seconds between checks.
    """
    from distributed import Future

    before = set(client.futures)  # these belong to others
    over, stuck = threading.Event(), threading.Event()

    def watch() -> None:
        since: float | None = None
        while not over.wait(look):
            try:
                waits = _waits_for_memory(client)
            except Exception:  # the scheduler is gone: Dask tells the caller
                continue
            since = (since or time.monotonic()) if waits else None
            if since is not None and time.monotonic() - since >= patience:
                stuck.set()
                states = list(client.futures.items())
                ours = [key for key, s in states if key not in before and s.status == "pending"]
                client.cancel([Future(key, client) for key in ours], reason="memory")

    watcher = threading.Thread(target=watch, daemon=True, name="hitsndiffs-watch")
    watcher.start()
    try:
        yield
    except BaseException as error:
        if stuck.is_set():
            raise MemoryError("they have stopped with their memory full") from error
        raise
    finally:
        over.set()
        watcher.join(look)


def _waits_for_memory(client: Any) -> bool:
    """Whether no worker is busy and some have paused because their memory is full."""
    workers = client.scheduler_info()["workers"].values()
    stopped = any(worker["status"] == "paused" for worker in workers)
    at_work = any(worker["metrics"]["task_counts"].get("executing") for worker in workers)
    return stopped and not at_work


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
