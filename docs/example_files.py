"""The files that the examples of the documentation read, made by seeded code: nobody's own.

Run ``python docs/example_files.py FOLDER`` to have them.
"""

from __future__ import annotations

import csv
import hashlib
import json
import runpy
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hitsndiffs.irt.examples import crowd

EXAMPLES = Path(__file__).parent.parent / "examples" / "make_examples.py"
TIME = "2026-01-15T10-30-00.000000"
LETTERS = "ABCD"

Codes = npt.NDArray[np.int64]


def make_all(folder: Path) -> None:
    """Write every file into a folder."""
    runpy.run_path(str(EXAMPLES))["make_all"](folder)
    test = Test.of(students=36, questions=20, seed=12)
    make_class(folder / "class.csv", test)
    right = test.key
    wrong = {**right, "q12": test.most_chosen_wrong_answer(11)}
    write(folder / "class-key.csv", [("item", "answer"), *wrong.items()])
    known = [(item, right[item]) for item in ("q15", "q16")]
    write(folder / "known.csv", [("item", "answer"), *known])
    make_newcomers(folder / "newcomers.csv", test)
    make_midterm(folder / "midterm.csv", Test.of(students=24, questions=12, seed=21))
    points = [("student-01", 12), ("student-02", 9), ("student-03", 15)]
    write(folder / "points.csv", [("student", "points"), *points])
    write(folder / "gold.csv", [("item", "answer"), *list(crowd_key().items())[:5]])
    make_runs(folder / "runs")
    runs = [(f"model-c-run-{n}", "model-c") for n in (1, 2, 3)]
    write(folder / "groups.csv", [("model", "group"), *runs])
    make_copies(folder)
    make_panel(folder)
    make_concept_test(folder)


@dataclass(frozen=True)
class Test:
    """A test with one right answer per question, and a class that sat it."""

    right: npt.NDArray[np.int64]
    hard: npt.NDArray[np.float64]
    lure: npt.NDArray[np.float64]
    rng: np.random.Generator
    sheets: list[list[str]]

    @classmethod
    def of(cls, students: int, questions: int, seed: int) -> Test:
        """A test, and the answers of a class from the ablest to the weakest, shuffled."""
        rng = np.random.default_rng(seed)
        right = rng.integers(4, size=questions)
        test = cls(right, rng.normal(0.1, 0.8, questions), rng.random((questions, 4)), rng, [])
        for ability in rng.permutation(np.linspace(2.2, -2.0, students)):
            test.sheets.append(test.answers(float(ability)))
        return test

    def answers(self, ability: float) -> list[str]:
        """One student: knows the answer, or falls for a wrong one, some more than others."""
        knows = self.rng.random(len(self.right)) < 1 / (1 + np.exp(1.5 * (self.hard - ability)))
        drawn = (self.lure + self.rng.random(self.lure.shape)).argmax(axis=1)
        return [LETTERS[k] for k in np.where(knows, self.right, drawn)]

    def most_chosen_wrong_answer(self, question: int) -> str:
        """The answer that drew most of those who did not know."""
        chosen = Counter(sheet[question] for sheet in self.sheets)
        del chosen[LETTERS[self.right[question]]]
        return chosen.most_common(1)[0][0]

    @property
    def key(self) -> dict[str, str]:
        """The right answers."""
        return {f"q{number:02}": LETTERS[k] for number, k in enumerate(self.right, start=1)}


def write(path: Path, rows: Iterable[Sequence[object]], separator: str = ",") -> None:
    """Write a table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)


def make_class(path: Path, test: Test) -> None:
    """A class and its quiz, with a few blanks."""
    rows: list[Sequence[object]] = [("student", *test.key)]
    for place, answers in enumerate(test.sheets, start=1):
        blank = test.rng.random(len(answers)) < 0.02
        kept = ["" if b else a for a, b in zip(answers, blank, strict=True)]
        rows.append((f"student-{place:02}", *kept))
    write(path, rows)


def crowd_key() -> dict[str, str]:
    """The right labels of examples/crowd.csv."""
    sim, turned = crowd()
    return {
        item.replace("item", "picture"): animals["ABC".index(sim.key[item])]
        for item, animals in turned.items()
    }


def drawn_test(rng: np.random.Generator, users: int, questions: int) -> tuple[Codes, Codes, Codes]:
    """Right answers, everybody's answers, and the users from weak to able."""
    ability, hard = rng.standard_normal(users), rng.normal(-0.1, 0.8, questions)
    knows = rng.random((users, questions)) < 1 / (1 + np.exp(1.2 * (hard - ability[:, None])))
    right = rng.integers(4, size=questions)
    wrong = (right + 1 + rng.integers(3, size=knows.shape)) % 4
    return right, np.where(knows, right, wrong), np.argsort(ability)


def write_sheets(folder: Path, name: str, users: Sequence[str], codes: Codes, right: Codes) -> None:
    """A table of answers, and its key."""
    items = [f"q{number:02}" for number in range(1, len(right) + 1)]
    rows = [(user, *(LETTERS[k] for k in row)) for user, row in zip(users, codes, strict=True)]
    write(folder / f"{name}.csv", [("user", *items), *rows])
    key = zip(items, (LETTERS[k] for k in right), strict=True)
    write(folder / f"{name}-key.csv", [("item", "answer"), *key])


def make_copies(folder: Path) -> None:
    """A class of which a third took nine answers in ten from one weak neighbour."""
    rng = np.random.default_rng(0)
    right, codes, order = drawn_test(rng, 60, 30)
    source = int(order[8])
    copying = rng.choice(np.delete(np.arange(60), source), 20, replace=False)
    taken = rng.random((20, 30)) < 0.9
    codes[copying] = np.where(taken, codes[source], codes[copying])
    names = [f"student-{number:02}" for number in range(1, 61)]
    write_sheets(folder, "copies", names, codes, right)


def make_panel(folder: Path) -> None:
    """A dozen models, eight runs of each; the weak answer mostly one letter."""
    rng = np.random.default_rng(0)
    right, codes, order = drawn_test(rng, 12, 60)
    for model in order[:7]:
        codes[model] = np.where(rng.random(60) < 0.75, rng.choice([1, 1, 3]), codes[model])
    runs = np.repeat(codes, 8, axis=0)
    runs = np.where(rng.random(runs.shape) < 0.05, rng.integers(4, size=runs.shape), runs)
    models = [f"model-{letter}" for letter in "abcdefghijkl"]
    names = [f"{model}-run-{number}" for model in models for number in range(1, 9)]
    write_sheets(folder, "panel", names, runs, right)
    groups = [(name, name.partition("-run")[0]) for name in names]
    write(folder / "panel-groups.csv", [("user", "group"), *groups])


def make_concept_test(folder: Path) -> None:
    """On most questions the middle of the class believes one wrong answer."""
    rng = np.random.default_rng(0)
    right, codes, order = drawn_test(rng, 80, 24)
    place = np.empty(80)
    place[order] = np.linspace(-2.3, 2.3, 80)
    knows = rng.random((80, 24)) < 1 / (1 + np.exp(-2 * (place[:, None] - 1.1)))
    falls = rng.random((80, 24)) < 1 / (1 + np.exp(-2 * (place[:, None] + 0.8)))
    guess = rng.integers(4, size=(80, 24))
    fooled = np.where(knows, right, np.where(falls, (right + 1) % 4, guess))
    codes = np.where(rng.random(24) < 0.8, fooled, codes)
    names = [f"student-{number:02}" for number in range(1, 81)]
    write_sheets(folder, "concept", names, codes, right)


def make_newcomers(path: Path, test: Test) -> None:
    """Four students who sat the quiz later."""
    rows: list[Sequence[object]] = [("student", *test.key)]
    for place, ability in enumerate((2.0, 1.0, 0.0, -1.5), start=41):
        rows.append((f"student-{place}", *test.answers(ability)))
    write(path, rows)


def make_midterm(path: Path, test: Test) -> None:
    """An export with what exports have beside answers, and a column that looks like a question."""
    key = list(test.key.values())
    names = [f"Q{k}" for k in range(1, len(key) + 1)]
    rows: list[Sequence[object]] = [
        ("Submitted", "Student", *names, "Sheet", "Points", "Remarks"),
        ("", "KEY", *key, "", len(key), ""),
    ]
    for place, answers in enumerate(test.sheets, start=1):
        points = sum(a == right for a, right in zip(answers, key, strict=True))
        begin = (f"2026-01-15 09:{place + 10}", f"student-{place:02}")
        end = ("AB"[place % 2], points, "came late" if place == 7 else "")
        rows.append((*begin, *answers, *end))
    write(path, rows, separator=";")


def make_runs(folder: Path) -> None:
    """Samples of language models, as an evaluation harness writes them: one folder per model."""
    names = [f"model-{letter}" for letter in "abcdefghij"]
    names[2:3] = [f"model-c-run-{n}" for n in (1, 2, 3)]
    rng = np.random.default_rng(31)
    right = rng.integers(4, size=40)
    hard = rng.normal(0, 1, 40)
    base: dict[str, np.ndarray] = {}
    for place, name in enumerate(names):
        family = name.partition("-run")[0]
        ability = 1.6 - 0.3 * place if family not in base else 0.0
        knows = rng.random(40) < 1 / (1 + np.exp(hard - ability))
        chosen = np.where(knows, right, rng.integers(4, size=40))
        if family in base:  # another run of the same model: nearly the same answers
            chosen = np.where(rng.random(40) < 0.95, base[family], chosen)
        base.setdefault(family, chosen)
        lines = [json.dumps(sample(k, int(chosen[k]), int(right[k]))) for k in range(40)]
        target = folder / name / f"samples_colours_{TIME}.jsonl"
        target.parent.mkdir(parents=True)
        target.write_text("\n".join(lines) + "\n", encoding="utf-8")


def sample(number: int, chosen: int, right: int) -> dict[str, object]:
    """One question and the log-likelihoods of its options."""
    pairs = [[f"{-1.0 if k == chosen else -2.5 - k / 10}", "False"] for k in range(4)]
    return {
        "doc_id": number,
        "doc": {
            "question": f"Which is the colour {number + 1}?",
            "choices": [f"{c} {number + 1}" for c in ("red", "green", "blue", "grey")],
        },
        "target": str(right),
        "arguments": {
            f"gen_args_{k}": {"arg_0": "ctx", "arg_1": f" {LETTERS[k]}"} for k in range(4)
        },
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "filter": "none",
        "doc_hash": hashlib.sha256(str(number).encode()).hexdigest(),
        "acc": float(chosen == right),
    }


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True, exist_ok=True)
    make_all(place)
