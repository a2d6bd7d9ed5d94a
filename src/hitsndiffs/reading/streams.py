"""Turn a format's stream into codes: one attempt per person, sets as options, and the key."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from hitsndiffs.data.cells import normalise
from hitsndiffs.data.encode import encode_long
from hitsndiffs.data.factor import Factor, factorise, trimmed
from hitsndiffs.data.labels import Place
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import LeftOut
from hitsndiffs.reading.exports.format import Given, Stream

__all__ = ["ATTEMPTS", "RawKey", "encode_stream", "option_label", "set_label"]

ATTEMPTS = ("first", "last", "best")
_NEGATIVE = re.compile(r"-\d+(?:[.,]\d+)?")
#: Separates the options of a set.
BETWEEN = "; "


@dataclass
class RawKey:
    """Right answers as written in the file, not yet matched with the options."""

    options: dict[str, str] = field(default_factory=dict)
    source: str = ""


def set_label(answers: Iterable[str]) -> str:
    """Return one label for a set of choices, whatever their order.

    Examples
    --------
    >>> set_label(["C", "A "]), set_label(["1.0"])
    ('A; C', '1')
    """
    return BETWEEN.join(sorted({label for text in answers if (label := option_label(text))}))


def option_label(text: str) -> str:
    """Return the label of one choice; -3 and NA are answers if a format gives them as such.

    Examples
    --------
    >>> option_label(" 2.0 "), option_label("-3"), option_label("NA")
    ('2', '-3', 'NA')
    """
    option = normalise(text)
    if option is not None:
        return str(option)
    text = text.strip()
    return text if text == "NA" or _NEGATIVE.fullmatch(text) else ""


def encode_stream(
    stream: Stream, name: str, attempt: str | None, notes: list[str], left_out: list[LeftOut]
) -> tuple[Responses, RawKey]:
    """Turn a stream into codes and a key; add to the ``notes`` and the rows ``left_out``.

    ``attempt`` says which one counts: ``"first"`` (the default), ``"last"`` or ``"best"``.
    """
    if not stream.entries:
        raise InputError(f"{name}: there are no answers in it; nothing can be ranked.")
    shown = [one for one in stream.entries if one.status != "not shown"]
    kept = _one_attempt(shown, attempt or "first", left_out)
    labels = [set_label(one.answer) if one.status == "answered" else "" for one in kept]
    if not any(labels):
        raise InputError(f"{name}: nobody answered anything; there is nothing to rank.")
    unreadable = sum(one.status == "unreadable" for one in kept)
    if unreadable:
        notes.append(
            f"{count(unreadable, 'answer')} could not be read (several marks, or none of the "
            "options) and count as blank."
        )
    users, items, options = (
        _factor(column)
        for column in ([one.person for one in kept], [one.item for one in kept], labels)
    )
    encoded = encode_long(
        users,
        items,
        options,
        place=Place(name, "answer", by_position=False),
        duplicates="first",
        as_text=True,
        kind="file",
        all_answers=True,
    )
    return encoded, _key(stream, notes) or _key_of_points(stream)


def _factor(cells: list[str]) -> Factor:
    return trimmed(factorise(cells))


def _one_attempt(shown: list[Given], attempt: str, left_out: list[LeftOut]) -> list[Given]:
    """Return the entries that count, in their order: one for each person and item."""
    attempts: dict[str, set[int]] = defaultdict(set)
    for one in shown:
        attempts[one.person].add(one.attempt)
    several = sum(len(numbers) > 1 for numbers in attempts.values())
    best = _best_attempts(shown) if attempt == "best" and several else {}
    sign = -1 if attempt == "last" else 1

    def rank(k: int) -> tuple[bool, int, int]:
        one = shown[k]
        return one.attempt != best.get(one.person, one.attempt), sign * one.attempt, sign * k

    chosen: dict[tuple[str, str], int] = {}
    for k in sorted(range(len(shown)), key=rank):
        chosen.setdefault((shown[k].person, shown[k].item), k)
    dropped = len(shown) - len(chosen)
    if several:
        people = "1 person" if several == 1 else f"{several:,} people"
        reason = f"{people} tried more than once; {attempt} counts"
        left_out.append(LeftOut(dropped, "answers of other attempts", reason))
    elif dropped:
        reason = f"the {attempt} answer to an item counts"
        left_out.append(LeftOut(dropped, "repeated answers", reason))
    return [shown[k] for k in sorted(chosen.values())]


def _best_attempts(shown: list[Given]) -> dict[str, int]:
    """Return for each person the attempt with the most points (or right answers)."""
    points: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    for one in shown:
        got = one.points
        if got is None and one.key:
            got = float(set_label(one.answer) == set_label(one.key))
        points[one.person][one.attempt] += got or 0.0
    return {
        person: max(scores, key=lambda number: (scores[number], -number))
        for person, scores in points.items()
    }


def _key(stream: Stream, notes: list[str]) -> RawKey | None:
    """Return the key that the format found: the most common one for each item."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in stream.entries:
        if one.key:
            votes[one.item][set_label(one.key)] += 1
    several = [item for item, counted in votes.items() if len(counted) > 1]
    if several:
        notes.append(
            f"The file gives more than one right answer to {listed(several, most=3)}; the "
            "commonest one is kept."
        )
    options = {item: counted.most_common(1)[0][0] for item, counted in votes.items()}
    return RawKey(options, stream.key_from or "the file") if options else None


def _key_of_points(stream: Stream) -> RawKey:
    """Infer the key from points: only one option gets them, and always in full."""
    marked = [one for one in stream.entries if one.points is not None]
    most: dict[str, float] = defaultdict(float)
    for one in marked:
        most[one.item] = max(most[one.item], one.possible or 0.0, one.points or 0.0)
    full: dict[str, set[str]] = defaultdict(set)
    partial: dict[str, set[str]] = defaultdict(set)
    for one in marked:
        label = set_label(one.answer)
        if label and one.status == "answered" and most[one.item] > 0:
            in_full = (one.points or 0.0) >= most[one.item] - 1e-9
            (full if in_full else partial)[one.item].add(label)
    alone = {item: min(found) for item, found in full.items() if len(found) == 1}
    options = {k: v for k, v in alone.items() if partial[k] and v not in partial[k]}
    if len(options) * 2 >= len(full):  # points mark right answers: add items that all got right
        options |= {k: v for k, v in alone.items() if not partial[k]}
    return RawKey(options, "the points: one option has them all") if options else RawKey()
