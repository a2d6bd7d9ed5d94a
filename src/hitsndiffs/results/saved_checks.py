"""Check a ranking that was read from a file: nothing in it is trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from hitsndiffs.data.responses import Responses
from hitsndiffs.methods.fitted import AlikeUsers, Choice, Learnt
from hitsndiffs.methods.readings import Question, Reading
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.orientation import Orientation
from hitsndiffs.order.perfect import PerfectOrder
from hitsndiffs.results.ranking import Ranking

__all__ = ["check_saved"]

#: Arrays of the fit with one entry per user, and per option.
_ERRORS = ("standard_errors", "ability_errors", "correct_errors", "common_errors")
_PER_USER = ("scores", "correct", "abilities", *_ERRORS)
_PER_OPTION = ("option_weights", "key_probabilities")


def check_saved(ranking: Ranking) -> None:
    """Raise ``ValueError`` for sizes, numbers or types that no saved ranking has.

    Compiled code relies on the sizes: a wrong one would make it access memory outside its arrays.
    """
    r, fit = ranking.responses, ranking.fit
    _check_responses(r)
    m, q = r.n_users, r.n_options
    for name in ("scores", "ranks"):
        _check_numbers(name, getattr(ranking, name), m)
    _check(ranking.components.dtype.kind == "i", "components")
    _check(ranking.components.shape == (m,), "components")
    _check(ranking.order.dtype.kind == "i", "order")
    _check(np.array_equal(np.sort(ranking.order), np.arange(m)), "order")
    if ranking.resampled_errors is not None:
        _check_numbers("resampled_errors", ranking.resampled_errors, m)
    for names, length in ((_PER_USER, m), (_PER_OPTION, q)):
        for name in names:
            if getattr(fit, name) is not None:
                _check_numbers(name, getattr(fit, name), length)
    if fit.eigenvalues is not None:
        _check_numbers("eigenvalues", fit.eigenvalues, None)
    _check_kind(fit.orientation, Orientation, "orientation", optional=True)
    _check_kind(fit.scoring, Scoring, "scoring", optional=True)
    if fit.scoring is not None:
        for part in fields(fit.scoring):
            value = getattr(fit.scoring, part.name)
            _check(not isinstance(value, np.ndarray) or value.shape in ((m,), (q,)), part.name)
    for reading in fit.readings:
        _check_kind(reading, Reading, "readings")
        _check_numbers("readings", reading.key, q)
        _check_numbers("readings", reading.correct, m)
        _check_kind(reading.says, str, "readings")
        for number in (reading.probability, reading.evidence, reading.agreement):
            _check_kind(number, int | float, "readings", optional=True)
    for question in fit.questions:
        _check_kind(question, Question, "questions")
        _check(isinstance(question.item, int) and 0 <= question.item < r.n_items, "questions")
        _check_kind(question.gain, int | float, "questions", optional=True)
    _check_kind(fit.confidence, int | float, "confidence", optional=True)
    _check_kind(fit.converged, bool, "converged")
    _check_kind(fit.n_iterations, int, "n_iterations")
    _check_kind(fit.perfect, PerfectOrder, "perfect", optional=True)
    if fit.perfect is not None:
        places = len(fit.perfect.order)
        _check(len(fit.perfect.level) == places, "perfect")
        _check_below(fit.perfect.order, m, "perfect")
        for ends in (fit.perfect.first, fit.perfect.last):
            _check(len(ends) == q, "perfect")
            _check_below(ends, places, "perfect")
    _check_kind(fit.choice, Choice, "choice", optional=True)
    if fit.choice is not None:
        _check_kind(fit.choice.method, str, "choice", optional=True)
        _check_kind(fit.choice.why, str, "choice")
    _check_kind(fit.learnt, Learnt, "learnt", optional=True)
    _check_kind(fit.solver, str, "solver", optional=True)
    _check_kind(fit.residual, int | float, "residual", optional=True)
    _check_kind(fit.eigenvalue, int | float, "eigenvalue", optional=True)
    _check_kind(fit.alike, AlikeUsers, "alike", optional=True)
    if fit.alike is not None:
        _check_kind(fit.alike.count, int, "alike")
        _check_kind(fit.alike.share, int | float, "alike")
        _check(all(isinstance(j, int) and 0 <= j < m for j in fit.alike.users), "alike")
    for several in (fit.notes, fit.readings, fit.questions):
        _check_kind(several, tuple, "notes")
    _check(all(isinstance(note, str) for note in (*fit.notes, *r.notes)), "notes")
    _check_kind(ranking.parameters, Mapping, "parameters")
    seed = ranking.parameters.get("seed", 0)
    _check(isinstance(seed, int) and seed >= 0, "seed")
    for name in ("method", "by", "version"):
        _check_kind(getattr(ranking, name), str, name)
    _check_kind(ranking.consistent, bool, "consistent", optional=True)


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
    _check_kind(r.kind, str, "kind")
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
    _check(numbers.dtype.kind == "i" and numbers.ndim == 1, what)
    _check(bool(((numbers >= 0) & (numbers < limit)).all()), what)


def _check_kind(value: Any, kind: Any, what: str, *, optional: bool = False) -> None:
    _check((optional and value is None) or isinstance(value, kind), what)


def _check_numbers(what: str, values: Any, length: int | None) -> None:
    right = isinstance(values, np.ndarray) and values.dtype == np.float64 and values.ndim == 1
    _check(right and (length is None or len(values) == length), what)
