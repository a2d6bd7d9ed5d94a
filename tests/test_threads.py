"""The threaded engine: its layouts, how it is chosen, and when Numba is imported."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from engine_cases import run_python
from factory import make_responses, random_table
from hypothesis import given
from hypothesis import strategies as st

from hitsndiffs.data.pool import Run
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.engines.numpy import NumpyEngine
from hitsndiffs.engines.threads import ThreadsEngine, build_layout
from hitsndiffs.errors import InputError, MissingExtraError

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
    ("options", "missing", "per_user"), [(2, 0.0, 4), (3, 0.0, 4), (3, 0.1, 8), (5, 0.1, 8)]
)
def test_packed_memory(options, missing, per_user):
    """20 items: eight of 2 options to a byte, five of 3, four of 3 and a gap, three of 5 (6).

    Bytes come in fours.
    """
    rng = np.random.default_rng(10)
    data = make_responses(random_table(rng, 1_000, 20, options, missing=missing, graded=False))
    assert build_layout(data).nbytes == 1_000 * per_user


def test_layout_follows_density():
    rng = np.random.default_rng(11)
    kinds = {}
    for missing in (0.3, 0.95):
        table = random_table(rng, 400, 60, 3, missing=missing, graded=False)
        data = make_responses(table, sparse=True)
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
    assert isinstance(open_engine(data), NumpyEngine)
    assert isinstance(open_engine(data, threads_from=7), NumpyEngine)
    assert isinstance(open_engine(data, threads_from=6), ThreadsEngine)
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert isinstance(open_engine(data, threads_from=6), NumpyEngine)


def test_large_parts_of_large_data_stay_on_threads():
    data = make_responses(np.random.default_rng(0).integers(0, 3, (2_100, 100)))
    large = open_engine(data, threads_from=6)
    assert isinstance(large.subset(np.arange(2_050))[0], ThreadsEngine)
    assert isinstance(large.subset(np.arange(50))[0], NumpyEngine)


@pytest.mark.parametrize("engine", ["numpy", "threads"])
def test_an_engine_in_use_is_opened_once(engine):
    data = make_responses([[0, 1], [1, 0], [0, 0]])
    first, second = open_engine(data, engine, 1), open_engine(data, engine, 2)
    assert (first.threads, second.threads) == (1, 2)
    assert open_engine(data, engine, 1) is first
    assert open_engine(first, "auto") is first
    other = make_responses([[0, 1], [1, 0], [0, 0]])
    assert open_engine(other, engine, 1) is not first


@pytest.mark.parametrize("dense", [True, False])
def test_counts_taken_from_the_engine(dense):
    table = random_table(13, 200, 7, 4, missing=0.3, graded=False)
    expected = make_responses(table, sparse=not dense)
    for engine in ("numpy", "threads"):
        ours = open_engine(expected, engine)
        for name in ("answers_per_user", "choosers_per_option", "answers_per_item"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(expected, name))
        assert ours.n_responses == expected.n_responses
        assert not ours.is_complete


def test_wrong_engine_and_thread_count_are_refused():
    data = make_responses([[0, 1], [1, 0]])
    with pytest.raises(
        InputError, match="engine must be one of auto, numpy, threads, cupy, dask; got 'gpu'"
    ):
        open_engine(data, "gpu")
    with pytest.raises(InputError, match="threads must be at least 1; got 0"):
        open_engine(data, "threads", 0)


@pytest.mark.usefixtures("without_numba")
def test_without_numba():
    data = make_responses([[0, 1], [1, 0], [0, 0]])
    assert isinstance(open_engine(data, threads_from=1), NumpyEngine)
    with pytest.raises(MissingExtraError, match="use the numpy engine"):
        open_engine(data, "threads")


def test_errors_in_threads_come_back():
    def work(piece):
        if piece == 3:
            raise ZeroDivisionError(piece)

    with pytest.raises(ZeroDivisionError):
        Run(2)(5, work)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_threads_work_in_a_forked_process():
    """A child has none of its parent's threads, and must not wait for them."""
    code = """
        import os, warnings
        import numpy as np
        from hitsndiffs.data.responses import Responses
        from hitsndiffs.engines.threads import ThreadsEngine
        warnings.simplefilter("ignore", DeprecationWarning)  # fork with threads: the point here
        data = Responses.from_wide(np.random.default_rng(0).integers(0, 3, (9000, 5)))
        sums = ThreadsEngine(data, 2, layout="packed")
        before = sums.choosers(np.ones(9000))
        if os.fork() == 0:
            os._exit(0 if (sums.choosers(np.ones(9000)) == before).all() else 1)
        print(os.waitstatus_to_exitcode(os.wait()[1]))
        """
    assert run_python(code) == "0"


# -- start-up and compilation ----------------------------------------------------------------


def test_numba_is_not_imported_until_it_is_chosen():
    found = run_python(
        """
        import sys
        import hitsndiffs.data.responses, hitsndiffs.engines, hitsndiffs.engines.threads
        print([name for name in ("numba", "llvmlite", "pandas", "polars") if name in sys.modules])
        """
    )
    assert found == "[]"


def test_kernels_without_compilation():
    """The kernels are plain Python too: the same results, and every line seen by coverage."""
    found = run_python(
        """
        import os
        import numpy as np
        from factory import make_responses, random_table
        from engine_cases import check_against_oracle, threaded
        rng = np.random.default_rng(12)
        table = random_table(rng, 300, 14, 3, missing=0.2, graded=False)
        table[:, 13] = np.arange(300) % 280
        for dense in (True, False):
            data = make_responses(table, sparse=not dense, dtype=np.uint16)
            for layout in ("packed", "sparse"):
                check_against_oracle(threaded(layout, 1)(data), data)
        print(os.environ["NUMBA_DISABLE_JIT"])
        """,
        NUMBA_DISABLE_JIT="1",
    )
    assert found == "1"


def test_kernels_travel_to_other_processes():
    """Workers of a cluster get them by name, compiled or not."""
    from numba.core.dispatcher import Dispatcher

    from hitsndiffs.engines import threads_kernels

    kernels = [each for each in vars(threads_kernels).values() if isinstance(each, Dispatcher)]
    for each in kernels:
        again = pickle.loads(pickle.dumps(each))
        assert again.py_func.__name__ == each.py_func.__name__
        assert again.nopython_signatures == each.nopython_signatures
    assert len(kernels) > 10


SPY = """
import concurrent.futures, os, sys
os.sched_getaffinity = lambda _: set(range(8))  # a machine with eight cores
asked, make = [], concurrent.futures.ThreadPoolExecutor.__init__
def spy(self, max_workers=None, *args, **kwargs):
    if max_workers is not None:  # Polars makes one that it does not use
        asked.append(max_workers)
    make(self, max_workers, *args, **kwargs)
concurrent.futures.ThreadPoolExecutor.__init__ = spy
from hitsndiffs.cli import main
def rank(*given):
    asked.clear()
    code = main(["rank", *given, "-m", "majority", "-q"])
    import polars
    print(code, max([1, *asked]), polars.thread_pool_size(), file=sys.stderr)
rank(sys.argv[1], "--threads", "1")
rank(sys.argv[1])
"""


def test_threads_bound_the_readers_too(tmp_path):
    """All cores where nobody asks for fewer; one process, as Polars keeps its first number."""
    import polars as pl

    rows = 10_000  # enough cells for several threads
    table = pl.DataFrame({f"q{i}": ["A", "B"] * (rows // 2) for i in range(101)})
    table = table.with_columns(pl.Series("student", [f"{n:05}" for n in range(rows)]))
    table.write_parquet(tmp_path / "wide.parquet")
    done = subprocess.run(
        [sys.executable, "-c", SPY, str(tmp_path / "wide.parquet")],
        capture_output=True,
        text=True,
        check=True,
        env={k: v for k, v in os.environ.items() if k != "POLARS_MAX_THREADS"},
    )
    bounded, unbounded = (line.split() for line in done.stderr.splitlines()[-2:])
    assert bounded == ["0", "1", "1"]
    assert unbounded[:2] == ["0", "4"]  # Parquet columns: four at the most
