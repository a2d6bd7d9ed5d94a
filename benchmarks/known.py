"""Known answers: what a few of them are worth, drawn at random and asked for.

    python -m benchmarks.known DATA [DATA …] [--draws N] [--only NAME …]

Each folder below DATA with answers and a key is a test. ``auto`` is told 1, 2, 3, 5 and 10 random
true answers, and those to the first one and two items that it asks for. What it knows may never do
harm: the mean Spearman correlation with the true shares should rise with every step, and no set or
draw should fall by much. Readings are found once per test; only what is told changes.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena.cases import Case
from benchmarks.arena.measuring import true_shares
from hitsndiffs import Responses, rank, read_key, read_responses
from hitsndiffs.methods.core import method
from hitsndiffs.results.metrics import accuracy

COUNTS = (1, 2, 3, 5, 10)
ASKED = (1, 2)


def cases(folders: list[Path], only: list[str]) -> list[tuple[str, Path]]:
    """Group and folder of every test with answers and a key."""
    return [
        (folder.name, test)
        for folder in folders
        for test in sorted(folder.iterdir())
        if _files(test) and (not only or test.name in only)
    ]


def _files(test: Path) -> tuple[Path, Path] | None:
    for answers, key in (("answer.csv", "truth.csv"), ("responses.csv", "key.csv")):
        if (test / answers).exists() and (test / key).exists():
            return test / answers, test / key
    return None


def read(test: Path) -> Case:
    """The answers and the key of a test."""
    files = _files(test)
    assert files is not None
    r = read_responses(files[0], transpose=files[0].name == "answer.csv")
    return Case(r, dict(read_key(files[1], r)))


def keep_readings() -> None:
    """Find the readings of each test once, whatever is told of it."""
    found: dict[Any, Any] = {}
    find = method.find

    def once(table: Any, *given: Any, **more: Any) -> Any:
        mark = (table.n_users, table.n_items, table.option.tobytes())
        if mark not in found:
            found.clear()
            found[mark] = find(table, *given, **more)
        return found[mark]

    method.find = once


def told(r: Responses, truth: np.ndarray, answers: dict[Any, str]) -> tuple[float, float]:
    """Spearman and confidence of ``auto`` when it knows these answers."""
    ranking = rank(r, answers=answers) if answers else rank(r)
    value = accuracy(ranking.scores, truth)
    return (0.0 if np.isnan(value) else value), float(ranking.confidence)


def measured(case: Case, draws: int) -> dict[str, list[tuple[float, float]]]:
    """Spearman and confidence by what was told, for each draw."""
    r, truth = case.responses, true_shares(case)
    key = {str(item): answer for item, answer in case.key.items()}
    rows = {"0": [told(r, truth, {})]}
    items = [item for item in r.items.tolist() if str(item) in key]
    for seed in range(draws):
        order = np.random.default_rng([seed, 99]).permutation(len(items))
        for count in COUNTS:
            known = {items[i]: key[str(items[i])] for i in order[:count]}
            rows.setdefault(str(count), []).append(told(r, truth, known))
    asked = rank(r).ask(max(ASKED))
    for count in ASKED:
        known = {q.item: key[str(q.item)] for q in asked[:count] if str(q.item) in key}
        rows[f"asked {count}"] = [told(r, truth, known)]
    return rows


def main() -> None:
    """Measure, and print a row per test and the summary."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", nargs="+", type=Path)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--only", nargs="*", default=[])
    asked = parser.parse_args()
    keep_readings()
    start = time.process_time()
    every: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for group, test in cases(asked.data, asked.only):
        name = f"{group}/{test.name}"
        every[name] = measured(read(test), asked.draws)
        means = (f"{name_}: {np.mean(v, 0)[0]:.3f}" for name_, v in every[name].items())
        print(name, *means, sep="\t", flush=True)
    print("\ntold\tmean\tworst set\tworst draw\tsure and wrong")
    for what in next(iter(every.values())):
        gains = {
            name: np.array([v[0] for v in rows[what]]) - rows["0"][0][0]
            for name, rows in every.items()
        }
        mean = np.mean([np.mean([v[0] for v in rows[what]]) for rows in every.values()])
        sure = sum(v[0] < 0.3 and v[1] > 0.6 for rows in every.values() for v in rows[what])
        low = min(gains, key=lambda n: gains[n].mean())
        lone = min(gains, key=lambda n: gains[n].min())
        print(
            what, f"{mean:.4f}", f"{gains[low].mean():+.3f} {low}",
            f"{gains[lone].min():+.3f} {lone}", sure, sep="\t",
        )  # fmt: skip
    print(f"\n{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
