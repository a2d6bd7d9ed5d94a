"""``hnd compare``: all methods side by side."""

from __future__ import annotations

import json
import time
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from hitsndiffs.cli.options import Json, Quiet, Seed, Table, method_names, option
from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import (
    for_people,
    say,
    show_json,
    show_table,
    six_digits,
    tab_separated,
    title,
)
from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.data.progress import working

if TYPE_CHECKING:
    from hitsndiffs.results.comparison import Comparison

__all__ = ["compare"]


def compare(
    *,
    key: Annotated[
        Path | None,
        option("FILE", "The right answers (columns item, answer): they judge the methods."),
    ] = None,
    method: Annotated[
        list[str] | None,
        option(
            "NAME",
            "Only this one; may be given several times.",
            "--method",
            "-m",
            autocompletion=method_names,
        ),
    ] = None,
    seed: Seed = None,
    source: Source,
    out: Table = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare all methods on one file."""
    from hitsndiffs.reading import read_key
    from hitsndiffs.results.comparison import compare
    from hitsndiffs.results.wording import count

    check_target(out, "--out", source.paths)
    r = source.read(quiet=quiet)
    known = r.key if key is None else read_key(key, r)
    for note in getattr(known, "notes", ()):
        say(f"Note: {note}", quiet=quiet)
    if key is None and r.key is not None:
        say(f"The file holds a key ({r.key.source}): it judges the methods.", quiet=quiet)
    start = time.perf_counter()
    with working("Comparing", quiet=quiet, told=True):
        found = compare(r, method or None, key=known, seed=seed or 0)
    seconds = time.perf_counter() - start
    _write(found, out)
    if as_json:
        show_json(_json(found))
    else:
        (_show if for_people() else _pipe)(found)
    fitted = sum(result.error is None for result in found.results)
    say(
        f"{source.name}: {count(r.n_users, 'user')}, {count(r.n_items, 'item')}; "
        f"{count(fitted, 'method')} in {seconds:.1f} s.",
        quiet=quiet,
    )
    _say_left_out(found, known is not None, quiet)
    for note in r.notes:
        say(f"Note: {note}", quiet=quiet)
    say(found.advice(), quiet=quiet)


def _say_left_out(found: Comparison, judged: bool, quiet: bool) -> None:
    """Say why methods were left out; those that need a key share one line."""
    from hitsndiffs.results.comparison import TOLD

    failed = {result.method: result.error for result in found.results if result.error is not None}
    waiting = [name for name in failed if not judged and name in TOLD]
    if waiting:
        say(f"Left out, as they need --key: {', '.join(waiting)}.", quiet=quiet)
    for name, error in failed.items():
        if name not in waiting:
            say(f"Left out: {name}. {error}", quiet=quiet)


def _write(found: Comparison, out: Path | None) -> None:
    if out is None:
        return
    if out.suffix.lower() == ".json":
        write_whole({out: text_writer(_json(found) + "\n")})
        return
    import polars as pl

    table = pl.DataFrame(_rows(found), infer_schema_length=None)
    write_whole({out: table_writer(table, out)})


def _json(found: Comparison) -> str:
    return json.dumps(found.to_dict(), indent=2, ensure_ascii=False)


def _rows(found: Comparison) -> list[dict[str, Any]]:
    """One row per method, with its correlation to every other one."""
    place = {name: number for number, name in enumerate(found.methods)}
    return [
        row
        | {
            f"with_{other}": None if isnan(value) else float(value)
            for other, value in zip(
                found.methods, found.correlations[place[row["method"]]], strict=True
            )
        }
        for row in found.table()
    ]


def _pipe(found: Comparison) -> None:
    rows = _rows(found)
    tab_separated(list(rows[0]), ([six_digits(value) for value in row.values()] for row in rows))


def _show(found: Comparison) -> None:
    judged = found.true_scores is not None
    heads = ["", "method", "agreement", "seconds", "settled"]
    if judged:
        heads[2:2] = ["with the key", "key found"]
    rows, names = [], []
    for row in found.table():
        if row["error"] is not None:
            continue
        names.append(row["method"])
        cells = [
            str(len(names)),
            row["method"],
            _digits(row["agreement"]),
            f"{row['seconds']:.3f}",
            "yes" if row["converged"] else "no",
        ]
        if judged:
            recovered = row["key_recovered"]
            share = "–" if recovered is None else f"{100 * recovered:.0f} %"
            cells[2:2] = [_digits(row["accuracy"]), share]
        rows.append(cells)
    print()
    show_table(heads, rows, names=(1,), spare=("seconds",))
    print()
    if len(names) > 1:
        _show_correlations(found, names)
    _explain(judged)


def _show_correlations(found: Comparison, names: list[str]) -> None:
    """Show how alike each pair of methods ranks; columns are numbered, to fit the screen."""
    places = [found.methods.index(name) for name in names]
    title("How alike they rank (100: the same order, 0: unrelated, -100: upside down)")
    rows = []
    for number, (name, row) in enumerate(zip(names, places, strict=True), start=1):
        known = [_hundredths(found.correlations[row, other]) for other in places[: number - 1]]
        rows.append([str(number), name, *known, *[""] * (len(names) - number)])
    show_table(["", "", *map(str, range(1, len(names)))], rows, names=(1,), tight=True)
    print()


def _explain(judged: bool) -> None:
    say("agreement: mean rank correlation with the other methods.")
    if judged:
        say(
            "with the key: rank correlation with the share of right answers; key found: share of "
            "the key that the method inferred."
        )


def _digits(value: float | None) -> str:
    return "–" if value is None or isnan(value) else f"{value:.2f}"


def _hundredths(value: float) -> str:
    return "–" if isnan(value) else f"{100 * value:.0f}"
