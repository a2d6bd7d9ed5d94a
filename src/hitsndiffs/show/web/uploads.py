"""Uploaded files: limited in number, under safe names, in the folder of the visit."""

from __future__ import annotations

import re
import shutil
from collections.abc import Awaitable, Callable, Iterable
from typing import BinaryIO

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hitsndiffs.show.web.settings import Settings
from hitsndiffs.show.web.visits import Visit

__all__ = ["post_route", "receive_files", "take_files"]

#: Maximum fields of a form, and maximum bytes of a field that is not a file.
FIELDS, LARGEST_FIELD = 5000, 500_000
#: Maximum length of a file name without its ending, in bytes.
LONGEST_FILE_NAME = 100


def post_route(path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
    """Return a route for a form, whose files are closed when it is answered."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        finally:
            await request.close()

    return Route(path, handle, methods=["POST"])


async def receive_files(request: Request, settings: Settings) -> FormData:
    """Return the fields and files of a form."""
    return await request.form(
        max_files=settings.max_files, max_fields=FIELDS, max_part_size=LARGEST_FIELD
    )


def take_files(visit: Visit, files: Iterable[tuple[str | None, BinaryIO]]) -> None:
    """Put files, given as name and content, into the folder of a visit."""
    folder = visit.folder / "files"
    folder.mkdir()
    for name, content in files:
        path = folder / safe_name(name or "file", {file.name for file in visit.files})
        with path.open("wb") as file:
            shutil.copyfileobj(content, file)
        visit.files.append(path)


def safe_name(name: str, taken: set[str]) -> str:
    r"""Return a safe name for a file: no folders, nothing invisible, not taken.

    Examples
    --------
    >>> safe_name("../../etc/passwd", set()), safe_name("C:\\answers\\quiz.csv", {"quiz.csv"})
    ('passwd', 'quiz-2.csv')
    >>> safe_name("a\x00b\n.csv", set()), safe_name("..", set())
    ('a-b-.csv', 'file')
    """
    base = re.split(r"[/\\]", name)[-1]
    base = "".join(c if c.isprintable() else "-" for c in base).strip().lstrip(".")
    base = base.encode("utf-8", "replace").decode()
    stem, dot, ending = base.rpartition(".")
    if not dot:
        stem, ending = base, ""
    ending = ending[:20]
    stem = stem.encode()[:LONGEST_FILE_NAME].decode(errors="ignore") or "file"
    whole = f"{stem}{dot}{ending}" if ending else stem
    number = 1
    while whole in taken:
        number += 1
        whole = f"{stem}-{number}{dot}{ending}" if ending else f"{stem}-{number}"
    return whole
