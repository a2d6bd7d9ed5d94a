"""Visits: each visitor's files and results, kept apart from all others and deleted afterwards."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hitsndiffs.show.web.forms import wishes
from hitsndiffs.show.web.jobs import Busy, Job, Workers
from hitsndiffs.show.web.settings import Settings

__all__ = ["Visit", "Visits"]

PREFIX = "hitsndiffs-page-"


@dataclass
class Visit:
    """A visitor's files, choices and results.

    Attributes
    ----------
    folder
        The folder that holds everything of this visit.
    size
        Bytes of all files.
    files
        The uploaded files.
    options
        How to read the files, as far as the visitor chose.
    wishes
        What the visitor wants of the ranking: method, strong user, key.
    known
        Right answers that the visitor gave when asked.
    plan, result, comparison
        The results, None until there are any.
    job
        The current piece of work, or the last one.
    """

    folder: Path
    size: int
    files: list[Path] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    wishes: dict[str, Any] = field(default_factory=lambda: wishes({}))
    known: dict[str, str] = field(default_factory=dict)
    plan: dict[str, Any] | None = None
    result: dict[str, Any] | None = None
    comparison: dict[str, Any] | None = None
    job: Job | None = None
    used: float = field(default_factory=time.monotonic)

    @property
    def is_working(self) -> bool:
        """Whether work is under way."""
        return self.job is not None and not self.job.is_over

    @property
    def title(self) -> str:
        """The name of the file, or the number of files."""
        if len(self.files) == 1:
            return self.files[0].name
        return f"{len(self.files):,} files"


class Visits:
    """All visits, in one folder that is removed with them.

    A visitor is recognised by a cookie that this server has signed. Nothing is kept about a
    visitor without files.
    """

    def __init__(self, settings: Settings, workers: Workers) -> None:
        self.settings = settings
        self.workers = workers
        self._secret = secrets.token_bytes(32)
        self._visits: dict[str, Visit] = {}
        _remove_leftovers()
        self.root = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._lock = _lock(self.root / "lock")

    # -- who ----------------------------------------------------------------------------------

    def new_visitor(self) -> str:
        """Return a signed name for a new visitor."""
        name = secrets.token_urlsafe(24)
        return f"{name}.{self._sign('visitor', name)}"

    def is_ours(self, visitor: str | None) -> bool:
        """Tell whether this server issued the name."""
        name, _, sign = (visitor or "").partition(".")
        return hmac.compare_digest(sign.encode(), self._sign("visitor", name).encode())

    def token(self, visitor: str) -> str:
        """Return the token that this visitor's forms must carry."""
        return self._sign("form", visitor)

    def is_token(self, visitor: str, token: str) -> bool:
        """Tell whether a form's token is this visitor's."""
        return hmac.compare_digest(token.encode(), self.token(visitor).encode())

    def _sign(self, purpose: str, text: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{text}".encode(), hashlib.sha256).hexdigest()

    # -- what ---------------------------------------------------------------------------------

    def get(self, visitor: str) -> Visit | None:
        """Return a visitor's visit, if there is one."""
        visit = self._visits.get(visitor)
        if visit is not None:
            visit.used = time.monotonic()
        return visit

    def begin(self, visitor: str, n_bytes: int) -> Visit:
        """Begin a visit with this many bytes of files; an earlier one of the visitor ends."""
        self.end(visitor)
        self.sweep()
        while self._visits and not self._has_room(n_bytes):
            idle = [name for name, visit in self._visits.items() if not visit.is_working]
            if not idle:
                raise Busy
            self.end(min(idle, key=lambda name: self._visits[name].used))
        if not self._has_room(n_bytes):
            raise Busy
        visit = Visit(Path(tempfile.mkdtemp(dir=self.root)), n_bytes)
        self._visits[visitor] = visit
        return visit

    def _has_room(self, n_bytes: int) -> bool:
        kept = sum(visit.size for visit in self._visits.values())
        fits = kept + n_bytes <= self.settings.max_disk
        return fits and len(self._visits) < self.settings.max_visits

    def end(self, visitor: str) -> None:
        """Forget a visit: stop its work, and remove its files."""
        visit = self._visits.pop(visitor, None)
        if visit is not None:
            self.workers.cancel(visit.job)
            shutil.rmtree(visit.folder, ignore_errors=True)

    def sweep(self) -> None:
        """Forget visits that have been idle for too long."""
        now = time.monotonic()
        for visitor, visit in list(self._visits.items()):
            if now - visit.used > self.settings.idle and not visit.is_working:
                self.end(visitor)

    def close(self) -> None:
        """Forget everything."""
        for visitor in list(self._visits):
            self.end(visitor)
        self.workers.close()
        shutil.rmtree(self.root, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)

    def __len__(self) -> int:
        return len(self._visits)


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
            if not is_ours or time.time() - found.st_mtime < 60:
                continue
            lock = _lock(folder / "lock")
            if lock is not None:
                shutil.rmtree(folder, ignore_errors=True)
                os.close(lock)
