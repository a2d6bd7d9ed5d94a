"""Answers in nested JSON, as scripts write them: model → question → answer, and the like."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.data.words import shortened
from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Stream
from hitsndiffs.reading.exports.common import as_text, is_free_text, objects
from hitsndiffs.reading.exports.nested_shapes import (
    NUMBERED,
    RIGHT,
    VOTES,
    answer_of,
    are_counts,
    are_even,
    chosen,
    find_shape,
    flat_columns,
    is_answer,
    is_key,
    item_of,
    key_beside,
    key_of,
    member_around,
    member_inside,
    of_one_user,
    rater_of,
    rows_of_pandas,
    user_of,
    with_plain_user,
)
from hitsndiffs.reading.exports.predictions import PREDICTIONS
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["NESTED_JSON"]


@dataclass
class Answer:
    user: str
    item: str
    answer: Any
    key: Any = None


def _convert(document: Document, _: Choices) -> Stream:
    stream = Stream(key_from="the right answers beside the answers")
    value = document.data() if document.kind == "json" else list(document.records())
    found = list(_answers(value, stream))
    texts = [as_text(one.answer).strip() for one in found]
    if not found or (len(found) > 8 and is_free_text(texts)):
        raise Refusal(
            "a JSON file whose answers are free texts, or not where they are looked for",
            "give a list of records with a user, an item and an answer each",
        )
    _refuse_counts(found)
    if sum(isinstance(one.answer, float) and one.answer % 1 != 0 for one in found) * 4 > len(found):
        raise Refusal("a JSON file of points or other numbers", "give the options that were chosen")
    for one, text in zip(found, texts, strict=True):
        key = None if one.key is None else as_text(one.key)
        stream.add(one.user, one.item, text or None, key=key)
    stream.number_repeats()
    return stream


def _refuse_counts(found: Sequence[Answer]) -> None:
    """Refuse counts of votes: whole numbers that add up to the same for every item."""
    if not all(isinstance(one.answer, int) and not isinstance(one.answer, bool) for one in found):
        return
    by_item: dict[str, list[int]] = defaultdict(list)
    by_user: dict[str, list[int]] = defaultdict(list)
    for one in found:
        by_item[one.item].append(one.answer)
        by_user[one.user].append(one.answer)
    for groups in (list(by_item.values()), list(by_user.values())):
        sums = {sum(own) for own in groups}
        if len(groups) > 2 and len(sums) == 1 and len({tuple(sorted(own)) for own in groups}) > 1:
            raise _counts()


def _counts() -> Refusal:
    return Refusal(
        "a JSON file of counts (how many votes each label got), without the answers of the people",
        "give the label that each person chose",
    )


def _answers(value: Any, stream: Stream) -> Iterator[Answer]:
    if isinstance(value, dict) and (rows := rows_of_pandas(value)):
        yield from _of_rows(rows)
        return
    if isinstance(value, dict) and (own := of_one_user(value)) is not None:
        yield from _of_list(value[own[0]], objects(value[own[1]]))
        return
    if isinstance(value, dict) and (around := member_around(value)) is not None:
        key, value = key_beside(value), value[around]
        for one in _answers(value, stream):
            one.key = key.get(one.item, one.key)
            yield one
        return
    if isinstance(value, list):
        yield from _of_records(objects(value)) if objects(value) else ()
    elif isinstance(value, dict) and all(isinstance(own, list) for own in value.values() if own):
        yield from _of_lists({str(name): own for name, own in value.items() if own}, stream)
    elif isinstance(value, dict):
        named = {str(name): own for name, own in value.items() if own and isinstance(own, dict)}
        yield from _of_names(named, stream) if named else ()


def _of_lists(value: dict[str, list[Any]], stream: Stream) -> Iterator[Answer]:
    """Read ``{"ann": ["A", "C"], "bob": …}``, or a list of records under each name."""
    if all(is_answer(one) for own in value.values() for one in own):
        if not are_even([len(own) for own in value.values()]):
            raise Refusal(
                "a JSON file with lists of answers of different lengths, so that it is not clear "
                "which answer belongs to which item",
                "write the answers under the names of their items",
            )
        if recognise("user", list(value), wide=True):
            stream.notes.append("The names are taken as columns.")
            yield from _of_rows(
                [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
            )
            return
        labels = next((own for n, own in value.items() if item_of({n.rstrip("s"): ""})), [])
        keys = [n for n in value if role_of_name(n) == "key" or plain(n).rstrip("s") in RIGHT]
        right = value[keys[0]] if keys else []
        value = {n: own for n, own in value.items() if own is not labels and own is not right}
        by_item = _are_items(value)
        stream.notes.append(f"The names are taken as {'items' if by_item else 'users'}.")
        for name, own in value.items():
            for k, answer in enumerate(own, start=1):
                if by_item:
                    yield Answer(f"user-{k}", name, answer)
                else:
                    item = as_text(labels[k - 1]) if labels else f"item-{k}"
                    yield Answer(name, item, answer, right[k - 1] if right else None)
        return
    by_item = all(map(rater_of, (one for own in value.values() for one in own)))
    stream.notes.append(f"The outer names are taken as {'items' if by_item else 'users'}.")
    for name, own in value.items():
        yield from _of_item({}, name, own) if by_item else _of_list(name, objects(own))


def _of_list(user: str, records: Sequence[dict[str, Any]]) -> Iterator[Answer]:
    for k, record in enumerate(records, start=1):
        item, answer = item_of(record), answer_of(record)
        if answer is not None:
            label = f"item-{k}" if item is None else as_text(record[item])
            yield Answer(user, label, record[answer], key_of(record, answer))


def _of_names(value: dict[str, Any], stream: Stream) -> Iterator[Answer]:
    """Read ``{"model": {"q1": "A"}}`` or ``{"q1": {"model": "A"}}``; a leaf may be a record."""
    beside = key_beside(value)
    value = {name: own for name, own in value.items() if own is not beside}
    outer = list(value)
    inner = list(dict.fromkeys(str(name) for own in objects(list(value.values())) for name in own))
    if _are_columns(value):
        stream.notes.append("The names are taken as columns, and the numbers below them as rows.")
        yield from _of_rows([{name: own[row] for name, own in value.items()} for row in inner])
        return
    if recognise("user", inner):
        stream.notes.append("The outer names are taken as rows, the inner ones as columns.")
        yield from _of_rows(list(value.values()))
        return
    keys = [name for name in inner if is_key(name)]
    by_item = bool(keys) or _are_items(outer) > _are_items(inner)
    if not keys and _are_items(outer) == _are_items(inner):
        by_item = _are_users(inner) and not _are_users(outer)
    stream.notes.append(
        f"The outer names ({shortened(outer[0], 30)!r}, …) are taken as "
        f"{'items' if by_item else 'users'}, the inner ones as {'users' if by_item else 'items'}."
    )
    for name, own in value.items():
        told = next((own[key] for key in keys if own.get(key) is not None), None)
        for other, leaf in own.items():
            if other in keys:
                continue
            user, item = (str(other), name) if by_item else (name, str(other))
            right = beside.get(item, told)
            if right is None and isinstance(leaf, dict):
                right = key_of(leaf, answer_of(leaf))
            yield Answer(user, item, chosen(leaf), right)


def _are_columns(value: dict[str, Any]) -> bool:
    """Whether each name is a column with its rows by number, as pandas writes a table."""
    if not recognise("user", list(value), wide=True) and not _are_items(value):
        return False
    rows = [list(own) for own in value.values()]
    return all(own == rows[0] for own in rows) and rows[0] == [str(k) for k in range(len(rows[0]))]


def _of_rows(rows: Sequence[dict[str, Any]]) -> Iterator[Answer]:
    users = recognise("user", list(rows[0]), wide=True)
    for k, row in enumerate(rows, start=1):
        user = as_text(row.get(users[0])) if users else f"user-{k}"
        items = [name for name in row if name not in users and role_of_name(name) is None]
        yield from (Answer(user, item, chosen(row[item])) for item in items)


def _are_users(names: Sequence[str]) -> bool:
    """Whether most names are a word for users and a number or letter: worker-7, model_b."""
    bare = [re.sub(r"(?:[\W_]+[a-z]|[\W_]*\d+)$", "", n, flags=re.IGNORECASE) for n in names]
    return len(recognise("user", bare)) * 2 > len(names)


def _are_items(names: Sequence[str] | dict[str, Any]) -> bool:
    """Whether most names are questions, or their numbers."""
    found = [n for n in names if n.endswith("?") or NUMBERED.fullmatch(n.strip().lower())]
    return len(found) * 2 > len(names)


def _of_records(records: Sequence[dict[str, Any]]) -> Iterator[Answer]:
    inside = member_inside(records)
    columns = flat_columns(records)
    if columns is not None:
        user, item, answer = columns
        for record in records:
            key = key_of(record, answer)
            who, what = as_text(record.get(user)), as_text(record.get(item))
            yield Answer(who, what, record.get(answer), key)
        return
    records = [with_plain_user(record) for record in records]
    user_name = (
        None if inside == "label" and not recognise("user", list(records[0])) else user_of(records)
    )
    if inside in VOTES and all(are_counts(record.get(inside or "")) for record in records):
        raise _counts()
    people = [as_text(record.get(user_name)) for record in records] if user_name else []
    several = len(set(people)) < len(people)
    for k, record in enumerate(records, start=1):
        own = None if inside is None else record.get(inside)
        if not own:
            continue
        if user_name is None or (isinstance(own, list) and all(map(rater_of, own))):
            yield from _of_item(record, f"item-{k}", own)
            continue
        person = as_text(record.get(user_name))
        if isinstance(own, dict):
            label = item_of(record) if several else None  # a record per answer
            item = "" if label is None else as_text(record[label])
            for n, leaf in own.items():
                name = item if item and len(own) == 1 else f"{item}/{n}" if item else str(n)
                yield Answer(person, name, chosen(leaf))
        elif all(map(is_answer, own)):
            yield from (Answer(person, f"item-{j}", a) for j, a in enumerate(own, start=1))
        else:
            yield from _of_list(person, objects(own))


def _of_item(record: dict[str, Any], label: str, own: Any) -> Iterator[Answer]:
    """Read the answers to an item, by user: under their names, or a record each."""
    item_name = item_of(record)
    item = label if item_name is None else as_text(record[item_name])
    right = key_of(record, None)
    if isinstance(own, dict):
        pairs = list(own.items())
    else:
        pairs = [(one[rater], one) for one in own if (rater := rater_of(one))]
    for person, leaf in pairs:
        yield Answer(as_text(person), item, chosen(leaf), right)


NESTED_JSON = Format(
    "nested-json",
    "Answers in nested JSON",
    "Written by scripts: model → question → answer, question → model → answer, records with lists",
    lambda sample: None if PREDICTIONS.recognise(sample) else find_shape(sample),
    _convert,
)
