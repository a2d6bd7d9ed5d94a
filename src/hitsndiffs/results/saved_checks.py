"""Check a ranking that was read from a file: nothing in it is trusted."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.methods.fitted import USER_ARRAYS
from hitsndiffs.results.ranking import Ranking

__all__ = ["check_saved"]


def check_saved(ranking: Ranking) -> None:
    """Raise ``ValueError`` for types, sizes or numbers that no saved ranking has.

    Compiled code relies on the sizes: a wrong one would make it access memory outside its arrays.
    """
    r, fit = ranking.responses, ranking.fit
    _check_responses(r)
    _check_type(ranking, Ranking, "ranking")
    m, q = r.n_users, r.n_options
    for name in ("scores", "ranks", "components", "order", "resampled_errors"):
        _check_length(getattr(ranking, name), m, name)
    for name in USER_ARRAYS:
        _check_length(getattr(fit, name), m, name)
    for name in ("option_weights", "key_probabilities"):
        _check_length(getattr(fit, name), q, name)
    for reading in fit.readings:
        _check_length(reading.key, q, "readings")
        _check_length(reading.correct, m, "readings")
    _check(np.array_equal(np.sort(ranking.order), np.arange(m)), "order")
    _check(fit.eigenvalues is None or fit.eigenvalues.ndim == 1, "eigenvalues")
    _check(fit.scoring is None or fit.scoring.weights.shape == (q,), "scoring")
    _check(all(0 <= question.item < r.n_items for question in fit.questions), "questions")
    _check(fit.alike is None or all(0 <= j < m for j in fit.alike.users), "alike")
    if fit.perfect is not None:
        places = len(fit.perfect.order)
        _check(len(fit.perfect.level) == places, "perfect")
        _check_below(fit.perfect.order, m, "perfect")
        for ends in (fit.perfect.first, fit.perfect.last):
            _check_length(ends, q, "perfect")
            _check_below(ends, places, "perfect")
    _check(all(isinstance(note, str) for note in r.notes), "notes")
    seed = ranking.parameters.get("seed", 0)
    _check(isinstance(seed, int) and seed >= 0, "seed")
    _check_type(ranking.parameters.get("threads"), int | None, "threads")


def _check_responses(r: Responses) -> None:
    """Labels must be plain values, and codes and rows may only name existing options."""
    starts = r.item_starts
    for name in ("users", "items", "option_labels"):
        labels = getattr(r, name)
        plain = all(isinstance(label, str | int | float) for label in labels.tolist())
        "".join(map(str, labels.tolist())).encode()  # a lone surrogate raises ValueError
        _check(labels.ndim == 1 and plain, name)
    _check(starts.dtype.kind == "i" and starts.shape == (len(r.items) + 1,), "item_starts")
    _check(starts[0] == 0 and starts[-1] == len(r.option_labels), "item_starts")
    _check(bool((np.diff(starts) > 0).all()), "item_starts")
    _check(isinstance(r.kind, str), "kind")
    if r.is_dense:
        codes = r.codes
        _check(codes.dtype in (np.uint8, np.uint16), "codes")
        _check(codes.shape == (len(r.items), len(r.users)), "codes")
        sizes = np.diff(starts)[:, None]
        _check(bool(((codes < sizes) | (codes == np.iinfo(codes.dtype).max)).all()), "codes")
        return
    indptr, options = r.rows
    _check(indptr.dtype.kind == "i" and indptr.shape == (len(r.users) + 1,), "rows")
    _check(options.dtype.kind == "i" and options.ndim == 1, "rows")
    _check(indptr[0] == 0 and indptr[-1] == len(options), "rows")
    _check(bool((np.diff(indptr) >= 0).all()), "rows")
    _check(bool(((options >= 0) & (options < len(r.option_labels))).all()), "rows")


def _check(holds: Any, what: str) -> None:
    if not holds:
        raise ValueError(f"{what} cannot be right")


def _check_below(numbers: Any, limit: int, what: str) -> None:
    _check(numbers.ndim == 1 and bool(((numbers >= 0) & (numbers < limit)).all()), what)


def _check_length(values: Any, length: int, what: str) -> None:
    _check(values is None or values.shape == (length,), what)


def _check_type(value: Any, kind: Any, what: str) -> None:
    """Check a value, and all that it holds, against its annotation."""
    origin, args = get_origin(kind), get_args(kind)
    if type(None) in args:
        if value is not None:
            _check_type(value, args[0], what)
    elif origin is tuple:
        _check(isinstance(value, tuple), what)
        each = args[:1] * len(value) if args[-1] is Ellipsis else args
        _check(len(each) == len(value), what)
        for part, own in zip(value, each, strict=True):
            _check_type(part, own, what)
    elif origin is np.ndarray or origin is npt.NDArray:
        _check(isinstance(value, np.ndarray), what)
        (number,) = args if origin is npt.NDArray else get_args(args[1])  # NumPy 2.5, or older
        family = np.integer if number is np.int64 else number
        _check(number is Any or np.issubdtype(value.dtype, family), what)
    else:
        _check(isinstance(value, int | float if kind is float else origin or kind), what)
        _check(kind is bool or not isinstance(value, bool), what)  # a bool is an int in Python
        if is_dataclass(value):
            for name, own in get_type_hints(type(value)).items():
                _check_type(getattr(value, name), own, name)
