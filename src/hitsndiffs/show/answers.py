"""The names, items and answers of a ranking, as charts, report and page show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.results.diagnostics import best_options, judged_items, option_columns
from hitsndiffs.results.ranking import Ranking

__all__ = [
    "Item",
    "chosen_options",
    "clean",
    "equal_answers",
    "first_answers",
    "item_list",
    "option_shares",
    "right_answers",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: Options of an item that get a line in a picture: the keys first, then the most chosen.
LINES = 6


def clean(label: object, longest: int = 200) -> str:
    r"""A label as one line of printable text, cut if it is very long.

    >>> clean("two\nlines"), clean("abcdef", 4), clean("")
    ('two lines', 'abc…', '(empty)')
    """
    text = str(label)
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    text = text.strip() or "(empty)"
    return text if len(text) <= longest else text[: longest - 1] + "…"


# -- items -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """One item, as charts and reports describe it.

    Attributes
    ----------
    options
        The numbers of its options.
    key, given
        The number of the likely key and of that of a given key; ``None`` if there is none.
    unseen
        A given key that nobody chose.
    confidence, share, discrimination, strong_share
        Of the likely key; ``None`` if not known.
    remark, doubt
        What is wrong with the item, in words and as a code.
    """

    number: int
    label: Any
    name: str
    answers: int
    options: range
    key: int | None = None
    given: int | None = None
    unseen: str | None = None
    confidence: float | None = None
    share: float | None = None
    discrimination: float | None = None
    strong_share: float | None = None
    remark: str = ""
    doubt: str = ""

    @property
    def urgency(self) -> tuple[bool, bool, int]:
        """Wrong keys first, then items with two right answers, then in the order of the test."""
        is_wrong, is_double = self.doubt in ("wrong", "mis-keyed"), "double" in self.doubt
        return not is_wrong, not (is_wrong or is_double), self.number

    def drawn(self, choosers: Ints) -> list[int]:
        """The options that get a line in a picture."""
        special = (self.key, self.given)
        return sorted(self.options, key=lambda o: (o not in special, -choosers[o]))[:LINES]


def item_list(ranking: Ranking, key: Mapping[Any, Any] | None = None) -> list[Item]:
    """All items in the order of the data, with what an answer key says against them."""
    data = ranking.data
    probabilities = None if ranking.ratings else ranking.fit.key_probabilities
    columns, remarks = judged_items(data, ranking.scores, probabilities, key, ranking.key_chances)
    labels, starts = data.items.option_labels, data.items.starts.tolist()

    def known(name: str, i: int) -> float | None:
        value = columns[name][i] if name in columns else np.nan
        return float(value) if np.isfinite(value) else None

    found = []
    for i, remark in enumerate(remarks):
        own = range(starts[i], starts[i + 1])
        key_label, given = (columns[c][i] if c in columns else None for c in ("key", "given_key"))
        number = {labels[option]: option for option in own}
        found.append(
            Item(
                number=i,
                label=columns["item"][i],
                name=clean(columns["item"][i]),
                answers=int(columns["answers"][i]),
                options=own,
                key=number.get(key_label),
                given=number.get(given),
                unseen=None if given is None or given in number else clean(given),
                confidence=known("confidence", i),
                share=known("share", i),
                discrimination=known("discrimination", i),
                strong_share=known("strong_share", i),
                remark=clean(remark.text) if remark.text else "",
                doubt=remark.kind,
            )
        )
    return found


def option_shares(ranking: Ranking) -> Floats:
    """The share of each ability group, weakest first, that chose each option: options × groups.

    Each group has about ten users.
    """
    groups = int(np.clip(ranking.responses.n_users // 10, 2, 5))
    found = option_columns(ranking.data, ranking.scores, groups)
    return np.column_stack([found[f"share_group_{g + 1}"] for g in range(groups)])


# -- answers ---------------------------------------------------------------------------------------


def chosen_options(ranking: Ranking, users: Ints) -> Ints:
    """The number of the option that each user chose, -1 without an answer: users × items."""
    r = ranking.responses
    table = np.full((len(users), r.n_items), -1, dtype=np.int64)
    indptr, options = r.some_rows(users)
    table[np.repeat(np.arange(len(users)), np.diff(indptr)), r.option_items[options]] = options
    return table


def first_answers(r: Responses, users: int, items: int, longest: int) -> list[list[str]]:
    """The first users' answers to the first items, as texts: each user's name, then the answers."""
    starts, options = r.some_rows(np.arange(users))
    rows = []
    for user in range(users):
        chosen = {int(r.option_items[o]): o for o in options[starts[user] : starts[user + 1]]}
        cells = [
            clean(r.option_labels[chosen[i]], longest) if i in chosen else "" for i in range(items)
        ]
        rows.append([clean(r.users[user], 40), *cells])
    return rows


def right_answers(ranking: Ranking, chosen: Ints) -> Floats:
    """1 if the chosen option is the likely key, 0 if not, NaN without an answer.

    Without a key (opinions, or a method that infers none): 1 for the most chosen option.
    """
    r, p = ranking.responses, None if ranking.ratings else ranking.fit.key_probabilities
    key, _ = best_options(r.structure, r.choosers_per_option.astype(float) if p is None else p)
    return np.where(chosen < 0, np.nan, chosen == key)


def equal_answers(ranking: Ranking, users: Ints) -> tuple[Ints, Ints, Ints]:
    """For each pair of users: items both answered, equal answers, and equal ones not the key."""
    chosen = chosen_options(ranking, users)
    is_wrong = right_answers(ranking, chosen) == 0
    answered = (chosen >= 0).astype(np.int64)
    equal = np.array([(chosen == own) & (chosen >= 0) for own in chosen])
    return answered @ answered.T, equal.sum(axis=2), (equal & is_wrong).sum(axis=2)
