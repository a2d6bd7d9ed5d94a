"""A real browser for tests; they are skipped with one sentence where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

#: The first has no window at all, and takes two thirds of the time of the second.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
#: Rules of accessibility that colours and the width of the screen may break.
OF_LOOKS = ["color-contrast", "link-in-text-block", "target-size", "scrollable-region-focusable"]


def browser_path() -> str | None:
    """The program; ``HITSNDIFFS_BROWSER`` names another one."""
    return os.environ.get("HITSNDIFFS_BROWSER") or next(
        filter(None, map(shutil.which, NAMES)), None
    )


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium, driven by Playwright."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="Playwright is not installed: pip install playwright"
    )
    path = browser_path()
    if path is None and os.environ.get("HITSNDIFFS_BROWSER_REQUIRED"):
        pytest.fail("the browser tests must run here, and there is no browser")
    if path is None:
        pytest.skip("no browser: install Chromium, or name one with HITSNDIFFS_BROWSER")
    with sync_api.sync_playwright() as play:
        opened = play.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield opened
        finally:
            opened.close()


def violations(page: Any, rules: list[str] | None = None) -> list[tuple[str, str, str]]:
    """What breaks the rules of accessibility (all of them, or these), and where."""
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
    )
    options: dict[str, Any] = {"resultTypes": ["violations"]}  # what is right is not told in full
    if rules is not None:
        options["runOnly"] = rules
    found = axe.Axe().run(page, options=options).response["violations"]
    return [(v["id"], v["impact"], v["nodes"][0]["html"]) for v in found]
