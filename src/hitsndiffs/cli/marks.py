"""``hnd marks``: marks under a key, sections of a test, and items unfair to a group."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from hitsndiffs.cli.options import OUTPUT, Json, Quiet, option
from hitsndiffs.cli.outputs import check_target, group_file, read_groups
from hitsndiffs.cli.source import Source
from hitsndiffs.cli.text import for_people, say, show_columns, show_json
from hitsndiffs.errors import InputError

__all__ = ["marks"]


def marks(
    *,
    key: Annotated[
        str | None,
        option("FILE", "The right answers (columns item, answer); several as A;C."),
    ] = None,
    accept: Annotated[
        list[str] | None,
        option("ITEM=ANSWER", "Accept this answer, too (q07=B); may be given several times."),
    ] = None,
    without: Annotated[
        list[str] | None,
        option("ITEM", "This item does not count; may be given several times.", "--without"),
    ] = None,
    blanks: Annotated[
        str, option("wrong|skip", "Whether a blank is wrong or does not count for that user.")
    ] = "wrong",
    sections: Annotated[
        str | None,
        option(
            "COLUMN|FILE|names",
            "The section of each item (a file: columns item, section): sub-scores, and whether "
            "they add anything.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        option(
            "COLUMN|FILE",
            "The group of each user (a file: columns user, group): items harder for one of two.",
        ),
    ] = None,
    source: Source,
    out: Annotated[
        Path | None,
        option("FILE.csv", "Write the marks for a gradebook.", "--out", "-o", panel=OUTPUT),
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Mark the answers with a key."""
    from hitsndiffs.reading import read_key
    from hitsndiffs.results.marks import marks as marked
    from hitsndiffs.results.parts import differences, parts
    from hitsndiffs.results.values import jsonable, records

    check_target(out, "--out", source.paths, (".csv",))
    groups = group_file(group)
    r, _ = source.read_with_plan(quiet=quiet, group=group if groups is None else None)
    right: Any = r.key if key is None else read_key(key, r)
    if right is None:
        raise InputError(
            "marks need the right answers, and the file holds none; give them with --key FILE "
            "(columns item, answer). Without a key, 'hnd rank' ranks the users."
        )
    more = dict(_accepted(one) for one in accept or [])
    found = marked(r, right, accept=more, drop=without or (), blanks=blanks)
    tables: dict[str, tuple[str, Mapping[str, Any], str]] = {}
    if sections is not None:
        held = source.item_groups(sections, "--sections")
        said = "Sections: 'adds' is yes where a section's score says more than the whole score."
        tables["sections"] = ("Sections", parts(r, right, held).columns, said)
    if group is not None:
        of_user = (r.groups or {}) if groups is None else read_groups(groups)
        unfair = differences(r, right, of_user)
        tables["differences"] = ("Between groups", unfair.columns, unfair.sentence())
    if out is not None:
        found.write(out)
    if as_json:
        facts = {"mean": found.mean, "alpha": found.alpha, "standard_error": found.sem}
        content = {
            **jsonable(facts),
            "items": list(map(str, found.items)),
            "marks": records(found.columns()),
            **{name: records(columns) for name, (_, columns, _) in tables.items()},
        }
        show_json(json.dumps(content, indent=2, ensure_ascii=False))
        return
    order = sorted(range(r.n_users), key=lambda u: -float(found.marks[u]) or 0.0)
    show_columns({name: values[order] for name, values in found.columns().items()})
    for heading, columns, _ in tables.values() if for_people() else ():
        print()
        show_columns(columns, heading=heading)  # a pipe gets one table; --json has all
    for sentence in (found.sentence(), *(sentence for _, _, sentence in tables.values())):
        say(sentence, quiet=quiet)
    for note in (*getattr(right, "notes", ()), *r.notes):
        say(f"Note: {note}", quiet=quiet)


def _accepted(said: str) -> tuple[str, str]:
    item, sign, answer = said.partition("=")
    if not (item.strip() and sign and answer.strip()):
        raise InputError(f"--accept {said}: expected an item and an answer, as in q07=B.")
    return item.strip(), answer.strip()
