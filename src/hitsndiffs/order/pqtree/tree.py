"""The PQ-tree of Booth and Lueker: all orders in which given sets are consecutive."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from hitsndiffs.order.pqtree import reduction
from hitsndiffs.order.pqtree.nodes import EMPTY, Inner, Leaf, Node, PNode, QNode

__all__ = ["PQTree"]


class PQTree:
    """All orders of some leaves in which the sets given so far are consecutive.

    A tree of leaves, P-nodes (children in any order) and Q-nodes (children in one order or its
    reverse). It starts as one P-node, which allows all orders, and :meth:`reduce` narrows it.
    The total time of all reductions is near linear in the sum of the sets' sizes.

    Parameters
    ----------
    n_leaves
        The number of leaves: ``PQTree(4)`` has the leaves 0, 1, 2 and 3.

    Examples
    --------
    >>> tree = PQTree(5)
    >>> tree.reduce([2, 3]), tree.reduce([3, 4])
    (True, True)
    >>> print(tree)  # 0, 1 and the block 2 3 4 in any order; 2 3 4 forwards or backwards
    {0 1 [2 3 4]}
    >>> tree.n_orders()
    12
    >>> tree.reduce([2, 4])  # not consecutive in any of them: refused, and nothing changes
    False
    >>> tree.n_orders()
    12

    References
    ----------
    Booth and Lueker, J. Comput. Syst. Sci. 13 (1976) 335–379.
    """

    __slots__ = ("_leaves", "_root")

    def __init__(self, n_leaves: int) -> None:
        self._leaves = [Leaf(i) for i in range(n_leaves)]
        self._root: Node = self._leaves[0] if n_leaves == 1 else PNode(self._leaves)

    @classmethod
    def of(cls, form: Sequence[tuple[str, int]], n_leaves: int) -> PQTree:
        """A tree by its nodes, parents first: kind (P, Q or leaf), and size or number.

        >>> print(PQTree.of([("P", 2), ("leaf", 1), ("Q", 2), ("leaf", 0), ("leaf", 2)], 3))
        {1 [0 2]}
        """
        tree = cls(n_leaves)
        finished: list[Node] = []
        for kind, number in reversed(form):
            if kind == "leaf":
                finished.append(tree._leaves[number])
            else:
                children = [finished.pop() for _ in range(number)]
                finished.append(PNode(children) if kind == "P" else QNode(children))
        tree._root = finished[0]
        return tree

    def __len__(self) -> int:
        return len(self._leaves)

    def __str__(self) -> str:
        pieces: list[str] = []
        for node, entered in _walk(self._root):
            if entered and pieces and pieces[-1] not in {"{", "["}:
                pieces.append(" ")
            if isinstance(node, Leaf):
                pieces.append(str(node.index))
            else:
                brackets = "{}" if isinstance(node, PNode) else "[]"
                pieces.append(brackets[0] if entered else brackets[1])
        return "".join(pieces)

    def reduce(self, numbers: Iterable[int]) -> bool:
        """Keep the orders in which these leaves (all different) are consecutive, if there are any.

        If no order would be left, the result is false, and the tree stays as it was.
        """
        leaves = [self._leaves[i] for i in numbers]
        if len(leaves) < 2 or len(leaves) == len(self._leaves):
            return True
        touched: list[Inner] = []
        apex = reduction.mark(leaves, touched)
        accepted = apex is not None and reduction.fits(apex)
        if accepted:
            assert apex is not None
            standing = reduction.restructure(apex, touched)
            if apex is self._root:
                self._root = standing
        for leaf in leaves:
            leaf.mark = EMPTY
        for node in touched:
            node.forget()
        return accepted

    def frontier(self) -> list[int]:
        """Return one of the orders: the leaves from left to right.

        >>> tree = PQTree(3)
        >>> tree.reduce([0, 2])
        True
        >>> tree.frontier()
        [1, 0, 2]
        """
        return _leaves_of(self._root)

    def arranged(
        self, values: Sequence[float], sizes: Sequence[int], tolerance: float = 1e-9
    ) -> tuple[list[int], list[bool]]:
        """Return the order that follows some values best, and which leaves of it are tied.

        The children of a P-node are sorted by their mean values; a Q-node is turned so that its
        values rise.

        Parameters
        ----------
        values, sizes
            For each leaf, its value and how much it counts.
        tolerance
            Values that differ by no more than this, relative to the largest, are equal.

        Returns
        -------
        order
            Leaf numbers.
        tied
            For each place of the order, whether the leaf there can change places with the one
            before and has an equal value.

        Examples
        --------
        >>> tree = PQTree(4)
        >>> tree.reduce([0, 1]), tree.reduce([1, 2])
        (True, True)
        >>> tree.arranged([3, 2, 1, 0], [1, 1, 1, 1])
        ([3, 2, 1, 0], [False, False, False, False])
        >>> PQTree(3).arranged([5, 0, 5], [1, 1, 1])
        ([1, 0, 2], [False, False, True])
        """
        limit = tolerance * max((abs(value) for value in values), default=0.0)
        sums: dict[Node, tuple[float, float]] = {}
        children: dict[Inner, list[Node]] = {}

        def mean(node: Node) -> float:
            value, size = sums[node]
            return value / size

        for node, entered in _walk(self._root):
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
        tied = {
            after.index
            for node, own in children.items()
            if isinstance(node, PNode)
            for before, after in pairwise(own)
            if isinstance(before, Leaf)
            and isinstance(after, Leaf)
            and mean(after) - mean(before) <= limit
        }
        order = _leaves_of(self._root, children.__getitem__)
        return order, [index in tied for index in order]

    def n_orders(self) -> int:
        """Return the exact number of orders: c! for a P-node with c children, 2 for a Q-node.

        The number can have very many digits; :meth:`log10_orders` is quick and short.
        """
        n_turns, p_sizes = self._nodes()
        number: int = math.prod(math.factorial(size) ** n for size, n in p_sizes.items())
        return number << n_turns

    def log10_orders(self) -> float:
        """Return the decimal logarithm of the number of orders."""
        n_turns, p_sizes = self._nodes()
        natural = sum(n * math.lgamma(size + 1) for size, n in p_sizes.items())
        return (natural + n_turns * math.log(2)) / math.log(10)

    def _nodes(self) -> tuple[int, Counter[int]]:
        """How many Q-nodes there are, and how many P-nodes of each size."""
        inner = [node for node, entered in _walk(self._root) if entered and isinstance(node, Inner)]
        p_sizes = Counter(node.size for node in inner if isinstance(node, PNode))
        return sum(isinstance(node, QNode) for node in inner), p_sizes


def _walk(
    root: Node, children: Callable[[Inner], Iterable[Node]] = iter
) -> Iterator[tuple[Node, bool]]:
    """Depth first: a leaf once; an inner node with True when entered and False when left.

    No function calls itself: trees can be deep.
    """
    stack: list[tuple[Node, bool]] = [(root, True)]
    while stack:
        node, entered = stack.pop()
        yield node, entered
        if entered and isinstance(node, Inner):
            stack.append((node, False))
            stack.extend((child, True) for child in reversed(list(children(node))))


def _leaves_of(root: Node, children: Callable[[Inner], Iterable[Node]] = iter) -> list[int]:
    """The numbers of the leaves from left to right."""
    return [node.index for node, _ in _walk(root, children) if isinstance(node, Leaf)]
