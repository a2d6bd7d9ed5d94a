"""The PQ-tree of Booth and Lueker: all orders in which given sets are consecutive."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from hitsndiffs.errors import InputError
from hitsndiffs.order.pqtree import enumeration, reduction
from hitsndiffs.order.pqtree.nodes import EMPTY, Inner, Leaf, Node, PNode, QNode

__all__ = ["PQTree"]

#: ``str(tree)`` writes at most this many leaves and opening brackets.
TEXT_LIMIT = 200


class PQTree:
    """All orders of some leaves in which the sets given so far are consecutive.

    A tree of leaves, P-nodes (children in any order) and Q-nodes (children in one order or its
    reverse). It starts as one P-node, which allows all orders, and :meth:`reduce` narrows it.
    The total time of all reductions is near linear in the sum of the sets' sizes.

    Parameters
    ----------
    leaves
        The labels of the leaves (hashable, all different), or their number: ``PQTree(4)`` has the
        leaves 0, 1, 2 and 3.

    Examples
    --------
    >>> tree = PQTree("abcde")
    >>> tree.reduce("cd"), tree.reduce("de")
    (True, True)
    >>> print(tree)  # a, b and the block c d e in any order; c d e forwards or backwards
    {a b [c d e]}
    >>> tree.n_orders()
    12
    >>> tree.reduce("ce")  # not consecutive in any of them: refused, and nothing changes
    False
    >>> tree.n_orders()
    12

    References
    ----------
    Booth and Lueker, J. Comput. Syst. Sci. 13 (1976) 335–379.
    """

    __slots__ = ("_index", "_labels", "_leaves", "_root")

    def __init__(self, leaves: int | Iterable[Hashable]) -> None:
        self._labels: list[Any] = list(range(leaves) if isinstance(leaves, int) else leaves)
        self._index: dict[Any, int] = {label: i for i, label in enumerate(self._labels)}
        if len(self._index) < len(self._labels):
            twice = next(x for i, x in enumerate(self._labels) if self._index[x] != i)
            raise InputError(f"The leaves of a PQ-tree must differ; {twice!r} came twice.")
        self._leaves = [Leaf(i) for i in range(len(self._labels))]
        only_one = len(self._leaves) == 1
        self._root: Node = self._leaves[0] if only_one else PNode(self._leaves)

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        kinds = [type(node) for node in self._inner_nodes()]
        p, q = kinds.count(PNode), kinds.count(QNode)
        return f"PQTree({len(self):,} leaves, {p:,} P-nodes, {q:,} Q-nodes)"

    def __str__(self) -> str:
        return self.to_text(TEXT_LIMIT)

    def __reduce__(self) -> tuple[Any, ...]:
        # Pickling node by node would recurse along every chain of siblings.
        return _rebuild, (self._labels, enumeration.prefix_form(self._root))

    def reduce(self, leaves: Iterable[Hashable]) -> bool:
        """Keep the orders in which these leaves are consecutive, if there are any.

        Parameters
        ----------
        leaves
            Labels; order and repetitions do not matter.

        Returns
        -------
        bool
            False if no order would be left; the tree then stays as it was.
        """
        try:
            indices = {self._index[label] for label in leaves}
        except KeyError as error:
            raise InputError(
                f"{error.args[0]!r} is not a leaf of this PQ-tree; its {len(self):,} leaves are "
                f"{_some(self._labels)}."
            ) from None
        return self._reduce(indices)

    def _reduce(self, indices: Iterable[int]) -> bool:
        """Reduce by leaf numbers (all different)."""
        leaves = [self._leaves[i] for i in indices]
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

    def frontier(self) -> list[Any]:
        """Return one of the orders: the leaves from left to right.

        Examples
        --------
        >>> tree = PQTree("abc")
        >>> tree.reduce("ac")
        True
        >>> tree.frontier()
        ['b', 'a', 'c']
        """
        return [self._labels[i] for i in self._frontier()]

    def _frontier(self) -> list[int]:
        """Return the frontier as leaf numbers."""
        return enumeration.leaf_order(self._root)

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
        >>> tree = PQTree("abcd")
        >>> tree.reduce("ab"), tree.reduce("bc")
        (True, True)
        >>> tree.arranged([3, 2, 1, 0], [1, 1, 1, 1])
        ([3, 2, 1, 0], [False, False, False, False])
        >>> PQTree(3).arranged([5, 0, 5], [1, 1, 1])
        ([1, 0, 2], [False, False, True])
        """
        limit = tolerance * max((abs(value) for value in values), default=0.0)
        return enumeration.arranged(self._root, values, sizes, limit)

    def n_orders(self) -> int:
        """Return the exact number of orders: c! for a P-node with c children, 2 for a Q-node.

        The number can have very many digits; :meth:`log10_orders` is quick and short.
        """
        number = 1
        for size, times in self._p_sizes().items():
            number *= math.factorial(size) ** times
        return number << self._n_q_nodes()

    def log10_orders(self) -> float:
        """Return the decimal logarithm of the number of orders."""
        natural = self._n_q_nodes() * math.log(2)
        natural += sum(t * math.lgamma(size + 1) for size, t in self._p_sizes().items())
        return natural / math.log(10)

    def orders(self, limit: int | None = None) -> Iterator[list[Any]]:
        """Iterate over the orders, each once; at most ``limit`` of them.

        Do not reduce the tree meanwhile.

        Examples
        --------
        >>> tree = PQTree("abc")
        >>> tree.reduce("ab"), tree.reduce("bc")
        (True, True)
        >>> list(tree.orders())
        [['a', 'b', 'c'], ['c', 'b', 'a']]
        """
        for order in islice(enumeration.leaf_orders(self._root), limit):
            yield [self._labels[i] for i in order]

    def to_text(self, limit: int | None = None) -> str:
        """Write the tree in one line: P-nodes in braces, Q-nodes in brackets.

        Parameters
        ----------
        limit
            Stop after this many leaves and opening brackets, and say how many leaves are left out;
            None writes all. ``str(tree)`` has a limit of 200.

        Examples
        --------
        >>> PQTree(1000).to_text(limit=5)
        '{0 1 2 3 … 996 more}'
        """
        return enumeration.text(self._root, self._labels, limit)

    def _inner_nodes(self) -> Iterator[Inner]:
        return enumeration.inner_nodes(self._root)

    def _n_q_nodes(self) -> int:
        return sum(isinstance(node, QNode) for node in self._inner_nodes())

    def _p_sizes(self) -> dict[int, int]:
        """How many P-nodes there are of each size."""
        sizes: dict[int, int] = {}
        for node in self._inner_nodes():
            if isinstance(node, PNode):
                sizes[node.size] = sizes.get(node.size, 0) + 1
        return sizes

    def _with_twins(
        self, labels: Sequence[Any], twins: Sequence[Sequence[int]], together: Sequence[bool]
    ) -> PQTree:
        """Replace each leaf by several leaves (this tree is used up).

        Leaf ``i`` becomes the leaves ``twins[i]`` of the new tree, whose labels are ``labels``.
        These are in exactly the same sets, so below a P-node they need not stand together, unless
        one of the sets consists of just them (``together[i]``).
        """
        tree = PQTree(labels)
        root = self._root
        for old, numbers, tied in zip(self._leaves, twins, together, strict=True):
            new = [tree._leaves[i] for i in numbers]
            if isinstance(old.parent, PNode) and (len(new) == 1 or not tied):
                parent = old.parent
                parent.remove(old)
                for leaf in new:
                    parent.add(leaf)
            else:
                block: Node = new[0] if len(new) == 1 else PNode(new)
                block.take_place_of(old)
                root = block if old is root else root
        tree._root = root
        return tree


def _some(labels: list[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:5])
    return shown + (", …" if len(labels) > 5 else "")


def _rebuild(labels: list[Any], prefix: list[tuple[str, int]]) -> PQTree:
    tree = PQTree(labels)
    tree._root = enumeration.from_prefix_form(prefix, tree._leaves)
    return tree
