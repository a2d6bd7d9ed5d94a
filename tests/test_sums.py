"""The contract of the sums, for every engine and layout, against the dense oracle."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hitsndiffs.errors import InputError, MissingExtraError
from hitsndiffs.responses import Responses
from hitsndiffs.sums import base, open_sums
from hitsndiffs.sums.grouping import Groups
from hitsndiffs.sums.numpy import NumpySums
from hitsndiffs.sums.pool import Run
from hitsndiffs.sums.threads import ThreadSums, build_layout


def threaded(layout, threads):
    return lambda responses: ThreadSums(build_layout(responses, threads, layout), threads)


ENGINES = {
    "numpy": NumpySums,
    "packed-1": threaded("packed", 1),
    "packed-2": threaded("packed", 2),
    "sparse-1": threaded("sparse", 1),
    "sparse-2": threaded("sparse", 2),
}


def make_responses(table, *, dense=True, dtype=np.uint8):
    """Responses from users × items, -1 for no answer: options are numbered by first sight."""
    table = np.asarray(table)
    codes = np.full(table.T.shape, np.iinfo(dtype).max, dtype=dtype)
    labels, sizes = [], []
    for column, out in zip(table.T, codes, strict=True):
        present = np.unique(column[column >= 0])
        out[column >= 0] = np.searchsorted(present, column[column >= 0])
        labels.extend(present)
        sizes.append(len(present))
    kept = np.array(sizes, dtype=int) > 0
    made = Responses(
        users=np.arange(len(table)),
        items=np.flatnonzero(kept),
        option_labels=np.array(labels),
        item_starts=np.concatenate([[0], np.cumsum(np.array(sizes, dtype=int)[kept])]),
        codes=codes[kept],
    )
    if dense:
        return made
    return Responses(
        users=made.users,
        items=made.items,
        option_labels=made.option_labels,
        item_starts=made.item_starts,
        rows=made.rows,
    )


def random_table(rng, users, items, options, missing):
    table = rng.integers(0, options, (users, items))
    table[rng.random(table.shape) < missing] = -1
    return table


@st.composite
def responses(draw):
    """Small data of every kind: gaps, uneven options, rare options, users without answers."""
    users, items = draw(st.integers(1, 40)), draw(st.integers(1, 14))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    options = np.array(draw(st.lists(st.sampled_from([1, 2, 3, 5, 40]), min_size=items,
                                     max_size=items)))  # fmt: skip
    table = random_table(rng, users, items, options, draw(st.sampled_from([0.0, 0.1, 0.6])))
    table[0] = np.maximum(table[0], 0)  # somebody answered
    if users > 2 and draw(st.booleans()):
        table[1] = -1  # a user without answers
        table[2, 0] = 99  # an option chosen once
    dtype = draw(st.sampled_from([np.uint8, np.uint16]))
    return make_responses(table, dense=draw(st.booleans()), dtype=dtype)


def check_against_oracle(sums, data, seed=0):
    rng = np.random.default_rng(seed)
    matrix = naive.one_hot(data)
    close = {"rtol": 1e-10, "atol": 1e-10}
    for shape in ((), (1,), (3,)):
        weights = rng.standard_normal((data.n_options, *shape))
        scores = rng.standard_normal((data.n_users, *shape))
        scale = rng.random(data.n_users)
        np.testing.assert_allclose(sums.choices(weights), naive.choices(matrix, weights), **close)
        np.testing.assert_allclose(sums.choosers(scores), naive.choosers(matrix, scores), **close)
        np.testing.assert_allclose(
            sums.through_users(weights, scale),
            naive.through_users(matrix, weights, scale),
            **close,
        )
    positions = rng.permutation(data.n_users)
    for ours, expected in zip(
        sums.extremes(positions), naive.extremes(matrix, positions), strict=True
    ):
        np.testing.assert_array_equal(ours, expected)


# -- the contract ---------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
@settings(max_examples=40, deadline=None)
@given(data=responses())
def test_every_engine_gives_the_dense_sums(engine, data):
    check_against_oracle(ENGINES[engine](data), data)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dense", [True, False])
def test_items_with_more_options_than_a_byte_tells_apart(engine, dense):
    rng = np.random.default_rng(3)
    table = random_table(rng, 900, 6, 3, 0.2)
    table[:, 2] = rng.permutation(900) % 300  # 300 options, complete
    table[:, 4] = np.where(rng.random(900) < 0.3, -1, rng.permutation(900))  # about 630, gaps
    table[:256, 5], table[256:, 5] = np.arange(256), 0  # 256 options, complete: one full byte
    data = make_responses(table, dense=dense, dtype=np.uint16)
    check_against_oracle(ENGINES[engine](data), data)


@pytest.mark.parametrize("engine", ENGINES)
def test_255_and_256_codes_fill_a_byte(engine):
    table = np.full((600, 3), -1)
    table[:255, 0] = np.arange(255)  # 255 options and gaps: 256 codes
    table[:256, 1] = np.arange(256)  # 256 options and gaps: 257 codes
    table[:, 2] = np.arange(600) % 254
    data = make_responses(table, dtype=np.uint16)
    check_against_oracle(ENGINES[engine](data), data)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_many_blocks_and_chunks(engine, missing):
    """More users than one block or chunk holds, and a last block that is not full."""
    rng = np.random.default_rng(4)
    data = make_responses(random_table(rng, 9_001, 11, 4, missing))
    check_against_oracle(ENGINES[engine](data), data)


def test_transposed_codes_are_taken_as_they_are():
    rng = np.random.default_rng(5)
    data = make_responses(random_table(rng, 5_000, 9, 3, 0.1))
    turned = Responses(
        users=data.users,
        items=data.items,
        option_labels=data.option_labels,
        item_starts=data.item_starts,
        codes=np.asfortranarray(data.codes),
    )
    weights = rng.standard_normal(data.n_options)
    expected = ENGINES["packed-2"](data).choices(weights)
    np.testing.assert_array_equal(ENGINES["packed-2"](turned).choices(weights), expected)


@pytest.mark.parametrize("layout", ["packed", "sparse"])
def test_the_number_of_threads_does_not_change_a_bit(layout):
    rng = np.random.default_rng(6)
    data = make_responses(random_table(rng, 30_011, 23, 3, 0.2))
    weights, scale = rng.standard_normal((data.n_options, 2)), rng.random(data.n_users)
    scores = rng.standard_normal(data.n_users)
    results = []
    for threads in (1, 2, 5):
        sums = threaded(layout, threads)(data)
        results.append(
            (sums.choices(weights), sums.choosers(scores), sums.through_users(weights, scale))
        )
    for other in results[1:]:
        for first, second in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_block_of_vectors_is_its_columns(engine):
    rng = np.random.default_rng(7)
    data = make_responses(random_table(rng, 5_000, 12, 4, 0.1))
    sums = ENGINES[engine](data)
    weights, scale = rng.standard_normal((data.n_options, 21)), rng.random(data.n_users)
    scores = np.asfortranarray(rng.standard_normal((data.n_users, 21)))
    for column in (0, 20):
        for block, single in (
            (sums.choices(weights), sums.choices(weights[:, column])),
            (sums.choosers(scores), sums.choosers(scores[:, column])),
            (sums.through_users(weights, scale), sums.through_users(weights[:, column], scale)),
        ):
            assert single.ndim == 1
            np.testing.assert_allclose(block[:, column], single, rtol=1e-12, atol=1e-12)


def test_columns_are_worked_on_in_parts_when_scratch_memory_is_short(monkeypatch):
    rng = np.random.default_rng(8)
    data = make_responses(random_table(rng, 500, 8, 3, 0.1))
    sums = ENGINES["packed-1"](data)
    scores = rng.standard_normal((data.n_users, 5))
    expected = sums.choosers(scores)
    monkeypatch.setattr("hitsndiffs.sums.threads.SCRATCH", 2 * sums.layout.scratch_per_column)
    np.testing.assert_array_equal(sums.choosers(scores), expected)


@pytest.mark.parametrize("engine", ENGINES)
def test_arguments_and_data_are_left_alone(engine):
    rng = np.random.default_rng(9)
    data = make_responses(random_table(rng, 50, 6, 3, 0.1))
    arguments = [rng.random(data.n_options), rng.random(data.n_users), rng.permutation(50)]
    copies = [argument.copy() for argument in arguments]
    for argument in arguments:
        argument.flags.writeable = False
    codes = data.codes.copy()
    weights, scores, positions = arguments
    sums = ENGINES[engine](data)
    first = sums.choices(weights)
    kept = first.copy()
    sums.choosers(scores), sums.through_users(weights, scores), sums.extremes(positions)
    sums.choices(2 * weights)
    np.testing.assert_array_equal(first, kept)  # no result is a buffer that is used again
    np.testing.assert_array_equal(data.codes, codes)
    for argument, copy in zip(arguments, copies, strict=True):
        np.testing.assert_array_equal(argument, copy)


@pytest.mark.parametrize("engine", ["packed-1", "sparse-1"])
def test_vectors_of_the_wrong_length_are_refused(engine):
    data = make_responses([[0, 1], [1, 0], [0, 0]])
    sums = ENGINES[engine](data)
    with pytest.raises(ValueError, match=r"weights must be .* length 4; got shape \(3,\)"):
        sums.choices(np.ones(3))
    with pytest.raises(ValueError, match=r"scores must be .* length 3; got shape \(4, 2\)"):
        sums.choosers(np.ones((4, 2)))
    with pytest.raises(ValueError, match=r"scale must be a vector of length 3"):
        sums.through_users(np.ones(4), np.ones((3, 1)))
    with pytest.raises(ValueError, match=r"positions must be a vector of length 3"):
        sums.extremes(np.arange(2))


def test_option_numbers_out_of_range_are_refused():
    data = Responses(
        users=np.arange(2),
        items=np.arange(1),
        option_labels=np.arange(2),
        item_starts=np.array([0, 2]),
        rows=(np.array([0, 1, 2]), np.array([0, 2], dtype=np.int32)),
    )
    with pytest.raises(InputError, match="from 0 to 1; got 0 to 2"):
        build_layout(data, layout="sparse")


# -- layouts --------------------------------------------------------------------------------


@given(
    sizes=st.lists(st.integers(1, 300), min_size=1, max_size=30),
    seed=st.integers(0, 2**32 - 1),
)
def test_groups_hold_every_item_once_and_fit(sizes, seed):
    gaps = np.random.default_rng(seed).random(len(sizes)) < 0.5
    groups = Groups.of(np.concatenate([[0], np.cumsum(sizes)]), gaps)
    assert sorted(groups.members) == list(range(len(sizes)))
    products = [
        int(np.prod(groups.n_codes[groups.members[first:last]]))
        for first, last in zip(groups.starts[:-1], groups.starts[1:], strict=True)
    ]
    assert all(product <= 256 for product in products[: groups.n_narrow])
    assert all(product > 256 for product in products[groups.n_narrow :])
    assert (np.diff(groups.table_starts) >= products).all()


@pytest.mark.parametrize(
    ("options", "missing", "per_user"), [(2, 0.0, 3), (3, 0.0, 4), (3, 0.1, 5), (5, 0.1, 7)]
)
def test_packed_memory(options, missing, per_user):
    """20 items: eight of 2 options to a byte, five of 3, four of 3 and a gap, three of 5 (6)."""
    rng = np.random.default_rng(10)
    data = make_responses(random_table(rng, 1_000, 20, options, missing))
    assert build_layout(data).nbytes == 1_000 * per_user


def test_layout_follows_density():
    rng = np.random.default_rng(11)
    kinds = {}
    for missing in (0.3, 0.95):
        data = make_responses(random_table(rng, 400, 60, 3, missing), dense=False)
        kinds[missing] = type(build_layout(data)).__name__
    assert kinds == {0.3: "PackedLayout", 0.95: "SparseLayout"}
    with pytest.raises(InputError, match="layout must be one of"):
        build_layout(data, layout="dense")


def test_items_with_too_many_options_for_packing():
    n = 70_000
    rows = (np.arange(n + 1), np.arange(n, dtype=np.int32))
    data = Responses(
        users=np.arange(n),
        items=np.arange(1),
        option_labels=np.arange(n),
        item_starts=np.array([0, n]),
        rows=rows,
    )
    assert type(build_layout(data)).__name__ == "SparseLayout"
    with pytest.raises(InputError, match="fewer than 65536 options; got one with 70000"):
        build_layout(data, layout="packed")


# -- opening --------------------------------------------------------------------------------


def test_auto_takes_threads_for_large_data_only(monkeypatch):
    data = make_responses([[0, 1], [1, 0], [0, 0]])
    assert isinstance(open_sums(data), NumpySums)
    monkeypatch.setattr(base, "THREADS_FROM", 6)
    assert isinstance(open_sums(data), ThreadSums)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert isinstance(open_sums(data), NumpySums)


def test_the_layout_is_built_once_for_any_number_of_threads():
    data = make_responses([[0, 1], [1, 0], [0, 0]])
    first, second = open_sums(data, "threads", 1), open_sums(data, "threads", 2)
    assert (first.threads, second.threads) == (1, 2)
    assert first.layout is second.layout
    assert open_sums(data, "numpy") is open_sums(data, "numpy")


def test_wrong_engine_and_thread_count_are_refused():
    data = make_responses([[0, 1], [1, 0]])
    with pytest.raises(InputError, match="engine must be one of auto, numpy, threads; got 'gpu'"):
        open_sums(data, "gpu")
    with pytest.raises(InputError, match="threads must be at least 1; got 0"):
        open_sums(data, "threads", 0)


def test_without_numba(monkeypatch):
    data = make_responses([[0, 1], [1, 0], [0, 0]])
    monkeypatch.setattr(base, "THREADS_FROM", 1)
    for name in [name for name in sys.modules if name.startswith("hitsndiffs.sums.")]:
        if name.endswith(("jit", "kernels", "packed", "sparse")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "numba", None)
    assert isinstance(open_sums(data), NumpySums)
    with pytest.raises(MissingExtraError, match='use engine="numpy"'):
        open_sums(data, "threads")


def test_errors_in_threads_come_back():
    def work(piece):
        if piece == 3:
            raise ZeroDivisionError(piece)

    with pytest.raises(ZeroDivisionError):
        Run(2)(5, work)


# -- start-up and compilation ----------------------------------------------------------------


def run_python(code, **environment):
    command = [sys.executable, "-W", "error", "-c", textwrap.dedent(code)]
    paths = os.pathsep.join([*sys.path, os.path.dirname(__file__)])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": paths, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_numba_is_not_imported_until_it_is_chosen():
    found = run_python(
        """
        import sys
        import hitsndiffs.responses, hitsndiffs.sums, hitsndiffs.sums.threads
        print([name for name in ("numba", "llvmlite", "pandas", "polars") if name in sys.modules])
        """
    )
    assert found == "[]"


def test_kernels_without_compilation():
    """The kernels are plain Python too: the same results, and every line seen by coverage."""
    found = run_python(
        """
        import numba, numpy as np
        from test_sums import check_against_oracle, make_responses, random_table, threaded
        rng = np.random.default_rng(12)
        table = random_table(rng, 300, 14, 3, 0.2)
        table[:, 13] = np.arange(300) % 280
        for dense in (True, False):
            data = make_responses(table, dense=dense, dtype=np.uint16)
            for layout in ("packed", "sparse"):
                check_against_oracle(threaded(layout, 1)(data), data)
        print(numba.config.DISABLE_JIT)
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert found == "1"


def test_a_kernel_that_cannot_be_kept_on_disk_still_works(caplog):
    from numba import types

    from hitsndiffs.sums.jit import array, kernel

    names: dict = {}
    exec("def double(x):\n    for i in range(len(x)):\n        x[i] *= 2", names)  # no source file
    with caplog.at_level(logging.INFO, logger="hitsndiffs"):
        double = kernel(array(types.float64, 1))(names["double"])
    assert "cannot be kept on disk" in caplog.text
    values = np.arange(3.0)
    double(values)
    assert values.tolist() == [0.0, 2.0, 4.0]


def test_the_first_compilation_is_announced_once(caplog):
    from numba import njit

    from hitsndiffs.sums.jit import announced

    with caplog.at_level(logging.INFO, logger="hitsndiffs"):
        with announced(3):
            pass
        assert not caplog.text
        with announced(3):
            njit("void(float64)")(lambda x: None)
            njit("void(int64)")(lambda x: None)
    assert [record.getMessage() for record in caplog.records] == [
        "Compiling the fast kernels (once, about 3 s)…"
    ]
