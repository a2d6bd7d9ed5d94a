"""Columns of short texts in Polars to places, straight from the memory in which they lie.

Polars holds a text as a view of 16 bytes (Arrow's layout), and a text of up to 12 bytes in the view
itself: two whole numbers that a compiled kernel compares and numbers, without the interpreter.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, c_char_p, c_int, c_int64, c_void_p
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.encoding.options import in_order, normalise

if TYPE_CHECKING:
    import polars as pl

__all__ = ["number_texts"]

_SLOTS, _MOST = 512, 254
_HEAD = 4000
_TEXT_VIEWS = b"vu"


class _Schema(ctypes.Structure):
    """Arrow's description of a column (C data interface)."""


class _Array(ctypes.Structure):
    """Arrow's column, or a piece of it."""


class _Stream(ctypes.Structure):
    """Arrow's pieces of a column, one after the other."""


_Schema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", ctypes.CFUNCTYPE(None, POINTER(_Schema))),
    ("private_data", c_void_p),
]
_Array._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", c_void_p),
    ("dictionary", c_void_p),
    ("release", ctypes.CFUNCTYPE(None, POINTER(_Array))),
    ("private_data", c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(c_int, POINTER(_Stream), POINTER(_Array))),
    ("get_last_error", c_void_p),
    ("release", c_void_p),
    ("private_data", c_void_p),
]


_address = ctypes.PYFUNCTYPE(c_void_p, ctypes.py_object, c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


class _Views(NamedTuple):
    """A piece of a column: the views, and a bit for each that is not null (or nothing)."""

    views: npt.NDArray[np.uint64]
    valid: npt.NDArray[np.uint8]
    first_bit: int


def _pieces(series: pl.Series) -> Iterator[_Views]:
    """Yield the memory of a column of texts; each piece may be read until the next is asked for.

    Raises
    ------
    ValueError
        Where this version of Polars hands texts over in another layout.
    """
    capsule = series.__arrow_c_stream__()
    stream: Any = ctypes.cast(_address(capsule, b"arrow_array_stream"), POINTER(_Stream))
    schema: Any = _Schema()
    if stream.contents.get_schema(stream, ctypes.byref(schema)) != 0:
        raise ValueError("Polars gives no description of the column")
    layout = schema.format
    schema.release(ctypes.byref(schema))
    if layout != _TEXT_VIEWS:
        raise ValueError(f"expected a column of text views; got the layout {layout!r}")
    while True:
        piece: Any = _Array()
        if stream.contents.get_next(stream, ctypes.byref(piece)) != 0:
            raise ValueError("Polars does not hand the column over")
        if not piece.release:
            return
        try:
            if piece.length:
                yield _memory(piece)
        finally:
            piece.release(ctypes.byref(piece))


def _memory(piece: Any) -> _Views:
    begin, end = piece.offset, piece.offset + piece.length
    valid_at, views_at = piece.buffers[0], piece.buffers[1]
    valid = np.empty(0, dtype=np.uint8)
    if piece.null_count != 0 and valid_at:
        n_bytes = (end + 7) // 8
        valid = np.ctypeslib.as_array((ctypes.c_uint8 * n_bytes).from_address(valid_at))
    words = np.ctypeslib.as_array((ctypes.c_uint64 * (2 * end)).from_address(views_at))
    return _Views(words.reshape(-1, 2)[begin:], valid, begin)


class _Table:
    """The different texts of a column, numbered as they come."""

    def __init__(self) -> None:
        from hitsndiffs.data.encoding import kernels

        self._kernel = kernels.number_views
        self._views = np.empty((_MOST, 2), dtype=np.uint64)
        self._letters = np.full(256, kernels.NO_PLACE, dtype=np.uint8)
        self._slots = np.full(_SLOTS, kernels.NO_PLACE, dtype=np.uint8)
        self._report = np.zeros(2, dtype=np.int64)

    def number(self, piece: _Views, places: npt.NDArray[np.uint8]) -> bool:
        """Write each cell's place (255: null); False when there are long texts, or too many."""
        self._kernel(*piece, self._views, self._letters, self._slots, _MOST, places, self._report)
        return bool(self._report[1])

    def texts(self) -> list[str]:
        """Return the texts in the order of their places."""
        views = self._views[: self._report[0]]
        lengths = (views[:, 0] & np.uint64(0xFFFFFFFF)).tolist()
        return [
            view[4 : 4 + length].decode()
            for view, length in zip(map(bytes, views), lengths, strict=True)
        ]

    def put_in_order(self) -> None:
        """Give the texts places in the order of their options; those that are none come last."""
        options = [normalise(text) for text in self.texts()]
        answers = [k for k, option in enumerate(options) if option is not None]
        order = [answers[k] for k in in_order([o for o in options if o is not None])]
        order += [k for k, option in enumerate(options) if option is None]
        moved = np.arange(256, dtype=np.uint8)
        moved[order] = np.arange(len(order))
        self._letters, self._slots = moved[self._letters], moved[self._slots]
        self._views[: len(order)] = self._views[order]


def number_texts(series: pl.Series) -> tuple[list[str], npt.NDArray[np.uint8]] | None:
    """Return the different texts of a column, and each cell's place among them (255: null).

    The texts of the first rows come in the order of their options, so that the places are most
    often the codes. None for a column that is not of a few short texts, and where there are no
    compiled kernels to be had.

    Examples
    --------
    >>> import polars as pl
    >>> texts, places = number_texts(pl.Series(["b", "a", None, "b"]))
    >>> texts, places.tolist()
    (['a', 'b'], [1, 0, 255, 1])
    """
    if not _can_be_numbered():
        return None
    table = _Table()
    places = np.empty(len(series), dtype=np.uint8)
    done = 0
    try:
        for piece in _pieces(series):
            part = places[done : done + len(piece.views)]
            if done == 0:
                first = piece._replace(views=piece.views[:_HEAD])
                if not table.number(first, part[:_HEAD]):
                    return None
                table.put_in_order()
            if not table.number(piece, part):
                return None
            done += len(part)
    except ValueError:
        return None
    return table.texts(), places


def _can_be_numbered() -> bool:
    from hitsndiffs.data.compiling import is_switched_off

    if is_switched_off():
        return False
    try:
        from hitsndiffs.data.encoding import kernels as kernels
    except ImportError:
        return False
    return True
