"""The page under load: many visitors, some of whom hang up or send rubbish.

    python benchmarks/page_load.py [--visitors 200] [--at-once 20] [--seconds 300] [--json FILE]

Starts the page in a process of its own and lets visitors use it until everybody has come and the
time is over. Each goes one of these ways: the whole way from a file to the downloaded ranking, a
program that uses the interface, a broken file, somebody who hangs up in the middle of an upload or
while the work is going on, and rubbish instead of HTTP forms. Every question must get an answer
that fits (never a status of 500), the page must still work afterwards, nothing may be left on
disk, and the memory of the server must stay bounded.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import httpx

from hitsndiffs.irt.examples import EXAMPLES

#: Way of a visitor → how many of a hundred go it.
WAYS = {
    "the whole way": 40,
    "a program": 20,
    "a broken file": 12,
    "hangs up while sending": 8,
    "hangs up while it works": 8,
    "rubbish": 8,
    "cancels": 4,
}
#: Files that cannot be read.
BROKEN = {
    "damaged.parquet": b"PAR1" + os.urandom(2000) + b"PAR1",
    "damaged.xlsx": b"PK\x03\x04" + os.urandom(2000),
    "noise.csv": os.urandom(5000),
    "empty.csv": b"",
    "broken.json": b'{"a": [' * 2000,
    "lines.jsonl": b'{"user": 1}\n' * 50 + b"{",
}
PATIENCE = 900.0


class Wrong(Exception):
    """An answer that does not fit."""


class Load:
    """Everybody who comes, and what they got."""

    def __init__(self, address: str, seed: int) -> None:
        self.address = address
        self.rng = random.Random(seed)
        self.answers: Counter[int] = Counter()
        self.ways: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.seconds: list[float] = []
        self.quiz = EXAMPLES["quiz.csv"]().encode()

    async def come(self) -> None:
        """Let one visitor come and go."""
        way = self.rng.choices(list(WAYS), list(WAYS.values()))[0]
        start = time.perf_counter()
        try:
            async with httpx.AsyncClient(
                base_url=self.address,
                timeout=PATIENCE,
                follow_redirects=True,
                event_hooks={"response": [self._count]},
            ) as client:
                await getattr(self, "_" + re.sub(r"\W+", "_", way))(client)
        except (Wrong, httpx.HTTPError, KeyError, ValueError) as error:
            self.wrong.append(f"{way}: {type(error).__name__}: {error}")
        self.ways[way] += 1
        if way == "the whole way":
            self.seconds.append(time.perf_counter() - start)

    async def _count(self, answer: httpx.Response) -> None:
        self.answers[answer.status_code] += 1

    # -- ways -----------------------------------------------------------------------------------

    async def _the_whole_way(self, client: Any) -> None:
        mark = f"visitor{self.rng.randrange(10**9)}"
        text = self.quiz.replace(b"student", mark.encode())
        await _post(client, "/files", files={"files": ("quiz.csv", text)})
        await _wait(client)
        _expect(await client.get("/plan"), 200, "30 users, 20 items")
        await _post(client, "/rank")
        await _wait(client)
        _expect(await client.get("/result"), 200, mark)
        ranking = await client.get("/download/ranking.csv")
        _expect(ranking, 200, mark)
        if len(re.findall(mark, ranking.text)) != 30:
            raise Wrong("not everybody is in the ranking")
        others = set(re.findall(r"visitor\d+", ranking.text)) - {mark}
        if others:
            raise Wrong("the answers of somebody else")
        if self.rng.random() < 0.5:
            await _post(client, "/end")

    async def _a_program(self, client: Any) -> None:
        files = {"file": ("quiz.csv", self.quiz)}
        answer = await client.post("/api/rank", files=files, data={"method": "majority"})
        _expect(answer, 200, "student-16")
        _expect(await client.get("/api/openapi.json"), 200, "3.1.0")

    async def _a_broken_file(self, client: Any) -> None:
        name = self.rng.choice(list(BROKEN))
        await _post(client, "/files", files={"files": (name, BROKEN[name])})
        await _wait(client)
        _expect(await client.get("/plan"), 422, "cannot be read like this")
        answer = await client.post("/api/rank", files={"file": (name, BROKEN[name])})
        _expect(answer, 422, "error")

    async def _hangs_up_while_sending(self, client: Any) -> None:
        host, port = re.findall(r"//(.*):(\d+)", self.address)[0]
        _, writer = await asyncio.open_connection(host, int(port))
        head = f"POST /files HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Length: 5000000\r\n"
        head += "Content-Type: multipart/form-data; boundary=b\r\n\r\n"
        part = '--b\r\nContent-Disposition: form-data; name="files"; filename="x.csv"\r\n\r\n'
        writer.write((head + part).encode() + b"x" * self.rng.randrange(2_000_000))
        await writer.drain()
        await asyncio.sleep(self.rng.random())
        writer.transport.abort()
        _expect(await client.get("/"), 200, "Drop files here")

    async def _hangs_up_while_it_works(self, client: Any) -> None:
        if self.rng.random() < 0.5:
            await _post(client, "/example", name="quiz.csv")
            await _wait(client)
            await _post(client, "/rank")
            return
        files = {"file": ("quiz.csv", self.quiz)}
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(client.post("/api/rank", files=files), self.rng.random())

    async def _rubbish(self, client: Any) -> None:
        kinds = ["multipart/form-data; boundary=b", "text/plain", "application/json", "x"]
        for path in ("/files", "/rank", "/plan", "/api/rank"):
            noise = self.rng.randbytes(self.rng.randrange(20_000))
            headers = {"Content-Type": self.rng.choice(kinds)}
            answer = await client.post(path, content=noise, headers=headers)
            if answer.status_code >= 500:
                raise Wrong(f"{path}: {answer.status_code}")
        for path in ("/%00", "/download/..%2f..%2fetc%2fpasswd", "/plan?" + "x" * 3000):
            answer = await client.get(path)
            if answer.status_code >= 500:
                raise Wrong(f"{path}: {answer.status_code}")
        host, port = re.findall(r"//(.*):(\d+)", self.address)[0]
        _, writer = await asyncio.open_connection(host, int(port))
        writer.write(self.rng.randbytes(3000))
        await writer.drain()
        writer.close()

    async def _cancels(self, client: Any) -> None:
        await _post(client, "/example", name="quiz.csv")
        await _wait(client)
        await _post(client, "/compare")
        answer = await _post(client, "/cancel")
        _expect(answer, 200, "30 users")


def _expect(answer: httpx.Response, status: int, words: str) -> None:
    if answer.status_code != status or words not in answer.text:
        text = re.sub(
            r"<style.*?</style>|<script.*?</script>|<[^>]+>", " ", answer.text, flags=re.S
        )
        said = " ".join(text.split())[:300]
        raise Wrong(f"{answer.request.url.path}: {answer.status_code} instead of {status}: {said}")


async def _post(client: Any, path: str, files: Any = None, **data: str) -> httpx.Response:
    home = await client.get("/")
    found = re.search(r'name="token" value="(\w+)"', home.text)
    if found is None:
        raise Wrong(f"no form at the start: {home.status_code}")
    answer: httpx.Response = await client.post(path, data={"token": found[1], **data}, files=files)
    if answer.status_code >= 500:
        raise Wrong(f"{path}: {answer.status_code}")
    return answer


async def _wait(client: Any) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        state = (await client.get("/progress")).json()["state"]
        if state not in ("waiting", "running"):
            return
        if time.monotonic() > until:
            raise Wrong("the work does not end")
        await asyncio.sleep(0.5)


# -- the server and its memory --------------------------------------------------------------------


def memory(pid: int) -> tuple[int, int, int]:
    """Return the memory of the server and of its processes in MB, and how many there are."""
    own, others, count = 0, 0, 0
    family = {pid}
    stats = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
                pages = int((entry / "statm").read_text().split()[1])
            except OSError:
                continue
            stats.append((int(entry.name), int(text.rpartition(")")[2].split()[1]), pages))
    for _ in range(4):
        family |= {child for child, parent, _ in stats if parent in family}
    for child, _, pages in stats:
        if child == pid:
            own = pages * 4096 // 1_000_000
        elif child in family:
            others += pages * 4096 // 1_000_000
            count += 1
    return own, others, count


async def _run(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hitsndiffs", "serve", "--no-open", "--port", "0",
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": folder},
    )  # fmt: skip
    assert server.stderr is not None
    found = re.search(r"http://[^/\s]+", (await server.stderr.readline()).decode())
    if found is None:
        raise SystemExit("the page did not start")
    load = Load(found[0], options.seed)
    peaks = [0, 0, 0]
    course: list[int] = []

    async def watch() -> None:
        while True:
            now = memory(server.pid)
            peaks[:] = [max(peak, value) for peak, value in zip(peaks, now, strict=True)]
            course.append(now[0])
            await asyncio.sleep(1)

    async def one_after_the_other() -> None:
        while started() < options.visitors or time.monotonic() < end:
            came.append(1)
            await load.come()

    came: list[int] = []
    end = time.monotonic() + options.seconds

    def started() -> int:
        return len(came)

    begin = time.perf_counter()
    watching = asyncio.create_task(watch())
    await asyncio.gather(*(one_after_the_other() for _ in range(options.at_once)))
    seconds = time.perf_counter() - begin
    async with httpx.AsyncClient(base_url=found[0], timeout=PATIENCE) as client:
        _expect(await client.get("/"), 200, "Drop files here")
    kept = len(list(Path(folder).glob("hitsndiffs-page-*/*")))
    watching.cancel()
    server.terminate()
    said = (await server.stderr.read()).decode()
    await server.wait()
    third = max(len(course) // 3, 1)
    return {
        "visitors": len(came),
        "at_once": options.at_once,
        "seconds": round(seconds),
        "ways": dict(load.ways),
        "answers": {str(code): n for code, n in sorted(load.answers.items())},
        "wrong": load.wrong,
        "the_whole_way_seconds": _quantiles(load.seconds),
        "server_mb_peak": peaks[0],
        "server_mb_first_third": max(course[:third], default=0),
        "server_mb_last_third": max(course[-third:], default=0),
        "workers_mb_peak": peaks[1],
        "processes_peak": peaks[2],
        "visits_kept_at_the_end": kept - 1,
        "left_on_disk_afterwards": len(list(Path(folder).iterdir())),
        "said_by_the_server": said,
    }


def _quantiles(values: list[float]) -> dict[str, float]:
    ordered = sorted(values)
    if not ordered:
        return {}
    return {
        "median": round(ordered[len(ordered) // 2], 1),
        "most": round(ordered[-1], 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--visitors", type=int, default=200, help="at least so many come")
    parser.add_argument("--at-once", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=300, help="and for at least so long")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="keep the figures here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = asyncio.run(_run(options, folder))
    text = json.dumps(found, indent=2)
    print(text)
    if options.json is not None:
        options.json.write_text(text + "\n", encoding="utf-8")
    if found["wrong"] or found["left_on_disk_afterwards"]:
        raise SystemExit("the page did not stand the load")


if __name__ == "__main__":
    main()
