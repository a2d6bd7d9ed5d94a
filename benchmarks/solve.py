"""(c) A whole solve against the paper's Algorithm 1 in dense NumPy, 100,000 × 100 × 3.

Both begin with the codes in memory. The dense one is Algorithm 1 as the paper states it, with C_row
and C_col as float64 matrices, and stops when the unit vector of score differences changes by at
most 1e-5. How many rounds that takes depends on how far ability stands out from the next axis, so
there are three kinds of data: telling items (slopes up to 10, as in the paper), weak ones (up to
1), and answers that have nothing to do with ability (very many rounds, of which some are timed).
Ours is ``HND().fit`` with Lanczos, to full accuracy; ``rank`` adds order, certificate and key.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from data import graded_responses
from harness import Report, arguments, measure
from kernels import dense_responses
from scipy.stats import spearmanr

import hitsndiffs as hnd
from hitsndiffs.data.responses import Responses
from hitsndiffs.methods import HND

Vector = npt.NDArray[np.float64]

TOLERANCE = 1e-5
#: Dense rounds that are timed where thousands are needed; the time is multiplied.
SOME = 20


def one_hot(responses: Responses) -> Vector:
    """C, users × options."""
    matrix = np.zeros((responses.n_users, responses.n_options))
    users = np.arange(responses.n_users)
    for start, codes in zip(responses.item_starts, responses.codes, strict=False):
        matrix[users, start + codes] = 1.0
    return matrix


def algorithm_1(c_row: Vector, c_col: Vector, most: int = 10_000) -> tuple[Vector, int]:
    """HnD-power: scores and the number of rounds."""
    difference = np.random.default_rng(0).standard_normal(len(c_row) - 1)
    difference /= np.linalg.norm(difference)
    change, rounds = np.inf, 0
    while change > TOLERANCE and rounds < most:
        rounds += 1
        s = np.concatenate([[0.0], np.cumsum(difference)])  # s ← T s_diff
        w = c_col.T @ s
        s = c_row @ w
        following = np.diff(s)  # s_diff ← S s
        following /= np.linalg.norm(following)
        change = float(np.linalg.norm(following - difference))
        difference = following
    return s, rounds


def dense_solve(responses: Responses) -> tuple[Vector, int]:
    """From codes to scores, matrices included."""
    matrix = one_hot(responses)
    return algorithm_1(matrix / matrix.sum(axis=1, keepdims=True), matrix / matrix.sum(axis=0))


def anew(responses: Responses) -> Responses:
    """The same data with nothing counted or packed yet."""
    rebuild, parts = responses.__reduce__()
    fresh: Responses = rebuild(*parts)
    return fresh


def compare(report: Report, name: str, data: Responses, repeats: int, judged: bool) -> None:
    """Time both on the same data, with and without what is made once."""
    matrix = one_hot(data)
    c_row, c_col = matrix / matrix.sum(axis=1, keepdims=True), matrix / matrix.sum(axis=0)
    del matrix
    scores, rounds = algorithm_1(c_row, c_col)
    ours = hnd.rank(data, "hnd")
    agreement = abs(float(spearmanr(scores, ours.scores).statistic))
    timings = measure(
        {
            "dense, matrices too": lambda: dense_solve(data),
            "dense, rounds only": lambda: algorithm_1(c_row, c_col),
            "ours, fit, packing too": lambda: HND().fit(anew(data)),
            "ours, fit": lambda: HND().fit(data),
            "ours, rank": lambda: hnd.rank(data, "hnd"),
        },
        repeats,
    )
    report.compare(
        f"{name}, {data.n_users:,} × 100 × 3",
        timings,
        "dense, matrices too",
        dense_rounds=rounds,
        our_rounds=ours.n_iterations,
        agreement=round(agreement, 6),
    )
    for theirs, mine in (
        ("dense, matrices too", "ours, fit, packing too"),
        ("dense, rounds only", "ours, fit"),
    ):
        ratio, low, high = timings[mine].times_faster_than(timings[theirs])
        if judged:
            what = f"{name} ({rounds} dense rounds): {theirs}, beside {mine}"
            report.headline(what, ratio, spread=(low, high))
    per_round = timings["dense, rounds only"].median / rounds
    report.fact("one dense round", milliseconds=round(per_round * 1e3, 1))


def compare_slow(report: Report, data: Responses, repeats: int, judged: bool) -> None:
    """Answers without ability: dense rounds are counted by our power solver and timed in part."""
    rounds = HND(solver="power", tol=TOLERANCE, gap=False).fit(data).n_iterations_
    matrix = one_hot(data)
    c_row, c_col = matrix / matrix.sum(axis=1, keepdims=True), matrix / matrix.sum(axis=0)
    del matrix
    few = f"dense, {SOME} rounds"
    timings = measure(
        {few: lambda: algorithm_1(c_row, c_col, SOME), "ours, fit": lambda: HND().fit(data)},
        repeats,
    )
    name = f"random answers, {data.n_users:,} × 100 × 3"
    report.compare(name, timings, few, dense_rounds=rounds)
    ratios = [r * rounds / SOME for r in timings["ours, fit"].times_faster_than(timings[few])]
    if judged:
        what = f"random answers ({rounds} dense rounds, {SOME} timed): rounds only, beside fit"
        report.headline(what, ratios[0], spread=(ratios[1], ratios[2]))


def main() -> None:
    options = arguments("A whole solve against dense NumPy.")
    report = Report("A whole solve against dense NumPy (Algorithm 1)")
    users = 10_000 if options.quick else 100_000
    for name, steepest in (("telling items", 10.0), ("weak items", 1.0)):
        data = graded_responses(users, steepest=steepest)
        compare(report, name, data, min(options.repeats, 5), not options.quick)
    data = dense_responses(users, 100, 3, 0.0)
    compare_slow(report, data, min(options.repeats, 5), not options.quick)
    report.save(options.json)


if __name__ == "__main__":
    main()
