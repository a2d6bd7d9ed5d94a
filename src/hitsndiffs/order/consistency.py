"""How far responses are from consistent: how many orders explain them, or what prevents any."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.lookup import python_value
from hitsndiffs.engines import open_engine
from hitsndiffs.order.pqtree.tree import PQTree
from hitsndiffs.order.ties import patterns

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["Consistency", "analyse"]

Option = tuple[Any, Any]


@dataclass(frozen=True)
class Consistency:
    """What :func:`analyse` found.

    Attributes
    ----------
    consistent
        Whether the users can be ordered so that the choosers of every option are neighbours.
    tree
        All orders of the different answer sheets in which the options are consecutive; for
        inconsistent data, only the options that fit (not ``misfits``).
    first_failing
        Item and option at which no order was left, taking the options in their own order; None for
        consistent data.
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

    consistent: bool
    tree: PQTree
    first_failing: Option | None
    misfits: tuple[Option, ...] = field(repr=False)
    n_tested: int
    distance: float

    @property
    def n_orders(self) -> int:
        """Exact number of orders of the different answer sheets, or 0 for inconsistent data.

        2 means one order and its reverse: the ranking is settled except for its direction and
        for ties between users with equal answers.
        """
        return self.tree.n_orders() if self.consistent else 0

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


def analyse(responses: Responses, order: npt.ArrayLike) -> Consistency:
    """Find all orders in which responses are consistent, or what prevents it.

    Parameters
    ----------
    responses
        The data.
    order
        The numbers of the users who answered, from one end to the other, in an order that is
        nearly right (for example by HnD's scores). It matters only for inconsistent data: options
        are then tried from the best fit with this order to the worst, so the misfits are those
        that stand out.

    Examples
    --------
    >>> import numpy as np
    >>> from hitsndiffs.data.responses import Responses
    >>> codes = np.array([[0, 0, 1], [0, 1, 1], [0, 1, 0]], dtype=np.uint8)  # items × users
    >>> r = Responses(users=np.array([*"abc"]), items=np.array([*"ijk"]),
    ...               option_labels=np.array([*"xyxyxy"]), item_starts=np.array([0, 2, 4, 6]),
    ...               codes=codes)
    >>> report = analyse(r, [0, 1, 2])
    >>> report.consistent, report.first_failing
    (False, ('k', 'x'))
    >>> print(report.tree)
    [0 1 2]
    """
    sheets = _Sheets(responses)
    blocks, expected = extra_blocks(responses, order), _expected_blocks(responses)
    tested = sheets.tested
    tree, failed = _reduced(sheets, tested, stop_at_failure=True)
    first_failing = _name(responses, failed[0]) if failed else None
    distance = 0.0
    if failed:
        best_first = tested[np.argsort((blocks / expected.clip(min=1e-9))[tested], kind="stable")]
        tree, failed = _reduced(sheets, best_first)
        found = extra_blocks(responses, sheets.users(tree.frontier()))
        distance = float(min(found.sum(), blocks.sum()) / expected.sum())
    return Consistency(
        consistent=not failed,
        tree=tree,
        first_failing=first_failing,
        misfits=tuple(_name(responses, option) for option in sorted(failed)),
        n_tested=len(tested),
        distance=distance,
    )


class _Sheets:
    """The different answer sheets of some responses, and which sheets have each option."""

    def __init__(self, responses: Responses) -> None:
        #: For each sheet, the users who have it; users without answers are in none.
        self.members: list[list[int]] = _equal_rows(responses)
        first = np.array([users[0] for users in self.members], dtype=np.int64)
        indptr, options = responses.some_rows(first)
        #: For each option, the number of sheets with it.
        self.sizes: Ints = np.bincount(options, minlength=responses.n_options)
        sheet = np.repeat(np.arange(len(self.members)), np.diff(indptr))
        self._choosers = sheet[np.argsort(options, kind="stable")]
        self._starts = np.concatenate([[0], np.cumsum(self.sizes)])

    def __len__(self) -> int:
        return len(self.members)

    def choosers(self, option: int) -> list[int]:
        """The sheets with an option."""
        chosen: list[int] = self._choosers[self._starts[option] : self._starts[option + 1]].tolist()
        return chosen

    @property
    def tested(self) -> Ints:
        """The options that can break consistency: on at least two sheets, but not on all."""
        return np.flatnonzero((self.sizes > 1) & (self.sizes < len(self)))

    def users(self, sheets: Iterable[int]) -> list[int]:
        """The users of some sheets, in sheet order."""
        return [user for sheet in sheets for user in self.members[sheet]]


def _equal_rows(responses: Responses) -> list[list[int]]:
    """Groups of users with equal answers, by first member; users without answers left out."""
    groups: dict[int, list[int]] = {}
    users = np.flatnonzero(responses.answers_per_user)
    numbers = patterns(open_engine(responses))[users]
    for user, number in zip(users.tolist(), numbers.tolist(), strict=True):
        groups.setdefault(number, []).append(user)
    return list(groups.values())


def _reduced(
    sheets: _Sheets, options: Ints, stop_at_failure: bool = False
) -> tuple[PQTree, list[int]]:
    """The tree of the options that fit, tried one by one, and the options that do not."""
    tree = PQTree(len(sheets))
    failed: list[int] = []
    for option in options.tolist():
        if not tree.reduce(sheets.choosers(option)):
            failed.append(option)
            if stop_at_failure:
                break
    return tree, failed


def extra_blocks(responses: Responses, order: npt.ArrayLike) -> Ints:
    """Into how many blocks, beyond the first, an order splits each option's choosers."""
    order = np.asarray(order, dtype=np.int64)
    pairs = _dense_pairs(responses, order) if responses.is_dense else _row_pairs(responses, order)
    blocks: Ints = np.maximum(responses.choosers_per_option - pairs, 1)
    return blocks - 1


def _dense_pairs(responses: Responses, order: Ints) -> Ints:
    """For each option, how many pairs of neighbours in the order both chose it."""
    pairs = np.zeros(responses.n_options, dtype=np.int64)
    starts = responses.item_starts
    for first, end, item_codes in zip(starts[:-1], starts[1:], responses.codes, strict=True):
        codes = item_codes[order]
        same = codes[1:][codes[1:] == codes[:-1]]
        pairs[first:end] = np.bincount(same, minlength=end - first)[: end - first]
    return pairs


def _row_pairs(responses: Responses, order: Ints) -> Ints:
    indptr, options = responses.rows
    positions = np.full(responses.n_users, -1, dtype=np.int64)
    positions[order] = np.arange(len(order))
    by_user = np.repeat(positions, np.diff(indptr))
    sequence = np.lexsort((by_user, options))
    options, by_user = options[sequence], by_user[sequence]
    pair = (options[1:] == options[:-1]) & (by_user[1:] == by_user[:-1] + 1)
    return np.bincount(options[1:][pair], minlength=responses.n_options)


def _expected_blocks(responses: Responses) -> Floats:
    """Expected extra blocks of each option in a random order of the users who answered."""
    m = np.count_nonzero(responses.answers_per_user)
    c = responses.choosers_per_option
    expected: Floats = np.maximum(c - 1, 0) * (m - c) / max(m, 1)
    return expected


def _name(responses: Responses, option: int) -> Option:
    """The labels of an option's item and of the option."""
    item = responses.items[responses.option_items[option]]
    return python_value(item), python_value(responses.option_labels[option])
