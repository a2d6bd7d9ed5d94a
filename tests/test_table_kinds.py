"""Tables of many kinds, and the users and items that each must give.

Points, marks, states and keys stand beside the answers, or there is no header. A table that the
cells cannot settle may be asked about; ``None`` must be.
"""

from __future__ import annotations

import numpy as np
import pytest
from strange_tables import answers, as_csv, cycle, integers, letters, people, triples

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses


def table(name, head, rows, right, may=False):
    return name, as_csv([*([head] if head else []), *rows]), right, may


def interleave(a, b):
    return [x for pair in zip(a, b, strict=False) for x in pair]


def marks(m, n, seed, k=4):
    c, key = answers(m, n, k, seed)
    return (
        letters(c),
        [[int(c[i, j] == key[j]) for j in range(n)] for i in range(m)],
        ["ABCDE"[x] for x in key],
    )


W = [
    ["Paris", "Rome", "Bern", "Oslo"],
    ["lion", "bear", "wolf", "lynx"],
    ["oak", "elm", "fir", "ash"],
    ["iron", "lead", "zinc", "gold"],
    ["nine", "six", "ten", "two"],
    ["Mars", "Venus", "Pluto", "Saturn"],
    ["flute", "harp", "viola", "drum"],
    ["red", "teal", "pink", "grey"],
]


def words(L):
    return [[W[j]["ABCD".index(x)] for j, x in enumerate(r)] for r in L]


def tables():
    L, P, K = marks(40, 15, 101)
    yield table("headerless wide", None, L, (40, 15), True)
    L, P, K = marks(40, 12, 102)
    yield table("headerless turned", None, list(zip(*L, strict=False)), (40, 12), True)
    r = np.random.default_rng(3).integers(0, 4, (25, 18)).tolist()
    yield table("headerless noise", None, r, None)
    L, P, K = marks(20, 10, 104)
    yield table(
        "headerless with ids", None, [[f"p{700 + 3 * i}", *x] for i, x in enumerate(L)], (20, 10)
    )
    t = triples(12, 15, seed=105)
    yield table(
        "headerless long", None, [[f"w{u}", f"img{i}", a] for u, i, a, _ in t], (12, 15), True
    )
    L, P, K = marks(30, 12, 106)
    yield table("headerless marks", None, P, (30, 12), True)
    L, P, K = marks(30, 8, 107)
    ids = [f"st{40 + 3 * i}" for i in range(30)]
    q = [f"q{j + 1}" for j in range(8)]
    yield table(
        "points named pts",
        ["id", *interleave(q, [x + " pts" for x in q])],
        [[i, *interleave(a, b)] for i, a, b in zip(ids, L, P, strict=False)],
        (30, 8),
    )
    texts = ["Capital", "Animal", "Tree", "Metal", "Number", "Planet", "Instrument", "Colour"]
    yield table(
        "unnamed points beside words",
        ["learner", *interleave(texts, ["1.00", *[f"1.00.{k}" for k in range(1, 8)]])],
        [[i, *interleave(a, b)] for i, a, b in zip(ids, words(L), P, strict=False)],
        (30, 8),
    )
    part = [
        [0.5 if a == "C" else p for a, p in zip(x, y, strict=False)]
        for x, y in zip(L, P, strict=False)
    ]
    yield table(
        "part marks beside letters",
        ["id", *interleave(q, [f"m{j + 1}" for j in range(8)])],
        [[i, *interleave(a, b)] for i, a, b in zip(ids, L, part, strict=False)],
        (30, 8),
        True,
    )
    yn = [["yes" if p else "no" for p in y] for y in P]
    yield table(
        "ok after each",
        [
            "person",
            *interleave([f"Item {j + 1}" for j in range(8)], [f"ok {j + 1}" for j in range(8)]),
        ],
        [[i, *interleave(a, b)] for i, a, b in zip(ids, words(L), yn, strict=False)],
        (30, 8),
    )
    yield table(
        "answers then scores",
        ["id", *[f"A{j + 1}" for j in range(8)], *[f"S{j + 1}" for j in range(8)]],
        [[i, *a, *b] for i, a, b in zip(ids, L, P, strict=False)],
        (30, 8),
    )
    two = [[2 * p for p in y] for y in P]
    two = [[0, 0, *y[2:]] for y in two]
    yield table(
        "two points each, two items nobody got",
        ["learner", *interleave(texts, [f"Part {j + 1}" for j in range(8)])],
        [[i, *interleave(a, b)] for i, a, b in zip(ids, words(L), two, strict=False)],
        (30, 8),
    )
    yield table(
        "one series, letters then 0/1",
        ["id", *[f"q{j + 1}" for j in range(11)]],
        [[i, *a, *b[:3]] for i, a, b in zip(ids, L, marks(30, 8, 999)[1], strict=False)],
        (30, 11),
    )
    f = np.random.default_rng(8).integers(0, 2, (30, 2)).tolist()
    yield table(
        "two coded facts",
        ["id", "female", "employed", *q],
        [[i, *b, *a] for i, a, b in zip(ids, L, f, strict=False)],
        (30, 8),
    )
    yield table(
        "type beside each",
        ["id", *[x for j in range(8) for x in (f"kind {j + 1}", texts[j])]],
        [[i, *interleave(["MC"] * 8, a)] for i, a in zip(ids, words(L), strict=False)],
        (30, 8),
    )
    easy = [[*a[:4], "B", *a[4:]] for a in L]
    yield table(
        "an item all got",
        ["id", *[f"item{j + 1}" for j in range(9)]],
        [[i, *a] for i, a in zip(ids, easy, strict=False)],
        (30, 9),
    )
    yield table(
        "possible points beside each",
        ["id", *interleave(q, [f"out of {j + 1}" for j in range(8)])],
        [[i, *interleave(a, [1] * 8)] for i, a in zip(ids, L, strict=False)],
        (30, 8),
    )
    yield table(
        "state beside each",
        ["name", *interleave(texts, [f"{t} state" for t in texts])],
        [[i, *interleave(a, ["graded"] * 8)] for i, a in zip(people(30), words(L), strict=False)],
        (30, 8),
    )
    yield table(
        "key beside each",
        [
            "id",
            *interleave([f"answer {j + 1}" for j in range(8)], [f"key {j + 1}" for j in range(8)]),
        ],
        [[i, *interleave(a, K)] for i, a in zip(ids, L, strict=False)],
        (30, 8),
    )
    rk = np.array(list("ABCD"))[np.random.default_rng(5).integers(0, 4, (30, 8))].tolist()
    yield table(
        "drawn questions",
        [
            "id",
            *interleave(
                [f"response {j + 1}" for j in range(8)],
                [f"correct answer {j + 1}" for j in range(8)],
            ),
        ],
        [[i, *interleave(a, b)] for i, a, b in zip(ids, L, rk, strict=False)],
        None,
    )
    forms = [K if i % 2 else K[::-1] for i in range(30)]
    yield table(
        "two forms, own keys",
        [
            "id",
            "form",
            *interleave([f"resp{j + 1}" for j in range(8)], [f"key{j + 1}" for j in range(8)]),
        ],
        [
            [i, "AB"[n % 2], *interleave(a, b)]
            for n, (i, a, b) in enumerate(zip(ids, L, forms, strict=False))
        ],
        None,
    )
    yield table(
        "german keys",
        [
            "Name",
            *interleave(
                [f"Antwort {j + 1}" for j in range(8)],
                [f"Richtige Antwort {j + 1}" for j in range(8)],
            ),
        ],
        [
            [i, *interleave(a, b)]
            for i, a, b in zip(people(30), words(L), words([K] * 30), strict=False)
        ],
        (30, 8),
    )
    L2, _P2, _K2 = marks(26, 10, 120)
    yield table(
        "plain class",
        ["pupil", *[f"task {j + 1}" for j in range(10)]],
        [[n, *a] for n, a in zip(people(26), L2, strict=False)],
        (26, 10),
    )
    t = triples(9, 30, seed=121, share=0.8)
    yield table(
        "long, odd names",
        ["pic", "coder", "tag"],
        [[f"im{i}.png", f"c{u}", a] for u, i, a, _ in t],
        (9, 30),
    )
    yield table(
        "agreement words",
        ["respondent", *[f"s{j + 1}" for j in range(6)]],
        [
            [n + 1, *[["no", "rather no", "rather yes", "yes"]["ABCD".index(x)] for x in a[:6]]]
            for n, a in enumerate(L)
        ],
        (30, 6),
    )
    yield table(
        "models as columns",
        ["question", "falcon-7b", "qwen-14b", "opt-1b", "gpt-x", "bloom", "t5"],
        [
            [f"What is fact {j}?", *a]
            for j, a in enumerate(zip(*marks(6, 30, 125)[0], strict=False))
        ],
        (6, 30),
    )
    c = [cycle("yes", "no"), cycle(0, 1), cycle("a", "b", "c"), integers(10, 99)]
    yield table(
        "households",
        ["household", "car", "garden", "region", "area"],
        [[5000 + i, *[g(i) for g in c]] for i in range(40)],
        None,
    )
    yield table(
        "shop",
        ["sku", "colour", "size", "stock", "price"],
        [
            [
                f"K{i}",
                cycle("red", "blue")(i),
                cycle("S", "M", "L")(i),
                integers(0, 90, 3)(i),
                integers(5, 50, 4)(i) + 0.5,
            ]
            for i in range(40)
        ],
        None,
    )
    g = np.random.default_rng(9).integers(30, 100, (25, 6)).tolist()
    yield table(
        "gradebook",
        ["student", "hw1", "hw2", "hw3", "mid", "lab", "final"],
        [[n, *a] for n, a in zip(people(25), g, strict=False)],
        None,
    )
    yield table(
        "sensor flags",
        ["time", "s1", "s2", "s3", "s4"],
        [
            [
                f"2024-01-01 {i // 60:02}:{i % 60:02}:00",
                *np.random.default_rng(i).normal(20, 3, 4).round(2).tolist(),
            ]
            for i in range(60)
        ],
        None,
    )


@pytest.mark.parametrize(
    ("name", "data", "right", "may"), list(tables()), ids=lambda x: x if isinstance(x, str) else ""
)
def test_a_table_gives_its_users_and_items_or_a_question(name, data, right, may, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(data)
    if right is None:
        with pytest.raises(InputError):
            read_responses(path)
        return
    try:
        r = read_responses(path)
    except InputError:
        assert may, name
    else:
        assert (r.n_users, r.n_items) == right
