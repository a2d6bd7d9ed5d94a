"""What can go wrong: one sentence, the right exit code, no traceback."""

from __future__ import annotations

import ast
import errno
import gzip
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from dataclasses import fields
from pathlib import Path

import pytest
from commands import PROGRAM, QUIZ, ROOT, Here, as_program, write

import hitsndiffs as hnd
from hitsndiffs.errors import ConvergenceWarning
from hitsndiffs.methods import METHODS
from hitsndiffs.reading.options import ReadingOptions

BROKEN: dict[str, tuple[bytes, tuple[str, ...]]] = {
    "empty.csv": (b"", ("empty.csv", "empty")),
    "one-user.csv": (b"student,q1,q2\nann,A,B\n", ("'ann'", "at least two")),
    "no-items.csv": (b"student\nann\nbob\n", ("no item columns",)),
    "no-answers.csv": (b"student,q1,q2\nann,,\nbob,NA,\n", ("none of the 4 cells",)),
    "ragged.csv": (b"student,q1,q2\nann,A,B\nbob,A\n", ("line 3", "2 cells")),
    "two-answers.csv": (
        b"worker,task,label\nw1,t1,cat\nw2,t1,dog\nw1,t1,dog\n",
        ("lines 2 and 4", "'w1'", "'t1'", "'cat'", "'dog'", "set duplicates to first or last"),
    ),
    "same-user.csv": (b"student,q1,q2\nann,A,B\nann,B,B\n", ("'ann'", "lines 2 and 3")),
    "binary.csv": (b"student,q1\n\x00\x01\x02\xff\n", ("binary.csv", "not text")),
    "broken.parquet": (b"PAR1" + b"\x00" * 50, ("Parquet", "damaged")),
    "broken.jsonl": (b'{"subject_id": "a", "resp\n', ("line 1", "not valid JSON")),
    "cut.csv.gz": (gzip.compress(b"student,q1\nann,A\n" * 999)[:50], ("cut.csv.gz",)),
}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("command", ["rank", "check", "compare"])
def test_a_broken_file_gets_one_clear_sentence(
    here: Here, tmp_path: Path, name: str, command: str
) -> None:
    content, says = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    done = here(command, tmp_path / name)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("hnd: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    for words in says:
        assert words in done.err


def test_a_broken_file_through_the_program(here: Here, tmp_path: Path) -> None:
    file = tmp_path / "ragged.csv"
    file.write_bytes(BROKEN["ragged.csv"][0])
    done = as_program("rank", file)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    debug = here("rank", file, "--debug")
    assert debug.code == 2
    assert "Traceback" in debug.err
    assert debug.err.splitlines()[-1] == done.err.strip()


def test_files_that_are_not_there(here: Here, tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.csv", tmp_path):
        done = here("rank", path)
        assert done.code == 2
        assert str(path) in done.err
        assert done.err.count("\n") == 1
    done = here("rank", QUIZ, "--answers", tmp_path / "nothing.csv")
    assert done.code == 2
    assert "nothing.csv" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(here: Here, tmp_path: Path) -> None:
    file = write(tmp_path / "locked.csv", ["student,q1"])
    file.chmod(0)
    done = here("rank", file)
    assert done.code == 2
    assert "locked.csv" in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["rank"],
        ["rank", str(QUIZ), "--colour"],
        ["rank", str(QUIZ), "--seed", "many"],
        ["rank", str(QUIZ), "--top"],
        ["rank", str(QUIZ), "two.csv"],
        ["dance"],
        ["rank", str(QUIZ), "--method", "hdn"],
        ["rank", str(QUIZ), "--engine", "steam"],
        ["rank", str(QUIZ), "--layout", "tall"],
        ["rank", str(QUIZ), "--duplicates", "some"],
        ["rank", str(QUIZ), "--user", "nobody"],
        ["rank", str(QUIZ), "--method", "majority", "--solver", "power"],
        ["rank", str(QUIZ), "--method", "hnd", "--solver", "magic"],
        ["rank", str(QUIZ), "--method", "true-answer"],
        ["compare", str(QUIZ), "--method", "hdn"],
        ["simulate", "samejima"],
        ["simulate", "samejim", "--out", "/tmp"],
    ],
)
def test_wrong_use_is_said_in_one_line(here: Here, arguments: list[str]) -> None:
    done = here(*arguments)
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith("hnd: ")
    assert done.err.count("\n") == 1


def test_a_near_miss_is_met_with_a_suggestion(here: Here) -> None:
    assert "Did you mean 'hnd'?" in here("rank", QUIZ, "--method", "hdn").err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--engine", "steam"],
            "engine must be one of auto, numpy, threads, cupy, dask; got 'steam'.",
        ),
        (["--solver", "power"], "Method 'auto' has no solver; methods that have it: hnd, abh."),
        (["two.csv"], "'two.csv': there is no such file."),
        (["--attempt", "third"], "attempt must be one of first, last, best; got 'third'."),
        (
            ["--max-memory", "much"],
            "the memory limit must be a size such as 500MB or 4GB; got 'much'.",
        ),
        (["--header-row", "0"], "the header row must be a whole number from 1 on; got 0."),
    ],
)
def test_wrong_options_are_named(here: Here, arguments: list[str], sentence: str) -> None:
    assert here("rank", QUIZ, *arguments).err == f"hnd: {sentence}\n"


def test_sentences_of_the_library_spell_no_parameters_as_python_does() -> None:
    """They are read on the command line too (``answers=``, ``engine="dask"``)."""
    names = {f.name for of in (ReadingOptions, *METHODS.values()) for f in fields(of)}
    spelt = re.compile(rf"\b({'|'.join(names)})=(?!=)")
    found = []
    for path in sorted((ROOT / "src").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if "Error" in called or called.endswith("notes.append"):
                texts = [t for t in ast.walk(node) if isinstance(t, ast.Constant)]
                found += [(path.name, t.value) for t in texts if spelt.search(str(t.value))]
    assert found == []


def test_a_fault_of_the_program_asks_for_a_report(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by\nzero")

    monkeypatch.setattr("hitsndiffs.results.rank.rank", fail)
    done = here("rank", QUIZ)
    assert done.code == 1
    assert done.err == (
        "hnd: ZeroDivisionError: division by zero. This is a fault of the program, not of your "
        "data; please report it with what --debug shows.\n"
    )
    assert "Traceback" in here("rank", QUIZ, "--debug").err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("can't start new thread"),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
    ],
)
def test_no_memory_left_is_one_sentence_whoever_says_so(
    error: Exception, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("hitsndiffs.results.rank.rank", fail)
    done = here("rank", QUIZ)
    assert (done.code, done.err) == (1, "hnd: the data do not fit into memory.\n")


def test_an_iteration_that_does_not_settle_is_one_line_on_standard_error(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hitsndiffs.results import rank as module
    from hitsndiffs.results import ranking

    real = module.rank

    def unsettled(*args: object, **params: object) -> ranking.Ranking:
        warnings.warn("hnd stopped after 3 rounds", ConvergenceWarning, stacklevel=2)
        warnings.warn("an array was copied", RuntimeWarning, stacklevel=2)
        return real(*args, **params)

    monkeypatch.setattr("hitsndiffs.results.rank.rank", unsettled)
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # as in a program; in tests warnings are errors
        done = here("rank", QUIZ)
        debug = here("rank", QUIZ, "--debug")
    assert done.code == 0
    assert "hnd: warning: hnd stopped after 3 rounds\n" in done.err
    assert "an array was copied" not in done.err
    assert "an array was copied" in debug.err


def test_a_reader_who_has_seen_enough(tmp_path: Path) -> None:
    lines = ["student,q1,q2,q3"] + [f"s{k},{'AB'[k % 2]},{'AB'[k % 3 > 0]},A" for k in range(20000)]
    file = write(tmp_path / "long.csv", lines)
    program = " ".join(f"'{part}'" for part in PROGRAM)
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"{program} rank '{file}' -q -m majority | head -1; echo ${{PIPESTATUS[0]}}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    head, code = done.stdout.splitlines()
    assert head == "\t".join(hnd.rank(QUIZ, "majority").table().columns)
    assert code in ("0", "141")
    assert done.stderr == ""


def test_an_interrupt_does_no_harm(tmp_path: Path) -> None:
    out = write(tmp_path / "ranking.csv", ["what was there"])
    code = (
        "import sys; from hitsndiffs.cli import main; print('ready', flush=True);"
        "sys.exit(main(sys.argv[1:]))"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, "rank", "-", "--out", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stderr is not None
    assert running.stdout.readline() == "ready\n"
    time.sleep(2)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=60) == 130
    assert running.stderr.read() == "hnd: interrupted; no file was changed.\n"
    assert out.read_text() == "what was there\n"
    assert [path.name for path in tmp_path.iterdir()] == ["ranking.csv"]
    for stream in (running.stdin, running.stdout, running.stderr):
        stream.close()  # type: ignore[union-attr]


def test_output_in_an_encoding_without_the_signs() -> None:
    done = as_program("rank", QUIZ, env={"PYTHONIOENCODING": "ascii"})
    assert done.code == 0
    assert done.out.startswith("rank\t")
