"""What people write in cells: spellings, signs that are not seen, classes, questions of numbers."""

from __future__ import annotations

import io
import json
import random

import pytest
from reading_helpers import answers

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses

NAMES = [f"Student {chr(65 + k)}." for k in range(24)]
ITEMS = [f"Q{k}" for k in range(1, 9)]


def quiz(options: list[str], seed: int = 5) -> list[list[str]]:
    rng = random.Random(seed)
    key = [rng.choice(options) for _ in ITEMS]
    return [
        [own if rng.random() < 0.3 + k / 40 else rng.choice(options) for own in key]
        for k in range(len(NAMES))
    ]


def table(rows: list[list[str]], items: list[str] = ITEMS) -> list[list[str]]:
    return [["Name", *items], *([n, *own] for n, own in zip(NAMES, rows, strict=True))]


def read(rows: list[list[str]]):
    text = "\n".join(";".join(map(str, row)) for row in rows)
    return read_responses(io.StringIO(text))


def given(rows: list[list[str]], items: list[str] = ITEMS) -> dict[tuple[str, str], str]:
    return {
        (n, i): a for n, r in zip(NAMES, rows, strict=True) for i, a in zip(items, r, strict=True)
    }


@pytest.mark.parametrize(
    "options",
    [
        ["1/2", "1/3", "3/4"],
        ["10%", "25%", "50%"],
        ["3:15", "3:30", "9:00"],
        ["1914-07-28", "1918-11-11", "1939-09-01"],
        ["0.1", "0.5", "2.5"],
        ["2,5", "3,5", "4,5"],
    ],
    ids=["fractions", "shares", "times", "dates", "decimals", "commas"],
)
def test_questions_whose_options_are_numbers(options):
    rows = quiz(options)
    items = [f"Which of them, in part {k}?" for k in range(8)]
    assert answers(read(table(rows, items))) == given(rows, items)


def test_spellings_of_a_word_are_one_option():
    rows = quiz(["Yes", "No"])
    rng = random.Random(2)
    written = [[rng.choice([c, c.lower(), c.upper()]) for c in row] for row in rows]
    found = answers(read(table(written)))
    assert {place: a.title() for place, a in found.items()} == given(rows)
    assert len(set(found.values())) <= 4  # the most common spelling of each item


def test_pairs_of_letters_are_different_options():
    rng = random.Random(3)
    rows = [rng.choices(["AA", "Aa", "aa"], k=8) for _ in NAMES]
    assert answers(read(table(rows))) == given(rows)


def test_signs_that_are_not_seen_do_not_count():
    rows = quiz(["A", "B", "C"])
    written = [
        [f"\u200b{c}" if (k + j) % 5 == 0 else c for j, c in enumerate(row)]
        for k, row in enumerate(rows)
    ]
    assert answers(read(table(written))) == given(rows)


def test_somebody_absent_stays_a_user_without_answers():
    rows = quiz(["A", "B", "C"])
    rows[4] = ["ABS"] * 8
    r = read(table(rows))
    assert r.users.tolist() == NAMES
    assert r.answers_per_user[4] == 0


@pytest.mark.parametrize("word", ["Class", "Klasse", "Group"])
def test_titles_of_classes_are_no_users(word):
    rows = quiz(["A", "B", "C"])
    header, *body = table(rows)
    blank = [""] * 8
    r = read([header, [f"{word} 7a", *blank], *body[:12], [f"{word} 7b", *blank], *body[12:]])
    assert r.users.tolist() == NAMES
    assert answers(r) == given(rows)


def test_a_header_on_every_page():
    rows = quiz(["A", "B", "C"])
    header, *body = table(rows)
    r = read([header, *body[:8], header, *body[8:16], header, *body[16:]])
    assert r.users.tolist() == NAMES
    assert answers(r) == given(rows)


def test_an_arff_file_is_refused():
    text = (
        "@relation quiz\n@attribute q1 {A,B,C}\n@attribute q2 {A,B,C}\n@data\n" + "A,B\nB,C\n" * 6
    )
    with pytest.raises(InputError, match="this is an ARFF file; save it as CSV"):
        read_responses(io.StringIO(text))


def test_a_log_of_names_and_values_is_refused():
    lines = [f"INFO user={k} item=q{k % 3} answer={'AB'[k % 2]}" for k in range(12)]
    with pytest.raises(InputError, match="log with lines of name=value"):
        read_responses(io.StringIO("\n".join(lines)))


def test_row_names_of_r():
    rows = quiz(["1", "2", "3"])
    lines = [" ".join(f'"{item}"' for item in ITEMS)]
    lines += [f'"{name}" ' + " ".join(own) for name, own in zip(NAMES, rows, strict=True)]
    assert answers(read_responses(io.StringIO("\n".join(lines)))) == given(rows)


def test_an_id_and_all_answers_in_a_line():
    rows = quiz(["A", "B", "C"])
    lines = [f"{1000 + 7 * k} {''.join(own)}" for k, own in enumerate(rows)]
    r = read_responses(io.StringIO("\n".join(lines)))
    users = [str(1000 + 7 * k) for k in range(24)]
    items = r.items.tolist()
    pairs = {
        (u, i): c
        for u, own in zip(users, rows, strict=True)
        for i, c in zip(items, own, strict=True)
    }
    assert answers(r) == pairs


def test_items_of_two_columns_in_several_pieces():
    rows = quiz(["A", "B", "C"])
    records = [
        {"user": name, "task": "ab"[k // 4], "id": str(k % 4), "answer": answer}
        for name, own in zip(NAMES, rows, strict=True)
        for k, answer in enumerate(own)
    ]
    lines = "\n".join(map(json.dumps, records))  # the last line has no end, and is read apart
    r = read_responses(io.BytesIO(lines.encode()))
    assert r.n_items == 8
    assert len(answers(r)) == 8 * 24
