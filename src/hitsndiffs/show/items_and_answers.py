"""The names, items and answers of a ranking, as charts, report and page show them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.results.diagnostics import (
    best_options,
    judged_items,
    option_columns,
)
from hitsndiffs.results.ranking import Ranking

__all__ = [
    "Item",
    "chosen_options",
    "clean",
    "distinct",
    "equal_answers",
    "first_answers",
    "item_list",
    "option_groups",
    "option_shares",
    "right_answers",
    "scale_of",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


# -- names -----------------------------------------------------------------------------------------


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


def distinct(labels: Iterable[object], longest: int = 60) -> list[str]:
    """Clean labels, and number those that cleaning made equal.

    A chart draws equal names on one line, so different users need different names.

    >>> distinct(["ann", "abcdef", "abcdeg"], 4)
    ['ann', 'abc… (1)', 'abc… (2)']
    """
    cleaned = [clean(label, longest) for label in labels]
    often = Counter(cleaned)
    seen: Counter[str] = Counter()
    found = []
    for label in cleaned:
        seen[label] += 1
        found.append(f"{label} ({seen[label]})" if often[label] > 1 else label)
    return found


#: Words of opinions: which say no, and which make them stronger or weaker.
_NO = re.compile(
    r"\b(dis(agree|sat)|un(sat|likely|import|favou?r|zufrieden|wichtig)|insatisf|desacuerdo)"
    r"|\b(not|nicht|kein\w*|pas|ne|no|never|nie)\b",
    re.IGNORECASE,
)
_NEITHER = re.compile(r"\bneither\b|\bweder\b|\bni\b|\bteils\b", re.IGNORECASE)
_YES = re.compile(
    r"agree|satisf|favou?r|import|likely|zu\b|zufrieden|wichtig|accord|acuerdo|always|yes|ja\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(strongly|completely|totally|very|extremely|fully|voll|völlig|ganz|sehr|überhaupt|gar|tout"
    r"|très|muy|totalmente|always|never)\b",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"\b(somewhat|slightly|tend|rather|mostly|eher|kaum|plutôt|algo|un peu)\b", re.IGNORECASE
)


def scale_of(labels: Iterable[str]) -> list[str]:
    """Labels of opinions or ratings, from no to yes or from low to high.

    Numbers are in their order, words in that of what they say; what says neither is in the middle.

    >>> scale_of(["Agree", "Disagree", "Neutral", "Strongly agree", "Strongly disagree"])
    ['Strongly disagree', 'Disagree', 'Neutral', 'Agree', 'Strongly agree']
    >>> scale_of(["10", "9", "eher unzufrieden", "sehr zufrieden", "unzufrieden"])
    ['unzufrieden', 'eher unzufrieden', '9', '10', 'sehr zufrieden']
    """

    def place(label: str) -> tuple[float, float, str]:
        try:
            return 0.0, float(label.replace(",", ".")), label
        except ValueError:
            pass
        if _NEITHER.search(label) or not (_NO.search(label) or _YES.search(label)):
            return 0.0, 0.0, label
        strength = 3.0 if _STRONG.search(label) else 1.0 if _WEAK.search(label) else 2.0
        return (-strength if _NO.search(label) else strength), 0.0, label

    return sorted(set(labels), key=place)


# -- items -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """One item, as charts and reports describe it (``None``: not known)."""

    number: int
    label: Any
    name: str
    answers: int
    options: int
    key: str | None = None
    confidence: float | None = None
    share: float | None = None
    discrimination: float | None = None
    strong_share: float | None = None
    given: str | None = None
    remark: str = ""
    doubt: str = ""
    key_option: int | None = None
    given_option: int | None = None

    @property
    def wrong_key(self) -> bool:
        """Whether the key is in doubt: another answer seems right, or a second one does too."""
        return self.doubt in ("mis-keyed", "double-keyed", "wrong", "double")


def item_list(ranking: Ranking, key: Mapping[Any, Any] | None = None) -> list[Item]:
    """All items in the order of the data, with what an answer key says against them."""
    data, scores = ranking.data, ranking.scores
    probabilities = None if ranking.ratings else ranking.fit.key_probabilities
    found, remarks = judged_items(data, scores, probabilities, key, ranking.key_chances)

    def number(name: str, i: int) -> float | None:
        value = found[name][i] if name in found else None
        return None if value is None or not np.isfinite(value) else float(value)

    def text(name: str, i: int) -> str | None:
        value = found[name][i] if name in found else None
        return None if value is None else clean(value)

    def option(name: str, i: int) -> int | None:
        """The number of the option with this label; ``None`` if nobody chose it."""
        if name not in found or found[name][i] is None:
            return None
        own = range(*map(int, data.items.starts[i : i + 2]))
        return next((o for o in own if data.items.option_labels[o] == found[name][i]), None)

    return [
        Item(
            number=i,
            label=found["item"][i],
            name=clean(found["item"][i]),
            answers=int(found["answers"][i]),
            options=int(found["options"][i]),
            key=text("key", i),
            confidence=number("confidence", i),
            share=number("share", i),
            discrimination=number("discrimination", i),
            strong_share=number("strong_share", i),
            given=text("given_key", i),
            remark=clean(remarks[i].text) if remarks[i].text else "",
            doubt=remarks[i].kind,
            key_option=option("key", i),
            given_option=option("given_key", i),
        )
        for i in range(data.n_items)
    ]


def option_groups(ranking: Ranking) -> int:
    """The number of ability groups in a chart: each needs about ten users."""
    return int(np.clip(ranking.responses.n_users // 10, 2, 5))


def option_shares(ranking: Ranking, groups: int) -> Any:
    """The share of each group, weakest first, that chose each option: options × groups."""
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


def equal_answers(ranking: Ranking, users: Ints) -> tuple[Floats, Floats, Floats]:
    """For each pair of users: items both answered, equal answers, and equal ones not the key."""
    chosen = chosen_options(ranking, users)
    wrong = right_answers(ranking, chosen) == 0
    answered = (chosen >= 0).astype(float)
    equal, equal_wrong = np.zeros((2, len(users), len(users)))
    for j in range(len(users)):
        match = (chosen == chosen[j]) & (chosen >= 0)
        equal[j], equal_wrong[j] = match.sum(axis=1), (match & wrong).sum(axis=1)
    return answered @ answered.T, equal, equal_wrong
