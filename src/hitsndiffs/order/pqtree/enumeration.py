"""Walks over a PQ-tree: its leaves, its orders, its text. None of them recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from hitsndiffs.order.pqtree.nodes import Inner, Leaf, Node, PNode, QNode

__all__ = [
    "arranged",
    "from_prefix_form",
    "inner_nodes",
    "leaf_order",
    "leaf_orders",
    "prefix_form",
    "text",
]

Children = Callable[[Inner], Iterable[Node]]


def walk(root: Node, children: Children = iter) -> Iterator[tuple[Node, bool]]:
    """Depth first: a leaf once; an inner node with True when entered and False when left."""
    stack: list[tuple[Node, bool]] = [(root, True)]
    while stack:
        node, entered = stack.pop()
        yield node, entered
        if entered and isinstance(node, Inner):
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(list(children(node))))


def inner_nodes(root: Node) -> Iterator[Inner]:
    """P-nodes and Q-nodes, each before its children."""
    for node, entered in walk(root):
        if entered and isinstance(node, Inner):
            yield node


def leaf_order(root: Node, children: Children = iter) -> list[int]:
    """The numbers of the leaves from left to right."""
    return [node.index for node, _ in walk(root, children) if isinstance(node, Leaf)]


def arranged(
    root: Node, values: Sequence[float], sizes: Sequence[int], limit: float
) -> tuple[list[int], list[bool]]:
    """The order that follows some values (see :meth:`hitsndiffs.order.PQTree.arranged`)."""
    sums: dict[Node, tuple[float, float]] = {}
    children: dict[Inner, list[Node]] = {}

    def mean(node: Node) -> float:
        value, size = sums[node]
        return value / size

    for node, entered in walk(root):
        if isinstance(node, Leaf):
            size = float(sizes[node.index])
            sums[node] = (values[node.index] * size, size)
        elif not entered and isinstance(node, Inner):
            own = list(node)
            sums[node] = (sum(sums[c][0] for c in own), sum(sums[c][1] for c in own))
            if isinstance(node, PNode):
                own.sort(key=mean)
            else:
                middle = (len(own) - 1) / 2
                if sum((place - middle) * mean(child) for place, child in enumerate(own)) < 0:
                    own.reverse()
            children[node] = own
    tied_leaves = {
        after.index
        for node, own in children.items()
        if isinstance(node, PNode)
        for before, after in pairwise(own)
        if isinstance(before, Leaf)
        and isinstance(after, Leaf)
        and mean(after) - mean(before) <= limit
    }
    order = leaf_order(root, children.__getitem__)
    return order, [index in tied_leaves for index in order]


def leaf_orders(root: Node) -> Iterator[list[int]]:
    """All orders, each once: the inner nodes' arrangements turn like an odometer."""
    original = {node: list(node) for node in inner_nodes(root)}
    wheels = {node: list(range(len(children))) for node, children in original.items()}

    def arranged(node: Inner) -> list[Node]:
        return [original[node][i] for i in wheels[node]]

    while True:
        yield leaf_order(root, arranged)
        for node, wheel in wheels.items():
            if isinstance(node, PNode):
                came_round = not _next_permutation(wheel)
            else:
                wheel.reverse()
                came_round = wheel[0] == 0
            if not came_round:
                break
        else:
            return


def _next_permutation(numbers: list[int]) -> bool:
    """Advance to the next permutation in dictionary order; False on return to the first."""
    pivot = len(numbers) - 2
    while pivot >= 0 and numbers[pivot] > numbers[pivot + 1]:
        pivot -= 1
    if pivot >= 0:
        swap = len(numbers) - 1
        while numbers[swap] < numbers[pivot]:
            swap -= 1
        numbers[pivot], numbers[swap] = numbers[swap], numbers[pivot]
    numbers[pivot + 1 :] = reversed(numbers[pivot + 1 :])
    return pivot >= 0


def text(root: Node, labels: Sequence[Any], limit: int | None) -> str:
    """Braces for P-nodes, brackets for Q-nodes (see :meth:`hitsndiffs.order.PQTree.to_text`)."""
    pieces: list[str] = []
    unfinished: list[str] = []
    n_leaves = n_written = 0
    for node, entered in walk(root):
        if isinstance(node, Inner) and not entered:
            pieces.append(unfinished.pop())
            continue
        if n_written == limit:
            pieces.append(f" … {len(labels) - n_leaves:,} more")
            pieces.extend(reversed(unfinished))
            break
        n_written += 1
        if pieces and pieces[-1] not in {"{", "["}:
            pieces.append(" ")
        if isinstance(node, Leaf):
            n_leaves += 1
            pieces.append(str(labels[node.index]))
        else:
            pieces.append("{" if isinstance(node, PNode) else "[")
            unfinished.append("}" if isinstance(node, PNode) else "]")
    return "".join(pieces)


def prefix_form(root: Node) -> list[tuple[str, int]]:
    """Every node before its children: a leaf with its number, others with their size."""
    form: list[tuple[str, int]] = []
    for node, entered in walk(root):
        if isinstance(node, Leaf):
            form.append(("leaf", node.index))
        elif entered and isinstance(node, Inner):
            form.append(("P" if isinstance(node, PNode) else "Q", node.size))
    return form


def from_prefix_form(form: Sequence[tuple[str, int]], leaves: Sequence[Leaf]) -> Node:
    """The tree that :func:`prefix_form` describes."""
    finished: list[Node] = []
    for kind, number in reversed(form):
        if kind == "leaf":
            finished.append(leaves[number])
        else:
            children = [finished.pop() for _ in range(number)]
            finished.append(PNode(children) if kind == "P" else QNode(children))
    return finished[0]
