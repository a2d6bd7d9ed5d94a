"""A ranking in a file: JSON, with a version, written whole or not at all."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.files import write_whole
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.methods.fitted import Fit
from hitsndiffs.methods.readings import Question, Reading
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.orientation import Orientation
from hitsndiffs.results.frames import jsonable
from hitsndiffs.results.ranking import Ranking

__all__ = ["as_text", "load", "save"]

#: What the file says it is, and the version of its layout.
FORMAT, LAYOUT = "hitsndiffs ranking", 1


def save(ranking: Ranking, path: str | Path) -> None:
    """Write a ranking to a file (see :meth:`hitsndiffs.Ranking.save`)."""
    text = as_text(ranking)
    write_whole({Path(path): lambda part: _write(part, text)})


def as_text(ranking: Ranking) -> str:
    """The text of the file."""
    return json.dumps(_document(ranking), ensure_ascii=False, allow_nan=False)


def load(path: str | Path) -> Ranking:
    """Read a ranking that :meth:`hitsndiffs.Ranking.save` wrote.

    Examples
    --------
    >>> import tempfile, hitsndiffs as hnd
    >>> ranking = hnd.rank(hnd.simulate("grm", users=20, items=8, options=3, seed=1).responses)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ranking.save(folder + "/ranking.json")
    ...     hnd.load(folder + "/ranking.json") == ranking
    True
    """
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise InputError(
            f"{path}: this is no saved ranking (no JSON). Give a file that ranking.save() or "
            "hnd rank --save wrote."
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(
            f"{path}: this is no saved ranking. Give a file that ranking.save() or "
            "hnd rank --save wrote."
        )
    if document.get("layout") != LAYOUT:
        raise InputError(
            f"{path}: written in layout {document.get('layout')!r} by version "
            f"{document.get('version')!r}; this version reads layout {LAYOUT}. Rank the data again."
        )
    try:
        return _ranking(document)
    except (KeyError, TypeError, ValueError, IndexError, zlib.error) as error:
        raise InputError(f"{path}: the saved ranking is damaged ({error}).") from error


def _write(part: Path, text: str) -> None:
    part.write_text(text, encoding="utf-8")


def _document(ranking: Ranking) -> dict[str, Any]:
    r = ranking.responses
    return {
        "format": FORMAT,
        "layout": LAYOUT,
        "version": ranking.version,
        "method": ranking.method,
        "parameters": {name: jsonable(value) for name, value in ranking.parameters.items()},
        "by": ranking.by,
        "consistent": ranking.consistent,
        "responses": {
            "users": _packed(r.users),
            "items": _packed(r.items),
            "option_labels": _packed(r.option_labels),
            "item_starts": _packed(r.item_starts),
            "codes": _packed(r.codes) if r.is_dense else None,
            "rows": None if r.is_dense else [_packed(part) for part in r.rows],
            "kind": r.kind,
            "notes": list(r.notes),
        },
        "scores": _packed(ranking.scores),
        "ranks": _packed(ranking.ranks),
        "components": _packed(ranking.components),
        "order": _packed(ranking.order),
        "resampled_errors": _maybe(ranking.resampled_errors),
        "fit": {f.name: _field(getattr(ranking.fit, f.name)) for f in fields(Fit)},
    }


def _field(value: Any) -> Any:
    """A field of the fit, with a tag where JSON does not tell its type."""
    if isinstance(value, np.ndarray):
        return _packed(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Reading | Question):
        kind = type(value[0]).__name__.lower()
        return {f"{kind}s": [_parts(each) for each in value]}
    if isinstance(value, Orientation | Scoring):
        kind = type(value).__name__.lower()
        return {kind: _parts(value)}
    if isinstance(value, Mapping):
        return {"mapping": {str(k): jsonable(v) for k, v in value.items() if np.size(v) <= 10_000}}
    return jsonable(value)


def _parts(value: Any) -> dict[str, Any]:
    return {f.name: _field(getattr(value, f.name)) for f in fields(value)}


def _packed(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Numbers as compressed bytes (exact), labels as a list."""
    if array.dtype.kind not in "iufb":
        return {"labels": [jsonable(value) for value in array.tolist()]}
    little = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")))
    return {
        "dtype": array.dtype.str.replace(">", "<"),
        "shape": list(array.shape),
        "bytes": base64.b64encode(zlib.compress(little.tobytes())).decode("ascii"),
    }


def _maybe(array: npt.NDArray[Any] | None) -> dict[str, Any] | None:
    return None if array is None else _packed(array)


def _unpacked(packed: Any) -> Any:
    if packed is None:
        return None
    if "labels" in packed:
        labels = np.empty(len(packed["labels"]), dtype=object)
        labels[:] = packed["labels"]
        return labels
    size = int(np.prod(packed["shape"], dtype=np.int64)) * np.dtype(packed["dtype"]).itemsize
    data = zlib.decompressobj().decompress(base64.b64decode(packed["bytes"]), size + 1)
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes where {size} are expected")
    return np.frombuffer(data, dtype=packed["dtype"]).reshape(packed["shape"]).copy()


def _restored(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "bytes" in value or "labels" in value:
        return _unpacked(value)
    for kind in (Orientation, Scoring):
        if (parts := value.get(kind.__name__.lower())) is not None:
            return kind(**{name: _restored(part) for name, part in parts.items()})
    for several in (Reading, Question):
        if (all_ := value.get(f"{several.__name__.lower()}s")) is not None:
            return tuple(several(**{n: _restored(x) for n, x in each.items()}) for each in all_)
    return value.get("mapping", value)


def _ranking(document: Mapping[str, Any]) -> Ranking:
    r = document["responses"]
    responses = Responses(
        users=_unpacked(r["users"]),
        items=_unpacked(r["items"]),
        option_labels=_unpacked(r["option_labels"]),
        item_starts=_unpacked(r["item_starts"]),
        codes=_unpacked(r["codes"]),
        rows=None if r["rows"] is None else tuple(_unpacked(part) for part in r["rows"]),
        kind=r["kind"],
        notes=r["notes"],
    )
    fit = {name: _restored(value) for name, value in document["fit"].items()}
    for name in ("notes", "readings", "questions"):
        fit[name] = tuple(fit.get(name) or ())
    return Ranking(
        responses=responses,
        method=document["method"],
        parameters=document["parameters"],
        fit=Fit(**fit),
        by=document["by"],
        scores=_unpacked(document["scores"]),
        ranks=_unpacked(document["ranks"]),
        components=_unpacked(document["components"]),
        order=_unpacked(document["order"]),
        consistent=document["consistent"],
        version=document["version"],
        resampled_errors=_unpacked(document["resampled_errors"]),
    )
