"""How the PQ-tree's time grows with the number of ones, for several kinds of consistent data.

Usage: python benchmarks/pqtree_growth.py [REPEATS]

``users``    250 … 4000 users × 100 items × 3 options, one leaf per user (equal answers not merged)
``analysed`` the same responses through ``analyse`` (equal answers merged first)
``both``     users and items grow together, so that nearly all answer sheets differ
``pairs``    the n - 1 neighbouring pairs of a hidden order, in random sequence: one long Q-node
``spans``    n random spans of up to 20 neighbours in a hidden order

Prints the best processor time of REPEATS runs and the slope of log time against log ones.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from c1p_cases import choosers, consistent_answers
from factory import make_responses

from hitsndiffs.engines import open_engine
from hitsndiffs.order.consistency import analyse
from hitsndiffs.order.pqtree.tree import PQTree

Case = tuple[int, Callable[[], bool]]


def reduce_all(n: int, sets: list[list[int]]) -> bool:
    tree = PQTree(n)
    return all(tree.reduce(members) for members in sets)


def of_sets(n: int, sets: list[list[int]]) -> Case:
    return sum(map(len, sets)), lambda: reduce_all(n, sets)


def users(m: int, rng: np.random.Generator, n_items: int = 100) -> Case:
    responses = make_responses(consistent_answers(m, n_items, 3, rng)[0])
    return of_sets(m, choosers(responses))


def analysed(m: int, rng: np.random.Generator) -> Case:
    responses = make_responses(consistent_answers(m, 100, 3, rng)[0])
    return responses.n_responses, lambda: analyse(open_engine(responses), range(m)).consistent


def both(m: int, rng: np.random.Generator) -> Case:
    return users(m, rng, n_items=m)


def pairs(n: int, rng: np.random.Generator) -> Case:
    hidden = rng.permutation(n)
    return of_sets(n, [hidden[i : i + 2].tolist() for i in rng.permutation(n - 1)])


def spans(n: int, rng: np.random.Generator) -> Case:
    hidden = rng.permutation(n)
    starts, lengths = rng.integers(0, n - 20, size=n), rng.integers(2, 21, size=n)
    return of_sets(n, [hidden[i : i + k].tolist() for i, k in zip(starts, lengths, strict=True)])


CASES = {
    users: (250, 500, 1000, 2000, 4000),
    analysed: (250, 500, 1000, 2000, 4000),
    both: (100, 200, 400, 800),
    pairs: (4000, 8000, 16_000, 32_000, 64_000),
    spans: (1000, 2000, 4000, 8000, 16_000),
}


def best_time(run: Callable[[], bool], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        if not run():
            raise RuntimeError("consistent data were found inconsistent")
        times.append(time.process_time() - start)
    return min(times)


def main(repeats: int = 3) -> None:
    for make, sizes in CASES.items():
        ones, seconds = [], []
        for size in sizes:
            n_ones, run = make(size, np.random.default_rng(size))
            ones.append(n_ones)
            seconds.append(best_time(run, repeats))
            print(f"{make.__name__:<9}{size:>7,}{n_ones:>10,} ones{seconds[-1]:>9.3f} s")
        slope = np.polyfit(np.log(ones), np.log(seconds), 1)[0]
        print(f"{make.__name__:<9}exponent {slope:.2f}\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
