"""Surveys with one, two or three rows of names: Qualtrics, SurveyMonkey, LimeSurvey."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, absent
from hitsndiffs.reading.exports.common import (
    folded,
    is_free_text,
    split_column,
    unique,
    without_html,
    words,
)
from hitsndiffs.reading.exports.sheet import Question, Sheet, by_table
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["LIMESURVEY", "QUALTRICS", "SURVEY_MONKEY"]

#: Nothing chosen; -99 is «seen, not answered».
_BLANK = frozenset(("", "-99"))
_INDEX = re.compile(r"[-_#]\d+$")


def _ticked(
    sheet: Sheet, item: str, places: Sequence[int], labels: Sequence[str], title: str = ""
) -> list[Question]:
    """Return the question whose options are columns, ticked or blank.

    The sets of ticked options are its answers. If telling the sets apart takes more than telling
    for each option whether it was ticked, each option is a question of its own, whose answer is
    the option or «no»; who ticked none was not asked.
    """
    pairs = list(zip(places, labels, strict=True))
    sets = [tuple(o for k, o in pairs if row[k].strip() not in _BLANK) for row in sheet.rows]
    if len({*sets} - {()}) - 1 <= len(labels):
        return [Question(item, places[0], title=title, also=tuple(places[1:]), given=sets)]
    answers = {
        label: [((label if label in own else "no",) if own else ()) for own in sets]
        for label in labels
    }
    return [
        Question(f"{item} - {label}", k, title=title, given=answers[label]) for k, label in pairs
    ]


# -- Qualtrics: three rows of names, the third with ImportIds; or the older V1, V2, … --------------

_IMPORT = re.compile(r"""^\s*\{\s*['"]ImportId['"]\s*:\s*['"]([^'"]*)['"]""")
_QUESTION = re.compile(r"^(?:\d+_)?(QID\d+)((?:[-_#]\d+)*)$")
_PREVIEW = frozenset(("survey preview", "spam", "8"))
_OLD = words(
    "responseid|responseset|name|externaldatareference|emailaddress|email|ipaddress|status|"
    "startdate|enddate|finished|locationlatitude|locationlongitude|locationaccuracy"
)


def _recognise_qualtrics(sample: Sample) -> str | None:
    if not sample.is_table:
        return None
    if _import_row(sample.rows) is not None:
        return "a row below the header names each column by its ImportId"
    if _is_old(sample.header, sample.full_rows):
        return "the columns V1, V2, … are explained in the next row (ResponseID, …)"
    return None


def _import_row(rows: Sequence[Sequence[str]]) -> int | None:
    for k, row in enumerate(rows[:3]):
        cells = [cell for cell in row if cell.strip()]
        if cells and all(_IMPORT.match(cell) for cell in cells):
            return k
    return None


def _is_old(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    numbered = [name.strip() for name in header[:3]] == ["V1", "V2", "V3"]
    return len(rows) > 1 and numbered and plain(rows[0][0]) == "responseid"


def _fill_qualtrics(sheet: Sheet) -> None:
    header, rows = sheet.header, sheet.rows
    place = _import_row(rows)
    if place is None and not _is_old(header, rows):
        raise absent("a Qualtrics export", "row of ImportIds, nor columns V1, V2, …")
    groups: dict[str, list[int]] = {}
    if place is None:
        texts, sheet.rows = rows[0], rows[1:]
        codes = [plain(text) for text in texts]
        for k, name in enumerate(header):
            own = re.fullmatch(r"V\d+", name.strip()) or codes[k] in _OLD or not name.strip()
            if not own and not name.endswith("_TEXT"):
                groups.setdefault(_INDEX.sub("", name), []).append(k)
        who = [0]
    else:
        codes = [m[1] if (m := _IMPORT.match(cell)) else "" for cell in rows[place]]
        texts, sheet.rows = rows[0] if place else [""] * len(codes), rows[place + 1 :]
        for k, code in enumerate(codes):
            if match := _QUESTION.match(code):
                groups.setdefault(code[: match.start(1)] + match[1], []).append(k)
        status = next((k for k, code in enumerate(codes) if folded(code) == "status"), None)
        if status is not None:
            kept = [row for row in sheet.rows if folded(row[status]) not in _PREVIEW]
            sheet.keep_rows(kept or sheet.rows, "previews and spam", "by «Status»")
        who = [codes.index(c) for c in codes if plain(c) in ("recordid", "responseid")]
    found = [one for places in groups.values() for one in _questions(sheet, places, texts)]
    if not found:
        raise Refusal(
            "a Qualtrics export without a choice question",
            "export the survey again with its questions («QIDn»)",
        )
    cells = [row[who[0]].strip() for row in sheet.rows] if who else [""]
    sheet.ask(found, sheet.people(who[:1] if all(cells) and len({*cells}) == len(cells) else []))
    asked = {k for places in groups.values() for k in places}
    texts_typed = [k for k, c in enumerate(codes) if k not in asked and c.startswith("QID")]
    sheet.set_role(texts_typed, "comment", "text or timing that belongs to a question")
    sheet.rest_unused("about the response, or embedded data")


def _questions(sheet: Sheet, places: Sequence[int], texts: Sequence[str]) -> list[Question]:
    """Return one item whose columns are its options, or one item per column (a grid)."""
    titles = [without_html(texts[k]) for k in places]
    cells = [[cell.strip() for cell in sheet.cells(k)] for k in places]
    alike = all(len({*own} - {"", "-99"}) <= 1 for own in cells)
    if len(places) > 1 and alike and any(not text for own in cells for text in own):
        values = [next(filter(None, own), "") for own in cells]
        told = len({*values} - {""}) == len(list(filter(None, values)))
        labels = [
            value if told and not value.isdigit() else re.split(r"[-_#]", sheet.header[k])[-1]
            for k, value in zip(places, values, strict=True)
        ]
        item, title = _INDEX.sub("", sheet.header[places[0]]), titles[0].rpartition(" - ")[0]
        return _ticked(sheet, item, places, labels, title)
    found = []
    for k, title, own in zip(places, titles, cells, strict=True):
        # -99 is «seen, not answered», unless other answers are negative numbers too.
        unanswered = "" if any(text.startswith("-") for text in {*own} - {"-99"}) else "-99"
        given = split_column(["" if text == unanswered else text for text in own], ",")
        found.append(Question(sheet.header[k], k, title=title, given=given))
    return found


QUALTRICS = Format(
    "qualtrics",
    "Qualtrics, survey responses",
    "CSV or TSV with question texts and ImportIds below the header; also the older layout",
    _recognise_qualtrics,
    by_table(_fill_qualtrics),
    "surveys of 2016, 2022 and 2025",
)


# -- SurveyMonkey: the options stand in a second row of names, unless someone took it out ----------

_LEAD = words(
    "respondentid|collectorid|startdate|enddate|datecreated|datemodified|ipaddress|emailaddress|"
    "email|firstname|lastname|customdata|customdata1|customdata2"
)
#: Respondents and collectors have long numbers, whatever the language of the header.
_ID = re.compile(r"\d{6,}(?:\.0)?")
_FREE = words(
    "open-ended response|other (please specify)|offene antwort|sonstiges (bitte angeben)|"
    "réponse ouverte|autre (veuillez préciser)|respuesta abierta|otro (especifique)"
)
#: What surveys ask about the person; SurveyMonkey's audience comes with these.
_PERSON = words(
    "gender|age|householdincome|education|locationcensusregion|usregion|region|devicetype|race"
)


def _recognise_monkey(sample: Sample) -> str | None:
    if not sample.is_table or len(sample.header) < 3 or len(sample.rows) < 2:
        return None
    rows = sample.full_rows
    lead = {plain(name) for name in sample.header[:12]}
    below = rows[0]
    blank = not below[0].strip() and any(cell.strip() for cell in below)
    ids = [row[0].strip() for row in rows[1:]]
    numbered = all(map(_ID.fullmatch, ids)) and len({*ids}) == len(ids)
    if "respondentid" in lead and blank and ("collectorid" in lead or numbered):
        return "respondents come first, and the options stand in a second row"
    if plain(sample.header[0]) == "respondentid" and numbered and _ID.fullmatch(below[0].strip()):
        return "«Respondent ID» comes first, with the numbers that SurveyMonkey gives"
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


def _fill_monkey(sheet: Sheet) -> None:
    header, rows = sheet.header, sheet.rows
    two = bool(rows) and not rows[0][0].strip()
    below = [without_html(cell) for cell in rows[0]] if two else [""] * len(header)
    sheet.rows = rows[1:] if two else rows
    lead = sheet.named(_LEAD)
    own = sheet.named(("respondentid",))
    if not own and two:
        lead = _leading(header, below)
        own = lead[:1]
    if not own or not rows:
        raise absent("a SurveyMonkey file", "«Respondent ID»")
    who = sheet.people(own[:1])
    sheet.set_role([k for k in lead if k not in own], "identity", "about the person and the time")
    names: list[str] = []
    found: list[list[int]] = []
    for question, places in _monkey_questions(header, lead):
        free = [k for k in places if folded(below[k]) in _FREE]
        sheet.set_role(free, "comment", "an answer in one's own words")
        kept = [k for k in places if k not in free]
        if plain(question) in _PERSON:
            sheet.set_role(kept, "identity", "about the person")
        elif len(kept) > 1 and not _are_ticks(sheet, below, kept):
            names += [f"{question} - {below[k]}" for k in kept]  # a grid: one question per row
            found += [[k] for k in kept]
        elif kept:
            names.append(question)
            found.append(kept)
    questions: list[Question] = []
    for name, own in zip(unique(names), found, strict=True):
        if len(own) > 1:
            questions += _ticked(sheet, name, own, [below[k] for k in own])
        else:
            questions.append(Question(name, own[0]))
    sheet.ask(questions, who)


def _monkey_questions(header: Sequence[str], lead: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Return the questions and their columns; an unnamed column belongs to the one before it."""
    found: list[tuple[str, list[int]]] = []
    for k, name in enumerate(header):
        text = "" if re.fullmatch(r"Unnamed: \d+", name.strip()) else without_html(name)
        if k not in lead and text:
            found.append((text, [k]))
        elif k not in lead and found:
            found[-1][1].append(k)
    return found


def _are_ticks(sheet: Sheet, below: Sequence[str], places: Sequence[int]) -> bool:
    """Whether each cell is empty, 1, or the option above it, so that several may be ticked."""
    pairs = ((row[k].strip(), below[k]) for row in sheet.rows for k in places)
    return all(text in ("", "1", "1.0") or without_html(text) == option for text, option in pairs)


SURVEY_MONKEY = Format(
    "surveymonkey",
    "SurveyMonkey, all responses",
    "All responses data as CSV or xlsx: one or two rows of names, then a row per person",
    _recognise_monkey,
    by_table(_fill_monkey),
    "three surveys, with one and with two rows of names",
)


# -- LimeSurvey: response, time of submission, last page and language come first ------------------

#: How its first four columns are called, by code or in words.
_FIRST = (
    words("id|responseid|antwortid|iddelarespuesta|iddelaréponse|reactieid|idrisposta"),
    words("submitdate|datesubmitted|datumabgeschickt|fechadeenvío|datedesoumission|datuminzending"),
    words("lastpage|letzteseite|últimapágina|dernièrepage|laatstepagina|ultimapagina"),
    words("startlanguage|startsprache|lenguajeinicial|languededépart|begintaal|linguainiziale"),
)
_PART = re.compile(r"^(?P<base>.+?)\s*\[(?P<part>[^\[\]]*)\]$", re.DOTALL)
_YES = words("y|yes|ja|oui|sí|si|sim|да|tak|1")
_NO = words("|n|no|nein|non|nee|não|нет|nie|0|n/a|na")


def _recognise_lime(sample: Sample) -> str | None:
    first = [plain(name) for name in sample.header[:4]]
    if sample.is_table and len(first) == 4 and all(map(frozenset.__contains__, _FIRST, first)):
        return "response, time of submission, last page and language come first"
    return None


def _fill_lime(sheet: Sheet) -> None:
    header = sheet.header
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(header[4:], start=4):
        part = _PART.match(name)
        cells = [cell for cell in sheet.cells(k) if folded(cell) not in _NO]
        content = look_at(cells).kind
        if part and plain(part["part"]) in ("other", "comment", "sonstiges", "kommentar"):
            sheet.set_role([k], "comment", "an answer in one's own words")
        elif role_of_name(name) == "time" or content in ("time", "measure", "link", "mail"):
            sheet.set_role([k], "time", "times and numbers")
        elif len(cells) > 1 and (len(set(cells)) == len(cells) or is_free_text(cells)):
            sheet.set_role([k], "comment", "free text")
        elif cells and plain(name) not in ("seed", "token", "refurl"):
            groups.setdefault(part["base"] if part else name, []).append(k)
    found: list[Question] = []
    for base, places in groups.items():
        texts = {folded(cell) for k in places for cell in sheet.cells(k)}
        if len(places) > 1 and texts & _YES and texts <= _YES | _NO:
            parts = [match["part"] if (match := _PART.match(header[k])) else "" for k in places]
            for row in sheet.rows:
                for k in places:
                    row[k] = row[k] if folded(row[k]) in _YES else ""
            found += _ticked(sheet, base, places, parts)
        else:
            found += [Question(" ".join(header[k].split()), k) for k in places]
    if not found:
        raise Refusal(
            "a LimeSurvey export without a choice question: texts, numbers and times only",
            "only questions with options can be ranked",
        )
    sheet.ask(found, sheet.people([0]))
    sheet.rest_unused("about the response")


LIMESURVEY = Format(
    "limesurvey",
    "LimeSurvey, responses",
    "The responses as CSV or xlsx, by code or with the full question",
    _recognise_lime,
    by_table(_fill_lime),
    "a survey of free texts, which is refused",
)
