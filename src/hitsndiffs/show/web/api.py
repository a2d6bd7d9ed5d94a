"""The description of the interface for programs, ``POST /api/rank`` (OpenAPI 3.1)."""

from __future__ import annotations

from typing import Any

from hitsndiffs.methods import METHODS
from hitsndiffs.results.version import version
from hitsndiffs.show.web.settings import Settings, size

__all__ = ["description"]


def description(settings: Settings) -> dict[str, Any]:
    """Return the description.

    Examples
    --------
    >>> list(description(Settings())["paths"])
    ['/api/rank', '/api/openapi.json']
    """
    text, number = {"type": "string"}, {"type": ["number", "null"]}
    file = {**text, "format": "binary"}
    fields: dict[str, Any] = {
        "file": {
            **file,
            "description": "The answers, in any format that 'hnd formats' lists; at most "
            f"{size(settings.max_upload)}. May be given several times.",
        },
        "method": {**text, "enum": list(METHODS), "default": "auto"},
        "by": {**text, "enum": ["correct", "ability"]},
        "strong_user": {**text, "description": "A user who is certainly good."},
        "group": {**text, "description": "The column of the users' groups (plain tables)."},
        "answers": {**file, "description": "Right answers that are known (columns item, answer)."},
        "seed": {"type": "integer", "minimum": 0, "default": 0},
    }
    user = {"user": {}, "rank": number, "score": number}
    ranking = {
        "method": text,
        "n_users": {"type": "integer"},
        "n_items": {"type": "integer"},
        "users": {"type": "array", "items": _object(user), "description": "From best to worst."},
        "confidence": {**number, "description": "How sure the order is (0 to 1)."},
        "answer_key": {
            "type": ["object", "null"],
            "description": "The likely key: item → option and confidence.",
        },
        "notes": {"type": "array", "items": text},
    }
    problem = _json("One sentence that says what is wrong.", _object({"error": text}))
    form = {"type": "object", "required": ["file"], "properties": fields}
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
                        "content": {"multipart/form-data": {"schema": form}},
                    },
                    "responses": {
                        "200": _json("What 'hnd rank FILE --json' prints.", _object(ranking)),
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


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(properties), "properties": properties}


def _json(words: str, schema: dict[str, Any]) -> dict[str, Any]:
    """An answer in JSON, as OpenAPI describes it."""
    return {"description": words, "content": {"application/json": {"schema": schema}}}
