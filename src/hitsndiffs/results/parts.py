"""Parts of a test: sub-scores and what they add; items that are harder for one group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Array, Floats
from hitsndiffs.data.lookup import python_value, said_of
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.results.cells import Cells, Tabled
from hitsndiffs.results.marks import Marks, marks
from hitsndiffs.results.metrics import false_discoveries

__all__ = ["Differences", "Parts", "differences", "parts"]


def parts(data: Any, key: Any, sections: Mapping[Any, Any] | str) -> Parts:
    """Sub-scores of the sections of a test, under a key.

    Parameters
    ----------
    data
        The answers: anything that :func:`hitsndiffs.rank` takes.
    key
        The right option of each item (as for :func:`hitsndiffs.marks`), known or likely
        (:meth:`Ranking.answer_key`).
    sections
        Item → the section that it belongs to, or ``"names"``: what is before the number at the
        end of an item's name. Other items count for the whole only.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> sim = hnd.simulate("2pl", users=200, items=20, seed=1)
    >>> halves = {item: "first" if item < "item-11" else "second" for item in sim.key}
    >>> parts(sim.responses, sim.key, halves).table()["adds"].to_list()
    [False, False]
    """
    found = marks(data, key)
    own = said_of(found.items, sections)
    names = _sizes(own, f"sections must name at least two sections of the {len(own):,} items")
    return Parts(found, {name: found.only(own == name) for name in names})


def _sizes(own: Array, wanted: str) -> Counter[Any]:
    """The groups that labels are in, in the order of the data, with their sizes."""
    sizes = Counter(group for group in own.tolist() if group is not None)
    if len(sizes) < 2:
        raise InputError(f"{wanted}; got {', '.join(map(repr, sizes)) or 'none'}.")
    return sizes


@dataclass(frozen=True, eq=False, repr=False)
class Parts(Tabled):
    """Sub-scores of the sections of a test; see :func:`parts`.

    The table has one row per section: ``items``, ``mean`` (share right), ``alpha`` (Cronbach's),
    and whether its score ``adds`` anything to the whole score. Haberman (2008): a section's score
    is worth reporting if it says more about what it measures than the whole score does.
    ``from_section`` and ``from_whole`` are the shares of the variance of the section's true score
    that the section's score and the whole score explain.

    Attributes
    ----------
    marks
        The marks on the whole test.
    sections
        Section → the marks on its items.
    """

    marks: Marks
    sections: Mapping[Any, Marks]

    responses = property(attrgetter("marks.responses"), doc="The answers.")

    def cells(self) -> Cells:
        """One row per section."""
        users = np.isfinite(self.marks.marks)
        whole = self.marks.marks[users]
        alpha, of_whole = np.full((2, len(self.sections)), np.nan)
        for n, own in enumerate(self.sections.values()):
            total, alpha[n] = own.marks[users], own.alpha
            if alpha[n] > 0:
                variance = total.var(ddof=1)
                shared = np.cov(total, whole)[0, 1] - (1 - alpha[n]) * variance
                of_whole[n] = min(shared**2 / (alpha[n] * variance * whole.var(ddof=1)), 1.0)
        columns = {
            "section": list(self.sections),
            "items": np.array([len(own.right) for own in self.sections.values()]),
            "mean": np.array([own.mean for own in self.sections.values()]),
            "alpha": alpha,
            "from_section": alpha,
            "from_whole": of_whole,
            "adds": alpha > of_whole,
        }
        return Cells.of(columns, label="section", share="mean from_section from_whole")

    def by_user(self) -> dict[str, Floats]:
        """Section → each user's share of right answers in it, in the order of the data."""
        return {str(name): own.shares for name, own in self.sections.items()}

    def scores(self) -> Any:
        """One row per user and section: share of right answers, and its standard error."""
        users = np.isfinite(self.marks.marks)
        n, blocks = int(users.sum()), self.sections.values()
        columns = {
            "user": np.concatenate([self.responses.users[users]] * len(blocks)),
            "section": np.repeat(np.array(list(self.sections), dtype=object), n),
            "share": np.concatenate([own.marks[users] / len(own.right) for own in blocks]),
            "standard_error": np.repeat([own.sem / len(own.right) for own in blocks], n),
        }
        return Cells.of(columns, share="share standard_error").frame(self.kind)

    def sentence(self) -> str:
        """Which sections add something to the whole score."""
        cells = self.cells()
        adds = [str(name) for name, own in zip(*map(cells.values, ("section", "adds")), strict=True)
                if own]  # fmt: skip
        if not adds:
            return "No section's score says more than the whole score: report the whole."
        return f"Worth reporting beside the whole score: {listed(adds)}."


# -- items that are unfair to a group ---------------------------------------------------------


def differences(data: Any, key: Any, groups: Mapping[Any, Any]) -> Differences:
    """Items that are harder for one group of users than for equally able users of another.

    Parameters
    ----------
    data
        The answers: anything that :func:`hitsndiffs.rank` takes.
    key
        The right option of each item (as for :func:`hitsndiffs.marks`), known or likely
        (:meth:`Ranking.answer_key`).
    groups
        User → group. With more than two groups the two largest are compared.
    """
    found = marks(data, key)
    own = said_of(found.responses.users.tolist(), groups)
    own[~np.isfinite(found.marks)] = None
    sizes = _sizes(own, "groups must name users of at least two groups")
    first, second, *_ = sorted(sizes, key=lambda group: (-sizes[group], str(group)))
    return Differences(found, (first, second), own)


@dataclass(frozen=True, eq=False, repr=False)
class Differences(Tabled):
    """Items harder for one group than for equally able users of another; see :func:`differences`.

    The first group is the one that the second is compared with. The table has one row per item:
    ``delta`` is the Mantel–Haenszel difference on the ETS scale (negative: harder for the second
    group), with its ``standard_error``, ``p`` (false discovery rate) and ``size`` (A negligible,
    B moderate, C large, by the ETS rules); what cannot be compared is missing. ``p_uniform`` and
    ``p_crossing`` test the same by logistic regression on the marks: a difference at every ability,
    and one that changes with it; ``r2_gain`` is what both explain (Nagelkerke).
    """

    marks: Marks
    groups: tuple[Any, Any]
    group_of_user: Array

    @cached_property
    def _columns(self) -> dict[str, Any]:
        use = np.isin(self.group_of_user, self.groups)
        right = self.marks.right_answers[use]
        second = (self.group_of_user[use] == self.groups[1]).astype(float)
        delta, error, p = _mantel_haenszel(right, second)
        found = np.array([_logistic(one, second, right.sum(1)) for one in right.T])
        uniform, crossing, gain = found.T
        adjusted, size = false_discoveries(p), np.abs(delta)
        sure_above_one = (size - 1) / np.maximum(error, 1e-12) > 1.645
        letter = np.where((size >= 1.5) & sure_above_one, "C", np.where(size >= 1, "B", "A"))
        return {
            "item": np.array([python_value(item) for item in self.marks.items], dtype=object),
            "delta": delta,
            "standard_error": error,
            "p": adjusted,
            "size": np.where(adjusted < 0.05, letter, "A"),
            "p_uniform": false_discoveries(uniform),
            "p_crossing": false_discoveries(crossing),
            "r2_gain": gain,
        }

    responses = property(attrgetter("marks.responses"), doc="The answers.")

    def cells(self) -> Cells:
        """One row per item."""
        return Cells.of(self._columns, share="r2_gain")

    def standing_out(self) -> list[int]:
        """The rows of items that one of the tests finds different between the groups."""
        c = self._columns
        found = (c["size"] != "A") | (np.minimum(c["p_uniform"], c["p_crossing"]) < 0.05)
        return [int(row) for row in np.flatnonzero(found)]

    def sentence(self) -> str:
        """What was found, in a sentence."""
        c = self._columns
        first, second = self.groups
        found = np.flatnonzero(c["size"] != "A")
        if not len(found):
            return f"No item is clearly harder for {second} than for equally able {first}."
        said = [
            f"harder for {group}: {listed([str(item) for item in c['item'][found[side]]])}"
            for group, side in ((second, c["delta"][found] < 0), (first, c["delta"][found] > 0))
            if side.any()
        ]
        return f"Among equally able users, {'; '.join(said)}."


def _mantel_haenszel(right: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """For each item the ETS delta, its standard error, and the p-value of no difference.

    Users with the same mark are compared: marks × items of the first group's right and wrong
    answers (a, b) and of the second group's (c, d).
    """
    from scipy.special import erfc

    marks, mark = np.unique(right.sum(1), return_inverse=True)

    def per_mark(values: Floats) -> Floats:
        return np.stack([values[mark == k].sum(0) for k in range(len(marks))])

    groups = [side[:, None] for side in (1 - second, second)]
    first, other = (per_mark(side) for side in groups)
    a, c = (per_mark(right * side) for side in groups)
    both = np.logical_and(first > 0, other > 0)[:, 0]
    a, c, b, d = (x[both] for x in (a, c, first - a, other - c))
    n = a + b + c + d
    p1, p2 = (a + d) / n, (b + c) / n
    over, under = (a * d / n).sum(0), (b * c / n).sum(0)
    variance = ((a + b) * (c + d) * (a + c) * (b + d) / (n * n * np.maximum(n - 1, 1))).sum(0)
    away = np.abs((a - (a + b) * (a + c) / n).sum(0))
    known = np.minimum(np.minimum(over, under), variance) > 0
    over, under, variance = (np.where(known, x, 1.0) for x in (over, under, variance))
    log_error = (
        (p1 * a * d / n).sum(0) / (2 * over**2)
        + ((p1 * b * c + p2 * a * d) / n).sum(0) / (2 * over * under)
        + (p2 * b * c / n).sum(0) / (2 * under**2)
    )
    chi = np.maximum(away - 0.5, 0.0) ** 2 / variance
    delta, error = -2.35 * np.log(over / under), 2.35 * np.sqrt(log_error)
    p = np.where(known, erfc(np.sqrt(chi / 2)), 1.0)
    return np.where(known, delta, np.nan), np.where(known, error, np.nan), p


def _logistic(right: Floats, second: Floats, total: Floats) -> tuple[float, float, float]:
    """p-values of a uniform and of a crossing difference, and the gain in Nagelkerke's R²."""
    from scipy.special import chdtrc

    if right.min() == right.max() or total.std() == 0:
        return 1.0, 1.0, 0.0
    z = (total - total.mean()) / total.std()
    blocks = np.column_stack([np.ones(len(z)), z, second, z * second])
    logs = [logistic_fit(blocks[:, :k], right)[1] for k in (1, 2, 3, 4)]
    share = [1 - np.exp(2 * (logs[0] - log) / len(z)) for log in (0.0, logs[1], logs[3])]
    uniform, crossing = np.maximum(2 * np.diff(logs[1:]), 0.0)
    gain = (share[2] - share[1]) / share[0]
    return float(chdtrc(1, uniform)), float(chdtrc(1, crossing)), float(gain)


def logistic_fit(x: Floats, y: Floats) -> tuple[Floats, float]:
    """Coefficients of a logistic regression, and the log-likelihood (Newton, with halved steps)."""
    b = np.zeros(x.shape[1])
    log = float(-len(y) * np.log(2))
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ b))
        h = (x * (p * (1 - p))[:, None]).T @ x + 1e-9 * np.eye(len(b))
        step = np.linalg.solve(h, x.T @ (y - p))
        for _ in range(30):
            eta = x @ (b + step)
            new = float(y @ eta - np.logaddexp(0, eta).sum())
            if new >= log - 1e-12:
                break
            step = step / 2
        b = b + step
        done, log = abs(new - log) < 1e-10 * (1 + abs(log)), new
        if done:
            break
    return b, log
