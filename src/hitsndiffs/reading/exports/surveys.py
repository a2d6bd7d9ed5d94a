"""Surveys and experiments: Qualtrics, SurveyMonkey, LimeSurvey, oTree."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from hitsndiffs.reading.exports.base import Sample, Sign
from hitsndiffs.reading.exports.common import (
    folded,
    is_free_text,
    split_column,
    unique,
    without_html,
    words,
)
from hitsndiffs.reading.exports.format import Format
from hitsndiffs.reading.exports.sheet import ByQuestion, Question, Sheet, option_columns
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["FORMATS"]


# -- Qualtrics: three rows of names, the third with ImportIds; or the older V1, V2, … --------------

_IMPORT = re.compile(r"""^\s*\{\s*['"]ImportId['"]\s*:\s*['"]([^'"]*)['"]""")
_QUESTION = re.compile(r"^(?:\d+_)?(QID\d+)((?:[-_#]\d+)*)$")
_PREVIEW = frozenset(("survey preview", "spam", "8"))
_OLD = words(
    "responseid|responseset|name|externaldatareference|emailaddress|email|ipaddress|status|"
    "startdate|enddate|finished|locationlatitude|locationlongitude|locationaccuracy"
)


def _import_row(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the row that names each column by its ImportId, but for columns added by hand."""
    for k, row in enumerate(rows[:3]):
        signed = sum(bool(_IMPORT.match(cell)) for cell in row)
        if signed > 1 and 2 * signed > sum(bool(cell.strip()) for cell in row):
            return k
    return None


def _is_old(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    named = [k for k, name in enumerate(header) if re.fullmatch(r"V\d+", name.strip(), re.I)]
    told = [k for k in named if len(rows) > 1 and plain(rows[0][k]) in _OLD]
    return len(told) > 2 and 2 * len(told) > len(named)


def _find_qualtrics(sheet: Sheet) -> list[Question]:
    header, rows = sheet.header, sheet.rows
    place = _import_row(rows)
    if place is None and not _is_old(header, rows):
        return []
    texts, sheet.rows = rows[0], rows[(place or 0) + 1 :]
    groups: dict[str, list[int]] = {}
    if place is None:
        codes = [plain(text) for text in texts]
        for k, name in enumerate(header):
            own = re.fullmatch(r"V\d+", name.strip(), re.I) or codes[k] in _OLD or not name.strip()
            if not own and not name.upper().endswith("_TEXT"):
                groups.setdefault(_base(name), []).append(k)
    else:
        imported = [_IMPORT.match(cell) for cell in rows[place]]
        codes = [match[1] if match else "" for match in imported]
        for k, code in enumerate(codes):
            if match := _QUESTION.match(code):
                groups.setdefault(match[1] + _loop(code), []).append(k)
    status = [k for k, code in enumerate(codes) if plain(code) == "status"][:1]
    kept = [row for row in sheet.rows if not any(folded(row[k]) in _PREVIEW for k in status)]
    sheet.keep_rows(kept or sheet.rows, "previews and spam", "by «Status»")
    who = [k for k, code in enumerate(codes) if plain(code) in ("recordid", "responseid")]
    cells = [row[who[0]].strip() for row in sheet.rows] if who else [""]
    sheet.people(who[:1] if all(cells) and len({*cells}) == len(cells) else [])
    asked = {k for places in groups.values() for k in places}
    typed = [k for k, code in enumerate(codes) if k not in asked and code.startswith("QID")]
    sheet.set_role(typed, "comment", "text or timing that belongs to a question")
    return [one for own in groups.values() for one in _of_qualtrics(sheet, own, texts)]


def _base(name: str) -> str:
    return re.sub(r"[-_#]\d+$", "", name)


def _loop(code: str) -> str:
    """Return the number of the loop in a code such as ``2_QID7``."""
    return code.partition("QID")[0]


def _of_qualtrics(sheet: Sheet, places: list[int], texts: Sequence[str]) -> list[Question]:
    """Return one item whose columns are its options, or one item per column (a grid)."""
    cells = [[text for cell in sheet.cells(k) if (text := cell.strip())] for k in places]
    values = [next(iter(own), "") for own in cells]
    told = len({*values} - {""}) == len(list(filter(None, values)))
    labels = [
        value if told and value and not value.lstrip("-").isdigit() else _part(sheet.header[k])
        for k, value in zip(places, values, strict=True)
    ]
    title = without_html(texts[places[0]])
    found = option_columns(
        sheet,
        _base(sheet.header[places[0]]) if len(places) > 1 else sheet.header[places[0]],
        dict(zip(unique(labels), places, strict=True)),
        title.rpartition(" - ")[0] if len(places) > 1 else title,
    )
    for one in found if all(one.given is None for one in found) else ():
        own = [cell.strip() for cell in sheet.cells(one.answer)]
        # -99 is «seen, not answered», unless other answers are negative numbers too.
        unanswered = "" if any(text.startswith("-") for text in {*own} - {"-99"}) else "-99"
        one.item, one.title = sheet.header[one.answer], without_html(texts[one.answer])
        one.given = split_column(["" if text == unanswered else text for text in own], ",")
    return found


def _part(name: str) -> str:
    return re.split(r"[-_#]", name)[-1]


QUALTRICS = Format(
    "qualtrics",
    "Qualtrics, survey responses",
    "CSV or TSV with question texts and ImportIds below the header; also the older layout",
    (
        Sign(
            "a row below the header names each column by its ImportId",
            holds=lambda own: own.is_table and _import_row(own.rows) is not None,
        ),
        Sign(
            "the columns V1, V2, … are explained in the next row (ResponseID, …)",
            holds=lambda own: own.is_table and _is_old(own.header, own.full_rows),
        ),
    ),
    ByQuestion(_find_qualtrics),
    tried="surveys of 2016, 2022 and 2025",
    empty=(
        "a Qualtrics export without a choice question",
        "export the survey again with its questions («QIDn»)",
    ),
)


# -- SurveyMonkey: the options stand in a second row of names, unless someone took it out ----------

_LEAD = words(
    "respondentid|collectorid|startdate|enddate|datecreated|datemodified|ipaddress|emailaddress|"
    "email|firstname|lastname|customdata|customdata1|customdata2"
)
#: Respondents and collectors have long numbers, whatever the language of the header.
_ID = re.compile(r"\d{6,}(?:\.0)?")
#: What stands below a question with one column: whatever was chosen, or written.
_SINGLE = words("response|antwort|réponse|respuesta|risposta|resposta|antwoord|svar")
_FREE = words(
    "open-ended response|other (please specify)|offene antwort|sonstiges (bitte angeben)|"
    "réponse ouverte|autre (veuillez préciser)|respuesta abierta|otro (especifique)"
)
#: What surveys ask about the person; SurveyMonkey's audience comes with these.
_PERSON = words(
    "gender|age|householdincome|education|locationcensusregion|usregion|region|devicetype|race"
)


def _is_two_rows(sample: Sample) -> bool:
    """Whether respondents come first, and the options stand in a second row."""
    if not sample.is_table or len(sample.header) < 3 or len(sample.rows) < 2:
        return False
    below, *rows = sample.full_rows
    own, lead = _respondent(sample.header), {plain(name) for name in sample.header[:12]}
    if not any(cell.strip() for cell in below) or (own is not None and below[own].strip()):
        return False
    if own is not None and (
        "collectorid" in lead or _are_numbers([row[own].strip() for row in rows])
    ):
        return True
    told = [k for k, cell in enumerate(below) if folded(cell) in _SINGLE | _FREE]
    if told and not any(folded(row[k]) in _SINGLE | _FREE for row in rows for k in told):
        return True  # without the columns about respondents
    if own is not None or below[0].strip():
        return False
    # in other languages: two numbers, and dates
    n_lead = len(_leading(sample.header, below))
    first = [[row[k].strip() for row in rows] for k in range(min(4, n_lead))]
    return (
        n_lead >= 5
        and bool("".join(below[n_lead : n_lead + 1]).strip())
        and all(_ID.fullmatch(cell) for cells in first[:2] for cell in cells)
        and all(look_at(cells).kind == "time" for cells in first[2:])
    )


def _is_one_row(sample: Sample) -> bool:
    if not sample.is_table or len(sample.header) < 3 or len(sample.rows) < 2:
        return False
    own = _respondent(sample.header)
    return own is not None and _are_numbers([row[own].strip() for row in sample.full_rows])


def _respondent(header: Sequence[str]) -> int | None:
    return next((k for k, name in enumerate(header[:12]) if plain(name) == "respondentid"), None)


def _are_numbers(ids: Sequence[str]) -> bool:
    return all(map(_ID.fullmatch, ids)) and len({*ids}) == len(ids)


def _leading(header: Sequence[str], below: Sequence[str]) -> list[int]:
    """Return the first columns, as far as they have a name and nothing below it."""
    return list(takewhile(lambda k: header[k].strip() and not below[k].strip(), range(len(header))))


def _find_monkey(sheet: Sheet) -> list[Question]:
    header, rows = sheet.header, sheet.rows
    place = _respondent(header)
    two = bool(rows) and (place is None or not rows[0][place].strip())
    below = [without_html(cell) for cell in rows[0]] if two else [""] * len(header)
    sheet.rows = rows[1:] if two else rows
    lead = sheet.named(_LEAD)
    if place is None and two:
        lead = _leading(header, below)
        ids = ([row[k].strip() for row in sheet.rows] for k in lead)
        pairs = zip(lead, ids, strict=True)
        place = next((k for k, own in pairs if all(own) and len({*own}) == len(own)), None)
    if not rows:
        return []
    lead = [*lead, *range(place or 0)]
    sheet.people([] if place is None else [place])
    about = [k for k in lead if k != place]
    sheet.set_role(about, "identity", "about the person and the time")
    found: list[Question] = []
    for question, places in _monkey_questions(header, lead):
        free = [k for k in places if folded(below[k]) in _FREE]
        sheet.set_role(free, "comment", "an answer in one's own words")
        kept = [k for k in places if k not in free]
        if plain(question) in _PERSON:
            sheet.set_role(kept, "identity", "about the person")
        elif len(kept) == 1:
            found.append(Question(question, kept[0]))
        elif kept:
            labels = unique(below[k] for k in kept)
            found += option_columns(sheet, question, dict(zip(labels, kept, strict=True)))
    names = unique(str(one.item) for one in found)
    for one, name in zip(found, names, strict=True):
        one.item = name
    return found


def _monkey_questions(header: Sequence[str], lead: Sequence[int]) -> list[tuple[str, list[int]]]:
    """Return the questions and their columns; an unnamed column belongs to the one before it."""
    found: list[tuple[str, list[int]]] = []
    for k, name in enumerate(header):
        text = "" if re.fullmatch(r"Unnamed: \d+", name.strip(), re.I) else without_html(name)
        if k not in lead and text:
            found.append((text, [k]))
        elif k not in lead and found:
            found[-1][1].append(k)
    return found


SURVEY_MONKEY = Format(
    "surveymonkey",
    "SurveyMonkey, all responses",
    "All responses data as CSV or xlsx: one or two rows of names, then a row per person",
    (
        Sign("respondents come first, and the options stand in a second row", holds=_is_two_rows),
        Sign(
            "«Respondent ID» comes first, with the numbers that SurveyMonkey gives",
            holds=_is_one_row,
        ),
    ),
    ByQuestion(_find_monkey),
    tried="three surveys, with one and with two rows of names",
)


# -- LimeSurvey: response, time of submission, last page and language come first ------------------

#: How its first four columns are called, by code or in words.
_FIRST = (
    words("id|responseid|antwortid|iddelarespuesta|iddelaréponse|reactieid|idrisposta|"
          "iddaresposta|idodpowiedzi"),
    words("submitdate|datesubmitted|datumabgeschickt|fechadeenvío|datedesoumission|datuminzending|"
          "datadiinvio|datadeenvio|datawysłania"),
    words("lastpage|letzteseite|últimapágina|dernièrepage|laatstepagina|ultimapagina|"
          "ostatniastrona"),
    words("startlanguage|startsprache|lenguajeinicial|languededépart|begintaal|linguainiziale|"
          "idiomainicial|językpoczątkowy"),
)  # fmt: skip
_PART = re.compile(r"^(?P<base>.+?)\s*\[(?P<part>[^\[\]]*)\]$", re.DOTALL)


def _first_of_lime(names: Sequence[str]) -> int | None:
    """Return the first of the four columns that LimeSurvey writes first."""
    bare = [plain(name) for name in names[:8]]
    starts = range(len(bare) - len(_FIRST) + 1)
    return next(
        (k for k in starts if all(map(frozenset.__contains__, _FIRST, bare[k : k + 4]))), None
    )


def _find_lime(sheet: Sheet) -> list[Question]:
    header, first = sheet.header, _first_of_lime(sheet.header)
    if first is None:
        return []
    groups: dict[str, dict[str, int]] = {}
    for k, name in enumerate(header[first + 4 :], start=first + 4):
        name = " ".join(name.split())
        part = _PART.match(name)
        cells = [cell for cell in sheet.cells(k) if folded(cell) not in ("", "n/a", "na")]
        content = look_at(cells).kind
        if part and plain(part["part"]) in ("other", "comment", "sonstiges", "kommentar"):
            sheet.set_role([k], "comment", "an answer in one's own words")
        elif role_of_name(name) == "time" or content in ("time", "measure", "link", "mail"):
            sheet.set_role([k], "time", "times and numbers")
        elif len(cells) > 1 and (len({*cells}) == len(cells) or is_free_text(cells)):
            sheet.set_role([k], "comment", "free text")
        elif cells and plain(name) not in ("seed", "token", "refurl"):
            own = groups.setdefault(part["base"] if part else name, {})
            own.setdefault(part["part"] if part else "", k)
    sheet.people([first])
    return [
        one
        for base, own in groups.items()
        for one in option_columns(sheet, base, own, rows="{}" if [*own] == [""] else "{}[{}]")
    ]


LIMESURVEY = Format(
    "limesurvey",
    "LimeSurvey, responses",
    "The responses as CSV or xlsx, by code or with the full question",
    (
        Sign(
            "response, time of submission, last page and language come first",
            holds=lambda own: own.is_table and _first_of_lime(own.header) is not None,
        ),
    ),
    ByQuestion(_find_lime),
    tried="a survey of free texts, which is refused",
    empty=(
        "a LimeSurvey export without a choice question: texts, numbers and times only",
        "only questions with options can be ranked",
    ),
)


# -- oTree: all apps in one table (``all_apps_wide``) or a table per app ---------------------------

#: ``quiz.2.player.answer`` in the table of all apps, ``player.answer`` in the table of one.
_FIELD = re.compile(r"(?:(?P<app>[^.]+)\.(?P<round>\d+)\.)?player\.(?P<field>[^.]+)", re.IGNORECASE)
#: What oTree itself writes for each player.
_PLAYER = words("id_in_group|role|payoff")


def _find_otree(sheet: Sheet) -> list[Question]:
    fields: dict[tuple[str, str], dict[int, str]] = {}
    for k, name in enumerate(sheet.header):
        match = _FIELD.fullmatch(name.strip())
        if match and folded(match["field"]) not in _PLAYER:
            own = fields.setdefault((match["app"] or "", match["field"]), {})
            own[k] = match["round"] or ""
    most = {
        app: max(len(places) for (other, _), places in fields.items() if other == app)
        for app, _ in fields
    }
    found: list[Question] = []
    for (app, field), places in fields.items():
        answered = [k for k in places if _is_choice(sheet, k)]
        if role_of_name(field) is not None:
            sheet.set_role(places, "unused", f"named like {role_of_name(field)}")
        elif 2 * len(answered) <= most[app] or _is_constant(sheet, [*places]):
            sheet.set_role(places, "unused", "the same in all rounds, or no choice")
        else:
            rounds = (places[k] if most[app] > 1 else "" for k in answered)
            names = [".".join(filter(None, (app, own, field))) for own in rounds]
            found += map(Question, names, answered)
    number = sheet.find("subsession.round_number")
    rounds_of_row = [] if number is None else [cell.strip() for cell in sheet.cells(number)]
    if len({*rounds_of_row}) > 1:  # a row per person and round
        for one in found:
            of = f"/{one.item}" if len(found) > 1 else ""
            one.item = [f"{own}{of}" for own in rounds_of_row]
    labels = [sheet.find(f"participant.{own}") for own in ("label", "code", "id_in_session")]
    who = [k for k in labels if k is not None and all(map(str.strip, sheet.cells(k)))]
    sheet.people(who[:1])
    sheet.set_role([number] if number is not None else [], "item", "the round")
    return found


def _is_choice(sheet: Sheet, place: int) -> bool:
    content = look_at(sheet.cells(place))
    return content.kind == "choice" and len(content.counts) > 1 and not content.all_different


def _is_constant(sheet: Sheet, places: list[int]) -> bool:
    """Whether nearly everybody has the same value in all rounds, though values differ."""
    given = [{row[k].strip() for k in places} - {""} for row in sheet.rows]
    several = [own for own in given if own]
    return len(places) > 1 and sum(len(own) == 1 for own in several) > 0.9 * len(several)


OTREE = Format(
    "otree",
    "oTree, all apps or one app",
    "«all_apps_wide» or the table of one app: participant.code and the fields of the players",
    (
        Sign(
            "the columns participant.… and «…player.…» are there",
            (r"participant\.\w+", r"(?:[^.]+\.\d+\.)?player\.[^.]+"),
        ),
    ),
    ByQuestion(_find_otree),
    tried="an experiment with eight rounds",
    empty=(
        "an oTree export in which no field of the players holds choices that repeat",
        "export the app in which the participants chose among options",
    ),
)

FORMATS = (QUALTRICS, SURVEY_MONKEY, LIMESURVEY, OTREE)
