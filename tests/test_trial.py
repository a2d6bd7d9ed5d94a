"""Parquet files that would end the process that decodes them end another one."""

from __future__ import annotations

import io
import os
import random
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from factory import some

import hitsndiffs as hnd
from hitsndiffs.data.processes import python_module
from hitsndiffs.reading.tables import trial
from hitsndiffs.reading.tables.trial import Guard, Trial

#: Sixty users, four items and three other columns, two bytes changed (found by fuzzing): the length
#: of a run of levels makes Polars 2.1 ask for 2 EiB of memory, and its process ends.
DEADLY = Path(__file__).parent / "run_too_long.parquet"


def good() -> bytes:
    out = io.BytesIO()
    columns = {f"q{i}": list("ABAC") for i in range(3)}
    pl.DataFrame({"user": list("abcd"), **columns}).write_parquet(out)
    return out.getvalue()


@pytest.fixture
def guard(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A guard of the test's own."""
    own = Guard()
    monkeypatch.setattr(trial, "_guard", lambda: own)
    yield own
    own.close()


@pytest.mark.parametrize("kind", some(["large file", "bytes", "file"], 2))
def test_a_file_that_ends_the_process_gets_one_sentence(kind: str, tmp_path: Path) -> None:
    data = DEADLY.read_bytes()
    source: Any = {"file": DEADLY, "bytes": io.BytesIO(data)}.get(kind, tmp_path / "large.parquet")
    if kind == "large file":
        # blank bytes between the pages and the footer: nothing points to them
        footer = int.from_bytes(data[-8:-4], "little") + 8
        source.write_bytes(data[:-footer] + bytes(9_000_000) + data[-footer:])
    with pytest.raises(hnd.InputError, match=r"Parquet file is damaged or cut short \(") as caught:
        hnd.read_responses(source)
    assert str(caught.value).endswith("copy or write it again.")


def test_what_the_other_process_survives_is_read(guard: Guard, tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    path.write_bytes(good())
    for source in (path, io.BytesIO(good()), path):
        assert hnd.read_responses(source).n_users == 4
    assert Trial(good()).refusal(["q1", "q2"], 2) is None
    assert Trial(good()).refusal([]) is None
    assert "no such column" in str(Trial(good()).refusal(["no such column"]))


def test_a_process_that_may_die_decodes_at_once(
    guard: Guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "_expendable", threading.Event())
    assert Trial(good()).refusal(["no such column"]) is not None
    trial.die_if_need_be()
    assert Trial(good()).refusal(["no such column"]) is None


@pytest.fixture(scope="module")
def large() -> bytes:
    """A table of several row groups, with more cells than are read at once."""
    rng = np.random.default_rng(0)
    n = 30_000
    letters = np.array([*"ABCDEFGH"])
    columns = {f"q{i}": letters[rng.integers(0, 8, n)] for i in range(150)}
    out = io.BytesIO()
    frame = pl.DataFrame({"user": [f"student-{k}" for k in range(n)], **columns})
    frame.write_parquet(out, row_group_size=10_000, compression="snappy")
    assert frame.height * frame.width > 4_000_000
    return out.getvalue()


def test_large_files_that_are_damaged_end_nothing(large: bytes, tmp_path: Path) -> None:
    """Bytes changed in pages and their headers, in a file and in bytes."""
    path = tmp_path / "large.parquet"
    outcomes = []
    for seed in range(2):
        rng = random.Random(seed)
        bad = bytearray(large)
        for _ in range(40):
            place = rng.randrange(4, len(bad) - 200_000)
            bad[place] = rng.choice([0, 127, 128, 255, rng.randrange(256)])
        path.write_bytes(bad)
        try:
            hnd.read_responses(path if seed % 2 else io.BytesIO(bytes(bad)))
            outcomes.append("read")
        except hnd.InputError as error:
            assert str(error).endswith(".")  # noqa: PT017
            outcomes.append("refused")
    assert "refused" in outcomes


def _program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str) -> None:
    script = tmp_path / "other.py"
    script.write_text(code)
    environment = dict(os.environ)
    monkeypatch.setattr(
        trial, "python_module", lambda _: ([sys.executable, str(script)], environment)
    )


def test_a_process_that_dies_twice_died_of_the_file(
    guard: Guard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    code = "import sys, os\nprint('ready', flush=True)\nsys.stdin.buffer.read(16)\nos._exit(6)\n"
    _program(monkeypatch, tmp_path, code)
    assert Trial(good()).refusal(["q1"]) == "decoding it crashes the program"
    with pytest.raises(hnd.InputError, match="crashes the program"):
        hnd.read_responses(io.BytesIO(good()))


def test_a_process_that_is_gone_is_started_again(guard: Guard) -> None:
    tried = Trial(good())
    assert tried.refusal(["q1"]) is None
    assert guard._process is not None
    first = guard._process
    first.kill()
    first.wait()
    assert tried.refusal(["q2"]) is None  # the bytes are sent anew
    assert guard._process is not first


@pytest.mark.parametrize("code", ["print('no')", "raise SystemExit(3)"])
def test_without_another_process_files_are_read_as_they_are(
    guard: Guard, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str
) -> None:
    _program(monkeypatch, tmp_path, code)
    assert hnd.read_responses(io.BytesIO(good())).n_users == 4
    monkeypatch.setattr(trial, "python_module", lambda _: (["/no/such/program"], None))
    assert hnd.read_responses(io.BytesIO(good())).n_users == 4


def test_other_processes_import_nothing_from_the_folder_they_are_in(tmp_path: Path) -> None:
    command, environment = python_module("hitsndiffs.reading.tables.trial")
    assert "-P" in command
    assert "" not in environment["PYTHONPATH"].split(os.pathsep)


def test_damaged_files_of_many_kinds_end_nothing() -> None:
    data, rng = good(), random.Random(11)
    outcomes = set()
    for _ in range(150):
        bad = bytearray(data)
        for _ in range(rng.randint(1, 4)):
            bad[rng.randrange(4, len(bad) - 4)] = rng.choice([0, 127, 128, 255, rng.randrange(256)])
        try:
            hnd.read_responses(io.BytesIO(bytes(bad)))
            outcomes.add("read")
        except hnd.InputError as error:
            assert str(error).endswith(".")  # noqa: PT017
            outcomes.add("refused")
    assert "refused" in outcomes
