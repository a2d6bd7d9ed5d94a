"""``hnd check``: what is in a file, sentence by sentence."""

from __future__ import annotations

import json

from hitsndiffs.cli.inputs import Source
from hitsndiffs.cli.text import say, show_json, show_rows
from hitsndiffs.data.progress import working

__all__ = ["check_file"]


def check_file(
    source: Source,
    *,
    key: str | None,
    full: bool,
    seed: int,
    engine: str,
    threads: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read a file and say what is found in it."""
    from hitsndiffs.reading import read_key
    from hitsndiffs.results.check import Finding, examine
    from hitsndiffs.results.version import version

    responses, plan = source.read_with_plan(quiet=quiet)
    layout = plan.format if plan.layout == "export" else plan.format.upper()
    file = Finding(
        "file",
        f"{plan.title[:1].upper()}{plan.title[1:]} ({layout}).",
        {"format": plan.format, "layout": plan.layout},
    )
    answers = responses.key if key is None else read_key(key, responses)
    for note in getattr(answers, "notes", ()):
        say(f"Note: {note}", quiet=quiet)
    with working("Looking at the answers", quiet=quiet, told=True):
        findings = [
            file,
            *examine(responses, key=answers, full=full, seed=seed, engine=engine, threads=threads),
        ]
    if as_json:
        report = {
            "file": source.path,
            "version": version(),
            "plan": plan.to_dict(),
            "notes": list(responses.notes),
            "findings": {
                finding.name: {
                    "sentence": finding.sentence,
                    "concern": finding.concern,
                    **finding.value,
                }
                for finding in findings
            },
        }
        show_json(json.dumps(report, indent=2, ensure_ascii=False))
        return
    rows = [("", what, words) for what, words in plan.lines() if what != "files"]
    rows += [("!" if f.concern else "", f.name, f.sentence) for f in findings[1:]]
    piped = ("concern", "what", "found")
    show_rows(("", "what", source.name), rows, names=(0, 1), words=(2,), piped=piped)
    for note in responses.notes:
        say(f"Note: {note}", quiet=quiet)
