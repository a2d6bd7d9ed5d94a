"""Nested JSON that scripts and tools write: counts are refused, one user per file is read."""

from __future__ import annotations

import io
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import answers

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses

RNG = random.Random(11)
USERS = [f"w{k}" for k in range(6)]
ITEMS = [f"i{k}" for k in range(10)]
LABELS = ["cat", "dog", "bird"]
KEY = {item: RNG.choice(LABELS) for item in ITEMS}
GIVEN = {(u, i): KEY[i] if RNG.random() < 0.6 else RNG.choice(LABELS) for u in USERS for i in ITEMS}


def read(value: object):
    return read_responses(io.BytesIO(json.dumps(value).encode()))


def votes(item: str) -> dict[str, int]:
    own = [GIVEN[user, item] for user in USERS]
    return {label: own.count(label) for label in LABELS if label in own}


@pytest.mark.parametrize("name", ["votes", "counts"])
def test_counts_of_votes_are_refused(name):
    with pytest.raises(InputError, match="how many votes each label got"):
        read([{"item": item, name: votes(item)} for item in ITEMS])


def test_votes_of_different_numbers_of_people_are_refused():
    with pytest.raises(InputError, match="how many votes each label got"):
        read([{"item": i, "votes": {"cat": k, "dog": 1}} for k, i in enumerate(ITEMS)])


def test_votes_under_the_names_of_items_are_refused():
    with pytest.raises(InputError, match="how many votes each label got"):
        read({item: votes(item) for item in ITEMS})


def test_ratings_by_number_are_read():
    ratings = {u: {i: 1 + LABELS.index(GIVEN[u, i]) for i in ITEMS} for u in USERS}
    assert len(answers(read(ratings))) == 60


def test_labels_under_the_names_of_annotators():
    r = read([{"id": i, "label": {u: GIVEN[u, i] for u in USERS}} for i in ITEMS])
    assert answers(r) == GIVEN


def test_a_record_per_answer_with_the_answer_inside():
    records = [
        {"id": i, "user": u, "annotations": {"animal": {"label": GIVEN[u, i]}}}
        for u in USERS
        for i in ITEMS
    ]
    assert answers(read(records)) == GIVEN


def test_lists_beside_the_list_of_right_answers():
    lists = {u: [GIVEN[u, i] for i in ITEMS] for u in USERS}
    r = read({"answers": list(KEY.values()), **lists})
    assert sorted(r.users.tolist()) == USERS
    assert list(r.key.values()) == list(KEY.values())


@pytest.mark.parametrize("orient", ["split", "table"])
def test_tables_as_pandas_writes_them(orient):
    names = ["user", *ITEMS]
    rows = [[u, *(GIVEN[u, i] for i in ITEMS)] for u in USERS]
    split = {"columns": names, "index": list(range(6)), "data": rows}
    table = {"schema": {"fields": []}, "data": [dict(zip(names, r, strict=True)) for r in rows]}
    assert answers(read(split if orient == "split" else table)) == GIVEN


def of_one(user: str, shape: str) -> object:
    own = [{"id": i, "response": GIVEN[user, i], "answer": KEY[i]} for i in ITEMS]
    if shape == "named":
        return {"model": user, "accuracy": 0.5, "results": own}
    if shape == "outputs":
        return [{"idx": r["id"], "output": r["response"], "target": r["answer"]} for r in own]
    return own


@pytest.mark.parametrize("shape", ["named", "outputs", "responses"])
def test_a_file_per_model(tmp_path, shape):
    for user in USERS:
        (tmp_path / f"{user}.json").write_text(json.dumps(of_one(user, shape)))
    r = read_responses(tmp_path)
    assert answers(r) == GIVEN
    assert dict(r.key) == KEY


@pytest.mark.parametrize("indent", [None, 2])
def test_people_under_ids_in_a_wrapper(indent):
    people = {
        f"-Nx{user}": {
            "name": f"Player {user}",
            "createdAt": 1700000000 + k,
            "answers": [{"qId": i, "choice": GIVEN[user, i]} for i in ITEMS],
        }
        for k, user in enumerate(USERS)
    }
    text = json.dumps({"responses": people}, indent=indent)
    found = answers(read_responses(io.BytesIO(text.encode())))
    assert found == {(f"-Nx{user}", item): own for (user, item), own in GIVEN.items()}


def test_what_stands_beside_the_people_is_no_user():
    people = {user: {item: GIVEN[user, item] for item in ITEMS} for user in USERS}
    r = read({"_meta": {"exported": "2024-01-02", "course": "BIO1"}, **people})
    assert answers(r) == GIVEN
    assert any("'_meta'" in str(note) for note in r.notes)


def letter(user: str, topic: str, k: int) -> str:
    own = random.Random(f"{user}/{topic}/{k}")
    right = random.Random(f"{topic}/{k}").choice("ABCD")
    return right if own.random() < 0.6 else own.choice("ABCD")


@pytest.mark.parametrize("topics", [["law", "art", "physics"], ["law/old", "law/new", "art/new"]])
def test_a_file_per_model_with_topics(tmp_path, topics):
    given = {}
    for user in USERS:
        value: dict = {}
        for topic in topics:
            inside = value
            for part in topic.split("/"):
                inside = inside.setdefault(part, {})
            inside.update({str(k): letter(user, topic, k) for k in range(20)})
            given |= {(user, f"{topic}/{n}"): own for n, own in inside.items()}
        (tmp_path / f"{user}.json").write_text(json.dumps(value))
    assert answers(read_responses(tmp_path)) == given


def test_a_file_per_test_with_people(tmp_path):
    for test in ("one", "two", "three"):
        own = {u: {f"{test}{k}": letter(u, test, k) for k in range(20)} for u in USERS}
        (tmp_path / f"{test}.json").write_text(json.dumps(own))
    assert {*read_responses(tmp_path).users} == {*USERS}


@pytest.mark.parametrize("number", ["{}", "q{}"])
def test_attempts_of_the_same_people_are_no_models(tmp_path, number):
    first = {u: {number.format(k): letter(u, "test", k) for k in range(20)} for u in USERS}
    for attempt in range(3):
        own = {u: {n: RNG.choice([a, a, a, "A"]) for n, a in o.items()} for u, o in first.items()}
        (tmp_path / f"try{attempt}.json").write_text(json.dumps(own))
    with pytest.raises(InputError, match="whether the first or the last counts"):
        read_responses(tmp_path)


NAMES = st.sampled_from(["user", "item", "answers", "responses", "choices", "results", "q1", "x"])
SINGLE = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5)
VALUES = st.recursive(
    SINGLE,
    lambda own: (
        st.lists(own, max_size=4) | st.dictionaries(NAMES | st.text(max_size=5), own, max_size=4)
    ),
    max_leaves=20,
)


@given(value=VALUES, indent=st.sampled_from([None, 0, 2, "\t"]))
def test_no_json_is_called_invalid(value, indent):
    text = json.dumps(value, indent=indent)
    told = ""
    try:
        read_responses(io.BytesIO(text.encode()))
    except InputError as error:
        told = str(error)
    assert "not valid JSON" not in told
