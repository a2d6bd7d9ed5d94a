"""Engines, which hold the answers and compute sums over them (:class:`Engine`)."""

from __future__ import annotations

import logging
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

from hitsndiffs.data.pool import check_threads
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines.base import Engine, scaled
from hitsndiffs.engines.compiling import is_switched_off
from hitsndiffs.errors import InputError, MissingExtraError

__all__ = ["ENGINES", "Engine", "is_dask_frame", "open_engine", "scaled"]

ENGINES = ("auto", "numpy", "threads", "cupy", "dask")

#: From this many responses on, the threaded engine is clearly faster; compiling its kernels takes a
#: few seconds, once.
THREADS_FROM = 2_000_000

logger = logging.getLogger("hitsndiffs")

#: Engines in use (a ranking holds its own), so that the answers are packed only once.
_in_use: WeakKeyDictionary[Responses, WeakValueDictionary[tuple[str, int | None], Engine]]
_in_use = WeakKeyDictionary()


def open_engine(
    data: Responses | Engine,
    engine: str = "auto",
    threads: int | None = None,
    *,
    threads_from: int = THREADS_FROM,
) -> Engine:
    """Return an engine for some responses (an engine is returned as is).

    Parameters
    ----------
    data
        The answers.
    engine
        ``"numpy"`` (SciPy's sparse products), ``"threads"`` (packed bytes, Numba), ``"cupy"`` (a
        GPU) or ``"auto"``: threads for large data if Numba can be imported, else numpy.
    threads
        Number of threads (default: all cores). The results are the same for any number.
    threads_from
        From this many responses on, data count as large.

    Examples
    --------
    >>> import numpy as np
    >>> r = Responses.from_wide([["A", "B"], ["A", "C"], ["B", None]])
    >>> open_engine(r).choices(np.array([1.0, 10.0, 100.0, 1000.0])).tolist()
    [101.0, 1001.0, 10.0]
    """
    if isinstance(data, Engine):
        return data
    if engine not in ENGINES:
        raise InputError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}.")
    check_threads(threads)
    known = _in_use.setdefault(data, WeakValueDictionary())
    found = known.get((engine, threads))
    if found is None:
        known[engine, threads] = found = _made(data, engine, threads, threads_from)
    return found


def _made(responses: Responses, asked: str, threads: int | None, threads_from: int) -> Engine:
    if asked == "threads" or (asked == "auto" and _is_large(responses, threads_from)):
        try:
            from hitsndiffs.engines.threads import ThreadsEngine

            return ThreadsEngine(responses, threads, asked=asked)
        except ImportError as error:
            if asked == "threads":
                raise MissingExtraError(
                    f"The threads engine needs Numba, which cannot be imported ({error}). "
                    "Install it, or use the numpy engine."
                ) from error
            logger.info("Numba cannot be imported (%s): using the slower engine.", error)
    if asked == "cupy":
        return _on_gpu(responses, threads)
    if asked == "dask":
        raise InputError(
            "The dask engine reads the data itself: give it a Dask frame, or the files. For "
            "answers that are in memory already, the auto engine is faster."
        )
    from hitsndiffs.engines.numpy import NumpyEngine

    return NumpyEngine(responses, threads, asked=asked)


def _on_gpu(responses: Responses, threads: int | None) -> Engine:
    try:
        import cupy

        n_devices = cupy.cuda.runtime.getDeviceCount()
    except ImportError as error:
        raise MissingExtraError(
            f"The cupy engine needs CuPy, which cannot be imported ({error}). Install it with: "
            "pip install 'hitsndiffs[gpu]'"
        ) from error
    except Exception as error:  # CuPy's own errors, for a missing driver or device
        raise InputError(
            f"The cupy engine needs an NVIDIA GPU and its driver, and found none ({error}). Use "
            "the threads engine."
        ) from error
    if not n_devices:
        raise InputError(
            "The cupy engine needs an NVIDIA GPU, and there is none. Use the threads engine."
        )
    from hitsndiffs.engines.cupy import CupyEngine

    return CupyEngine(responses, threads)


def _is_large(responses: Responses, threads_from: int) -> bool:
    cells = responses.n_users * responses.n_items
    stored = cells if responses.is_dense else len(responses.rows[1])
    return stored >= threads_from and not is_switched_off()


def is_dask_frame(table: Any) -> bool:
    """Whether a table is a Dask frame (Dask is not imported to find out)."""
    kind = type(table)
    return kind.__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(table, "dask")
