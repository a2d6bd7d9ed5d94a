"""Faults of the machine: a write or a read fails once; the program is killed at any moment."""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import polars as pl

import hitsndiffs as hnd
from fuzz.reading import plain
from hitsndiffs.cli import main

NUMBERS = [errno.ENOSPC, errno.EIO, errno.EINTR, errno.EACCES, errno.EDQUOT]
CALLS = ["write", "fsync", "replace", "open", "read", "short"]


class Faults:
    """A call of the system fails once: a sentence or the whole result, and nothing is lost."""

    def make(self, rng: random.Random) -> dict[str, Any]:
        return {
            "call": rng.choice(CALLS),
            "turn": rng.randint(1, 3),
            "number": rng.choice(NUMBERS),
            "ending": rng.choice(["csv", "tsv", "json", "parquet"]),
            "also": rng.choice([None, "--key-out", "--save"]),
            "method": rng.choice(["majority", "hnd"]),
            "read": rng.choice(["csv", "jsonl", "parquet"]),
        }

    def run(self, given: dict[str, Any], folder: Path) -> str:
        for path in folder.iterdir():
            path.unlink()
        source = folder / f"in.{given['read']}"
        source.write_bytes(plain(given["read"]))
        targets = [folder / f"out.{given['ending']}"]
        arguments = ["rank", str(source), "-q", "-m", given["method"], "--out", str(targets[0])]
        if given["also"] is not None:
            targets.append(folder / ("key.csv" if given["also"] == "--key-out" else "saved.json"))
            arguments += [given["also"], str(targets[1])]
        for target in targets:
            target.write_text("old")
        said, shown = io.StringIO(), io.StringIO()
        failing = injected(given["call"], given["turn"], given["number"], folder)
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(shown), failing:
            code = main(arguments)
        assert code in (0, 2), f"exit code {code}: {said.getvalue()}"
        assert "fault of the program" not in said.getvalue(), said.getvalue()
        assert source.read_bytes() == plain(given["read"])
        assert sorted(p.name for p in folder.iterdir()) == sorted(
            p.name for p in [source, *targets]
        ), "files left behind"
        new = [target.read_bytes() != b"old" for target in targets]
        if code == 0:
            assert all(new)
        for target, fresh in zip(targets, new, strict=True):
            if fresh:
                whole(target)
        return "written" if code == 0 else "refused"


def whole(path: Path) -> None:
    """Fail when a file is not complete."""
    if path.suffix == ".parquet":
        assert len(pl.read_parquet(path)) == 9
    elif path.suffix in (".csv", ".tsv"):
        lines = path.read_text().splitlines()
        assert len(lines) in (5, 10), lines  # a key of four items, or nine users
        assert path.read_text().endswith("\n")
    elif path.read_bytes()[:2] == b"PK":
        hnd.load(path)  # a saved ranking
    else:
        import json

        json.loads(path.read_text())


@contextlib.contextmanager
def injected(call: str, turn: int, number: int, folder: Path) -> Iterator[None]:
    """Let the n-th call of the system on our files fail."""
    left = [turn]
    fault = OSError(number, os.strerror(number))
    real: Any

    def now() -> bool:
        left[0] -= 1
        return left[0] == 0

    if call in ("write", "short"):
        real = os.write

        def write(fd: int, data: Any) -> int:
            if fd > 2 and now():
                if call == "short":
                    return int(real(fd, bytes(data)[: max(1, len(data) // 2)]))
                raise fault
            return int(real(fd, data))

        patch = mock.patch("os.write", write)
    elif call in ("fsync", "replace"):
        real = getattr(os, call)

        def once(*given: Any) -> Any:
            if now():
                raise fault
            return real(*given)

        patch = mock.patch(f"os.{call}", once)
    elif call == "open":
        real = os.open

        def opened(path: Any, *given: Any, **named: Any) -> Any:
            if ".part" in str(path) and now():
                raise fault
            return real(path, *given, **named)

        patch = mock.patch("os.open", opened)
    else:
        real = builtins.open

        def failing(path: Any, *given: Any, **named: Any) -> Any:
            if str(path).startswith(str(folder)) and now():
                raise fault
            return real(path, *given, **named)

        patch = mock.patch("builtins.open", failing)
    with patch:
        yield


class Kills:
    """``hnd rank --out`` is killed at any moment: what was there is there, or the new one whole."""

    def make(self, rng: random.Random) -> dict[str, Any]:
        return {"after": rng.uniform(0.0, 3.0) ** 2 / 3, "ending": rng.choice(["csv", "json"])}

    def run(self, given: dict[str, Any], folder: Path) -> str:
        for path in folder.iterdir():
            path.unlink()
        source, out = folder / "in.csv", folder / f"out.{given['ending']}"
        source.write_bytes(plain("csv"))
        out.write_text("old")
        command = [sys.executable, "-m", "hitsndiffs", "rank", str(source), "-m", "majority"]
        child = subprocess.Popen(
            [*command, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(given["after"])
        child.send_signal(signal.SIGKILL)
        child.wait()
        assert source.read_bytes() == plain("csv"), "the input changed"
        assert out.exists(), "the old file is lost"
        again = out.read_bytes() == b"old"
        if not again:
            whole(out)
        left = [p.name for p in folder.iterdir() if p not in (source, out)]
        assert all(name.endswith(".part") for name in left), left
        return "killed before" if again else "killed after"
