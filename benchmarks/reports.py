"""(i) Reports: how long one takes to build, and how large it is, for 30 to 100,000 users."""

from __future__ import annotations

import statistics
import time

from harness import Report, arguments, measure

import hitsndiffs as hnd
from hitsndiffs.show import report_html

#: Users and items: a class, a large course, a country.
SIZES = ((30, 20), (1_000, 60), (100_000, 60))


def main() -> None:
    options = arguments("Size and building time of reports.")
    report = Report("Reports")
    sizes = SIZES[:2] if options.quick else SIZES
    for users, items in sizes:
        sim = hnd.simulate("samejima", users=users, items=items, options=4, seed=1)
        start = time.perf_counter()
        ranking = hnd.rank(sim.responses)
        ranked = time.perf_counter() - start
        text = report_html(ranking)
        timings = measure({"report": lambda r=ranking: report_html(r)}, min(options.repeats, 3))
        low, high = timings["report"].quartiles
        report.fact(
            f"{users:,} users × {items} items",
            megabytes=round(len(text.encode()) / 1e6, 2),
            seconds=round(timings["report"].median, 2),
            low=round(low, 2),
            high=round(high, 2),
            cpu_seconds=round(statistics.median(timings["report"].cpu_seconds), 2),
            ranking_seconds=round(ranked, 2),
        )
    report.save(options.json)


if __name__ == "__main__":
    main()
