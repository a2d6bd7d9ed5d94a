"""Read CSV and TSV with one row per user quickly, in one pass over the bytes of each chunk.

A compiled kernel codes plain chunks (rows of the right width, no blank lines, no quotation marks
inside cells, fewer than 255 different answers to an item) without a parser or an object per cell.
A chunk with anything else is handed back whole.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.factor import Factor
from hitsndiffs.data.pool import available_cores
from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.source import Chunk, count_byte
from hitsndiffs.reading.sizes import DEFAULT, Sizes
from hitsndiffs.reading.tables.table import Columns

__all__ = ["TokenScanner"]

_SLOTS, _FEW_SLOTS = 512, 64
_MOST_TEXTS = 254


class TokenScanner:
    """Scans chunks of text with the compiled kernels; an :class:`ImportError` if there are none.

    ``names`` are those of all columns, ``items`` and ``user`` the columns wanted.
    """

    def __init__(
        self,
        names: Sequence[str],
        items: Sequence[str],
        user: str | None,
        separator: str,
        sizes: Sizes = DEFAULT,
    ) -> None:
        from hitsndiffs.data.compiling import is_switched_off

        if is_switched_off():
            raise ImportError("Numba is switched off")
        from hitsndiffs.reading.tables import token_kernels

        self._kernels = token_kernels
        numbers = {name: number for number, name in enumerate(items)}
        if user is not None:
            numbers[user] = token_kernels.USER
        self._columns = np.array(
            [numbers.get(name, token_kernels.LEFT_OUT) for name in names], dtype=np.int64
        )
        self._items, self._user = list(items), user
        self._mark = ord(separator)
        self._slots = _SLOTS if len(items) * _SLOTS * 8 <= sizes.tables else _FEW_SLOTS
        self._largest = sizes.largest_tables

    @property
    def fits(self) -> bool:
        """Whether the tables of a chunk are small enough, and there is more than one column."""
        return len(self._columns) > 1 and len(self._items) * self._slots * 8 <= self._largest

    def scan_all(self, chunks: Iterator[Chunk]) -> Iterator[tuple[Chunk, Columns | None]]:
        """Yield each chunk with its rows, scanning some chunks ahead on other threads."""
        threads = available_cores()
        waiting: deque[tuple[Chunk, Future[Columns | None]]] = deque()
        failed: list[InputError] = []
        with ThreadPoolExecutor(threads, thread_name_prefix="hitsndiffs") as pool:
            try:
                for chunk in _up_to_failure(chunks, failed):
                    waiting.append((chunk, pool.submit(self.scan, chunk)))
                    while len(waiting) > threads or (waiting and waiting[0][1].done()):
                        yield _taken(waiting)
                while waiting:
                    yield _taken(waiting)
            finally:
                for _, future in waiting:
                    future.cancel()
        for error in failed:
            raise error

    def scan(self, chunk: Chunk) -> Columns | None:
        """Return the columns of a chunk of whole lines: factors, and a list of the users' names.

        None if the chunk is not plain.
        """
        text = chunk.data if chunk.data.endswith(b"\n") else chunk.data + b"\n"
        data = np.frombuffer(text, dtype=np.uint8)
        n_rows = count_byte(text, b"\n")
        places = np.empty((len(self._items), _stride(n_rows)), dtype=np.uint8)
        counts = np.zeros(len(self._items), dtype=np.int64)
        begins, ends = (np.empty((len(self._items), _MOST_TEXTS), dtype=np.int64) for _ in range(2))
        names = np.empty(0 if self._user is None else len(text) + 1, dtype=np.uint8)
        report = np.zeros(3, dtype=np.int64)
        self._kernels.scan_cells(
            data,
            self._columns,
            self._mark,
            places,
            np.full((len(self._items), 256), self._kernels.NO_PLACE, dtype=np.uint8),
            np.zeros((len(self._items), self._slots), dtype=np.uint64),
            np.empty((len(self._items), self._slots), dtype=np.uint8),
            begins,
            ends,
            counts,
            min(_MOST_TEXTS, self._slots * 3 // 4),
            names,
            report,
        )
        _, n_bytes, plain = report.tolist()
        if not plain:
            return None
        texts = [
            [text[begin:end].decode() for begin, end in zip(*cells, strict=True)]
            for cells in zip(_cut(begins, counts), _cut(ends, counts), strict=True)
        ]
        found: Columns = {
            item: Factor(own, row[:n_rows])
            for item, own, row in zip(self._items, texts, places, strict=True)
        }
        if self._user is not None:
            # Every name is followed by a line end, including the last.
            written = names[: max(n_bytes - 1, 0)].tobytes().decode()
            found[self._user] = written.split("\n") if n_rows else []
        return found


def _up_to_failure(chunks: Iterator[Chunk], failed: list[InputError]) -> Iterator[Chunk]:
    """Yield chunks, and keep an error for later: an earlier chunk may be wrong too."""
    try:
        yield from chunks
    except InputError as error:
        failed.append(error)


def _taken(
    waiting: deque[tuple[Chunk, Future[Columns | None]]],
) -> tuple[Chunk, Columns | None]:
    chunk, future = waiting.popleft()
    return chunk, future.result()


def _stride(n_rows: int) -> int:
    """Return room for this many rows, an odd number of cache lines.

    The kernel writes to a row of every item in turn. If these were a power of two apart, they would
    compete for the same few cache lines.
    """
    return (-(-n_rows // 64) | 1) * 64


def _cut(table: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> list[list[int]]:
    return [row[:count].tolist() for row, count in zip(table, counts.tolist(), strict=True)]
