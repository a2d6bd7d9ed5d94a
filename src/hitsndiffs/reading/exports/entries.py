"""Crowd tools: workers answer one or several questions about each item."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from hitsndiffs.data.encoding.names import find_column
from hitsndiffs.reading.exports.base import Stream

__all__ = ["Entry", "add_entries", "chosen_only"]


class Entry(NamedTuple):
    """One answer to one of the questions about an item."""

    person: str
    item: str
    question: str
    answer: tuple[str, ...]


def chosen_only(questions: dict[str, Any], option: str | None) -> dict[str, Any]:
    """Return the question (tag, output, task) that the caller named, or all of them."""
    if option is None:
        return questions
    names = list(questions)
    bare = re.sub(r"^(?:Answer|OUTPUT)[.:]", "", option)
    if bare not in names:
        bare = find_column(option, names, where="the file", argument="option")
    return {bare: questions[bare]}


def add_entries(stream: Stream, entries: Sequence[Entry], option: str | None) -> None:
    """Add answers to the questions about each item; repeated ones are attempts.

    If there are several questions (and the caller named none), each item and question is an item.
    """
    wanted = chosen_only(dict.fromkeys(entry.question for entry in entries), option)
    for person, item, question, answer in entries:
        if question in wanted:
            stream.add(person, item if len(wanted) == 1 else f"{item}/{question}", answer)
    stream.number_repeats()
