"""The nodes of a PQ-tree, and the constant-time moves on them.

Two choices make every move cheap:

* the children of a Q-node form a chain whose links have no direction (each child knows two
  neighbours, not a left and a right one), so a Q-node is reversed by swapping its two ends;
* the children of a Q-node find their parent through a union–find group, so one Q-node is merged
  into another without visiting its children. (Booth and Lueker let inner children forget their
  parent and repair that with "blocked" nodes; groups cost an inverse Ackermann factor.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["EMPTY", "FULL", "PARTIAL", "Group", "Inner", "Leaf", "Node", "PNode", "QNode"]

#: How many of a node's leaves are in the set being reduced: none, all or some.
EMPTY, FULL, PARTIAL = 0, 1, 2


class Group:
    """Children of one Q-node, as an element of a union–find forest."""

    __slots__ = ("above", "owner", "rank")

    def __init__(self, owner: QNode) -> None:
        self.above = self
        self.owner = owner
        self.rank = 0

    def find(self) -> Group:
        """Return the group's representative (halving the path on the way)."""
        group = self
        while group.above is not group:
            group.above = group = group.above.above
        return group

    def merge(self, other: Group, owner: QNode) -> None:
        """Merge both groups into one, owned by ``owner``."""
        a, b = self.find(), other.find()
        if a.rank < b.rank:
            a, b = b, a
        a.rank += a.rank == b.rank
        b.above = a
        a.owner = owner


class Node:
    """A place in the tree: below a P-node (``parent``), or below a Q-node (``group``)."""

    __slots__ = ("group", "mark", "one_side", "other_side", "parent")

    def __init__(self) -> None:
        self.parent: PNode | None = None
        self.group: Group | None = None
        self.one_side: Node | None = None
        self.other_side: Node | None = None
        self.mark = EMPTY

    def above(self) -> Inner | None:
        """Return the parent, or None at the root."""
        if self.group is None:
            return self.parent
        return self.group.find().owner

    def after(self, previous: Node | None) -> Node | None:
        """Return the neighbour that is not ``previous``."""
        return self.other_side if self.one_side is previous else self.one_side

    def link(self, old: Node | None, new: Node | None) -> None:
        """Replace the neighbour ``old`` by ``new`` (None: no neighbour on that side)."""
        if self.one_side is old:
            self.one_side = new
        else:
            self.other_side = new

    def take_place_of(self, old: Node) -> None:
        """Take the place of ``old``, which is then detached."""
        parent = old.above()
        self.parent, self.group = old.parent, old.group
        self.one_side, self.other_side = old.one_side, old.other_side
        if isinstance(parent, PNode):
            del parent.children[old]
            parent.children[self] = None
        elif isinstance(parent, QNode):
            for neighbour in (old.one_side, old.other_side):
                parent.relink(neighbour, old, self)
        old.parent = old.group = old.one_side = old.other_side = None


class Leaf(Node):
    """One element."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        super().__init__()
        self.index = index


class Inner(Node):
    """A node with children; ``full`` and ``partial`` list those so marked in this reduction."""

    __slots__ = ("full", "partial")

    def __init__(self) -> None:
        super().__init__()
        self.full: list[Node] = []
        self.partial: list[Inner] = []

    @property
    def size(self) -> int:
        """Number of children."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[Node]:
        raise NotImplementedError

    def forget(self) -> None:
        """Clear what the last reduction wrote here."""
        self.mark = EMPTY
        self.full.clear()
        self.partial.clear()


class PNode(Inner):
    """Children in any order."""

    __slots__ = ("children",)

    def __init__(self, children: Iterable[Node] = ()) -> None:
        super().__init__()
        # A dict serves as an ordered set, so results do not depend on memory addresses.
        self.children: dict[Node, None] = dict.fromkeys(children)
        for child in self.children:
            child.parent, child.group = self, None
            child.one_side = child.other_side = None

    @property
    def size(self) -> int:
        """Number of children."""
        return len(self.children)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.children)

    def add(self, child: Node) -> None:
        """Add a child."""
        self.children[child] = None
        child.parent, child.group = self, None
        child.one_side = child.other_side = None

    def remove(self, child: Node) -> None:
        """Remove a child."""
        del self.children[child]
        child.parent = None

    def or_only_child(self) -> Node | None:
        """Return what is left of this node: itself, its only child, or nothing."""
        if len(self.children) > 1:
            return self
        return next(iter(self.children), None)


class QNode(Inner):
    """Children in one order or its reverse; from ``first`` to ``last``."""

    __slots__ = ("_size", "first", "last", "own")

    def __init__(self, children: Iterable[Node]) -> None:
        super().__init__()
        self.own = Group(self)
        self._size = 0
        # The first child sets both ends; a Q-node in the tree always has children.
        self.first: Node
        self.last: Node
        for child in children:
            self.append(child)

    @property
    def size(self) -> int:
        """Number of children."""
        return self._size

    def __iter__(self) -> Iterator[Node]:
        previous: Node | None = None
        child: Node | None = self.first
        while child is not None:
            yield child
            previous, child = child, child.after(previous)

    def turn(self) -> None:
        """Reverse the order of the children."""
        self.first, self.last = self.last, self.first

    def append(self, child: Node) -> None:
        """Add a child after the last."""
        child.parent, child.group = None, self.own
        child.one_side = child.other_side = None
        if self._size == 0:
            self.first = child
        else:
            child.one_side = self.last
            self.last.link(None, child)
        self.last = child
        self._size += 1

    def prepend(self, child: Node) -> None:
        """Add a child before the first."""
        if self._size == 0:
            self.append(child)
        else:
            self.turn()
            self.append(child)
            self.turn()

    def extend(self, other: QNode) -> None:
        """Add all children of another Q-node (which has no place in the tree) after the last."""
        self.last.link(None, other.first)
        other.first.link(None, self.last)
        self.last = other.last
        self._size += other._size
        self.own.merge(other.own, self)

    def dissolve(self, child: QNode, towards: Node | None) -> None:
        """Replace the Q-node ``child`` by its children, the last of them beside ``towards``.

        ``towards`` is a neighbour of ``child``, or None if it has none on that side.
        """
        away = child.after(towards)
        if away is not None:
            child.first.link(None, away)
        if towards is not None:
            child.last.link(None, towards)
        self.relink(away, child, child.first)
        self.relink(towards, child, child.last)
        self._size += child._size - 1
        self.own.merge(child.own, self)

    def relink(self, neighbour: Node | None, old: Node, new: Node) -> None:
        """Tell a neighbour of ``old`` (or the end of the chain) that ``new`` is there now."""
        if neighbour is not None:
            neighbour.link(old, new)
        elif self.first is old:
            self.first = new
        else:
            self.last = new
