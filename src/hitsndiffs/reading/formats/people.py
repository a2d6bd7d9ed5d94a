"""Find out whose answers a row holds, and which columns the caller named."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from hitsndiffs.data.encoding.names import find_column
from hitsndiffs.reading.extra_rows import row_names
from hitsndiffs.reading.formats.base import LeftOut, Stream, Table
from hitsndiffs.reading.formats.common import unique
from hitsndiffs.reading.vocabulary import FIRST_NAMES, LAST_NAMES, is_key_name, plain, role_of_name

__all__ = [
    "ASKS_WHO",
    "Entry",
    "add_entries",
    "chosen_only",
    "given_items",
    "is_about_person",
    "number_attempts",
    "number_repeats",
    "persons",
    "use_key_row",
]

#: Questions that ask who the respondent is.
ASKS_WHO = re.compile(
    r"\b(?:e-?mail|username|user name|full name|your name|student name|name of (?:the )?student|"
    r"first name|last name|surname|student (?:id|number|no)|roll (?:no|number)|matric\w*|"
    r"nom|prénom|nombre|apellidos?|nome|cognome|vorname|nachname|matrikel\w*|namen?|naam)\b|"
    r"氏名|名前|姓名|学号|имя|фамилия|nome de usuário",
    re.IGNORECASE,
)


class Entry(NamedTuple):
    """One answer to one of the questions about an item."""

    person: str
    item: str
    question: str
    answer: tuple[str, ...]


def _given_columns(header: Sequence[str], named: str | None, argument: str) -> list[int]:
    """Return the indices of the columns that the caller named (``"a+b"`` for two)."""
    if named is None:
        return []
    names = [named] if named in header or "+" not in named else named.split("+")
    known = list(header)
    return [
        known.index(find_column(name.strip(), known, where="the file", argument=argument))
        for name in names
    ]


def given_items(table: Table, named: str | None) -> list[str]:
    """Return the item of each row from the columns that the caller named; empty without any."""
    places = _given_columns(table.header, named, "item")
    return [" ".join(row[k].strip() for k in places) for row in table.rows] if places else []


def persons(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    places: Sequence[int],
    user: str | None = None,
) -> list[str]:
    """Return the person of each row, from all columns that identify people.

    Two rows belong to the same person if all these columns agree. The label is the name if names
    are unique, else the first column that is unique, else all columns joined. A row where they are
    all blank counts as a separate person. The caller may name the columns (``user``). Without any
    column, each row is a person, named by its number.

    Examples
    --------
    >>> header = ["Last name", "First name", "ID"]
    >>> rows = [["Bird", "Ada", "7"], ["Cole", "Bob", "8"], ["Bird", "Ada", "7"]]
    >>> persons(header, rows, [0, 1, 2])
    ['Ada Bird', 'Bob Cole', 'Ada Bird']
    >>> persons(header, [["Bird", "Ada", "7"], ["Bird", "Ada", "8"]], [0, 1, 2])
    ['7', '8']
    """
    asked = _given_columns(header, user, "user")
    places = asked or places
    if not places:
        return [str(k) for k in range(1, len(rows) + 1)]
    names = [plain(header[place]) for place in places]
    raw = [tuple([row[place] for place in places]) for row in rows]
    stripped = {who: tuple(map(str.strip, who)) for who in set(raw)}
    identities = [stripped[who] for who in raw]
    if not all(any(who) for who in identities):
        identities = [
            who if any(who) else (f"unnamed row {k}", *who[1:])
            for k, who in enumerate(identities, start=1)
        ]
    found = list(dict.fromkeys(identities))
    given = [k for k, name in enumerate(names) if name in FIRST_NAMES]
    family = [k for k, name in enumerate(names) if name in LAST_NAMES and k not in given[:1]]
    parts = [*given[:1], *family[:1]] if given and family else []
    every = list(range(len(places)))
    single = [[k] for k in every if k not in parts]
    for label in [every] if asked else [parts, *single, every]:
        labels = [" ".join(filter(None, (who[k] for k in label))) for who in found]
        if all(labels) and len(set(labels)) == len(labels):
            break
    else:
        labels = unique(text or "unnamed" for text in labels)
    names_of = dict(zip(found, labels, strict=True))
    return [names_of[who] for who in identities]


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
    number_repeats(stream)


def number_attempts(keys: Iterable[Any]) -> list[int]:
    """Return for each row how often its key has occurred so far.

    Examples
    --------
    >>> number_attempts(["ann", "bob", "ann"])
    [1, 1, 2]
    """
    seen: Counter[Any] = Counter()
    numbers = []
    for key in keys:
        seen[key] += 1
        numbers.append(seen[key])
    return numbers


def number_repeats(stream: Stream) -> None:
    """Number repeated answers of a person to the same item as attempts, in order."""
    stream.attempts = number_attempts(zip(stream.persons, stream.items, strict=True))


def use_key_row(
    stream: Stream,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    places: Sequence[int],
    who: Sequence[str],
) -> None:
    """Take the answers of a row named like a key as the key: teachers fill in the form as «KEY».

    Parameters
    ----------
    stream
        All answers; those of the row are taken out.
    header, rows, places
        The table, and its columns that say who answered.
    who
        The person of each row.
    """
    labels = row_names({header[k]: [row[k] for row in rows] for k in places}).values()
    named = {who[k]: text for texts in labels for k, text in enumerate(texts) if is_key_name(text)}
    if len(named) != 1 or len(set(who)) < 3:
        return
    own = [k for k, person in enumerate(stream.persons) if person in named]
    right = {stream.items[k]: stream.answers[k] for k in own if stream.answers[k]}
    others = [k for k, person in enumerate(stream.persons) if person not in named]
    shared = {(stream.items[k], stream.answers[k]) for k in others}
    if sum(pair in shared for pair in right.items()) * 2 <= len(right):
        return  # nobody chose the same: it is not a key to these answers
    for name in ("persons", "attempts", "items", "answers", "points", "possible", "statuses"):
        setattr(stream, name, [getattr(stream, name)[k] for k in others])
    stream.keys = [right.get(item) for item in stream.items]
    stream.key_from = f"row {next(iter(named.values()))!r}"
    stream.left_out.append(LeftOut(1, stream.key_from, "it holds the key"))


def is_about_person(name: str) -> bool:
    """Whether a column holds a class, group, gender or similar, rather than an answer."""
    return role_of_name(name) == "identity"
