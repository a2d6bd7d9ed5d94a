"""Pieces of work: each has its own address, folder and results, and is removed when it is over."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from hitsndiffs.show.web.jobs import Job
from hitsndiffs.show.web.settings import Settings

__all__ = ["Work", "Works"]

PREFIX = "hitsndiffs-page-"
#: Maximum length of a file name without its ending, in bytes.
LONGEST_FILE_NAME = 100


@dataclass
class Work:
    """One piece of work: the files, what was chosen, and the results.

    Attributes
    ----------
    name
        The random name in the address; who does not know it cannot see the work.
    folder
        The folder that holds everything of it.
    files
        The uploaded files.
    options
        How to read the files, as far as it was chosen.
    wishes
        What is wanted of the ranking: method, strong user, key.
    known
        Right answers given when asked.
    results
        What the jobs found: ``"plan"``, ``"rank"`` and ``"compare"``.
    job
        The current job, or the last one.
    was_left
        Whether a tab of it was closed, and no other has been heard of since.
    """

    name: str
    folder: Path
    files: list[Path] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    wishes: dict[str, Any] = field(default_factory=dict)
    known: dict[str, str] = field(default_factory=dict)
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    job: Job | None = None
    used: float = field(default_factory=time.monotonic)
    was_left: bool = False

    @property
    def is_working(self) -> bool:
        """Whether a job is under way."""
        return self.job is not None and not self.job.is_over

    @property
    def title(self) -> str:
        """The name of the file, or the number of files."""
        return self.files[0].name if len(self.files) == 1 else f"{len(self.files):,} files"

    async def keep(self, name: str, content: BinaryIO, place: str = "files") -> Path:
        """Write a file into a folder of the work, under a safe name."""
        folder = self.folder / place
        folder.mkdir(exist_ok=True)
        path = folder / safe_name(name, {file.name for file in self.files})

        def copy() -> None:
            with path.open("wb") as file:
                shutil.copyfileobj(content, file)

        await asyncio.to_thread(copy)
        return path

    async def take(self, files: Iterable[tuple[str, BinaryIO]]) -> None:
        """Take the files to read, given as name and content."""
        for name, content in files:
            self.files.append(await self.keep(name, content))

    def touch(self, *, left: bool = False) -> None:
        """Somebody looks at it, or a tab of it was closed."""
        self.used, self.was_left = time.monotonic(), left

    def learn(self) -> None:
        """Take the result of the last job, if it has one."""
        if self.job is not None and self.job.state == "done":
            kind, found = self.job.task["kind"], self.job.result
            self.results[kind] = found
            if kind == "rank":
                self.results["plan"] = found["plan"]


class Works:
    """All pieces of work, in one private folder that is removed with them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._works: dict[str, Work] = {}
        _remove_leftovers()
        self.root = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _lock(self.root / "lock")

    def begin(self) -> Work:
        """Begin a new piece of work."""
        work = Work(secrets.token_urlsafe(18), Path(tempfile.mkdtemp(dir=self.root)))
        self._works[work.name] = work
        return work

    def get(self, name: str) -> Work | None:
        """Return the piece of work of this name, if there is one."""
        work = self._works.get(name)
        if work is not None:
            work.learn()
            work.was_left = False
        return work

    async def end(self, work: Work) -> None:
        """Stop its job, and remove its files."""
        self._works.pop(work.name, None)
        if work.job is not None:
            await work.job.cancel()
        await asyncio.to_thread(shutil.rmtree, work.folder, ignore_errors=True)

    async def sweep(self) -> None:
        """Remove what nobody looks at any more."""
        for work in list(self._works.values()):
            patience = self.settings.away if work.was_left else self.settings.idle
            if time.monotonic() - work.used > patience:
                await self.end(work)

    async def close(self) -> None:
        """Remove everything."""
        for work in list(self._works.values()):
            await self.end(work)
        await asyncio.to_thread(shutil.rmtree, self.root, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)

    def __len__(self) -> int:
        return len(self._works)


def safe_name(name: str, taken: set[str]) -> str:
    r"""Return a safe name for a file: no folders, nothing invisible, not taken.

    Examples
    --------
    >>> safe_name("../../etc/passwd", set()), safe_name("C:\\answers\\quiz.csv", {"quiz.csv"})
    ('passwd', 'quiz-2.csv')
    >>> safe_name("a\x00b\n.csv", set()), safe_name("..", set())
    ('a-b-.csv', 'file')
    """
    base = re.split(r"[/\\]", name)[-1].encode("utf-8", "replace").decode()
    path = Path("".join(c if c.isprintable() else "-" for c in base).strip().lstrip(".") or "file")
    stem = path.stem.encode()[:LONGEST_FILE_NAME].decode(errors="ignore")
    ending, found, number = path.suffix[:21], "", 1
    while not found or found in taken:
        found = f"{stem}-{number}{ending}" if number > 1 else f"{stem}{ending}"
        number += 1
    return found


def _lock(path: Path) -> int | None:
    """Hold a lock until this process closes it or ends; None if that is not possible."""
    try:
        import fcntl
    except ImportError:
        return None
    file = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return None
    return file


def _remove_leftovers() -> None:
    """Remove what killed servers left behind: our own folders whose lock nobody holds."""
    if not hasattr(os, "getuid"):
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            found = folder.lstat()
            is_ours = found.st_uid == os.getuid() and folder.is_dir() and not folder.is_symlink()
            if not is_ours or time.time() - found.st_mtime < 5:  # its server may just be starting
                continue
            lock = _lock(folder / "lock")
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
