"""Turn a converter's stream into codes: one attempt per person, sets as options, and the key."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from hitsndiffs.data.cells import normalise
from hitsndiffs.data.encode import encode_long
from hitsndiffs.data.factor import Factor
from hitsndiffs.data.labels import Place
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import listed
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import LeftOut
from hitsndiffs.reading.exports.format import Stream

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
    entries = stream.entries
    if not entries:
        raise InputError(f"{name}: there are no answers in it; nothing can be ranked.")
    kept = _one_attempt(stream, attempt or "first", left_out)
    labels = [set_label(one.answer) for one in entries]
    pairs = zip(labels, entries, strict=True)
    answered = [bool(label) and one.status == "answered" for label, one in pairs]
    shown = [k for k in kept if entries[k].status != "not shown"]
    if not any(answered[k] for k in shown):
        raise InputError(f"{name}: nobody answered anything; there is nothing to rank.")
    unreadable = sum(entries[k].status == "unreadable" for k in shown)
    if unreadable:
        notes.append(
            f"{unreadable:,} answer{'s' * (unreadable != 1)} could not be read (several marks, or "
            "none of the options) and count as blank."
        )
    encoded = encode_long(
        _factor([entries[k].person for k in shown]),
        _factor([entries[k].item for k in shown]),
        _factor([labels[k] if answered[k] else None for k in shown]),
        place=Place(name, "answer", by_position=False),
        columns=("user", "item", "option"),
        duplicates="first",
        as_text=True,
        kind="file",
        notes=[],
        all_answers=True,
    )
    key = _stream_key(stream, notes)
    if not key.options:
        key = _key_of_points(stream, labels, answered)
    return encoded, key


def _factor(values: Sequence[str | None]) -> Factor:
    index: dict[str, int] = {}
    numbers = np.empty(len(values), dtype=np.int32)
    for k, value in enumerate(values):
        text = "" if value is None else value.strip()
        numbers[k] = index.setdefault(text, len(index)) if text else -1
    return Factor(list(index), numbers)


def _one_attempt(stream: Stream, attempt: str, left_out: list[LeftOut]) -> list[int]:
    """Return the entries that count: one for each person and item."""
    chosen: dict[tuple[str, str], int] = {}
    attempts: dict[str, set[int]] = defaultdict(set)
    for one in stream.entries:
        attempts[one.person].add(one.attempt)
    several = sum(len(numbers) > 1 for numbers in attempts.values())
    best = _best_attempts(stream) if attempt == "best" and several else {}
    for k, one in enumerate(stream.entries):
        if one.status == "not shown":
            continue
        other = chosen.get((one.person, one.item))
        if other is None:
            chosen[one.person, one.item] = k
            continue
        now, before = one.attempt, stream.entries[other].attempt
        if one.person in best:
            wins = now == best[one.person] and before != now
        else:
            wins = now > before if attempt == "last" else now < before
        if wins or (attempt == "last" and now == before):
            chosen[one.person, one.item] = k
    dropped = sum(one.status != "not shown" for one in stream.entries) - len(chosen)
    if several:
        people = "1 person" if several == 1 else f"{several:,} people"
        left_out.append(
            LeftOut(
                dropped,
                "answers of other attempts",
                f"{people} tried more than once; {attempt} counts",
            )
        )
    elif dropped:
        left_out.append(
            LeftOut(dropped, "repeated answers", f"the {attempt} answer to an item counts")
        )
    return sorted(chosen.values())


def _best_attempts(stream: Stream) -> dict[str, int]:
    """Return for each person the attempt with the most points (or right answers)."""
    points: dict[str, Counter[int]] = defaultdict(Counter)
    for one in stream.entries:
        got = one.points
        if got is None and one.key:
            got = float(set_label(one.answer) == set_label(one.key))
        points[one.person][one.attempt] += got or 0.0  # type: ignore[assignment]
    return {
        person: max(scores, key=lambda number: (scores[number], -number))
        for person, scores in points.items()
    }


def _stream_key(stream: Stream, notes: list[str]) -> RawKey:
    """Return the key that the converters found: the most common one for each item."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in stream.entries:
        if one.key:
            votes[one.item][set_label(one.key)] += 1
    if not votes:
        return RawKey()
    several = [item for item, counted in votes.items() if len(counted) > 1]
    if several:
        notes.append(
            f"The file gives more than one right answer to {listed(several, most=3)}; the "
            "commonest one is kept."
        )
    options = {item: counted.most_common(1)[0][0] for item, counted in votes.items()}
    return RawKey(options, stream.key_from or "the file")


def _key_of_points(stream: Stream, labels: list[str], answered: list[bool]) -> RawKey:
    """Infer the key from points: only one option gets them, and always in full."""
    full: dict[str, set[str]] = defaultdict(set)
    partial: dict[str, set[str]] = defaultdict(set)
    most: dict[str, float] = {}
    for one in stream.entries:
        if one.points is not None:
            most[one.item] = max(most.get(one.item, 0.0), one.possible or 0.0, one.points)
    for k, one in enumerate(stream.entries):
        if one.points is None or not answered[k] or most.get(one.item, 0.0) <= 0:
            continue
        (full if one.points >= most[one.item] - 1e-9 else partial)[one.item].add(labels[k])
    options = {
        item: next(iter(found))
        for item, found in full.items()
        if len(found) == 1 and not found & partial[item] and partial[item]
    }
    if len(options) * 2 >= len(full):  # points mark right answers: add items that all got right
        alone = {k: v for k, v in full.items() if len(v) == 1 and not partial[k]}
        options |= {item: next(iter(found)) for item, found in alone.items()}
    return RawKey(options, "the points: one option has them all") if options else RawKey()
