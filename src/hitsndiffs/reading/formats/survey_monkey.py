"""SurveyMonkey: all responses as CSV or xlsx, with the options in a second header row."""

from __future__ import annotations

from collections.abc import Sequence

from hitsndiffs.reading.formats.base import Choices, Document, Format, Sample, Stream
from hitsndiffs.reading.formats.common import absent, folded, plain, roles, squeezed, unique, words
from hitsndiffs.reading.formats.people import persons

__all__ = ["SURVEY_MONKEY"]

_LEAD = words(
    "respondentid|collectorid|startdate|enddate|datecreated|datemodified|ipaddress|emailaddress|"
    "email|firstname|lastname|customdata|customdata1|customdata2"
)
_FREE = words(
    "open-ended response|other (please specify)|offene antwort|sonstiges (bitte angeben)|"
    "réponse ouverte|autre (veuillez préciser)|respuesta abierta|otro (especifique)"
)


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table or len(sample.header) < 3 or len(sample.rows) < 2:
        return None
    lead = {squeezed(name) for name in sample.header[:12]}
    below = sample.rows[0]
    blank = not below[0].strip() and any(cell.strip() for cell in below)
    if "respondentid" in lead and "collectorid" in lead and blank:
        return "a respondent and a collector come first, and the options stand in a second row"
    return None


def _convert(document: Document, choices: Choices) -> Stream:
    table = document.table()
    header, rows = table.header, table.rows[1:]
    bare = [squeezed(name) for name in header]
    if "respondentid" not in bare or not rows:
        raise absent("a SurveyMonkey file", "«Respondent ID»")
    below = [plain(cell) for cell in table.rows[0]]
    stream = Stream()
    lead = [k for k, name in enumerate(bare) if name in _LEAD]
    who = persons(header, rows, [bare.index("respondentid")], choices.user)
    roles(stream, header, lead, "identity", "about the person and the time")
    names: list[str] = []
    found: list[list[int]] = []
    for question, places in _questions(header, lead):
        free = [k for k in places if folded(below[k]) in _FREE]
        roles(stream, header, free, "comment", "an answer in one's own words")
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
            stream.add(person, label, [text for text in chosen if text])
        roles(stream, header, places, "answers", "a question of the survey")
    return stream


def _questions(header: Sequence[str], lead: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Return the questions and their columns; an unnamed column belongs to the one before it."""
    found: list[tuple[str, list[int]]] = []
    for k, name in enumerate(header):
        if k in lead:
            continue
        if plain(name):
            found.append((plain(name), [k]))
        elif found:
            found[-1][1].append(k)
    return found


def _are_ticks(below: Sequence[str], rows: Sequence[Sequence[str]], places: Sequence[int]) -> bool:
    """Whether each cell is empty, 1, or the option above it, so that several may be ticked."""
    return all(
        not row[k].strip() or row[k].strip() in ("1", "1.0") or plain(row[k]) == below[k]
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
    _convert,
)
