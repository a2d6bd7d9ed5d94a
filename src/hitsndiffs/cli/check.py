"""``hnd check``: what is in a file, sentence by sentence."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, note, say, show_cells, show_json, width
from hitsndiffs.data.pool import limited_threads
from hitsndiffs.data.progress import working

if TYPE_CHECKING:
    from hitsndiffs.results.check import Finding

__all__ = ["check"]

Row = tuple[str, str, str]

#: As many lines are shown on a terminal, unless more are wanted.
LINES = 9


def check(
    *,
    key: str | None = None,
    full: bool = False,
    explain: bool = False,
    seed: int | None = None,
    engine: str | None = None,
    threads: int | None = None,
    source: Source,
    as_json: bool = False,
    quiet: bool = False,
) -> None:
    """Look at a file: what is in it, and what stands in the way of a good ranking."""
    from hitsndiffs.results.check import examine
    from hitsndiffs.results.version import version

    how: dict[str, Any] = {"seed": seed or 0, "engine": engine or "auto", "threads": threads}
    with limited_threads(threads):
        responses, plan = source.read_with_plan(quiet=quiet)
        answers = source.key(key, responses, quiet=quiet)
        with working("Looking at the answers", quiet=quiet, told=True):
            findings = examine(responses, key=answers, full=full, **how)
    if as_json:
        report = {
            "file": source.path,
            "version": version(),
            "plan": plan.to_dict(),
            "notes": list(responses.notes),
            "findings": {
                found.name: {"sentence": found.sentence, "concern": found.concern, **found.value}
                for found in findings
            },
        }
        show_json(json.dumps(report, indent=2, ensure_ascii=False))
        return
    rows = _rows(findings, full=full)
    if explain:
        rows += [("", what, words) for what, words in plan.lines() if what != "files"]
    _show(rows, source.name)
    more = [*(() if full else ("--full",)), *(() if explain else ("--explain (how it was read)",))]
    if more:
        say(f"More: {', '.join(more)}", quiet=quiet)
    note(responses.notes, explain=explain, quiet=quiet)


def _rows(findings: Sequence[Finding], *, full: bool) -> list[Row]:
    """The findings to show: unless all are wanted, what is not as it should be, and no more."""
    rows: list[Row] = [
        ("!" if one.concern else "", one.name, one.sentence)
        for one in findings
        if full or one.weight != "fine"
    ]
    if full or not for_people():
        return rows
    space = max(width() - 4 - max(len(name) for _, name, _ in rows), 20)
    last = accumulate(len(textwrap.wrap(words, space)) for _, _, words in rows)
    return [row for row, lines in zip(rows, last, strict=True) if lines <= LINES]


def _show(rows: list[Row], name: str) -> None:
    from hitsndiffs.results.cells import Cells

    concern, what, found = map(list, zip(*rows, strict=True))
    columns = {"concern": concern, "what": what, "found": found}
    kinds: Any = {"concern": "label", "what": "label", "found": "words"}
    show_cells(Cells(columns, kinds, {"concern": "", "found": name}))
