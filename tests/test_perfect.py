"""Perfect orders with any pattern of missing answers: found, certified, counted."""

import numpy as np
import pytest
from c1p_cases import tree_orders
from factory import THOROUGH, examples, make_responses, random_table, some
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs import rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.hnd import HND
from hitsndiffs.order import perfect
from hitsndiffs.order.consistency import analyse
from hitsndiffs.order.intervals import count_orders, tree_of_intervals
from hitsndiffs.order.perfect import checked_order, is_consecutive, may_be_perfect, perfect_order
from hitsndiffs.order.pqtree.tree import PQTree
from reproduction.full_matrices import one_hot, run_variant

#: Ways in which users leave out items so that a perfect order stays one.
WAYS = ("item run", "option runs", "few items", "silent users")


def gappy_table(rng, m, n, k, way):
    """Consistent answers with missing ones, users in a random order, -1 = no answer.

    In the hidden order every option's choosers are one run; runs of an item do not meet.
    ``"item run"``: each item is answered by one run of users, cut into options. ``"option runs"``:
    any runs with gaps between. ``"few items"``: the same with short runs, so that the data fall
    into parts. ``"silent users"``: some users in the middle answered nothing.
    """
    table = np.full((m, n), -1)
    for item in range(n):
        if way == "item run":
            low, high = np.sort(rng.choice(m + 1, 2, replace=False))
            cuts = np.sort(rng.integers(low, high + 1, k - 1))
            for option, (a, b) in enumerate(zip([low, *cuts], [*cuts, high], strict=True)):
                table[a:b, item] = option
        else:
            ends = np.sort(rng.integers(0, m + 1, 2 * k))
            if way == "few items":
                ends = np.minimum(ends, ends[0] + rng.integers(1, 4) * np.arange(2 * k))
            for option in range(k):
                table[ends[2 * option] : ends[2 * option + 1], item] = option
    if way == "silent users":  # they belong nowhere, so where they stand does not matter
        table = np.insert(table, rng.integers(0, m + 1, 3), -1, axis=0)
    return table[rng.permutation(len(table))]


def a_thousand(first=0, up_to=1000, step=1):
    """Some of a thousand small and middling data sets with their numbers, 250 of each way."""
    for number in range(first, up_to, step):
        rng = np.random.default_rng(number)
        m, n, k = int(rng.integers(3, 40)), int(rng.integers(1, 25)), int(rng.integers(2, 5))
        table = gappy_table(rng, m, n, k, WAYS[number % len(WAYS)])
        if (table >= 0).any():
            yield number, table


@pytest.mark.parametrize(
    ("method", "first", "share"),
    some([("hnd", 0, 7), ("auto", 1, 15), *(("hnd", first, 7) for first in range(1, 7))], 2),
)
def test_a_thousand_consistent_data_sets_with_missing_answers_are_certified(method, first, share):
    """Every seventh, so that all ways are among them; with ``auto``, which tries HnD first, fewer.

    Other sevenths follow in a thorough run.
    """
    seen, by_tree, failed = 0, 0, []
    for number, table in a_thousand(first, step=share):
        ranking = rank(make_responses(table, sparse=number % 8 >= 4), method)
        seen += 1
        by_tree += any("axis alone misses" in note for note in ranking.notes)
        # answers that tell nothing (all alike, none shared) are not called certified
        choice = ranking.fit.choice
        if not ranking.consistent and (choice is None or choice.method is not None):
            failed.append(number)
    assert seen > 950 / share
    assert failed == []
    assert by_tree > 100 / share  # the guarantee is not the axis's alone


def test_the_axis_alone_misses_many_of_them(monkeypatch):
    """What the tree is for: without it, not all of these are certified."""
    monkeypatch.setattr("hitsndiffs.methods.hnd.perfected", lambda data, fit, **_: fit)
    tables = [table for _, table in a_thousand(up_to=80)]
    certified = [rank(make_responses(table), "hnd").consistent for table in tables]
    assert sum(certified) < 0.9 * len(tables)


@examples(150, usual=80)
@given(st.integers(0, 10**6), st.sampled_from(WAYS), st.booleans())
def test_orders_are_counted_as_the_tree_counts_them(seed, way, sparse):
    rng = np.random.default_rng(seed)
    table = gappy_table(rng, int(rng.integers(2, 12)), int(rng.integers(1, 9)), 3, way)
    if not (table >= 0).any():
        return
    responses = make_responses(table, sparse=sparse)
    data = open_engine(responses)
    assert may_be_perfect(data)
    found = perfect_order(data)
    assert is_consecutive(data, found.order)
    assert found.n_orders == analyse(data, found.order).n_orders
    assert checked_order(data, found.order[::-1]).n_orders == found.n_orders
    # equal steps on one level only, and no step back
    assert ((np.diff(found.steps) > 0) == (np.diff(found.level) > 0)).all()
    assert (np.diff(found.steps) >= 0).all()


@examples(100)
@given(st.integers(0, 10**6), st.floats(0, 0.5))
def test_what_has_no_perfect_order_is_left_alone(seed, missing):
    table = random_table(seed, 12, 6, 3, missing=missing)
    responses = make_responses(table)
    data = open_engine(responses)
    users = np.flatnonzero(responses.answers_per_user)
    consistent = analyse(data, users).consistent
    assert (perfect_order(data) is not None) == consistent
    if consistent:
        assert may_be_perfect(data)
    assert checked_order(data, users) is None or consistent


def test_a_first_look_at_few_users_settles_it():
    """Users taken from all over the data: one odd user in five is among them."""
    table = np.sort(random_table(0, 300, 20, 3), axis=0)
    assert may_be_perfect(open_engine(make_responses(table)), most_users=30)
    table[::5] = np.random.default_rng(0).integers(0, 3, table[::5].shape)
    assert not may_be_perfect(open_engine(make_responses(table)), most_users=30)


def test_more_sheets_than_ends_of_options_have_no_perfect_order(monkeypatch):
    """The bound is met: ``2 options + 1`` pieces, of which one holds users without answers."""
    monkeypatch.setattr(perfect, "_Sets", lambda *_: pytest.fail("the tree was asked"))
    rng = np.random.default_rng(0)
    table = rng.integers(0, 3, (200, 5))
    assert perfect_order(open_engine(make_responses(table))) is None


def test_padding_as_in_the_appendix_finds_what_the_tree_finds():
    """Columns with a single one until all rows have the same sum; then HnD (Appendix B)."""
    seen = missed = 0
    for number, table in a_thousand(up_to=200 if THOROUGH else 120):
        responses = make_responses(table[(table >= 0).any(axis=1)])
        if responses.n_users < 3:
            continue
        data = open_engine(responses)
        found = perfect_order(data)
        if found.n_orders != 2 or (data.components("options") != 0).any():
            continue  # the theorem asks for a single order, and one component
        C = one_hot(responses)
        short = (C.sum(axis=1).max() - C.sum(axis=1)).astype(int)
        pads = np.repeat(np.eye(len(C)), short, axis=1)
        padded = run_variant("hnd/arnoldi" if len(C) > 4 else "hnd/power", np.hstack([C, pads]))
        plain = HND()._fit(data) if len(C) > 2 else None
        assert is_consecutive(data, np.argsort(padded.scores)), number
        seen += 1
        missed += plain is not None and plain.solver == "pq-tree"
    assert seen > (25 if THOROUGH else 12)
    assert missed > 0  # of which plain HnD alone misses some


def test_several_orders_are_said_with_their_number():
    # two answered the first item only, two the second only; one joins them
    table = [[0, -1], [0, -1], [0, 0], [-1, 0], [-1, 0]]
    assert not any("orders explain" in note for note in rank(make_responses(table), "hnd").notes)
    # three users between whom only an option of their own tells
    table = [[0, 0], [0, 1], [0, 2]]
    for method in ("hnd", "auto"):
        ranking = rank(make_responses(table), method)
        assert ranking.consistent
        assert any(note.startswith("3 orders explain every answer") for note in ranking.notes)


@pytest.mark.parametrize("method", ["hnd", "auto"])
def test_many_orders_are_not_written_out(method):
    table = np.column_stack([np.zeros(40, dtype=int), np.arange(40)])
    ranking = rank(make_responses(table), method)
    assert ranking.consistent
    if method == "hnd":
        assert any(note.startswith("About 10^48 orders") for note in ranking.notes)


def test_the_order_that_follows_the_guide_is_taken():
    table = np.array([[0, 0], [0, 1], [0, 2], [0, 3]])
    data = open_engine(make_responses(table))
    found = perfect_order(data, np.array([3.0, 1.0, 2.0, 1.0]))
    assert found.order.tolist()[2:] == [2, 0]
    assert found.level.tolist() == [0, 0, 1, 2]  # nothing says who of the first two is better
    assert found.n_orders == 24


def test_parts_that_share_no_option_are_ranked_perfectly_by_auto():
    table = [[0, 0], [0, 1], [1, 1], [2, 2], [2, 2], [3, 2]]
    ranking = rank(make_responses(table), "auto")
    assert ranking.consistent
    assert any("4 orders explain" in note for note in ranking.notes)


@pytest.mark.parametrize("way", ["item run", "option runs"])
def test_a_hundred_thousand_users_are_certified(way):
    table = gappy_table(np.random.default_rng(5), 100_000, 12, 3, way)
    ranking = rank(make_responses(table), "hnd")
    assert ranking.consistent


@pytest.mark.parametrize(
    ("first", "last", "places", "orders"),
    [
        ([], [], 1, 1),
        ([0], [0], 1, 1),
        ([0, 1], [0, 1], 2, 2),
        ([0, 0], [1, 3], 4, 2),  # two pairs of users with the same answers
        ([0, 0, 2], [1, 3, 2], 4, 6),  # such a pair, and two users apart
        ([0, 2, 0, 1], [1, 3, 0, 1], 4, 4),
        ([0, 1, 2, 0, 0], [1, 2, 3, 3, 0], 5, 4),  # a chain, and a user apart
    ],
)
def test_counts_by_hand(first, last, places, orders):
    assert count_orders(first, last, places) == orders


def test_orders_of_too_many_options_are_not_counted():
    assert count_orders([0, 1, 2], [1, 2, 3], 4, up_to=2) is None


@examples(300)
@given(
    st.integers(1, 12).flatmap(
        lambda places: st.tuples(
            st.just(places),
            st.lists(
                st.tuples(st.integers(0, places - 1), st.integers(0, places - 1)), max_size=12
            ),
        )
    )
)
def test_the_tree_of_intervals_is_the_one_that_reductions_make(drawn):
    places, ends = drawn
    first = np.array([min(pair) for pair in ends], dtype=np.int64)
    last = np.array([max(pair) for pair in ends], dtype=np.int64)
    made = tree_of_intervals(first, last, places)
    reduced = PQTree(places)
    for low, high in zip(first.tolist(), last.tolist(), strict=True):
        assert reduced.reduce(range(low, high + 1))
    assert made.frontier() == list(range(places))
    assert made.n_orders() == reduced.n_orders()
    # the same orders, and not as many others: what made one makes the other no smaller
    for low, high in zip(first.tolist(), last.tolist(), strict=True):
        assert made.reduce(range(low, high + 1))
    assert made.n_orders() == reduced.n_orders()
    if made.n_orders() <= 500:
        assert sorted(tree_orders(made)) == sorted(tree_orders(reduced))


@pytest.mark.parametrize("seed", some(range(30), 10))
@pytest.mark.parametrize("way", ["item run", "option runs"])
def test_few_reductions_find_an_order_where_all_reductions_do(seed, way):
    """Random guides, and answers changed until no order is left in half of the data."""
    rng = np.random.default_rng(seed)
    table = gappy_table(rng, 30, 12, 3, way)
    if seed % 2:
        table[rng.integers(30, size=2), rng.integers(12, size=2)] = rng.integers(3, size=2)
    r = make_responses(table)
    data = open_engine(r)
    found = perfect_order(data, rng.standard_normal(data.n_users))
    report = analyse(data, np.flatnonzero(r.answers_per_user))
    assert (found is not None) == report.consistent
    if found is not None:
        assert found.n_orders == report.n_orders
