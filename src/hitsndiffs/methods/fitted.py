"""What a method found, and how the fits of several components are merged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.words import per_cent
from hitsndiffs.engines import Engine
from hitsndiffs.methods.readings import Question, Reading
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.orientation import Orientation, undecided
from hitsndiffs.order.perfect import PerfectOrder

__all__ = [
    "USER_ARRAYS",
    "AlikeUsers",
    "Choice",
    "Doubt",
    "Fit",
    "Learnt",
    "Part",
    "collected",
    "merged",
    "numbered",
    "spread_out",
]

#: The fields of a fit that hold one value per user.
USER_ARRAYS = (
    "scores", "correct", "abilities", "standard_errors", "ability_errors", "correct_errors",
    "common_errors",
)  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """What was chosen by a method that chooses among others.

    Attributes
    ----------
    method
        The chosen method's name; ``None`` if no method can rank these answers.
    why
        The reason, as a clause without a full stop.
    """

    method: str | None
    why: str

    def sentence(self, confidence: float | None = None) -> str:
        """Say what was chosen and why, and how sure it is."""
        if self.method is None:
            return f"{self.why}."
        sure = "" if confidence is None else f"; confidence {per_cent(confidence)}"
        return f"Method {self.method}: {self.why}{sure}."


@dataclass(frozen=True)
class AlikeUsers:
    """Users who agree with others more than their abilities explain (copies, one source).

    Attributes
    ----------
    count
        How many there are.
    users
        The numbers of the first hundred.
    share
        The share of all users' weight as witnesses that is lost because copies count for less.
    """

    count: int
    users: tuple[int, ...]
    share: float


@dataclass(frozen=True)
class Doubt:
    """A reason for doubt.

    Attributes
    ----------
    code
        What kind it is: ``"rival"`` (another reading is nearly as likely), ``"toss-up"`` (nothing
        tells the direction), ``"axis"``, ``"axes"``, ``"votes"`` and ``"confusions"`` (a witness
        disagrees), ``"who counts"``, ``"who took part"`` (the lead is one of a few users),
        ``"against"`` (some contradict it throughout), ``"noise"``, ``"marks"`` and ``"follows"``
        (the order is the use of a label).
    value
        What was seen (a lead in nats, a correlation, a share).
    bound
        The confidence is at most this because of it.
    """

    code: str
    value: float
    bound: float


@dataclass(frozen=True)
class Learnt:
    """What a model learnt besides scores and key; each model has its own fields."""

    def put_back(self, users: Ints, items: Ints, options: Ints) -> Learnt:  # noqa: ARG002
        """The same, with users, items and options renumbered to the numbers given."""
        return self


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
        The part of the shares' standard errors that moves everybody together: ranks do not depend
        on it.
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
        The distinct ways to read the answers, the best first, for methods that compare them.
    questions
        Items whose right answers would tell most about which reading holds, the best first.
    solver, residual, eigenvalue
        Of the method's iteration: its name, its last change, and the eigenvalue found.
    choice
        What was chosen and why, for methods that choose among others.
    alike
        Users who may be copies of each other, for methods that look for them.
    learnt
        What else the model learnt.
    doubts
        Reasons for doubt, the strongest first.
    """

    scores: Floats
    option_weights: Floats | None = None
    key_probabilities: Floats | None = None
    correct: Floats | None = None
    abilities: Floats | None = None
    standard_errors: Floats | None = None
    ability_errors: Floats | None = None
    correct_errors: Floats | None = None
    common_errors: Floats | None = None
    orientation: Orientation | None = None
    eigenvalues: Floats | None = None
    confidence: float | None = None
    converged: bool = True
    n_iterations: int = 0
    perfect: PerfectOrder | None = None
    notes: tuple[str, ...] = ()
    scoring: Scoring | None = None
    readings: tuple[Reading, ...] = ()
    questions: tuple[Question, ...] = ()
    solver: str | None = None
    residual: float | None = None
    eigenvalue: float | None = None
    choice: Choice | None = None
    alike: AlikeUsers | None = None
    learnt: Learnt | None = None
    doubts: tuple[Doubt, ...] = ()

    @property
    def spectral_gap(self) -> float | None:
        """How far the next axis is from this one, relative to the larger: 0 (equal) to 1."""
        if self.eigenvalues is None or len(self.eigenvalues) == 0:
            return None
        here, following = [*self.eigenvalues.tolist(), 0.0][:2]
        larger = max(abs(here), abs(following))
        return abs(here - following) / larger if larger > 0 else None

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was chosen, and the notes."""
        if self.choice is None:
            return self.notes
        return (self.choice.sentence(self.confidence), *self.notes)


def collected(data: Engine, fit: Fit) -> Fit:
    """The same fit, with all user arrays as NumPy arrays."""
    return fit if data.arrays == "numpy" else _moved(fit, data.collect)


def spread_out(data: Engine, fit: Fit) -> Fit:
    """The same fit, with NumPy arrays turned into user arrays of the engine."""
    return _moved(fit, data.user_array)


def _moved(fit: Fit, move: Callable[[Any], Any]) -> Fit:
    found = {name: getattr(fit, name) for name in USER_ARRAYS}
    arrays: dict[str, Any] = {name: move(x) for name, x in found.items() if x is not None}
    readings = tuple(replace(r, correct=move(r.correct)) for r in fit.readings)
    return replace(fit, readings=readings, **arrays)


@dataclass(frozen=True)
class Part:
    """The fit of some of the users: their numbers, and those of the options they chose."""

    users: Ints
    options: Ints
    fit: Fit


def merged(data: Engine, parts: Sequence[Part], alone: Ints) -> Fit:
    """One fit for everybody: each user and option takes the values of its part.

    Orientation, eigenvalues and confidence are those of the largest part, which comes first. Users
    who share no option with anybody (``alone``) have the score 0.
    """
    m, q = data.n_users, data.n_options
    key = _mixed_keys(data, parts, alone)
    if not parts:
        scores = np.full(m, np.nan)
        scores[alone] = 0.0
        return Fit(
            scores=scores,
            key_probabilities=key,
            orientation=undecided(np.zeros(1)),
            confidence=0.0,
            notes=("No two users chose the same option: nobody can be compared.",),
        )
    of_users: dict[str, Any] = {
        name: _spread([(p.users, getattr(p.fit, name)) for p in parts], m) for name in USER_ARRAYS
    }
    of_users["scores"][alone] = 0.0
    # of equally large parts take the least sure one, so that their order does not matter
    largest = [part.fit for part in parts if len(part.users) == len(parts[0].users)]
    first = min(largest, key=lambda fit: 1.0 if fit.confidence is None else fit.confidence)
    unsettled = next((part.fit for part in parts if not part.fit.converged), first)
    place = next(part for part in parts if part.fit is first)
    return replace(
        first,
        **of_users,
        option_weights=_spread([(p.options, p.fit.option_weights) for p in parts], q),
        key_probabilities=key,
        converged=unsettled.converged,
        scoring=_scoring_of_all(parts, q),
        readings=_readings_of_all(data, parts),
        questions=first.questions if _is_one(data, parts) else (),
        n_iterations=max(part.fit.n_iterations for part in parts),
        notes=_collected_notes(parts, len(parts) + len(alone) > 1),
        residual=unsettled.residual,
        perfect=_in_all(first.perfect, place.users) if _is_one(data, parts) else None,
        alike=numbered(first.alike, place.users),
    )


def _spread(pieces: Sequence[tuple[Ints, Floats | None]], size: int) -> Floats | None:
    total = np.full(size, np.nan)
    for places, values in pieces:
        if values is None:
            return None
        total[places] = values
    return total


def numbered(alike: AlikeUsers | None, users: Ints) -> AlikeUsers | None:
    """The same users, with their numbers in the whole data."""
    if alike is None:
        return None
    return replace(alike, users=tuple(sorted(int(users[j]) for j in alike.users)))


def _in_all(perfect: PerfectOrder | None, users: Ints) -> PerfectOrder | None:
    """The same order, with the users' numbers in the whole data."""
    return None if perfect is None else replace(perfect, order=users[perfect.order])


def _scoring_of_all(parts: Sequence[Part], q: int) -> Scoring | None:
    """Each option takes the weight from its component."""
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
    """Readings cover all answers, so there are none if there are several parts."""
    if not _is_one(data, parts):
        return ()
    made = []
    for reading in parts[0].fit.readings:
        correct = _spread([(parts[0].users, reading.correct)], data.n_users)
        assert correct is not None
        made.append(replace(reading, correct=correct))
    return tuple(made)


def _mixed_keys(data: Engine, parts: Sequence[Part], alone: Ints) -> Floats | None:
    """Options of one item can lie in several components: each counts by its answers to the item.

    An option lies in one component with all of its choosers; that of a user alone has one chooser.
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
