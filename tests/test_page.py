"""The page over HTTP: the whole way, what is refused, what is limited, what is removed."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from commands import QUIZ, Here
from formats.lms import moodle

import hitsndiffs as hnd
from hitsndiffs.irt.examples import EXAMPLES
from hitsndiffs.show.web.forms import UNUSED

pytest.importorskip("uvicorn", reason="the page is not installed: pip install 'hitsndiffs[web]'")
httpx = pytest.importorskip("httpx", reason="httpx is not installed: pip install httpx")
pytest.importorskip("altair")

from pages import CLASS, Live, Visitor, live  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.xdist_group("page"),
]
SMALL = "name,q1,q2\na,A,B\nb,A,C\nc,B,C\n"
FORM = {"Content-Type": "multipart/form-data; boundary=b"}
FILE_BEGINS = b'--b\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\n'


@pytest.fixture(scope="module")
def page() -> Iterator[Live]:
    with live() as served:
        yield served


@pytest.fixture
def visitor(page: Live) -> Iterator[Visitor]:
    with Visitor(page) as somebody:
        yield somebody
        somebody.post("end")


def said(answer: Any) -> str:
    """The one sentence of a page that says what went wrong."""
    found = re.findall(r'<p class="lead">(.*?)</p>', answer.text)
    assert len(found) == 1
    return str(found[0])


def rows(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.text)))


# -- the way ----------------------------------------------------------------------------------


@pytest.fixture
def class_file(tmp_path: Path) -> Path:
    path = tmp_path / "quiz.csv"
    path.write_text(CLASS, encoding="utf-8")
    return path


def test_from_the_file_to_the_downloads(visitor: Visitor) -> None:
    plan = visitor.bring(CLASS)
    assert plan.status_code == 200
    assert "16 users, 8 items, 122 answers" in plan.text
    result = visitor.rank()
    assert result.text.index('id="verdict"') < result.text.index("download/report.html")
    ranking = visitor.get("download/ranking.csv")
    assert ranking.headers["content-disposition"] == 'attachment; filename="quiz-ranking.csv"'
    assert {row["user"] for row in rows(ranking)} == {f"student-{j:02}" for j in range(1, 17)}
    key = rows(visitor.get("download/key.csv"))
    assert [row["item"] for row in key] == [f"q{i:02}" for i in range(1, 9)]
    report = visitor.get("download/report.html")
    assert "Content-Security-Policy" in report.text
    assert "sandbox" in report.headers["content-security-policy"]
    assert visitor.get("download/how-it-is-read.json").json()["layout"] == "wide"
    assert visitor.get("download/secret").status_code == 404


def test_a_key_is_checked_or_used(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    assert 'id="audit"' not in visitor.rank(method="majority").text
    ranking = visitor.get("download/ranking.csv")
    checked = visitor.rank(method="majority", key_text="q01 = A\nq02: B", use_key="0")
    assert 'id="audit"' in checked.text
    assert visitor.get("download/ranking.csv").text == ranking.text
    visitor.rank(use_key="1", method="true-answer", key_text="q01,A\nq02,C")
    table = {row["student"]: row for row in csv.DictReader(io.StringIO(CLASS))}
    best = [row["user"] for row in rows(visitor.get("download/ranking.csv")) if row["rank"] == "1"]
    assert all(table[user]["q01"] == "A" for user in best)
    answer = visitor.rank(key_text="q99 = A")
    assert answer.status_code == 422
    assert "q99" in said(answer)
    assert "there is none" in said(visitor.rank(use_key="1"))


def test_the_key_in_a_file_is_used_with_a_click(visitor: Visitor) -> None:
    head, *lines = CLASS.splitlines()
    columns = list(zip(*(line.split(",")[1:] for line in lines), strict=True))
    usual = [max(set(column) - {""}, key=column.count) for column in columns]
    visitor.bring("\n".join([head, f"KEY,{','.join(usual)}", *lines]))
    assert "Use the key" in visitor.rank().text
    visitor.post("rank", use_key="1")
    used = visitor.settled("result").text
    assert "Use the key" not in used
    assert "--answers known.csv" in used


def test_the_result_is_that_of_the_command(
    visitor: Visitor, class_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    visitor.bring(CLASS)
    visitor.rank(method="majority")
    Here(capsys)("rank", class_file, "--method", "majority", "--out", tmp_path / "ranking.csv")
    told = visitor.get("download/ranking.csv")
    assert told.text == (tmp_path / "ranking.csv").read_text(encoding="utf-8")


def test_columns_are_left_out_with_a_click(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    visitor.post("plan", c8=UNUSED)
    assert "16 users, 7 items" in visitor.settled("plan").text
    visitor.rank(method="majority", c1=UNUSED, c8=UNUSED)  # roles can change at once
    key = rows(visitor.get("download/key.csv"))
    assert [row["item"] for row in key] == [f"q{i:02}" for i in range(2, 8)]
    kept = visitor.get("download/how-it-is-read.json").json()
    assert {c["name"]: c["role"] for c in kept["columns"]}["q08"] != "item"
    assert "16 users, 6 items" in visitor.get("result").text
    visitor.bring(SMALL)
    answer = visitor.post("rank", planned="1", c1=UNUSED, c2=UNUSED)
    assert answer.status_code == 422
    assert said(answer).startswith("No column is left")


def test_items_of_an_export_are_left_out_one_by_one(visitor: Visitor) -> None:
    made = moodle()
    n_items = len({item for _, item in made.answers})
    ((name, content),) = made.files.items()
    assert f"{n_items} items" in visitor.bring(content, name).text
    boxes = {f"i{k}": "1" for k in range(n_items)}
    visitor.post("plan", items_shown="1", **{k: v for k, v in boxes.items() if k != "i1"})
    plan = visitor.settled("plan")
    assert f"{n_items - 1} items" in plan.text
    assert re.search(rf'name="i{n_items - 1}" value="1">', plan.text)  # the last in the list, off
    visitor.post("plan", items_shown="1", **boxes)
    assert f"{n_items} items" in visitor.settled("plan").text
    answer = visitor.post("plan", items_shown="1")
    assert answer.status_code == 422
    assert said(answer).startswith("No item is left")


def test_a_long_table_and_its_roles(visitor: Visitor) -> None:
    plan = visitor.bring(EXAMPLES["crowd.csv"](), "crowd.csv")
    assert "one row per answer" in plan.text
    visitor.post("plan", c0="item", c1="user")
    assert "50 users, 40 items" in visitor.settled("plan").text


def test_a_column_holds_the_groups(visitor: Visitor) -> None:
    head, *lines = CLASS.splitlines()
    visitor.bring("\n".join([f"{head},team", *(f"{x},t{k % 7}" for k, x in enumerate(lines))]))
    visitor.post("plan", c9="group")
    plan = visitor.settled("plan")
    assert "16 users, 8 items" in plan.text
    assert "7 groups" in plan.text
    answer = visitor.post("plan", c8="group", c9="group")
    assert answer.status_code == 422
    assert said(answer).startswith("Only one column can hold the users&#39; groups")


def test_sections_groups_clusters_and_predictions_are_columns_or_files(visitor: Visitor) -> None:
    head, *body = [line.split(",") for line in QUIZ.read_text(encoding="utf-8").splitlines()]
    lines = ["worker,task,label,topic,team,most"]
    for j, (user, *answers) in enumerate(body):
        for i, (item, label) in enumerate(zip(head[1:], answers, strict=True)):
            topic, team = "algebra" if i < 10 else "geometry", "red" if j % 2 else "blue"
            lines += [f"{user},{item},{label},{topic},{team},{label}"] if label else []
    assert "Predictions of the users" in visitor.bring("\n".join(lines), "long.csv").text
    said = visitor.rank(sections="topic", groups="team", clusters="topic").text
    for word in ("Sections and groups", "algebra", "red", "Items of one cluster (2 in all)"):
        assert word in said
    command = visitor.get("download/report.html").text
    assert "--sections topic --compare-groups team --clusters topic" in command
    assert "Labels to ask for" not in said
    answer = visitor.rank(predicted="most")
    assert 'id="audit"' in answer.text
    assert "Marks (CSV)" in answer.text
    assert set(rows(visitor.get("download/marks.csv"))[0]) == {"user", "marks", "out_of", "percent"}
    files = {"sections_file": ("own.csv", "item,section\n" + "".join(
        f"q{i:02},{'first' if i < 10 else 'second'}\n" for i in range(1, 21)))}  # fmt: skip
    visitor.post("rank", files=files, planned="1")
    assert "second" in visitor.settled("result").text
    assert visitor.rank(sections="../../etc/passwd").status_code == 422
    assert visitor.rank(groups="nowhere").status_code == 422


def test_several_files_are_one_piece_of_work(visitor: Visitor) -> None:
    head, *lines = CLASS.splitlines()
    halves = ["\n".join([head, *lines[:8]]), "\n".join([head, *lines[8:]])]
    parts = [("files", (f"part-{k}.csv", half.encode())) for k, half in enumerate(halves)]
    visitor.begin("/files", files=parts)
    assert "16 users, 8 items" in visitor.settled("plan").text


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_examples(visitor: Visitor, name: str) -> None:
    visitor.begin("/example", data={"name": name})
    plan = visitor.settled("plan")
    assert plan.status_code == 200
    assert f"<h1>{name}</h1>" in plan.text


def test_a_strong_user(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    assert visitor.rank(method="hnd", strong_user="student-16").status_code == 200
    answer = visitor.rank(method="hnd", strong_user="nobody")
    assert answer.status_code == 422
    assert "nobody" in said(answer)


def test_methods_are_compared_and_another_is_taken(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    visitor.post("compare")
    compared = visitor.settled("compare")
    assert "Methods side by side" in compared.text
    assert "dawid-skene" in compared.text
    visitor.post("rank", method="majority")
    assert "majority" in visitor.settled("result").text
    visitor.post("rank", method="magic")
    assert visitor.settled("result").status_code == 422


def test_the_page_asks_when_it_is_in_doubt_and_uses_the_answer(
    visitor: Visitor, page: Live
) -> None:
    """Answers by chance: nobody can be sure who is good, and a right answer is asked for."""
    chance = random.Random(4)
    lines = ["student," + ",".join(f"q{i}" for i in range(8))]
    lines += [f"s{j}," + ",".join(chance.choices("ABCD", k=8)) for j in range(16)]
    visitor.bring("\n".join(lines))
    result = visitor.rank()
    assert result.text.index('id="verdict"') < result.text.index("You can help")
    asks = hnd.rank(hnd.read_responses(io.BytesIO("\n".join(lines).encode()))).verdict.asks
    asked = re.findall('name="known:([^"]+)" value=""', result.text)
    assert asked == [item for item, _ in asks]
    assert "hnd rank quiz.csv" in visitor.get("download/report.html").text
    work = page.page.works.get(visitor.work.removeprefix("/piece/"))
    assert work is not None
    visitor.post("rank", **{"known:q1": "B", "known:q2": ""})
    assert visitor.settled("result").status_code == 200
    assert work.job is not None
    assert work.job.task["known"] == {"q1": "B"}
    assert "--answers" in visitor.get("download/report.html").text


# -- each piece of work by itself -----------------------------------------------------------------


def test_two_tabs_are_two_pieces_of_work(page: Live) -> None:
    with Visitor(page) as first, Visitor(page) as second:
        second.client = first.client  # one browser
        first.bring(CLASS.replace("student", "amber"), "amber.csv")
        second.bring(CLASS.replace("student", "violet"), "violet.csv")
        first.rank(method="hnd", key_text="q01 = A", use_key="1")
        second.rank(method="majority")
        first.post("rank", **{"known:q02": "C"})
        first.settled("result")
        for one, own, other in ((first, "amber", "violet"), (second, "violet", "amber")):
            for step in ("plan", "result", "download/ranking.csv", "download/report.html"):
                text = one.get(step).text
                assert own in text
                assert other not in text
        job = page.page.works.get(second.work.removeprefix("/piece/")).job  # type: ignore[union-attr]
        assert job is not None
        assert job.task["known"] == {}
        first.post("end")
        assert second.get("result").status_code == 200
        second.post("end")


def test_who_does_not_know_the_address_sees_nothing(page: Live, visitor: Visitor) -> None:
    visitor.bring(CLASS.replace("student", "secret"), "secret.csv")
    assert len(visitor.work.removeprefix("/piece/")) >= 24
    assert "set-cookie" not in visitor.get("plan").headers
    with Visitor(page) as other:
        assert "secret" not in other.client.get("/").text
        for guess in ("x", "..", "%2e%2e", "0" * 24):
            answer = other.client.get(f"/piece/{guess}/plan")
            assert "secret" not in answer.text
            assert answer.status_code in (200, 404)


def test_nothing_without_a_piece_of_work(visitor: Visitor) -> None:
    visitor.work = "/piece/gone"
    for step in ("plan", "result", "compare", "download/ranking.csv"):
        answer = visitor.get(step)
        assert answer.url.path == "/"
        assert "This work is over" in answer.text
    assert visitor.get("progress").status_code == 404
    assert visitor.post("leave").status_code == 410
    assert said(visitor.client.get("/nothing")) == "There is no such page."


# -- what goes wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("rubbish.csv", bytes(range(256)) * 40),
        ("empty.csv", b""),
        ("damaged.parquet", b"PAR1" + b"\x00" * 200 + b"PAR1"),
        ("deadly.parquet", (Path(__file__).parent / "run_too_long.parquet").read_bytes()),
        ("damaged.xlsx", b"PK\x03\x04" + b"\xff" * 300),
        ("one.csv", b"student,q1\nada,A\n"),
        ("broken.json", b'{"a": ['),
    ],
)
def test_a_broken_file_gets_a_sentence(visitor: Visitor, name: str, content: bytes) -> None:
    answer = visitor.bring(content, name)
    assert answer.status_code == 422
    assert said(answer).endswith(".")
    assert "Traceback" not in answer.text
    assert "hitsndiffs-page-" not in answer.text
    assert visitor.bring(CLASS).status_code == 200


def test_settings_mend_what_could_not_be_read(visitor: Visitor) -> None:
    twice = "worker,task,label\n" + "".join(
        f"w{w},t{t},{'xy'[(w + t) % 2]}\n" for w in range(6) for t in range(6)
    )
    assert visitor.bring(f"{twice}w1,t1,y\nw1,t1,x\n", "crowd.csv").status_code == 422
    visitor.post("plan", duplicates="last")
    assert visitor.settled("plan").status_code == 200


def test_nothing_that_a_browser_sends_is_a_fault_of_the_program(visitor: Visitor) -> None:
    visitor.bring(SMALL)
    long = {"seed": "9" * 5000, "method": "x" * 300_000, "strong_user": "y" * 400_000}
    for form in (
        {"header_row": "x"},
        {"header_row": "9" * 5000},
        {"layout": "upside down"},
        {"separator": "??"},
        {"c0": "king"},
        {"method": "magic"},
        {f"known:{'q' * 400}": "A"},
        {"known:q01": "Z"},
        long,
        {},
    ):
        for step in ("plan", "rank"):
            answer = visitor.post(step, **form)
            assert answer.status_code < 500, (step, form)
            assert visitor.settled("result").status_code < 500, (step, form)
    for kind in ("multipart/form-data; boundary=b", "multipart/form-data", "text/plain", ""):
        for path in ("/files", "/example", f"{visitor.work}/rank", "/api/rank"):
            answer = visitor.client.post(path, content=b"rubbish", headers={"Content-Type": kind})
            assert answer.status_code < 500, (path, kind)
    sent = {"key_file": ("key", b"\xff\x00" * 99)}
    visitor.post("rank", files=sent)
    assert visitor.settled("result").status_code == 422
    assert "No file was sent" in said(visitor.begin("/files", files=[("files", ("", b""))]))
    visitor.post("end")
    assert visitor.post("rank").status_code == 200  # the start


# -- security -----------------------------------------------------------------------------------


def test_headers_of_every_answer(visitor: Visitor) -> None:
    for path in ("/", "/nothing", "/favicon.ico"):
        headers = visitor.client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert "set-cookie" not in headers


def test_only_names_of_this_machine(page: Live) -> None:
    port = page.page.settings.port
    for host, status in (
        ("evil.example", 400),
        ("evil.example:80", 400),
        ("127.0.0.1.evil.example", 400),
        ("[::1].evil.com", 400),
        ("localhost:1@evil", 400),
        ("localhost:80:80", 400),
        ("", 400),
        (f"127.0.0.1:{port}", 200),
        (f"localhost:{port}", 200),
        (f"[::1]:{port}", 200),
    ):
        assert httpx.get(page.address, headers={"Host": host}).status_code == status, host


def test_another_site_is_refused(page: Live) -> None:
    sent = {"data": {"name": "quiz.csv"}, "files": {"file": ("quiz.csv", CLASS)}}
    for path in ("/example", "/files", "/api/rank", "/piece/x/rank", "/piece/x/leave"):
        for headers in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Sec-Fetch-Site": "cross-site"},
            {"Sec-Fetch-Site": "same-site"},
        ):
            answer = httpx.post(page.address + path[1:], headers=headers, **sent)
            assert answer.status_code == 403, (path, headers)


def test_names_of_files_and_formulas_do_no_harm(visitor: Visitor, page: Live) -> None:
    formulas = CLASS.replace("student-0", "=student-0").replace("q01", "@q01")
    for name in ("../../../escape.csv", "/etc/escape.csv", "..\\escape.csv", ".hidden.csv"):
        assert visitor.bring(formulas, name).status_code == 200
        work = page.page.works.get(visitor.work.removeprefix("/piece/"))
        assert work is not None
        (file,) = work.files
        assert file.parent.parent.parent == page.folder
    visitor.rank(method="majority")
    ranking = visitor.get("download/ranking.csv")
    assert ranking.headers["content-disposition"] == 'attachment; filename="hidden-ranking.csv"'
    users = [row["user"] for row in rows(ranking)]
    assert sum(user.startswith("'=") for user in users) == 9
    assert not any(user.startswith("=") for user in users)
    assert rows(visitor.get("download/key.csv"))[0]["item"] == "'@q01"


def test_no_code_from_the_folder_is_run(tmp_path: Path) -> None:
    for name in ("signal", "json", "numpy", "polars", "sitecustomize", "multiprocessing/__init__"):
        path = tmp_path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w').write(__name__)\n")
    program = (
        "import os, sys; sys.path = [p for p in sys.path if p];"
        f"os.chdir({str(tmp_path)!r});"
        f"sys.path[:0] = {[str(Path(__file__).parent)]!r};"
        "from pages import live, Visitor, CLASS\n"
        "with live() as page, Visitor(page) as visitor:\n"
        "    visitor.bring(CLASS)\n"
        "    print(visitor.rank(method='majority').status_code)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "200", done.stderr
    assert not (tmp_path / "ran").exists()


# -- limits -------------------------------------------------------------------------------------


def test_uploads_are_bounded() -> None:
    with live(max_upload=20_000) as small, Visitor(small) as visitor:
        answer = visitor.begin("/files", files={"files": ("x.csv", b"x" * 1_100_000)})
        assert answer.status_code == 413
        assert "At most 20 kB" in answer.text

        def body() -> Iterator[bytes]:  # no length is given beforehand
            yield FILE_BEGINS
            for _ in range(100):
                yield b"x" * 65536
            yield b"\r\n--b--\r\n"

        answer = visitor.client.post("/files", content=body(), headers=FORM)
        assert answer.status_code == 413
        assert visitor.bring(SMALL).status_code == 200


def test_a_job_is_cancelled_or_ends_after_a_time_and_the_next_one_begins() -> None:
    with live("endless_work", time_limit=3) as served, Visitor(served) as visitor:
        visitor.bring(CLASS)
        visitor.post("rank")
        assert visitor.get("progress").json()["state"] in ("waiting", "running")
        assert visitor.post("cancel").url.path.endswith("/plan")
        answer = visitor.rank()
        assert answer.status_code == 422
        assert "took longer than" in said(answer)
        assert visitor.bring(CLASS).status_code == 200


def test_a_limit_on_memory() -> None:
    resource = pytest.importorskip("resource", reason="this system has no limit on memory")
    if not hasattr(resource, "RLIMIT_DATA"):
        pytest.skip("this system has no limit on memory")
    limit = 150_000_000 + 25_000_000 * (os.cpu_count() or 1)  # threads have stacks
    names = ",".join(f"q{i}" for i in range(1000))
    cells = ",".join(str(i % 7) for i in range(1000))
    text = f"user,{names}\n" + "".join(f"u{j},{cells}\n" for j in range(50_000))
    bomb = gzip.compress(text.encode(), 1)
    assert len(bomb) < 2_000_000
    with live(memory_limit=limit) as served, Visitor(served) as visitor:
        assert visitor.bring(CLASS).status_code == 200
        answer = visitor.bring(bomb, "bomb.csv.gz")
        assert answer.status_code == 422
        assert "more memory than" in said(answer)
        assert visitor.bring(CLASS).status_code == 200


def test_who_does_not_finish_a_request_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("hitsndiffs.show.web.server.PATIENCE", 0.5)
    begun = {
        "nothing": b"",
        "half a head": b"GET / HTTP/1.1\r\nHost: localhost\r\n",
        "a body that does not come": b"POST /files HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\n",
    }
    with live() as served:
        host, port = "127.0.0.1", served.page.settings.port
        for what, sent in begun.items():
            with socket.create_connection((host, port), timeout=20) as half:
                half.sendall(sent)
                with socket.create_connection((host, port), timeout=20) as other:
                    other.sendall(b"GET /favicon.ico HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    assert other.recv(100).startswith(b"HTTP/1.1 204"), what
                    other.sendall(b"GET / HT")  # the second request of a connection
                    answer = b""
                    with contextlib.suppress(ConnectionError):
                        while piece := half.recv(1000):
                            answer += piece
                    assert answer in (b"", answer[:0]) or answer.startswith(b"HTTP/1.1 4"), what
                    with contextlib.suppress(ConnectionError):
                        while other.recv(1000):
                            pass


# -- nothing is kept ----------------------------------------------------------------------------


def test_nothing_stays_on_disk() -> None:
    with live() as served:
        with Visitor(served) as visitor:
            visitor.bring(CLASS)
            visitor.rank(method="majority")
            assert [p.name for p in served.folder.rglob("quiz.csv")] == ["quiz.csv"]
            assert served.folder.stat().st_mode & 0o077 == 0
            visitor.post("end")
            assert {p.name for p in served.folder.iterdir()} <= {"lock"}
            visitor.bring(CLASS)
            folder = served.folder
        assert folder.is_dir()
    assert not folder.exists()


def test_work_whose_tabs_are_closed_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitsndiffs.show.web.app.SWEEP", 0.1)
    now = [1000.0]
    monkeypatch.setattr(
        "hitsndiffs.show.web.works.time", SimpleNamespace(monotonic=lambda: now[0], time=time.time)
    )
    with live() as served, Visitor(served) as visitor:

        def is_kept(after: float) -> bool:
            now[0] += after
            time.sleep(0.5)  # several looks
            return len(served.page.works) == 1

        visitor.bring(CLASS)
        assert is_kept(after=3500)
        visitor.get("plan")
        visitor.post("leave")
        assert is_kept(after=60)
        visitor.get("progress")  # another tab still shows it
        assert is_kept(after=100)
        visitor.post("leave")
        assert not is_kept(after=100)
        visitor.bring(CLASS)
        visitor.get("progress")
        assert not is_kept(after=3700)  # an hour, though a tab is open
        assert {p.name for p in served.folder.iterdir()} <= {"lock"}


# -- programs -----------------------------------------------------------------------------------


def test_programs_get_what_the_command_prints(
    page: Live, class_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = "item,answer\nq01,A\nq02,C\n"
    (tmp_path / "known.csv").write_text(known)
    for more, key in (
        ({}, False),
        ({"method": "majority"}, False),
        ({"by": "ability", "strong_user": "student-03"}, False),
        ({}, True),
    ):
        files = {"file": ("quiz.csv", CLASS)} | ({"answers": ("known.csv", known)} if key else {})
        answer = httpx.post(f"{page.address}api/rank", files=files, data=more, timeout=120)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        options = [x for k, v in more.items() for x in (f"--{k.replace('_', '-')}", v)]
        options += ["--answers", tmp_path / "known.csv"] if key else []
        printed = json.loads(Here(capsys)("rank", class_file, "--json", *options).out)
        told = json.loads(answer.text)
        del printed["verdict"]["help"], told["verdict"]["help"]  # there a command, here a call
        assert told == printed
    assert list(page.folder.rglob("ranking.json")) == []


def left(served: Live) -> set[str]:
    return {path.name for path in served.folder.iterdir()}


def test_the_work_of_a_program_that_hangs_up_is_stopped() -> None:
    with live("endless_work") as served:
        files = {"file": ("quiz.csv", CLASS)}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{served.address}api/rank", files=files, timeout=0.5)
        until = time.monotonic() + 30
        while len(served.page.works) or left(served) - {"lock"}:
            assert time.monotonic() < until, "the work goes on, or its files are still there"
            time.sleep(0.1)


def test_names_that_are_endless(visitor: Visitor) -> None:
    long = "x" * 40_000
    lines = [f"name,{long},q2,q3", *(f"{long}{j},A,{'AB'[j % 2]},{'BC'[j % 2]}" for j in range(9))]
    content = "\n".join(lines).encode()
    plan = visitor.begin("/files", files=[("files", (f"{long}.csv", content))])
    if visitor.work:
        plan = visitor.settled("plan")
    assert plan.status_code in (200, 400, 422)
    assert len(plan.content) < 100_000


@pytest.mark.parametrize(
    ("files", "data", "status"),
    [
        ({"wrong": ("quiz.csv", CLASS)}, {}, 400),
        ({"file": ("quiz.csv", CLASS)}, {"method": "magic"}, 422),
        ({"file": ("quiz.csv", CLASS)}, {"seed": "-1"}, 422),
        ({"file": ("quiz.csv", CLASS)}, {"seed": "9" * 5000}, 422),
        ({"file": ("quiz.csv", CLASS)}, {"by": "luck"}, 422),
        ({"file": ("bad.csv", b"\x00\xff" * 50)}, {}, 422),
    ],
)
def test_programs_get_a_sentence(page: Live, files: Any, data: Any, status: int) -> None:
    answer = httpx.post(f"{page.address}api/rank", files=files, data=data, timeout=60)
    assert answer.status_code == status
    (sentence,) = answer.json().values()
    assert sentence[-1] in ".?"
    assert "hitsndiffs-page-" not in sentence
