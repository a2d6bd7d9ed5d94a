"""(e) Growth with users and with items: one round, and a whole solve with Lanczos.

Exponents are least-squares slopes of log time on log size. A round is ``through_users`` with the
threaded engine at every size; the whole solve is ``HND().fit`` with the engine that ``auto``
chooses (NumPy for small data).
"""

from __future__ import annotations

import gc

import numpy as np
from data import graded_responses
from harness import Report, arguments, exponent, measure

from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine, scaled
from hitsndiffs.methods import HND


def seconds_of(data: Responses, repeats: int) -> dict[str, float]:
    """Median seconds of a round and of a solve."""
    sums = open_engine(data, "threads")
    rng = np.random.default_rng(0)
    weights, scale = rng.standard_normal(data.n_options), rng.random(data.n_users)
    rounds = max(1, min(100, 20_000_000 // data.n_responses))  # short rounds are timed together

    def run() -> None:
        for _ in range(rounds):
            sums.through(weights, scaled, scale)

    timings = measure({"round": run, "solve": lambda: HND().fit(data)}, repeats)
    return {"round": timings["round"].median / rounds, "solve": timings["solve"].median}


def grow(report: Report, word: str, sizes: list[int], repeats: int, judged: bool) -> None:
    """Time all sizes, and fit the exponents."""
    found: dict[str, list[float]] = {"round": [], "solve": []}
    for size in sizes:
        users, items = (size, 100) if word == "users" else (1000, size)
        data = graded_responses(users, items)
        times = seconds_of(data, repeats if data.n_responses < 5e8 else 3)
        for name, seconds in times.items():
            found[name].append(seconds)
        report.fact(f"{size:,} {word}", **{name: round(t, 6) for name, t in times.items()})
        del data
        gc.collect()
    for name, seconds in found.items():
        slope = exponent(sizes, seconds)
        last = exponent(sizes[-2:], seconds[-2:])
        report.fact(f"{name}, exponent in {word}", all=round(slope, 3), last=round(last, 3))
        if judged:
            report.headline(f"Growth of a {name} with {word}: exponent", slope, unit="")


def main() -> None:
    options = arguments("Growth with users and items.")
    report = Report("Growth: exponents of time in users and in items")
    largest = 6 if options.quick else 7
    repeats = min(options.repeats, 5)
    users = [10**e for e in range(3, largest)] + [10**largest]
    grow(report, "users", users, repeats, not options.quick)
    items = [10**e for e in range(1, 4 if options.quick else 5)]
    grow(report, "items", items, repeats, not options.quick)
    report.save(options.json)


if __name__ == "__main__":
    main()
