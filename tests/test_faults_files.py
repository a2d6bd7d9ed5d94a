"""Files out: whole or not at all, with their mode, through no planted link, and said in words."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import polars as pl
import pytest
from commands import PROGRAM, QUIZ, Here
from factory import some

from hitsndiffs.data import files
from hitsndiffs.data.files import text_writer, write_folder, write_whole
from hitsndiffs.errors import InputError

HND = ("-q", "-m", "majority")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# -- one file for two things ---------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["same", "dots", "link", "hard link"])
@pytest.mark.parametrize("option", ["--key-out", "--save", "--report"])
def test_two_options_never_name_one_file(
    here: Here, tmp_path: Path, option: str, spelling: str
) -> None:
    ending = {"--key-out": "csv", "--save": "json", "--report": "html"}[option]
    first = tmp_path / ("x.csv" if ending == "csv" else "x.json")
    second = {"same": first, "dots": tmp_path / ".." / tmp_path.name / first.name}.get(
        spelling, tmp_path / f"other.{ending}"
    )
    first.write_text("kept")
    if spelling == "link":
        second.symlink_to(first)
    elif spelling == "hard link":
        os.link(first, second)
    done = here("rank", QUIZ, *HND, "--out", first, option, second)
    assert done.code == 2
    if second.suffix == f".{ending}":
        assert f"--out and {option} both name" in done.err
    assert first.read_text() == "kept"


def test_what_is_read_beside_the_data_is_not_overwritten(here: Here, tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    key.write_text("item,answer\nq1,A\n")
    done = here("rank", QUIZ, *HND, "--answers", key, "--key-out", key)
    assert (done.code, "this is a file that is read" in done.err) == (2, True)
    other = tmp_path / ".." / tmp_path.name / "key.csv"
    with pytest.raises(InputError, match="are the same file"):
        write_whole({key: text_writer("a"), other: text_writer("b")})
    assert key.read_text() == "item,answer\nq1,A\n"


def test_simulate_does_not_overwrite(here: Here, tmp_path: Path) -> None:
    assert here("simulate", "grm", "--users", 9, "--out", tmp_path).code == 0
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    done = here("simulate", "grm", "--users", 10, "--out", tmp_path)
    assert done.code == 2
    assert "there already; name another folder" in done.err
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


# -- modes and links -----------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o604])
def test_a_file_keeps_its_mode(here: Here, tmp_path: Path, mode: int) -> None:
    out = tmp_path / "ranking.csv"
    out.write_text("old")
    out.chmod(mode)
    assert here("rank", QUIZ, *HND, "--out", out).code == 0
    assert stat.S_IMODE(out.stat().st_mode) == mode
    assert out.read_text().startswith("rank,user,")


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole({tmp_path / "new.txt": text_writer("x")})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.txt").stat().st_mode) == 0o640


def test_ones_own_link_leads_to_its_file(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real/a.txt")
    (tmp_path / "second.txt").symlink_to("link.txt")
    write_whole({tmp_path / "second.txt": text_writer("new")})
    assert (tmp_path / "real" / "a.txt").read_text() == "new"
    assert (tmp_path / "link.txt").is_symlink()
    assert names(tmp_path / "real") == ["a.txt"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="gives a link away")
def test_somebody_elses_link_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "secret"
    target.write_text("secret")
    link = tmp_path / "ranking.csv"
    link.symlink_to(target)
    os.lchown(link, 12345, 12345)
    with pytest.raises(InputError, match="a link that belongs to another user"):
        write_whole({link: text_writer("x")})
    assert target.read_text() == "secret"


def test_a_planted_part_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "0" * 32)
    victim = tmp_path / "victim"
    victim.write_text("untouched")
    (tmp_path / f".hnd-{'0' * 32}.part").symlink_to(victim)
    with pytest.raises(InputError, match="File exists"):
        write_whole({tmp_path / "out.txt": text_writer("x")})
    assert victim.read_text() == "untouched"
    assert not (tmp_path / "out.txt").exists()


def test_a_circle_of_links_is_said(here: Here, tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to("b.csv")
    (tmp_path / "b.csv").symlink_to("a.csv")
    for arguments in (
        ("rank", QUIZ, *HND, "--out", tmp_path / "a.csv"),
        ("rank", tmp_path / "a.csv"),
        ("rank", QUIZ, "--answers", tmp_path / "a.csv"),
        ("rank", QUIZ, *HND, "--save", tmp_path / "a.csv" / "x.json"),
        ("score", tmp_path / "a.csv", QUIZ),
    ):
        done = here(*arguments)
        assert done.code == 2
        assert "fault of the program" not in done.err
        assert done.err.count("\n") == 1


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_write_protected_file_stays(tmp_path: Path) -> None:
    out = tmp_path / "a.txt"
    out.write_text("kept")
    out.chmod(0o444)
    with pytest.raises(InputError, match="write-protected"):
        write_whole({out: text_writer("x")})


# -- faults of the disk --------------------------------------------------------------------------

CALLS, ENDINGS = ["write", "fsync", "replace", "open"], ["csv", "parquet", "json"]
NUMBERS = [errno.ENOSPC, errno.EIO, errno.EDQUOT]
#: The first twelve hold every pair of two of these.
FAULTS = [
    (call, ending, NUMBERS[(c + e + shift) % 3])
    for shift in range(3)
    for c, call in enumerate(CALLS)
    for e, ending in enumerate(ENDINGS)
]


@pytest.mark.parametrize(("call", "ending", "number"), some(FAULTS, 12))
def test_a_fault_of_the_disk_is_a_sentence_and_loses_nothing(
    here: Here,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    call: str,
    ending: str,
    number: int,
) -> None:
    out = tmp_path / f"ranking.{ending}"
    out.write_text("old")
    real = getattr(os, call)

    def fails(*arguments: object, **named: object) -> object:
        if call == "open" and ".part" not in str(arguments[0]):
            return real(*arguments, **named)
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(f"hitsndiffs.data.files.os.{call}", fails)
        done = here("rank", QUIZ, *HND, "--out", out)
    assert done.code == 2
    assert str(out) in done.err
    assert "fault of the program" not in done.err
    assert done.err.count("\n") == 1
    assert (out.read_text(), names(tmp_path)) == ("old", [out.name])


def test_short_writes_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def short(number: int, data: memoryview) -> int:
        return real(number, data[:7])

    frame = pl.DataFrame({"a": list(range(300))})
    with monkeypatch.context() as patch:
        patch.setattr("hitsndiffs.data.files.os.write", short)
        write_whole(
            {tmp_path / "a.csv": frame.write_csv, tmp_path / "b.txt": text_writer("b" * 99)}
        )
    assert pl.read_csv(tmp_path / "a.csv").equals(frame)
    assert (tmp_path / "b.txt").read_text() == "b" * 99


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_through_the_program(here: Here) -> None:
    done = here("rank", QUIZ, *HND, "--out", "/dev/full")
    assert (done.code, "the disk is full" in done.err, done.err.count("\n")) == (2, True, 1)
    with open("/dev/full", "w") as full:
        shown = subprocess.run(
            [*PROGRAM, "rank", QUIZ, *HND], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert shown.returncode == 2
    assert shown.stderr.count("\n") == 1
    assert "No space left" in shown.stderr


@pytest.mark.parametrize("kind", ["files", "folders"])
def test_what_killed_runs_left_goes_after_a_day(tmp_path: Path, kind: str) -> None:
    old, new, other = (tmp_path / f".hnd-{c * 32}.part" for c in "0a_")
    for path in (old, new, other):
        fill(path) if kind == "folders" else path.write_text("half")
    for path in (old, other):
        os.utime(path, (time.time() - 2 * 86_400,) * 2)
    if kind == "folders":
        write_folder(tmp_path / "out", fill)
    else:
        write_whole({tmp_path / "out": text_writer("x")})
    assert names(tmp_path) == sorted([new.name, other.name, "out"])


# -- streams -------------------------------------------------------------------------------------


def fill(folder: Path) -> None:
    folder.mkdir()
    (folder / "part.txt").write_text("x", encoding="utf-8")


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def break_off(folder: Path) -> None:
        fill(folder)
        raise OSError(errno.ENOSPC, "no space left")

    with pytest.raises(InputError, match=r"out: the disk is full"):
        write_folder(out, break_off)
    assert list(tmp_path.iterdir()) == []
    out.mkdir()
    write_folder(out, fill)  # an empty folder gives way
    assert [path.name for path in out.iterdir()] == ["part.txt"]
    with pytest.raises(InputError, match=r"out already exists; give a new or empty folder"):
        write_folder(out, fill)
    with pytest.raises(InputError, match=r"there is no folder .*missing; make it first"):
        write_folder(tmp_path / "missing" / "out", fill)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_pipe_whose_reader_left(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe.csv"
    os.mkfifo(fifo)
    opened = threading.Event()

    def read_a_little() -> None:
        number = os.open(fifo, os.O_RDONLY)
        opened.set()
        os.close(number)

    reader = threading.Thread(target=read_a_little)
    reader.start()
    data = text_writer("x" * 5_000_000)
    with pytest.raises(InputError, match="the program reading this pipe has closed it"):
        write_whole({fifo: data})
    reader.join()


@pytest.mark.parametrize(
    ("streams", "code", "says"),
    some(
        [
            (">&-", 2, "standard output is closed"),
            (">&- 2>&- <&-", 2, ""),
            ("2>&- <&-", 0, ""),
            ("2>&-", 0, ""),
            ("<&-", 0, ""),
            (">&- 2>&-", 2, ""),
        ],
        2,
    ),
)
def test_closed_streams(tmp_path: Path, streams: str, code: int, says: str) -> None:
    out = tmp_path / "ranking.csv"
    program = " ".join(f"'{part}'" for part in PROGRAM)
    line = f"{program} rank '{QUIZ}' -q -m majority --json --out '{out}' {streams}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert out.read_text().startswith("rank,user,")


def test_standard_input_that_is_closed() -> None:
    program = " ".join(f"'{part}'" for part in PROGRAM)
    done = subprocess.run(["bash", "-c", f"{program} rank - <&-"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "hnd: standard input is closed; name a file, or pipe one in.\n"


@pytest.mark.parametrize("wait", [0.0, 0.01, 0.03, 0.05, 0.2])
def test_an_interrupt_while_the_program_starts(wait: float) -> None:
    code = (
        "import sys; from hitsndiffs.cli import main\n"
        "try:\n"
        "    print('ready', flush=True); sys.exit(main())\n"
        "except KeyboardInterrupt as error:\n"
        "    sys.exit(130 if error.__traceback__.tb_next is None else 99)\n"  # in main: 99
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, "rank", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "ready\n"
    time.sleep(wait)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)
    assert running.returncode == 130, said
    assert said in ("", "hnd: interrupted; no file was changed.\n")


def test_an_interrupt_that_python_wraps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before Python 3.12 an interrupt that hits ``__set_name__`` comes as a RuntimeError."""
    from hitsndiffs.cli import outcome

    def interrupted(args: list[str]) -> int:
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr(outcome, "_invoke", interrupted)
    assert outcome.run(["methods"]) == 130
    assert capsys.readouterr().err == "hnd: interrupted; no file was changed.\n"


@pytest.mark.parametrize("kind", ["interrupted", "ignored", "quiet"])
def test_an_interrupt_before_the_package_is_imported(kind: str) -> None:
    """The program's first module: no traceback; interrupts that are ignored stay so."""
    code = (
        "import hnd_start, os, signal, sys\n"
        f"{'' if kind == 'quiet' else 'os.kill(os.getpid(), signal.SIGINT)'}\n"
        "sys.argv = ['hnd', '--version']\n"
        "code = hnd_start.main()\n"
        "print(signal.getsignal(signal.SIGINT) is signal.default_int_handler, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    handler = signal.SIG_IGN if kind == "ignored" else signal.default_int_handler
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )
    if kind == "interrupted":
        assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")
    else:  # where nothing interrupts it, the program heeds interrupts as Python does
        assert (done.returncode, done.stderr) == (0, f"{kind == 'quiet'}\n")
