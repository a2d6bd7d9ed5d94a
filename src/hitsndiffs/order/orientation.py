"""Which end of an order is up, and how sure we are.

An order and its reverse fit the data equally well. The paper's rule (Section III-D): able users
agree with each other, weak ones scatter; so the end whose users' answers have the lower entropy is
the upper one. Callers who know something settle it: some right answers, or one strong user.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Sums
from hitsndiffs.errors import InputError
from hitsndiffs.order.ties import tie_limit

__all__ = [
    "Orientation",
    "answers_here",
    "known_options",
    "orient",
    "undecided",
    "user_is_here",
    "user_number",
]

Vector = npt.NDArray[np.float64]

#: Logistic regression of plain HnD's being right (simulated and real data with known keys):
#: constant, and log(1 + lead in standard errors over the items).
CALIBRATION = (-1.27, 1.69)
#: A difference this small, relative to what is compared, is rounding.
ROUNDING = 1e-9


@dataclass(frozen=True)
class Orientation:
    """How the upper end was found.

    Attributes
    ----------
    sign
        +1 when the scores were kept as they came, -1 when they were turned round.
    how
        ``"decile entropy"``, ``"majority"``, ``"known answers"``, ``"strong user"``,
        ``"evidence"`` (of the latent-key model) or ``"undecided"``.
    margin
        0 (no difference between the ends) to 1.
    confidence
        Probability that the order is ability and this end is the upper one. For decile entropy
        and majority it is calibrated: how often data with such a lead (over its spread among
        items) were right. A test so hard that most users are wrong together can still fool it.
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
    scores: Vector,
    responses: Responses,
    sums: Sums,
    *,
    answers: Mapping[Any, Any] | None = None,
    strong_user: Any = None,
) -> Orientation:
    """Decide whether ``scores`` or ``-scores`` ranks the able users first.

    Evidence is asked for in this order, until some says something: known answers, the strong user,
    the entropies of the two ends, agreement with the most common answers.

    Parameters
    ----------
    scores
        One score per user; all users have answers.
    responses, sums
        The data.
    answers
        Known right answers, item → option (any part of the key).
    strong_user
        A user known to be strong.
    """
    found = None
    if answers:
        found = _by_answers(scores, responses, sums, answers)
    if found is None and strong_user is not None:
        found = _by_strong_user(scores, user_number(responses, strong_user))
    if found is None:
        found = _by_entropy(scores, responses, sums)
    if found is None:
        found = _by_majority(scores, responses, sums)
    return found or undecided(scores)


def undecided(scores: Vector) -> Orientation:
    """No evidence: the first user who is not in the middle goes to the upper end (a convention)."""
    clear = np.flatnonzero(np.abs(scores) > ROUNDING * np.abs(scores).max(initial=0.0))
    turned = len(clear) > 0 and scores[clear[0]] < 0
    return Orientation(-1 if turned else 1, "undecided", 0.0, 0.5)


def known_options(responses: Responses, answers: Mapping[Any, Any]) -> npt.NDArray[np.int64]:
    """Option numbers of some known right answers.

    Answers that nobody gave are left out (they have no number); an unknown item is an error.
    """
    from hitsndiffs.data.encoding.options import normalise

    place = {str(label).strip(): i for i, label in enumerate(responses.items)}
    found = []
    for item, answer in answers.items():
        i = place.get(str(item).strip())
        if i is None:
            raise InputError(
                f"A known answer names item {str(item)!r}, which nobody answered or which is not "
                f"in the data; items are for example {_some(responses.items)}."
            )
        first, last = responses.item_starts[i], responses.item_starts[i + 1]
        labels = [str(label) for label in responses.option_labels[first:last]]
        text = str(normalise(answer))
        if text in labels:
            found.append(first + labels.index(text))
    return np.array(found, dtype=np.int64)


def user_number(responses: Responses, user: Any) -> int:
    """Place of a user named by its label."""
    labels = [str(label) for label in responses.users]
    text = str(user).strip()
    if text not in labels:
        import difflib

        close = difflib.get_close_matches(text, labels, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise InputError(
            f"There is no user {text!r}; users are for example {_some(responses.users)}.{hint}"
        )
    return labels.index(text)


def answers_here(responses: Responses, answers: Mapping[Any, Any] | None) -> dict[Any, Any]:
    """The known answers that concern these items (one component of the data, say)."""
    here = {str(item).strip() for item in responses.items}
    return {i: a for i, a in (answers or {}).items() if str(i).strip() in here}


def user_is_here(responses: Responses, user: Any) -> bool:
    """Whether a user is among these (one component of the data, say)."""
    return user is not None and str(user).strip() in {str(label) for label in responses.users}


def _some(labels: npt.NDArray[Any]) -> str:
    return ", ".join(repr(str(label)) for label in labels[:3])


def _by_answers(
    scores: Vector, responses: Responses, sums: Sums, answers: Mapping[Any, Any]
) -> Orientation | None:
    """The users who chose a known right answer should stand above those who did not."""
    options = known_options(responses, answers)
    counts = responses.choosers_per_option.astype(float)
    starts = responses.item_starts[:-1]
    items = responses.option_items
    totals = sums.choosers(scores)
    item_counts = np.add.reduceat(counts, starts)[items][options]
    item_totals = np.add.reduceat(totals, starts)[items][options]
    others = item_counts - counts[options]
    useful = others > 0
    if not useful.any():
        return None
    inside = totals[options][useful] / counts[options][useful]
    outside = (item_totals - totals[options])[useful] / others[useful]
    size = (counts[options] * others / item_counts)[useful]
    lead = float((size * (inside - outside)).sum() / size.sum())
    spread = max(float(np.std(scores)), 1e-300)
    margin = min(1.0, abs(lead) / spread)
    if margin <= ROUNDING:
        return None
    error = spread / np.sqrt(size.sum())
    return Orientation(-1 if lead < 0 else 1, "known answers", margin, _phi(abs(lead) / error))


def _by_strong_user(scores: Vector, user: int) -> Orientation | None:
    """A strong user should stand above the middle; one who stands in it says nothing."""
    distance = scores - np.median(scores)
    lead = float(distance[user])
    if abs(lead) <= ROUNDING * float(np.abs(distance).max()):
        return None
    margin = float(np.mean(np.abs(distance) <= abs(lead) * (1 + ROUNDING)))
    return Orientation(-1 if lead < 0 else 1, "strong user", margin, 1.0)


def _by_entropy(scores: Vector, responses: Responses, sums: Sums) -> Orientation | None:
    """Decile entropy, for any number of users; ties at the edge of a decile share its places."""
    size = _end_size(len(scores))
    if size == 0:
        return None
    (top, bottom), answers = _entropies(_ends(scores, size), responses, sums)
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


def _by_majority(scores: Vector, responses: Responses, sums: Sums) -> Orientation | None:
    """Able users agree with the most common answers (for ends too small to have an entropy)."""
    counts = responses.choosers_per_option.astype(float)
    share = counts / np.add.reduceat(counts, responses.item_starts[:-1])[responses.option_items]
    agreement = sums.choices(share) / responses.answers_per_user
    centred, above = scores - scores.mean(), agreement - agreement.mean()
    lead = float(centred @ above)
    size = float(np.linalg.norm(centred) * np.linalg.norm(above))
    if np.abs(above).max() <= ROUNDING or abs(lead) <= ROUNDING * size:
        return None
    margin = min(1.0, abs(lead) / size)
    z = margin * np.sqrt(max(len(scores) - 1, 1))
    return Orientation(-1 if lead < 0 else 1, "majority", margin, _sureness(z))


def _end_size(users: int) -> int:
    """Users at each end: a tenth as in the paper, more where a tenth is fewer than two."""
    tenth = users // 10
    return tenth if tenth >= 2 else (min(3, users // 2) if users >= 4 else 0)


def _ends(scores: Vector, size: int) -> Vector:
    """1 for the ``size`` first users and for the ``size`` last, in two columns.

    A tie across the edge shares what places are left.
    """
    ordered, limit = np.sort(scores), tie_limit(scores)
    ends = np.empty((2, len(scores)))
    lowest, highest = _tie_at(len(scores) - size, ordered, limit)
    share = (highest + 1 - (len(scores) - size)) / (highest + 1 - lowest)
    np.multiply(scores >= ordered[lowest], share, out=ends[0])
    np.copyto(ends[0], 1.0, where=scores > ordered[highest])
    lowest, highest = _tie_at(size - 1, ordered, limit)
    share = (size - lowest) / (highest + 1 - lowest)
    np.multiply(scores <= ordered[highest], share, out=ends[1])
    np.copyto(ends[1], 1.0, where=scores < ordered[lowest])
    return ends.T


def _tie_at(place: int, ordered: Vector, limit: float) -> tuple[int, int]:
    """First and last place of the tie that holds a place, among values in their order."""
    return (
        place - _small_steps(ordered[place::-1], limit),
        place + _small_steps(ordered[place:], limit),
    )


def _small_steps(values: Vector, limit: float) -> int:
    """How many steps from the first value on are within the limit."""
    reach = 64  # ties are short, most often
    while True:
        large = np.abs(np.diff(values[: reach + 1])) > limit
        if large.any():
            return int(np.argmax(large))
        if reach >= len(values) - 1:
            return len(large)
        reach *= 16


def _entropies(users: Vector, responses: Responses, sums: Sums) -> tuple[Vector, Vector]:
    """Entropy of each item's answers among some users, and how many of them answered it.

    A column of weights of the users makes a row of either.
    """
    counts = sums.choosers(users).T
    starts = responses.item_starts[:-1]
    answers: Vector = np.add.reduceat(counts, starts, axis=1)
    p = counts / np.where(answers > 0, answers, 1.0)[:, responses.option_items]
    entropies: Vector = np.add.reduceat(-p * np.log(np.where(p > 0, p, 1.0)), starts, axis=1)
    return entropies, answers


def _sureness(z: float) -> float:
    """How often a rule with this lead (in standard errors) was right on data with known keys."""
    from math import exp, log1p

    constant, per_log = CALIBRATION
    return max(0.5, 1 / (1 + exp(-(constant + per_log * log1p(z)))))


def _phi(z: float) -> float:
    from math import erf, sqrt

    return 0.5 * (1 + erf(z / sqrt(2)))
