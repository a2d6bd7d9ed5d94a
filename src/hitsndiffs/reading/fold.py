"""Decide which texts are the same answer and which mean no answer, given an item's options."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hitsndiffs.data.responses import Responses
from hitsndiffs.data.spelling import same_text
from hitsndiffs.data.words import count, listed, shortened

__all__ = ["Folding", "fold_item", "is_blank_word", "odd_options"]

#: Words for «no answer», folded. Bare signs stay options if the item has other sign options.
_PHRASES = """
    - | – | — | -- | --- | ? | ?? | . | … | * | n/a | n.a. | #n/a | absent | abs | abwesend |
    ausente | assente | blank | (blank) | empty | (empty) | leer | vide | vacío | <unanswered> |
    unanswered | no answer | <no answer> | (no answer) | [no answer] | no response |
    <no response> | (no response) | [no response] | not answered | not attempted |
    no respondida | nicht beantwortet | keine antwort | sans réponse | sin respuesta |
    sem resposta | nessuna risposta | geen antwoord | нет ответа | 無回答 | 未回答 | 未作答 |
    [invalid] | omitted | omit | missing | none selected | undefined | mult | (空) | (跳过) | 空白 |
    # | _ | \\n | #null! | #value! | #ref! | skip | skipped | (skipped) | k.a. | k. a. |
    keine angabe | ns/nr | s/r
"""
_BLANK = frozenset(phrase.strip() for phrase in _PHRASES.split("|"))
_BETWEEN = re.compile(r"[,;|\n]")
#: 2,5 is one number in much of the world.
_DECIMAL = re.compile(r"\d+,\d+")
_MARKED = re.compile(r"\(?([^\W_])[).:]?\)?")
_SIGNS = re.compile(r"[^\w\s]+")
#: If three or more spellings of one text (AA, Aa, aa) are each chosen by at least this share of
#: its users, they stay separate options.
_OWN_SHARE = 0.05
#: An option may mean "no answer" if at most this share of the answers is it, in at least so many
#: items and half of them, while up to so many other options are letters or numbers in a row.
_RARE, _ITEMS, _FEW = 0.2, 3, 12


def is_blank_word(text: str) -> bool:
    """Whether a text means «no answer»."""
    return same_text(text) in _BLANK


@dataclass
class Folding:
    """What was folded or taken as blank over all items, for the plan."""

    #: Pairs of a spelling and the one that is kept, and words for no answer, as they were met.
    merged: dict[tuple[str, str], None] = field(default_factory=dict)
    blanks: dict[str, None] = field(default_factory=dict)

    def sentences(self) -> list[str]:
        """Return it as sentences."""
        found = []
        if self.merged:
            pairs = [f"{shortened(a, 30)!r} = {shortened(b, 30)!r}" for a, b in self.merged]
            more = f" and {len(pairs) - 3} more" if len(pairs) > 4 else ""
            shown = pairs if not more else pairs[:3]
            found.append(f"Taken as the same answer: {', '.join(shown)}{more}.")
        if self.blanks:
            words = [shortened(word, 30) for word in self.blanks]
            more = ", …" if len(words) > 5 else ""
            found.append(f"Taken as no answer: {', '.join(words[:5])}{more}.")
        return found


def fold_item(
    labels: Sequence[str],
    counts: Sequence[int],
    found: Folding,
    blanks: frozenset[str] | None = None,
    common: Mapping[str, int] | None = None,
    *,
    merge: bool = True,
) -> list[str | None]:
    """Return the label under which each option of an item is kept; None for no answer.

    Parameters
    ----------
    labels, counts
        The options, and how many users chose each.
    found
        Record of what was done; added to.
    blanks
        The words that mean no answer; None for the usual words.
    common
        How often each spelling is used in all items; the most common one is kept.
    merge
        Whether to merge spellings; if not, only blanks are found.

    Examples
    --------
    >>> fold_item(["A", "a", "B", "-"], [8, 1, 7, 2], Folding())
    ['A', 'A', 'B', None]
    >>> fold_item(["A, C", "C,A", "B", "red, dark"], [8, 1, 7, 2], Folding())
    ['A, C', 'A, C', 'B', 'red, dark']
    >>> fold_item(["A", "(a)", "a.", "B)"], [8, 1, 7, 2], Folding())
    ['A', 'A', 'A', 'B)']
    >>> fold_item(["+", "-", "·"], [8, 5, 7], Folding())
    ['+', '-', '·']
    """
    kept: list[str | None] = list(labels)
    words = _BLANK if blanks is None else blanks
    own = any(_SIGNS.fullmatch(label) and same_text(label) not in words for label in labels)
    for k, label in enumerate(labels):
        text = same_text(label)
        if text not in words or (blanks is None and own and _SIGNS.fullmatch(label)):
            continue
        kept[k] = None
        found.blanks[label] = None
    if not merge:
        return kept
    groups: dict[str, list[int]] = defaultdict(list)
    single = {same_text(label) for label in labels}
    for k, label in enumerate(labels):
        if kept[k] is not None:
            groups[_as_set(same_text(label), single)].append(k)
    for text, places in groups.items():
        if len(places) == 1 or (len(text) > 1 and _own_options(labels, counts, places)):
            continue
        use = common or {}
        best = max(places, key=lambda k: (use.get(labels[k], 0), counts[k], labels[k]))
        for k in places:
            if k != best:
                kept[k] = labels[best]
                found.merged[labels[k], labels[best]] = None
    return kept


def _as_set(text: str, single: set[str]) -> str:
    """Return several choices in sorted order; a text that merely holds a comma stays as it is.

    Choices are at most two characters long, or options that are also chosen alone. A letter or
    number may have a bracket or a point: ``a)`` is ``a``.
    """
    if len(text) < 4 and (mark := _MARKED.fullmatch(text)):
        return mark[1]
    parts = [part.strip() for part in _BETWEEN.split(text.strip(" ,;|\n"))]
    if len(parts) < 2 or not all(parts):
        return text
    short = all(len(part) <= 2 for part in parts) and not _DECIMAL.fullmatch(text)
    if short or all(part in single for part in parts):
        return "; ".join(sorted(set(parts)))
    return text


def _own_options(labels: Sequence[str], counts: Sequence[int], places: list[int]) -> bool:
    """Whether spellings that differ in case are separate options, such as AA, Aa and aa.

    In such pairs of letters, each letter occurs an even number of times.
    """
    if any(n % 2 for n in Counter(same_text(labels[places[0]])).values()):
        return False
    total = sum(counts[k] for k in places)
    common = [k for k in places if counts[k] >= max(2, _OWN_SHARE * total)]
    return len(common) > 2 and len(labels[places[0]]) > 1


# -- options that are unlike all others -------------------------------------------------------


def odd_options(r: Responses) -> list[str]:
    """Return a sentence on options that may mean "no answer": 9 beside 1 to 4."""
    labels = [str(label) for label in r.option_labels.tolist()]
    if not 0 < len({*labels}) <= _FEW:
        return []
    items, chosen = Counter(labels), Counter[str]()
    best: set[str] = set()
    choosers = r.choosers_per_option.tolist()
    for first, last in pairwise(r.item_starts.tolist()):
        for k in range(first, last):
            chosen[labels[k]] += choosers[k]
        best.add(labels[max(range(first, last), key=choosers.__getitem__)])
    rare = {n for n in chosen if n not in best and chosen[n] <= _RARE * chosen.total()}
    common = {n for n in chosen if n not in rare or chosen[n] >= _OWN_SHARE * chosen.total()}
    odd = [n for n in chosen if n in rare and (run := _run(common - {n})) and not _fits(n, run)]
    run = _run(common - {*odd})
    n_items = max((items[label] for label in odd), default=0)
    if not run or n_items < max(_ITEMS, r.n_items / 2):
        return []
    return [
        f"{listed(odd, most=3)} {'is' if len(odd) == 1 else 'are'} kept as an answer in "
        f"{count(n_items, 'item')}, although the others are {run[0]} to {run[-1]}; if it means no "
        "answer, name it as a blank."
    ]


def _run(labels: set[str]) -> list[str]:
    """Return labels that are letters from A on, or numbers from 0 or 1 on, in order; else nothing.

    Examples
    --------
    >>> _run({"B", "A", "D", "AB"}), _run({"3", "1", "2"}), _run({"yes", "no"}), _run({"1", "9"})
    (['A', 'B', 'D'], ['1', '2', '3'], [], [])
    """
    single = sorted(label for label in labels if len(label) == 1)
    several = [label for label in labels if len(label) > 1 and not {*label} <= {*single, *" ,;"}]
    if len(single) < 2 or several:
        return []
    steps = [ord(b) - ord(a) for a, b in pairwise(single)]
    return single if single[0] in "AaBb01" and max(steps) <= 2 else []


def _fits(label: str, run: list[str]) -> bool:
    """Whether an option continues a run of letters or numbers, or joins some of them.

    Examples
    --------
    >>> [_fits(label, ["A", "B", "C"]) for label in ("D", "AC", "X", "none")]
    [True, True, False, False]
    """
    if len(label) > 1:
        return {*label} <= {*run, *" ,;"}
    return run[0] <= label <= chr(ord(run[-1]) + 2) or label in "AaBb1"
