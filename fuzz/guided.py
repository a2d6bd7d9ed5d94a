"""Fuzzing that follows the code's branches: ``python -m fuzz.guided [--seconds N]``.

It needs atheris (``pip install atheris``), which is no part of the development tools because it
exists for a few versions of Python only. The corpus is kept in ``build/fuzz/corpus``, what fails in
``build/fuzz``; a file given as an argument is run once.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import pkgutil
import sys
import tempfile
from pathlib import Path

import atheris

from fuzz import ROOT

with atheris.instrument_imports(include=["hitsndiffs.reading", "hitsndiffs.data"]):
    import hitsndiffs.reading

    for module in pkgutil.walk_packages(hitsndiffs.reading.__path__, "hitsndiffs.reading."):
        importlib.import_module(module.name)
from fuzz.reading import CONTAINERS, files, plain, reading
from fuzz.reading import names as known

#: Bytes of one input.
LONGEST = 1 << 14


def seeds(folder: Path) -> None:
    """Write a file of every container and format; the first byte tells which way it is read."""
    given = [(CONTAINERS.index(kind), plain(kind)) for kind in CONTAINERS]
    given += [(255, data) for name in known() for _, data in files(name)]
    for place, data in given:
        if len(data) < LONGEST:
            found = bytes([place]) + data
            (folder / hashlib.sha1(found).hexdigest()).write_bytes(found)


def one(data: bytes) -> None:
    """Read one input."""
    if not data:
        return
    kind = CONTAINERS[data[0]] if data[0] < len(CONTAINERS) else "file"
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        reading(kind, f"a.{kind}" if kind != "file" else "a", data[1:], Path(folder))


def main() -> None:
    """Run for some time, or one file."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.guided", description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="an input to run once")
    parser.add_argument("--seconds", type=int, default=300)
    given = parser.parse_args()
    if given.file is not None:
        one(given.file.read_bytes())
        return
    corpus = ROOT / "build" / "fuzz" / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    seeds(corpus)
    limits = [f"-max_total_time={given.seconds}", "-timeout=10", "-rss_limit_mb=2048"]
    limits += [f"-max_len={LONGEST}", f"-artifact_prefix={corpus.parent}/guided-"]
    atheris.Setup([sys.argv[0], *limits, str(corpus)], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
