"""SurveyMonkey: all responses as CSV or xlsx, with the options in a second header row."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from hitsndiffs.reading.exports.base import Format, Sample, absent
from hitsndiffs.reading.exports.common import folded, unique, without_html, words
from hitsndiffs.reading.exports.sheet import Sheet, by_table
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import plain

__all__ = ["SURVEY_MONKEY"]

_LEAD = words(
    "respondentid|collectorid|startdate|enddate|datecreated|datemodified|ipaddress|emailaddress|"
    "email|firstname|lastname|customdata|customdata1|customdata2"
)
#: Respondents and collectors have long numbers, whatever the language of the header.
_ID = re.compile(r"\d{6,}")
_FREE = words(
    "open-ended response|other (please specify)|offene antwort|sonstiges (bitte angeben)|"
    "réponse ouverte|autre (veuillez préciser)|respuesta abierta|otro (especifique)"
)


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table or len(sample.header) < 3 or len(sample.rows) < 2:
        return None
    lead = {plain(name) for name in sample.header[:12]}
    rows = sample.full_rows
    below = rows[0]
    blank = not below[0].strip() and any(cell.strip() for cell in below)
    if "respondentid" in lead and "collectorid" in lead and blank:
        return "a respondent and a collector come first, and the options stand in a second row"
    n_lead = len(_leading(sample.header, below))
    if n_lead < 5 or not blank or not "".join(below[n_lead : n_lead + 1]).strip():
        return None
    first = [[row[k].strip() for row in rows[1:]] for k in range(4)]
    numbers = all(_ID.fullmatch(cell) for cells in first[:2] for cell in cells)
    if numbers and all(look_at(cells).kind == "time" for cells in first[2:]):
        return "two numbers and dates come first, and the options stand in a second row"
    return None


def _leading(header: Sequence[str], below: Sequence[str]) -> list[int]:
    """Return the first columns, as far as they have a name and nothing below it."""
    found = takewhile(lambda k: header[k].strip() and not below[k].strip(), range(len(header)))
    return list(found)


def _convert(sheet: Sheet) -> None:
    header, rows = sheet.header, sheet.rows[1:]
    bare = [plain(name) for name in header]
    below = [without_html(cell) for cell in sheet.rows[0]] if rows else []
    sheet.rows = rows
    lead = [k for k, name in enumerate(bare) if name in _LEAD]
    if "respondentid" not in bare:
        lead = _leading(header, below) if rows else []
    if not lead or not rows:
        raise absent("a SurveyMonkey file", "«Respondent ID»")
    own = bare.index("respondentid") if "respondentid" in bare else 0
    who = sheet.persons([own])
    sheet.set_role(lead, "identity", "about the person and the time")
    names: list[str] = []
    found: list[list[int]] = []
    for question, places in _questions(header, lead):
        free = [k for k in places if folded(below[k]) in _FREE]
        sheet.set_role(free, "comment", "an answer in one's own words")
        kept = [k for k in places if k not in free]
        if len(kept) > 1 and not _are_ticks(below, rows, kept):
            names += [f"{question} - {below[k]}" for k in kept]  # a grid: one question per row
            found += [[k] for k in kept]
        elif kept:
            names.append(question)
            found.append(kept)
    for label, places in zip(unique(names), found, strict=True):
        for row, person in zip(rows, who, strict=True):
            chosen = [_choice(row[k], below[k], len(places) > 1) for k in places]
            sheet.stream.add(person, label, [text for text in chosen if text])
        sheet.set_role(places, "answers", "a question of the survey")


def _questions(header: Sequence[str], lead: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Return the questions and their columns; an unnamed column belongs to the one before it."""
    found: list[tuple[str, list[int]]] = []
    for k, name in enumerate(header):
        if k in lead:
            continue
        if without_html(name):
            found.append((without_html(name), [k]))
        elif found:
            found[-1][1].append(k)
    return found


def _are_ticks(below: Sequence[str], rows: Sequence[Sequence[str]], places: Sequence[int]) -> bool:
    """Whether each cell is empty, 1, or the option above it, so that several may be ticked."""
    return all(
        not row[k].strip() or row[k].strip() in ("1", "1.0") or without_html(row[k]) == below[k]
        for row in rows
        for k in places
    )


def _choice(cell: str, option: str, several: bool) -> str:
    return option if several and cell.strip() else cell.strip()


SURVEY_MONKEY = Format(
    "surveymonkey",
    "SurveyMonkey, all responses",
    "All responses data as CSV or xlsx: two rows of names, then a row per person",
    _recognise,
    by_table(_convert),
)
