"""Start other Python processes: none of them imports anything from the current folder.

A folder of data comes from other people, and a file ``signal.py`` in it must not be run. Python
puts the current folder first among the places that ``python -c`` and ``python -m`` import from, and
so do the processes that :mod:`multiprocessing` and Dask start.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["python_module", "safe_path"]

#: Python heeds this variable when it starts, and hands it on to what it starts itself.
SAFE_PATH = "PYTHONSAFEPATH"


def python_module(name: str) -> tuple[list[str], dict[str, str]]:
    """Return the command and environment to run a module of this package in another process.

    That process imports from the same places as this one, not from its current folder.
    """
    folders = [folder for folder in sys.path if folder]
    environment = {**os.environ, SAFE_PATH: "1", "PYTHONPATH": os.pathsep.join(folders)}
    return [sys.executable, "-P", "-m", name], environment


@contextmanager
def safe_path() -> Iterator[None]:
    """Within this context, a started Python imports nothing from the current folder.

    Examples
    --------
    >>> import subprocess
    >>> with safe_path():
    ...     done = subprocess.run([sys.executable, "-c", "import sys; print('' in sys.path)"],
    ...                           capture_output=True, text=True)
    >>> done.stdout.strip()
    'False'
    """
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(SAFE_PATH, None)
        else:
            os.environ[SAFE_PATH] = before
