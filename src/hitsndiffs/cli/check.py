"""``hnd check``: what is in a file, sentence by sentence."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated, Any

from hitsndiffs.cli.options import Engine, Json, Quiet, Seed, Threads, option
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, say, show_json, show_rows, width
from hitsndiffs.data.pool import limited_threads
from hitsndiffs.data.progress import working
from hitsndiffs.data.words import count

__all__ = ["check"]

Row = tuple[str, str, str]

#: On a terminal, this many lines are shown.
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
    seed: Seed = None,
    engine: Engine = None,
    threads: Threads = None,
    source: Source,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look at a file: what is in it, and what stands in the way of a good ranking."""
    from hitsndiffs.reading import read_key
    from hitsndiffs.results.check import Finding, examine
    from hitsndiffs.results.version import version

    how: dict[str, Any] = {"seed": seed or 0, "engine": engine or "auto", "threads": threads}
    with limited_threads(threads):
        responses, plan = source.read_with_plan(quiet=quiet)
        answers = responses.key if key is None else read_key(key, responses)
        for note in getattr(answers, "notes", ()):
            say(f"Note: {note}", quiet=quiet)
        with working("Looking at the answers", quiet=quiet, told=True):
            findings = examine(responses, key=answers, full=full, **how)
    if as_json:
        layout = plan.format if plan.layout == "export" else plan.format.upper()
        file = Finding(
            "file",
            f"{plan.title[:1].upper()}{plan.title[1:]} ({layout}).",
            {"format": plan.format, "layout": plan.layout},
        )
        report = {
            "file": source.path,
            "version": version(),
            "plan": plan.to_dict(),
            "notes": list(responses.notes),
            "findings": {
                found.name: {"sentence": found.sentence, "concern": found.concern, **found.value}
                for found in [file, *findings]
            },
        }
        show_json(json.dumps(report, indent=2, ensure_ascii=False))
        return
    rows = [("!" if f.concern else "", f.name, f.sentence) for f in findings]
    read = [("", what, words) for what, words in plan.lines() if what != "files"]
    if full or not for_people():
        piped = ("concern", "what", "found")
        show_rows(("", "what", source.name), [*read, *rows], names=(0, 1), words=(2,), piped=piped)
    else:
        _show_first(rows, read[:1], source.name)
    for note in responses.notes:
        say(f"Note: {note}", quiet=quiet)


def _show_first(rows: list[Row], read: list[Row], name: str) -> None:
    """Show as much as fits into a dozen lines, what is of concern first."""
    first = ("ability", "items", "likely key", "size", "missing")
    rest = [row for row in rows if not row[0]]
    rest.sort(key=lambda row: first.index(row[1]) if row[1] in first else len(first))
    ordered = [*(row for row in rows if row[0]), *read, *rest]
    room = LINES - 1
    space = width() - 4 - max(len(row[1]) for row in ordered)
    shown = []
    for row in ordered:
        lines = len(textwrap.wrap(row[2], max(space, 20)))
        if room >= lines:
            shown.append(row)
            room -= lines
    show_rows(("", "what", name), shown, names=(0, 1), words=(2,))
    if len(shown) < len(ordered):
        print(f"… and {count(len(ordered) - len(shown), 'more line')}: --full")
