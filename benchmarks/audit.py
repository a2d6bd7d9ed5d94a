"""Errors planted in the keys of real tests, and how well the audit finds them.

    python -m benchmarks.audit DATA [DATA …]

Each folder below DATA with answers and a key is a test; those of at most 3,000 users and 300 items
are used. In every test one key entry in 15, and in another run one in 30, is replaced by another
option that somebody chose. The keys themselves may hold errors that nobody planted, which count
against the audit.
"""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from hitsndiffs import Responses, read_key, read_responses
from hitsndiffs.results.audit import Audit, audit

MOST_USERS, MOST_ITEMS, SEEDS = 3_000, 300, 3
EVERY = (15, 30)
#: Tests with so many answers per item are shown apart.
MANY_ANSWERS = 100


def tests(folders: list[Path]) -> Iterator[tuple[str, str, Responses, dict[str, str]]]:
    """Group, name, answers and key of every test."""
    for folder in folders:
        for test in sorted(p for p in folder.iterdir() if p.is_dir()):
            turned = (test / "answer.csv").exists()
            answers = test / ("answer.csv" if turned else "responses.csv")
            key = test / ("truth.csv" if turned else "key.csv")
            if not (answers.exists() and key.exists()):
                continue
            r = read_responses(answers, transpose=True) if turned else read_responses(answers)
            if r.n_users <= MOST_USERS and r.n_items <= MOST_ITEMS:
                yield folder.name, test.name, r, dict(read_key(key, r))


def planted(
    r: Responses, key: dict[str, str], every: int, seed: int
) -> tuple[dict[str, str], set[str]]:
    """The key with one entry in ``every`` replaced, and the items of those entries."""
    rng = np.random.default_rng(seed)
    items = {str(item): i for i, item in enumerate(r.items.tolist())}
    able = [item for item in key if np.diff(r.item_starts)[items[item]] > 1]
    wrong = rng.choice(able, min(max(round(len(key) / every), 1), len(able)), replace=False)
    changed = dict(key)
    for item in wrong.tolist():
        i = items[item]
        others = [
            str(label)
            for label in r.option_labels[r.item_starts[i] : r.item_starts[i + 1]]
            if str(label) != key[item]
        ]
        changed[item] = str(rng.choice(others))
    return changed, set(wrong.tolist())


def area(found: Any, wrong: Any) -> float:
    """Area under the curve: how often a planted error is doubted more than a right entry."""
    order = np.argsort(np.argsort(found)) + 1.0
    for value in np.unique(found):
        order[found == value] = order[found == value].mean()
    n, rest = wrong.sum(), (~wrong).sum()
    return float((order[wrong].sum() - n * (n + 1) / 2) / (n * rest)) if n and rest else np.nan


def main() -> None:
    """Plant, audit and print the tables."""
    rows: dict[tuple[str, int], list[tuple[str, float, Any, Any, Audit, bool]]] = defaultdict(list)
    start = time.process_time()
    answers = 0
    for group, name, r, key in tests([Path(folder) for folder in sys.argv[1:]]):
        for every in EVERY:
            for seed in range(SEEDS):
                changed, wrong = planted(r, key, every, seed)
                found = audit(r, changed)
                answers += r.n_responses
                doubt = found.probability_wrong
                known = ~np.isnan(doubt)
                is_wrong = np.array([str(item) in wrong for item in r.items.tolist()])[known]
                many = r.n_responses / r.n_items >= MANY_ANSWERS
                score = area(doubt[known], is_wrong)
                rows[group, every].append((name, score, doubt[known], is_wrong, found, many))
                rows["all", every].append(rows[group, every][-1])
    seconds = time.process_time() - start
    print("group every tests AUC precision recall | precision recall (100 answers) | do not fit")
    for (group, every), found in sorted(rows.items()):
        fits = [row for row in found if row[4].fits]
        cells = []
        for some in (fits, [row for row in fits if row[5]]):
            p = np.concatenate([row[2] for row in some]) if some else np.zeros(0)
            w = np.concatenate([row[3] for row in some]) if some else np.zeros(0, bool)
            hit = p > 0.5
            cells.append(f"{w[hit].mean():.2f} {hit[w].mean():.2f}" if hit.any() else "– –")
        mean = np.nanmean([row[1] for row in found])
        n = len({row[0] for row in found})
        print(group, every, n, f"{mean:.3f}", *cells, len(found) - len(fits), sep="\t")
    print("\nsaid … was wrong (all tests where key and answers fit)")
    everything = [row for (g, _), found in rows.items() if g == "all" for row in found]
    p = np.concatenate([row[2] for row in everything if row[4].fits])
    w = np.concatenate([row[3] for row in everything if row[4].fits])
    for low, high in zip(
        (0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9), (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.01), strict=True
    ):
        here = (p >= low) & (p < high)
        print(f"{low:.2f}–{high:.2f}\t{p[here].mean():.2f}\t{w[here].mean():.2f}\t{here.sum()}")
    print(f"\n{seconds:.1f} s of processor time for {answers:,} answers")
    worst: dict[str, list[float]] = defaultdict(list)
    for row in everything:
        worst[row[0]].append(row[1])
    for name, scores in sorted(worst.items(), key=lambda pair: np.mean(pair[1]))[:8]:
        print(name, f"{np.mean(scores):.3f}")


if __name__ == "__main__":
    main()
