"""The shapes of nested JSON: where the users, the items and the answers stand."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.reading.exports.base import Sample
from hitsndiffs.reading.exports.common import objects
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = [
    "NUMBERED",
    "RIGHT",
    "VOTES",
    "answer_of",
    "are_counts",
    "are_even",
    "chosen",
    "find_shape",
    "flat_columns",
    "is_answer",
    "is_key",
    "item_of",
    "key_beside",
    "key_of",
    "member_around",
    "member_inside",
    "of_one_user",
    "rater_of",
    "rows_of_pandas",
    "user_of",
    "with_plain_user",
]

#: Members of an object around the records.
_AROUND = (
    "results", "records", "responses", "answers", "students", "users", "participants", "models",
    "predictions", "data", "submissions", "questions", "items", "workers", "annotators", "rows",
    "respondents",
)  # fmt: skip
#: Members that hold all answers of a user, or all answers to an item.
_INSIDE = (
    "responses", "answers", "response", "predictions", "model_answers", "model_responses",
    "model_predictions", "annotations", "labels", "outputs", "votes", "ratings", "judgments",
    "judgements", "results", "samples", "counts", "label",
)  # fmt: skip
NUMBERED = re.compile(r"(?:q|question|item|task|problem|doc|id|frage|aufgabe|no|nr)?[\W_]*\d+\w?")
RIGHT = ("answer", "correct", "correctanswer", "label", "expected", "ideal")
VOTES = ("votes", "counts")


def is_answer(value: Any) -> bool:
    """Whether a value may be an answer: a text, a number, true or false, or nothing."""
    return value is None or isinstance(value, (str, int, float, bool))


def are_counts(value: Any) -> bool:
    """Whether whole numbers stand under each name."""
    own = value.values() if isinstance(value, dict) else [None]
    return all(isinstance(one, int) and not isinstance(one, bool) for one in own)


def is_key(name: str) -> bool:
    """Whether a member of that name holds the right answer."""
    return role_of_name(name) == "key" or plain(name) in RIGHT


def find_shape(sample: Sample) -> str | None:
    """Return where the answers stand in a JSON file, in words; None if it is a plain table."""
    if not sample.is_json:
        return None
    records = list(sample.records)
    if sample.kind == "json" and len(records) == 1 and isinstance(records[0], dict):
        return _shape_of_object(records[0])
    return None if _is_table(records) else _shape_of_records(records)


def _is_table(records: Sequence[Any]) -> bool:
    """Whether each record holds a user and its answers by item: an ordinary table."""
    found = objects(list(records))
    own = [r[name] for r in found for name in _INSIDE[:3] if r.get(name)]
    plain_ones = all(isinstance(v, dict) and all(map(is_answer, v.values())) for v in own)
    return bool(found and own and user_of(found)) and plain_ones


def _shape_of_object(value: dict[str, Any]) -> str | None:
    inner = [own for own in value.values() if own is not None]
    if key_beside(value) and (around := member_around(value)) is not None:
        return f"the answers are in {around!r}"
    if rows_of_pandas(value):
        return "the rows are under 'data', as pandas writes a table"
    if (own := of_one_user(value)) is not None:
        return f"the answers of one user are in {own[1]!r}"
    if (around := member_around(value)) is not None:
        return f"the records are in {around!r}"
    if len(inner) < 2:
        return None
    if all(isinstance(own, dict) for own in inner):
        names = {name for own in inner for name in own}
        leaves = [leaf for own in inner for leaf in own.values()]
        known = [name for name in names if _is_known(name)]
        if len(names) < 2 or len(known) * 2 >= len(names):
            return None
        if all(is_answer(leaf) or answer_of(leaf) is not None for leaf in leaves):
            return "there is an answer under two names"
    if all(isinstance(own, list) and len(own) > 1 for own in inner):
        if all(is_answer(one) for own in inner for one in own):
            return "there is a list of answers under each name"
        if all(answer_of(one) is not None for own in inner for one in own):
            return "there is a list of answers under each name"
    return None


def rows_of_pandas(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the rows of a table that pandas wrote as ``split`` or ``table``; else nothing."""
    names, rows = value.get("columns"), value.get("data")
    if not isinstance(rows, list) or not rows:
        return []
    if isinstance(value.get("schema"), dict) and len(objects(rows)) == len(rows):
        return objects(rows)
    is_split = isinstance(names, list) and all(isinstance(row, list) for row in rows)
    if not is_split or any(len(row) != len(value["columns"]) for row in rows):
        return []
    return [dict(zip(map(str, value["columns"]), row, strict=True)) for row in rows]


def of_one_user(value: dict[str, Any]) -> tuple[str, str] | None:
    """Return the members with the name of the only user, and with a record per answer."""
    names = [name for name, own in value.items() if isinstance(own, str) and own]
    users = recognise("user", names)
    for name in _AROUND if users else ():
        records = value.get(name)
        found = objects(records) if isinstance(records, list) else []
        if len(found) > 1 and user_of(found) is None and item_of(found[0]) and answer_of(found[0]):
            return str(users[0]), name
    return None


def _is_known(name: str) -> bool:
    return bool(role_of_name(name) or recognise("option", [name]) or recognise("item", [name]))


def key_beside(value: dict[str, Any]) -> dict[str, Any]:
    """Return the right answers by item, if a member beside the answers holds them."""
    for name, own in value.items():
        if role_of_name(name) == "key" and isinstance(own, dict) and own:
            return own if all(is_answer(one) for one in own.values()) else {}
    return {}


def member_around(value: dict[str, Any]) -> str | None:
    """Return the member that holds the records, if one does."""
    for name in _AROUND:
        records = value.get(name)
        if isinstance(records, dict) and len(records) > 1 and _shape_of_object(records):
            return name
        if not isinstance(records, list) or len(objects(records)) < 2:
            continue
        if _shape_of_records(records) or flat_columns(objects(records)):
            return name
    return None


def _shape_of_records(records: Sequence[Any]) -> str | None:
    found = objects(list(records))
    if len(found) < 2 or len(found) < len(records):
        return None
    inside = member_inside(found)
    if inside is None or flat_columns(found):
        return None
    own = [record[inside] for record in found if record.get(inside)]
    if all(isinstance(answers, dict) for answers in own):
        leaves = [leaf for answers in own for leaf in answers.values()]
        fits = all(is_answer(leaf) or answer_of(leaf) is not None for leaf in leaves)
        return f"{inside!r} has an answer under each name" if fits and leaves else None
    if not all(isinstance(answers, list) for answers in own):
        return None
    ones = [one for answers in own for one in answers]
    if ones and all(map(rater_of, ones)):
        doccano = inside == "annotations" and any("user" in one for one in ones)
        return None if doccano else f"{inside!r} has the answers to each item"
    if not user_of(found):
        return None
    plain_ones = all(is_answer(one) for one in ones) and are_even([len(a) for a in own])
    if plain_ones or all(answer_of(one) is not None and item_of(one) for one in ones):
        return f"{inside!r} has the answers of each user"
    return None


def are_even(lengths: Sequence[int]) -> bool:
    """Whether lists all have the same length, more than one."""
    return len(lengths) > 1 and min(lengths) == max(lengths) > 1


def member_inside(records: Sequence[dict[str, Any]]) -> str | None:
    """Return the member that holds all answers of a user, or all answers to an item."""
    for name in _INSIDE:
        own = [record[name] for record in records if record.get(name)]
        if len(own) * 2 >= len(records) and all(isinstance(v, (dict, list)) for v in own):
            return name
    return None


def user_of(records: Sequence[dict[str, Any]]) -> str | None:
    """Return the member that names the user; an id beside a question or a key does not."""
    names = [name for name, value in records[0].items() if is_answer(value)]
    strict = recognise("user", names)
    if strict or recognise("item", names) or any(is_key(name) for name in names):
        return str(strict[0]) if strict else None
    return next(map(str, recognise("user", names, wide=True)), None)


def with_plain_user(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the name of its user in place of what is known of the user."""
    for name in recognise("user", list(record)):
        about = record[name]
        known = recognise("user", list(about), wide=True) if isinstance(about, dict) else []
        if known:
            return {**record, name: about[known[0]]}
    return record


def rater_of(record: Any) -> str | None:
    """Return the member that names the user in an answer to an item."""
    return next(map(str, recognise("user", list(record))), None) if answer_of(record) else None


def item_of(record: Any) -> str | None:
    """Return the member that names the item."""
    names = [name for name, value in record.items() if is_answer(value)]
    found = [*recognise("item", names), *(n for n in names if plain(n) in ("id", "qid", "idx"))]
    return str(found[0]) if found else None


def answer_of(record: Any) -> str | None:
    """Return the member of a record that holds the answer."""
    if not isinstance(record, dict):
        return None
    names = [name for name, value in record.items() if is_answer(value)]
    found = [n for n in recognise("option", names) if role_of_name(n) != "key"]
    # beside «pred» or «response», «answer» and «label» are the right ones
    free = [n for n in found if plain(n) not in ("answer", "label")]
    return str((free or found)[0]) if found else None


def chosen(leaf: Any) -> Any:
    """Return the answer that a leaf is, or holds."""
    place = answer_of(leaf)
    return leaf if place is None else leaf[place]


def key_of(record: dict[str, Any], answer: str | None) -> Any:
    """Return the right answer in a record."""
    named = [n for n in record if n != answer and is_answer(record[n]) and is_key(n)]
    named = [n for n in named if not isinstance(record[n], bool)]
    return record[named[0]] if named else None


def flat_columns(records: Sequence[dict[str, Any]]) -> tuple[str, str, str] | None:
    """Return the members that hold the user, the item and the answer."""
    user, item, answer = user_of(records), item_of(records[0]), answer_of(records[0])
    if user is None or item is None or answer is None or len({user, item, answer}) < 3:
        return None
    return user, item, answer
