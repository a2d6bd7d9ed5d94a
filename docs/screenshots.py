"""Make all pictures of the documentation: answers, terminal, report, page, and the page of them.

    python docs/screenshots.py [FOLDER]

Needs the extras ``plots`` and ``web``, Playwright and Chromium (``HITSNDIFFS_BROWSER`` names
another program).
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from example_files import make_all, write

import hitsndiffs as hnd

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "quiz.csv"
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

#: Name → width, height and colours of the window.
LOOKS = {
    "light": (1000, 900, "light"),
    "dark": (1000, 900, "dark"),
    "phone": (390, 844, "light"),
}
#: The steps of the page that are kept, by look.
STEPS = {
    "light": ("start", "plan", "result", "compare"),
    "dark": ("plan", "result"),
    "phone": ("start", "plan", "result"),
}
#: What is opened in the report, and the button that opens it.
BEHIND = {
    "user": "#ranking tbody tr:nth-child(8) button",
    "item": "#item-table tbody tr:nth-child(2) button",
}
#: The commands whose first screen is kept, by the name of the picture; the files are examples.
COMMANDS = {
    "rank": "rank quiz.csv",
    "key": "rank class.csv --key class-key.csv",
    "doubt": "rank random.csv",
    "opinions": "rank opinions.csv",
    "three": "rank three.csv",
    "labels": "labels crowd.csv",
    "check": "check quiz.csv",
    "compare": "compare quiz.csv",
}
#: Lines and columns of a terminal.
TERMINAL = (25, 80)
#: The sections of the page of all pictures: heading, and how the names of its pictures begin.
SECTIONS = {
    "In the terminal": "terminal-",
    "The report": ("report-light", "report-dark", "report-phone"),
    "A user opened": "report-user",
    "An item opened": "report-item",
    "The page: the start": "page-start",
    "The page: how a file is read": "page-plan",
    "The page: the result": "page-result",
    "The page: methods side by side": "page-compare",
    "The answers, as they came and sorted": "answers-",
}
#: Colours of a picture; few, so that it stays small.
COLOURS = 48


def main() -> None:
    """Make all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "images"
    folder.mkdir(parents=True, exist_ok=True)
    ranking = hnd.rank(hnd.read_responses(EXAMPLE))
    ranking.plot("answers", as_read=True).save(folder / "answers-as-read.svg")
    ranking.plot("answers").save(folder / "answers-sorted.svg")
    with tempfile.TemporaryDirectory() as place:
        make_all(Path(place))
        make_small(Path(place))
        for name, words in COMMANDS.items():
            terminal(words, Path(place), folder / f"terminal-{name}.svg")
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        shutil.copy(EXAMPLE, place)
        command = [sys.executable, "-m", "hitsndiffs", "rank", EXAMPLE.name, "--quiet"]
        subprocess.run(
            [*command, "--report", "report.html"], cwd=place, capture_output=True, check=True
        )
        report = Path(place) / "report.html"
        for look in LOOKS:
            with window(browser, look) as page:
                page.goto(report.as_uri())
                page.wait_for_selector(".alive", state="attached")
                keep(page, folder / f"report-{look}.png")
                for name, button in BEHIND.items():
                    page.click(button)
                    keep(page, folder / f"report-{name}-{look}.png")
                    page.click("#detail-close")
        with page_server() as address:
            for look, steps in STEPS.items():
                with window(browser, look) as page:
                    for step in the_whole_way(page, address):
                        if step in steps:
                            keep(page, folder / f"page-{step}-{look}.png")
                        if step == steps[-1]:
                            break
    if folder.parent == HERE:
        gallery(folder)


def make_small(folder: Path) -> None:
    """Write files that leave much open: random answers, opinions, three people."""
    rng = np.random.default_rng(4)
    write(
        folder / "random.csv",
        [["student", *(f"q{i:02}" for i in range(1, 13))]]
        + [[f"student-{j:02}", *rng.choice(list("ABCD"), 12)] for j in range(1, 21)],
    )
    scale = ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"]
    own = rng.normal(2.0, 0.9, 30)
    said = np.clip(np.round(own[:, None] + rng.normal(0, 0.8, (30, 8))), 0, 4).astype(int)
    write(
        folder / "opinions.csv",
        [["person", *(f"statement {i}" for i in range(1, 9))]]
        + [[f"person-{j:02}", *(scale[k] for k in row)] for j, row in enumerate(said, start=1)],
    )
    write(
        folder / "three.csv",
        [["name", "q1", "q2", "q3", "q4"], ["ann", *"ABCA"], ["bob", *"ABCC"], ["cem", *"BBAA"]],
    )


def terminal(words: str, place: Path, path: Path) -> None:
    """Write the first screen of a command, run in a folder, as a picture."""
    from rich.console import Console
    from rich.text import Text

    lines, columns = TERMINAL
    size = {"LINES": str(lines), "COLUMNS": str(columns), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "hitsndiffs", *shlex.split(words)]
    shown = subprocess.run(
        ["script", "-qec", shlex.join(command), "/dev/null"],
        cwd=place,
        env=os.environ | size | {"HITSNDIFFS_PROGRESS": "off"},
        capture_output=True,
        check=True,
    ).stdout.decode()
    shown = re.sub(
        r"\x1b\[(?:\d*[A-LN-Za-ln-z]|\?\d+[hl])|.*\r(?!\n)", "", shown.replace("\r\n", "\n")
    )
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    title = f"$ hnd {words}"
    console.print(Text(title, style="bold"))
    console.print(Text.from_ansi("\n".join(shown.splitlines()[: lines - 1])))
    drawn = console.export_svg(title="", font_aspect_ratio=0.61)
    fonts_and_remarks = r"@font-face \{.*?\}\s*|<!--.*?-->"  # the picture loads nothing
    path.write_text(re.sub(fonts_and_remarks, "", drawn, flags=re.S), encoding="utf-8")


def gallery(folder: Path) -> None:
    """Write the page that shows all pictures, beside those of version 0.2 (``before``)."""
    found = sorted(p for p in folder.rglob("*") if p.suffix in (".svg", ".png"))
    lines = ["# All screens", "", "Made by `make pictures`. In a frame: the same in version 0.2."]
    for heading, beginnings in SECTIONS.items():
        lines += ["", f"## {heading}", ""]
        for path in found:
            if not path.stem.startswith(beginnings):
                continue
            before = path.parent != folder
            words = path.stem.replace("-", " ").capitalize() + (", version 0.2" if before else "")
            more = (
                f'.before width="{"20%" if "phone" in path.stem else "40%"}"'
                if before
                else (f'width="{"22%" if "phone" in path.stem else "48%"}"')
            )
            lines.append(f"![{words}](images/{path.relative_to(folder)}){{{more}}}")
    (folder.parent / "gallery.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def the_whole_way(page: Any, address: str) -> Iterator[str]:
    """Go from the start to a comparison with an example; yields the name of each step."""
    page.goto(address)
    yield "start"
    page.click("button.try >> nth=0")
    page.wait_for_selector("#columns")
    yield "plan"
    page.click("button.large")
    page.wait_for_selector("#ranking tbody tr")
    yield "result"
    page.click("text=Compare methods")
    page.wait_for_selector("#methods")
    yield "compare"


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser."""
    from playwright.sync_api import sync_playwright

    named = os.environ.get("HITSNDIFFS_BROWSER")
    program = named or next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        raise SystemExit(
            "There is no browser: install Chromium, or name one in HITSNDIFFS_BROWSER."
        )
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def window(browser: Any, look: str) -> Iterator[Any]:
    """Open a window of a size and in colours."""
    width, height, scheme = LOOKS[look]
    page = browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB"
    )
    page.set_default_timeout(120_000)
    yield page
    page.close()


@contextmanager
def page_server() -> Iterator[str]:
    """Start the page on a free port; yields its address."""
    command = [sys.executable, "-m", "hitsndiffs", "serve", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            found = re.search(r"http://\S+/", server.stderr.readline())
            if found is None:
                raise SystemExit("The page did not start.")
            wait_for(found[0])
            yield found[0]
        finally:
            server.terminate()
            server.wait(20)


def wait_for(address: str) -> None:
    """Wait until the page answers: it says where it will be before it is there."""
    for _ in range(100):
        try:
            urllib.request.urlopen(address, timeout=10).close()
            return
        except OSError:
            time.sleep(0.2)


def keep(page: Any, path: Path) -> None:
    """Write a picture of a window, with few colours."""
    from PIL import Image

    image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    small = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)


if __name__ == "__main__":
    main()
