"""Pictures of the page for the documentation, made with a real browser.

Run ``python benchmarks/screenshots.py docs/images``. It starts the page on a free port, goes the
whole way with an example, and keeps each step as a small PNG: light, dark, and a phone.
"""

from __future__ import annotations

import argparse
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
]
#: Name → width, height, colour scheme.
LOOKS = {
    "light": (1080, 860, "light"),
    "dark": (1080, 860, "dark"),
    "phone": (390, 760, "light"),
}
#: Colours of a picture; few, so that it stays small.
COLOURS = 48


@contextmanager
def page_server() -> Iterator[str]:
    """Start the page; yields its address."""
    command = [sys.executable, "-m", "hitsndiffs", "serve", "--no-open", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        try:
            found = re.search(r"http://\S+/", server.stderr.readline())
            if found is None:
                raise SystemExit("the page did not start")
            yield found[0]
        finally:
            server.terminate()
            server.wait(20)


@contextmanager
def chromium() -> Iterator[Any]:
    """Start the browser."""
    from playwright.sync_api import sync_playwright

    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        raise SystemExit("no browser: install Chromium")
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=path, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


def take_pictures(address: str, browser: Any, folder: Path, whole: bool) -> None:
    """Go the whole way in each look, and keep a picture of each step."""
    for look, (width, height, scheme) in LOOKS.items():
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, locale="en-GB"
        )
        page = context.new_page()
        page.set_default_timeout(60_000)

        def keep(step: str, page: Any = page, look: str = look) -> None:
            keep_picture(page.screenshot(full_page=whole), folder / f"page-{step}-{look}.png")

        page.goto(address)
        keep("start")
        page.click("button.try >> nth=0")
        page.wait_for_selector("#columns")
        keep("plan")
        page.locator(".columns tbody tr").nth(20).get_by_label("Leave out").check()
        page.click("button.large")
        page.wait_for_selector("#working")
        page.wait_for_timeout(1500)
        if page.query_selector("#working") and not whole:
            keep("working")
        page.wait_for_selector("#ranking")
        keep("result")
        page.click("text=Compare methods")
        page.wait_for_selector("#methods")
        keep("compare")
        context.close()


def keep_picture(png: bytes, path: Path) -> None:
    """Write a picture with few colours."""
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    small = image.quantize(COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    print(f"{path}  {path.stat().st_size / 1000:.0f} kB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--whole", action="store_true", help="whole pages, not one screen")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with page_server() as address, chromium() as browser:
        take_pictures(address, browser, options.folder, options.whole)


if __name__ == "__main__":
    main()
