"""Ordinary files that look like something else: they are read as what they are."""

from __future__ import annotations

import io
import json
import random

import pytest
from reading_helpers import answers

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses

NAMES = [f"student-{k:02d}" for k in range(12)]


def quiz(n_items: int = 10) -> list[list[str]]:
    """Return the answers of twelve students, who know more and more of them."""
    rng = random.Random(5)
    key = rng.choices("ABCD", k=n_items)
    return [
        [own if rng.random() < 0.3 + k / 20 else rng.choice("ABCD") for own in key]
        for k in range(len(NAMES))
    ]


ANSWERS = quiz()
PAIRS = list(zip(NAMES, ANSWERS, strict=True))


def read(rows: list[list[object]], **options):
    text = "\n".join(",".join(map(str, row)) for row in rows)
    return read_responses(io.StringIO(text), **options)


def read_json(value: object):
    return read_responses(io.BytesIO(json.dumps(value).encode()))


# -- columns -------------------------------------------------------------------------------------


@pytest.mark.parametrize("stem", ["Question", "Q", "Response", "item"])
@pytest.mark.parametrize("mark", ["", ".", "_"])
def test_the_first_item_of_a_series_may_have_no_number(stem, mark):
    names = [stem, *(f"{stem}{mark}{k}" for k in range(2, 11))]
    r = read([["Name", *names], *([p, *own] for p, own in PAIRS)])
    assert r.items.tolist() == names
    assert len(answers(r)) == 120


# -- one row per answer --------------------------------------------------------------------------


@pytest.mark.parametrize("counter", ["id", "number", "index", "no"])
def test_row_numbers_are_no_part_of_an_item(counter):
    rows = [[p, f"q{i}", a] for p, own in PAIRS for i, a in enumerate(own)]
    rows += [[p, "q0", "D" if own[0] == "A" else "A"] for p, own in PAIRS]
    with pytest.raises(InputError, match="answered the item 'q0' with"):
        read([[counter, "user", "question", "answer"], *([k, *r] for k, r in enumerate(rows))])
