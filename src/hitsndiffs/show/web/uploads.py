"""Uploaded files: limited in number, under safe names, in the folder of the visit."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence

from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request

from hitsndiffs.show.web.settings import Settings
from hitsndiffs.show.web.visits import Upload, Visit, safe_name

__all__ = ["receive_files", "take_files"]

#: Maximum fields of a form, and maximum bytes of a field that is not a file.
FIELDS, LARGEST_FIELD = 5000, 500_000


async def receive_files(request: Request, settings: Settings) -> FormData:
    """Return the fields and files of a form."""
    return await request.form(
        max_files=settings.max_files, max_fields=FIELDS, max_part_size=LARGEST_FIELD
    )


def take_files(visit: Visit, files: Sequence[UploadFile] | Mapping[str, bytes]) -> None:
    """Put files into the folder of a visit."""
    folder = visit.folder / "files"
    folder.mkdir()
    if isinstance(files, Mapping):
        for given, content in files.items():
            path = folder / safe_name(given, set())
            path.write_bytes(content)
            visit.files.append(Upload(path.name, path, len(content)))
        return
    taken: set[str] = set()
    for upload in files:
        name = safe_name(upload.filename or "file", taken)
        taken.add(name)
        path = folder / name
        with path.open("wb") as file:
            shutil.copyfileobj(upload.file, file)
        visit.files.append(Upload(name, path, path.stat().st_size))
