"""The page over HTTP: the whole way, what is refused, what is limited, what is forgotten."""

from __future__ import annotations

import csv
import gzip
import io
import json
import multiprocessing
import os
import random
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import slighter_work
from commands import QUIZ, Here
from formats.lms import moodle

import hitsndiffs as hnd
from hitsndiffs.irt.examples import EXAMPLES
from hitsndiffs.show.web.forms import UNUSED
from hitsndiffs.show.web.jobs import Job, Workers
from hitsndiffs.show.web.settings import Settings
from hitsndiffs.show.web.tasks import _questions

pytest.importorskip("uvicorn", reason="the page is not installed: pip install 'hitsndiffs[web]'")
httpx = pytest.importorskip("httpx", reason="httpx is not installed: pip install httpx")
pytest.importorskip("altair")

from pages import CLASS, Live, Visitor, live  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.xdist_group("page"),
]


@pytest.fixture(scope="module")
def page() -> Iterator[Live]:
    with live() as served:
        yield served


@pytest.fixture
def blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody looks at the pictures of a ranking, none are drawn."""
    monkeypatch.setattr("hitsndiffs.show.web.worker.work", slighter_work.blank)


@pytest.fixture
def endless_ranking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hitsndiffs.show.web.worker.work", slighter_work.endless)


@pytest.fixture
def visitor(page: Live) -> Iterator[Visitor]:
    with Visitor(page) as somebody:
        yield somebody


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
    assert "student-16 and student-06 share the first place" in result.text
    ranking = visitor.client.get("/download/ranking.csv")
    assert ranking.headers["content-disposition"] == 'attachment; filename="quiz-ranking.csv"'
    assert {row["user"] for row in rows(ranking)} == {f"student-{j:02}" for j in range(1, 17)}
    key = rows(visitor.client.get("/download/key.csv"))
    assert [row["item"] for row in key] == [f"q{i:02}" for i in range(1, 9)]
    report = visitor.client.get("/download/report.html")
    assert "Content-Security-Policy" in report.text
    assert "sandbox" in report.headers["content-security-policy"]
    assert visitor.client.get("/download/plan.json").json()["layout"] == "wide"
    assert visitor.client.get("/download/secret").status_code == 404
    assert result.text.count('<svg version="1.1"') > 8  # really drawn


@pytest.mark.usefixtures("blank_pictures")
def test_a_key_is_checked_and_not_used(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    assert "compared with the answers" not in visitor.rank().text
    ranking = visitor.client.get("/download/ranking.csv")
    checked = visitor.rank(key_text="q01 = A\nq02: B", use_key="0")
    assert "Your key, compared with the answers" in checked.text
    assert visitor.client.get("/download/ranking.csv").text == ranking.text


@pytest.mark.usefixtures("blank_pictures")
def test_the_result_is_that_of_the_command(
    visitor: Visitor, class_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    visitor.bring(CLASS)
    visitor.rank(method="majority")
    Here(capsys)("rank", class_file, "--method", "majority", "--out", tmp_path / "ranking.csv")
    told = visitor.client.get("/download/ranking.csv")
    assert told.text == (tmp_path / "ranking.csv").read_text(encoding="utf-8")


@pytest.mark.usefixtures("blank_pictures")
def test_a_column_is_left_out_with_a_click(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    visitor.post("/plan", c8=UNUSED)
    plan = visitor.settled("/plan")
    assert "16 users, 7 items" in plan.text
    visitor.rank(method="majority", c1=UNUSED, c8=UNUSED)  # roles can change at once
    key = rows(visitor.client.get("/download/key.csv"))
    assert [row["item"] for row in key] == [f"q{i:02}" for i in range(2, 8)]
    kept = visitor.client.get("/download/plan.json").json()
    assert {c["name"]: c["role"] for c in kept["columns"]}["q08"] != "item"
    assert "16 users, 6 items" in visitor.client.get("/result").text
    assert "16 users, 6 items" in visitor.settled("/plan").text


def test_no_item_is_left(visitor: Visitor) -> None:
    visitor.bring("name,q1,q2\na,A,B\nb,A,C\nc,B,C\n")
    answer = visitor.post("/rank", c1=UNUSED, c2=UNUSED)
    assert answer.status_code == 422
    assert said(answer).startswith("No column is left")


def test_items_of_an_export_are_left_out_one_by_one(visitor: Visitor) -> None:
    made = moodle()
    n_items = len({item for _, item in made.answers})
    ((name, content),) = made.files.items()
    plan = visitor.bring(content, name)
    assert f"{n_items} items" in plan.text
    boxes = {f"i{k}": "1" for k in range(n_items)}
    visitor.post("/plan", items_shown="1", **{k: v for k, v in boxes.items() if k != "i1"})
    plan = visitor.settled("/plan")
    assert f"{n_items - 1} items" in plan.text
    assert re.search(rf'name="i{n_items - 1}" value="1">', plan.text)  # the last in the list, off
    visitor.post("/plan", items_shown="1", **boxes)
    assert f"{n_items} items" in visitor.settled("/plan").text
    answer = visitor.post("/plan", items_shown="1")
    assert answer.status_code == 422
    assert said(answer).startswith("No item is left")


def test_a_long_table_and_its_roles(visitor: Visitor) -> None:
    plan = visitor.bring(EXAMPLES["crowd.csv"](), "crowd.csv")
    assert "one row per answer" in plan.text
    visitor.post("/plan", c0="item", c1="user")
    assert "50 users, 40 items" in visitor.settled("/plan").text


def test_a_column_holds_the_groups(visitor: Visitor, page: Live) -> None:
    head, *lines = CLASS.splitlines()
    teams = "\n".join([f"{head},team", *(f"{line},t{k % 7}" for k, line in enumerate(lines))])
    visitor.bring(teams)
    visitor.post("/plan", c9="group")
    plan = visitor.settled("/plan")
    assert "16 users, 8 items" in plan.text
    assert "Took &#39;team&#39; as the users&#39; groups: 7 groups." in plan.text
    answer = visitor.post("/plan", c8="group", c9="group")
    assert answer.status_code == 422
    assert said(answer).startswith("Only one column can hold the users&#39; groups")
    files = {"file": ("quiz.csv", teams)}
    answer = httpx.post(f"{page.address}api/rank", files=files, data={"group": "team"}, timeout=120)
    assert "Took 'team' as the users' groups: 7 groups." in answer.json()["notes"]
    assert answer.json()["parameters"]["group"]["student-01"] == "t0"


def test_several_files_are_joined(visitor: Visitor) -> None:
    head, *lines = CLASS.splitlines(keepends=True)
    parts = [("files", (f"part{k}.csv", head + "".join(lines[k::2]))) for k in range(2)]
    visitor.post("/files", files=parts)
    assert "16 users, 8 items" in visitor.settled("/plan").text


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_examples(visitor: Visitor, name: str) -> None:
    visitor.post("/example", name=name)
    plan = visitor.settled("/plan")
    assert plan.status_code == 200
    assert f"<h1>{name}</h1>" in plan.text


@pytest.mark.usefixtures("blank_pictures")
def test_a_key_is_used(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    visitor.rank(use_key="1", method="true-answer", key_text="q01,A\nq02,C")
    ranking = rows(visitor.client.get("/download/ranking.csv"))
    table = {row["student"]: row for row in csv.DictReader(io.StringIO(CLASS))}
    best = [row["user"] for row in ranking if row["rank"] == "1"]
    assert all(table[user]["q01"] == "A" for user in best)


def test_a_key_for_other_items(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    answer = visitor.rank(key_text="q99 = A")
    assert answer.status_code == 422
    assert "q99" in said(answer)


def test_a_key_is_asked_for_that_is_not_there(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    assert "there is none" in said(visitor.rank(use_key="1"))


@pytest.mark.usefixtures("blank_pictures")
def test_a_strong_user(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    assert visitor.rank(method="hnd", strong_user="student-16").status_code == 200
    answer = visitor.rank(method="hnd", strong_user="nobody")
    assert answer.status_code == 422
    assert "nobody" in said(answer)


@pytest.mark.usefixtures("blank_pictures")
def test_methods_are_compared_and_another_is_taken(visitor: Visitor) -> None:
    visitor.bring(CLASS)
    visitor.post("/compare")
    compared = visitor.settled("/compare")
    assert "Methods side by side" in compared.text
    assert "dawid-skene" in compared.text
    visitor.post("/method", method="majority")
    assert "majority" in visitor.settled("/result").text
    assert visitor.post("/method", method="magic").status_code == 422


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
    sentence = said(answer)
    assert sentence.endswith(".")
    assert "Traceback" not in answer.text
    assert "hitsndiffs-page-" not in answer.text
    assert visitor.bring(CLASS).status_code == 200


def test_settings_mend_what_could_not_be_read(visitor: Visitor) -> None:
    twice = "worker,task,label\n" + "".join(
        f"w{w},t{t},{'xy'[(w + t) % 2]}\n" for w in range(6) for t in range(6)
    )
    twice += "w1,t1,y\nw1,t1,x\n"
    answer = visitor.bring(twice, "crowd.csv")
    assert answer.status_code == 422
    visitor.post("/plan", duplicates="last")
    assert visitor.settled("/plan").status_code == 200


@pytest.mark.parametrize(
    "setting", [{"header_row": "x"}, {"rows": "upside down"}, {"separator": "??"}]
)
def test_settings_that_cannot_be(visitor: Visitor, setting: dict[str, str]) -> None:
    visitor.bring(CLASS)
    assert visitor.post("/plan", **setting).status_code == 422


def test_nothing_is_brought(visitor: Visitor) -> None:
    answer = visitor.post("/files", files=[("files", ("", b""))])
    assert answer.status_code == 422
    assert "No file was sent" in said(answer)


def test_nothing_without_a_visit(visitor: Visitor) -> None:
    for path in ("/plan", "/result", "/compare", "/download/ranking.csv"):
        answer = visitor.client.get(path)
        assert answer.url.path == "/"
        assert "Your earlier visit is over" in answer.text
    assert visitor.client.get("/progress").status_code == 404
    assert said(visitor.client.get("/nothing")) == "There is no such page."


# -- security -----------------------------------------------------------------------------------


def test_headers_of_every_answer(page: Live, visitor: Visitor) -> None:
    nonces = set()
    for path in ("/", "/nothing", "/api/openapi.json", "/favicon.ico"):
        headers = visitor.client.get(path).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'nonce-")
        assert "unsafe" not in policy
        nonces.add(re.findall(r"nonce-([\w-]+)", policy)[0])
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert "server" not in headers or "uvicorn" in headers["server"]
    assert len(nonces) == 4
    cookie = httpx.get(page.address).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_foreign_name_is_refused(page: Live, host: str) -> None:
    assert httpx.get(page.address, headers={"Host": host}).status_code == 400


def test_names_of_this_machine(page: Live) -> None:
    port = page.page.settings.port
    for host in ("127.0.0.1", "localhost", "[::1]"):
        answer = httpx.get(page.address, headers={"Host": f"{host}:{port}"})
        assert answer.status_code == 200


@pytest.mark.parametrize("path", ["/files", "/example", "/plan", "/rank", "/cancel", "/end"])
def test_a_form_needs_its_token(visitor: Visitor, page: Live, path: str) -> None:
    visitor.bring("name,q1,q2\na,A,B\nb,A,C\nc,B,C\n")
    with Visitor(page) as other:
        for token in ("", "x", other.token):
            answer = visitor.client.post(path, data={"token": token, "name": "quiz.csv"})
            assert answer.status_code == 403
    assert visitor.client.get("/plan").status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize("path", ["/example", "/api/rank"])
def test_another_site_is_refused(visitor: Visitor, path: str, headers: dict[str, str]) -> None:
    data = {"token": visitor.token, "name": "quiz.csv"}
    files = {"file": ("quiz.csv", CLASS)}
    answer = visitor.client.post(path, data=data, files=files, headers=headers)
    assert answer.status_code == 403


def test_a_cookie_that_was_not_given_here(page: Live) -> None:
    name = page.page.cookie
    answer = httpx.get(page.address, cookies={name: "x" * 32 + "." + "0" * 64})
    assert name in answer.headers["set-cookie"]


@pytest.mark.usefixtures("blank_pictures")
def test_visitors_do_not_see_each_other(page: Live) -> None:
    with Visitor(page) as first, Visitor(page) as second:
        first.bring(CLASS.replace("student", "secret"), "secret.csv")
        second.bring(CLASS)
        first.rank(method="majority")
        second.rank(method="majority")
        for path in ("/", "/plan", "/result", "/download/ranking.csv", "/download/report.html"):
            assert "secret" in first.client.get(path).text
            assert "secret" not in second.client.get(path).text


@pytest.mark.usefixtures("blank_pictures")
def test_names_of_files_and_formulas_do_no_harm(visitor: Visitor, page: Live) -> None:
    formulas = CLASS.replace("student-0", "=student-0").replace("q01", "@q01")
    for name in ("../../../escape.csv", "/etc/escape.csv", "..\\escape.csv", ".hidden.csv"):
        assert visitor.bring(formulas, name).status_code == 200
        (file,) = list(page.page.visits._visits.values())[-1].files
        assert file.parent.parent.parent == page.folder
        assert "/" not in file.name
    visitor.rank(method="majority")
    ranking = visitor.client.get("/download/ranking.csv")
    told = ranking.headers["content-disposition"]
    assert told == 'attachment; filename="hidden-ranking.csv"'
    # formulas are made harmless
    users = [row["user"] for row in rows(ranking)]
    assert sum(user.startswith("'=") for user in users) == 9
    assert not any(user.startswith("=") for user in users)
    assert rows(visitor.client.get("/download/key.csv"))[0]["item"] == "'@q01"


# -- limits -------------------------------------------------------------------------------------


def hard(n_users: int = 3000, n_items: int = 400) -> str:
    """Answers that take a while to read and to rank."""
    rows = [["user", *(f"q{i}" for i in range(n_items))]]
    rows += [[f"u{j}", *("ABCDE"[(j * i + j) % 5] for i in range(n_items))] for j in range(n_users)]
    return "\n".join(map(",".join, rows))


def test_uploads_are_bounded() -> None:
    with live(max_upload=20_000) as small, Visitor(small) as visitor:
        answer = visitor.client.post(
            "/files", data={"token": visitor.token}, files={"files": ("x.csv", b"x" * 1_100_000)}
        )
        assert answer.status_code == 413
        assert "At most 20 kB" in answer.text

        def body() -> Iterator[bytes]:  # no length is given beforehand
            yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\n'
            for _ in range(100):
                yield b"x" * 65536
            yield b"\r\n--b--\r\n"

        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = visitor.client.post("/files", content=body(), headers=kind)
        assert answer.status_code == 413
        assert visitor.bring("name,q1,q2\na,A,B\nb,A,C\nc,B,C\n").status_code == 200


def test_uploaded_files_are_closed(
    page: Live, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []

    class Kept(tempfile.SpooledTemporaryFile[bytes]):
        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            opened.append(self)

    monkeypatch.setattr("starlette.formparsers.SpooledTemporaryFile", Kept)
    sent = {"files": ("x.csv", b"x"), "file": ("y.csv", b"y")}
    for path, status in (("files", 403), ("api/rank", 422)):
        answer = httpx.post(page.address + path, data={"seed": "-1"}, files=sent)
        assert answer.status_code == status
    visitor.bring(CLASS)
    assert len(opened) == 5
    assert all(file.closed for file in opened)


def test_an_upload_that_stops_is_given_up() -> None:
    with live(patience=0.5) as served:

        def body() -> Iterator[bytes]:
            yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="x"\r\n\r\n'
            time.sleep(1.5)
            yield b"x"

        kind = {"Content-Type": "multipart/form-data; boundary=b"}
        answer = httpx.post(f"{served.address}files", content=body(), headers=kind, timeout=30)
        assert answer.status_code == 408


@pytest.mark.usefixtures("endless_ranking")
def test_work_is_cancelled(page: Live, visitor: Visitor) -> None:
    visitor.bring(CLASS, "hard.csv")
    visitor.post("/rank")
    answer = visitor.post("/cancel")
    assert answer.url.path == "/plan"
    (visit,) = [v for v in page.page.visits._visits.values() if v.title == "hard.csv"]
    assert visit.job is not None
    assert visit.job.state == "cancelled"
    assert visitor.bring(CLASS).status_code == 200


def test_a_limit_on_time() -> None:
    with live(time_limit=0.01) as served, Visitor(served) as visitor:
        answer = visitor.bring(hard(), "hard.csv")
        assert answer.status_code == 422
        assert "took longer than" in said(answer)


def test_the_process_to_fork_from_starts_with_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[bool] = []
    monkeypatch.setattr("multiprocessing.forkserver.ensure_running", lambda: begun.append(True))
    with live():
        assert begun == [True]


class SlowStart:
    """Processes that are done after a start of a thousand seconds."""

    pid, exitcode = 2**31 - 1, 0
    now = 1.0

    def Pipe(self) -> Any:
        return multiprocessing.Pipe()

    def Process(self, target: object, args: tuple[Any, ...]) -> SlowStart:
        self.connection = args[0]
        return self

    def start(self) -> None:
        self.now += 1000
        self.connection.send_bytes(b'{"result": {}}')

    def join(self, seconds: float) -> None: ...
    def close(self) -> None: ...
    def is_alive(self) -> bool:
        return False


def test_the_limit_on_time_begins_when_the_process_has_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workers, slow = Workers(Settings(time_limit=600)), SlowStart()
    monkeypatch.setattr(workers, "_context", slow)
    monkeypatch.setattr("hitsndiffs.show.web.jobs.time.monotonic", lambda: slow.now)
    job = Job({"kind": "plan"})
    workers._watch(job)
    assert (job.state, job.error) == ("done", "")


def test_a_limit_on_memory() -> None:
    resource = pytest.importorskip("resource", reason="this system has no limit on memory")
    if not hasattr(resource, "RLIMIT_DATA"):
        pytest.skip("this system has no limit on memory")
    limit = 300_000_000 + 25_000_000 * (os.cpu_count() or 1)  # threads have stacks
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


def test_more_visits_than_may_be() -> None:
    with live(max_visits=2) as served:
        visitors = [Visitor(served) for _ in range(3)]
        for somebody in visitors:
            somebody.bring("name,q1,q2\na,A,B\nb,A,C\nc,B,C\n")
        assert len(served.page.visits) == 2
        assert "is over" in visitors[0].client.get("/plan").text
        assert visitors[2].client.get("/plan").status_code == 200
        for somebody in visitors:
            somebody.client.close()


def test_more_work_than_may_wait() -> None:
    with live(max_waiting=0) as served, Visitor(served) as visitor:
        answer = visitor.post("/example", name="quiz.csv")
        assert answer.status_code == 503
        assert "busy" in said(answer)


# -- nothing is kept ----------------------------------------------------------------------------


@pytest.mark.usefixtures("blank_pictures")
def test_nothing_stays_on_disk() -> None:
    with live() as served:
        with Visitor(served) as visitor:
            visitor.bring(CLASS)
            visitor.rank(method="majority")
            assert [p.name for p in served.folder.rglob("quiz.csv")] == ["quiz.csv"]
            visitor.post("/end")
            assert [p.name for p in served.folder.iterdir()] == ["lock"]
            visitor.bring(CLASS)
            folder = served.folder
        assert folder.is_dir()
    assert not folder.exists()


def test_an_idle_visit_is_forgotten() -> None:
    with live(idle=0.0) as served, Visitor(served) as visitor:
        visitor.bring(CLASS)
        served.page.visits.sweep()
        assert [p.name for p in served.folder.iterdir()] == ["lock"]
        assert "is over" in visitor.client.get("/plan").text


# -- programs -----------------------------------------------------------------------------------


def test_programs_get_what_the_command_prints(
    page: Live, class_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more in ({}, {"method": "majority"}, {"by": "ability", "strong_user": "student-03"}):
        files = {"file": ("quiz.csv", CLASS)}
        answer = httpx.post(f"{page.address}api/rank", files=files, data=more, timeout=120)
        assert answer.status_code == 200
        assert answer.headers["content-type"] == "application/json"
        options = [x for k, v in more.items() for x in (f"--{k.replace('_', '-')}", v)]
        printed = Here(capsys)("rank", class_file, "--json", *options).out
        assert json.loads(answer.text) == json.loads(printed)
        assert answer.text == printed
    assert list(page.folder.rglob("ranking.json")) == []


@pytest.mark.usefixtures("endless_ranking")
def test_the_work_of_a_program_that_hangs_up_is_stopped() -> None:
    with live() as served:
        files = {"file": ("quiz.csv", CLASS)}
        with pytest.raises(httpx.ReadTimeout):
            httpx.post(f"{served.address}api/rank", files=files, timeout=0.5)
        until = time.monotonic() + 30
        while served.page.workers._open or len(served.page.visits):
            assert time.monotonic() < until, "the work goes on"
            time.sleep(0.1)
        assert [p.name for p in served.folder.iterdir()] == ["lock"]


def test_names_that_are_endless(visitor: Visitor) -> None:
    long = "x" * 40_000
    lines = [f"name,{long},q2,q3", *(f"{long}{j},A,{'AB'[j % 2]},{'BC'[j % 2]}" for j in range(9))]
    plan = visitor.bring("\n".join(lines), f"{long}.csv")
    assert plan.status_code in (200, 422)
    assert len(plan.content) < 100_000


def test_programs_give_known_answers(
    page: Live, class_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    known = "item,answer\nq01,A\nq02,C\n"
    (tmp_path / "known.csv").write_text(known)
    files = {"file": ("quiz.csv", CLASS), "answers": ("known.csv", known)}
    answer = httpx.post(f"{page.address}api/rank", files=files, timeout=120)
    printed = Here(capsys)("rank", class_file, "--json", "--answers", tmp_path / "known.csv").out
    assert json.loads(answer.text) == json.loads(printed)


@pytest.mark.parametrize(
    ("files", "data", "status"),
    [
        ({"wrong": ("quiz.csv", CLASS)}, {}, 400),
        ({"file": ("quiz.csv", CLASS)}, {"method": "magic"}, 422),
        ({"file": ("quiz.csv", CLASS)}, {"seed": "-1"}, 422),
        ({"file": ("quiz.csv", CLASS)}, {"by": "luck"}, 422),
        ({"file": ("bad.csv", b"\x00\xff" * 50)}, {}, 422),
    ],
)
def test_programs_get_a_sentence(page: Live, files: Any, data: Any, status: int) -> None:
    answer = httpx.post(f"{page.address}api/rank", files=files, data=data, timeout=60)
    assert answer.status_code == status
    (sentence,) = answer.json().values()
    assert sentence.endswith(".")
    assert "hitsndiffs-page-" not in sentence


def test_rubbish_instead_of_a_form(page: Live) -> None:
    for kind in ("multipart/form-data; boundary=b", "multipart/form-data", "text/plain"):
        answer = httpx.post(
            f"{page.address}api/rank", content=b"rubbish", headers={"Content-Type": kind}
        )
        assert answer.status_code == 400
        assert "error" in answer.json()


def test_the_description_is_valid(page: Live) -> None:
    found = httpx.get(f"{page.address}api/openapi.json").json()
    assert found["openapi"] == "3.1.0"
    schema = found["paths"]["/api/rank"]["post"]["responses"]["200"]["content"]
    validator = pytest.importorskip("jsonschema")
    answer = httpx.post(
        f"{page.address}api/rank", files={"file": ("quiz.csv", CLASS)}, timeout=120
    ).json()
    validator.validate(answer, schema["application/json"]["schema"])
    del answer["users"]
    with pytest.raises(validator.ValidationError):
        validator.validate(answer, schema["application/json"]["schema"])
    checker = pytest.importorskip("openapi_spec_validator", reason="no validator of OpenAPI")
    checker.validate(found)


# -- in doubt -----------------------------------------------------------------------------------


@pytest.mark.usefixtures("blank_pictures")
def test_the_page_asks_when_it_is_in_doubt(visitor: Visitor) -> None:
    """Answers by chance: nobody can be sure who is good, and a right answer is asked for."""
    chance = random.Random(4)
    lines = ["student," + ",".join(f"q{i}" for i in range(8))]
    lines += [f"s{j}," + ",".join(chance.choices("ABCD", k=8)) for j in range(16)]
    visitor.bring("\n".join(lines))
    result = visitor.rank()
    assert "You can help" in result.text
    for item in re.findall(r'name="known:(\w+)" value=""', result.text):
        visitor.post("/known", **{f"known:{item}": "B"})
        again = visitor.settled("/result")
        assert again.status_code == 200
        break
    else:
        assert 'href="/plan#help"' in result.text


@pytest.mark.usefixtures("blank_pictures")
def test_an_answer_to_a_question_is_used(page: Live, visitor: Visitor) -> None:
    visitor.bring(CLASS, "asked.csv")
    visitor.rank(method="hnd")
    (visit,) = [v for v in page.page.visits._visits.values() if v.title == "asked.csv"]
    assert visit.result is not None
    assert visit.job is not None
    question = {"item": "q01", "options": list("ABCD")}
    visit.job.result |= {"doubt": "It is only 60 % sure.", "questions": [question]}
    asked = visitor.client.get("/result")
    assert "What is right for <strong>q01</strong>?" in asked.text
    assert 'name="known:q01" value="B"' in asked.text
    visitor.text = asked.text
    visitor.post("/known", **{"known:q01": "B"})
    assert visitor.settled("/result").status_code == 200
    assert visit.job.task["known"] == {"q01": "B"}
    assert "--answers known.csv" in visitor.client.get("/download/report.html").text


def test_questions_are_those_of_the_ranking() -> None:
    ranking = hnd.rank(hnd.read_responses(QUIZ), "majority")

    class Doubtful:
        responses, confidence = ranking.responses, 0.6

        def ask(self, k: int) -> list[Any]:
            return [SimpleNamespace(item="q03"), SimpleNamespace(item="q09")][:k]

    found = _questions(Doubtful())  # type: ignore[arg-type]
    assert [question["item"] for question in found] == ["q03", "q09"]
    assert found[0]["options"] == ["A", "B", "C", "D"]
    Doubtful.confidence = 0.95
    assert _questions(Doubtful()) == []  # type: ignore[arg-type]
