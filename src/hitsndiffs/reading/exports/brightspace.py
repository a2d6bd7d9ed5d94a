"""D2L Brightspace: «Attempt Details» of quizzes and surveys, with a row per option."""

from __future__ import annotations

import re

from hitsndiffs.reading.exports.base import Format, Refusal, columns
from hitsndiffs.reading.exports.common import attempt_number, folded, number, without_html
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at

__all__ = ["BRIGHTSPACE", "BRIGHTSPACE_SURVEY"]

_OPENER = re.compile(r"^\D{2,40}\s\d+$")


def _fill(sheet: Sheet) -> None:
    rows, stream = sheet.rows, sheet.stream
    kind, answer, match = (_place(sheet, n) for n in ("Q Type", "Answer", "Answer Match"))
    identity = sheet.named(("orgdefinedid", "username", "firstname", "lastname"))
    if not identity and not sheet.choices.user:
        raise Refusal(
            "a Brightspace report without the names of the people",
            "export «Attempt Details» with «Username» or «Org Defined ID»",
        )
    who = sheet.people(identity)
    attempt, score, out_of, shown = map(sheet.find, ("Attempt #", "Score", "Out Of", "Q #"))
    questions: dict[tuple[str, int, str, str], list[int]] = {}
    for k, (row, item) in enumerate(zip(rows, _item_names(sheet), strict=True)):
        if item:
            place = (who[k], attempt_number(cell_at(row, attempt)), item, cell_at(row, shown))
            questions.setdefault(place, []).append(k)
    open_kinds: set[str] = set()
    for (person, tried, item, _), places in questions.items():
        marks = {k: folded(rows[k][match]) for k in places}
        row = rows[places[0]]
        if not {*marks.values()} <= {"checked", "unchecked"}:
            open_kinds.add(row[kind].strip() or "no type")
            continue
        stream.add(
            person,
            item,
            [without_html(rows[k][answer]) for k in places if marks[k] == "checked"],
            attempt=tried,
            points=number(cell_at(row, score)),
            possible=number(cell_at(row, out_of)),
        )
    if open_kinds:
        stream.notes.append(
            f"Questions of the types {', '.join(sorted(open_kinds))} are left out: they have no "
            "options to check."
        )
    if not stream.persons:
        raise Refusal(
            "a Brightspace report without a question that has options",
            "only questions of the types MC, T/F and M-S can be ranked",
        )
    sheet.set_role([answer], "answers", "the options; the chosen ones are «Checked»")


def _place(sheet: Sheet, name: str) -> int:
    place = sheet.find(name)
    if place is None:
        raise Refusal(
            f"a Brightspace report without the column «{name}»", "export «Attempt Details» again"
        )
    return place


def _item_names(sheet: Sheet) -> list[str]:
    """Return the item of each row: the question text, or else its title."""
    text, title = sheet.find("Q Text"), sheet.find("Q Title")
    return [
        without_html(cell_at(row, text)) or without_html(cell_at(row, title)).strip("'")
        for row in sheet.rows
    ]


# -- surveys: a line «User n» starts each person ------------------------------------------------


def _fill_survey(sheet: Sheet) -> None:
    answer, count = _place(sheet, "Answer"), _place(sheet, "# Responses")
    match = sheet.find("Answer Match")
    person = next((found for row in reversed(sheet.above) if (found := _opens(row))), None)
    chosen: dict[tuple[str, str], list[str]] = {}
    keys: dict[str, dict[str, None]] = {}
    header = [name.strip() for name in sheet.header]
    for row, item in zip(sheet.rows, _item_names(sheet), strict=True):
        opened = None if item or row[answer].strip() else _opens(row)
        person = opened or person
        if opened or person is None or not item or [cell.strip() for cell in row] == header:
            continue
        text = without_html(row[answer])
        picked = chosen.setdefault((person, item), [])
        if (number(row[count]) or 0) > 0:
            picked.append(text)
        if folded(cell_at(row, match)) == "checked":
            keys.setdefault(item, {})[text] = None
    if not chosen:
        raise Refusal(
            "a Brightspace report of counts per option, without individual answers",
            "export «Attempt Details» (quizzes) or the individual attempts (surveys) instead",
        )
    for (person, item), picked in chosen.items():
        sheet.stream.add(person, item, picked, key=keys.get(item))
    sheet.set_role([answer], "answers", "the options; the chosen one has a response")


def _opens(row: list[str]) -> str | None:
    given = [cell.strip() for cell in row if cell.strip()]
    return given[0] if 1 <= len(given) <= 3 and _OPENER.match(given[0]) else None


BRIGHTSPACE = Format(
    "brightspace",
    "D2L Brightspace, Attempt Details",
    "Quiz statistics, «Attempt Details»: CSV, a row per option",
    columns(
        *("q #", "q type", "answer", "answer match", r"username|org defined id|attempt #"),
        without="# responses",
        because="each row is an option that a person checked or left («Answer Match»)",
    ),
    by_table(_fill),
    "a quiz",
)
BRIGHTSPACE_SURVEY = Format(
    "brightspace-survey",
    "D2L Brightspace, survey attempts",
    "Survey reports with individual attempts («User 1»); counts alone are refused",
    columns(
        "q #", "q type", "answer", "# responses", because="options are counted («# Responses»)"
    ),
    by_table(_fill_survey, key_from="the options marked «Checked»"),
    "a report of counts, which is refused",
)
