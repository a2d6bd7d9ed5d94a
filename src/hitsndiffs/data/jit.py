"""Compiled kernels: made by Numba once, kept on disk as machine code, loaded without Numba.

Importing Numba and letting it load its own cache takes more than a second, most of it for parts
that no kernel needs. Here Numba is imported only to compile; the machine code of all kernels of a
module is then kept in one file, and from the next time on llvmlite (which Numba stands on) loads
it in a few milliseconds. Kernels are called through ctypes, without the interpreter's lock.

A kernel takes C-ordered arrays and whole or real numbers, returns nothing, and allocates nothing
(what it needs to work with is passed in). Importing a module of kernels imports neither library.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data import machine_code
from hitsndiffs.data.machine_code import NEVER_CALLED, NOTHING, Code, target_machine

__all__ = ["FLOAT", "INT", "array", "is_switched_off", "kernel", "load", "read_only"]

logger = logging.getLogger("hitsndiffs")

#: The types of plain numbers.
INT, FLOAT = "int64", "float64"

#: What Numba calls the end of an array that owns its memory; no array here does.
_END_OF_OWNER = "NRT_MemInfo_call_dtor"


@dataclass(frozen=True)
class ArrayType:
    """A C-ordered array of a kernel's arguments."""

    dtype: np.dtype[Any]
    ndim: int
    writes: bool

    @cached_property
    def _kind(self) -> str:
        return self.dtype.str

    def parts(self, given: npt.NDArray[Any]) -> tuple[int | None, ...]:
        """Return what a kernel gets for an array: owner (none), sizes, address, shape, strides."""
        seen = given.__array_interface__  # one look instead of many: this is called very often
        shape, (address, frozen) = seen["shape"], seen["data"]
        if (
            seen["typestr"] != self._kind
            or len(shape) != self.ndim
            or seen["strides"] is not None
            or (frozen and self.writes)
        ):
            raise TypeError(
                f"a kernel takes {self.ndim}-dimensional C-ordered {self.dtype} here"
                f"{', writeable' if self.writes else ''}; got {given.ndim}-dimensional "
                f"{given.dtype}{'' if given.flags.c_contiguous else ', not C-ordered'}"
                f"{'' if given.flags.writeable else ', read-only'}."
            )
        return (None, None, given.size, given.itemsize, address, *shape, *given.strides)


def read_only(dtype: npt.DTypeLike, ndim: int) -> ArrayType:
    """The type of a C-ordered input array (frozen arrays and others are taken alike)."""
    return ArrayType(np.dtype(dtype), ndim, writes=False)


def array(dtype: npt.DTypeLike, ndim: int) -> ArrayType:
    """The type of a C-ordered array that a kernel writes to."""
    return ArrayType(np.dtype(dtype), ndim, writes=True)


ArgumentType = ArrayType | str


def kernel(
    *argument_types: ArgumentType, also: tuple[ArgumentType, ...] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a kernel, which is compiled (or loaded) when it is first called.

    Parameters
    ----------
    *argument_types
        The types of the arguments: :func:`array`, :func:`read_only`, :data:`INT`, :data:`FLOAT`.
        None for a helper that is compiled where it is called.
    also
        A second list of argument types to compile for; the types of the arrays decide.
    """

    def registered(function: Callable[..., None]) -> Callable[..., None]:
        library = _libraries.setdefault(function.__module__, _Library(function.__module__))
        if not argument_types:
            library.helpers.append(function)
            return function
        made = [Kernel(function, argument_types, library)]
        if also is not None:
            made.append(Kernel(function, also, library))
        library.kernels += made
        return made[0] if also is None else _OneOf(made)

    return registered


def is_switched_off() -> bool:
    """Whether the user wants no compiled code (Numba's own variable): kernels are plain Python."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") != "0"


def load(module: str) -> None:
    """Compile the kernels of a module, or take them from the disk.

    Raises
    ------
    ImportError
        Where Numba cannot be imported.
    """
    _libraries[module].load()


class Kernel:
    """A function with its argument types and, once it is loaded, its machine code."""

    def __init__(
        self, function: Callable[..., None], types: tuple[ArgumentType, ...], library: _Library
    ) -> None:
        self.function, self.types, self.library = function, types, library
        self.native: Callable[..., int] | None = None
        self.__doc__, self.__name__ = function.__doc__, function.__name__

    def __call__(self, *arguments: Any) -> None:
        """Run the machine code, and check the types of the arguments before."""
        if self.native is None:
            self.library.load()
        if self.native is None:  # compilation is switched off
            self.function(*arguments)
            return
        parts: list[Any] = [NOTHING, NOTHING]
        for wanted, given in zip(self.types, arguments, strict=True):
            if isinstance(wanted, ArrayType):
                parts += wanted.parts(given)
            else:
                parts.append(given)
        if self.native(*parts) != 0:
            raise ArithmeticError(f"the kernel {self.__name__} stopped: a division by zero.")

    def takes(self, arguments: tuple[Any, ...]) -> bool:
        """Whether the types of the arrays are those of this kernel."""
        return all(
            given.dtype == wanted.dtype
            for wanted, given in zip(self.types, arguments, strict=True)
            if isinstance(wanted, ArrayType)
        )


class _OneOf:
    """A kernel for several types of arrays."""

    def __init__(self, kernels: list[Kernel]) -> None:
        self.kernels = kernels
        self.__doc__, self.__name__ = kernels[0].__doc__, kernels[0].__name__

    def __call__(self, *arguments: Any) -> None:
        chosen = next((k for k in self.kernels if k.takes(arguments)), self.kernels[0])
        chosen(*arguments)


@dataclass
class _Library:
    """The kernels of one module, compiled together and kept in one file."""

    module: str
    helpers: list[Callable[..., None]] = field(default_factory=list)
    kernels: list[Kernel] = field(default_factory=list)
    _loaded: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def load(self) -> None:
        with self._lock:
            if self._loaded:
                return
            found = importlib.util.find_spec("numba") if sys.modules.get("numba", ...) else None
            if found is None or found.origin is None:
                raise ImportError("No module named 'numba'", name="numba")
            if not is_switched_off():
                self._load(found.origin)
            self._loaded = True

    def _load(self, numba_file: str) -> None:
        code, places = None, []
        try:
            key = self._key(numba_file)
            places = [
                folder / f"{self.module}-{key}.o" for folder in machine_code.folders(self._source())
            ]
            code = next(filter(None, map(machine_code.stored, places)), None)
        except OSError as error:
            logger.info("Compiled kernels cannot be kept on disk: %s", error)
        if code is None:
            seconds = max(1, round(0.7 * len(self.kernels)))
            logger.info("Compiling the fast kernels (once, about %d s)…", seconds)
            try:
                code = _compiled(self)
            except Exception as error:
                reason = f"the kernels cannot be compiled with this version of Numba ({error})"
                raise ImportError(reason) from error
            if places and not any(machine_code.store(place, code) for place in places):
                logger.info("Compiled kernels cannot be kept on disk: no folder can be written to.")
        self._link(code)

    def _source(self) -> Path:
        """The file with the kernels."""
        return Path(self.kernels[0].function.__code__.co_filename)

    def _key(self, numba_file: str) -> str:
        """What the machine code depends on: the source, the compiler and the processor."""
        from llvmlite import __version__ as llvmlite_version
        from llvmlite import binding

        compiler = Path(numba_file).with_name("_version.py")
        parts = (
            self._source().read_bytes(),
            Path(__file__).read_bytes(),
            compiler.read_bytes(),
            llvmlite_version.encode(),
            binding.get_process_triple().encode(),
            binding.get_host_cpu_name().encode(),
            machine_code.cpu_features().encode(),
        )
        return hashlib.sha256(b"\0".join(parts)).hexdigest()[:24]

    def _link(self, code: Code) -> None:
        """Bring machine code to its place in memory, and give every kernel its part."""
        from llvmlite import binding

        engine = machine_code.engine()
        engine.add_object_file(binding.ObjectFileRef.from_data(code.machine_code))
        engine.finalize_object()
        for each, name in zip(self.kernels, code.names, strict=True):
            address = engine.get_function_address(name)
            if not address:
                raise RuntimeError(f"the compiled kernel {each.__name__} cannot be found.")
            signature = ctypes.CFUNCTYPE(ctypes.c_int32, *_argument_types(each.types))
            each.native = signature(address)


_libraries: dict[str, _Library] = {}


def _argument_types(types: tuple[ArgumentType, ...]) -> Iterator[Any]:
    """What a kernel takes: two places for what it returns, then the parts of its arguments."""
    yield from (ctypes.c_void_p, ctypes.c_void_p)
    for each in types:
        if isinstance(each, ArrayType):
            yield from (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
            yield ctypes.c_void_p
            yield from [ctypes.c_int64] * (2 * each.ndim)
        else:
            yield {INT: ctypes.c_int64, FLOAT: ctypes.c_double}[each]


def _compiled(library: _Library) -> Code:
    """Let Numba compile all kernels of a library, and turn them into machine code."""
    import numba
    from llvmlite import binding
    from numba import types

    def numba_type(given: ArgumentType) -> Any:
        if not isinstance(given, ArrayType):
            return getattr(types, given)
        dtype = numba.from_dtype(given.dtype)
        return types.Array(dtype, given.ndim, "C", readonly=not given.writes)

    names: dict[str, Any] = {}  # kernels call helpers, which Numba has to know
    for helper in library.helpers:
        names[helper.__name__] = numba.njit(nogil=True)(_with_globals(helper, names))
    whole, symbols = None, []
    for each in library.kernels:
        signature = types.void(*map(numba_type, each.types))
        made = numba.njit([signature], nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
            _with_globals(each.function, names)
        )
        (compiled,) = made.overloads.values()
        symbols.append(compiled.fndesc.llvm_func_name)
        part = binding.parse_assembly(
            made.inspect_llvm(compiled.signature.args).replace(_END_OF_OWNER, NEVER_CALLED)
        )
        if whole is None:
            whole = part
        else:
            whole.link_in(part)
    assert whole is not None
    foreign = [
        function.name
        for function in whole.functions
        if function.is_declaration and not function.name.startswith("llvm.")
    ]
    if not set(foreign) <= {NEVER_CALLED, "memcpy", "memset", "memmove"}:
        raise RuntimeError(
            f"the kernels of {library.module} call {foreign}: a kernel must not allocate, assign "
            "one array to another, or raise"
        )
    return Code(symbols, target_machine().emit_object(whole))


def _with_globals(function: Callable[..., None], names: dict[str, Any]) -> Callable[..., None]:
    """The same function, for which some names mean something else."""
    assert isinstance(function, FunctionType)
    return FunctionType(function.__code__, {**function.__globals__, **names}, function.__name__)
