"""The report in a real browser: it works, it is accessible, and names do no harm."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import OF_LOOKS, browser, violations
from commands import QUIZ
from factory import make_responses, random_table, some
from show_cases import HOSTILE, hostile_report

import hitsndiffs as hnd

pytest.importorskip("altair")
pytest.importorskip("vl_convert")
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


class Visit:
    """A page that remembers what went wrong and what it asked for."""

    def __init__(self, chromium: Any, path: Path, **options: Any) -> None:
        self.context = chromium.new_context(**options)
        self.page = self.context.new_page()
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("#found:not(:empty)", state="attached")

    def _dialog(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def column(self, number: int) -> list[str]:
        cells: list[str] = self.page.eval_on_selector_all(
            f"#ranking tbody tr > :nth-child({number})", "cells => cells.map(c => c.textContent)"
        )
        return cells

    def wait_for_count(self, text: str) -> None:
        """Without Playwright's wait_for_function, which the page's policy forbids."""
        self.page.wait_for_selector(f'#found:text-is("{text}")')

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.fixture(scope="module")
def quiz() -> hnd.Ranking:
    few = hnd.read_responses(QUIZ).select(items=[f"q{i:02}" for i in range(1, 9)])
    return hnd.rank(few)


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
        offline=True,
    ) as visit:
        assert violations(visit.page, rules) == []
        assert visit.wrong == []
        assert visit.asked == [reports[name].as_uri()]
        wide = visit.page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width


def test_sorting_by_every_column(
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


def test_sorting_from_the_keyboard(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["quiz"]) as visit:
        visit.page.focus("#ranking th:nth-child(3) button")
        visit.page.keyboard.press("Enter")
        right = [float(text.rstrip(" %")) for text in visit.column(3)]
        assert right == sorted(right)


def test_items_are_sorted_by_number_not_by_text(
    chromium: Any, reports: dict[str, Path], quiz: hnd.Ranking
) -> None:
    with Visit(chromium, reports["quiz"]) as visit:
        visit.page.click("table.sortable:not(#ranking) th:nth-child(3) button")
        names = visit.page.eval_on_selector_all(
            "table.sortable:not(#ranking) tbody th", "cells => cells.map(c => c.textContent)"
        )
        key = quiz.answer_key(with_confidence=True)
        sure = [key[name][1] for name in names]
        assert sure == sorted(sure)


def test_searching_among_thousands(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["large"]) as visit:
        assert len(visit.column(2)) == 100
        visit.page.fill("#find", "USER-299")
        visit.wait_for_count("11 of 3,000 users")
        wanted = {"user-299", *(f"user-299{d}" for d in range(10))}
        assert set(visit.column(2)) == wanted
        visit.page.fill("#find", "")
        visit.wait_for_count("3,000 users")
        visit.page.click("#more")
        assert len(visit.column(2)) == 600


def test_rows_made_by_the_page_are_those_of_the_file(
    chromium: Any, reports: dict[str, Path]
) -> None:
    """Without a script the rows come from the template, with it from the data: they are equal."""
    rows = "table#ranking tbody"
    with Visit(chromium, reports["quiz"]) as visit:
        made = visit.page.inner_text(rows)
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(reports["quiz"].as_uri())
    written = page.inner_text(rows)
    context.close()
    assert made == written


def test_hostile_names_are_shown_as_they_are(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["hostile"]) as visit:
        assert HOSTILE[0] in visit.column(2)
        assert "=1+1" in visit.column(2)
        assert visit.page.query_selector("img") is None
        visit.page.fill("#find", "<img")
        visit.wait_for_count("2 of 28 users")
        assert len(visit.column(2)) == 2
        visit.page.click("#ranking th:nth-child(2) button")
        assert visit.wrong == []


def test_on_paper_it_is_light(chromium: Any, reports: dict[str, Path]) -> None:
    with Visit(chromium, reports["quiz"], color_scheme="dark") as visit:
        colour = "getComputedStyle(document.body).color"
        on_screen = visit.page.evaluate(colour)
        visit.page.emulate_media(media="print")
        assert visit.page.evaluate(colour) == "rgb(28, 36, 48)" != on_screen
        assert visit.page.evaluate(
            "getComputedStyle(document.querySelector('.finder')).display"
        ) == ("none")
