"""The PQ-tree against brute force, known families and very deep trees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from c1p_cases import TUCKER, random_sets, tree_orders, tucker, valid_orders
from factory import THOROUGH, examples
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.order.pqtree import reduction
from hitsndiffs.order.pqtree.nodes import Inner, Leaf
from hitsndiffs.order.pqtree.tree import PQTree


def reduce_and_compare(n: int, sets: list[list[int]]) -> tuple[int, int]:
    """Reduce set after set, each time compare with brute force; return accepted and refused."""
    tree = PQTree(n)
    kept: list[list[int]] = []
    for members in sets:
        accepted = tree.reduce(members)
        assert accepted == bool(valid_orders(n, [*kept, members])), (kept, members)
        if accepted:
            kept.append(members)
        orders = tree_orders(tree)
        assert len(set(orders)) == len(orders) == tree.n_orders()
        assert set(orders) == valid_orders(n, kept), (kept, members, str(tree))
        assert tuple(tree.frontier()) in set(orders)
    return len(kept), len(sets) - len(kept)


@given(
    st.integers(1, 6).flatmap(
        lambda n: st.tuples(
            st.just(n), st.lists(st.lists(st.integers(0, n - 1), unique=True), max_size=6)
        )
    )
)
@examples(200)
def test_any_sets_against_brute_force(case: tuple[int, list[list[int]]]) -> None:
    reduce_and_compare(*case)


@pytest.mark.parametrize("interval_share", [1.0, 0.6, 0.0])
def test_random_sets_against_brute_force(interval_share: float) -> None:
    rng = np.random.default_rng(7)
    counts = [
        reduce_and_compare(n, random_sets(n, 8, interval_share, rng))
        for n in rng.integers(4, 7, size=70 if THOROUGH else 45).tolist()
    ]
    accepted, refused = np.sum(counts, axis=0)
    assert accepted > 100
    assert refused == 0 if interval_share == 1 else refused > 40


@pytest.mark.parametrize(("kind", "k"), TUCKER)
def test_tuckers_families_are_refused_and_minimal(kind: str, k: int) -> None:
    n, sets = tucker(kind, k)
    accepted = [accepts(n, sets[i:] + sets[:i]) for i in range(len(sets))]
    assert accepted == [False] * len(sets)
    for i in range(len(sets)):
        assert accepts(n, sets[:i] + sets[i + 1 :])
    for element in range(n):
        assert accepts(n, [members - {element} for members in sets])


def accepts(n: int, sets: list[set[int]]) -> bool:
    tree = PQTree(n)
    return all(tree.reduce(members) for members in sets)


@pytest.mark.parametrize(
    ("sets", "text"),
    [
        ([], "{0 1 2 3 4}"),
        (["01"], "{2 3 4 {0 1}}"),  # template P2
        (["01", "12"], "{3 4 [0 1 2]}"),  # P3, P4
        (["012", "234"], "[{0 1} 2 {3 4}]"),  # P4 with a block on either side
        (["01", "23", "12"], "{4 [0 1 2 3]}"),  # P6
        (["01", "12", "23", "0123", "34"], "[0 1 2 3 4]"),  # Q2
        (["01", "12", "23", "012"], "{4 [0 1 2 3]}"),  # Q1
        (["0123", "01", "23", "12", "04"], "[3 2 1 0 4]"),  # Q2 below P4
        (["01234", "0", ""], "{0 1 2 3 4}"),  # trivial sets
    ],
)
def test_shapes(sets: list[str], text: str) -> None:
    tree, numbers = PQTree(5), [list(map(int, members)) for members in sets]
    assert all(tree.reduce(members) for members in numbers)
    assert str(tree) == text
    assert tree.n_orders() == len(valid_orders(5, numbers))


def test_a_refused_set_leaves_the_tree_as_it_was() -> None:
    tree = PQTree(8)
    for members in ([0, 1, 2, 3], [2, 3, 4], [5, 6], [4, 5]):
        assert tree.reduce(members)
    before = str(tree), tree.n_orders()
    for members in ([0, 5], [0, 1, 6], [1, 3, 5, 7], [0, 2, 4]):
        assert not tree.reduce(members)
        assert (str(tree), tree.n_orders()) == before


def test_the_sequence_of_leaves_does_not_matter() -> None:
    one, other = PQTree(4), PQTree(4)
    assert one.reduce([1, 0])
    assert other.reduce({0, 1})
    assert one.n_orders() == other.n_orders() == 12


def test_number_of_orders_is_exact_and_its_logarithm_close() -> None:
    tree = PQTree(2000)
    assert tree.n_orders() == math.factorial(2000)
    for start in range(0, 1000, 10):
        assert tree.reduce(range(start, start + 6))
        assert tree.reduce(range(start + 3, start + 9))
    expected = math.factorial(1200) * (2 * 6**3) ** 100
    assert tree.n_orders() == expected
    assert tree.log10_orders() == pytest.approx(math.log10(expected), rel=1e-12)


def test_tiny_trees() -> None:
    for n, text in ((0, "{}"), (1, "0")):
        assert str(PQTree(n)) == text
        assert tree_orders(PQTree(n)) == [tuple(range(n))]


DEPTH = 5_000  # five times as deep as Python lets functions call themselves


def deep_tree() -> PQTree:
    """A P-node with a leaf and a P-node with a leaf and a P-node …"""
    form: list[tuple[str, int]] = []
    for i in range(DEPTH):
        form += [("P", 2), ("leaf", i)]
    return PQTree.of([*form, ("leaf", DEPTH)], DEPTH + 1)


def test_deep_trees_do_not_recurse() -> None:
    tree = deep_tree()
    assert tree.frontier() == list(range(DEPTH + 1))
    assert tree.n_orders() == 2**DEPTH
    assert str(tree).startswith("{0 {1 {2 ")
    assert tree.reduce([0, DEPTH])  # one path from the root to the deepest leaf, all of it straight
    assert tree.n_orders() == 2
    straight = [*range(1, DEPTH + 1), 0]
    assert tree.frontier() in (straight, straight[::-1])


def test_long_chains_are_found_in_any_sequence() -> None:
    n = 3000
    rng = np.random.default_rng(0)
    hidden = rng.permutation(n)
    tree = PQTree(n)
    for i in rng.permutation(n - 1):
        assert tree.reduce(hidden[i : i + 2].tolist())
    assert tree.frontier() in (hidden.tolist(), hidden[::-1].tolist())
    assert not tree.reduce([hidden[0], hidden[-1]])


@pytest.mark.parametrize("longest", [2, 20])
def test_work_is_linear_in_the_ones(longest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    visited = 0
    mark = reduction.mark

    def counting_mark(leaves: list[Leaf], touched: list[Inner]) -> Inner | None:
        nonlocal visited
        apex = mark(leaves, touched)
        visited += len(leaves) + len(touched)
        return apex

    monkeypatch.setattr(reduction, "mark", counting_mark)
    per_one = []
    for n in (500, 4000):
        rng = np.random.default_rng(n)
        hidden = rng.permutation(n)
        tree = PQTree(n)
        ones = visited = 0
        for start in rng.permutation(n - longest + 1).tolist():
            members = hidden[start : start + rng.integers(2, longest + 1)].tolist()
            ones += len(members)
            assert tree.reduce(members)
        per_one.append(visited / ones)
    assert max(per_one) < 3
    assert per_one[1] == pytest.approx(per_one[0], rel=0.1)
