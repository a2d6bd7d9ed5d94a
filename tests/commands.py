"""Ways to run ``hnd`` in tests: in this process, as a program, and on a terminal."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from hitsndiffs.cli import main

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from pseudo_terminal import run_on_terminal  # noqa: E402

QUIZ = ROOT / "examples" / "quiz.csv"
CROWD = ROOT / "examples" / "crowd.csv"
MODELS = ROOT / "examples" / "models.jsonl"

PROGRAM = [sys.executable, "-m", "hitsndiffs"]


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str


class Here:
    """Runs a command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Done:
        self._capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = self._capsys.readouterr()
        return Done(code, out, err)


def as_program(
    *arguments: object, stdin: str | None = None, env: dict[str, str] | None = None
) -> Done:
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, **(env or {})},
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def on_terminal(*arguments: object, columns: int = 80, cwd: Path | None = None) -> Done:
    """Run a command on a terminal of its own; what it prints comes back as ``out``."""
    code, text = run_on_terminal(
        [*PROGRAM, *map(str, arguments)], columns=columns, kind="xterm-256color", folder=cwd
    )
    return Done(code, text, "")


def on_terminal_here(*arguments: object, columns: int = 80) -> Done:
    """Run a command in this process, on a terminal as wide as that; it comes back as ``out``."""
    import fcntl
    import pty
    import struct
    import termios

    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    shown: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # the other end is closed
            while piece := os.read(parent, 1 << 16):
                shown.append(piece)

    reader = threading.Thread(target=read)
    reader.start()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            patch.delenv(name, raising=False)
        patch.setenv("TERM", "xterm-256color")
        with open(child, "w", encoding="utf-8") as screen:
            for name in ("stdout", "stderr", "__stdout__"):  # the last is asked for the width
                patch.setattr(sys, name, screen)
            code = main([str(argument) for argument in arguments])
    reader.join()
    os.close(parent)
    return Done(code, b"".join(shown).decode().replace("\r\n", "\n"), "")


def rows(table: str) -> list[list[str]]:
    """Cells of a table with tabs."""
    return [line.split("\t") for line in table.splitlines()]


def records(table: str) -> list[dict[str, str]]:
    """Rows of a table with tabs, by the names of the columns."""
    head, *body = rows(table)
    return [dict(zip(head, row, strict=True)) for row in body]


def write(path: Path, lines: Sequence[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
