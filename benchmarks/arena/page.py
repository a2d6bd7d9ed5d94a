"""The page of the arena: tables over finished cells, as Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena import ablation
from benchmarks.arena.measuring import ASKED, CONTESTANTS, KNOWN, RIGHT
from benchmarks.arena.peers import PEERS
from benchmarks.arena.real import GROUPS
from benchmarks.arena.running import Cell, Record
from benchmarks.arena.settings import SETTINGS, kind
from benchmarks.arena.story_kinds import STORIES
from benchmarks.arena.structures import STRUCTURES, UNKNOWABLE

__all__ = ["MISCONCEPTIONS", "number", "page", "table"]

#: Written by hand: where the default falls short, the cause, and what was tried.
REMARKS = Path(__file__).with_name("remarks.md")
#: Settings in which some users fall for the same wrong option.
MISCONCEPTIONS = tuple(name for name in SETTINGS if "misconception" in name)
#: From here on a ranking is said to be sure; a wrong one should not reach the second.
SURE, CONFIDENT = 0.8, 0.6
#: A ranking this good is doubted without need.
GOOD = 0.7

READING = """\
This page is made by `make arena` (`python -m benchmarks.arena`); do not edit it by hand. The real
data sets are not part of this project: the variable `HITSNDIFFS_DATA` names their folder.

Every method ranks the users of every data set from their answers alone. The truth (an answer key,
or the abilities that a simulation used) only judges. The figures are

- **Spearman**: rank correlation with the truth, 1 = the same order, 0 = no relation, −1 = reversed;
- **key**: share of the items whose right answer the method finds;
- **confidence**: how sure the method says it is of having found ability, and the right way up;
- **seconds**: processor time of one fit on one core.

*Right* is a ranking with a Spearman above 0.3. A dash means: the method does not apply, or it was
not run."""
DOUBT = """\
Kinds of answer sheets that real data showed (`structures.py`), and stories made up to mislead, with
ordinary ones among them (`story_kinds.py`). Sizes and strengths differ from run to run. *Sure* is a
confidence of 0.8 and more. *Mended* counts the wrong rankings that came right with the right
answers of the two items that `ranking.ask(2)` names. Stories with nothing to find have no Spearman:
there a ranking is wrong whatever it is."""
SIMULATED = """\
Spearman with the true share of right answers, the mean over the settings of a kind and their runs.
`true-answer` and `grm` are told the key."""


def page(results: Mapping[Cell, Record], before: str = "") -> str:
    """The whole page; the ablation of the page before is kept."""
    told = _Results(results)
    parts = [
        "# Arena: all methods on all data",
        READING,
        "## Real data",
        _groups(told),
        _confident(told),
        "### Set by set",
        _by_set(told),
        "### Published rivals on the same sets",
        _peers(told),
        "### With known answers",
        "Mean Spearman of `auto` when it is told some right answers, drawn at random:",
        _known(told),
        "## Simulated data",
        SIMULATED,
        _settings(told),
        "## Made to mislead",
        DOUBT,
        _misleading(told),
        "### What no answers can tell",
        "In some kinds the same table of answers comes about as often from another truth that "
        "ranks people otherwise. The reasons are about how the data are made:",
        "\n".join(f"- **{name}**: {why}." for name, why in UNKNOWABLE.items()),
        "## Is the confidence right?",
        "How often `auto` is right, by how sure it says it is:",
        _bins(told),
        "How often the option that it takes for right is right, by how sure it says it is:",
        _key_bins(told),
        "How many true values lie in their 95 % intervals, in simulated settings:",
        _intervals(told),
        ablation.kept(before),
        *([REMARKS.read_text(encoding="utf-8").strip()] if REMARKS.exists() else []),
    ]
    return "\n\n".join(parts) + "\n"


class _Results:
    """Finished cells, asked for by contestant and data set."""

    def __init__(self, records: Mapping[Cell, Record]) -> None:
        self._of: dict[tuple[str, str], list[Record]] = {}
        for contestant, data, seed in sorted(records):
            record = records[contestant, data, seed]
            self._of.setdefault((contestant, data), []).append(record)

    def of(self, contestant: str, data: str) -> list[Record]:
        """The records of a contestant on a data set, by seed."""
        return self._of.get((contestant, data), [])

    def mean(self, contestant: str, names: Iterable[str], figure: str = "accuracy") -> float:
        """Over the runs, then over those of the data sets that have the figure."""
        each = (
            [record[figure] for record in self.of(contestant, name) if figure in record]
            for name in names
        )
        means = [float(np.mean(values)) for values in each if values]
        return float(np.mean(means)) if means else float("nan")

    def real(self, group: str = "") -> list[str]:
        """The real sets that the default has ranked."""
        found = (name for contestant, name in self._of if contestant == "auto")
        return [name for name in found if name.startswith(f"real/{group}")]


def _ranked(results: _Results, contestant: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if any("accuracy" in r for r in results.of(contestant, name))]


def _groups(results: _Results) -> str:
    """Methods × groups of real sets."""
    groups = [group for group in GROUPS if results.real(f"{group}/")]
    rows = []
    for contestant in CONTESTANTS:
        row = [f"`{contestant}`"]
        for group in groups:
            names = results.real(f"{group}/")
            here = _ranked(results, contestant, names)
            few = f" ({len(here)})" if 0 < len(here) < len(names) else ""
            row.append(number(results.mean(contestant, here)) + few)
        row.append(number(results.mean(contestant, results.real(), "key_share")))
        row.append(number(results.mean(contestant, results.real(), "seconds"), 2))
        rows.append(row)
    header = [f"{group}: {GROUPS[group]} ({len(results.real(f'{group}/'))})" for group in groups]
    about = "Mean Spearman; in brackets how many sets of a group a method can rank, if not all."
    return about + "\n\n" + table(["method", *header, "key", "seconds"], rows)


def _confident(results: _Results) -> str:
    """Confident errors and needless doubt."""
    runs = [(name, record) for name in results.real() for record in results.of("auto", name)]
    wrong = [n for n, r in runs if r["accuracy"] < RIGHT and r["confidence"] > CONFIDENT]
    needless = [n for n, r in runs if r["accuracy"] > GOOD and r["confidence"] < CONFIDENT]
    return (
        f"`auto` said more than {CONFIDENT} with a Spearman below {RIGHT} on {_few(wrong)}, and "
        f"less than {CONFIDENT} with one above {GOOD} on {_few(needless)} (of {len(runs)} sets)."
    )


def _few(names: Sequence[str]) -> str:
    short = ", ".join(name.rpartition("/")[2] for name in names)
    return f"{len(names)}: {short}" if names else "none"


def _by_set(results: _Results) -> str:
    shown = ("hnd", "majority", "dawid-skene", "dawid-skene/hierarchical", "double-centred")
    rows = []
    for name in results.real():
        record = results.of("auto", name)[0]
        users, items, answers = record["size"]
        part = name.replace("real/", "part/")
        rows.append(
            [
                name.removeprefix("real/"), f"{users:,} × {items:,}", f"{answers:,}",
                number(record["accuracy"]), number(record["confidence"], 2),
                number(record.get("key_share")), number(record["seconds"], 2),
                number(results.mean(ASKED, [name])),
                number(results.mean("auto", [part])),
                *(number(results.mean(each, [name])) for each in shown),
            ]
        )  # fmt: skip
    header = [
        "set", "users × items", "answers", "`auto`", "confidence", "key", "seconds",
        "two asked", "parts", *(f"`{each}`" for each in shown),
    ]  # fmt: skip
    about = (
        "*Two asked*: with the right answers of the two items that it asks for. *Parts*: the mean "
        "over tests of 20 items and at most 40 users, drawn from the set."
    )
    return about + "\n\n" + table(header, rows)


def _peers(results: _Results) -> str:
    rows = []
    for peer in PEERS:
        here = _ranked(results, peer, results.real())
        rows.append(
            [
                peer, str(len(here)), number(results.mean(peer, here)),
                number(results.mean("auto", here)), number(results.mean(peer, here, "key_share")),
                number(results.mean("auto", here, "key_share")),
                number(results.mean(peer, here, "seconds"), 2),
                number(results.mean("auto", here, "seconds"), 2),
            ]
        )  # fmt: skip
    header = ["peer", "sets", "Spearman", "`auto`", "key", "`auto`", "seconds", "`auto`"]
    about = "Each beside `auto` on the sets that it can rank, and is fast enough for."
    return about + "\n\n" + table(header, rows)


def _known(results: _Results) -> str:
    kinds = {"real sets": results.real(), "shared misconceptions": list(MISCONCEPTIONS)}
    everyone = ("auto", *KNOWN)
    rows = [
        [what, *(number(results.mean(each, names)) for each in everyone)]
        for what, names in kinds.items()
    ]
    return table(["", *(each.removeprefix("auto + ") for each in everyone)], rows)


def _settings(results: _Results) -> str:
    rows = []
    for which in dict.fromkeys(map(kind, SETTINGS)):
        names = [name for name in SETTINGS if kind(name) == which]
        figures = (number(results.mean(each, names), 2) for each in CONTESTANTS)
        rows.append([which, *figures])
    return table(["settings", *(f"`{each}`" for each in CONTESTANTS)], rows)


def _misleading(results: _Results) -> str:
    """Every kind of structure and every story, those that mislead most on top."""
    rows = []
    for prefix, tales in (("structure", STRUCTURES), ("story", STORIES)):
        for name, tell in tales.items():
            data = f"{prefix}/{name}"
            records = results.of("auto", data)
            if not records:
                continue
            right = [_right(record) for record in records]
            sure = [record["confidence"] >= SURE for record in records]
            misled = sum(s and not ok for s, ok in zip(sure, right, strict=True))
            told = results.of(ASKED, data)
            findable = any("accuracy" in record for record in records)
            again = [_right(t) for t, ok in zip(told, right, strict=False) if not ok]
            tale = f": {tell.__doc__.strip()}" if prefix == "story" and tell.__doc__ else ""
            rows.append(
                (
                    misled,
                    [
                        f"**{name}**{tale}", str(len(records)),
                        number(results.mean("auto", [data]), 2), str(sum(right)),
                        number(results.mean("auto", [data], "confidence"), 2), str(sum(sure)),
                        str(misled),
                        f"{sum(again)} of {len(again)}" if again and findable else "–",
                    ],
                )
            )  # fmt: skip
    rows.sort(key=lambda row: -row[0])
    header = ["data", "runs", "Spearman", "right", "confidence", "sure", "sure and wrong", "mended"]
    return table(header, [row for _, row in rows])


def _right(record: Record) -> bool:
    return bool(record.get("accuracy", -1.0) > RIGHT)


def _doubted(results: _Results) -> Iterator[tuple[str, list[Record]]]:
    """Where confidence is judged: names of columns, and records."""
    sets = results.real()
    yield "real sets", [r for name in sets for r in results.of("auto", name)]
    parts = [name.replace("real/", "part/") for name in sets]
    yield "parts of them", [r for name in parts for r in results.of("auto", name)]
    yield "settings", [r for name in SETTINGS for r in results.of("auto", name)]
    knowable = [name for name in STRUCTURES if name not in UNKNOWABLE]
    yield "structures", [r for n in knowable for r in results.of("auto", f"structure/{n}")]
    yield "unknowable", [r for n in UNKNOWABLE for r in results.of("auto", f"structure/{n}")]
    yield "stories", [r for n in STORIES for r in results.of("auto", f"story/{n}")]


def _bins(results: _Results) -> str:
    edges = (0.0, 0.5, 0.6, 0.7, 0.8, 1.01)
    columns = dict(_doubted(results))

    def share(records: list[Record], low: float, high: float) -> str:
        here = [_right(r) for r in records if low <= r.get("confidence", -1.0) < high]
        return f"{np.mean(here):.2f} of {len(here):,}" if here else "–"

    rows = [
        [f"{low:.1f}–{min(high, 1.0):.1f}", *(share(r, low, high) for r in columns.values())]
        for low, high in pairwise(edges)
    ]
    return table(["said", *columns], rows)


def _key_bins(results: _Results) -> str:
    columns = dict(_doubted(results))
    sums: Callable[[list[Record]], Any] = lambda records: np.sum(  # noqa: E731
        [np.array(r["key_bins"]) for r in records if "key_bins" in r] or [np.zeros((10, 3))], axis=0
    )
    totals = {what: sums(records) for what, records in columns.items()}
    rows = [
        [f"{low / 10:.1f}–{(low + 1) / 10:.1f}"]
        + [f"{t[low, 2] / t[low, 0]:.2f} of {t[low, 0]:,.0f}" if t[low, 0] else "–"
           for t in totals.values()]
        for low in range(10)
    ]  # fmt: skip
    return table(["said", *totals], rows)


def _intervals(results: _Results) -> str:
    of = {"share": "share of right answers", "theta": "ability", "rank": "rank"}
    names = {
        "tests": [name for name in SETTINGS if "test" in name], "all settings": list(SETTINGS)
    }  # fmt: skip
    rows = []
    for figure, what in of.items():
        row = [what]
        for settings in names.values():
            records = [r for name in settings for r in results.of("auto", name)]
            inside, count = (sum(r.get(f"{figure}_{p}", 0) for r in records) for p in ("in", "of"))
            row.append(number(inside / count if count else None))
        rows.append(row)
    return table(["interval", *names], rows)


def number(value: float | None, digits: int = 3) -> str:
    """A figure for a table; a dash where there is none."""
    if value is None or np.isnan(value):
        return "–"
    return f"{value:.{digits}f}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; all columns but the first stand to the right."""
    lines = [
        "| " + " | ".join(header) + " |",
        "|" + "|".join(["---", *["---:"] * (len(header) - 1)]) + "|",
    ]
    lines.extend("| " + " | ".join(row) + " |" for row in rows)
    return "\n".join(lines)
