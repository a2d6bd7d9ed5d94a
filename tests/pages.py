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
from hitsndiffs.show.web.jobs import Jobs
from hitsndiffs.show.web.server import address, configured, listen
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
        return self.page.works.root


@contextmanager
def live(helper: str = "hitsndiffs.show.web.jobs", **settings: Any) -> Iterator[Live]:
    """Serve the page on a free port; ``helper`` is the module that does its jobs."""
    given = {"port": 0, "examples": EXAMPLES} | settings
    opened, known = listen(Settings(**given))
    page = Page(known, Jobs(known, helper))
    server = uvicorn.Server(configured(page.app))
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
    """Somebody who uses the page without a browser: a client, and the address of its work."""

    def __init__(self, where: Live) -> None:
        self.client = httpx.Client(base_url=where.address, follow_redirects=True, timeout=120)
        self.work = ""

    def __enter__(self) -> Visitor:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, step: str) -> httpx.Response:
        """A page or a file of the piece of work."""
        return self.client.get(f"{self.work}/{step}")

    def begin(self, path: str, **sent: Any) -> httpx.Response:
        answer = self.client.post(path, **sent)
        found = re.match("/piece/[^/]+", answer.url.path)
        if found is not None:
            self.work = found[0]
        return answer

    def post(self, step: str, files: Any = None, **data: Any) -> httpx.Response:
        return self.client.post(f"{self.work}/{step}", data=data, files=files)

    def bring(self, content: bytes | str, name: str = "quiz.csv") -> httpx.Response:
        content = content.encode() if isinstance(content, str) else content
        self.begin("/files", files=[("files", (name, content))])
        return self.settled("plan")

    def settled(self, step: str, seconds: float = 120) -> httpx.Response:
        """Wait for the job, then look at a page."""
        until = time.monotonic() + seconds
        while self.get("progress").json()["state"] in ("waiting", "running"):
            assert time.monotonic() < until, "the job does not end"
            time.sleep(0.05)
        return self.get(step)

    def rank(self, **said: Any) -> httpx.Response:
        self.post("rank", **{"planned": "1"} | said)
        return self.settled("result")
