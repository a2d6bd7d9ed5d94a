"""A ranking in a file: a header in JSON, and the arrays beside it, in one uncompressed zip archive.

The header is read by the types of the fields it fills, so that whatever was changed in a file is
either refused or usable. Ranks, order and components are not stored: they follow from the scores.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import IO, Any, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.files import Writer, write_whole
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods import make
from hitsndiffs.methods.fitted import Fit
from hitsndiffs.order.numbering import mapped
from hitsndiffs.results.cells import jsonable
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.rendering import all_but_users

__all__ = ["load", "save", "writer"]

Array = npt.NDArray[Any]

#: The format that the header states, and the version of its layout.
FORMAT, LAYOUT = "hitsndiffs ranking", 3
HEADER = "header.json"
#: Numbers that arrays may hold.
DTYPES = ("|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8")
#: No score, weight or error is larger: their squares would overflow.
FAR = 1e100
NOT_SAVED = "this is not a saved ranking. Give a file that ranking.save() or hnd rank --save wrote."


@dataclass(frozen=True)
class _Saved:
    """What a file holds besides the fit."""

    method: str
    parameters: Mapping[str, Any]
    by: str
    version: str
    users: Array
    items: Array
    option_labels: Array
    item_starts: npt.NDArray[np.int64]
    codes: npt.NDArray[np.integer[Any]] | None
    rows: tuple[npt.NDArray[np.integer[Any]], npt.NDArray[np.integer[Any]]] | None
    kind: str
    notes: tuple[str, ...]
    given_key: Mapping[str, Any] | None
    resampled_errors: npt.NDArray[np.float64] | None
    fit: Fit


def save(ranking: Ranking, path: str | Path) -> None:
    """Write a ranking to a file (see :meth:`hitsndiffs.Ranking.save`)."""
    write_whole({Path(path): writer(ranking)})


def writer(ranking: Ranking) -> Writer:
    """A function that writes the file of a ranking."""
    r = ranking.responses
    saved = _Saved(
        method=ranking.method,
        parameters=ranking.parameters,
        by=ranking.by,
        version=ranking.version,
        users=r.users,
        items=r.items,
        option_labels=r.option_labels,
        item_starts=r.item_starts,
        codes=r.codes if r.is_dense else None,
        rows=None if r.is_dense else r.rows,
        kind=r.kind,
        notes=r.notes,
        given_key=ranking.given_key,
        resampled_errors=ranking.resampled_errors,
        fit=ranking.fit,
    )
    arrays: list[Array] = []
    header = {"format": FORMAT, "layout": LAYOUT, **_plain(saved, arrays)}
    text = json.dumps(header, ensure_ascii=False, allow_nan=False)

    def write(part: IO[bytes]) -> None:
        with zipfile.ZipFile(part, "w") as archive:
            archive.writestr(HEADER, text)
            for number, array in enumerate(arrays):
                archive.writestr(str(number), array.tobytes())

    return write


def _plain(value: Any, arrays: list[Array]) -> Any:
    """A value as JSON; numbers in arrays go to ``arrays``, labels stay."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iufb":
            return [jsonable(label) for label in value.tolist()]
        little = np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<")))
        arrays.append(little)
        dtype = little.dtype.str.replace(">", "<").replace("=", "<")
        return {"array": len(arrays) - 1, "dtype": dtype, "shape": list(value.shape)}
    if is_dataclass(value):
        found = {f.name: _plain(getattr(value, f.name), arrays) for f in fields(value)}
        return {"type": type(value).__name__, **found}
    if isinstance(value, tuple):
        return [_plain(each, arrays) for each in value]
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    return jsonable(value)


def load(path: str | Path) -> Ranking:
    """Read a ranking that :meth:`hitsndiffs.Ranking.save` wrote.

    Examples
    --------
    >>> import tempfile, hitsndiffs as hnd
    >>> ranking = hnd.rank(hnd.simulate("grm", users=20, items=8, options=3, seed=1).responses)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ranking.save(folder + "/class.ranking")
    ...     hnd.load(folder + "/class.ranking") == ranking
    True
    """
    try:
        with zipfile.ZipFile(path) as archive:
            stored = [each for each in archive.infolist() if each.compress_type == 0]
            members = {each.filename: archive.read(each) for each in stored}
        header = json.loads(members[HEADER])
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}).") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, LookupError, ValueError,
            RecursionError, EOFError) as error:  # fmt: skip
        raise InputError(f"{path}: {NOT_SAVED}") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise InputError(f"{path}: {NOT_SAVED}")
    if header.get("layout") != LAYOUT:
        raise InputError(
            f"{path}: written in layout {header.get('layout')!r} by version "
            f"{header.get('version')!r}; this version reads layout {LAYOUT}. Rank the data again."
        )
    try:
        found = {name: value for name, value in header.items() if name not in ("format", "layout")}
        ranking = _ranking(_Reader(members).read(found, _Saved, "ranking"))
        all_but_users(ranking)  # whatever can be said of it, can be said
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError,
            RecursionError, MemoryError) as error:  # fmt: skip
        raise InputError(f"{path}: the saved ranking is damaged ({str(error)[:80]}).") from error
    return ranking


@dataclass(frozen=True)
class _Reader:
    """Reads a header by the types of what it fills."""

    members: Mapping[str, bytes]

    def read(self, value: Any, kind: Any, what: str) -> Any:
        """The value, which must be of the kind."""
        origin, args = get_origin(kind), get_args(kind)
        if kind is Any:
            return value
        if type(None) in args:
            return None if value is None else self.read(value, args[0], what)
        if origin is tuple:
            _check(isinstance(value, list), what)
            each = args[:1] * len(value) if args[-1] is Ellipsis else args
            pairs = zip(value, each, strict=True)
            return tuple(self.read(part, own, what) for part, own in pairs)
        if origin in (np.ndarray, npt.NDArray):  # NumPy 2.5, or older
            number = args[0] if origin is npt.NDArray else get_args(args[1])[0]
            return self._array(value, number, what)
        if isinstance(kind, type) and is_dataclass(kind):
            return self._object(value, kind, what)
        if origin is not None:  # a mapping
            _check(isinstance(value, dict), what)
            return value
        if kind is float and isinstance(value, dict):
            return float(value["float"])
        _check(type(value) is kind or (kind is float and type(value) is int), what)
        if kind is str:
            value.encode()  # a lone surrogate raises ValueError
        return kind(value)

    def _object(self, value: Any, kind: type, what: str) -> Any:
        _check(isinstance(value, dict), what)
        kinds = {each.__name__: each for each in (kind, *_all_subclasses(kind))}
        kind = kinds[value["type"]]
        hints = get_type_hints(kind)
        own = {field.name: field for field in fields(kind)}
        _check(set(value) <= {"type", *own}, what)
        given = (f.name for f in own.values() if f.default is not MISSING)
        _check(set(own) <= {*value, *given}, what)
        return kind(**{n: self.read(value[n], hints[n], n) for n in own if n in value})

    def _array(self, value: Any, number: Any, what: str) -> Array:
        if isinstance(value, list):  # labels
            _check(number is Any and all(isinstance(v, str | int | float) for v in value), what)
            "".join(map(str, value)).encode()
            labels = np.empty(len(value), dtype=object)
            labels[:] = value
            return labels
        _check(value["dtype"] in DTYPES, what)
        array = np.frombuffer(self.members[str(value["array"])], dtype=value["dtype"])
        family = np.integer if number is np.int64 else number
        _check(number is Any or np.issubdtype(array.dtype, get_origin(family) or family), what)
        if array.dtype.kind == "f":
            _check(not (np.isfinite(array) & (np.abs(array) > FAR)).any(), what)
        return array.reshape(value["shape"]).copy()


def _all_subclasses(kind: type) -> list[type[Any]]:
    below: list[type[Any]] = kind.__subclasses__()
    return [each for own in below for each in (own, *_all_subclasses(own))]


def _ranking(saved: _Saved) -> Ranking:
    """The ranking; what follows from the data and the scores is computed again."""
    responses = Responses(
        users=saved.users,
        items=saved.items,
        option_labels=saved.option_labels,
        item_starts=saved.item_starts,
        codes=cast(Any, saved.codes),
        rows=saved.rows,
        kind=saved.kind,
        notes=saved.notes,
    )
    _check_responses(responses)
    _check_fit(saved.fit, responses)
    m = responses.n_users
    errors = saved.resampled_errors
    _check(errors is None or errors.shape == (m,), "resampled_errors")
    parameters = dict(saved.parameters)
    if parameters.get("engine") not in ("auto", "numpy", "threads"):
        parameters["engine"] = "auto"  # a graphics card or a cluster need not be here
    method = make(saved.method, **parameters)
    data = open_engine(responses, parameters["engine"], parameters.get("threads"))
    _check(data.choosers_per_option.all(), "options")
    method._check(data)
    method.fit_, method.data_ = saved.fit, data
    method.components_ = data.collect(data.components(method.linked_by))
    silent = method.components_ < 0
    _check(np.array_equal(np.isnan(saved.fit.scores), silent), "scores")
    by = None if saved.by == "score" else saved.by
    ranking = Ranking.of(responses, method, by, given_key=saved.given_key)
    return replace(ranking, version=saved.version, resampled_errors=errors)


def _check(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} cannot be right")


def _check_responses(r: Responses) -> None:
    """Codes and rows may only name existing options: compiled code relies on it."""
    starts = r.item_starts
    _check(starts.shape == (len(r.items) + 1,), "item_starts")
    _check(starts[0] == 0 and starts[-1] == len(r.option_labels), "item_starts")
    _check(bool((np.diff(starts) > 0).all()), "item_starts")
    for labels in (r.users, r.items, r.option_labels):
        _check(labels.ndim == 1, "labels")
    if r.is_dense:
        codes = r.codes
        _check(codes.dtype in (np.uint8, np.uint16), "codes")
        _check(codes.shape == (len(r.items), len(r.users)), "codes")
        sizes = np.diff(starts)[:, None]
        _check(bool(((codes < sizes) | (codes == np.iinfo(codes.dtype).max)).all()), "codes")
        return
    indptr, options = r.rows
    _check(indptr.shape == (len(r.users) + 1,) and options.ndim == 1, "rows")
    _check(indptr[0] == 0 and indptr[-1] == len(options), "rows")
    _check(bool((np.diff(indptr) >= 0).all()), "rows")
    _check(bool(((options >= 0) & (options < len(r.option_labels))).all()), "rows")
    user = np.repeat(np.arange(r.n_users), np.diff(indptr))
    repeated = (np.diff(r.option_items[options]) <= 0) & (np.diff(user) == 0)
    _check(not repeated.any(), "rows")


def _check_fit(fit: Fit, r: Responses) -> None:
    """Arrays must have one value per user, item or option, and numbers must exist."""
    sizes = {"user": r.n_users, "item": r.n_items, "option": r.n_options}

    def sized(axis: str, values: Any) -> Any:
        _check(values.shape[:1] == (sizes[axis],), f"values per {axis}")
        return values

    def below(axis: str, numbers: Any) -> Any:
        values = np.asarray(numbers)
        _check(((values >= 0) & (values < sizes[axis])).all(), f"numbers of {axis}s")
        return numbers

    mapped(fit, sized, below)
    arrays = [getattr(fit, f.name) for f in fields(fit) if f.metadata or f.name == "eigenvalues"]
    _check(all(x is None or x.ndim == 1 for x in arrays), "fit")
    _check(fit.confidence is None or 0 <= fit.confidence <= 1, "confidence")
    if fit.perfect is not None:
        places = len(fit.perfect.order)
        _check(len(fit.perfect.level) == places, "perfect")
        for ends in (fit.perfect.first, fit.perfect.last):
            _check(((ends >= 0) & (ends < places)).all(), "perfect")
