"""One round of sums, ours against SciPy's sparse products: dense, with gaps, sparse, threads.

A round is what every method repeats: from option weights to user scores, scaled, and back to the
options. SciPy takes two products with one CSR matrix of ones (float64 values, int32 indices).
In the same turns, plain arithmetic runs on one thread and on two: virtual cores may share a real
one, and no code gains more from the second than that.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Report, arguments, measure
from numba import njit
from scipy import sparse

from hitsndiffs.data.pool import Run, available_cores
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import scaled
from hitsndiffs.engines.threads import ThreadsEngine

ALONE, TOGETHER = "arithmetic, 1 thread", "arithmetic, 2 threads"


def dense_responses(users: int, items: int, options: int, missing: float) -> Responses:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, options, (items, users), dtype=np.uint8)
    if missing:
        for column in codes:
            column[rng.random(users) < missing] = 255
    return Responses(
        users=np.arange(users),
        items=np.arange(items),
        option_labels=np.tile(np.arange(options), items),
        item_starts=np.arange(0, items * options + 1, options),
        codes=codes,
    )


def sparse_responses(users: int, items: int, options: int, answers: int, skew: float) -> Responses:
    """Every user answers some items; with ``skew`` > 1, some items are answered far more often."""
    rng = np.random.default_rng(0)
    stretch = items // answers
    chosen = (rng.random((users, answers)) ** skew * stretch).astype(np.int32)
    chosen += np.arange(answers, dtype=np.int32) * stretch
    chosen = chosen * options + rng.integers(0, options, chosen.shape, dtype=np.int32)
    present, numbers = np.unique(chosen, return_inverse=True)
    present_items, sizes = np.unique(present // options, return_counts=True)
    return Responses(
        users=np.arange(users),
        items=present_items,
        option_labels=present % options,
        item_starts=np.concatenate([[0], np.cumsum(sizes)]),
        rows=(np.arange(users + 1) * answers, numbers.ravel().astype(np.int32)),
    )


def scipy_matrix(responses: Responses) -> Any:
    indptr, options = responses.rows
    ones = np.ones(len(options))
    shape = (responses.n_users, responses.n_options)
    return sparse.csr_array((ones, options, indptr.astype(np.int32)), shape=shape)


@njit(nogil=True)
def _reckon(steps: int, a: int) -> int:
    """Whole numbers in eight chains that do not wait for each other, and no memory."""
    b, c, d, e, f, g, h = a + 1, a + 2, a + 3, a + 4, a + 5, a + 6, a + 7
    for i in range(steps):
        a, b, c, d = a * 3 + i, b * 5 + i, c * 7 + i, d * 9 + i
        e, f, g, h = e * 11 + i, f * 13 + i, g * 17 + i, h * 19 + i
    return a + b + c + d + e + f + g + h


def arithmetic() -> dict[str, Callable[[], object]]:
    """What a second thread is worth on this machine, at this moment, without memory or locks."""
    steps, run = 4_000_000, Run(2)

    def alone() -> None:
        for start in range(2):
            _reckon(steps, start)

    def together() -> None:
        run(2, lambda start: _reckon(steps, start))  # type: ignore[arg-type,return-value]

    return {ALONE: alone, TOGETHER: together}


def compare(report: Report, case: str, responses: Responses, repeats: int) -> dict[str, Any]:
    """Time SciPy and the threaded engine on the same data, and check that they agree."""
    rng = np.random.default_rng(1)
    weights, scale = rng.standard_normal(responses.n_options), rng.random(responses.n_users)
    start = time.perf_counter()
    layout = ThreadsEngine(responses).layout
    build = time.perf_counter() - start
    matrix = scipy_matrix(responses)
    transposed = matrix.T

    def with_scipy() -> Any:
        return transposed @ (scale * (matrix @ weights))

    contestants: dict[str, Callable[[], object]] = {"SciPy CSR": with_scipy}
    for threads in sorted({1, 2, available_cores()}):
        sums = ThreadsEngine(responses, threads)
        contestants[f"ours, {threads} thread{'s' * (threads > 1)}"] = lambda sums=sums: (
            sums.through(weights, scaled, scale)
        )
        expected = with_scipy()
        error = np.abs(sums.through(weights, scaled, scale) - expected).max()
        assert error <= 1e-10 * np.abs(expected).max(), f"{case}: results differ by {error}"
    timings = measure(contestants | arithmetic(), repeats)
    alone, together = timings.pop(ALONE), timings.pop(TOGETHER)
    csr_bytes = matrix.data.nbytes + matrix.indices.nbytes + matrix.indptr.nbytes
    ratios = report.compare(
        case,
        timings,
        "SciPy CSR",
        layout=type(layout).__name__,
        memory_mb=round(layout.nbytes / 1e6, 1),
        csr_mb=round(csr_bytes / 1e6, 1),
        memory_ratio=round(csr_bytes / layout.nbytes, 1),
        build_s=round(build, 2),
    )
    scaling, low, high = timings["ours, 2 threads"].times_faster_than(timings["ours, 1 thread"])
    machine, *_ = together.times_faster_than(alone)
    report.fact(
        "1 → 2 threads",
        case_of=case,
        scaling=round(scaling, 2),
        low=round(low, 2),
        high=round(high, 2),
        plain_arithmetic=round(machine, 2),
    )
    spreads = {
        name: timing.times_faster_than(timings["SciPy CSR"])[1:] for name, timing in timings.items()
    }
    return {**ratios, "memory": csr_bytes / layout.nbytes, "scaling": scaling} | {
        "spreads": spreads | {"scaling": (low, high)}
    }


def main() -> None:
    options = arguments("One round of sums, ours against SciPy CSR.")
    report = Report("One round of sums: option weights → user scores → options")
    users = 100_000 if options.quick else 1_000_000
    found: dict[str, Any] = {}

    def headline(what: str, name: str) -> None:
        report.headline(what, found[name], spread=found["spreads"].get(name))

    report.section(f"(a) dense: {users:,} users × 100 items")
    for n_options in (3, 5):
        for missing in (0.0, 0.1, 0.5):
            case = f"{n_options} options, {missing:.0%} missing"
            data = dense_responses(users, 100, n_options, missing)
            found = compare(report, case, data, options.repeats)
            if (n_options, missing) == (3, 0.0) and not options.quick:
                headline("Dense answers, one thread: times faster than SciPy", "ours, 1 thread")
                headline("Dense answers, two threads: times faster than SciPy", "ours, 2 threads")
                headline("Dense answers: SciPy's memory beside ours", "memory")
                headline("Dense answers: two threads beside one", "scaling")
            del data
            gc.collect()

    report.section(f"(b) sparse: {users:,} users × {users // 10:,} items, 20 answers each")
    for name, skew in (("even", 1.0), ("long tail", 3.0)):
        data = sparse_responses(users, users // 10, 3, 20, skew)
        found = compare(report, f"20 answers, {name}", data, options.repeats)
        if name == "even" and not options.quick:
            headline("Sparse answers, one thread: times faster than SciPy", "ours, 1 thread")
            headline("Sparse answers: SciPy's memory beside ours", "memory")
            headline("Sparse answers: two threads beside one", "scaling")
        del data
        gc.collect()
    report.save(options.json)


if __name__ == "__main__":
    main()
