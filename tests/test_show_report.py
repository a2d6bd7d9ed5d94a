"""The report: complete, self-contained, small, and written whole or not at all."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from commands import QUIZ, Here, write
from factory import make_responses, random_table
from show_cases import HOSTILE, copied, hostile_report

import hitsndiffs as hnd
from hitsndiffs.show.report import EMPTY_ROW, describe, report_html
from hitsndiffs.show.rows import ranking_rows
from hitsndiffs.show.story import verdict
from hitsndiffs.show.templating import asset, policy, render

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
pytest.importorskip("jinja2")

pytestmark = pytest.mark.xdist_group("report")  # one report serves many tests


class Page(HTMLParser):
    """What a browser would see: tags with their attributes, and text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside not in ("script", "style"):
            self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join(" ".join(self.text).split())


@pytest.fixture(scope="module")
def quiz() -> hnd.Ranking:
    return hnd.rank(hnd.read_responses(QUIZ))


@pytest.fixture(scope="module")
def page(quiz: hnd.Ranking) -> str:
    """A report that is made where there is no Altair, which only charts in notebooks need."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "altair", None)
        return report_html(quiz, file=QUIZ, command="hnd rank quiz.csv --report report.html")


def outside_addresses(text: str) -> list[str]:
    """Anything that could reach out of the file."""
    page = Page(text)
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
    policies = [a["content"] for _, a in Page(page).tags if "http-equiv" in a]
    assert policies == [policy()]
    assert f"'sha256-{digest}'" in policy()
    assert "default-src 'none'" in policy()


def test_it_says_all_there_is_to_say(quiz: hnd.Ranking, page: str) -> None:
    words = Page(page).words
    first, second = verdict(quiz)
    assert first in words
    assert second in words
    for user in quiz.users:
        assert str(user) in words
    for item, (option, _) in quiz.answer_key(with_confidence=True).items():
        assert re.search(rf"{item} {option} (over )?\d+ %", words), item
    for note in quiz.notes:
        assert note.split("; confidence")[0].removeprefix("Method latent-key: ") in words
    assert hashlib.sha256(QUIZ.read_bytes()).hexdigest() in words
    assert f"hitsndiffs {quiz.version}" in words
    assert "hnd rank quiz.csv --report report.html" in words
    assert "seed=0" in words


def test_it_says_how_the_file_was_read() -> None:
    ranking = hnd.rank(make_responses(random_table(0, 12, 4, 3)), method="majority")
    reading = [("format", "a table"), ("rows left out", "1 × <b>totals</b>: no user")]
    words = Page(report_html(ranking, reading=reading)).words
    assert "rows left out 1 × <b>totals</b>: no user" in words


def test_tables_and_pictures_have_names(page: str) -> None:
    tags = Page(page).tags
    tables = [a for tag, a in tags if tag == "table"]
    assert len(tables) == len([1 for tag, _ in tags if tag == "caption"])
    pictures = [a for tag, a in tags if tag == "svg" and "chart" in (a.get("class") or "")]
    assert pictures
    assert all(a["role"] == "img" and a["aria-label"] for a in pictures)
    headings = [int(tag[1]) for tag, _ in tags if re.fullmatch(r"h\d", tag)]
    assert headings[0] == 1
    assert all(b - a <= 1 for a, b in itertools.pairwise(headings))


def test_wrong_keys_come_first() -> None:
    sim = hnd.simulate("samejima", users=200, items=12, options=3, seed=2)
    ranking = hnd.rank(sim.responses)
    key = ranking.answer_key()
    wrong = list(key)[7]
    r = sim.responses
    labels = set(r.option_labels[r.option_items == 7].tolist())
    key[wrong] = min(labels - {key[wrong]})
    found = describe(ranking, key=key)
    assert found.audit is not None
    assert [item.name for item in found.audit.items] == [str(wrong)]
    assert "11 of 12 items" in found.audit.sentence
    assert found.doubts[0].item.name == str(wrong)
    words = Page(render("report.html", r=found, empty_row=EMPTY_ROW)).words
    assert words.index("mis-keyed?") < words.index("Find a user")


def test_without_a_key_there_is_no_audit(page: str) -> None:
    assert "Your key" not in Page(page).words


def test_people_are_spoken_of_with_care() -> None:
    found = describe(hnd.rank(copied()))
    alike = next(c for c in found.care if "alike" in c.title)
    pairs = {frozenset((p.first, p.second)) for p in alike.pairs}
    assert frozenset(("student-00", "student-01")) in pairs
    assert (
        "None of this is proof" in Page(render("report.html", r=found, empty_row=EMPTY_ROW)).words
    )


def test_hostile_names_do_no_harm() -> None:
    text = hostile_report()
    page = Page(text)
    assert [tag for tag, _ in page.tags if tag == "img"] == []
    assert len([1 for tag, _ in page.tags if tag == "script"]) == 2  # the rows, and ours
    assert not [a for _, a in page.tags if any(name.startswith("on") for name in a)]
    assert HOSTILE[0] in page.words
    assert "{{7*7}}" in page.words
    assert "\x1b" not in text
    assert outside_addresses(text) == []


def test_doubtful_results_say_so_first() -> None:
    table = np.random.default_rng(0).integers(0, 2, (12, 6))
    ranking = hnd.rank(make_responses(table))
    assert ranking.confidence is not None
    assert ranking.confidence < 0.8
    assert "Do not rely on this order yet" in verdict(ranking)[1]
    assert describe(ranking).tiles[0].concern


@pytest.mark.parametrize("method", ["hnd", "abh", "truthfinder"])
def test_every_kind_of_method_has_a_report(method: str) -> None:
    text = report_html(hnd.rank(make_responses(random_table(2, 25, 5, 3)), method=method))
    assert f"{method}" in Page(text).words


def test_groups_and_silent_users() -> None:
    table = np.full((11, 8), -1)
    table[:6, :4] = random_table(0, 6, 4, 3)
    table[6:10, 4:] = random_table(1, 4, 4, 3)
    ranking = hnd.rank(make_responses(table, users=[f"u{j}" for j in range(11)]), method="hnd")
    assert ranking.n_components > 1
    text = report_html(ranking)
    assert "cannot be compared" in Page(text).words
    data = json.loads(re.search(r'id="rows">(.*?)</script>', text, re.S)[1])  # type: ignore[index]
    assert data["group"][-1] == 0
    assert data["score"][-1] is None


def test_rows_of_many_users_are_packed() -> None:
    table = random_table(3, 2500, 20, 3)
    ranking = hnd.rank(make_responses(table, users=[f"user-{j}" for j in range(2500)]), "majority")
    rows = ranking_rows(ranking)
    assert rows.packed
    assert len(rows.written) == 100
    data = json.loads(zlib.decompress(base64.b64decode(rows.data), -15))
    assert data["user"] == [str(user) for user in ranking.users[ranking.order]]
    assert data["rank"] == ranking.ranks[ranking.order].astype(int).tolist()
    np.testing.assert_allclose(data["score"], ranking.scores[ranking.order], atol=5e-5)


def test_beyond_the_limit_both_ends_are_kept() -> None:
    ranking = hnd.rank(make_responses(random_table(3, 50, 20, 3)), "majority")
    rows = ranking_rows(ranking, searched=20)
    data = json.loads(rows.data)
    kept = [*ranking.users[ranking.order[:10]], *ranking.users[ranking.order[-10:]]]
    assert data["user"] == [str(user) for user in kept]
    assert (rows.n_data, rows.n_users) == (20, 50)


def test_a_class_is_small(page: str) -> None:
    assert len(page.encode()) < 1_500_000


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
    needs = {"altair": quiz.plot, "vl_convert": lambda: report_html(quiz)}
    for package, make in needs.items():
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, package, None)
            with pytest.raises(hnd.InputError, match=r"pip install 'hitsndiffs\[plots\]'"):
                make()


def test_a_report_needs_no_altair(page: str) -> None:
    assert page.count('<svg version="1.1"') > 20


def test_the_style_follows_the_reader() -> None:
    css = asset("style.css")
    assert "@media print" in css
    assert "max-width:34rem" in css


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
    words = Page(path.read_text(encoding="utf-8")).words
    assert "The answers point to your key on 20 of 20 items. No key looks wrong." in words
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
    words = Page(path.read_text(encoding="utf-8")).words
    assert f"These data hold {answers} answers of 30 users" in words
    assert "hnd rank one.csv two.csv --method majority" in words
    assert "SHA-256" not in words
    Here(capsys)("rank", folder, "--method", "majority", "--report", path)
    assert "The folder quizzes holds" in Page(path.read_text(encoding="utf-8")).words


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--report", "report.pdf"], "must be one of .html, .htm; got .pdf"),
        (["--report", "nowhere/report.html"], "there is no folder"),
        (["--key", "key.csv"], "--key is for the report"),
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
