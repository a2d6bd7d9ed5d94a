"""Answers in nested JSON, as scripts write them: model → question → answer, and the like."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hitsndiffs.data.encoding.names import recognise, shortened
from hitsndiffs.reading.formats.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.formats.common import as_text, is_free_text, objects
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["NESTED_JSON"]

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
    "judgements", "results", "samples",
)  # fmt: skip
_NUMBERED = re.compile(r"(?:q|question|item|task|problem|doc|id|frage|aufgabe|no|nr)?[\W_]*\d+\w?")
_RIGHT = ("answer", "correct", "correctanswer", "label", "expected", "ideal")


def _is_answer(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _is_key(name: str) -> bool:
    return role_of_name(name) == "key" or plain(name) in _RIGHT


@dataclass
class _Answer:
    user: str
    item: str
    answer: Any
    key: Any = None


# -- what a file looks like ---------------------------------------------------------------------


def _recognise(sample: Sample) -> str | None:
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
    plain_ones = all(isinstance(v, dict) and all(map(_is_answer, v.values())) for v in own)
    return bool(found and own and _user_of(found)) and plain_ones


def _shape_of_object(value: dict[str, Any]) -> str | None:
    inner = [own for own in value.values() if own is not None]
    if _key_beside(value) and (around := _around(value)) is not None:
        return f"the answers are in {around!r}"
    if (around := _around(value)) is not None:
        return f"the records are in {around!r}"
    if len(inner) < 2:
        return None
    if all(isinstance(own, dict) for own in inner):
        names = {name for own in inner for name in own}
        leaves = [leaf for own in inner for leaf in own.values()]
        known = [name for name in names if _is_known(name)]
        if len(names) < 2 or len(known) * 2 >= len(names):
            return None
        if all(_is_answer(leaf) or _answer_of(leaf) is not None for leaf in leaves):
            return "there is an answer under two names"
    if all(isinstance(own, list) and len(own) > 1 for own in inner):
        if all(_is_answer(one) for own in inner for one in own):
            return "there is a list of answers under each name"
        if all(_answer_of(one) is not None for own in inner for one in own):
            return "there is a list of answers under each name"
    return None


def _is_known(name: str) -> bool:
    return bool(role_of_name(name) or recognise("option", [name]) or recognise("item", [name]))


def _key_beside(value: dict[str, Any]) -> dict[str, Any]:
    """Return the right answers by item, if a member beside the answers holds them."""
    for name, own in value.items():
        if role_of_name(name) == "key" and isinstance(own, dict) and own:
            return own if all(_is_answer(one) for one in own.values()) else {}
    return {}


def _around(value: dict[str, Any]) -> str | None:
    """Return the member that holds the records, if one does."""
    for name in _AROUND:
        records = value.get(name)
        if isinstance(records, dict) and len(records) > 1 and _shape_of_object(records):
            return name
        if not isinstance(records, list) or len(objects(records)) < 2:
            continue
        if _shape_of_records(records) or _flat_columns(objects(records)):
            return name
    return None


def _shape_of_records(records: Sequence[Any]) -> str | None:
    found = objects(list(records))
    if len(found) < 2 or len(found) < len(records):
        return None
    inside = _inside(found)
    if inside is None or _flat_columns(found):
        return None
    own = [record[inside] for record in found if record.get(inside)]
    if all(isinstance(answers, dict) for answers in own):
        leaves = [leaf for answers in own for leaf in answers.values()]
        fits = all(_is_answer(leaf) or _answer_of(leaf) is not None for leaf in leaves)
        return f"{inside!r} has an answer under each name" if fits and leaves else None
    if not all(isinstance(answers, list) for answers in own):
        return None
    ones = [one for answers in own for one in answers]
    if ones and all(map(_rater_of, ones)):
        doccano = inside == "annotations" and any("user" in one for one in ones)
        return None if doccano else f"{inside!r} has the answers to each item"
    if not _user_of(found):
        return None
    plain_ones = all(_is_answer(one) for one in ones) and _are_even([len(a) for a in own])
    if plain_ones or all(_answer_of(one) is not None and _item_of(one) for one in ones):
        return f"{inside!r} has the answers of each user"
    return None


def _are_even(lengths: Sequence[int]) -> bool:
    return len(lengths) > 1 and min(lengths) == max(lengths) > 1


def _inside(records: Sequence[dict[str, Any]]) -> str | None:
    for name in _INSIDE:
        own = [record[name] for record in records if record.get(name)]
        if len(own) * 2 >= len(records) and all(isinstance(v, (dict, list)) for v in own):
            return name
    return None


def _user_of(records: Sequence[dict[str, Any]]) -> str | None:
    """Return the member that names the user; an id beside a question or a key does not."""
    names = [name for name, value in records[0].items() if _is_answer(value)]
    strict = recognise("user", names)
    if strict or recognise("item", names) or any(_is_key(name) for name in names):
        return str(strict[0]) if strict else None
    return next(map(str, recognise("user", names, wide=True)), None)


def _with_plain_user(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record with the name of its user in place of what is known of the user."""
    for name in recognise("user", list(record)):
        about = record[name]
        known = recognise("user", list(about), wide=True) if isinstance(about, dict) else []
        if known:
            return {**record, name: about[known[0]]}
    return record


def _rater_of(record: Any) -> str | None:
    """Return the member that names the user in an answer to an item."""
    return next(map(str, recognise("user", list(record))), None) if _answer_of(record) else None


def _item_of(record: Any) -> str | None:
    """Return the member that names the item."""
    names = [name for name, value in record.items() if _is_answer(value)]
    found = [*recognise("item", names), *(n for n in names if plain(n) in ("id", "qid", "idx"))]
    return str(found[0]) if found else None


def _answer_of(record: Any) -> str | None:
    """Return the member of a record that holds the answer."""
    if not isinstance(record, dict):
        return None
    names = [name for name, value in record.items() if _is_answer(value)]
    found = [n for n in recognise("option", names) if role_of_name(n) != "key"]
    # beside «pred» or «response», «answer» and «label» are the right ones
    free = [n for n in found if plain(n) not in ("answer", "label")]
    return str((free or found)[0]) if found else None


def _chosen(leaf: Any) -> Any:
    """Return the answer that a leaf is, or holds."""
    place = _answer_of(leaf)
    return leaf if place is None else leaf[place]


def _key_of(record: dict[str, Any], answer: str | None) -> Any:
    """Return the right answer in a record."""
    named = [n for n in record if n != answer and _is_answer(record[n]) and _is_key(n)]
    named = [n for n in named if not isinstance(record[n], bool)]
    return record[named[0]] if named else None


def _flat_columns(records: Sequence[dict[str, Any]]) -> tuple[str, str, str] | None:
    """Return the members that hold the user, the item and the answer."""
    user, item, answer = _user_of(records), _item_of(records[0]), _answer_of(records[0])
    if user is None or item is None or answer is None or len({user, item, answer}) < 3:
        return None
    return user, item, answer


# -- reading it ---------------------------------------------------------------------------------


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
    if sum(isinstance(one.answer, float) and one.answer % 1 != 0 for one in found) * 4 > len(found):
        raise Refusal("a JSON file of points or other numbers", "give the options that were chosen")
    for one, text in zip(found, texts, strict=True):
        key = None if one.key is None else as_text(one.key)
        stream.add(one.user, one.item, text or None, key=key)
    stream.number_repeats()
    return stream


def _answers(value: Any, stream: Stream) -> Iterator[_Answer]:
    if isinstance(value, dict) and (around := _around(value)) is not None:
        key, value = _key_beside(value), value[around]
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


def _of_lists(value: dict[str, list[Any]], stream: Stream) -> Iterator[_Answer]:
    """Read ``{"ann": ["A", "C"], "bob": …}``, or a list of records under each name."""
    if all(_is_answer(one) for own in value.values() for one in own):
        if not _are_even([len(own) for own in value.values()]):
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
        labels = next((own for n, own in value.items() if _item_of({n.rstrip("s"): ""})), [])
        right = next((own for n, own in value.items() if role_of_name(n) == "key"), [])
        value = {n: own for n, own in value.items() if own is not labels and own is not right}
        by_item = _are_items(value)
        stream.notes.append(f"The names are taken as {'items' if by_item else 'users'}.")
        for name, own in value.items():
            for k, answer in enumerate(own, start=1):
                if by_item:
                    yield _Answer(f"user-{k}", name, answer)
                else:
                    item = as_text(labels[k - 1]) if labels else f"item-{k}"
                    yield _Answer(name, item, answer, right[k - 1] if right else None)
        return
    by_item = all(map(_rater_of, (one for own in value.values() for one in own)))
    stream.notes.append(f"The outer names are taken as {'items' if by_item else 'users'}.")
    for name, own in value.items():
        yield from _of_item({}, name, own) if by_item else _of_list(name, objects(own))


def _of_list(user: str, records: Sequence[dict[str, Any]]) -> Iterator[_Answer]:
    for k, record in enumerate(records, start=1):
        item, answer = _item_of(record), _answer_of(record)
        if answer is not None:
            label = f"item-{k}" if item is None else as_text(record[item])
            yield _Answer(user, label, record[answer], _key_of(record, answer))


def _of_names(value: dict[str, Any], stream: Stream) -> Iterator[_Answer]:
    """Read ``{"model": {"q1": "A"}}`` or ``{"q1": {"model": "A"}}``; a leaf may be a record."""
    beside = _key_beside(value)
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
    keys = [name for name in inner if _is_key(name)]
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
                right = _key_of(leaf, _answer_of(leaf))
            yield _Answer(user, item, _chosen(leaf), right)


def _are_columns(value: dict[str, Any]) -> bool:
    """Whether each name is a column with its rows by number, as pandas writes a table."""
    if not recognise("user", list(value), wide=True) and not _are_items(value):
        return False
    rows = [list(own) for own in value.values()]
    return all(own == rows[0] for own in rows) and rows[0] == [str(k) for k in range(len(rows[0]))]


def _of_rows(rows: Sequence[dict[str, Any]]) -> Iterator[_Answer]:
    users = recognise("user", list(rows[0]), wide=True)
    for k, row in enumerate(rows, start=1):
        user = as_text(row.get(users[0])) if users else f"user-{k}"
        items = [name for name in row if name not in users and role_of_name(name) is None]
        yield from (_Answer(user, item, _chosen(row[item])) for item in items)


def _are_users(names: Sequence[str]) -> bool:
    """Whether most names are a word for users and a number or letter: worker-7, model_b."""
    bare = [re.sub(r"(?:[\W_]+[a-z]|[\W_]*\d+)$", "", n, flags=re.IGNORECASE) for n in names]
    return len(recognise("user", bare)) * 2 > len(names)


def _are_items(names: Sequence[str] | dict[str, Any]) -> bool:
    """Whether most names are questions, or their numbers."""
    found = [n for n in names if n.endswith("?") or _NUMBERED.fullmatch(n.strip().lower())]
    return len(found) * 2 > len(names)


def _of_records(records: Sequence[dict[str, Any]]) -> Iterator[_Answer]:
    inside = _inside(records)
    columns = _flat_columns(records)
    if columns is not None:
        user, item, answer = columns
        for record in records:
            key = _key_of(record, answer)
            who, what = as_text(record.get(user)), as_text(record.get(item))
            yield _Answer(who, what, record.get(answer), key)
        return
    records = [_with_plain_user(record) for record in records]
    user_name = _user_of(records)
    for k, record in enumerate(records, start=1):
        own = None if inside is None else record.get(inside)
        if not own:
            continue
        if user_name is None or (isinstance(own, list) and all(map(_rater_of, own))):
            yield from _of_item(record, f"item-{k}", own)
            continue
        person = as_text(record.get(user_name))
        if isinstance(own, dict):
            yield from (_Answer(person, str(n), _chosen(leaf)) for n, leaf in own.items())
        elif all(map(_is_answer, own)):
            yield from (_Answer(person, f"item-{j}", a) for j, a in enumerate(own, start=1))
        else:
            yield from _of_list(person, objects(own))


def _of_item(record: dict[str, Any], label: str, own: Any) -> Iterator[_Answer]:
    """Read the answers to an item, by user: under their names, or a record each."""
    item_name = _item_of(record)
    item = label if item_name is None else as_text(record[item_name])
    right = _key_of(record, None)
    pairs = own.items() if isinstance(own, dict) else [(one[_rater_of(one)], one) for one in own]
    for person, leaf in pairs:
        yield _Answer(as_text(person), item, _chosen(leaf), right)


NESTED_JSON = Format(
    "nested-json",
    "Answers in nested JSON",
    "Written by scripts: model → question → answer, question → model → answer, records with lists",
    _recognise,
    _convert,
)
