"""One reduction: keep only those orders of a PQ-tree in which a set is consecutive.

After Booth and Lueker, *Testing for the consecutive ones property, interval graphs, and graph
planarity using PQ-tree algorithms* (J. Comput. Syst. Sci. 13, 1976), in three passes:

1. :func:`mark` climbs from the set's leaves to the lowest node above all of them (the apex), and
   records which nodes are full (all leaves in the set) or partial (some);
2. :func:`fits` checks that one of the templates P1–P6, Q1–Q3 applies at every partial node;
3. :func:`restructure` applies them.

The first two passes move nothing, so a set that does not fit leaves the tree as it was.

Cost: the passes visit full and partial nodes, never empty ones, and walk at most as far above the
apex as below it. There are fewer full nodes than twice the set's size. Every partial node except
the apex disappears (a Q-node) or loses a child (a P-node), and only a constant number of either is
created, so over all sets the partial nodes are O(leaves + sum of sizes). The exception is a set
that does not fit: the partial nodes it visits remain, but there are never more than the tree has.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from hitsndiffs.order.pqtree.nodes import EMPTY, FULL, PARTIAL, Inner, Leaf, Node, PNode, QNode

__all__ = ["fits", "mark", "restructure"]


def mark(leaves: list[Leaf], touched: list[Inner]) -> Inner | None:
    """Mark full and partial nodes; return the apex, the lowest node above all leaves of the set.

    The result is ``None`` when the set cannot be consecutive because partial nodes branch more than
    once. The set has at least two leaves, and not all of the tree's. Every inner node that gets a
    mark is added to ``touched``; the caller must clear these and the leaves.
    """
    partial = deque(_mark_full(leaves, touched))
    for node in partial:
        node.mark = PARTIAL
    joins = 0
    top: Inner | None = None
    while len(partial) + (top is not None) > 1:
        node = partial.popleft()
        parent = node.above()
        if parent is None:
            top = node
            continue
        parent.partial.append(node)
        joins += len(parent.partial) > 1
        if joins > 1:
            return None
        if parent.mark == EMPTY:
            parent.mark = PARTIAL
            touched.append(parent)
            partial.append(parent)
    apex = top or partial[0]
    # One branch may have climbed past the apex while the other was on its way.
    while not apex.full and len(apex.partial) == 1:
        apex = apex.partial[0]
    return apex


def _mark_full(leaves: list[Leaf], touched: list[Inner]) -> list[Inner]:
    """Mark the full nodes, level by level, and return their parents that are not full."""
    parents: list[Inner] = []
    level: Sequence[Node] = leaves
    while level:
        changed: dict[Inner, None] = {}
        for node in level:
            node.mark = FULL
            group = node.group  # node.above() inlined: this is the hottest line
            parent = node.parent if group is None else group.find().owner
            assert parent is not None, "the set is not all leaves, so the root is not full"
            parent.full.append(node)
            changed[parent] = None
        parents += changed
        level = [parent for parent in changed if len(parent.full) == parent.size]
    not_full = [node for node in dict.fromkeys(parents) if node.mark != FULL]
    touched += parents
    return not_full


def fits(apex: Inner) -> bool:
    """Whether a template applies at the apex and at every partial node below it."""
    if isinstance(apex, QNode) and not _together(apex):
        return False
    for branch in apex.partial:
        node: Inner | None = branch
        while node is not None:
            if len(node.partial) > 1 or (isinstance(node, QNode) and not _at_one_end(node)):
                return False
            node = node.partial[0] if node.partial else None
    return True


def _together(apex: QNode) -> bool:
    """Templates Q1 and Q3: full children in one run, partial ones only at its two sides."""
    if not apex.full:
        one, other = apex.partial
        return other is one.one_side or other is one.other_side
    start = apex.full[0]
    n_full = 1
    beside: list[Node | None] = []
    for step in (start.one_side, start.other_side):
        previous, node = start, step
        while node is not None and node.mark == FULL:
            n_full += 1
            previous, node = node, node.after(previous)
        beside.append(node)
    return n_full == len(apex.full) and all(child in beside for child in apex.partial)


def _at_one_end(node: QNode) -> bool:
    """Templates Q1 and Q2: from one end full children, then at most one partial, then empty."""
    if not node.full:
        return node.partial[0] is node.first or node.partial[0] is node.last
    child: Node | None = node.first if node.first.mark == FULL else node.last
    previous: Node | None = None
    n_full = 0
    while child is not None and child.mark == FULL:
        n_full += 1
        previous, child = child, child.after(previous)
    return n_full == len(node.full) and (not node.partial or child is node.partial[0])


def restructure(apex: Inner, touched: list[Inner]) -> Node:
    """Apply the templates, bottom up; return the node that now stands where the apex stood."""
    straight = [_straighten(branch, touched) for branch in apex.partial]
    if isinstance(apex, QNode):  # Q2, Q3
        for branch in straight:
            towards = _full_neighbour(branch)
            if towards is None and len(straight) == 2:
                towards = straight[1]
            apex.dissolve(branch, towards)
        return apex
    assert isinstance(apex, PNode)
    bundle = _take_full(apex, touched)
    if not straight:  # P2
        assert bundle is not None
        apex.add(bundle)
        return apex
    whole = straight[0]  # P4
    if bundle is not None:
        whole.append(bundle)
    if len(straight) == 2:  # P6
        apex.remove(straight[1])
        straight[1].turn()
        whole.extend(straight[1])
    if apex.size > 1:
        return apex
    apex.remove(whole)
    whole.take_place_of(apex)
    return whole


def _straighten(branch: Inner, touched: list[Inner]) -> QNode:
    """Turn a partial node into one Q-node, with empty children first and full ones last."""
    path = [branch]
    while path[-1].partial:
        path.append(path[-1].partial[0])
    done: QNode | None = None
    for node in reversed(path):
        if isinstance(node, QNode):
            _turn_full_last(node, done)
            if done is not None:  # Q2
                node.dissolve(done, _full_neighbour(done))
            done = node
        else:
            assert isinstance(node, PNode)
            done = _straighten_p(node, done, touched)
    assert done is not None
    return done


def _straighten_p(node: PNode, done: QNode | None, touched: list[Inner]) -> QNode:
    """Templates P3 and P5."""
    full = _take_full(node, touched)
    if done is None:
        done = QNode(())
    else:
        node.remove(done)
    done.take_place_of(node)
    empty = node.or_only_child()
    if empty is not None:
        done.prepend(empty)
    if full is not None:
        done.append(full)
    return done


def _take_full(node: PNode, touched: list[Inner]) -> Node | None:
    """Take the full children out of a P-node, as one node (None: there are none)."""
    children = node.children
    for child in node.full:
        del children[child]
    if len(node.full) < 2:
        return node.full[0] if node.full else None
    bundle = PNode(node.full)
    bundle.mark = FULL
    touched.append(bundle)
    return bundle


def _turn_full_last(node: QNode, done: QNode | None) -> None:
    """Turn a Q-node so that its full side is last (``done``: its partial child, straightened)."""
    in_place = node.last.mark == FULL if node.full else node.last is done
    if not in_place:
        node.turn()


def _full_neighbour(node: Node) -> Node | None:
    for neighbour in (node.one_side, node.other_side):
        if neighbour is not None and neighbour.mark == FULL:
            return neighbour
    return None
