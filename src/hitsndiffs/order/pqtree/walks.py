"""Walks over a PQ-tree: its leaves, its best order, its text. None of them recurses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from hitsndiffs.order.pqtree.nodes import Inner, Leaf, Node, PNode, QNode

__all__ = ["arranged", "from_prefix_form", "inner_nodes", "leaf_order", "text"]

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


def text(root: Node) -> str:
    """The tree in one line: braces for P-nodes, brackets for Q-nodes."""
    pieces: list[str] = []
    for node, entered in walk(root):
        if entered and pieces and pieces[-1] not in {"{", "["}:
            pieces.append(" ")
        if isinstance(node, Leaf):
            pieces.append(str(node.index))
        else:
            brackets = "{}" if isinstance(node, PNode) else "[]"
            pieces.append(brackets[0] if entered else brackets[1])
    return "".join(pieces)


def from_prefix_form(form: Sequence[tuple[str, int]], leaves: Sequence[Leaf]) -> Node:
    """The tree with every node before its children: leaves by number, others by their size."""
    finished: list[Node] = []
    for kind, number in reversed(form):
        if kind == "leaf":
            finished.append(leaves[number])
        else:
            children = [finished.pop() for _ in range(number)]
            finished.append(PNode(children) if kind == "P" else QNode(children))
    return finished[0]
