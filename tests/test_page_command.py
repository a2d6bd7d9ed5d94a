"""``hnd serve`` as a program: how it starts, how it ends, and what it says when it cannot."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from commands import PROGRAM, QUIZ, Here

from hitsndiffs.errors import MissingExtraError
from hitsndiffs.show.web import server
from hitsndiffs.show.web.works import PREFIX, _remove_leftovers

pytest.importorskip("uvicorn", reason="the page is not installed: pip install 'hitsndiffs[web]'")
httpx = pytest.importorskip("httpx", reason="httpx is not installed: pip install httpx")


@contextmanager
def running(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    with subprocess.Popen(
        [*PROGRAM, "serve", "--no-open", "--port", "0", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found is not None, line
        until = time.monotonic() + 60
        while time.monotonic() < until:
            try:
                httpx.get(found[0])
                break
            except httpx.TransportError:
                time.sleep(0.1)
        try:
            yield process, found[0]
        finally:
            process.kill()


def own_address() -> str | None:
    """The address by which others would reach this machine, if it has one."""
    try:
        outer = socket.gethostbyname(socket.gethostname())
    except OSError:
        return None
    return None if outer.startswith("127.") else outer


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_quietly_and_leaves_nothing(tmp_path: Path, ending: signal.Signals) -> None:
    """And only this machine can reach it."""
    with running(tmp_path) as (process, address):
        assert address.startswith("http://127.0.0.1:")
        if outer := own_address():
            port = int(address.rstrip("/").rpartition(":")[2])
            with pytest.raises(OSError, match=r"refused|timed out"):
                socket.create_connection((outer, port), timeout=3)
        files = {"file": ("quiz.csv", QUIZ.read_bytes())}
        data = {"method": "majority"}
        answer = httpx.post(f"{address}api/rank", files=files, data=data, timeout=120)
        assert answer.status_code == 200
        process.send_signal(ending)
        _, said = process.communicate(timeout=60)
        assert process.returncode == 0
        assert said == ""
    assert list(tmp_path.iterdir()) == []


def test_a_port_that_is_taken(here: Here) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = here("serve", "--no-open", "--port", port)
    assert done.code == 2
    assert done.err == (f"hnd: port {port} is in use; choose another one (0: any that is free).\n")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port", "99999"], "the port is a number from 0 to 65535; got 99999."),
        (["--port", "x"], "--port takes a whole number, and got 'x'"),
        (["--host", "nowhere.invalid"], "nowhere.invalid:8765 cannot be listened on"),
        (["--max-upload", "much"], "--max-upload takes a size such as 500MB or 4GB; got 'much'."),
        (["--max-memory", "0"], "--max-memory takes a size such as 500MB or 4GB; got '0'."),
        (["--time-limit", "0"], "--time-limit is in seconds, at least 1; got 0."),
    ],
)
def test_what_cannot_be(here: Here, options: list[str], words: str) -> None:
    done = here("serve", "--no-open", *options)
    assert done.code == 2
    assert words in done.err


def test_a_missing_extra() -> None:
    with pytest.raises(MissingExtraError) as refused:
        server.check_extra({"not_there_at_all": "starlette", "numpy": "numpy"})
    assert str(refused.value) == (
        "The page needs starlette, which is not installed: pip install 'hitsndiffs[web]'."
    )


def test_help_names_the_defaults(here: Here) -> None:
    said = here("serve", "--help").out
    assert "127.0.0.1" in said
    assert "--no-open" in said


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_what_a_killed_server_left_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path))
    folders = {name: tmp_path / f"{PREFIX}{name}" for name in ("dead", "alive", "young")}
    for folder in folders.values():
        folder.mkdir()
        (folder / "lock").touch()
        (folder / "answers.csv").write_text("a")
    for name in ("dead", "alive"):
        os.utime(folders[name], (1, 1))
    with (folders["alive"] / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        _remove_leftovers()
    assert [name for name, folder in folders.items() if folder.exists()] == ["alive", "young"]
