"""A format: how it is recognised, and the answers in a file of it.

A format yields answers as they stand in a file; what follows from them is done here for all
formats: answers that name nobody, several questions about an item, texts without options, keys that
do not fit the scores. The reader does everything else: attempts, folding, keys from points, the
codes of :class:`hitsndiffs.Responses`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hitsndiffs.data.names import find_column
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import (
    Choices,
    Column,
    Document,
    LeftOut,
    Refusal,
    Role,
    Sample,
    Sign,
    Status,
)
from hitsndiffs.reading.exports.common import is_free_text
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["Format", "Given", "Stream", "chosen_only", "number_attempts"]

#: Without options, longer answers than this are free text.
_LONG = 60
#: With a larger share of answers that the key and the scores judge differently, there is no key.
_DIFFERENT = 0.05


class Given(NamedTuple):
    """One answer; one that names nobody, or no item, is left out."""

    person: str
    item: str
    #: The texts that were chosen, whose order does not matter; none if it is blank.
    answer: tuple[str, ...] = ()
    #: Which of several questions about the item.
    question: str = ""
    key: tuple[str, ...] = ()
    title: str = ""
    #: The number of the attempt; 0 if repeated answers are to be numbered.
    attempt: int = 0
    #: Whether the file says that the answer is right.
    right: bool | None = None
    points: float | None = None
    possible: float | None = None
    #: "answered" or "blank", unless the format says otherwise.
    status: Status | None = None
    #: Whether the answer may have been written, without options to choose from.
    is_text: bool = False
    #: What it is instead of an answer, and why it is left out.
    aside: tuple[str, str] | None = None


@dataclass
class Stream:
    """The answers in a file, and notes about it."""

    #: With the number of the attempt and the status; the reader trims and folds the texts.
    entries: list[Given] = field(default_factory=list)
    #: Sentences that state what was assumed.
    notes: list[str] = field(default_factory=list)
    #: Rows that do not count as a person's answers: averages, keys, previews, unfinished attempts.
    left_out: list[LeftOut] = field(default_factory=list)
    #: The role of each column of the file.
    columns: list[Column] = field(default_factory=list)
    #: The text of an item, where its name is a number or a code.
    titles: dict[str, str] = field(default_factory=dict)
    #: Where keys come from, as a phrase ("the columns «Right answer n»").
    key_from: str = ""
    #: Whether the file holds one user, who is named by the part of its path that differs.
    user_is_file: bool = False

    def note(self, sentence: str) -> None:
        """Take a note, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def set_role(self, name: str, role: Role, reason: str, place: int) -> None:
        """Record the role of a column."""
        self.columns.append(Column(name, role, reason, place))

    def leave_out(self, count: int, what: str, reason: str) -> None:
        """Record rows that are left out, together with others of that kind."""
        rows = LeftOut(count, what, reason)
        for k, own in enumerate(self.left_out):
            if own.is_like(rows):
                self.left_out[k] = LeftOut(own.count + count, what, reason)
                return
        self.left_out.append(rows)

    def extend(self, other: Stream) -> None:
        """Append another stream (another file of the same test)."""
        self.entries += other.entries
        for sentence in other.notes:
            self.note(sentence)
        for rows in other.left_out:
            self.leave_out(rows.count, rows.what, rows.reason)
        known = {(column.name, column.position) for column in self.columns}
        self.columns.extend(c for c in other.columns if (c.name, c.position) not in known)
        self.titles = {**other.titles, **self.titles}
        if not self.key_from and any(one.key for one in other.entries):
            self.key_from = other.key_from


#: Yields the answers in a document, given what the caller said; it may take notes in the stream,
#: and raise :class:`Refusal` (what the file is, and what to export instead).
Reader = Callable[[Document, Choices, Stream], Iterable[Given]]


@dataclass(frozen=True)
class Format:
    """One export format.

    Parameters
    ----------
    name
        For ``--format``: ``"canvas"``, ``"lm-eval"``.
    title
        For people: ``"Canvas, Student Analysis (classic quizzes)"``.
    about
        One line: where it comes from, and in which files.
    signs
        How it is recognised: a file has the format if it shows one of these.
    read
        Yields the answers in a document.
    tried
        On which real files it was tried, as a phrase; blank where it was written from the
        documentation or the source code of the tool.
    empty, nobody, texts
        What the file is and what to do, if there are no answers, if they name nobody, and if they
        are free texts.
    key_from
        See :class:`Stream`.
    none
        What it means if there is no answer.
    """

    name: str
    title: str
    about: str
    signs: tuple[Sign, ...]
    read: Reader
    tried: str = ""
    empty: tuple[str, str] = (
        "not this format: there is no column of answers where it has them",
        "omit the format so that it is detected",
    )
    nobody: tuple[str, str] | None = None
    texts: tuple[str, str] | None = None
    key_from: str = ""
    none: Status = "blank"

    def recognise(self, sample: Sample) -> str | None:
        """Return why a sample has this format, as a phrase; None if it has not."""
        return next((sign.because for sign in self.signs if sign.fits(sample)), None)

    def convert(self, document: Document, choices: Choices) -> Stream:
        """Return the answers in a document."""
        stream = Stream(key_from=self.key_from)
        nameless = 0
        given: list[Given] = []
        for one in self.read(document, choices, stream):
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
        wanted = dict.fromkeys(one.question for one in given)
        if [*wanted] != [""]:
            wanted = chosen_only(wanted, option)
        trusted = self._is_trusted(stream, given)
        given = [one for one in given if one.question in wanted]
        items = [one.item if len(wanted) == 1 else f"{one.item}/{one.question}" for one in given]
        attempts = [one.attempt for one in given]
        if not any(attempts):
            pairs = zip((one.person for one in given), items, strict=True)
            attempts = number_attempts(pairs)
        for one, item, attempt in zip(given, items, attempts, strict=True):
            if one.title:
                stream.titles.setdefault(item, one.title)
            stream.entries.append(
                Given(
                    one.person,
                    item,
                    one.answer,
                    key=one.key if trusted else (),
                    attempt=attempt or 1,
                    points=one.points,
                    possible=one.possible,
                    status=one.status or ("answered" if one.answer else self.none),
                )
            )

    def _is_trusted(self, stream: Stream, given: Sequence[Given]) -> bool:
        """Whether the key in the file fits its scores; a note says so if it does not."""
        told = [one for one in given if one.right is not None and one.key and one.answer]
        differ = sum(({*one.answer} == {*one.key}) != one.right for one in told)
        if differ <= _DIFFERENT * len(told):
            return True
        stream.notes.append(
            f"The right answers ({self.key_from}) do not fit the scores in the file "
            f"({differ} of {len(told)} differ): they are not used as a key."
        )
        return False


def number_attempts(keys: Iterable[Any]) -> list[int]:
    """Return for each row how often its key has occurred so far."""
    seen: Counter[Any] = Counter()
    numbers = []
    for key in keys:
        seen[key] += 1
        numbers.append(seen[key])
    return numbers


def _free_texts(given: Sequence[Given]) -> set[str]:
    """Return the questions that were answered in words of one's own.

    One user alone repeats hardly anything, so only long answers are texts there.
    """
    by_question: dict[str, list[Given]] = {}
    for one in given:
        by_question.setdefault(one.question, []).append(one)
    found = set()
    for question, own in by_question.items():
        texts = [" ".join(one.answer) for one in own if one.is_text]
        alone = len({one.person for one in own}) == 1
        long = not alone or 2 * sum(len(text) > _LONG for text in texts) > len(texts)
        remarks = len(texts) == len(own) and role_of_name(question) == "comment"
        if remarks or (2 * len(texts) > len(own) and long and is_free_text(texts)):
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
