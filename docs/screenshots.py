"""Make the documentation's pictures: the report, the answer table before and after sorting.

    python docs/screenshots.py [FOLDER]

Needs the extra ``plots``, Playwright and Chromium (``HITSNDIFFS_BROWSER`` names another program).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import hitsndiffs as hnd

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "quiz.csv"

#: Name → width, height and colours of the window.
VIEWS = {
    "report-light": (1000, 1000, "light"),
    "report-dark": (1000, 1000, "dark"),
    "report-phone": (390, 844, "light"),
}


def main() -> None:
    """Make all pictures."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "images"
    folder.mkdir(parents=True, exist_ok=True)
    ranking = hnd.rank(hnd.read_responses(EXAMPLE))
    ranking.plot("answers", as_read=True).save(folder / "answers-as-read.svg")
    ranking.plot("answers").save(folder / "answers-sorted.svg")
    with tempfile.TemporaryDirectory() as place:
        report = ranking.report(Path(place) / "report.html", file=EXAMPLE)
        shoot(report.as_uri(), folder)


def shoot(address: str, folder: Path) -> None:
    """Take a picture of a page in every view."""
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome")
    program = os.environ.get("HITSNDIFFS_BROWSER") or next(filter(None, map(shutil.which, names)))
    with sync_playwright() as play:
        browser: Any = play.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for name, (width, height, scheme) in VIEWS.items():
            page = browser.new_page(
                viewport={"width": width, "height": height}, color_scheme=scheme
            )
            page.goto(address)
            page.wait_for_selector("#found:not(:empty)", state="attached")
            page.screenshot(path=folder / f"{name}.png")
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
