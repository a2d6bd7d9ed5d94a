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
#: The commands whose first screen is kept, by the name of the picture.
COMMANDS = {"rank": ("rank",), "check": ("check",), "compare": ("compare",)}
#: Lines and columns of a terminal.
TERMINAL = (25, 80)
#: Colours of a picture; few, so that it stays small.
COLOURS = 48


def main() -> None:
    """Make all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "images"
    folder.mkdir(parents=True, exist_ok=True)
    ranking = hnd.rank(hnd.read_responses(EXAMPLE))
    ranking.plot("answers", as_read=True).save(folder / "answers-as-read.svg")
    ranking.plot("answers").save(folder / "answers-sorted.svg")
    for name, words in COMMANDS.items():
        terminal(words, folder / f"terminal-{name}.svg")
    with tempfile.TemporaryDirectory() as place, chromium() as browser:
        report = ranking.report(Path(place) / "report.html", file=EXAMPLE)
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


def terminal(words: tuple[str, ...], path: Path) -> None:
    """Write the first screen of a command as a picture."""
    from rich.console import Console
    from rich.text import Text

    lines, columns = TERMINAL
    size = {"LINES": str(lines), "COLUMNS": str(columns), "TERM": "xterm-256color"}
    with tempfile.TemporaryDirectory() as place:
        shutil.copy(EXAMPLE, place)
        command = [sys.executable, "-m", "hitsndiffs", *words, EXAMPLE.name]
        shown = subprocess.run(
            ["script", "-qec", shlex.join(command), "/dev/null"],
            cwd=place,
            env=os.environ | size,
            capture_output=True,
            check=True,
        ).stdout.decode()
    shown = re.sub(
        r"\x1b\[(?:\d*[A-LN-Za-ln-z]|\?\d+[hl])|.*\r(?!\n)", "", shown.replace("\r\n", "\n")
    )
    console = Console(record=True, width=columns, file=io.StringIO(), force_terminal=True)
    title = f"$ hnd {' '.join(words)} {EXAMPLE.name}"
    console.print(Text(title, style="bold"))
    console.print(Text.from_ansi("\n".join(shown.splitlines()[: lines - 1])))
    drawn = console.export_svg(title="", font_aspect_ratio=0.61)
    fonts_and_remarks = r"@font-face \{.*?\}\s*|<!--.*?-->"  # the picture loads nothing
    path.write_text(re.sub(fonts_and_remarks, "", drawn, flags=re.S), encoding="utf-8")


def gallery(folder: Path) -> None:
    """Write the page that shows all pictures."""
    lines = ["# All screens", "", "Made by `make pictures`.", ""]
    for path in sorted(p for p in folder.iterdir() if p.suffix in (".svg", ".png")):
        words = path.stem.replace("-", " ")
        width = "22%" if "phone" in path.stem else "45%"
        lines.append(f'![{words[:1].upper()}{words[1:]}](images/{path.name}){{width="{width}"}}')
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
