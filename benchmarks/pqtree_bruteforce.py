"""Compare the PQ-tree with brute force on many random 0/1 matrices of at most 7 rows.

Usage: python benchmarks/pqtree_bruteforce.py [COUNT] [SEED]

Every matrix is reduced column by column. After each column the answer (does it fit?) and, at the
end, the set of all orders are compared with trying every permutation. Exits with 1 if any differ.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from c1p_cases import random_sets, tree_orders, valid_orders, valid_positions

from hitsndiffs.order.pqtree.tree import PQTree


def agrees(n: int, sets: list[list[int]]) -> tuple[bool, bool]:
    """Whether tree and brute force agree, and whether the whole matrix has the property."""
    tree = PQTree(n)
    kept: list[list[int]] = []
    for members in sets:
        accepted = tree.reduce(members)
        if accepted != (len(valid_positions(n, [*kept, members])) > 0):
            return False, False
        if accepted:
            kept.append(members)
    orders = tree_orders(tree)
    same = len(orders) == tree.n_orders() and set(orders) == valid_orders(n, kept)
    return same and len(set(orders)) == len(orders), len(kept) == len(sets)


def main(count: int = 5000, seed: int = 0) -> int:
    rng = np.random.default_rng(seed)
    start = time.perf_counter()
    positive = negative = disagreements = 0
    for _ in range(count):
        n = int(rng.integers(3, 8))
        sets = random_sets(n, int(rng.integers(2, 13)), rng.choice([0.0, 0.5, 0.8, 1.0]), rng)
        same, has_property = agrees(n, sets)
        disagreements += not same
        positive += has_property
        negative += not has_property
    seconds = time.perf_counter() - start
    print(
        f"{count:,} matrices (seed {seed}): {positive:,} with the property, {negative:,} without; "
        f"{disagreements} disagreements; {seconds:.0f} s"
    )
    return int(disagreements > 0)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
