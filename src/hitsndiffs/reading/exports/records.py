"""Records with an answer each, or with answers inside: JSON, logs, tables with a row per answer.

A format says by :class:`Paths` where the parts of an answer stand; the rest is the same for all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hitsndiffs.reading.exports.base import Choices, Document, Role
from hitsndiffs.reading.exports.common import (
    as_text,
    at,
    chosen,
    folded,
    letter_place,
    literal,
    objects,
    short_hash,
    title_of,
)
from hitsndiffs.reading.exports.format import Given, Stream
from hitsndiffs.reading.exports.sheet import sheet_of

__all__ = ["Levels", "Options", "Paths", "rows_of"]


@dataclass(frozen=True)
class Levels:
    """The objects around an answer: a name is looked up in the innermost first.

    Examples
    --------
    >>> levels = Levels(({"id": 7, "by": {"name": "Ann"}}, {"id": 1, "text": "x"}))
    >>> levels["by.name"], levels["text|id"], levels["/id"], levels["no"] is None
    ('Ann', 7, 1, True)
    """

    objects: tuple[dict[str, Any], ...]

    def __getitem__(self, path: str) -> Any:
        """Return what stands at a path, or at the first of several (``a.b|c``) that has a value.

        A path that begins with a slash is looked up in the outermost object only.
        """
        for level in self.objects:
            for one in path.split("|"):
                if one.startswith("/") and level is not self.objects[-1]:
                    continue
                if (found := at(level, one.removeprefix("/"))) is not None:
                    return found
        return None

    @property
    def innermost(self) -> Levels:
        """The innermost object alone."""
        return Levels(self.objects[:1])

    def text(self, path: str) -> str:
        """Return what stands at a path as text."""
        return as_text(self[path]).strip() if path else ""

    def within(self, step: str) -> Iterator[Levels]:
        """Yield the objects at a path, each within this one; JSON in a text is read.

        With ``{}`` at the end of the path, they are the values of an object, each with its name as
        ``{}`` and itself as ``=``. With ``?``, there may be none, and then it is this one. With
        ``+``, it is this one, those in it, those in these, and so on.

        Examples
        --------
        >>> levels = Levels(({"answers": {"q1": "A", "q2": {"label": "B"}}},))
        >>> [(own["{}"], own["label|="]) for own in levels.within("answers{}")]
        [('q1', 'A'), ('q2', 'B')]
        """
        value = literal(self.innermost[step.rstrip("?+{}")])
        inside = objects(value)
        if "{}" in step:
            named = value.items() if isinstance(value, dict) else ()
            inside = [{"{}": n, "=": v, **(v if isinstance(v, dict) else {})} for n, v in named]
        deeper = step.endswith("+")
        if deeper or (not inside and step.endswith("?")):
            yield self
        for own in inside:
            found = Levels((own, *self.objects))
            yield from found.within(step) if deeper else (found,)


#: A path, or a function that tells what stands there.
Place = str | Callable[[Document, Levels], Any]


@dataclass(frozen=True)
class Paths:
    """Where the parts of each answer stand in the records of a document; see :class:`Levels`.

    The columns of a table are named in lower case.

    Parameters
    ----------
    each
        The way from a record to the object of an answer, a step at a time.
    user, item, question, answer, key, title, attempt
        What :class:`Given` has. Where no path leads to an item, it is a hash of its ``title``.
    right
        Whether the answer is right, or 0 or 1.
    asked
        Whether a record without an answer was asked; otherwise it is passed over.
    words
        What an answer that is one text is: chosen, written, or perhaps written, which the answers
        to the question tell.
    joined
        Whether the answers of a user to an item that follow one another are one set.
    aside
        What is left out: a path, its values (none: any), what it is, and why.
    rows
        The records of a document; all of them, unless a format says so.
    """

    user: Place
    item: Place
    answer: Place
    each: tuple[str, ...] = ()
    question: str = ""
    key: Place = ""
    title: str = ""
    attempt: Place = ""
    right: str = ""
    asked: bool = False
    words: Literal["chosen", "perhaps", "written"] = "chosen"
    joined: bool = False
    aside: tuple[tuple[str, Collection[Any], str, str], ...] = ()
    rows: Callable[[Document], Iterable[Any]] | None = None

    def __call__(self, document: Document, choices: Choices, stream: Stream) -> Iterator[Given]:
        """Yield the answers in a document."""
        user, place = choices.user or self.user, choices.item or self.item
        rows = rows_of(document) if self.rows is None else objects(list(self.rows(document)))
        self._name_columns(document, stream)
        last: Given | None = None
        for levels in self.levels(rows):
            aside = next((rest for path, of, *rest in self.aside if _is(levels[path], of)), None)
            if aside is not None:
                yield Given("", "", aside=(aside[0], aside[1]))
                continue
            value = _at(self.answer, document, levels.innermost)
            answer = None if isinstance(value, str) and self.words == "written" else chosen(value)
            if not answer and not (self.asked and answer is not None):
                continue
            title, right = levels[self.title], levels[self.right] if self.right else None
            tried = _at(self.attempt, document, levels)
            item = as_text(_at(place, document, levels)).strip()
            one = Given(
                as_text(_at(user, document, levels)).strip(),
                item or (short_hash(as_text(title)) if title else ""),
                answer,
                levels.text(self.question),
                key=chosen(_at(self.key, document, levels)) or (),
                title=title_of(title),
                attempt=tried if isinstance(tried, int) and tried > 0 else 0,
                right=bool(right) if right in (0, 1) else None,
                is_text=self.words == "perhaps" and isinstance(value, str),
            )
            if self.joined and last is not None and _are_one(last, one):
                last = last._replace(answer=(*last.answer, *one.answer), key=(*last.key, *one.key))
                continue
            if last is not None:
                yield last
            last = one
        if last is not None:
            yield last

    def levels(self, rows: Iterable[dict[str, Any]]) -> Iterator[Levels]:
        """Yield the objects of all answers in some records."""
        found: Iterable[Levels] = (Levels((row,)) for row in rows)
        for step in self.each:
            found = [own for levels in found for own in levels.within(step)]
        yield from found

    def _name_columns(self, document: Document, stream: Stream) -> None:
        """Record the role of the columns of a table."""
        roles: tuple[tuple[Place, Role, str], ...] = (
            (self.user, "user", "who answered"),
            (self.item, "item", "what was asked"),
            (self.each[0] if self.each else self.answer, "answers", "the answers"),
            (self.key, "key", "the right answer"),
        )
        for place, name in enumerate(document.sample.header if document.sample.is_table else ()):
            for path, role, reason in roles:
                if isinstance(path, str) and folded(name) in path.rstrip("?+{}").split("|"):
                    stream.set_role(name, role, reason, place)
                    break


def _at(place: Place, document: Document, levels: Levels) -> Any:
    if isinstance(place, str):
        return levels[place] if place else None
    return place(document, levels)


def _is(value: Any, wanted: Collection[Any]) -> bool:
    return value in wanted if wanted else bool(value)


def _are_one(one: Given, other: Given) -> bool:
    return (one.person, one.item, one.question, one.attempt) == (
        other.person,
        other.item,
        other.question,
        other.attempt,
    )


def rows_of(document: Document) -> list[dict[str, Any]]:
    """Return the records of JSON, or the rows of a table as records."""
    if document.kind in ("json", "jsonl"):
        return objects(document.records())
    table = sheet_of(document, Choices(), Stream())
    names = [folded(name) for name in table.header]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


class Options:
    """The options of an item as labels, and which of them an answer means.

    If any texts repeat or are empty, each gets its letter in front.

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
        given: Sequence[Any] = texts if isinstance(texts, list) else []
        self.labels = [" ".join(as_text(text).split()) for text in given]
        if len({*self.labels} - {""}) < len(self.labels):
            self.labels = [
                ". ".join(filter(None, (_letter(k), text))) for k, text in enumerate(self.labels)
            ]

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


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else str(place + 1)
