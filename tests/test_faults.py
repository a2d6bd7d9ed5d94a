"""Hostile labels and surroundings: terminals, spreadsheets, pages, caches; threads and leaks."""

from __future__ import annotations

import csv
import gc
import io
import json
import os
import re
import resource
import struct
import subprocess
import sys
import threading
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commands import Here, on_terminal_here

import hitsndiffs as hnd
from hitsndiffs.engines import compiling
from hitsndiffs.errors import InputError, printable

ESCAPES = re.compile(r"[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202a-\u202e]")
EVIL = [
    "\x1b]0;owned\x07",
    "\x9b2J",
    "\u202egnp.exe",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    '=HYPERLINK("http://x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
]


def table(path: Path) -> Path:
    """A long file whose users, items and answers are hostile."""
    rng = np.random.default_rng(1)
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(["user", "item", "option"])
        for user in EVIL:
            for item in EVIL:
                out.writerow([user, item, EVIL[rng.integers(0, 4)]])
    return path


# -- terminals -----------------------------------------------------------------------------------


def test_sentences_hold_no_escapes() -> None:
    assert not ESCAPES.search(str(InputError("".join(EVIL))))
    assert printable("plain ± ü") == "plain ± ü"


def test_file_names_hold_no_escapes(here: Here, tmp_path: Path) -> None:
    bad = tmp_path / "a\x1b]0;owned\x07\x9b2J.csv"
    bad.write_bytes(b"student,q1,q2\nann,A,B\nbob,A\n")
    good = table(tmp_path / "b\x1b[2J\u202e.csv")
    for arguments in (
        ("rank", bad),
        ("rank", tmp_path / "no\x1b[2J.csv"),
        ("rank", good, "-m", "majority"),
        ("check", good),
        ("compare", good, "-m", "majority", "-m", "hits"),
        ("rank", good, "-m", "majority", "--json"),
    ):
        done = here(*arguments)
        assert "\x1b" not in done.out + done.err
        assert not ESCAPES.search(done.out + done.err)
        if "--json" in arguments:
            assert {row["user"] for row in json.loads(done.out)["users"]} == set(EVIL)


def test_a_terminal_shows_no_escapes_of_a_file(tmp_path: Path) -> None:
    done = on_terminal_here("rank", table(tmp_path / "a\x1b]0;owned\x07.csv"), "-m", "majority")
    assert done.code == 0
    shown = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", done.out)  # our own bold type and cursor
    assert not re.search(r"\x1b|\x07|\x9b|\u202e", shown)
    assert "owned" in shown


def test_python_shows_no_escapes(tmp_path: Path) -> None:
    ranking = hnd.rank(hnd.read_responses(table(tmp_path / "a.csv")), "majority")
    assert not ESCAPES.search(str(ranking))


# -- spreadsheets --------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv"])
def test_no_cell_is_a_formula(here: Here, tmp_path: Path, ending: str) -> None:
    source = table(tmp_path / "a.csv")
    out, key = tmp_path / f"out.{ending}", tmp_path / f"key.{ending}"
    assert here("rank", source, "-m", "majority", "-q", "--out", out, "--key-out", key).code == 0
    mark = "\t" if ending == "tsv" else ","
    for path in (out, key):
        for row in csv.reader(io.StringIO(path.read_text()), delimiter=mark):
            for cell in row:
                harmless = re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell)
                assert not re.match(r"[=+\-@\t\r]", cell) or harmless, cell
    frame = pl.read_csv(out, separator=mark)
    assert frame["score"].dtype == pl.Float64
    # the key reads back as it was
    again = hnd.read_key(key, hnd.read_responses(source))
    assert set(again) == set(EVIL)


def test_raw_leaves_cells_as_they_are(here: Here, tmp_path: Path) -> None:
    source, out = table(tmp_path / "a.csv"), tmp_path / "out.csv"
    assert here("rank", source, "-m", "majority", "-q", "--out", out, "--raw").code == 0
    assert set(pl.read_csv(out)["user"]) == set(EVIL)
    out = tmp_path / "out.parquet"  # for machines as it is
    assert here("rank", source, "-m", "majority", "-q", "--out", out).code == 0
    assert set(pl.read_parquet(out)["user"]) == set(EVIL)


# -- pages ---------------------------------------------------------------------------------------


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        for name, _ in attrs:
            assert not name.startswith("on"), (tag, name)


def test_names_with_halves_of_characters() -> None:
    records = b"\n".join(b'{"user": "u%d", "q\\ud800": "%d"}' % (k, k % 2) for k in range(4))
    assert hnd.read_responses(io.BytesIO(records)).n_items == 1


def test_plans_of_other_types(tmp_path: Path) -> None:
    data = tmp_path / "a.csv"
    data.write_text("user,q1\na,A\nb,B\n")
    for text in (b"\xff\xfe", b'{"options": 5}', b'{"columns": [3]}', b'{"options": {"items": 3}}'):
        (tmp_path / "plan.json").write_bytes(text)
        with pytest.raises(InputError):
            hnd.read_responses(data, plan=tmp_path / "plan.json")


@pytest.mark.parametrize("name", ["\ud800", "a\0b", "hex", "undefined", "x" * 5000, ""])
def test_names_that_are_no_encodings(name: str) -> None:
    with pytest.raises(InputError, match="the name of a text encoding") as caught:
        hnd.read_responses(io.BytesIO(b"user,q1\na,A\nb,B\n"), encoding=name)
    assert len(str(caught.value)) < 300


def test_a_part_in_which_all_answers_are_the_same_is_joined() -> None:
    """Found by fuzzing: alone, such a part is no table of answers."""
    head = "user,q0,q1\n"
    one, two = "u0,o3,o0\nu1,o3,o0\nu2,o3,o0\n", "u3,o0,o0\nu4,o0,o0\nu5,o0,o0\n"
    whole = hnd.read_responses(io.BytesIO((head + one + two).encode()))
    for parts in ((one, two), (two, one)):
        joined = hnd.read_responses([io.BytesIO((head + part).encode()) for part in parts])
        assert set(joined.users.tolist()) == set(whole.users.tolist())
        assert joined.n_responses == whole.n_responses
        assert not any(note.startswith("Left out") for note in joined.notes)


def test_a_part_in_which_all_answers_to_an_item_are_the_same_keeps_them(tmp_path: Path) -> None:
    head = "user,q0,q1\n"
    one, two = "u0,,o0\nu1,o1,\nu2,,\nu3,o1,o0\nu4,,o0\n", "u5,o1,o0\nu6,,o1\nu7,o1,o1\n"
    whole = hnd.read_responses(io.BytesIO((head + one + two).encode()))
    for name, text in (("one", one), ("two", two)):
        (tmp_path / f"{name}.csv").write_text(head + text)
    streams = [io.BytesIO((head + part).encode()) for part in (one, two)]
    for sources in (streams, [tmp_path / "one.csv", tmp_path / "two.csv"], tmp_path):
        joined = hnd.read_responses(sources)
        assert joined.n_responses == whole.n_responses
        assert not any("constant" in note for note in joined.notes)


def test_a_member_of_an_archive_without_a_name() -> None:
    """Found by fuzzing: Python 3.11 looks at the last letter of a name that has none."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("x", b"nothing")
        archive.writestr("quiz.csv", b"user,q1\na,A\nb,B\nc,A\n")
    data = out.getvalue()
    # the name of the first member is gone: its length is 0, in both places that tell it
    local, central = data.index(b"PK\x03\x04"), data.index(b"PK\x01\x02")
    data = data[: local + 26] + b"\0\0" + data[local + 28 : local + 30] + data[local + 31 :]
    central -= 1
    data = data[: central + 28] + b"\0\0" + data[central + 30 : central + 46] + data[central + 47 :]
    end = data.index(b"PK\x05\x06")
    size, start = struct.unpack_from("<II", data, end + 12)
    data = data[: end + 12] + struct.pack("<II", size - 1, start - 1) + data[end + 20 :]
    second = data.index(b"PK\x01\x02", central + 4)
    (place,) = struct.unpack_from("<I", data, second + 42)
    data = data[: second + 42] + struct.pack("<I", place - 1) + data[second + 46 :]
    assert hnd.read_responses(io.BytesIO(data)).n_users == 3


def test_an_export_that_ends_with_the_points_of_a_question() -> None:
    """Found by fuzzing: Microsoft Forms, without the column of feedback after the last points."""
    text = "ID;Name;Total points;Which colour?;Points - Which colour?\n"
    rows = "".join(f"{k};person-{k};1;{'red' if k % 2 else 'blue'};{k % 2}\n" for k in range(1, 7))
    r = hnd.read_responses(io.BytesIO((text + rows).encode()), format="microsoft-forms")
    assert (r.n_users, r.n_items, r.n_options) == (6, 1, 2)


def test_joined_files_keep_users_without_answers() -> None:
    parts = [b"user,q0,q1\nu0,,\nu1,,b\n", b"user,q0,q1\nu2,a,\nu3,b,b\n"]
    r = hnd.read_responses([io.BytesIO(part) for part in parts])
    assert r.users.tolist() == ["u0", "u1", "u2", "u3"]
    assert np.isnan(hnd.rank(r, "majority").ranks[0])


@pytest.mark.xdist_group("report")
def test_no_label_becomes_html(tmp_path: Path) -> None:
    r = hnd.read_responses(table(tmp_path / "a.csv"))
    ranking = hnd.rank(r, "majority")
    compared = hnd.compare(r, ["majority", "hits"])
    for thing in (r, ranking, compared):
        tags = Tags()
        tags.feed(thing._repr_html_())
        assert not {"script", "img"} & set(tags.found)
    path = tmp_path / "report.html"
    ranking.report(path)
    page = path.read_text()
    tags = Tags()
    tags.feed(page)
    assert "img" not in tags.found
    assert "<script>alert" not in page
    assert "onerror=alert(1)>" not in page.replace("&gt;", "")
    assert re.search(r"<svg onload", page) is None


# -- caches --------------------------------------------------------------------------------------


def test_only_folders_of_this_user_are_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir(mode=0o700)
    assert compiling.is_trusted_folder(str(mine))
    assert compiling.is_trusted_folder(str(mine / "not" / "yet"))
    assert not compiling.is_trusted_folder("cache")
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    assert not compiling.is_trusted_folder(str(open_to_all))
    assert not compiling.is_trusted_folder(str(open_to_all / "new"))
    if os.geteuid() == 0:
        os.chown(mine, 12345, 12345)
        assert not compiling.is_trusted_folder(str(mine))


def test_a_planted_cache_is_not_read(tmp_path: Path) -> None:
    code = (
        "import os, hitsndiffs.engines.compiling as c\n"
        "for variable in ('NUMBA_CACHE_DIR', 'XDG_CACHE_HOME'):\n"
        "    os.environ[variable] = 'planted'\n"
        "    @c.kernel\n"
        "    def nothing(x):\n        x = x + 1\n"
        "    print(os.environ.pop(variable))\n"  # what other programs read stays
    )
    unset = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", f"exec(compile({code!r}, {__file__!r}, 'exec'))"],
        cwd=tmp_path,
        env={name: value for name, value in os.environ.items() if name not in unset},
        capture_output=True,
        text=True,
        check=True,
    )
    assert list(tmp_path.iterdir()) == []
    for variable in unset:
        assert f"{variable}=planted is not used for compiled code" in done.stderr
    assert done.stdout.split() == ["planted"] * 2


# -- threads and leaks ---------------------------------------------------------------------------


def test_fifty_threads_on_one_set_of_responses_agree() -> None:
    r = hnd.simulate("grm", users=15, items=8, options=4, seed=3).responses
    methods = ["hnd", "majority", "dawid-skene", "hits", "hnd-robust"]
    alone = {name: hnd.rank(r, name).scores for name in methods}
    fresh = hnd.simulate("grm", users=15, items=8, options=4, seed=3).responses
    found: list[tuple[str, np.ndarray]] = []
    errors: list[BaseException] = []
    start = threading.Barrier(50)

    def work(name: str) -> None:
        try:
            start.wait(timeout=60)
            found.append((name, hnd.rank(fresh, name).scores))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(methods[k % 5],)) for k in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found) == 50
    for name, scores in found:
        assert np.array_equal(scores, alone[name]), name


def test_fits_leak_nothing() -> None:
    r = hnd.simulate("grm", users=20, items=8, options=3, seed=0).responses
    table = np.array([[str(c) for c in row] for row in r.codes.T])
    name = [f"q{i}" for i in range(8)]

    def fit(times: int) -> int:
        for _ in range(times):
            again = hnd.Responses.from_wide(pl.DataFrame(table, schema=name))
            hnd.rank(again, "hnd").table()
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    fit(10)  # caches and pools fill
    before = fit(10)
    after = fit(60)
    assert after - before < 10_000  # KiB; benchmarks/leaks.py does 10,000 fits


def test_an_unknown_error_is_still_one_line(here: Here, tmp_path: Path) -> None:
    done = here("rank", tmp_path / "x\ny.csv")
    assert (done.code, done.err.count("\n")) == (2, 1)
