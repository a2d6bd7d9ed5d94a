"""The report: everything about a ranking, in one self-contained file.

The file holds what is said as text, and the data behind it once (:mod:`.report_data`). Its script
(``templates/report``) draws tables and pictures from these data, and shows the answers behind each
user and item. So no picture is made here, which took two thirds of the time of a report.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.data.words import Detail, missing, sizes
from hitsndiffs.results.audit import audit
from hitsndiffs.results.cells import Cells, jsonable
from hitsndiffs.results.diagnostics import settled
from hitsndiffs.results.marks import Marks
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.short_form import ShortForm, short_form
from hitsndiffs.results.verdict import Verdict, notes_beside
from hitsndiffs.show.answers import Item, clean, item_list
from hitsndiffs.show.parts import (
    VERDICTS,
    Labels,
    Part,
    alike_part,
    audit_part,
    fits,
    group_part,
    guessers_part,
    labels_part,
    section_part,
    sections_of,
)
from hitsndiffs.show.report_data import report_data
from hitsndiffs.show.templating import environment, render

__all__ = ["Report", "describe", "report_html", "write_report"]

#: Users that readers without scripts see.
PLAIN_ROWS = 100
#: Maximum labels to ask for in the report's own file of them.
MOST_ASKED = 1_000
#: Sizes of short forms in the picture.
SHORT_FORMS = 8


@dataclass(frozen=True)
class Report:
    """What the templates show; the sentences are theirs.

    Attributes
    ----------
    data
        The data for the script.
    items, doubts
        All items, and those with a remark, the worst first.
    audit, parts, labels, care
        What is said of a given key, of sections and groups, of labels, and of people.
    tables
        Further tables to save, by name: marks by a given key, and labels to ask for.
    n_right
        How many answers of the likely key are expected to be right, if there is one.
    reading
        How the answers were read.
    source
        Size and hash of the file, if there is one.
    """

    ranking: Ranking
    title: str
    data: dict[str, Any]
    items: list[Item]
    doubts: list[Item]
    audit: Part | None
    parts: list[Part]
    labels: Part | None
    care: list[Part]
    short: ShortForm | None
    tables: dict[str, Cells]
    n_right: int | None
    notes: list[str]
    reading: list[tuple[str, str]]
    source: list[tuple[str, str]]
    command: str | None

    @property
    def verdict(self) -> Verdict:
        """How far to rely on the ranking."""
        return self.ranking.verdict

    @property
    def subtitle(self) -> str:
        """How many users, items and answers there are."""
        r = self.ranking.responses
        return f"{sizes(r)}, {'none missing' if r.is_complete else missing(r) + ' missing'}"

    @property
    def has_key(self) -> bool:
        """Whether there is a likely key to show."""
        return any(item.key is not None for item in self.items) and not self.verdict.is_open

    @property
    def contents(self) -> list[tuple[str, str]]:
        """Anchors and titles of the sections."""
        opinions = bool(self.ranking.ratings)
        every = [
            ("audit", "Your key", self.audit),
            ("users", "Ranking", not opinions),
            ("scores", "Scores", self.verdict.allows_numbers),
            ("parts", "Sections and groups", self.parts),
            ("labels", "Labels", self.labels),
            ("items", "Items", True),
            ("users", "Who answers alike", opinions),
            ("care", "With care", self.care),
            ("about", "About", True),
        ]
        return [(anchor, title) for anchor, title, is_there in every if is_there]

    @property
    def first_users(self) -> list[tuple[str, ...]]:
        """Rank, name and score of the first users, for readers without scripts."""
        first = self.ranking.cells(self.ranking.order[:PLAIN_ROWS])
        columns = [first.texts(name) for name in ("rank", "user", self.data["main"])]
        return list(zip(*columns, strict=True))

    @property
    def parameters(self) -> str:
        """How the method was called."""
        told = {name: jsonable(v) for name, v in self.ranking.parameters.items() if v is not None}
        return ", ".join(
            f"{name}={f'{len(v)} given' if isinstance(v, dict) else clean(v, 80)}"
            for name, v in sorted(told.items())
        )


def write_report(ranking: Ranking, path: str | os.PathLike[str], **about: Any) -> Path:
    """Write the report; see :meth:`hitsndiffs.Ranking.report`."""
    target = Path(path)
    write_whole({target: text_writer(report_html(ranking, **about))})
    return target


def report_html(ranking: Ranking, **about: Any) -> str:
    """The report as an HTML page; the other parameters are those of :func:`describe`."""
    environment()  # fail before any work if jinja2 is missing
    return render("report/report.html", r=describe(ranking, **about))


def describe(
    ranking: Ranking,
    *,
    key: Mapping[Any, Any] | None = None,
    sections: Mapping[Any, Any] | str | None = None,
    groups: Mapping[Any, Any] | None = None,
    clusters: Mapping[Any, Any] | str | None = None,
    file: str | os.PathLike[str] | None = None,
    command: str | None = None,
    reading: Sequence[tuple[str, str]] = (),
) -> Report:
    """Collect what a report says; the parameters are those of :meth:`hitsndiffs.Ranking.report`."""
    items = item_list(ranking, key)
    checked: Part | None = None
    marked: Sequence[Marks] = ()
    if key is not None:
        audited = audit(ranking.responses, key)
        columns = audited.cells().columns
        told = {str(i): v for i, v in zip(columns["item"], columns["verdict"], strict=True)}
        verdicts = [told[str(item.label)] for item in items]
        items = [
            replace(item, remark=VERDICTS[verdict], doubt=verdict)
            for item, verdict in zip(items, verdicts, strict=True)
        ]
        checked, marked = audit_part(ranking, audited, key)
    elif ranking.verdict.is_open:
        items = [replace(item, remark="", doubt="") for item in items]  # by an order in doubt
    found, labels, short = sections_of(ranking, sections), Labels.of(ranking), _short_form(ranking)
    r, path, tables = ranking.responses, None if file is None else Path(file), {}
    if marked:
        tables["marks"] = marked[0].cells()
    if labels is not None and labels.asked is not None and len(labels.asked.items):
        most = min(len(labels.asked.items), MOST_ASKED)
        tables["labels-to-ask"] = labels.asked.cells().only(np.arange(most))
    n_right = None
    if ranking.key_chances is not None and ranking.verdict.allows_numbers:
        n_right, _ = settled(r.structure, ranking.key_chances)
    notes = [note for note in notes_beside(ranking) if not isinstance(note, Detail)]
    return Report(
        ranking=ranking,
        title="Ranking" if path is None else clean(path.name),
        data=report_data(
            ranking,
            items,
            file="hnd" if path is None else Path(clean(path.name)).stem,
            audited=key is not None,
            parts=found,
            labels=labels,
            asked=tables.get("labels-to-ask"),
            short=short,
            marked=marked,
            clusters=clusters,
        ),
        items=items,
        doubts=sorted((item for item in items if item.remark), key=lambda item: item.urgency),
        audit=checked,
        parts=[
            *section_part(found, are_guessed=sections is None),
            *group_part(ranking, groups or {}),
        ],
        labels=labels_part(ranking, labels),
        care=[] if ranking.ratings else [*guessers_part(ranking), *alike_part(ranking)],
        short=short,
        tables=tables,
        n_right=n_right,
        notes=[clean(note, 1000) for note in notes],
        reading=[(clean(what), clean(words, 1000)) for what, words in reading],
        source=[] if path is None or not path.is_file() else _source(path),
        command=command,
    )


def _source(path: Path) -> list[tuple[str, str]]:
    """What tells whether a file is the same."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return [("File", f"{clean(path.name)}, {path.stat().st_size:,} bytes"), ("SHA-256", digest)]


def _short_form(ranking: Ranking) -> ShortForm | None:
    """How well fewer items keep the order."""
    r, of_one = ranking.responses, int((ranking.components == 0).sum())
    known = ranking.key_chances is not None and ranking.verdict.allows_numbers
    if not known or of_one < 4 or r.n_items < 5 or not fits(r):
        return None
    steps = np.linspace(0, r.n_items, SHORT_FORMS + 1)[1:-1].round().astype(int)
    return short_form(ranking, sorted({int(step) for step in steps if step >= 2}))
