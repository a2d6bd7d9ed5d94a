"""``hnd compare``: all methods side by side."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hitsndiffs.cli.result import Result
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import say, show_cells, show_matrix, title
from hitsndiffs.data.progress import working

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hitsndiffs.results.cells import Cells
    from hitsndiffs.results.comparison import Comparison

__all__ = ["compare"]


def compare(
    *,
    key: str | None = None,
    method: list[str] | None = None,
    seed: int | None = None,
    source: Source,
    result: Result,
) -> None:
    """Compare all methods on one file."""
    from hitsndiffs.data.words import count
    from hitsndiffs.results.comparison import compare

    result.check(source.paths)
    r = source.read(quiet=result.quiet)
    known = source.key(key, r, quiet=result.quiet)
    if key is None and r.key is not None:
        result.say(f"The file holds a key ({r.key.source}): it judges the methods.")
    start = time.perf_counter()
    with working("Comparing", quiet=result.quiet, told=True):
        found = compare(r, method or None, key=known, seed=seed or 0)
    seconds = time.perf_counter() - start
    fitted = sum(each.error is None for each in found.results)
    result.say(
        str(found),
        f"{source.name}: {count(r.n_users, 'user')}, {count(r.n_items, 'item')}; "
        f"{count(fitted, 'method')} in {seconds:.1f} s.",
        *_left_out(found, known is not None),
    )
    cells = found.cells()
    result.give(found, cells=cells, people=lambda: _show(found, cells))
    result.note(r.notes)


def _left_out(found: Comparison, judged: bool) -> Iterator[str]:
    """Why methods were left out; those that need a key share one line."""
    from hitsndiffs.results.comparison import TOLD

    failed = {each.method: each.error for each in found.results if each.error is not None}
    waiting = [name for name in failed if not judged and name in TOLD]
    if waiting:
        yield f"Left out, as they need --key: {', '.join(waiting)}."
    for name, error in failed.items():
        if name not in waiting:
            yield f"Left out: {name}. {error}"


def _show(found: Comparison, cells: Cells) -> None:
    import numpy as np

    from hitsndiffs.results.cells import Cells

    judged = found.true_scores is not None
    fitted = [row for row, error in enumerate(cells.values("error")) if error is None]
    names = [f"{k:2} {cells.values('method')[row]}" for k, row in enumerate(fitted, start=1)]
    shown = ["accuracy", "key_recovered"] if judged else []
    shown += ["agreement", "seconds", "converged"]
    chosen = cells.only(fitted)
    columns = {"method": names, **{name: chosen.columns[name] for name in shown}}
    show_cells(Cells(columns, cells.kinds, cells.headings))
    print()
    if len(fitted) > 1:
        title("How alike they rank (100: the same order, 0: unrelated, -100: upside down)")
        methods = [row["method"] for row in found.rows() if row["error"] is None]
        places = [found.methods.index(method) for method in methods]
        show_matrix(methods, found.correlations[np.ix_(places, places)])
        print()
    say("agreement: mean rank correlation with the other methods.")
    if judged:
        say(
            "with the key: rank correlation with the share of right answers; key found: share of "
            "the key that the method inferred."
        )
