"""A running page, and visitors to it."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from commands import QUIZ

from hitsndiffs.irt.examples import EXAMPLES
from hitsndiffs.show.web.app import Page
from hitsndiffs.show.web.server import address, listen
from hitsndiffs.show.web.settings import Settings

#: Sixteen students and eight questions of the quiz: a report of so few is drawn in a third of the
#: time.
CLASS = "".join(
    ",".join(line.split(",")[:9]) + "\n"
    for line in QUIZ.read_text(encoding="utf-8").splitlines()[:17]
)


class Live:
    """A page that is being served, and where."""

    def __init__(self, page: Page, where: str) -> None:
        self.page = page
        self.address = where

    @property
    def folder(self) -> Path:
        return self.page.visits.root


@contextmanager
def live(**settings: Any) -> Iterator[Live]:
    """Serve the page on a free port; one worker, so that tests do not crowd the machine."""
    given = {"port": 0, "workers": 1, "examples": EXAMPLES} | settings
    opened, known = listen(Settings(**given))
    page = Page(known)
    server = uvicorn.Server(
        uvicorn.Config(page.app, log_level="critical", lifespan="on", timeout_graceful_shutdown=2)
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]}, daemon=True)
    thread.start()
    until = time.monotonic() + 30
    while not server.started and time.monotonic() < until:
        time.sleep(0.02)
    try:
        yield Live(page, address(known))
    finally:
        server.should_exit = True
        thread.join(30)
        opened.close()


class Visitor:
    """Somebody who uses the page without a browser."""

    def __init__(self, where: Live) -> None:
        self.client = httpx.Client(base_url=where.address, follow_redirects=True, timeout=120)
        self.text = self.client.get("/").text

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    @property
    def token(self) -> str:
        found = re.search(r'name="token" value="(\w+)"', self.text)
        assert found is not None
        return found[1]

    def post(self, path: str, files: Any = None, **data: Any) -> httpx.Response:
        answer = self.client.post(path, data={"token": self.token} | data, files=files)
        if answer.headers["content-type"].startswith("text/html") and "token" in answer.text:
            self.text = answer.text
        return answer

    def bring(self, content: bytes | str, name: str = "quiz.csv") -> httpx.Response:
        content = content.encode() if isinstance(content, str) else content
        self.post("/files", files=[("files", (name, content))])
        return self.settled("/plan")

    def settled(self, path: str, seconds: float = 120) -> httpx.Response:
        """Wait for the work, then look at a page."""
        until = time.monotonic() + seconds
        while self.client.get("/progress").json()["state"] in ("waiting", "running"):
            assert time.monotonic() < until, "the work does not end"
            time.sleep(0.1)
        answer = self.client.get(path)
        self.text = answer.text
        return answer

    def rank(self, **said: Any) -> httpx.Response:
        self.post("/rank", **said)
        return self.settled("/result")
