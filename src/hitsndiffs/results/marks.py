"""Marks under a key: per user, with several accepted answers and dropped items."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats
from hitsndiffs.data.files import write_whole
from hitsndiffs.data.formulas import without_formulas
from hitsndiffs.data.items import Items
from hitsndiffs.data.lookup import mapping_of, python_value
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed
from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.errors import InputError, did_you_mean
from hitsndiffs.methods.core.table import Table
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.results.cells import Cells, Tabled

__all__ = ["Marks", "accepted_options", "marks"]


def marks(
    data: Any,
    key: Any,
    *,
    accept: Mapping[Any, Any] | None = None,
    drop: Collection[Any] = (),
    blanks: str = "wrong",
) -> Marks:
    """Marks of every user under a key.

    Parameters
    ----------
    data
        The answers: anything that :func:`hitsndiffs.rank` takes.
    key
        The right option of each item (a mapping, a Series, a frame or a file); several right
        options as a list or as ``"A;C"`` or ``"A/C"``. Items without a key do not count.
    accept
        Further options to accept, item → option or options.
    drop
        Items that do not count.
    blanks
        ``"wrong"``: an item that a user left blank is wrong. ``"skip"``: it does not count for
        that user.

    Examples
    --------
    >>> found = marks([["A", "B"], ["A", "C"], ["D", None]], {0: "A", 1: "B"}, accept={1: "C"})
    >>> found.marks.tolist(), found.mean
    ([2.0, 2.0, 0.0], 0.6666666666666666)
    """
    from hitsndiffs.reading import read_key

    if blanks not in ("wrong", "skip"):
        raise InputError(f"blanks must be 'wrong' or 'skip'; got {blanks!r}.")
    responses = as_responses(data)
    engine = open_engine(responses)
    told = mapping_of(key)
    key = read_key(key, responses) if told is None else told
    dropped = {_place(engine.items, item, "to leave out") for item in drop}
    right = accepted_options(engine.items, key)
    for item, more in (accept or {}).items():
        place = _place(engine.items, item, "to accept an answer to")
        right.setdefault(place, set()).update(engine.items.options_named(place, more))
    for item in dropped:
        right.pop(item, None)
    if not right:
        raise InputError("no item is left to mark: the key names none that counts.")
    return Marks(responses, engine, right, blanks)


def accepted_options(items: Items, key: Mapping[Any, Any]) -> dict[int, set[int]]:
    """Item → the options that a key accepts, both as numbers.

    An item whose right answer nobody gave has an empty set. Items of the key that are not in the
    data are left out.
    """
    places = {item: items.places.get(str(item).strip()) for item in key}
    return {
        place: set(items.options_named(place, key[item]))
        for item, place in places.items()
        if place is not None
    }


def _place(items: Items, item: Any, what: str) -> int:
    place = items.places.get(str(item).strip())
    if place is None:
        names = [str(label) for label in items.labels]
        raise InputError(f"There is no item {str(item)!r} {what}." + did_you_mean(str(item), names))
    return place


@dataclass(frozen=True, eq=False, repr=False)
class Marks(Tabled):
    """Marks of every user under a key; see :func:`marks`.

    The table has one row per user, in the order of the data: ``marks``, ``out_of`` how many, and
    ``percent``.

    Attributes
    ----------
    responses
        The answers.
    right
        Item → the options that count as right, both as numbers.
    blanks
        Whether a blank is ``"wrong"`` or does not count (``"skip"``).
    """

    ROWS = "marks"

    responses: Responses
    engine: Engine
    right: Mapping[int, set[int]]
    blanks: str

    @cached_property
    def _right(self) -> Floats:
        """1 for every right option."""
        right = np.zeros(self.engine.n_options)
        right[[o for options in self.right.values() for o in options]] = 1.0
        return right

    @property
    def right_answers(self) -> Floats:
        """Users × :attr:`items`: 1 where the answer is right; a blank is not."""
        return Table.of(self.engine).cells(self._right)[:, sorted(self.right)]

    @property
    def items(self) -> list[Any]:
        """The items that count."""
        return [python_value(self.engine.items.labels[item]) for item in sorted(self.right)]

    def _sums(self, weights: Floats) -> Floats:
        """Of each user, the sum over the chosen options; NaN for a user who answered nothing."""
        found = np.asarray(self.engine.collect(self.engine.choices(weights)), dtype=float)
        return np.where(self.responses.answers_per_user > 0, found, np.nan)

    @cached_property
    def marks(self) -> Floats:
        """How many right answers each user gave (NaN for a user who answered nothing)."""
        return self._sums(self._right)

    @cached_property
    def out_of(self) -> Floats:
        """How many items count for each user."""
        counted = np.zeros(self.engine.n_items)
        counted[list(self.right)] = 1.0
        own = self._sums(counted[self.engine.items.of_option])
        if self.blanks == "wrong":
            return np.where(np.isnan(own), own, float(len(self.right)))
        return np.where(own > 0, own, np.nan)

    @property
    def shares(self) -> Floats:
        """The share of right answers, 0 to 1."""
        return self.marks / self.out_of

    @property
    def mean(self) -> float:
        """The mean share of right answers."""
        return float(np.nanmean(self.shares))

    @cached_property
    def alpha(self) -> float:
        """Cronbach's alpha (KR-20): how far the items measure the same; blanks are wrong."""
        own = np.isfinite(self.marks)
        n, k = int(own.sum()), len(self.right)
        total = self.marks[own].var(ddof=1) if n > 1 else 0.0
        if k < 2 or total <= 0:
            return float("nan")
        chosen = self.engine.choosers_per_option * self._right
        share = self.engine.items.total(chosen)[list(self.right)] / n
        variances = share * (1 - share) * n / (n - 1)
        return float(k / (k - 1) * (1 - variances.sum() / total))

    @cached_property
    def sem(self) -> float:
        """The standard error of measurement, in marks."""
        own = self.marks[np.isfinite(self.marks)]
        return float(own.std(ddof=1) * np.sqrt(1 - max(self.alpha, 0.0)))

    def only(self, items: Flags) -> Marks:
        """The marks on some of :attr:`items`."""
        return replace(self, right={i: self.right[i] for i in np.array(sorted(self.right))[items]})

    def gains(self, before: Marks) -> Floats:
        """How many marks each user has more than under another key."""
        return self.marks - before.marks

    def cells(self) -> Cells:
        """One row per user."""
        columns = {
            "user": self.responses.users,
            "marks": self.marks,
            "out_of": self.out_of,
            "percent": np.round(100 * self.shares, 1),
        }
        return Cells.of(columns, whole="marks out_of")

    def facts(self) -> dict[str, Any]:
        """What the marks have in common."""
        told = {"mean": self.mean, "alpha": self.alpha, "standard_error": self.sem}
        return {**told, "items": list(map(str, self.items))}

    def write(self, path: str | Path) -> None:
        """Write a CSV that a gradebook takes: user, marks, out of how many, per cent."""
        frame = without_formulas(self.cells().frame())
        write_whole({Path(path): lambda part: frame.write_csv(part)})

    def sentence(self) -> str:
        """The marks in a sentence or two."""
        said = (
            f"Marks from {np.nanmin(self.marks):.0f} to {np.nanmax(self.marks):.0f} out of "
            f"{count(len(self.right), 'item')}, mean {100 * self.mean:.0f} %."
        )
        if np.isfinite(self.alpha):
            said += (
                f" A mark is uncertain by about {self.sem:.1f} (its standard error; Cronbach's "
                f"alpha is {self.alpha:.2f})."
            )
        never = [self.items[n] for n, i in enumerate(sorted(self.right)) if not self.right[i]]
        if never:
            said += f" Nobody chose the key's answer to {listed(list(map(str, never)), most=3)}."
        return said
