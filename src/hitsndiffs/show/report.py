"""The report: everything about a ranking, in one self-contained file.

The file holds what is said as text, and the data behind it once (:mod:`.report_data`). Its script
(``templates/report``) draws tables and pictures from these data, and shows the answers behind each
user and item. So no picture is made here, which took two thirds of the time of a report.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.data.words import Detail, count, per_cent
from hitsndiffs.results.audit import audit
from hitsndiffs.results.cells import jsonable
from hitsndiffs.results.diagnostics import settled
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.short_form import ShortForm, short_form
from hitsndiffs.results.verdict import notes_beside
from hitsndiffs.results.wording import missing, sizes
from hitsndiffs.show.items_and_answers import Item, clean, item_list
from hitsndiffs.show.report_data import LONGEST, listed_users, report_data, stored, urgency
from hitsndiffs.show.report_parts import (
    MOST_CELLS,
    Part,
    Places,
    alike_part,
    audit_part,
    group_part,
    guessers_part,
    labels_part,
    section_part,
    sections_of,
    with_verdicts,
)
from hitsndiffs.show.templating import environment, render

__all__ = ["Report", "describe", "report_html", "write_report"]

Ints = npt.NDArray[np.int64]

#: Rows of the lists that readers without scripts see, and items named there.
PLAIN_ROWS, LISTED = 100, 40
#: Sizes of short forms in the picture.
SHORT_FORMS = 8


@dataclass(frozen=True)
class Report:
    """What the templates show.

    Attributes
    ----------
    data, packed
        The data for the script: JSON, or packed JSON.
    rows
        The first users, for readers without scripts.
    """

    title: str
    subtitle: str
    date: str
    verdict: str
    doubt: str
    help: str
    advice: str
    facts: list[tuple[str, str, str]]
    audit: Part | None
    scores_are: str
    parts: list[Part]
    labels: Part | None
    items: list[Item]
    items_sentence: str
    n_doubts: int
    short: str
    care: list[Part]
    left_out: str
    about: list[tuple[str, str]]
    notes: list[str]
    command: str | None
    rows: list[tuple[str, str, str]]
    data: str
    packed: bool
    opinions: bool
    has_key: bool
    has_pairs: bool
    clusters: int
    has_scores: bool
    has_marks: bool
    one_scale: bool
    version: str

    @property
    def contents(self) -> list[tuple[str, str]]:
        """Anchors and titles of the sections."""
        return [
            *([("audit", "Your key")] if self.audit else []),
            *([] if self.opinions else [("users", "Ranking")]),
            *([("scores", "Scores")] if self.has_scores else []),
            *([("parts", "Sections and groups")] if self.parts else []),
            *([("labels", "Labels")] if self.labels else []),
            ("items", "Items"),
            *([("users", "Who answers alike")] if self.opinions else []),
            *([("care", "With care")] if self.care else []),
            ("about", "About"),
        ]


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
    r, said = ranking.responses, ranking.verdict
    items = item_list(ranking, key)
    audited = None if key is None else audit(r, key)
    if audited is not None:
        items = with_verdicts(items, audited)
    elif said.is_open:
        items = [replace(item, remark="", doubt="") for item in items]  # by an order in doubt
    users, numbers = Places(ranking), {str(item.label): item.number for item in items}
    found, guessed = sections_of(ranking, sections)
    short = _short_form(ranking)
    checked, marked = (
        (None, ()) if audited is None else audit_part(ranking, audited, key or {}, users, numbers)
    )
    care = [] if ranking.ratings else [*guessers_part(ranking, users), *alike_part(ranking, users)]
    name = clean(Path(file).name) if file is not None else "Ranking"
    stem = Path(name).stem if file is not None else "hnd"
    data = report_data(
        ranking,
        items,
        file=stem,
        audited=key is not None,
        parts=found,
        short=short,
        marked=marked,
        clusters=clusters,
    )
    text, packed = stored(data)
    first = ranking.cells(ranking.order[:PLAIN_ROWS])
    rows = zip(*(first.texts(column) for column in ("rank", "user", data["main"])), strict=True)
    today = datetime.date.today()
    notes = [clean(note, 1000) for note in notes_beside(ranking) if not isinstance(note, Detail)]
    has_key = any(item.key is not None for item in items)
    return Report(
        title=name,
        subtitle=f"{sizes(r)}, {'none missing' if r.is_complete else missing(r) + ' missing'}",
        date=f"{today.day} {today:%B %Y}",
        verdict=str(said),
        doubt=said.doubt,
        help=said.help,
        advice=said.advice,
        facts=_facts(ranking),
        audit=checked,
        scores_are=_scores_are(ranking),
        parts=[*section_part(found, guessed), *group_part(ranking, numbers, groups or {})],
        labels=labels_part(ranking, users, numbers),
        items=sorted((i for i in items if i.remark), key=urgency)[:LISTED] or items[:LISTED],
        items_sentence=_items_sentence(ranking, items),
        n_doubts=sum(bool(i.remark) for i in items),
        short="" if short is None else short.sentence(),
        care=care,
        left_out=_left_out(ranking, data["answers"]),
        about=_about(ranking, file, reading),
        notes=notes,
        command=command,
        rows=[(rank, clean(user, LONGEST), score) for rank, user, score in rows],
        data=text,
        packed=packed,
        opinions=bool(ranking.ratings),
        has_key=has_key and not said.is_open,
        has_pairs=data["pairing"] is not None and said.allows_numbers,
        clusters=len(set((data["pairing"] or {}).get("clusters", ()))),
        has_scores=said.allows_numbers,
        has_marks=bool(marked),
        one_scale=data["shares"] and any(item.share is not None for item in items),
        version=ranking.version,
    )


# -- the verdict, and what the tables show ------------------------------------------------------


def _facts(ranking: Ranking) -> list[tuple[str, str, str]]:
    """The numbers to look at first: what, how much, and what that means; none beside a doubt."""
    r, found = ranking.responses, []
    if not ranking.verdict.allows_numbers:
        return []
    scores = ranking.scores[ranking.components == 0]
    if ranking.by == "correct":
        spread = f"{per_cent(scores.min())} to {per_cent(scores.max())}"
        found.append(("right", spread, "from the weakest user to the best"))
    if np.isfinite(ranking.reliability):
        words = "1 = a second test like this would give the same order"
        found.append(("reliability", f"{ranking.reliability:.2f}", words))
    if ranking.key_chances is not None:
        n, _ = settled(r.structure, ranking.key_chances)
        found.append(("likely key", f"{n:,} of {r.n_items:,}", "answers expected to be right"))
    return found


def _scores_are(ranking: Ranking) -> str:
    if not ranking.verdict.allows_numbers:
        return f"{ranking.verdict.caption}."
    told = {
        "correct": "Right: the expected share of right answers, by the likely key.",
        "ability": "Ability: only differences are meaningful.",
    }.get(ranking.by, "Score: as the method defines it; only differences are meaningful.")
    if ranking.tiers.max(initial=1) > 1:
        told += " A new tier begins where the answers surely tell a user from the tier above."
    return told


def _items_sentence(ranking: Ranking, items: Sequence[Item]) -> str:
    doubts = sum(bool(item.remark) for item in items)
    if doubts:
        return f"{doubts:,} of {count(len(items), 'item')} to look at."
    if ranking.verdict.is_open or all(item.key is None for item in items):
        return f"{count(len(items), 'item')}."
    return f"None of {count(len(items), 'item')} looks wrong."


def _left_out(ranking: Ranking, answers: Mapping[str, Any]) -> str:
    """What the file does not hold, in words."""
    said, n_users, n_listed = [], len(ranking.order), len(listed_users(ranking))
    if n_listed < n_users:
        said.append(f"It lists the first and the last {n_listed // 2:,} of {n_users:,} users.")
    held = answers["first"] + answers["last"]
    if held == 0:
        said.append("It does not hold the answers.")
    elif held < n_listed:
        said.append(f"It holds the answers of the first and the last {held // 2:,} users.")
    return " ".join(said)


def _short_form(ranking: Ranking) -> ShortForm | None:
    """How well fewer items keep the order."""
    r, of_one = ranking.responses, int((ranking.components == 0).sum())
    known = ranking.key_chances is not None and ranking.verdict.allows_numbers
    if not known or of_one < 4 or r.n_items < 5 or r.n_users * r.n_items > MOST_CELLS:
        return None
    steps = np.linspace(0, r.n_items, SHORT_FORMS + 1)[1:-1].round().astype(int)
    return short_form(ranking, sorted({int(step) for step in steps if step >= 2}))


# -- how it was made ----------------------------------------------------------------------------


def _about(
    ranking: Ranking,
    file: str | os.PathLike[str] | None,
    reading: Sequence[tuple[str, str]],
) -> list[tuple[str, str]]:
    """How the answers were read, and how the ranking was made."""
    r = ranking.responses
    gaps = "no cell is empty" if r.is_complete else f"{missing(r)} of the cells are empty"
    found = [
        (
            "Answers",
            f"{count(r.n_responses, 'answer')} of {count(r.n_users, 'user')} to "
            f"{count(r.n_items, 'item')} with {count(r.n_options, 'chosen option')}; {gaps}",
        ),
        *((clean(what), clean(words, 1000)) for what, words in reading),
    ]
    choice, method = ranking.fit.choice, ranking.method
    if choice is not None:
        method += f", which chose {choice.method or 'no method'}: {choice.why}"
    told = {k: v for k, v in ranking.parameters.items() if v is not None}
    parameters = ", ".join(f"{name}={_short(value)}" for name, value in sorted(told.items()))
    rounds = f"settled after {count(ranking.n_iterations, 'round')}"
    found += [
        ("Method", method),
        ("Parameters", parameters or "none"),
        ("Computation", rounds if ranking.converged else f"not {rounds}"),
        ("Software", f"hitsndiffs {ranking.version}"),
    ]
    if file is not None and Path(file).is_file():
        path = Path(file)
        found.append(("File", f"{clean(path.name)}, {path.stat().st_size:,} bytes"))
        with path.open("rb") as stream:
            found.append(("SHA-256", hashlib.file_digest(stream, "sha256").hexdigest()))
    return found


def _short(value: Any) -> str:
    plain = jsonable(value)
    return f"{len(plain)} given" if isinstance(plain, dict) else clean(plain, 80)
