"""How far responses are from consistent: how many orders explain them, or what prevents any."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Ints
from hitsndiffs.data.layouts import Rows
from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.ones import Ones
from hitsndiffs.engines import Engine
from hitsndiffs.order.pqtree.tree import PQTree

__all__ = ["Consistency", "analyse", "extra_blocks"]


@dataclass(frozen=True)
class Consistency:
    """What :func:`analyse` found.

    Attributes
    ----------
    tree
        All orders of the different answer sheets in which the options are consecutive; for
        inconsistent data, only the options that fit (not ``misfits``).
    misfits
        Item and option of those that do not fit together with the options kept. Adding any of them
        to the kept ones breaks consistency. Which ones are kept depends on the sequence in which
        they are tried (see :func:`analyse`); more might be possible.
    n_tested
        The number of options that can break consistency: on at least two answer sheets, but not on
        all.
    distance
        How far the data are from consistent: 0 if they are, about 1 for random answers. It is the
        number of extra blocks (an option whose choosers stand in b separate blocks has b - 1) in
        an order, divided by the number expected in a random order of the same users. An option
        with c choosers out of m has (c - 1)(m - c) / m expected ones. The least number over all
        orders is hard to find (consecutive block minimisation), so this is an upper bound, from
        the better of two orders: the one given, and the tree's frontier.
    """

    tree: PQTree
    misfits: tuple[tuple[Any, Any], ...]
    n_tested: int
    distance: float

    @property
    def consistent(self) -> bool:
        """Whether the users can be ordered so that the choosers of every option are neighbours."""
        return not self.misfits

    @property
    def n_orders(self) -> int:
        """Exact number of orders of the different answer sheets, or 0 for inconsistent data.

        2 means one order and its reverse: the ranking is settled except for its direction and
        for ties between users with equal answers.
        """
        return self.tree.n_orders() if self.consistent else 0

    @property
    def breaking_items(self) -> dict[Any, int]:
        """The items with misfits, worst first, with the number of misfits of each."""
        return dict(Counter(item for item, _ in self.misfits).most_common())


def analyse(data: Engine, order: npt.ArrayLike) -> Consistency:
    """Find all orders in which responses are consistent, or what prevents it.

    Parameters
    ----------
    data
        The answers, in memory.
    order
        The numbers of the users who answered, from one end to the other, in an order that is
        nearly right (for example by HnD's scores). It matters only for inconsistent data: options
        are tried from the best fit with this order to the worst, so the misfits are those that
        stand out.

    Examples
    --------
    >>> from hitsndiffs.data.responses import Responses
    >>> from hitsndiffs.engines import open_engine
    >>> r = Responses.from_wide([list("xxx"), list("xyy"), list("yyx")], items=list("ijk"))
    >>> report = analyse(open_engine(r), [0, 1, 2])
    >>> report.misfits
    (('k', 'x'),)
    >>> print(report.tree)
    [0 1 2]
    """
    order = np.asarray(order, dtype=np.int64)
    prints = data.collect(data.fingerprints())[order]
    _, first, sheet = np.unique(prints, return_index=True, return_inverse=True)
    by_first = np.argsort(first)  # sheets are numbered as they come in the order
    first, sheet = first[by_first], np.argsort(by_first)[sheet]
    choosers = Ones(*data.rows(order[first]), data.n_options).T  # sheets of each option
    sizes = np.diff(choosers.indptr)
    tested = np.flatnonzero((sizes > 1) & (sizes < len(first)))
    counts, m = data.choosers_per_option, max(len(order), 1)
    expected = np.maximum(counts - 1, 0) * (m - counts) / m
    blocks = extra_blocks(data.rows(order), data.n_options)
    best_first = tested[np.argsort((blocks / expected.clip(min=1e-9))[tested], kind="stable")]
    tree = PQTree(len(first))
    misfits = [
        option
        for option in best_first.tolist()
        if not tree.reduce(choosers.indices[slice(*choosers.indptr[option : option + 2])].tolist())
    ]
    distance = 0.0
    if misfits:
        place = np.empty(len(first), dtype=np.int64)
        place[tree.frontier()] = np.arange(len(first))
        by_tree = order[np.argsort(place[sheet], kind="stable")]
        found = extra_blocks(data.rows(by_tree), data.n_options)
        distance = float(min(found.sum(), blocks.sum()) / expected.sum())
    return Consistency(tree, tuple(_name(data, o) for o in sorted(misfits)), len(tested), distance)


def extra_blocks(rows: Rows, n_options: int) -> Ints:
    """Into how many blocks, beyond the first, an order splits each option's choosers.

    ``rows`` are those of the users in that order.
    """
    indptr, options = rows
    place = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    by_option = np.argsort(options, kind="stable")
    place, options = place[by_option], options[by_option]
    begins = np.ones(len(options), dtype=bool)
    begins[1:] = (options[1:] != options[:-1]) | (place[1:] != place[:-1] + 1)
    blocks: Ints = np.maximum(np.bincount(options[begins], minlength=n_options) - 1, 0)
    return blocks


def _name(data: Engine, option: int) -> tuple[Any, Any]:
    """The labels of an option's item and of the option."""
    items = data.items
    item = items.labels[items.of_option[option]]
    return python_value(item), python_value(items.option_labels[option])
