"""What a method found, and how the fits of several components are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.words import per_cent
from hitsndiffs.engines import Engine
from hitsndiffs.methods.readings import Question, Reading
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.numbering import PER_OPTION, PER_USER, USER_NUMBERS, mapped, renumbered
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
    "spread_out",
]


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
    users: tuple[int, ...] = field(metadata=USER_NUMBERS)
    share: float


@dataclass(frozen=True)
class Doubt:
    """A reason for doubt.

    Attributes
    ----------
    code
        What kind it is: ``"rival"`` (another reading is nearly as likely), ``"toss-up"`` (nothing
        tells the direction), ``"witnesses"`` (simpler rankings disagree, or a part of the users),
        ``"who counts"``, ``"who took part"`` (the lead is one of a few users), ``"noise"``,
        ``"marks"`` and ``"follows"`` (the order is the use of a label).
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

    scores: Floats = field(metadata=PER_USER)
    option_weights: Floats | None = field(default=None, metadata=PER_OPTION)
    key_probabilities: Floats | None = field(default=None, metadata=PER_OPTION)
    correct: Floats | None = field(default=None, metadata=PER_USER)
    abilities: Floats | None = field(default=None, metadata=PER_USER)
    standard_errors: Floats | None = field(default=None, metadata=PER_USER)
    ability_errors: Floats | None = field(default=None, metadata=PER_USER)
    correct_errors: Floats | None = field(default=None, metadata=PER_USER)
    common_errors: Floats | None = field(default=None, metadata=PER_USER)
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


#: The fields of a fit that hold one value per user.
USER_ARRAYS = tuple(f.name for f in fields(Fit) if f.metadata.get("per") == "user")


def collected(data: Engine, fit: Fit) -> Fit:
    """The same fit, with all user arrays as NumPy arrays."""
    return fit if data.arrays == "numpy" else _moved(fit, data.collect)


def spread_out(data: Engine, fit: Fit) -> Fit:
    """The same fit, with NumPy arrays turned into user arrays of the engine."""
    return _moved(fit, data.user_array)


def _moved(fit: Fit, move: Any) -> Fit:
    """The same fit with its user arrays elsewhere (what else was learnt is in this process)."""
    found = mapped(fit, lambda axis, x: move(x) if axis == "user" else x)
    return replace(found, learnt=fit.learnt)


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
    if not parts:
        scores = np.full(data.n_users, np.nan)
        scores[alone] = 0.0
        return Fit(
            scores=scores,
            key_probabilities=_mixed_keys(data, parts, alone),
            orientation=undecided(np.zeros(1)),
            confidence=0.0,
            notes=("No two users chose the same option: nobody can be compared.",),
        )
    sizes = {"user": data.n_users, "option": data.n_options}
    if len(parts) == 1 and len(parts[0].options) == data.n_options:  # the others gave no answers
        return renumbered(parts[0].fit, {"user": parts[0].users}, sizes)
    # of equally large parts take the least sure one, so that their order does not matter
    largest = [part for part in parts if len(part.users) == len(parts[0].users)]
    sure = [1.0 if p.fit.confidence is None else p.fit.confidence for p in largest]
    place = largest[int(np.argmin(sure))]
    first = renumbered(place.fit, {"user": place.users, "option": place.options}, sizes)
    unsettled = next((part.fit for part in parts if not part.fit.converged), first)
    found: dict[str, Any] = {
        each.name: _spread(parts, [getattr(p.fit, each.name) for p in parts], axis, sizes)
        for each in fields(Fit)
        if (axis := each.metadata.get("per"))
    }
    found["scores"][alone] = 0.0
    found["key_probabilities"] = _mixed_keys(data, parts, alone)
    if first.scoring is not None:
        pieces = [p.fit.scoring and p.fit.scoring.weights for p in parts]
        weights = _spread(parts, pieces, "option", sizes)
        scoring = weights is not None and replace(first.scoring, weights=np.nan_to_num(weights))
        found["scoring"] = scoring or None
    return replace(
        first,
        **found,
        converged=unsettled.converged,
        residual=unsettled.residual,
        n_iterations=max(part.fit.n_iterations for part in parts),
        # these cover all answers, so there are none if there are several parts
        readings=(),
        questions=(),
        perfect=None,
        notes=_collected_notes([part.fit for part in parts]),
    )


def _spread(
    parts: Sequence[Part], pieces: Sequence[Any], axis: str, sizes: Mapping[str, int]
) -> Floats | None:
    """One array of the parts' values; ``None`` if a part has none."""
    total = np.full(sizes[axis], np.nan)
    for part, values in zip(parts, pieces, strict=True):
        if values is None:
            return None
        total[part.users if axis == "user" else part.options] = values
    return total


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


def _collected_notes(fits: Sequence[Fit]) -> tuple[str, ...]:
    """Every note once, with the components that it is about."""
    about: dict[str, list[int]] = {}
    for number, fit in enumerate(fits):
        for note in fit.notes:
            about.setdefault(note, []).append(number)
    return tuple(f"{_named(numbers)}: {note}" for note, numbers in about.items())


def _named(numbers: Sequence[int]) -> str:
    listed = ", ".join(str(n) for n in numbers[:5]) + (", …" if len(numbers) > 5 else "")
    return f"Component{'s' if len(numbers) > 1 else ''} {listed}"
