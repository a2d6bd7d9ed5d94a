"""``hnd check``: what is in a file, sentence by sentence."""

from __future__ import annotations

import json
from typing import Annotated, Any

from hitsndiffs.cli.options import Engine, Json, Quiet, Seed, Threads, option
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import say, show_json, show_rows
from hitsndiffs.data.pool import limited_threads
from hitsndiffs.data.progress import working

__all__ = ["check"]


def check(
    *,
    key: Annotated[
        str | None,
        option("FILE", "A key to compare with the answers: items that look mis-keyed."),
    ] = None,
    full: Annotated[
        bool, option("", "Leave nothing out, however long it takes.", "--full")
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
    rows = [("", what, words) for what, words in plan.lines() if what != "files"]
    rows += [("!" if f.concern else "", f.name, f.sentence) for f in findings]
    piped = ("concern", "what", "found")
    show_rows(("", "what", source.name), rows, names=(0, 1), words=(2,), piped=piped)
    for note in responses.notes:
        say(f"Note: {note}", quiet=quiet)
