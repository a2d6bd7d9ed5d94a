"""Records with an answer each, or with answers inside: JSON, logs, cells that hold JSON.

A format is a generator that yields the answers; the rest is the same for all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hitsndiffs.data.encoding.names import find_column
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Choices, Document, Refusal, Status, Stream
from hitsndiffs.reading.exports.common import (
    as_text,
    is_free_text,
    labelled,
    letter_place,
    objects,
)

__all__ = ["Given", "Options", "Records", "chosen", "chosen_only", "rows_of", "within"]

#: Without options, longer answers than this are free text.
_LONG = 60
#: With a larger share of answers that the key and the scores judge differently, there is no key.
_DIFFERENT = 0.05


class Given(NamedTuple):
    """One answer; one that names nobody, or no item, is left out."""

    person: str
    item: str
    answer: str | tuple[str, ...] | None
    #: Which of several questions about the item.
    question: str = ""
    key: str | tuple[str, ...] | None = None
    title: str = ""
    #: The number of the attempt; 0 if repeated answers are to be numbered.
    attempt: int = 0
    #: Whether the file says that the answer is right.
    right: bool | None = None
    points: float | None = None
    possible: float | None = None
    #: Whether the answer may have been written, without options to choose from.
    is_text: bool = False
    #: What it is instead of an answer, and why it is left out.
    aside: tuple[str, str] | None = None


@dataclass(frozen=True)
class Records:
    """How to read a format, and what to say where there is nothing to rank.

    Parameters
    ----------
    answers
        Yields the answers of a document; may take notes in the stream.
    empty, nobody, texts
        What the file is and what to do, if there are no answers, if they name nobody, and if they
        are free texts.
    key_from
        Where keys come from; see :class:`Stream`.
    none
        What it means if there is no answer.
    """

    answers: Callable[[Document, Choices, Stream], Iterable[Given]]
    empty: tuple[str, str]
    nobody: tuple[str, str] | None = None
    texts: tuple[str, str] | None = None
    key_from: str = ""
    none: Status = "blank"

    def __call__(self, document: Document, choices: Choices) -> Stream:
        """Read a document."""
        stream = Stream(key_from=self.key_from)
        nameless = 0
        given: list[Given] = []
        for one in self.answers(document, choices, stream):
            if one.aside:
                stream.leave_out(1, *one.aside)
            elif not one.person:
                nameless += 1
            elif one.item:
                given.append(one)
        if not given:
            raise Refusal(*(self.nobody if self.nobody and nameless else self.empty))
        if nameless:
            stream.leave_out(nameless, "answers", "they name nobody")
        texts = _free_texts(given)
        if {one.question for one in given} <= texts:
            raise Refusal(*(self.texts or self.empty))
        if texts:
            stream.notes.append(f"Left out {listed(sorted(texts), most=3)}: free text.")
            given = [one for one in given if one.question not in texts]
        self._add(stream, given, choices.option)
        return stream

    def _add(self, stream: Stream, given: Sequence[Given], option: str | None) -> None:
        """Add the answers; with several questions, each item and question is an item."""
        wanted = chosen_only(dict.fromkeys(one.question for one in given), option)
        told = [one for one in given if one.right is not None and one.key and one.answer]
        differ = sum((_set(one.answer) == _set(one.key)) != one.right for one in told)
        trusted = differ <= _DIFFERENT * len(told)
        if not trusted:
            stream.notes.append(
                f"The right answers ({self.key_from}) do not fit the scores in the file "
                f"({differ} of {len(told)} differ): they are not used as a key."
            )
        for one in given:
            if one.question in wanted:
                item = one.item if len(wanted) == 1 else f"{one.item}/{one.question}"
                if one.title:
                    stream.titles.setdefault(item, one.title)
                key = one.key if trusted else None
                status = None if one.answer else self.none
                stream.add(
                    one.person,
                    item,
                    one.answer,
                    attempt=one.attempt or 1,
                    points=one.points,
                    possible=one.possible,
                    key=key,
                    status=status,
                )
        if not any(one.attempt for one in given):
            stream.number_repeats()


def _free_texts(given: Sequence[Given]) -> set[str]:
    """Return the questions that were answered in words of one's own.

    One user alone repeats hardly anything, so only long answers are texts there.
    """
    by_question: dict[str, list[Given]] = {}
    for one in given:
        by_question.setdefault(one.question, []).append(one)
    found = set()
    for question, own in by_question.items():
        texts = [" ".join(_set(one.answer)) for one in own if one.is_text]
        alone = len({one.person for one in own}) == 1
        long = not alone or 2 * sum(len(text) > _LONG for text in texts) > len(texts)
        if 2 * len(texts) > len(own) and long and is_free_text(texts):
            found.add(question)
    return found


def chosen_only(questions: dict[str, Any], option: str | None) -> dict[str, Any]:
    """Return the question (tag, output, task) that the caller named, or all of them."""
    if option is None:
        return questions
    names = list(questions)
    bare = re.sub(r"^(?:Answer|OUTPUT)[.:]", "", option)
    if bare not in names:
        bare = find_column(option, names, where="the file", argument="option")
    return {bare: questions[bare]}


def _set(answer: str | tuple[str, ...] | None) -> set[str]:
    return {answer} if isinstance(answer, str) else set(answer or ())


#: Where an object holds what was chosen; one that also has a place marks a region.
_CHOICES = ("choices", "labels", "label", "rating", "selected", "choice", "name", "title", "value")
_PLACES = {"start", "x", "points"}


def chosen(value: Any) -> tuple[str, ...] | None:
    """Return what a value of JSON says was chosen; None if it is no choice.

    Examples
    --------
    >>> chosen({"cat": True, "dog": False}), chosen({"label": "cat"}), chosen([{"name": 1}, "b"])
    (('cat',), ('cat',), ('1', 'b'))
    >>> chosen({"x": 1, "y": 2, "labels": ["cat"]}), chosen({"content": "long"}), chosen(None)
    (None, None, ())
    """
    if isinstance(value, dict):
        if value and all(isinstance(own, bool) for own in value.values()):
            return tuple(option for option, on in value.items() if on)
        name = next((name for name in _CHOICES if value.get(name) is not None), None)
        return None if name is None or _PLACES & value.keys() else chosen(value[name])
    if not isinstance(value, list):
        return (text,) if (text := as_text(value)).strip() else ()
    parts = [chosen(part) for part in value]
    several = [text for part in parts for text in part or ()]
    return None if None in parts else tuple(dict.fromkeys(several))


def within(values: Any, *names: str) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return the objects under any of the names in each object, beside the object itself."""
    outer = objects(values)
    return [(one, own) for one in outer for name in names for own in objects(one.get(name))]


def rows_of(document: Document) -> list[dict[str, Any]]:
    """Return the records of JSON, or the rows of a table as records."""
    if document.kind in ("json", "jsonl"):
        return objects(document.records())
    table = document.table()
    names = [name.strip() for name in table.header]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


class Options:
    """The options of an item as labels, and which of them an answer means.

    Examples
    --------
    >>> colours = Options(["red", "blue", "blue"])
    >>> colours.labels
    ['A. red', 'B. blue', 'C. blue']
    >>> colours.meant("(b)"), colours.meant("red"), colours.meant("green")
    ('B. blue', 'A. red', None)
    >>> colours.at(1.0), colours.likeliest([-1.5, -3, -0.5]), Options(None).meant("42")
    ('B. blue', 'C. blue', '42')
    """

    def __init__(self, texts: Any) -> None:
        self.labels = labelled([as_text(t) for t in texts]) if isinstance(texts, list) else []

    def at(self, place: Any) -> str | None:
        """Return the option at an index; None if there is none."""
        whole = isinstance(place, (int, float)) and not isinstance(place, bool)
        return self.labels[int(place)] if whole and 0 <= place < len(self.labels) else None

    def lettered(self, text: str) -> str | None:
        """Return the option with a letter."""
        return self.at(letter_place(text))

    def meant(self, text: str) -> str | None:
        """Return the option that a text is, or whose letter it is; without options, the text."""
        text = " ".join(text.split())
        if not text or not self.labels or text in self.labels:
            return text or None
        behind = (label for label in self.labels if label.partition(". ")[2] == text)
        return self.lettered(text) or next(behind, None)

    def likeliest(self, values: Any) -> str | None:
        """Return the first option with the largest of as many numbers as there are options."""
        if not isinstance(values, list) or len(values) != len(self.labels):
            return None
        if any(isinstance(v, bool) or not isinstance(v, (int, float)) for v in values):
            return None
        numbers = [-math.inf if math.isnan(value) else value for value in values]
        most = max(numbers, default=-math.inf)
        return self.labels[numbers.index(most)] if most > -math.inf else None
