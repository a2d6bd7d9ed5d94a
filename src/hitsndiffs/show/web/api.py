"""The interface for programs: ``POST /api/rank``, and its description."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS
from hitsndiffs.results.version import version
from hitsndiffs.show.web.jobs import Job, Workers
from hitsndiffs.show.web.settings import Settings, size
from hitsndiffs.show.web.uploads import post_route, receive_files, take_files
from hitsndiffs.show.web.visits import Visits

__all__ = ["Api", "description"]

LOOK = 0.05


class Api:
    """Answers programs, which have no cookie; none of their data is kept."""

    def __init__(self, settings: Settings, workers: Workers, visits: Visits) -> None:
        self.settings = settings
        self.workers = workers
        self.visits = visits
        self.routes = [
            post_route("/api/rank", self.rank),
            Route("/api/openapi.json", self.describe),
        ]

    async def describe(self, _: Request) -> Response:
        """Return the description of this interface."""
        return JSONResponse(description(self.settings))

    async def rank(self, request: Request) -> Response:
        """Rank the users of a file."""
        form = await receive_files(request, self.settings)
        files = [f for f in form.getlist("file") if isinstance(f, UploadFile)]
        if not files:
            raise HTTPException(400, "The file is missing: send it as the multipart field 'file'.")
        seed = str(form.get("seed", "")).strip()
        if seed and not seed.isdecimal():
            raise InputError(f"seed must be a whole number; got {seed[:100]!r}.")
        group = str(form.get("group", ""))
        visitor = self.visits.new_visitor()
        try:
            visit = self.visits.begin(visitor, sum(file.size or 0 for file in files))
            await asyncio.to_thread(take_files, visit, [(f.filename, f.file) for f in files])
            answers = form.get("answers")
            key_file = None
            if isinstance(answers, UploadFile):
                key_file = visit.folder / "answers.csv"
                key_file.write_bytes(await answers.read())
            visit.job = self.workers.start(
                {
                    "kind": "api",
                    "folder": str(visit.folder),
                    "files": [str(file) for file in visit.files],
                    "method": str(form.get("method", "")),
                    "by": str(form.get("by", "")),
                    "strong_user": str(form.get("strong_user", "")),
                    "seed": int(seed) if seed else None,
                    "key_file": None if key_file is None else str(key_file),
                    "options": {"group": group} if group else {},
                }
            )
            await self._wait(request, visit.job)
            if visit.job.state != "done":
                status = 500 if visit.job.is_fault else 422
                raise HTTPException(status, visit.job.error or "The work was stopped.")
            text = await asyncio.to_thread((visit.folder / "ranking.json").read_bytes)
            return Response(text, media_type="application/json")
        finally:
            await asyncio.to_thread(self.visits.end, visitor)

    async def _wait(self, request: Request, job: Job) -> None:
        """Wait for the work; stop it if the client disconnects."""
        while not job.is_over:
            await asyncio.sleep(LOOK)
            with contextlib.suppress(RuntimeError):
                if await request.is_disconnected():
                    self.workers.cancel(job)


def description(settings: Settings) -> dict[str, Any]:
    """Return the description of the interface (OpenAPI 3.1)."""
    text = {"type": "string"}
    problem = _json(
        "One sentence that says what is wrong.",
        {"type": "object", "required": ["error"], "properties": {"error": text}},
    )
    fields: dict[str, Any] = {
        "file": {
            **text,
            "format": "binary",
            "description": f"The answers, in any format that 'hnd formats' lists; at most "
            f"{size(settings.max_upload)}. May be given several times.",
        },
        "method": {**text, "enum": list(METHODS), "default": "auto"},
        "by": {**text, "enum": ["correct", "ability"]},
        "strong_user": {**text, "description": "A user who is certainly good."},
        "group": {**text, "description": "The column of the users' groups (plain tables)."},
        "answers": {
            **text,
            "format": "binary",
            "description": "Right answers that are known (columns item, answer).",
        },
        "seed": {"type": "integer", "minimum": 0, "default": 0},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "hitsndiffs",
            "version": version(),
            "description": "Who is good, and what is right, from answers alone.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": f"http://{settings.host}:{settings.port}"}],
        "paths": {
            "/api/rank": {
                "post": {
                    "operationId": "rank",
                    "summary": "Rank the users of a file.",
                    "requestBody": {
                        "required": True,
                        "content": {
                            "multipart/form-data": {
                                "schema": {
                                    "type": "object",
                                    "required": ["file"],
                                    "properties": fields,
                                }
                            }
                        },
                    },
                    "responses": {
                        "200": _json("What 'hnd rank FILE --json' prints.", _RANKING),
                        **dict.fromkeys(("400", "403", "413", "422", "500", "503"), problem),
                    },
                }
            },
            "/api/openapi.json": {
                "get": {
                    "operationId": "describe",
                    "summary": "Return this description.",
                    "responses": {"200": _json("OpenAPI 3.1.", {"type": "object"})},
                }
            },
        },
    }


def _json(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    """An answer in JSON, as OpenAPI describes it."""
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_NUMBER = {"type": ["number", "null"]}
_RANKING: dict[str, Any] = {
    "type": "object",
    "required": ["method", "n_users", "n_items", "users", "confidence", "answer_key", "notes"],
    "properties": {
        "method": {"type": "string"},
        "parameters": {"type": "object"},
        "version": {"type": "string"},
        "by": {"type": ["string", "null"]},
        "n_users": {"type": "integer"},
        "n_items": {"type": "integer"},
        "n_options": {"type": "integer"},
        "n_responses": {"type": "integer"},
        "users": {
            "type": "array",
            "description": "From best to worst.",
            "items": {
                "type": "object",
                "required": ["user", "rank", "score"],
                "properties": {"user": {}, "rank": _NUMBER, "score": _NUMBER},
            },
        },
        "confidence": {
            **_NUMBER,
            "description": "How sure that this is ability, the best on top (0 to 1).",
        },
        "reliability": _NUMBER,
        "answer_key": {
            "type": ["object", "null"],
            "description": "The likely key: item → option and confidence.",
        },
        "notes": {"type": "array", "items": {"type": "string"}},
    },
}
