"""Make the example files, the same to the last byte each time.

Run ``python examples/make_examples.py [FOLDER]``. The answers are simulated: nobody's own.
"""

from __future__ import annotations

import csv
import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np

from hitsndiffs.irt import Simulation, simulate

FOLDER = Path(__file__).parent


def make_quiz(path: Path) -> None:
    """A class of 30 and a quiz of 20 questions: wide, option letters, a few blanks."""
    sim = simulate("samejima", users=30, items=20, options=4, seed=3, ability="normal")
    with path.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file, lineterminator="\n").writerow
        write(["student", *(f"q{number:02}" for number in range(1, 21))])
        letters, blank = _letters(sim, seed=3), np.random.default_rng(3).random((30, 20)) < 0.02
        for place in range(30):
            answers = ["" if b else a for a, b in zip(letters[place], blank[place], strict=True)]
            write([f"student-{place + 1:02}", *answers])


def make_crowd(path: Path) -> None:
    """Workers who labelled some of the pictures: long, one row per answer."""
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
    animals = np.array(["cat", "dog", "fox"])
    r = sim.responses
    rng = np.random.default_rng(5)
    turned = {item: rng.permutation(animals) for item in r.items.tolist()}
    indptr, options = r.rows
    with path.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file, lineterminator="\n").writerow
        write(["worker", "task", "label"])
        for user in range(r.n_users):
            for option in options[indptr[user] : indptr[user + 1]]:
                item = r.items[r.option_items[option]]
                label = turned[item]["ABC".index(r.option_labels[option])]
                write([f"worker-{user + 1:02}", item.replace("item", "picture"), label])


def make_models(path: Path) -> None:
    """Language models on a benchmark: one JSON line per model."""
    sim = simulate("samejima", users=12, items=40, options=4, seed=2, ability="normal")
    letters = _letters(sim, seed=2)
    with path.open("w", encoding="utf-8") as file:
        for place, answers in enumerate(letters):
            responses = {f"question-{i:02}": a for i, a in enumerate(answers, start=1)}
            line = {"subject_id": f"model-{chr(ord('a') + place)}", "responses": responses}
            file.write(json.dumps(line) + "\n")


def _letters(sim: Simulation, seed: int) -> list[list[str]]:
    """The answers by letter, with the letters of every item shuffled, so that no letter is best."""
    r = sim.responses
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(list("ABCD")) for _ in range(r.n_items)]
    names = [
        str(shuffled[item]["ABCD".index(label)])
        for item, label in zip(r.option_items.tolist(), r.option_labels.tolist(), strict=True)
    ]
    indptr, options = r.rows
    return [[names[o] for o in options[a:b]] for a, b in pairwise(indptr)]


def make_all(folder: Path) -> list[Path]:
    """Write every example file into a folder."""
    made = {"quiz.csv": make_quiz, "crowd.csv": make_crowd, "models.jsonl": make_models}
    for name, make in made.items():
        make(folder / name)
    return [folder / name for name in made]


if __name__ == "__main__":
    for written in make_all(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER):
        print(written)
