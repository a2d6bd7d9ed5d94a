"""Example data: simulated, nobody's real answers, and identical to the last byte each time."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from itertools import pairwise

import numpy as np

from hitsndiffs.irt.simulation import Simulation, simulate

__all__ = ["EXAMPLES", "crowd", "make_crowd", "make_models", "make_quiz"]


def make_quiz() -> str:
    """A class of 30 and a quiz of 20 questions: wide, option letters, a few blanks.

    >>> make_quiz().splitlines()[0][:19]
    'student,q01,q02,q03'
    """
    sim = simulate("samejima", users=30, items=20, options=4, seed=3, ability="normal")
    letters, blank = _letters(sim, seed=3), np.random.default_rng(3).random((30, 20)) < 0.02
    rows = [["student", *(f"q{number:02}" for number in range(1, 21))]]
    for place in range(30):
        answers = ["" if b else a for a, b in zip(letters[place], blank[place], strict=True)]
        rows.append([f"student-{place + 1:02}", *answers])
    return _csv(rows)


def crowd() -> tuple[Simulation, dict[str, list[str]]]:
    """The crowd of ``make_crowd``, and for each item the animals that A, B and C stand for."""
    sim = simulate(
        "samejima",
        users=40,
        items=50,
        options=3,
        seed=5,
        ability=np.random.default_rng(5).normal(0.5, 0.7, 40),
        answers_per_user=25,
        answers_tail=0.5,
    )
    animals, rng = np.array(["cat", "dog", "fox"]), np.random.default_rng(5)
    return sim, {item: rng.permutation(animals).tolist() for item in sim.responses.items.tolist()}


def make_crowd() -> str:
    """Workers who labelled some of the pictures: long, one row per answer."""
    sim, turned = crowd()
    r = sim.responses
    indptr, options = r.rows
    rows = [["worker", "task", "label"]]
    for user in range(r.n_users):
        for option in options[indptr[user] : indptr[user + 1]]:
            item = r.items[r.option_items[option]]
            label = turned[item]["ABC".index(r.option_labels[option])]
            rows.append([f"worker-{user + 1:02}", item.replace("item", "picture"), label])
    return _csv(rows)


def make_models() -> str:
    """Language models on a benchmark: one JSON line per model."""
    sim = simulate("samejima", users=12, items=40, options=4, seed=2, ability="normal")
    lines = []
    for place, answers in enumerate(_letters(sim, seed=2)):
        responses = {f"question-{i:02}": a for i, a in enumerate(answers, start=1)}
        line = {"subject_id": f"model-{chr(ord('a') + place)}", "responses": responses}
        lines.append(json.dumps(line) + "\n")
    return "".join(lines)


#: Each file's name, and the function that makes its text.
EXAMPLES: dict[str, Callable[[], str]] = {
    "quiz.csv": make_quiz,
    "crowd.csv": make_crowd,
    "models.jsonl": make_models,
}


def _csv(rows: list[list[str]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _letters(sim: Simulation, seed: int) -> list[list[str]]:
    """The answers by letter, with each item's letters shuffled so that no letter is best."""
    r = sim.responses
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(list("ABCD")) for _ in range(r.n_items)]
    names = [
        str(shuffled[item]["ABCD".index(label)])
        for item, label in zip(r.option_items.tolist(), r.option_labels.tolist(), strict=True)
    ]
    indptr, options = r.rows
    return [[names[o] for o in options[a:b]] for a, b in pairwise(indptr)]
