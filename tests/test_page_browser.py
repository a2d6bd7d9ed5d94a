"""The page in a real browser: the whole way, broken files, two tabs, a phone, no network."""

from __future__ import annotations

import base64
import csv
import io
import time
from collections.abc import Iterator
from typing import Any

import browsers
import pytest
from browsers import OF_LOOKS, browser, violations
from show_cases import HOSTILE, graded

pytest.importorskip("uvicorn", reason="the page is not installed: pip install 'hitsndiffs[web]'")
pytest.importorskip("httpx", reason="httpx is not installed: pip install httpx")
pytest.importorskip("altair")

from pages import CLASS, Live, live

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.xdist_group("page in a browser"),
]

SCREEN, PHONE = {"width": 1100, "height": 900}, {"width": 390, "height": 800}

#: Drop a file onto the page, as a person does with the mouse.
DROP = """([name, text]) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const data = new DataTransfer();
  data.items.add(new File([bytes], name));
  const drop = document.getElementById("drop");
  for (const kind of ["dragenter", "dragover", "drop"])
    drop.dispatchEvent(
      new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Live]:
    with live() as served:
        yield served


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as opened:
        yield opened


class Visit(browsers.Visit):
    """A visit to the page."""

    def __init__(self, chromium: Any, live_page: Live, **options: Any) -> None:
        super().__init__(chromium, live_page.address, **{"viewport": SCREEN, **options})

    def drop(self, text: str | bytes, name: str = "quiz.csv") -> None:
        content = text.encode() if isinstance(text, str) else text
        self.page.evaluate(DROP, [name, base64.b64encode(content).decode()])
        self.page.wait_for_selector("#columns, #problem")

    def rank(self) -> None:
        self.page.click("button.large >> nth=0")
        self.page.wait_for_selector("#ranking, #problem")

    def text(self, words: str) -> str:
        """The file behind a link."""
        return self.saved(f'a:text-is("{words}")').read_text("utf-8")


def test_from_the_dropped_file_to_the_downloaded_ranking(chromium: Any, page: Live) -> None:
    """Only the page itself can be reached; nothing else is even asked for."""
    with Visit(chromium, page) as visit:
        visit.drop(CLASS)
        assert "16 users, 8 items" in visit.page.inner_text("header")
        last = visit.page.locator(".columns tbody tr").nth(8)
        last.get_by_label("Leave out").check()
        assert "changed" in str(last.get_attribute("class"))
        visit.page.get_by_text("Read it again like this").click()
        visit.page.wait_for_selector("text=16 users, 7 items")
        visit.page.fill("#key_text", "q01 = A")
        visit.rank()
        users = visit.column(2)
        assert len(users) == 16
        assert not visit.page.is_visible("#more")  # all are shown
        assert "Your key, compared with the answers" in visit.page.inner_text("main")
        ranking = visit.download('a:text-is("Ranking (CSV)")')
        assert len(ranking) == 16
        best = min(ranking, key=lambda row: int(row["rank"]))
        assert best["user"] == users[0]
        key = visit.download('a:text-is("Likely key (CSV)")')
        assert [row["item"] for row in key] == [f"q{i:02}" for i in range(1, 8)]
        report = visit.text("Report")
        assert "<!doctype html>" in report
        assert '"layout": "wide"' in visit.text("Settings (JSON)")
        visit.page.get_by_role("button", name="Compare methods").click()
        visit.page.wait_for_selector("#methods")
        visit.page.select_option("#method", "majority")
        visit.page.get_by_role("button", name="Rank").click()
        visit.page.wait_for_selector("#ranking")
        visit.page.get_by_role("button", name="Remove the files now").click()
        visit.page.wait_for_selector("#bring")
        assert visit.wrong == []
        assert visit.outside == []
        shown = visit.context.new_page()
        visit.context.set_offline(True)
        asked: list[str] = []
        shown.on("request", lambda request: asked.append(request.url))
        shown.set_content(report)
        shown.wait_for_selector("#ranking tbody tr")
        assert [url for url in asked if not url.startswith("about:")] == []


def test_an_example_its_progress_and_cancelling_it(chromium: Any, page: Live) -> None:
    with Visit(chromium, page) as visit:
        visit.page.get_by_text("Language models on a benchmark").click()
        visit.page.wait_for_selector("#columns")
        visit.page.click("button.large >> nth=0")
        visit.page.wait_for_selector("#working")
        stages = visit.page.eval_on_selector_all("#stages li", "all => all.map(s => s.innerText)")
        assert stages == ["Reading the file", "Ranking", "Drawing the report"]
        visit.page.get_by_role("button", name="Cancel").click()
        visit.page.wait_for_selector("#columns")
        visit.rank()
        assert "model-c" in visit.column(2)


def test_a_broken_file_and_then_a_sound_one(chromium: Any, page: Live) -> None:
    with Visit(chromium, page) as visit:
        visit.drop(b"PAR1" + b"\x01" * 500 + b"PAR1", "broken.parquet")
        assert "cannot be read like this" in visit.page.inner_text("main")
        assert "Traceback" not in visit.page.content()
        visit.page.get_by_role("link", name="Other files").click()
        visit.page.wait_for_selector("#drop")
        visit.drop(CLASS)
        assert "16 users" in visit.page.inner_text("header")
        # the browser itself notes the status of the broken file
        assert [w for w in visit.wrong if "422" not in w] == []


def test_a_file_that_is_too_large_is_not_sent(chromium: Any) -> None:
    with live(max_upload=300) as small, Visit(chromium, small) as visit:
        visit.page.set_input_files(
            "#files", {"name": "quiz.csv", "mimeType": "text/csv", "buffer": CLASS.encode()}
        )
        visit.page.wait_for_selector("#upload-problem:visible")
        assert "larger than 300 bytes" in visit.page.inner_text("#upload-problem")


def test_a_closed_tab_is_noticed(chromium: Any, page: Live) -> None:
    """A step forward or back keeps the work; closing the last tab gives it up."""
    with Visit(chromium, page) as visit:
        visit.drop(CLASS)
        (work,) = [w for w in page.page.works._works.values() if w.title == "quiz.csv"][-1:]
        visit.page.goto(page.address)
        visit.page.go_back()
        visit.page.wait_for_selector("#columns")
        visit.page.wait_for_timeout(500)
        assert not work.was_left
        visit.page.close(run_before_unload=True)
        until = time.monotonic() + 20
        while not work.was_left:
            assert time.monotonic() < until
            visit.context.pages or time.sleep(0.1)


def test_without_scripts(chromium: Any, page: Live) -> None:
    with Visit(chromium, page, java_script_enabled=False) as visit:
        visit.page.set_input_files(
            "#files", {"name": "quiz.csv", "mimeType": "text/csv", "buffer": CLASS.encode()}
        )
        visit.page.get_by_role("button", name="Look into the files").click()
        visit.page.wait_for_selector("#columns")  # the page looks again by itself
        visit.page.click("button.large >> nth=0")
        visit.page.wait_for_selector("#about")
        assert "student-16" in visit.page.inner_text("main")


def test_accessible_everywhere(chromium: Any, page: Live) -> None:
    with Visit(chromium, page) as visit:

        def check() -> None:
            """All rules on a light screen; on a dark phone those that it may change."""
            for size, scheme, rules in ((PHONE, "dark", OF_LOOKS), (SCREEN, "light", None)):
                visit.page.emulate_media(color_scheme=scheme)
                visit.page.set_viewport_size(size)
                assert violations(visit.page, rules) == []
                assert visit.fits()

        check()
        visit.drop(b"\x00\xff", "broken.csv")
        check()
        visit.page.goto(page.address)
        visit.drop(CLASS)
        visit.page.locator("details summary").first.click()
        check()
        visit.rank()
        check()
        visit.page.get_by_role("button", name="Compare methods").click()
        visit.page.wait_for_selector("#working")
        check()
        visit.page.wait_for_selector("#methods")
        check()


def test_hostile_names_do_no_harm(chromium: Any, page: Live) -> None:
    users = [f"{name}{number or ''}".replace("\n", " ") for number in range(2) for name in HOSTILE]
    items = [f"{name} {i}".replace("\n", " ") for i, name in enumerate(HOSTILE[:8])]
    options = [HOSTILE[0], "=2", HOSTILE[6], '"' + "y" * 200]
    table = graded(users, items, options)
    text = _csv([["user", *items], *([u, *row] for u, row in zip(users, table, strict=True))])
    with Visit(chromium, page, viewport=PHONE) as visit:
        visit.drop(text, "<img src=x onerror=alert(1)>.csv")
        assert visit.page.query_selector("main img, header img") is None
        assert HOSTILE[0] in visit.page.inner_text("h1")
        assert visit.fits()
        visit.page.fill("#strong_user", HOSTILE[0])
        visit.page.fill("#key_text", f"{items[0]} = {HOSTILE[0]}")
        visit.rank()
        assert HOSTILE[0] in visit.column(2)
        assert visit.page.query_selector("img") is None
        assert visit.fits()
        ranking = visit.text("Ranking (CSV)")
        assert "'=1+1" in ranking
        assert "\n=" not in ranking
        assert ",=" not in ranking
        visit.page.get_by_role("button", name="Compare methods").click()
        visit.page.wait_for_selector("#methods")
        visit.page.goto(page.address)
        visit.drop(f"{HOSTILE[0]},{HOSTILE[6]}\n{HOSTILE[0]}\n", f"{HOSTILE[6]}.csv")
        assert "cannot be read" in visit.page.inner_text("main")
        assert [w for w in visit.wrong if "422" not in w] == []
        assert visit.outside == []


def _csv(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()
