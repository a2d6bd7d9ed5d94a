"""Machine code: on disk, and at its place in memory (llvmlite, on which Numba stands, loads it)."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "NEVER_CALLED", "NOTHING", "Code", "cpu_features", "engine", "folders", "store", "stored",
    "target_machine",
]  # fmt: skip

#: The name of something that compiled code refers to and never calls.
NEVER_CALLED = "hitsndiffs_never_called"

_places = (ctypes.c_void_p * 2)()
#: The address where kernels may write that they return nothing.
NOTHING = ctypes.addressof(_places)

_engines: list[Any] = []  # machine code lives as long as its engine
_lock = threading.Lock()


@dataclass(frozen=True)
class Code:
    """Machine code, and the names of the kernels in it."""

    names: list[str]
    machine_code: bytes


def cpu_features() -> str:
    """What this processor can do."""
    from llvmlite import binding

    try:
        return str(binding.get_host_cpu_features().flatten())
    except RuntimeError:  # not known on this system: what all processors of the kind have
        return ""


def target_machine() -> Any:
    """What makes machine code for this processor."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_triple(binding.get_process_triple()).create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=cpu_features(),
        opt=3,
        jit=True,
    )


def engine() -> Any:
    """What brings machine code to its place in memory, and keeps it there; one per process."""
    with _lock:
        if not _engines:
            from llvmlite import binding

            binding.add_symbol(NEVER_CALLED, NOTHING)
            empty = binding.parse_assembly("")
            _engines.append(binding.create_mcjit_compiler(empty, target_machine()))
    return _engines[0]


# -- on disk ----------------------------------------------------------------------------------


def folders(source: Path) -> list[Path]:
    """Where machine code is kept: with the compiled Python files, or else in the user's cache."""
    if not source.is_file():
        raise OSError(f"there is no file {source}")
    own = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return [source.parent / "__pycache__", Path(own, "hitsndiffs")]


def stored(place: Path) -> Code | None:
    """Read machine code; None where there is none, or where the file is damaged."""
    try:
        head, _, machine_code = place.read_bytes().partition(b"\n")
        said = json.loads(head)
        if said["sha256"] == hashlib.sha256(machine_code).hexdigest():
            return Code(said["names"], machine_code)
    except (OSError, ValueError, KeyError, TypeError):
        pass
    return None


def store(place: Path, code: Code) -> bool:
    """Write machine code whole or not at all."""
    import tempfile

    said = {"names": code.names, "sha256": hashlib.sha256(code.machine_code).hexdigest()}
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(json.dumps(said).encode() + b"\n" + code.machine_code)
            os.chmod(name, 0o644)  # as compiled Python files are
            os.replace(name, place)
        except BaseException:
            os.unlink(name)
            raise
    except OSError:
        return False
    return True
