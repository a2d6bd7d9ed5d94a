"""Labels shared by all items: what they are, and whether their words say that they are marks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.items import Items
from hitsndiffs.errors import InputError

__all__ = [
    "MOST_LABELS",
    "Sharing",
    "label_numbers",
    "mark_in_words",
    "need_shared",
    "sharing",
    "two_labels",
]

#: Most labels in a label set for all items.
MOST_LABELS = 100
#: What to do where items share no label set.
INSTEAD = "Use hnd, hnd-robust or latent-key, which take each item's labels as its own."
#: Pairs of words that are mostly marks, the good one first. *True* and *false*, *yes* and *no*, and
#: numbers are left out: they are mostly answers.
MARK_WORDS = frozenset(
    {("right", "wrong"), ("correct", "incorrect"), ("correct", "wrong"), ("pass", "fail")}
    | {("passed", "failed"), ("solved", "unsolved")}
)


@dataclass(frozen=True)
class Sharing:
    """Whether the items share their labels.

    Attributes
    ----------
    labels, numbers
        All labels of all items, and the number of each option's label.
    apart
        Why they do not, in words; empty if they do.
    """

    labels: npt.NDArray[Any]
    numbers: Ints
    apart: str


def label_numbers(items: Items) -> tuple[npt.NDArray[Any], Ints]:
    """All labels of all items (as text), and the number of each option's label.

    They are numbered in order of first occurrence, so renaming them changes nothing.
    """
    texts = [str(label) for label in items.option_labels]
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    return np.array(list(place)), np.array([place[text] for text in texts], dtype=np.int64)


def sharing(items: Items) -> Sharing:
    """Check whether all items share one label set.

    They do not if most labels occur in only one item and there are clearly more labels than any
    item has options, or if there are more than :data:`MOST_LABELS`.

    >>> items = Items(np.array(["q1", "q2"]), np.array(["no", "yes", "no"]), np.array([0, 2, 3]))
    >>> sharing(items).labels.tolist(), sharing(items).apart
    (['no', 'yes'], '')
    """
    labels, numbers = label_numbers(items)
    once = labels[np.bincount(numbers) == 1]
    widest = max(int(items.sizes.max()), 2)
    why = ""
    if 2 * len(once) > len(labels) and 2 * len(labels) > 3 * widest:
        why = (
            f"{len(once)} of the {len(labels)} labels occur in one item only, for example "
            f"{str(once[0])!r}"
        )
    elif len(labels) > MOST_LABELS:
        why = f"there are {len(labels)} labels"
    return Sharing(labels, numbers, why)


def need_shared(items: Items, who: str, why: str, instead: str = INSTEAD) -> None:
    """An error if the items clearly share no label set: who needs it, for what, what to do."""
    found = sharing(items)
    if found.apart:
        raise InputError(
            f"{who} needs items that share one label set ({why}); here {found.apart}. {instead}"
        )


def two_labels(items: Items) -> bool:
    """Whether there are several items and all share the same two labels (true and false, say)."""
    if items.n_items < 2 or items.sizes.max() > 2:
        return False
    found = {str(label) for label in items.option_labels}
    return len(found) == 2


def mark_in_words(items: Items) -> str | None:
    """The good mark, where the two shared labels are words for marks (right and wrong, say).

    >>> marks = np.array(["Wrong", "Right", "Right"])
    >>> mark_in_words(Items(np.array(["q1", "q2"]), marks, np.array([0, 2, 3])))
    'Right'
    """
    by_word = {str(label).strip().lower(): str(label) for label in items.option_labels}
    good = [first for first, second in MARK_WORDS if by_word.keys() == {first, second}]
    return by_word[good[0]] if good else None
