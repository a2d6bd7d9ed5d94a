"""(h) The latent-key method on ten million responses; and peers, where they can run.

Peers compute what one of our methods computes too: correspondence analysis (prince) the axis of
``hnd``, crowd-kit Dawid and Skene's model, mirt the graded-response model that our ``grm`` hands to
it (so that the time beside it is what our layer adds).
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from data import graded_responses
from harness import Report, arguments, fresh, measure

import hitsndiffs as hnd
from hitsndiffs.data.responses import Responses
from hitsndiffs.methods import METHODS

#: The methods for real data, which fit several solutions and compare them.
LARGE = """
from data import graded_responses
data = graded_responses(int(sys.argv[2]), 100, 4, turned=True)
imported = time.perf_counter()
ranking = hnd.rank(data, sys.argv[1])
more = dict(rounds=ranking.n_iterations, converged=bool(ranking.fit.converged))
"""


def prince_axis(data: Responses) -> Callable[[], object]:
    import pandas as pd
    import prince

    one_hot = np.zeros((data.n_users, data.n_options))
    indptr, options = data.rows
    one_hot[np.repeat(np.arange(data.n_users), np.diff(indptr)), options] = 1
    table = pd.DataFrame(one_hot)
    return lambda: prince.CA(n_components=1, random_state=0).fit(table)


def crowdkit_fit(data: Responses) -> Callable[[], object]:
    import pandas as pd
    from crowdkit.aggregation import DawidSkene

    indptr, options = data.rows
    items = data.option_items[options]
    worker = np.repeat(data.users, np.diff(indptr))
    label = data.option_labels[options]
    table = pd.DataFrame({"worker": worker, "task": items, "label": label})
    return lambda: DawidSkene(n_iter=10).fit(table)


def mirt_fit(data: Responses) -> Callable[[], object]:
    import mirt

    levels = (2 - data.codes.T).astype(np.int64)
    return lambda: mirt.fit_mirt(levels, model="GRM")


PEERS: dict[str, tuple[str, Callable[[Responses], Callable[[], object]], str]] = {
    "prince CA": ("prince", prince_axis, "hnd"),
    "crowd-kit DawidSkene, 10 rounds": ("crowdkit", crowdkit_fit, "dawid-skene"),
    "mirt GRM": ("mirt", mirt_fit, "grm"),
}

#: What makes our method compute what the peer does.
LIKE_THE_PEER: dict[str, dict[str, Any]] = {
    "dawid-skene": {"model": "full", "max_iterations": 10},
    "grm": {"order": {i: [2, 1, 0] for i in range(100)}},
}


def compare(report: Report, users: int, name: str, repeats: int) -> None:
    package, make, method = PEERS[name]
    if importlib.util.find_spec(package) is None:
        report.fact(f"{name}, {users:,} users", skipped=f"{package} is not installed")
        return
    data = graded_responses(users)
    estimator = METHODS[method](**LIKE_THE_PEER.get(method, {}))
    try:
        timings = measure(
            {name: make(data), f"ours, {method}": lambda: estimator.fit(data)}, repeats
        )
    except Exception as error:  # a peer that cannot do it must not end the run
        report.fact(f"{name}, {users:,} users", skipped=f"{type(error).__name__}: {error}"[:120])
        return
    report.compare(f"{name}, {users:,} users × 100 × 3", timings, name)


def against_svds(report: Report, users: int) -> None:
    """The default method beside two singular vectors of the same answers."""
    from scipy import sparse
    from scipy.sparse.linalg import svds

    data = graded_responses(users, 100, 4, turned=True)
    indptr, options = data.rows
    matrix = sparse.csr_array(
        (np.ones(len(options)), options, indptr), shape=(users, data.n_options)
    )
    timings = measure(
        {"SciPy svds(k=2)": lambda: svds(matrix, k=2), "ours, auto": lambda: hnd.rank(data)}, 3
    )
    case = f"auto, {users:,} × 100 × 4, against svds(k=2)"
    ratio = report.compare(case, timings, "SciPy svds(k=2)")["ours, auto"]
    report.headline(f"{case}: times its time", 1 / ratio)


def main() -> None:
    options = arguments("latent-key on 10⁷ responses, and peers.")
    warnings.simplefilter("ignore")
    report = Report("latent-key on ten million responses, and peers")
    for users in (1_000,) if options.quick else (1_000, 10_000):
        for name in PEERS:
            compare(report, users, name, 3 if users <= 1_000 else 1)
    part = 10 if options.quick else 1
    against_svds(report, 200_000 // part)
    for method, users in (("latent-key", 100_000 // part), ("auto", 1_000_000 // part)):
        found = fresh("import hitsndiffs as hnd", LARGE, method, users)
        figures = {key: round(value, 2) for key, value in found.items()}
        report.fact(f"{method}, {users:,} × 100 × 4", version=hnd.__version__, **figures)
    report.save(options.json)


if __name__ == "__main__":
    main()
