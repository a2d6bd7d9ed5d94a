"""Surveys and experiments: Qualtrics, SurveyMonkey, LimeSurvey, oTree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import takewhile

from hitsndiffs.reading.exports.base import Sample, Sign
from hitsndiffs.reading.exports.common import (
    folded,
    split_column,
    unique,
    without_html,
    words,
)
from hitsndiffs.reading.exports.format import Format
from hitsndiffs.reading.exports.sheet import (
    ByQuestion,
    Question,
    Sheet,
    option_columns,
    whole_cells,
)
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import plain, role_of_name

__all__ = ["FORMATS"]


def _all_different(cells: Sequence[str]) -> bool:
    return all(cells) and len({*cells}) == len(cells)


# -- Qualtrics: three rows of names, the third with ImportIds; or the older V1, V2, … --------------

_IMPORT = re.compile(r"""^\s*\{\s*['"]ImportId['"]\s*:\s*['"]([^'"]*)['"]""")
_QUESTION = re.compile(r"^(?P<loop>\d+_)?(?P<question>QID\d+)(?:[-_#]\d+)*$")
_PREVIEW = frozenset(("survey preview", "spam", "8"))
_OLD = words(
    "responseid|responseset|name|externaldatareference|emailaddress|email|ipaddress|status|"
    "startdate|enddate|finished|locationlatitude|locationlongitude|locationaccuracy"
)
_V = re.compile(r"V\d+", re.IGNORECASE)


def _import_row(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the row that names each column by its ImportId, but for columns added by hand."""
    for k, row in enumerate(rows[:3]):
        signed = sum(bool(_IMPORT.match(cell)) for cell in row)
        if signed > 1 and 2 * signed > sum(bool(cell.strip()) for cell in row):
            return k
    return None


def _is_old(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    named = [k for k, name in enumerate(header) if _V.fullmatch(name.strip())]
    told = [k for k in named if len(rows) > 1 and plain(rows[0][k]) in _OLD]
    return len(told) > 2 and 2 * len(told) > len(named)


def _find_qualtrics(sheet: Sheet) -> list[Question]:
    header, rows = sheet.header, sheet.rows
    place = _import_row(rows)
    if place is None and not _is_old(header, rows):
        return []
    texts, sheet.rows = rows[0], rows[(place or 0) + 1 :]
    imported = [_IMPORT.match(cell) for cell in rows[place or 0]]
    codes = texts if place is None else [match[1] if match else "" for match in imported]
    groups: dict[str, list[int]] = {}
    for k, (name, code) in enumerate(zip(header, codes, strict=True)):
        match = _QUESTION.match(code)
        own = "" if match is None else match["question"] + (match["loop"] or "")
        if place is None and not (_V.fullmatch(name.strip()) or plain(code) in _OLD):
            own = "" if name.upper().endswith("_TEXT") else _base(name.strip())
        if own:
            groups.setdefault(own, []).append(k)
        elif code.startswith("QID"):
            sheet.set_role([k], "comment", "text or timing that belongs to a question")
    bare = [plain(code) for code in codes]
    status = [k for k, code in enumerate(bare) if code == "status"][:1]
    kept = [row for row in sheet.rows if not any(folded(row[k]) in _PREVIEW for k in status)]
    sheet.keep_rows(kept or sheet.rows, "previews and spam", "by «Status»")
    who = [k for k, code in enumerate(bare) if code in ("recordid", "responseid")][:1]
    sheet.people([k for k in who if _all_different(sheet.cells(k))])
    return [one for own in groups.values() for one in _of_qualtrics(sheet, own, texts)]


def _base(name: str) -> str:
    return re.sub(r"[-_#]\d+$", "", name)


def _of_qualtrics(sheet: Sheet, places: list[int], texts: Sequence[str]) -> list[Question]:
    """Return one item whose columns are its options, or one item per column (a grid)."""
    values = [next(filter(None, map(str.strip, sheet.cells(k))), "") for k in places]
    told = len({*values} - {""}) == len(list(filter(None, values)))
    labels = [
        value
        if told and value and not value.lstrip("-").isdigit()
        else re.split(r"[-_#]", sheet.header[k])[-1]
        for k, value in zip(places, values, strict=True)
    ]
    columns = dict(zip(unique(labels), places, strict=True))
    title = without_html(texts[places[0]]).rpartition(" - ")[0]
    found = option_columns(sheet, _base(sheet.header[places[0]]), columns, title)
    for one in found if all(one.given is None for one in found) else ():
        own = [cell.strip() for cell in sheet.cells(one.answer)]
        # -99 is «seen, not answered», unless other answers are negative numbers too.
        unanswered = "" if any(text.startswith("-") for text in {*own} - {"-99"}) else "-99"
        one.item, one.title = sheet.header[one.answer], without_html(texts[one.answer])
        one.given = split_column(["" if text == unanswered else text for text in own], ",")
    return found


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
    if not _has_rows(sample) or not any(map(str.strip, sample.full_rows[0])):
        return False
    below, *rows = sample.full_rows
    own = _respondent(sample.header)
    if own is not None and not below[own].strip():
        collected = "collectorid" in map(plain, sample.header[:12])
        return collected or _are_numbers(row[own] for row in rows)
    told = [k for k, cell in enumerate(below) if folded(cell) in _SINGLE | _FREE]
    if own is None and told:  # without the columns about respondents
        return not any(folded(row[k]) in _SINGLE | _FREE for row in rows for k in told)
    # in other languages: two numbers, and dates
    n_lead = 0 if own is not None else len(_leading(sample.header, below))
    first = [[row[k].strip() for row in rows] for k in range(min(4, n_lead))]
    return (
        n_lead >= 5
        and bool("".join(below[n_lead : n_lead + 1]).strip())
        and all(_ID.fullmatch(cell) for cells in first[:2] for cell in cells)
        and all(look_at(cells).kind == "time" for cells in first[2:])
    )


def _is_one_row(sample: Sample) -> bool:
    own = _respondent(sample.header) if _has_rows(sample) else None
    return own is not None and _are_numbers(row[own] for row in sample.full_rows)


def _has_rows(sample: Sample) -> bool:
    return sample.is_table and len(sample.header) > 2 and len(sample.rows) > 1


def _respondent(header: Sequence[str]) -> int | None:
    return next((k for k, name in enumerate(header[:12]) if plain(name) == "respondentid"), None)


def _are_numbers(cells: Iterable[str]) -> bool:
    ids = [cell.strip() for cell in cells]
    return all(map(_ID.fullmatch, ids)) and _all_different(ids)


def _leading(header: Sequence[str], below: Sequence[str]) -> list[int]:
    """Return the first columns, as far as they have a name and nothing below it."""
    return list(takewhile(lambda k: header[k].strip() and not below[k].strip(), range(len(header))))


def _find_monkey(sheet: Sheet) -> list[Question]:
    header, rows = sheet.header, sheet.rows
    if not rows:
        return []
    place, lead = _respondent(header), sheet.named(_LEAD)
    two = place is None or not rows[0][place].strip()
    below = [without_html(cell) for cell in rows[0]] if two else [""] * len(header)
    sheet.rows = rows[1:] if two else rows
    if place is None:
        lead = _leading(header, below)
        place = next((k for k in lead if _all_different(sheet.cells(k))), None)
    lead = [*lead, *range(place or 0)]
    sheet.people([] if place is None else [place])
    sheet.set_role((k for k in lead if k != place), "identity", "about the person and the time")
    groups: list[tuple[str, list[int]]] = []
    for k, name in enumerate(header):  # an unnamed column belongs to the question before it
        text = "" if re.fullmatch(r"Unnamed: \d+", name.strip(), re.I) else without_html(name)
        if k not in lead and text:
            groups.append((text, [k]))
        elif k not in lead and groups:
            groups[-1][1].append(k)
    found: list[Question] = []
    for question, places in groups:
        free = [k for k in places if folded(below[k]) in _FREE]
        sheet.set_role(free, "comment", "an answer in one's own words")
        kept = [k for k in places if k not in free]
        if plain(question) in _PERSON:
            sheet.set_role(kept, "identity", "about the person")
        elif len(kept) == 1:
            found.append(Question(question, kept[0]))
        else:
            labels = unique(below[k] for k in kept)
            found += option_columns(sheet, question, dict(zip(labels, kept, strict=True)))
    for one, name in zip(found, unique(str(one.item) for one in found), strict=True):
        one.item = name
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
_WRITTEN = ("other", "comment", "sonstiges", "kommentar")


def _first_of_lime(names: Sequence[str]) -> int | None:
    """Return the first of the four columns that LimeSurvey writes first."""
    bare = [plain(name) for name in names[:8]]
    starts = range(len(bare) - len(_FIRST) + 1)
    return next(
        (k for k in starts if all(map(frozenset.__contains__, _FIRST, bare[k : k + 4]))), None
    )


def _find_lime(sheet: Sheet) -> list[Question]:
    first = _first_of_lime(sheet.header)
    if first is None:
        return []
    groups: dict[str, dict[str, int]] = {}
    for k, name in enumerate(sheet.header[first + 4 :], start=first + 4):
        name = " ".join(name.split())
        part = _PART.match(name)
        if part and plain(part["part"]) in _WRITTEN:
            sheet.set_role([k], "comment", "an answer in one's own words")
        elif plain(name) not in ("seed", "token", "refurl"):
            own = groups.setdefault(part["base"] if part else name, {})
            own.setdefault(part["part"] if part else "", k)
    sheet.people([first])
    return [
        one
        for base, own in groups.items()
        for one in option_columns(sheet, base, own, rows="{}" if [*own] == [""] else "{}[{}]")
    ]


def _answered(cells: Sequence[str]) -> list[tuple[str, ...]]:
    return whole_cells(["" if folded(cell) in ("n/a", "na") else cell for cell in cells])


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
    ByQuestion(_find_lime, split=_answered),
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
    rounds: dict[str, int] = {}
    for (app, _), places in fields.items():
        rounds[app] = max(rounds.get(app, 0), len(places))
    found: list[Question] = []
    for (app, field), places in fields.items():
        answered = [k for k in places if _is_choice(sheet.cells(k))]
        if role_of_name(field) is not None:
            sheet.set_role(places, "unused", f"named like {role_of_name(field)}")
        elif 2 * len(answered) <= rounds[app] or _is_constant(sheet, [*places]):
            sheet.set_role(places, "unused", "the same in all rounds, or no choice")
        else:
            for k in answered:
                parts = (app, places[k] if rounds[app] > 1 else "", field)
                found.append(Question(".".join(filter(None, parts)), k))
    number = sheet.find("subsession.round_number")
    rounds_of_row = [] if number is None else [cell.strip() for cell in sheet.cells(number)]
    if len({*rounds_of_row}) > 1:  # a row per person and round
        for one in found:
            of = f"/{one.item}" if len(found) > 1 else ""
            one.item = [f"{own}{of}" for own in rounds_of_row]
    labels = [sheet.find(f"participant.{own}") for own in ("label", "code", "id_in_session")]
    who = [k for k in labels if k is not None and all(map(str.strip, sheet.cells(k)))]
    sheet.people(who[:1])
    sheet.set_role([number], "item", "the round")
    return found


def _is_choice(cells: Sequence[str]) -> bool:
    content = look_at(cells)
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
