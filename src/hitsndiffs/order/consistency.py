"""Whether responses are consistent at all: all consistent orders, or what prevents them."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.lookup import python_value
from hitsndiffs.order.answer_patterns import Sheets
from hitsndiffs.order.certificate import extra_blocks
from hitsndiffs.order.pqtree.tree import PQTree

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["Consistency", "analyse", "is_c1p"]

IntVector = npt.NDArray[np.int64]
Option = tuple[Any, Any]


@dataclass(frozen=True)
class Consistency:
    """What :func:`analyse` found.

    Attributes
    ----------
    consistent
        Whether the users can be ordered so that the choosers of every option are neighbours.
    tree
        All orders of the users (by label; users without answers are left out) in which the options
        are consecutive; for inconsistent data, only the options that fit (not ``misfits``).
    sheet_tree
        The same with users of equal answers merged, under the label of the first of them.
    n_users
        Users who answered something.
    first_failing
        Item and option at which no order of the users was left, taking the options in their own
        order; None for consistent data.
    misfits
        Item and option of those that do not fit together with the options kept. Adding any of them
        to the kept ones breaks consistency. Which ones are kept depends on the sequence in which
        they are tried (see :func:`analyse`); more might be possible.
    n_options, n_tested
        The number of options, and of those that can break consistency: on at least two answer
        sheets, but not on all.
    distance
        How far the data are from consistent: 0 if they are, about 1 for random answers. It is the
        number of extra blocks (an option whose choosers stand in b separate blocks has b - 1) in
        an order, divided by the number expected in a random order of the same users. An option
        with c choosers out of m has (c - 1)(m - c) / m expected ones. The least number over all
        orders is hard to find (consecutive block minimisation), so this is an upper bound, from
        the better of two orders: the one given, and the tree's frontier.
    """

    consistent: bool
    tree: PQTree
    sheet_tree: PQTree
    n_users: int
    first_failing: Option | None
    misfits: tuple[Option, ...] = field(repr=False)
    n_options: int
    n_tested: int
    distance: float

    @property
    def n_orders(self) -> int:
        """Exact number of orders of the users who answered, or 0 for inconsistent data.

        Users with equal answers are told apart, so this is usually far more than
        ``n_sheet_orders``. Python prints no integer beyond 4300 digits; to show it, use
        ``tree.log10_orders()``.
        """
        return self.tree.n_orders() if self.consistent else 0

    @property
    def n_sheet_orders(self) -> int:
        """Exact number of orders of the different answer sheets, or 0 for inconsistent data.

        2 means one order and its reverse: the ranking is settled except for its direction and
        for ties between users with equal answers.
        """
        return self.sheet_tree.n_orders() if self.consistent else 0

    @property
    def misfit_share(self) -> float:
        """Misfits as a share of the options that can break consistency."""
        return len(self.misfits) / self.n_tested if self.n_tested else 0.0

    @property
    def breaking_items(self) -> dict[Any, int]:
        """The items with misfits, worst first, with the number of misfits of each."""
        counts: dict[Any, int] = {}
        for item, _ in self.misfits:
            counts[item] = counts.get(item, 0) + 1
        return dict(sorted(counts.items(), key=lambda entry: -entry[1]))


def is_c1p(responses: Responses) -> bool:
    """Whether some order of the users makes every option's choosers neighbours (the paper's C1P).

    A missing answer is a zero in the row of the matrix, as in the paper. The time is near linear
    in the number of responses.

    Examples
    --------
    >>> import numpy as np
    >>> from hitsndiffs.data.responses import Responses
    >>> codes = np.array([[0, 0, 1], [0, 1, 1]], dtype=np.uint8)  # items × users
    >>> r = Responses(users=np.array([*"abc"]), items=np.array(["i", "j"]),
    ...               option_labels=np.array([*"xyxy"]), item_starts=np.array([0, 2, 4]),
    ...               codes=codes)
    >>> is_c1p(r)
    True
    """
    sheets = Sheets(responses)
    tree = PQTree(len(sheets))
    return all(tree._reduce(sheets.choosers(option)) for option in sheets.tested.tolist())


def analyse(responses: Responses, order: npt.ArrayLike | None = None) -> Consistency:
    """Find all orders in which responses are consistent, or what prevents it.

    Parameters
    ----------
    responses
        The data.
    order
        The numbers of the users who answered, from one end to the other, in an order that is
        nearly right (for example by HnD's scores). It matters only for inconsistent data: options
        are then tried from the best fit with this order to the worst, so the misfits are those
        that stand out. Without it options are tried in their own sequence, and an odd item that
        comes early is kept at the cost of good ones that come later.

    Examples
    --------
    >>> import numpy as np
    >>> from hitsndiffs.data.responses import Responses
    >>> codes = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0]], dtype=np.uint8)  # items × users
    >>> r = Responses(users=np.array([*"abc"]), items=np.array([*"ijk"]),
    ...               option_labels=np.array([*"xyxyxy"]), item_starts=np.array([0, 2, 4, 6]),
    ...               codes=codes)
    >>> report = analyse(r)
    >>> report.consistent, report.first_failing
    (False, ('k', 'x'))
    >>> print(report.tree)
    [a b c]
    """
    sheets = Sheets(responses)
    blocks = None if order is None else extra_blocks(responses, order)
    expected = _expected_blocks(responses)
    names = [python_value(responses.users[members[0]]) for members in sheets.members]
    tested = sheets.tested
    tree, failed = _reduce_all(sheets, names, tested, stop_at_failure=blocks is not None)
    first_failing = failed[0] if failed else None
    distance = 0.0
    if failed and blocks is not None:
        best_first = tested[np.argsort((blocks / expected.clip(min=1e-9))[tested], kind="stable")]
        tree, failed = _reduce_all(sheets, names, best_first)
    if failed:
        found = extra_blocks(responses, sheets.users(tree._frontier()))
        least = found.sum() if blocks is None else min(found.sum(), blocks.sum())
        distance = float(least / expected.sum())
    return Consistency(
        consistent=not failed,
        tree=_over_users(tree, responses, sheets),
        sheet_tree=tree,
        n_users=sum(map(len, sheets.members)),
        first_failing=None if first_failing is None else _name(responses, first_failing),
        misfits=tuple(_name(responses, option) for option in sorted(failed)),
        n_options=responses.n_options,
        n_tested=len(tested),
        distance=distance,
    )


def _reduce_all(
    sheets: Sheets, names: list[Any], options: IntVector, stop_at_failure: bool = False
) -> tuple[PQTree, list[int]]:
    """The tree of the options that fit, tried one by one, and the options that do not."""
    tree = PQTree(names)
    failed: list[int] = []
    for option in options.tolist():
        if not tree._reduce(sheets.choosers(option)):
            failed.append(option)
            if stop_at_failure:
                break
    return tree, failed


def _expected_blocks(responses: Responses) -> npt.NDArray[np.float64]:
    """Expected extra blocks of each option in a random order of the users who answered."""
    m = np.count_nonzero(responses.answers_per_user)
    c = responses.choosers_per_option
    expected: npt.NDArray[np.float64] = np.maximum(c - 1, 0) * (m - c) / max(m, 1)
    return expected


def _name(responses: Responses, option: int) -> Option:
    """The labels of an option's item and of the option."""
    item = responses.items[responses.option_items[option]]
    return python_value(item), python_value(responses.option_labels[option])


def _over_users(tree: PQTree, responses: Responses, sheets: Sheets) -> PQTree:
    """The tree of sheets as a tree of users."""
    users = sheets.users(range(len(sheets)))
    ends = np.cumsum([len(members) for members in sheets.members]).tolist()
    twins = [range(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    labels = [python_value(responses.users[user]) for user in users]
    return copy(tree)._with_twins(labels, twins, sheets.alone)
