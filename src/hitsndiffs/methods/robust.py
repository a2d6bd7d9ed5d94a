"""Robust HnD: HITSnDIFFs for real data (few choosers, few answers, missing items, rival axes)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.engines import Engine
from hitsndiffs.methods.axis import nobody_differs
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.certified import certified_fit
from hitsndiffs.methods.core.method import LatentKey
from hitsndiffs.methods.core.table import Table
from hitsndiffs.methods.core.witnesses import correlation, double_centred, on_double_centred
from hitsndiffs.methods.draws import sampled_users
from hitsndiffs.methods.fitted import Learnt
from hitsndiffs.methods.keys import key_from_scores, key_given
from hitsndiffs.methods.labels import two_labels
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.orientation import Orientation
from hitsndiffs.spectral import Axes, leading_axes
from hitsndiffs.spectral.shrinkage import Shrinkage, find_shrinkage, shrunk

__all__ = ["HNDRobust", "ShrunkAxes"]

#: An axis other than the first is taken as ability if it agrees this much better with the key.
LEAD = 0.15
#: An axis whose eigenvalue is within this share of the chosen one's is noted as a rival.
CLOSE = 0.1
#: The axes of more users are found on about so many of them.
AXES_USERS = 10_000
#: Shrinkage of users' leanings (in answers), where these are taken out.
SHRINK = 5.0
#: The note where leanings are taken out.
LEANINGS_OUT = (
    "All items share two labels: everybody's leaning to one of them is taken out of the axes."
)


@dataclass(frozen=True)
class ShrunkAxes(Learnt):
    """How far options and users were shrunk, and which axis is ability.

    Attributes
    ----------
    lam, mu
        Shrinkage of options and of users.
    axis
        The axis taken as ability, 1 = the strongest.
    agreement_with_key_solution
        Correlation of each axis with the best solution of the latent-key model.
    """

    lam: float
    mu: float
    axis: int
    agreement_with_key_solution: tuple[float, ...]


@dataclass(kw_only=True, eq=False)
class HNDRobust(Method):
    """HnD with item-centred weights and two-sided shrinkage found from the data.

    Weights of options with few choosers are pulled towards zero (λ), and so are scores of users
    with few answers (μ); centring within items keeps *who answered what* from being an axis. With
    ``lam=0, mu=0`` and complete data this is the paper's HnD. If plain HnD's order is certified
    consistent, that order is returned.

    Where all items share two labels (true/false), the strongest axis would be who says "true".
    There everybody's leaning to a label is taken out as well (the double-centred axis), unless
    ``lam`` or ``mu`` is given or the labels are read as marks (one of them is right in every item).

    The latent-key model decides which of the leading axes is ability, and which way up: the first
    axis, unless another one's correlation with the model's best solution is higher by at least
    0.15.

    Parameters
    ----------
    lam, mu
        Shrinkage of options and of users; found from the data when not given.
    axes
        How many leading axes to look at.
    group
        Which group each user belongs to: each group counts as one witness.
    answers, strong_user
        Known right answers, or a user known to be strong.

    Examples
    --------
    >>> from hitsndiffs import accuracy, simulate
    >>> sim = simulate("grm", users=60, items=30, options=5, seed=1)
    >>> fitted = HNDRobust().fit(sim.responses)
    >>> fitted.fit_.learnt.lam > 1 and accuracy(sim.abilities, fitted.scores_) > 0.7
    True
    """

    name: ClassVar[str] = "hnd-robust"
    summary: ClassVar[str] = "HnD with shrinkage and item centring, both found from the data"
    use: ClassVar[str] = "graded answers in messy data: few answers, missing items, rare options"

    needs_memory: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = True

    lam: float | None = None
    mu: float | None = None
    axes: int = 3
    group: Mapping[Any, Any] | None = None
    answers: Mapping[Any, Any] | None = None
    strong_user: Any = None

    def _fit(self, data: Engine) -> Fit:
        # 1. a perfect order needs no help
        exact = certified_fit(data, self)
        if exact is not None:
            return exact

        # 2. the leading axes, and the likely keys to compare them with
        key = LatentKey(group=self.group, answers=self.answers, strong_user=self.strong_user)
        likely = key._fit(data)
        leans = self._leans(data, likely)
        of, ability = _part(data, likely.scores if leans else likely.abilities)
        axis = double_centred(Table.of(of)) if leans else None
        if axis is None:
            found = self._shrinkage(of)
        else:
            scores = of.user_array(axis.scores)[:, None]
            axes = Axes(np.ones(1), scores, axis.rounds, axis.change, True)
            found = Shrinkage(SHRINK, SHRINK, axes, 1, True)
        if len(found.axes.values) == 0 or found.axes.values[0] <= 1e-12:
            return nobody_differs(data)

        # 3. which axis, and which end is up
        place, agreements = choose_axis(found, ability)
        s = found.axes.scores[:, place]
        sign = -1 if agreements[place] < 0 else 1

        # 4. option weights, and scores from them: equal answers get equal scores
        n = data.answers_per_user
        if axis is None:
            w = shrunk(of, s, found.lam)
            s = data.choices(w) / (n + found.mu)
        else:
            w, s = axis.weights, on_double_centred(data, axis.weights)
        scale = sign / np.sqrt(float(n @ s**2) / float(n.sum()))
        s, w = s * scale, w * scale
        confidence = likely.confidence or 0.0
        return Fit(
            scores=s,
            abilities=s,
            option_weights=w,
            key_probabilities=key_given(data, self.answers or {}, key_from_scores(data, s)),
            standard_errors=_errors(data, w, n, found.mu),
            orientation=Orientation(sign, "evidence", abs(float(agreements[place])), confidence),
            eigenvalues=found.axes.values,
            confidence=confidence,
            converged=found.axes.converged,
            n_iterations=found.rounds,
            notes=(*([] if axis is None else [LEANINGS_OUT]), *_notes(found, place, confidence)),
            scoring=Scoring(w, extra=found.mu) if axis is None else None,
            learnt=ShrunkAxes(found.lam, found.mu, place + 1, tuple(float(a) for a in agreements)),
        )

    def _leans(self, data: Engine, likely: Fit) -> bool:
        """Whether leanings are taken out: two shared labels, no shrinkage given, and no marks.

        Where one label is right in every item (marks), leaning to it is ability.
        """
        told = self.lam is not None or self.mu is not None
        marks = any(doubt.code == "marks" for doubt in likely.doubts)
        return not told and two_labels(data.items) and not marks

    def _shrinkage(self, data: Engine) -> Shrinkage:
        """The shrinkage found from the data, or given by the caller."""
        lam, mu = self.lam, self.mu
        if lam is None or mu is None:
            found = find_shrinkage(data, axes=self.axes, seed=self.seed)
            if lam is None and mu is None:
                return found
            lam, mu = found.lam if lam is None else lam, found.mu if mu is None else mu
        axes = leading_axes(data, self.axes, lam=lam, mu=mu, centred=True, seed=self.seed)
        return Shrinkage(lam, mu, axes, 1, True)


def _part(data: Engine, ability: Any) -> tuple[Engine, Any]:
    """Some of the users where there are many, and their abilities: enough to find the axes."""
    share = AXES_USERS / data.n_users
    chosen = sampled_users(data, share) if share < 0.5 else None
    if chosen is None:
        return data, ability
    part, _ = data.subset(chosen, keep_options=True)
    return part, part.user_array(data.collect(ability, chosen))


def choose_axis(found: Shrinkage, ability: Any) -> tuple[int, Floats]:
    """The axis taken as ability, and every axis's correlation with the best solution."""
    agreements = np.array([correlation(axis, ability) for axis in found.axes.scores.T])
    best = int(np.argmax(np.abs(agreements)))
    if np.abs(agreements[best]) < np.abs(agreements[0]) + LEAD:
        best = 0
    return best, agreements


def _errors(data: Engine, w: Floats, n: Floats, mu: float) -> Floats:
    """Spread of a user's item contributions over the (shrunken) number of answers."""
    mean = data.choices(w) / n
    variance = np.maximum(data.choices(w**2) / n - mean**2, 0.0) * n / np.maximum(n - 1, 1)
    return np.where(n > 1, np.sqrt(n * variance) / (n + mu), np.nan)


def _notes(found: Shrinkage, place: int, confidence: float) -> list[str]:
    notes = []
    values = found.axes.values
    if place > 0:
        notes.append(
            f"Ability is taken to be axis {place + 1}: the strongest axis of the answers does not "
            "agree with any likely key."
        )
    rivals = [v for a, v in enumerate(values) if a != place and v > (1 - CLOSE) * values[place]]
    if rivals:
        notes.append(
            "A second axis is almost as strong; the data alone cannot say for sure which is "
            "ability."
        )
    elif confidence < 0.8:
        notes.append(
            "Another reading of the answers is almost as likely, and it disagrees about who is "
            "good."
        )
    return notes
