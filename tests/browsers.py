"""A real browser for tests; they are skipped with one sentence where there is none."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
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


class Visit:
    """A window that can reach one place and nothing else, and remembers what went wrong.

    Parameters
    ----------
    chromium
        The browser.
    home
        The address that is opened, and how all others begin that may be asked for.
    options
        Of the window: its size, colours, whether scripts run.
    """

    def __init__(self, chromium: Any, home: str, **options: Any) -> None:
        self.home = home
        self.context = chromium.new_context(**options)
        self.context.route("**/*", self._only_here)
        self.page = self.context.new_page()
        self.page.set_default_timeout(40_000)
        self.wrong: list[str] = []
        self.outside: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", self._dialog)
        self.page.goto(home)

    def _only_here(self, route: Any) -> None:
        if route.request.url.startswith((self.home, "blob:")):
            route.continue_()
        else:
            self.outside.append(route.request.url)
            route.abort()

    def _dialog(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def column(self, number: int, table: str = "#ranking") -> list[str]:
        """The texts of one column of a table."""
        cells: list[str] = self.page.eval_on_selector_all(
            f"{table} tbody tr > :nth-child({number})", "cells => cells.map(c => c.textContent)"
        )
        return cells

    def download(self, click: str) -> list[dict[str, str]]:
        """The rows of a file that a click saves."""
        with self.saved(click).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def saved(self, click: str) -> Path:
        """The file that a click saves."""
        with self.page.expect_download() as started:
            self.page.click(click)
        return Path(started.value.path())

    def fits(self) -> bool:
        """Whether nothing is wider than the screen."""
        wide: int = self.page.evaluate("document.documentElement.scrollWidth")
        return wide <= int(self.page.viewport_size["width"])

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


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
