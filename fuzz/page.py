"""The counts of a campaign, per kind of input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

#: Where the written part ends and the counts begin; the former is kept as it is in the file.
MARK = "<!-- counts: written by python -m fuzz --page -->"

WHAT = {
    "bytes": "damaged files of every container and format, keys, plans, saved rankings",
    "exports": "damaged real exports",
    "tables": "odd tables, well written (CSV, TSV, JSONL, JSON)",
    "growth": "twice the input (rows, columns, files, cells) takes at most 2.5 times as long",
    "page": "visits to the page: any files, fields and addresses in any order",
    "paths": "one content: small path = large path = JSONL = Parquet = Polars = pandas",
    "changes": "order, names, copies, blanks, splitting into files: the same result to 1e-9",
    "states": "random sequences of calls against the naive oracle (12 steps each)",
    "faults": "one call of the system fails (ENOSPC, EIO, EINTR, EACCES, EDQUOT, short writes)",
    "kills": "`kill -9` at a random moment of `hnd rank --out`",
}


def joined(states: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Several campaigns (with different seeds) as one."""
    found: dict[str, dict[str, Any]] = {}
    for state in states:
        for name, entry in state["kinds"].items():
            into = found.setdefault(
                name, {"inputs": 0, "seconds": 0.0, "hangs": 0, "crashes": 0, "peak_mib": 0}
            )
            for count in ("inputs", "seconds", "hangs", "crashes"):
                into[count] += entry[count]
            into["peak_mib"] = max(into["peak_mib"], entry["peak_mib"])
            listed = into.setdefault("findings", [])
            listed += [{**finding, "seed": state["seed"]} for finding in entry["findings"]]
            outcomes = into.setdefault("outcomes", {})
            for outcome, times in entry["outcomes"].items():
                outcomes[outcome] = outcomes.get(outcome, 0) + times
    return found


def counts(states: Sequence[Mapping[str, Any]]) -> str:
    """The table of counts."""
    kinds = joined(states)
    seeds = ", ".join(str(state["seed"]) for state in states)
    commits = [commit for state in states for commit in state.get("commits", [])]
    code = f" Commits: {', '.join(commits)}." if commits else ""
    lines = [
        MARK,
        "",
        f"Seeds {seeds}. An input is counted once, whatever came of it.{code}",
        "",
        "| kind | what | inputs | outcomes | tracebacks and wrong results | hangs over 10 s | "
        "processes that died | most memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, what in WHAT.items():
        if name not in kinds:
            continue
        entry = kinds[name]
        wrong = len(entry["findings"]) - entry["hangs"] - entry["crashes"]
        ends = ", ".join(f"{n:,} {o}" for o, n in sorted(entry["outcomes"].items()))
        lines.append(
            f"| {name} | {what} | {entry['inputs']:,} | {ends} | {wrong} | {entry['hangs']} | "
            f"{entry['crashes']} | {entry['peak_mib']} MiB |"
        )
    total = sum(entry["inputs"] for entry in kinds.values())
    hours = sum(entry["seconds"] for entry in kinds.values()) / 3600
    lines += ["", f"{total:,} inputs in {hours:.2f} hours of one process."]
    return "\n".join(lines) + "\n"


def write_page(states: Sequence[Mapping[str, Any]], path: Path) -> None:
    """Write the counts below the written part of the page."""
    text = path.read_text(encoding="utf-8") if path.exists() else "# Reliability\n\n"
    path.write_text(text.partition(MARK)[0] + counts(states), encoding="utf-8")
