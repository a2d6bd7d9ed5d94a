"""Find options that are unlike all others and may mean «no answer»: 9 beside 1 to 4."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import pairwise

from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed

__all__ = ["odd_option_note"]

#: Tables with more options are not looked at, and other options are few.
_MOST_OPTIONS, _FEW = 100_000, 12
#: The options occur in at least so many items and this share of them, but few choose them.
_ITEMS, _SHARE, _RARE = 3, 0.5, 0.2
#: Options that are chosen at least this often are answers.
_COMMON = 0.05


def odd_option_note(encoded: Responses) -> list[str]:
    """Return a sentence on options of most items that do not fit in with the others."""
    if not 0 < len(encoded.option_labels) <= _MOST_OPTIONS:
        return []
    labels = [str(label) for label in encoded.option_labels.tolist()]
    counts = encoded.choosers_per_option.tolist()
    chosen: Counter[str] = Counter()
    items: dict[str, int] = defaultdict(int)
    most: set[str] = set()
    for first, last in pairwise(encoded.item_starts.tolist()):
        for k in range(first, last):
            chosen[labels[k]] += counts[k]
            items[labels[k]] += 1
        if last > first:
            most.add(labels[max(range(first, last), key=counts.__getitem__)])
    if len(chosen) > _FEW:
        return []
    common = {label for label, n in chosen.items() if n >= _COMMON * chosen.total()} | most
    rare = [
        label for label in chosen if label not in most and chosen[label] <= _RARE * chosen.total()
    ]
    odd = [label for label in rare if (run := _run([*common - {label}])) and not _fits(label, run)]
    run = _run([*common - {*odd}])
    n_items = max((items[label] for label in odd), default=0)
    if not run or n_items < max(_ITEMS, _SHARE * len(encoded.items)):
        return []
    return [
        f"{listed(odd, most=3)} {'is' if len(odd) == 1 else 'are'} kept as an answer in "
        f"{count(n_items, 'item')}, although the others are {run[0]} to {run[-1]}; if it means no "
        "answer, name it as a blank."
    ]


def _run(labels: list[str]) -> list[str]:
    """Return labels that are letters from A on, or numbers from 0 or 1 on, in order; else nothing.

    Examples
    --------
    >>> _run(["B", "A", "D", "AB"]), _run(["3", "1", "2"]), _run(["yes", "no"]), _run(["1", "9"])
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
    >>> [_fits(label, ["1", "2", "3"]) for label in ("4", "0", "9")]
    [True, False, False]
    """
    if len(label) > 1:
        return {*label} <= {*run, *" ,;"}
    return run[0] <= label <= chr(ord(run[-1]) + 2) or label in "AaBb1"
