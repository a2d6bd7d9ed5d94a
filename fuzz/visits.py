"""Visits to the page: any files, fields and addresses in any order; it never fails."""

from __future__ import annotations

import random
import time
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote

from starlette.testclient import TestClient

from fuzz.mutation import TOKENS
from fuzz.reading import Bytes, plain
from hitsndiffs.irt.examples import EXAMPLES
from hitsndiffs.show.web.app import make_app
from hitsndiffs.show.web.settings import Settings

#: Fields of the forms, and of none of them.
FIELDS = [
    "layout", "header_row", "sheet", "separator", "attempt", "duplicates", "items_shown", "c0",
    "c1", "c2", "i0", "i1", "method", "strong_user", "key_text", "use_key", "known:q1", "known:q9",
    "name", "by", "group", "seed", "answers", "page", "other",
    "planned", "sections", "groups", "clusters", "predicted",
]  # fmt: skip
WORDS = [
    "", "0", "1", "-1", "99", "wide", "long", "transposed", "user", "item", "answers", "group",
    "unused", "comma", "tab", "last", "best", "auto", "hnd", "majority", "student-01", "q1", "A",
    "q1 = A\nq2: B", "q99 = A", "=,=", "x" * 3000,
]  # fmt: skip
STEPS = ["plan", "rank", "compare", "cancel", "leave", "end", "result"]
LOOKS = ["plan", "result", "compare", "progress", "download/ranking.csv", "download/report.html"]
LOOKS += ["download/key.csv", "download/how-it-is-read.json", "download/../x", "download/%00"]
#: Requests of one visit, and the seconds a job may take.
REQUESTS, PATIENCE = 6, 60.0


class Visits:
    """One visit: something is brought, then steps and looks in any order."""

    @cached_property
    def client(self) -> TestClient:
        """A browser's side of one page, kept for all visits."""
        made = TestClient(
            make_app(Settings(examples=EXAMPLES, idle=5.0)),
            base_url="http://127.0.0.1:8765",
        )
        return made.__enter__()

    def close(self) -> None:
        """End the page."""
        self.client.__exit__(None, None, None)

    def make(self, rng: random.Random) -> list[tuple[str, str, Any]]:
        if rng.random() < 0.5:
            files = [("quiz.csv", plain("csv"))]
        else:
            files = [Bytes().make(rng)[1:] for _ in range(rng.choice([1, 1, 1, 2]))]
        visit: list[tuple[str, str, Any]] = [("bring", "", files)]
        for _ in range(rng.randint(1, REQUESTS)):
            if rng.random() < 0.1:
                visit.append(("api", "/api/rank", (Bytes().make(rng)[1:], fields(rng))))
            elif rng.random() < 0.6:
                visit.append(("post", rng.choice(STEPS), fields(rng)))
            else:
                visit.append(("get", rng.choice(LOOKS), None))
        return visit

    def run(self, given: list[tuple[str, str, Any]], folder: Path) -> str:
        work, last = "", 0
        for action, step, sent in given:
            if action == "bring":
                answer = self.client.post("/files", files=[("files", file) for file in sent])
                parts = answer.url.path.split("/")
                work = f"/piece/{parts[2]}" if len(parts) > 3 else "/piece/none"
            elif action == "api":
                answer = self.client.post(step, files=[("file", sent[0])], data=sent[1])
            elif action == "post":
                answer = self.client.post(f"{work}/{step}", data=sent)
            else:
                answer = self.client.get(f"{work}/{quote(step, safe='/%.')}")
            self.settle(work)
            seen = self.client.get(f"{work}/result")
            for one in (answer, seen):
                last = one.status_code
                assert last < 500, f"{action} {step}: {last} {one.text[-600:]!r}"
                assert "a fault of the program" not in one.text, f"{action} {step}: a fault"
        self.client.post(f"{work}/end")
        return f"ended with {last}"

    def settle(self, work: str) -> None:
        """Wait until no job of the work is under way."""
        until = time.monotonic() + PATIENCE
        while True:
            answer = self.client.get(f"{work}/progress")
            if answer.status_code != 200 or answer.json()["state"] not in ("waiting", "running"):
                return
            assert time.monotonic() < until, "the job does not end"
            time.sleep(0.01)


def fields(rng: random.Random) -> dict[str, Any]:
    """Fields of a form, or nearly so."""
    found: dict[str, Any] = {}
    for _ in range(rng.randint(0, 5)):
        token = rng.choice(TOKENS).decode("utf-8", "replace")
        found[rng.choice(FIELDS)] = rng.choice([rng.choice(WORDS), rng.choice(WORDS), token])
    return found
