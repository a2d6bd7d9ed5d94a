"""A ranking in a file: versioned JSON, written whole or not at all."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.methods.dawid_skene import Confusions
from hitsndiffs.methods.fitted import AlikeUsers, Choice, Fit
from hitsndiffs.methods.grm import GradedItems
from hitsndiffs.methods.latent_key.confidence import Signs
from hitsndiffs.methods.latent_key.learnt import FoundSolution, KeySearch, Population
from hitsndiffs.methods.readings import Question, Reading
from hitsndiffs.methods.robust import ShrunkAxes
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.orientation import Orientation
from hitsndiffs.order.perfect import PerfectOrder
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.saved_checks import check_saved
from hitsndiffs.results.values import jsonable

__all__ = ["as_text", "load", "save"]

#: The format that the file states, and the version of its layout.
FORMAT, LAYOUT = "hitsndiffs ranking", 2
#: The types that a fit may contain, by name.
PARTS: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        AlikeUsers,
        Choice,
        Confusions,
        FoundSolution,
        GradedItems,
        KeySearch,
        Orientation,
        PerfectOrder,
        Population,
        Question,
        Reading,
        Scoring,
        ShrunkAxes,
        Signs,
    )
}


def save(ranking: Ranking, path: str | Path) -> None:
    """Write a ranking to a file (see :meth:`hitsndiffs.Ranking.save`)."""
    write_whole({Path(path): text_writer(as_text(ranking))})


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
            f"{path}: this is not a saved ranking (not even JSON). Give a file that ranking.save() "
            "or hnd rank --save wrote."
        ) from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise InputError(
            f"{path}: this is not a saved ranking. Give a file that ranking.save() or "
            "hnd rank --save wrote."
        )
    if document.get("layout") != LAYOUT:
        raise InputError(
            f"{path}: written in layout {document.get('layout')!r} by version "
            f"{document.get('version')!r}; this version reads layout {LAYOUT}. Rank the data again."
        )
    try:
        ranking = _ranking(document)
        check_saved(ranking)
    except (
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        ArithmeticError,
        zlib.error,
    ) as error:
        raise InputError(f"{path}: the saved ranking is damaged ({str(error)[:80]}).") from error
    return ranking


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
            "rows": None if r.is_dense else _field(r.rows),
            "kind": r.kind,
            "notes": list(r.notes),
        },
        "scores": _packed(ranking.scores),
        "ranks": _packed(ranking.ranks),
        "components": _packed(ranking.components),
        "order": _packed(ranking.order),
        "resampled_errors": _field(ranking.resampled_errors),
        "fit": {f.name: _field(getattr(ranking.fit, f.name)) for f in fields(Fit)},
    }


def _field(value: Any) -> Any:
    """A field of the fit, with a tag if JSON would lose its type."""
    if isinstance(value, np.ndarray):
        return _packed(value)
    if isinstance(value, tuple):
        return [_field(each) for each in value]
    if is_dataclass(value):
        parts = {f.name: _field(getattr(value, f.name)) for f in fields(value)}
        return {"part": type(value).__name__, "fields": parts}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    return jsonable(value)


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
    if isinstance(value, list):
        return tuple(_restored(each) for each in value)
    if not isinstance(value, dict):
        return value
    if "part" in value:
        parts = {name: _restored(each) for name, each in value["fields"].items()}
        return PARTS[value["part"]](**parts)
    return float(value["float"]) if "float" in value else _unpacked(value)


def _ranking(document: Mapping[str, Any]) -> Ranking:
    r = document["responses"]
    responses = Responses(
        users=_unpacked(r["users"]),
        items=_unpacked(r["items"]),
        option_labels=_unpacked(r["option_labels"]),
        item_starts=_unpacked(r["item_starts"]),
        codes=_unpacked(r["codes"]),
        rows=_restored(r["rows"]),
        kind=r["kind"],
        notes=r["notes"],
    )
    fit = {name: _restored(value) for name, value in document["fit"].items()}
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
