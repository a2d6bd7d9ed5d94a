"""The report: complete, self-contained, small, and written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import QUIZ, Here, write
from factory import make_responses, random_table
from show_cases import HOSTILE, Html, copied, handed_out, hostile_report

import hitsndiffs as hnd
from hitsndiffs.show import report as module
from hitsndiffs.show import report_data
from hitsndiffs.show.report import Report, describe, report_html
from hitsndiffs.show.report_data import stored
from hitsndiffs.show.templating import policy, render

pytest.importorskip("jinja2")

pytestmark = pytest.mark.xdist_group("report")  # one report serves many tests


@pytest.fixture(scope="module")
def quiz() -> hnd.Ranking:
    return hnd.rank(hnd.read_responses(QUIZ))


@pytest.fixture(scope="module")
def page(quiz: hnd.Ranking) -> str:
    """A report that is made where there is no chart library, which only notebooks need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "altair", None)
        patch.setitem(sys.modules, "vl_convert", None)
        return report_html(quiz, file=QUIZ, command="hnd rank quiz.csv --report report.html")


def held(report: Report) -> dict[str, Any]:
    """The data in a report, as its script reads them."""
    text, is_packed = stored(report.data)
    if is_packed:
        text = zlib.decompress(base64.b64decode(text), -15).decode()
    found: dict[str, Any] = json.loads(text)
    return found


def column(data: dict[str, Any], name: str) -> list[Any]:
    return next(list(c["values"]) for c in data["columns"] if c["name"] == name)


def outside_addresses(text: str) -> list[str]:
    """Anything that could reach out of the file."""
    text = text.replace("http://www.w3.org/2000/svg", "")  # the name of a namespace
    page = Html(text)
    links = [
        value
        for _, attributes in page.tags
        for name, value in attributes.items()
        if name in ("src", "href", "xlink:href", "srcset", "action", "data", "poster", "xmlns")
        and value is not None
        and not value.startswith("#")
    ]
    return links + re.findall(r"(?:https?:)?//[\w.-]+\.\w+|@import|url\(", text)


def test_there_is_no_outside_address(page: str) -> None:
    assert outside_addresses(page) == []
    assert outside_addresses('<img src="x">') == ["x"]  # the check can fail


def test_the_policy_allows_the_script_and_nothing_else(page: str) -> None:
    script = re.search(r"<script>(.*?)</script>", page, re.S)
    assert script is not None
    digest = base64.b64encode(hashlib.sha256(script[1].encode()).digest()).decode()
    policies = [a["content"] for _, a in Html(page).tags if "http-equiv" in a]
    assert policies == [policy()]
    assert f"'sha256-{digest}'" in policy()
    assert "default-src 'none'" in policy()


def test_it_says_all_there_is_to_say(quiz: hnd.Ranking, page: str) -> None:
    words = Html(page).words
    assert str(quiz.verdict) in words
    assert quiz.verdict.help in words
    for note in quiz.notes[1:]:  # the first goes without saying: which column names the users
        assert note.split("; confidence")[0].removeprefix("Method latent-key: ") in words
    assert hashlib.sha256(QUIZ.read_bytes()).hexdigest() in words
    assert f"hitsndiffs {quiz.version}" in words
    assert words.count("hnd rank quiz.csv --report report.html") == 1
    assert "seed=0" in words


def test_it_holds_the_ranking_the_items_and_every_answer(quiz: hnd.Ranking) -> None:
    data = held(describe(quiz))
    cells, r = quiz.cells(), quiz.responses
    assert [c["name"] for c in data["columns"]] == list(cells.columns)
    assert column(data, "user") == cells.values("user")
    assert column(data, "rank") == cells.values("rank")
    np.testing.assert_allclose(column(data, "correct"), cells.values("correct"), atol=5e-5)
    key = quiz.answer_key()
    assert {i["name"]: i["options"][i["key"]] for i in data["items"]} == key
    lines = [line.split(",") for line in QUIZ.read_text(encoding="utf-8").splitlines()]
    table = {line[0]: line[1:] for line in lines[1:]}
    code = data["answers"]["code"]
    assert len(code) == r.n_users * r.n_items
    for at, user in enumerate(column(data, "user")):
        row = [ord(c) - 36 for c in code[at * r.n_items : (at + 1) * r.n_items]]
        told = [
            "" if o < 0 else item["options"][o] for o, item in zip(row, data["items"], strict=True)
        ]
        assert told == table[user]
    for item in data["items"]:
        assert sum(item["counts"]) == item["answers"]
        total = np.sum(item["curve"], axis=0)
        assert len(item["curve"]) == len(item["drawn"])
        np.testing.assert_allclose(total, 1, atol=0.01)


def test_it_says_how_the_file_was_read() -> None:
    ranking = hnd.rank(make_responses(random_table(0, 12, 4, 3)), method="majority")
    reading = [("format", "a table"), ("rows left out", "1 × <b>totals</b>: no user")]
    words = Html(report_html(ranking, reading=reading)).words
    assert "rows left out 1 × <b>totals</b>: no user" in words


def test_tables_have_names_and_headings_an_order(page: str) -> None:
    tags = Html(page).tags
    assert len(Html(page).of("table")) == len(Html(page).of("caption"))
    headings = [int(tag[1]) for tag, _ in tags if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(headings))
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    anchors = [a["href"][1:] for tag, a in tags if tag == "a" and a.get("href")]  # type: ignore[index]
    assert set(anchors) <= set(ids)


def test_a_wrong_key_comes_first_with_who_gains_and_who_loses() -> None:
    sim = hnd.simulate("grm", users=200, items=30, options=4, seed=1)
    ranking, r, right = hnd.rank(sim.responses), sim.responses, sim.key
    key = {**right, "item-04": "A"}
    found = describe(ranking, key=key)
    assert found.audit is not None
    wrong, changes = found.audit.tables
    assert [row[0] for row in wrong.rows if row[-1] == "looks wrong"] == ["item-04"]
    data = held(found)
    assert data["items"][data["doubts"][0]]["name"] == "item-04"
    words = Html(render("report/report.html", r=found)).words
    assert words.index("looks wrong") < words.index("Find a user")
    before, after = hnd.marks(r, key), hnd.marks(r, right)
    gains = after.marks - before.marks
    assert f"{int((gains != 0).sum())} users in all" in changes.more
    for user, old, new, gain in changes.rows:
        j = ranking.user_number(user)
        assert float(gain) == gains[j] != 0
        assert (float(old), float(new)) == (before.marks[j], after.marks[j])
    np.testing.assert_array_equal(data["marks"], [m.marks[ranking.order] for m in (before, after)])


def test_labels_that_were_handed_out_say_who_stands_out_and_what_to_ask_next() -> None:
    ranking = handed_out()
    found = describe(ranking)
    assert found.labels is not None
    assert ("labels", "Labels") in found.contents
    odd, asked = found.labels.tables
    assert [row[0] for row in odd.rows] == [str(ranking.users[29])]
    assert "cat" in odd.rows[0][2]
    expected = ranking.next_labels(150)
    assert [row[0] for row in asked.rows] == [f"picture-{i}" for i in expected.items[:20]]
    assert [row[1] for row in asked.rows] == [str(ranking.users[j]) for j in expected.users[:20]]
    assert expected.sentence() in found.labels.sentences


def test_a_class_with_a_few_blanks_is_not_asked_for_labels(quiz: hnd.Ranking) -> None:
    assert not quiz.responses.is_complete
    assert describe(quiz).labels is None


@pytest.mark.parametrize(
    ("users", "items", "asked", "labels", "shown"),
    [
        (20, 30, 0.6, ("cat", "dog"), True),  # most workers did most pictures, and not all
        (20, 30, 0.6, ("A", "B"), False),  # a test with many blanks
        (4, 60, 1.0, ("A", "B"), True),  # four people labelled everything
        (20, 30, 1.0, ("cat", "dog"), False),
    ],
)
def test_what_was_handed_out_for_labels(
    users: int, items: int, asked: float, labels: tuple[str, str], shown: bool
) -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=items)
    right = rng.random((users, items)) < 0.85
    table = np.array(labels, dtype=object)[np.where(right, truth, 1 - truth)]
    table[rng.random(table.shape) > asked] = None
    assert (describe(hnd.rank(table)).labels is not None) == shown


def test_without_a_key_there_is_no_audit(page: str) -> None:
    assert "Your key" not in Html(page).words


def test_people_are_spoken_of_with_care() -> None:
    ranking = hnd.rank(copied())
    found = describe(ranking)
    alike = next(part for part in found.care if "similar" in part.title)
    assert {"student-00", "student-01"} in [set(row[:2]) for row in alike.tables[0].rows]
    assert "independent votes" in alike.sentences[1]
    assert "None of this is proof" in Html(render("report/report.html", r=found)).words


def test_sections_and_groups_are_compared() -> None:
    sim = hnd.simulate("2pl", users=120, items=20, seed=1)
    names = [f"{'algebra' if i < 10 else 'geometry'}-{i}" for i in range(20)]
    labels = sim.responses.option_labels
    table = np.full((120, 20), None, dtype=object)
    indptr, chosen = sim.responses.rows
    for j in range(120):
        own = chosen[indptr[j] : indptr[j + 1]]
        table[j, sim.responses.option_items[own]] = labels[own]
    users = list(map(str, sim.responses.users))
    group = {user: "north" if j % 2 else "south" for j, user in enumerate(users)}
    answers = hnd.Responses.from_wide(table, users=users, items=names)
    ranking = hnd.rank(answers, "dawid-skene")
    found = describe(ranking)
    (sections,) = [part for part in found.parts if part.title == "Sections"]
    assert [row[0] for row in sections.tables[0].rows] == ["algebra", "geometry"]
    assert "what the items' names begin with" in sections.sentences[1]
    expected = hnd.parts(answers, ranking.answer_key(), "names")
    data = held(found)["sections"]
    assert [s["items"] for s in data] == [list(range(10)), list(range(10, 20))]
    np.testing.assert_allclose(
        [s["error"] for s in data], [own.sem / 10 for own in expected.sections.values()], atol=1e-4
    )
    halves = dict.fromkeys(names[:5], "first") | dict.fromkeys(names[5:], "rest")
    told = describe(ranking, sections=halves)
    assert [row[0] for row in told.parts[0].tables[0].rows] == ["first", "rest"]
    assert len(told.parts[0].sentences) == 1  # nothing was guessed
    parts = describe(ranking, groups=group).parts
    (groups,) = [part for part in parts if part.title == "Groups"]
    assert {row[:2] for row in groups.tables[0].rows} == {("north", "60"), ("south", "60")}
    assert "No item is clearly harder" in groups.sentences[0] or "harder for" in groups.sentences[0]


def test_hostile_names_do_no_harm() -> None:
    text = hostile_report()
    page = Html(text)
    assert page.is_harmless()
    assert len(page.of("script")) == 2  # the data, and ours
    assert HOSTILE[0] in page.words
    assert "{{7*7}}" in page.words
    assert "\x1b" not in text
    assert outside_addresses(text) == []


def test_doubtful_results_say_so_first() -> None:
    table = np.random.default_rng(0).integers(0, 2, (12, 6))
    ranking = hnd.rank(make_responses(table))
    assert ranking.verdict.doubt
    found = describe(ranking)
    words = Html(render("report/report.html", r=found)).words
    assert words.index(str(ranking.verdict)) < words.index("Find a user")
    assert not found.has_key
    # no number that looks precise beside a doubt
    assert not any(item["curve"] for item in held(found)["items"]), "nor a picture of the order"
    assert held(found)["shown"] == ["rank", "user"]
    assert "<svg" not in ranking._repr_html_()


def test_opinions_are_on_their_scale_and_nobody_is_first() -> None:
    scale = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    rng = np.random.default_rng(0)
    said = np.clip(np.round(rng.normal(2, 1, (30, 1)) + rng.normal(0, 0.7, (30, 6))), 0, 4)
    found = describe(hnd.rank([[scale[int(k)] for k in row] for row in said]))
    assert held(found)["labels"] == scale
    assert held(found)["shown"] == ["user"]
    names = [name for _, name in found.contents]
    assert names.index("Items") < names.index("Who answers alike")
    assert found.verdict.help == "hnd.agreement(responses).pairs()"


@pytest.mark.parametrize("method", ["hnd", "abh", "truthfinder"])
def test_every_kind_of_method_has_a_report(method: str) -> None:
    text = report_html(hnd.rank(make_responses(random_table(2, 25, 5, 3)), method=method))
    assert f"{method}" in Html(text).words


def test_groups_and_silent_users() -> None:
    table = np.full((11, 8), -1)
    table[:6, :4] = random_table(0, 6, 4, 3)
    table[6:10, 4:] = random_table(1, 4, 4, 3)
    ranking = hnd.rank(make_responses(table, users=[f"u{j}" for j in range(11)]), method="hnd")
    assert ranking.n_components > 1
    text = report_html(ranking)
    assert "cannot be compared" in Html(text).words
    data = held(describe(ranking))
    assert column(data, "component")[-1] is None
    assert column(data, "score")[-1] is None
    assert data["answers"]["code"][-8:] == "#" * 8


def test_beyond_the_limits_both_ends_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    ranking = hnd.rank(make_responses(random_table(3, 50, 20, 3)), "majority")
    monkeypatch.setattr(report_data, "MOST_USERS", 20)
    monkeypatch.setattr(report_data, "MOST_ANSWERS", 8 * 20)
    found = describe(ranking)
    data = held(found)
    kept = [*ranking.users[ranking.order[:10]], *ranking.users[ranking.order[-10:]]]
    assert column(data, "user") == list(map(str, kept))
    assert (data["answers"]["first"], data["answers"]["last"]) == (4, 4)
    assert len(data["answers"]["code"]) == 8 * 20
    words = Html(render("report/report.html", r=found)).words
    assert "the first and the last 10 of 50 users" in words
    assert "the answers of the first and the last 4 users" in words


def test_many_users_are_packed_and_a_class_is_small(page: str) -> None:
    table = random_table(3, 2500, 20, 3)
    ranking = hnd.rank(make_responses(table, users=[f"user-{j}" for j in range(2500)]), "majority")
    found = describe(ranking)
    assert stored(found.data)[1]
    assert column(held(found), "user") == ranking.users[ranking.order].tolist()
    assert len(report_html(ranking)) < 150_000
    assert len(page.encode()) < 80_000


def test_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    ranking = hnd.rank(make_responses(random_table(0, 12, 4, 3)), method="majority")
    assert ranking.report(path) == path
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", fail)
    monkeypatch.setattr("os.write", fail)
    with pytest.raises(hnd.InputError, match="the disk is full"):
        ranking.report(path, file=QUIZ)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_missing_extra_is_named(quiz: hnd.Ranking, monkeypatch: pytest.MonkeyPatch) -> None:
    module.environment.cache_clear()
    for package, make in {"altair": quiz.plot, "jinja2": lambda: report_html(quiz)}.items():
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(hnd.InputError, match=r"pip install 'hitsndiffs\[plots\]'"):
                make()


# -- the command ------------------------------------------------------------------------------


def test_the_command_writes_a_report(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, quiz: hnd.Ranking
) -> None:
    hnd_ = Here(capsys)
    path = tmp_path / "report.html"
    key = quiz.answer_key()
    file = write(tmp_path / "key.csv", ["item,answer", *(f"{i},{a}" for i, a in key.items())])
    plan = write(tmp_path / "plan.json", [hnd_("check", QUIZ, "--json").out])
    done = hnd_("rank", QUIZ, "--report", path, "--key", file, "--by", "ability", "--plan", plan)
    assert done.code == 0
    words = Html(path.read_text(encoding="utf-8")).words
    assert "in the key" in words
    command = "hnd rank quiz.csv --plan plan.json --by ability --key key.csv --report report.html"
    assert command in words


def test_a_report_on_several_files_names_none_of_them_as_the_source(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = [",".join(line.split(",")[:4]) for line in QUIZ.read_text().splitlines()]
    answers = sum(bool(cell) for line in lines[1:] for cell in line.split(",")[1:])
    folder = tmp_path / "quizzes"
    folder.mkdir()
    one = write(folder / "one.csv", lines[:16])
    two = write(folder / "two.csv", [lines[0], *lines[16:]])
    path = tmp_path / "report.html"
    Here(capsys)("rank", one, two, "--method", "majority", "--report", path)
    words = Html(path.read_text(encoding="utf-8")).words
    assert f"30 users, 3 items, {answers} answers" in words
    assert "hnd rank one.csv two.csv --method majority" in words
    assert "SHA-256" not in words
    Here(capsys)("rank", folder, "--method", "majority", "--report", path)
    assert "quizzes" in Html(path.read_text(encoding="utf-8")).words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--report", "report.pdf"], "must be one of .html, .htm; got .pdf"),
        (["--report", "nowhere/report.html"], "there is no folder"),
    ],
)
def test_what_cannot_be_written_is_said_first(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    done = Here(capsys)("rank", QUIZ, *arguments)
    assert done.code == 2
    assert said in done.err
    assert done.out == ""


def test_a_plan_shows_itself_and_stands_in_the_report(tmp_path):
    import hitsndiffs as hnd
    from hitsndiffs.cli import main

    file = tmp_path / "quiz.csv"
    file.write_text("student,q1,q2,<Score>\na,A,B,1\nb,A,B,2\nc,B,B,1\nd,A,C,0\n")
    shown = hnd.plan(file)._repr_html_()
    assert "How it is read" in shown
    assert "<Score>" not in shown
    assert "&lt;Score&gt;" in shown
    main(["rank", str(file), "--report", str(tmp_path / "report.html"), "--quiet"])
    assert "&lt;Score&gt;" in (tmp_path / "report.html").read_text()
