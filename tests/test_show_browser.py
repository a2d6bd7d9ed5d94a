"""The report in a real browser: it works, it is accessible, and names do no harm."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browsers
import numpy as np
import pytest
from browsers import OF_LOOKS, browser, violations
from commands import QUIZ
from factory import make_responses, random_table, some
from show_cases import HOSTILE, handed_out, hostile_report

import hitsndiffs as hnd

pytest.importorskip("jinja2")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.xdist_group("report"),
]

SIZES = {"screen": (1100, 900), "phone": (390, 800)}


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


class Visit(browsers.Visit):
    """A visit to a report."""

    def __init__(self, chromium: Any, path: Path, **options: Any) -> None:
        super().__init__(chromium, path.as_uri(), **options)
        self.page.wait_for_selector(".alive", state="attached")

    def find(self, text: str, found: str) -> None:
        """Search for a user, and wait for the number found."""
        self.page.fill("#find", text)
        self.page.wait_for_selector(f'#found:text-is("{found}")')


@pytest.fixture(scope="module")
def quiz() -> hnd.Ranking:
    return hnd.rank(hnd.read_responses(QUIZ))


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory, quiz: hnd.Ranking) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    large = make_responses(random_table(1, 3000, 3, 3), users=[f"user-{j}" for j in range(3000)])
    bad = folder / "hostile.html"
    bad.write_text(hostile_report(), encoding="utf-8")
    return {
        "quiz": quiz.report(folder / "quiz.html", key=quiz.answer_key(), file=QUIZ),
        "large": hnd.rank(large, "majority").report(folder / "large.html"),
        "hostile": bad,
    }


LIGHT, DARK = ("screen", "light", None), ("phone", "dark", OF_LOOKS)
LOOKS = [("quiz", *LIGHT), ("hostile", *DARK), ("large", *LIGHT), ("large", *DARK)]
LOOKS += [("quiz", *DARK), ("hostile", *LIGHT)]


@pytest.mark.parametrize(("name", "size", "scheme", "rules"), some(LOOKS, 2))
def test_accessible_and_silent(
    chromium: Any,
    reports: dict[str, Path],
    name: str,
    scheme: str,
    size: str,
    rules: list[str] | None,
) -> None:
    width, height = SIZES[size]
    with Visit(
        chromium,
        reports[name],
        color_scheme=scheme,
        viewport={"width": width, "height": height},
    ) as visit:
        assert violations(visit.page, rules) == []
        assert visit.wrong == []
        assert visit.outside == []
        assert visit.fits()


def test_sorting_with_the_mouse_and_from_the_keyboard(
    chromium: Any, reports: dict[str, Path], quiz: hnd.Ranking
) -> None:
    users = [str(user) for user in quiz.users[quiz.order]]
    with Visit(chromium, reports["quiz"]) as visit:
        assert visit.column(2) == users
        visit.page.click("#ranking th:nth-child(2) button")
        assert visit.column(2) == sorted(users)
        visit.page.click("#ranking th:nth-child(2) button")
        assert visit.column(2) == sorted(users, reverse=True)
        assert visit.page.get_attribute("#ranking th:nth-child(2)", "aria-sort") == "descending"
        visit.page.click("#ranking th:nth-child(1) button")
        assert visit.column(2) == users
        heads = visit.page.locator("#item-table th").all_inner_texts()
        number = heads.index("sure") + 1
        visit.page.focus(f"#item-table th:nth-child({number}) button")
        visit.page.keyboard.press("Enter")
        sure = [float(text.rstrip(" %")) for text in visit.column(number, "#item-table")]
        assert sure == sorted(sure)


def test_from_a_user_to_the_answers_to_an_item_and_who_chose_what(
    chromium: Any, reports: dict[str, Path], quiz: hnd.Ranking
) -> None:
    key = quiz.answer_key()
    r = quiz.responses
    user = str(quiz.users[quiz.order[4]])
    own = {i: a for u, i, a in answers(r) if u == user}
    differs = {i for i, a in own.items() if a != key[i]}
    with Visit(chromium, reports["quiz"]) as visit:
        page = visit.page
        page.click(f'#ranking tbody button:text-is("{user}")')
        assert page.inner_text("#detail-title") == user
        assert f"Differs from the likely key on {len(differs)} item" in page.inner_text("#detail")
        assert set(visit.column(1, "#detail-body > .scroll")) == differs
        item = min(differs)
        page.click(f'#detail button:text-is("{item}")')
        assert page.inner_text("#detail-title") == item
        assert page.get_attribute("#detail svg", "aria-label").startswith("Picture: share of")
        chose = {a: {u for u, i, b in answers(r) if (i, b) == (item, a)} for a in "ABCD"}
        for row in page.locator("#detail tbody tr").all():
            option = row.locator("th").inner_text()[0]
            assert int(row.locator("td >> nth=0").inner_text()) == len(chose[option])
            assert set(row.locator("td.who").inner_text().split(", ")) == chose[option]
        page.keyboard.press("Escape")
        assert not page.is_visible("#detail")
        page.click("#score-map circle >> nth=0")
        assert page.is_visible("#detail")
        page.click("#detail-close")
        page.locator("#every-answer").click(position={"x": 3, "y": 3})
        assert page.inner_text("#detail-title") == str(quiz.users[quiz.order[0]])
        assert visit.wrong == []
        assert violations(page, ["aria-dialog-name", "label"]) == []


def test_two_users_side_by_side_say_what_the_library_says(
    chromium: Any, reports: dict[str, Path], quiz: hnd.Ranking
) -> None:
    first, second = (str(quiz.users[j]) for j in quiz.order[[0, 9]])
    with Visit(chromium, reports["quiz"]) as visit:
        page = visit.page
        page.click(f'#ranking tbody button:text-is("{second}")')
        page.fill("#other", first)
        page.keyboard.press("Enter")
        assert page.inner_text("#detail-title") == f"{second} and {first}"
        said = page.inner_text("#detail .lead")
        expected = quiz.versus(first, second)
        assert f"{first} is above {second} with a probability of" in said
        assert f"{100 * expected.probability:.0f} %" in said
        assert f"differ on {len(expected.items)} of {expected.shared} items" in said
        rows = visit.column(1, "#detail-body > .scroll:last-child")
        assert set(rows) == {d.item for d in expected.items}
        page.click("#detail-close")
        page.click("#pairs summary")
        best = page.locator("#pairs tbody tr >> nth=0").locator("td").all_inner_texts()
        for cell, j in zip(best, quiz.order[1:20], strict=True):
            chance = 100 * quiz.versus(first, quiz.users[j]).probability
            assert abs(int(cell.lstrip("<>")) - chance) <= 1
        page.click("#pairs td[data-tip] >> nth=3")
        assert page.inner_text("#detail-title").startswith(f"{first} and ")
        assert visit.wrong == []


def test_pairs_count_clusters_as_the_library_does(
    chromium: Any, tmp_path: Path, quiz: hnd.Ranking
) -> None:
    of_item = {item: place % 4 for place, item in enumerate(quiz.responses.items.tolist())}
    path = quiz.report(tmp_path / "clusters.html", clusters=of_item)
    first = str(quiz.users[quiz.order[0]])
    with Visit(chromium, path) as visit:
        visit.page.click("#pairs summary")
        assert "Items of one cluster (4 in all)" in visit.page.inner_text("#pairs")
        best = visit.page.locator("#pairs tbody tr >> nth=0").locator("td").all_inner_texts()
        for cell, j in zip(best, quiz.order[1:20], strict=True):
            chance = 100 * quiz.versus(first, quiz.users[j], clusters=of_item).probability
            assert abs(int(cell) - chance) <= 0.51
        assert visit.wrong == []


def answers(r: hnd.Responses) -> list[tuple[str, str, str]]:
    """Every answer, as user, item and option."""
    indptr, chosen = r.rows
    users = np.repeat(r.users, np.diff(indptr))
    return list(zip(users, r.items[r.option_items[chosen]], r.option_labels[chosen], strict=True))


def test_the_downloads_are_in_the_file(
    chromium: Any, reports: dict[str, Path], quiz: hnd.Ranking
) -> None:
    with Visit(chromium, reports["quiz"]) as visit:
        rows = visit.download("#save-ranking")
        assert [row["user"] for row in rows] == quiz.cells().values("user")
        assert list(rows[0]) == list(quiz.cells().columns)
        rows = visit.download("#save-key")
        assert {row["item"]: row["answer"] for row in rows} == quiz.answer_key()
        rows = visit.download("#save-marks")
        marks = hnd.marks(quiz.responses, quiz.answer_key()).marks[quiz.order]
        assert [(row["user"], float(row["marks"])) for row in rows] == [
            (str(quiz.users[j]), mark) for j, mark in zip(quiz.order, marks, strict=True)
        ]
        assert visit.outside == []


def test_searching_among_thousands(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["large"]) as visit:
        assert len(visit.column(2)) == 100
        visit.find("USER-299", "11 of 3,000 users")
        wanted = {"user-299", *(f"user-299{d}" for d in range(10))}
        assert set(visit.column(2)) == wanted
        visit.find("", "3,000 users")
        visit.page.click("#ranking .more button")
        assert len(visit.column(2)) == 600


def test_without_scripts_the_first_users_are_listed(
    chromium: Any, reports: dict[str, Path], quiz: hnd.Ranking
) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["quiz"].as_uri())
    text = page.inner_text("main")
    context.close()
    assert str(quiz.verdict) in text.replace("\xa0", " ")
    assert all(str(user) in text for user in quiz.users)


def test_hostile_names_are_shown_as_they_are(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["hostile"]) as visit:
        assert HOSTILE[0] in visit.column(2)
        assert "=1+1" in visit.column(2)
        assert visit.page.query_selector("img") is None
        visit.find("<img", "2 of 28 users")
        assert len(visit.column(2)) == 2
        visit.page.click("#ranking th:nth-child(2) button")
        assert visit.wrong == []


def test_opinions_keep_one_colour_and_one_order_per_label(chromium: Any, tmp_path: Path) -> None:
    table = np.random.default_rng(2).integers(1, 6, (40, 8)).astype(str)
    table[:, 0] = np.tile([f"{k} agree" for k in range(1, 6)], 8)
    table = np.char.replace(np.char.add(table, " agree"), "agree agree", "agree")
    ranking = hnd.rank(hnd.Responses.from_wide(table))
    assert ranking.ratings
    with Visit(chromium, ranking.report(tmp_path / "opinions.html")) as visit:
        drawn = visit.page.eval_on_selector_all(
            "#item-table tbody tr", "rows => rows.map(r => [...r.querySelectorAll('.stack span')]"
            ".map(s => [s.className, s.dataset.tip.split(':')[0]]))",
        )  # fmt: skip
        assert drawn == [[[f"step-{k}", f"{k} agree"] for k in range(1, 6)]] * 8
        assert visit.page.inner_text("#shades").split("\n") == [f"{k} agree" for k in range(1, 6)]


def test_a_labeller_is_shown_with_the_use_of_each_label(chromium: Any, tmp_path: Path) -> None:
    ranking = handed_out()
    user = ranking.users[29]  # always says cat
    with Visit(chromium, ranking.report(tmp_path / "labels.html")) as visit:
        visit.find(str(user), "1 of 30 users")
        visit.page.click("#ranking tbody button")
        expected = ranking.confusion(user)
        table = '#detail [aria-label="How this user uses each label"]'
        assert visit.column(1, table) == expected["right"].to_list()
        assert visit.column(2, table) == [f"{n:.1f}" for n in expected["items"]]
        for place, label in enumerate(("cat", "dog", "fox")):
            shares = [f"{100 * share:.0f} %" for share in expected[label]]
            assert visit.column(3 + place, table) == shares
        asked = visit.page.click("#detail-close") or visit.download("#save-asked")
        assert list(asked[0]) == list(ranking.next_labels(1).cells().columns)
        assert len(asked) == len(ranking.next_labels(150).items)
        assert visit.wrong == []


def test_letters_keep_their_size_on_a_phone(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["quiz"], viewport={"width": 390, "height": 800}) as visit:
        heights = visit.page.eval_on_selector_all(
            "#score-map text, #scatter text",
            "all => all.map(t => t.getBoundingClientRect().height)",
        )
        assert len(heights) > 10
        assert min(heights) > 11


def test_on_paper_it_is_light(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["quiz"], color_scheme="dark") as visit:
        colour = "getComputedStyle(document.body).color"
        on_screen = visit.page.evaluate(colour)
        visit.page.emulate_media(media="print")
        assert visit.page.evaluate(colour) == "rgb(28, 36, 48)" != on_screen
        assert visit.page.evaluate(
            "getComputedStyle(document.querySelector('.finder')).display"
        ) == ("none")


@pytest.mark.parametrize(("users", "pages"), [(30, 2), (500, 10)])
def test_the_pages_on_paper(chromium: Any, tmp_path: Path, users: int, pages: int) -> None:
    sim = hnd.simulate("samejima", users=users, items=20, options=4, seed=3)
    report = hnd.rank(sim.responses).report(tmp_path / "report.html", key=sim.key)
    with Visit(chromium, report) as visit:
        paper = visit.page.pdf(format="A4")
        assert len(re.findall(rb"/Type\s*/Page[^s]", paper)) <= pages
        assert len(visit.column(2)) == users  # all are printed
