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

W = """Paris Rome Bern Oslo, lion bear wolf lynx, oak elm fir ash, iron lead zinc gold,
nine six ten two, Mars Venus Pluto Saturn, flute harp viola drum, red teal pink grey"""
W = [line.split() for line in W.split(",")]
TEXTS = ["Capital", "Animal", "Tree", "Metal", "Number", "Planet", "Instrument", "Colour"]


def marks(m, n, seed, k=4):
    """The letters that people chose, whether these are right, and the key."""
    c, key = answers(m, n, k, seed)
    points = [[int(c[i, j] == key[j]) for j in range(n)] for i in range(m)]
    return letters(c), points, ["ABCDE"[x] for x in key]


def words(rows):
    return [[W[j]["ABCD".index(x)] for j, x in enumerate(row)] for row in rows]


def in_turn(*lists):
    """The first of each, the second of each, and so on."""
    return [x for own in zip(*lists, strict=True) for x in own]


def named(names, *tables, turns=True):
    """Rows of a name and the cells of some tables, one of each in turn or all of one first."""
    join = in_turn if turns else lambda *rows: [x for row in rows for x in row]
    return [[name, *join(*rows)] for name, *rows in zip(names, *tables, strict=True)]


def numbered(pattern, n=8):
    return [pattern.format(j + 1) for j in range(n)]


def tables():
    """Yield name, header, rows, (users, items), and whether it may be asked about."""
    yield "headerless wide", None, marks(40, 15, 101)[0], (40, 15), True
    yield "headerless turned", None, list(zip(*marks(40, 12, 102)[0], strict=True)), (40, 12), True
    noise = np.random.default_rng(3).integers(0, 4, (25, 18)).tolist()
    yield "headerless noise", None, noise, None
    with_ids = named([f"p{700 + 3 * i}" for i in range(20)], marks(20, 10, 104)[0])
    yield "headerless with ids", None, with_ids, (20, 10)
    long = [[f"w{u}", f"img{i}", a] for u, i, a, _ in triples(12, 15, seed=105)]
    yield "headerless long", None, long, (12, 15), True
    yield "headerless marks", None, marks(30, 12, 106)[1], (30, 12), True

    L, P, K = marks(30, 8, 107)
    ids, q = [f"st{40 + 3 * i}" for i in range(30)], numbered("q{}")
    head = ["id", *in_turn(q, [f"{x} pts" for x in q])]
    yield "points named pts", head, named(ids, L, P), (30, 8)
    head = ["learner", *in_turn(TEXTS, ["1.00", *[f"1.00.{k}" for k in range(1, 8)]])]
    yield "unnamed points beside words", head, named(ids, words(L), P), (30, 8)
    part = [
        [0.5 if a == "C" else p for a, p in zip(x, y, strict=True)]
        for x, y in zip(L, P, strict=True)
    ]
    head = ["id", *in_turn(q, numbered("m{}"))]
    yield "part marks beside letters", head, named(ids, L, part), (30, 8), True
    yes = [["yes" if p else "no" for p in y] for y in P]
    head = ["person", *in_turn(numbered("Item {}"), numbered("ok {}"))]
    yield "ok after each", head, named(ids, words(L), yes), (30, 8)
    head = ["id", *numbered("A{}"), *numbered("S{}")]
    yield "answers then scores", head, named(ids, L, P, turns=False), (30, 8)
    two = [[0, 0, *[2 * p for p in y[2:]]] for y in P]
    head = ["learner", *in_turn(TEXTS, numbered("Part {}"))]
    yield "two points each, two items nobody got", head, named(ids, words(L), two), (30, 8)
    three = [row[:3] for row in marks(30, 8, 999)[1]]
    rows = named(ids, L, three, turns=False)
    yield "one series, letters then 0/1", ["id", *numbered("q{}", 11)], rows, (30, 11)
    facts = np.random.default_rng(8).integers(0, 2, (30, 2)).tolist()
    rows = named(ids, facts, L, turns=False)
    yield "two coded facts", ["id", "female", "employed", *q], rows, (30, 8)
    head = ["id", *in_turn(numbered("kind {}"), TEXTS)]
    yield "type beside each", head, named(ids, [["MC"] * 8] * 30, words(L)), (30, 8)
    easy = [[*a[:4], "B", *a[4:]] for a in L]
    yield "an item all got", ["id", *numbered("item{}", 9)], named(ids, easy), (30, 9)
    head = ["id", *in_turn(q, numbered("out of {}"))]
    yield "possible points beside each", head, named(ids, L, [[1] * 8] * 30), (30, 8)
    head = ["name", *in_turn(TEXTS, [f"{t} state" for t in TEXTS])]
    yield "state beside each", head, named(people(30), words(L), [["graded"] * 8] * 30), (30, 8)

    head = ["id", *in_turn(numbered("answer {}"), numbered("key {}"))]
    yield "key beside each", head, named(ids, L, [K] * 30), (30, 8)
    drawn = np.array(list("ABCD"))[np.random.default_rng(5).integers(0, 4, (30, 8))].tolist()
    head = ["id", *in_turn(numbered("response {}"), numbered("correct answer {}"))]
    yield "drawn questions", head, named(ids, L, drawn), None
    forms = [K if i % 2 else K[::-1] for i in range(30)]
    head = ["id", "form", *in_turn(numbered("resp{}"), numbered("key{}"))]
    rows = [[row[0], "AB"[n % 2], *row[1:]] for n, row in enumerate(named(ids, L, forms))]
    yield "two forms, own keys", head, rows, None
    head = ["Name", *in_turn(numbered("Antwort {}"), numbered("Richtige Antwort {}"))]
    yield "german keys", head, named(people(30), words(L), words([K] * 30)), (30, 8)

    rows = named(people(26), marks(26, 10, 120)[0])
    yield "plain class", ["pupil", *numbered("task {}", 10)], rows, (26, 10)
    long = [[f"im{i}.png", f"c{u}", a] for u, i, a, _ in triples(9, 30, seed=121, share=0.8)]
    yield "long, odd names", ["pic", "coder", "tag"], long, (9, 30)
    degrees = dict(zip("ABCD", ["no", "rather no", "rather yes", "yes"], strict=True))
    rows = [[n + 1, *[degrees[x] for x in row[:6]]] for n, row in enumerate(L)]
    yield "agreement words", ["respondent", *numbered("s{}", 6)], rows, (30, 6)
    turned = list(zip(*marks(6, 30, 125)[0], strict=True))
    head = ["question", "falcon-7b", "qwen-14b", "opt-1b", "gpt-x", "bloom", "t5"]
    rows = named([f"What is fact {j}?" for j in range(30)], turned)
    yield "models as columns", head, rows, (6, 30)

    own = [cycle("yes", "no"), cycle(0, 1), cycle("a", "b", "c"), integers(10, 99)]
    rows = [[5000 + i, *[make(i) for make in own]] for i in range(40)]
    yield "households", ["household", "car", "garden", "region", "area"], rows, None
    own = [cycle("red", "blue"), cycle("S", "M", "L"), integers(0, 90, 3)]
    rows = [[f"K{i}", *[make(i) for make in own], integers(5, 50, 4)(i) + 0.5] for i in range(40)]
    yield "shop", ["sku", "colour", "size", "stock", "price"], rows, None
    grades = np.random.default_rng(9).integers(30, 100, (25, 6)).tolist()
    head = ["student", "hw1", "hw2", "hw3", "mid", "lab", "final"]
    yield "gradebook", head, named(people(25), grades), None
    measured = [np.random.default_rng(i).normal(20, 3, 4).round(2).tolist() for i in range(60)]
    times = [f"2024-01-01 {i // 60:02}:{i % 60:02}:00" for i in range(60)]
    yield "sensor flags", ["time", "s1", "s2", "s3", "s4"], named(times, measured), None


@pytest.mark.parametrize("case", list(tables()), ids=lambda case: case[0])
def test_a_table_gives_its_users_and_items_or_a_question(case, tmp_path):
    name, head, rows, right, *may = case
    path = tmp_path / "table.csv"
    path.write_bytes(as_csv([*([head] if head else []), *rows]))
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
