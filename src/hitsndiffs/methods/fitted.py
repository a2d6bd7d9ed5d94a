"""What a method found, and how the findings of several components become one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import Engine
from hitsndiffs.methods.readings import Question, Reading
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.orientation import Orientation, undecided
from hitsndiffs.order.perfect import PerfectOrder

__all__ = ["Fit", "Part", "collected", "merged"]

Vector = npt.NDArray[np.float64]
IntVector = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Fit:
    """What a method found on some responses (users without answers are NaN).

    Attributes
    ----------
    scores
        One per user; higher is better.
    option_weights
        One per option; what choosing it says about the user.
    key_probabilities
        One per option: how likely it is the right one of its item (sums to 1 within an item).
    correct, abilities
        Expected share of right answers (0–1), and latent ability, where the method has them.
    standard_errors, ability_errors, correct_errors
        Of the scores, and of the abilities and the expected shares where these are not the scores.
    common_errors
        The part of the shares' standard errors that moves everybody alike: ranks do not depend on
        it.
    orientation
        How the upper end was found, for methods that cannot tell it themselves.
    eigenvalues
        The strongest axes' eigenvalues, for spectral methods.
    confidence
        0–1, how sure the method is of axis and sign.
    converged, n_iterations
        Of the method's own iteration.
    perfect
        The perfect order that the scores follow, where there is one and the method looks for it.
    notes
        Sentences that the user should read.
    scoring
        How newcomers are scored, for methods whose scores are means over options.
    readings
        The distinct ways to read the answers, that of the scores first, for methods that compare.
    questions
        Items whose right answers would tell most about which reading holds, the best first.
    details
        Further numbers of the method, by name.
    """

    scores: Vector
    option_weights: Vector | None = None
    key_probabilities: Vector | None = None
    correct: Vector | None = None
    abilities: Vector | None = None
    standard_errors: Vector | None = None
    ability_errors: Vector | None = None
    correct_errors: Vector | None = None
    common_errors: Vector | None = None
    orientation: Orientation | None = None
    eigenvalues: Vector | None = None
    confidence: float | None = None
    converged: bool = True
    n_iterations: int = 0
    perfect: PerfectOrder | None = None
    notes: tuple[str, ...] = ()
    scoring: Scoring | None = None
    readings: tuple[Reading, ...] = ()
    questions: tuple[Question, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


def collected(data: Engine, fit: Fit) -> Fit:
    """The same with all user arrays as NumPy arrays."""
    if data.arrays == "numpy":
        return fit
    users = ("scores", "correct", "abilities", "standard_errors", "ability_errors",
             "correct_errors", "common_errors")  # fmt: skip
    found = {name: getattr(fit, name) for name in users}
    readings = tuple(replace(r, correct=data.collect(r.correct)) for r in fit.readings)
    here: dict[str, Any] = {name: data.collect(x) for name, x in found.items() if x is not None}
    return replace(fit, readings=readings, **here)


@dataclass(frozen=True)
class Part:
    """The fit of some of the users: their numbers, and those of the options they chose."""

    users: IntVector
    options: IntVector
    fit: Fit


def merged(data: Engine, parts: Sequence[Part], alone: IntVector) -> Fit:
    """One fit for all: user by user and option by option from the part they are in.

    What is said of the whole (orientation, eigenvalues, confidence) is said of the first part.

    Parameters
    ----------
    data
        All data.
    parts
        The fitted components, the largest first.
    alone
        Users who share no option with anybody: their score is 0.
    """
    m, q = data.n_users, data.n_options
    scores = np.full(m, np.nan)
    scores[alone] = 0.0
    key = _mixed_keys(data, parts, alone)
    if not parts:
        return Fit(
            scores=scores,
            key_probabilities=key,
            orientation=undecided(np.zeros(1)),
            confidence=0.0,
            notes=("No two users chose the same option: nobody can be compared.",),
        )
    for part in parts:
        scores[part.users] = part.fit.scores
    # of equally large parts the least sure one speaks, whatever order they come in
    largest = [part.fit for part in parts if len(part.users) == len(parts[0].users)]
    first = min(largest, key=lambda fit: 1.0 if fit.confidence is None else fit.confidence)
    unsettled = next((part.fit for part in parts if not part.fit.converged), first)
    return replace(
        first,
        scores=scores,
        correct=_spread([(p.users, p.fit.correct) for p in parts], m),
        abilities=_spread([(p.users, p.fit.abilities) for p in parts], m),
        standard_errors=_spread([(p.users, p.fit.standard_errors) for p in parts], m),
        ability_errors=_spread([(p.users, p.fit.ability_errors) for p in parts], m),
        correct_errors=_spread([(p.users, p.fit.correct_errors) for p in parts], m),
        common_errors=_spread([(p.users, p.fit.common_errors) for p in parts], m),
        option_weights=_spread([(p.options, p.fit.option_weights) for p in parts], q),
        key_probabilities=key,
        converged=unsettled.converged,
        scoring=_scoring_of_all(parts, q),
        readings=_readings_of_all(data, parts),
        questions=first.questions if _is_one(data, parts) else (),
        n_iterations=max(part.fit.n_iterations for part in parts),
        notes=_collected_notes(parts, len(parts) + len(alone) > 1),
        details=first.details if unsettled.converged else unsettled.details,
    )


def _spread(pieces: Sequence[tuple[IntVector, Vector | None]], size: int) -> Vector | None:
    total = np.full(size, np.nan)
    for places, values in pieces:
        if values is None:
            return None
        total[places] = values
    return total


def _scoring_of_all(parts: Sequence[Part], q: int) -> Scoring | None:
    """Each option's weight is that of its component."""
    first = parts[0].fit.scoring
    if first is None:
        return None
    pieces = [(p.options, None if p.fit.scoring is None else p.fit.scoring.weights) for p in parts]
    weights = _spread(pieces, q)
    return None if weights is None else replace(first, weights=np.nan_to_num(weights))


def _is_one(data: Engine, parts: Sequence[Part]) -> bool:
    """Whether one part holds all answers (others gave none)."""
    return len(parts) == 1 and len(parts[0].options) == data.n_options


def _readings_of_all(data: Engine, parts: Sequence[Part]) -> tuple[Reading, ...]:
    """Readings are of all answers: where there are several parts, there are none for all."""
    if not _is_one(data, parts):
        return ()
    made = []
    for reading in parts[0].fit.readings:
        correct = _spread([(parts[0].users, reading.correct)], data.n_users)
        assert correct is not None
        made.append(replace(reading, correct=correct))
    return tuple(made)


def _mixed_keys(data: Engine, parts: Sequence[Part], alone: IntVector) -> Vector | None:
    """Options of one item can lie in several components: each has its say by its answers there.

    An option lies in one component, with all of its choosers; alone it has one chooser.
    """
    share = data.choosers_per_option / data.answers_per_item[data.items.of_option]
    total = share.copy() if len(alone) else np.zeros(len(share))
    for part in parts:
        if part.fit.key_probabilities is None:
            return None
        items = data.items.of_option[part.options]
        weight = np.bincount(items, weights=share[part.options], minlength=data.n_items)
        total[part.options] = part.fit.key_probabilities * weight[items]
    return total


def _collected_notes(parts: Sequence[Part], several: bool) -> tuple[str, ...]:
    """Every note once, with the components that it is about."""
    about: dict[str, list[int]] = {}
    for number, part in enumerate(parts):
        for note in part.fit.notes:
            about.setdefault(note, []).append(number)
    if not several:
        return tuple(about)
    return tuple(f"{_named(numbers)}: {note}" for note, numbers in about.items())


def _named(numbers: Sequence[int]) -> str:
    listed = ", ".join(str(n) for n in numbers[:5]) + (", …" if len(numbers) > 5 else "")
    return f"Component{'s' if len(numbers) > 1 else ''} {listed}"
