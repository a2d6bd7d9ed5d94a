"""``hnd check``: what is in a file, sentence by sentence."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated, Any

from hitsndiffs.cli.options import Engine, Json, Quiet, Seed, Threads, option
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, note, say, show_cells, show_json, width
from hitsndiffs.data.pool import limited_threads
from hitsndiffs.data.progress import working
from hitsndiffs.data.words import count

__all__ = ["check"]

Row = tuple[str, str, str]

#: This many lines are shown, unless more are wanted.
LINES = 12


def check(
    *,
    key: Annotated[
        str | None,
        option("FILE", "A key to compare with the answers: items that look mis-keyed."),
    ] = None,
    full: Annotated[
        bool, option("", "Show every finding, and run the slow checks too.", "--full")
    ] = False,
    explain: Annotated[bool, option("", "Also say how the file was read.", "--explain")] = False,
    seed: Seed = None,
    engine: Engine = None,
    threads: Threads = None,
    source: Source,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look at a file: what is in it, and what stands in the way of a good ranking."""
    from hitsndiffs.reading import read_key
    from hitsndiffs.results.check import examine
    from hitsndiffs.results.version import version

    how: dict[str, Any] = {"seed": seed or 0, "engine": engine or "auto", "threads": threads}
    with limited_threads(threads):
        responses, plan = source.read_with_plan(quiet=quiet)
        answers = responses.key if key is None else read_key(key, responses)
        note(getattr(answers, "notes", ()), quiet=quiet)
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
    # the verdict first, then what is of concern
    ordered = sorted(findings, key=lambda one: (one.name != "ability", not one.concern))
    rows = [("!" if one.concern else "", one.name, one.sentence) for one in ordered]
    shown = rows if full else _first(rows)
    if explain:
        shown = [*shown, *(("", what, words) for what, words in plan.lines() if what != "files")]
    _show(shown, source.name)
    if len(shown) < len(rows):
        say(f"… and {count(len(rows) - len(shown), 'more finding')}: --full", quiet=quiet)
    elif not explain:
        say("How the file was read: --explain", quiet=quiet)
    note(responses.notes, explain=explain, quiet=quiet)


def _first(rows: list[Row]) -> list[Row]:
    """As much as fits into a dozen lines."""
    room, shown = LINES - 2, []
    space = max(width() - 4 - max(len(name) for _, name, _ in rows), 20)
    for row in rows:
        room -= len(textwrap.wrap(row[2], space)) if for_people() else 1
        if room >= 0:
            shown.append(row)
    return shown


def _show(rows: list[Row], name: str) -> None:
    from hitsndiffs.results.cells import Cells

    concern, what, found = map(list, zip(*rows, strict=True))
    columns = {"concern": concern, "what": what, "found": found}
    kinds: Any = {"concern": "label", "what": "label", "found": "words"}
    show_cells(Cells(columns, kinds, {"concern": "", "found": name}))
