"""Convert many files with several processes, each a separate program.

A :mod:`multiprocessing` pool would either fork a process that has threads (Polars) or run the
caller's script a second time; ``python -m hitsndiffs.reading.file_worker`` does neither.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from hitsndiffs.data.processes import python_module

__all__ = ["in_processes"]


def in_processes(function: Callable[[Any], Any], tasks: Sequence[Any], n: int) -> list[Any]:
    """Call a function of this package on each task, in several processes; keep the order.

    Examples
    --------
    >>> from hitsndiffs.reading.streams import set_label
    >>> in_processes(set_label, [["B", "A"], ["C"]], 2)
    ['A; B', 'C']
    """
    shares = [list(tasks[k::n]) for k in range(n)]
    name = (function.__module__, function.__qualname__)
    with ThreadPoolExecutor(n) as pool:
        found = list(pool.map(lambda share: _run(name, share), shares))
    results: list[Any] = [None] * len(tasks)
    for k, share in enumerate(found):
        results[k::n] = share
    return results


def _run(name: tuple[str, str], tasks: list[Any]) -> list[Any]:
    command, environment = python_module("hitsndiffs.reading.file_worker")
    done = subprocess.run(
        command,
        env=environment,
        input=pickle.dumps((name, tasks)),
        capture_output=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-500:])
    results, error = pickle.loads(done.stdout)
    if error is not None:
        raise error
    return list(results)


def _work() -> None:
    import importlib

    (module, function), tasks = pickle.load(sys.stdin.buffer)
    call = getattr(importlib.import_module(module), function)
    results, error = [], None
    try:
        results = [call(task) for task in tasks]
    except ValueError as fault:  # the caller reports an InputError
        error = fault
    sys.stdout.buffer.write(pickle.dumps((results, error)))


if __name__ == "__main__":
    _work()
