"""Which end of an order is up, and how sure we are.

An order and its reverse fit the data equally well. The paper's rule (Section III-D): able users
agree with each other and weak ones scatter, so the end whose users' answers have the lower entropy
is the upper one. Callers who know some right answers, or one strong user, can settle it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.lookup import known_options
from hitsndiffs.engines import Engine
from hitsndiffs.order.ties import tie_limit

__all__ = [
    "MOST_CONFIDENCE",
    "Orientation",
    "orient",
    "undecided",
]

#: Logistic regression of whether plain HnD is right (simulated and real data with known keys):
#: constant, and log(1 + lead in standard errors over the items).
CALIBRATION = (-1.27, 1.69)
#: The most that is said without known answers: items are not independent, so many of them do not
#: make the upper end surer than it ever proved on data with known truth.
MOST_CONFIDENCE = 0.89
#: A difference this small, relative to what is compared, is rounding.
ROUNDING = 1e-9
#: A lead this small may come from an iteration's last change.
UNSETTLED = 1e-6


@dataclass(frozen=True)
class Orientation:
    """How the upper end was found.

    Attributes
    ----------
    sign
        +1 when the scores were kept as they came, -1 when they were turned round.
    how
        ``"decile entropy"``, ``"majority"``, ``"known answers"``, ``"strong user"``,
        ``"words"`` (labels that say *right* and *wrong*), ``"evidence"`` (of the latent-key model)
        or ``"undecided"``.
    margin
        0 (no difference between the ends) to 1.
    confidence
        Probability that the order is ability and this end is the upper one. For decile entropy
        and majority it is calibrated: how often data with the same lead (relative to its spread
        among items) were right. A test so hard that most users share wrong answers can still
        fool it.
    """

    sign: int
    how: str
    margin: float
    confidence: float

    @property
    def decided(self) -> bool:
        """Whether anything in the data speaks for one side."""
        return self.how != "undecided"


def orient(
    scores: Floats,
    data: Engine,
    *,
    answers: Mapping[Any, Any] | None = None,
    strong_user: int | None = None,
) -> Orientation:
    """Decide whether ``scores`` or ``-scores`` ranks the able users first.

    Evidence is tried in this order until some of it decides: known answers, the strong user, the
    entropies of the two ends, agreement with the most common answers.

    Parameters
    ----------
    scores
        One score per user; all users have answers.
    data
        The data.
    answers
        Known right answers, item → option (any part of the key).
    strong_user
        The number of a user known to be strong.
    """
    return (
        (_by_answers(scores, data, answers) if answers else None)
        or (None if strong_user is None else _by_strong_user(scores, data, strong_user))
        or _by_entropy(scores, data)
        or _by_majority(scores, data)
        or undecided(scores)
    )


def undecided(scores: Floats) -> Orientation:
    """No evidence: by convention, the first user not in the middle goes to the upper end."""
    largest = float(abs(scores).max()) if len(scores) else 0.0
    clear = abs(scores) > ROUNDING * largest
    turned = largest > 0 and float(scores[int(clear.argmax())]) < 0
    return Orientation(-1 if turned else 1, "undecided", 0.0, 0.5)


def _by_answers(scores: Floats, data: Engine, answers: Mapping[Any, Any]) -> Orientation | None:
    """The users who chose a known right answer should stand above those who did not."""
    options = known_options(data.items, answers)
    counts = data.choosers_per_option.astype(float)
    totals = data.choosers(scores)
    item_counts = data.items.sum(counts)[options]
    item_totals = data.items.sum(totals)[options]
    others = item_counts - counts[options]
    useful = others > 0
    if not useful.any():
        return None
    inside = totals[options][useful] / counts[options][useful]
    outside = (item_totals - totals[options])[useful] / others[useful]
    size = (counts[options] * others / item_counts)[useful]
    lead = float((size * (inside - outside)).sum() / size.sum())
    spread = max(float(scores.std()), 1e-300)
    margin = min(1.0, abs(lead) / spread)
    if margin <= ROUNDING:
        return None
    error = spread / np.sqrt(size.sum())
    return Orientation(-1 if lead < 0 else 1, "known answers", margin, _phi(abs(lead) / error))


def _by_strong_user(scores: Floats, data: Engine, user: int) -> Orientation | None:
    """A strong user should stand above the middle; one in the middle says nothing."""
    middle = ((len(scores) - 1) // 2, len(scores) // 2)
    distance = scores - float(np.mean(data.values_at(scores, middle)))
    lead = float(distance[user])
    if abs(lead) <= ROUNDING * float(abs(distance).max()):
        return None
    margin = float((abs(distance) <= abs(lead) * (1 + ROUNDING)).mean())
    return Orientation(-1 if lead < 0 else 1, "strong user", margin, 1.0)


def _by_entropy(scores: Floats, data: Engine) -> Orientation | None:
    """Decile entropy, for any number of users; ties at the edge of a decile share its places."""
    size = _end_size(len(scores))
    if size == 0:
        return None
    (top, bottom), answers = _entropies(_ends(scores, data, size), data)
    both = (answers > 0).all(axis=0)
    difference = (bottom - top)[both]
    total = float((bottom + top)[both].sum())
    lead = float(difference.sum())
    if abs(lead) <= ROUNDING * total:
        return None
    error = float(np.sqrt((difference**2).sum()))
    return Orientation(
        -1 if lead < 0 else 1, "decile entropy", abs(lead) / total, _sureness(abs(lead) / error)
    )


def _by_majority(scores: Floats, data: Engine) -> Orientation | None:
    """Able users agree with the most common answers (for ends too small to have an entropy)."""
    counts = data.choosers_per_option.astype(float)
    agreement = data.choices(counts / data.items.sum(counts)) / data.answers_per_user
    centred, above = scores - scores.mean(), agreement - agreement.mean()
    lead = float(centred @ above)
    size = float(np.linalg.norm(centred) * np.linalg.norm(above))
    if float(abs(above).max()) <= ROUNDING or abs(lead) <= UNSETTLED * size:
        return None
    margin = min(1.0, abs(lead) / size)
    z = margin * np.sqrt(max(len(scores) - 1, 1))
    return Orientation(-1 if lead < 0 else 1, "majority", margin, _sureness(z))


def _end_size(users: int) -> int:
    """Users at each end: a tenth as in the paper, more where a tenth is fewer than two."""
    tenth = users // 10
    return tenth if tenth >= 2 else (min(3, users // 2) if users >= 4 else 0)


def _ends(scores: Floats, data: Engine, size: int) -> Any:
    """Two columns: 1 for the ``size`` highest users, and 1 for the ``size`` lowest.

    Users tied across the edge share the remaining places.
    """
    limit = tie_limit(scores)
    columns = []
    places = (len(scores) - size, size - 1)
    for side, edge in zip((1, -1), data.values_at(scores, places), strict=True):
        beyond = side * (scores - edge)
        inside, level = beyond > limit, abs(beyond) <= limit
        share = (size - int(inside.sum())) / int(level.sum())
        columns.append(inside + share * level)
    return np.stack(columns, axis=1)


def _entropies(users: Floats, data: Engine) -> tuple[Floats, Floats]:
    """Entropy of each item's answers among some users, and how many of them answered it.

    Each column of user weights gives one row of both.
    """
    counts = data.choosers(users).T
    starts = data.items.starts[:-1]
    answers: Floats = np.add.reduceat(counts, starts, axis=1)
    p = counts / np.where(answers > 0, answers, 1.0)[:, data.items.of_option]
    entropies: Floats = np.add.reduceat(-p * np.log(np.where(p > 0, p, 1.0)), starts, axis=1)
    return entropies, answers


def _sureness(z: float) -> float:
    """How often a rule with this lead (in standard errors) was right on data with known keys."""
    constant, per_log = CALIBRATION
    sure = 1 / (1 + math.exp(-(constant + per_log * math.log1p(z))))
    return min(max(0.5, sure), MOST_CONFIDENCE)


def _phi(z: float) -> float:
    return 0.5 * (1 + math.erf(z / math.sqrt(2)))
