"""Small cases and brute force for the tests of hitsndiffs.order."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import chain, permutations, product
from math import factorial

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.order.pqtree.nodes import Inner, Leaf, Node, PNode
from hitsndiffs.order.pqtree.tree import PQTree


@cache
def _positions(n: int) -> npt.NDArray[np.int64]:
    """All permutations of n things, as the position that each thing has."""
    return np.array(list(permutations(range(n))), dtype=np.int64).reshape(factorial(n), n)


def valid_positions(n: int, sets: Iterable[Iterable[int]]) -> npt.NDArray[np.int64]:
    """By trying all: the permutations (as positions) in which every set is consecutive."""
    positions = _positions(n)
    for members in map(list, sets):
        if members:
            spread = positions[:, members].max(axis=1) - positions[:, members].min(axis=1)
            positions = positions[spread + 1 == len(members)]
    return positions


def valid_orders(n: int, sets: Iterable[Iterable[int]]) -> set[tuple[int, ...]]:
    """By trying all: the orders in which every set is consecutive."""
    return set(map(tuple, np.argsort(valid_positions(n, sets), axis=1).tolist()))


def tree_orders(tree: PQTree) -> list[tuple[int, ...]]:
    """Every order that a (small) PQ-tree allows, by the definition of its nodes."""

    def below(node: Node) -> list[tuple[int, ...]]:
        if isinstance(node, Leaf):
            return [(node.index,)]
        assert isinstance(node, Inner)
        children = [below(child) for child in node]
        turns = permutations(children) if isinstance(node, PNode) else (children, children[::-1])
        return [tuple(chain(*parts)) for turn in turns for parts in product(*turn)]

    return below(tree._root)


def random_sets(
    n: int, n_sets: int, interval_share: float, rng: np.random.Generator
) -> list[list[int]]:
    """Sets over 0 … n - 1: intervals of one hidden order, and the rest with members at random."""
    hidden = rng.permutation(n)
    sets = []
    for _ in range(n_sets):
        if rng.random() < interval_share:
            first, end = np.sort(rng.choice(n + 1, size=2, replace=False))
            sets.append(hidden[first:end].tolist())
        else:
            sets.append(np.flatnonzero(rng.random(n) < rng.uniform(0.3, 0.7)).tolist())
    return sets


def consistent_answers(
    n_users: int, n_items: int, n_options: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Answers (users × items) that abilities and sorted thresholds decide, and the abilities."""
    abilities = rng.random(n_users)
    thresholds = np.sort(rng.random((n_items, n_options - 1)), axis=1)
    return (abilities[:, None, None] > thresholds).sum(axis=2), abilities


def choosers(responses: Responses) -> list[list[int]]:
    """The users of every option, the slow way."""
    sets: list[list[int]] = [[] for _ in range(responses.n_options)]
    indptr, options = responses.rows
    for user in range(responses.n_users):
        for option in options[indptr[user] : indptr[user + 1]]:
            sets[option].append(user)
    return sets


def tucker(kind: str, k: int = 1) -> tuple[int, list[set[int]]]:
    """Tucker's minimal families without the property (1972): number of elements, and sets."""
    path = [{i, i + 1} for i in range(k + 1)]
    match kind:
        case "I":
            return k + 2, [*path, {k + 1, 0}]
        case "II":
            return k + 3, [*path, {*range(k + 1), k + 2}, {*range(1, k + 2), k + 2}]
        case "III":
            return k + 3, [*path, {*range(1, k + 1), k + 2}]
        case "IV":
            return 6, [{0, 1}, {2, 3}, {4, 5}, {0, 2, 4}]
        case "V":
            return 5, [{0, 1}, {2, 3}, {0, 1, 2, 3}, {0, 2, 4}]
    raise ValueError(kind)


TUCKER = [(kind, k) for kind in ("I", "II", "III") for k in (1, 2, 3, 4)] + [("IV", 1), ("V", 1)]
