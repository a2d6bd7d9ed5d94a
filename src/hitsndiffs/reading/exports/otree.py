"""oTree: experiments, all apps in one table (``all_apps_wide``) or a table per app."""

from __future__ import annotations

import re

from hitsndiffs.reading.exports.base import Format, Refusal, Sample
from hitsndiffs.reading.exports.common import words
from hitsndiffs.reading.exports.sheet import Question, Sheet, by_table
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["OTREE"]

#: ``quiz.2.player.answer`` in the table of all apps, ``player.answer`` in the table of one.
_FIELD = re.compile(r"(?:(?P<app>[^.]+)\.(?P<round>\d+)\.)?player\.(?P<field>[^.]+)")
#: What oTree itself writes for each player.
_OWN = words("id_in_group|role|payoff")


def _recognise(sample: Sample) -> str | None:
    names = {name.strip() for name in sample.header} if sample.is_table else set()
    if "participant.code" in names and any(map(_FIELD.fullmatch, names)):
        return "the columns participant.code and «…player.…» are there"
    return None


def _fill(sheet: Sheet) -> None:
    fields: dict[tuple[str, str], list[int]] = {}
    for k, name in enumerate(sheet.header):
        match = _FIELD.fullmatch(name.strip())
        if match and match["field"] not in _OWN:
            fields.setdefault((match["app"] or "", match["field"]), []).append(k)
    most: dict[str, int] = {}
    for (app, _), places in fields.items():
        most[app] = max(most.get(app, 1), len(places))
    found: list[Question] = []
    for (app, field), places in fields.items():
        answered = [k for k in places if _is_choice(sheet, k)]
        if role_of_name(field) is not None:
            sheet.set_role(places, "unused", f"named like {role_of_name(field)}")
        elif 2 * len(answered) <= most[app] or _is_constant(sheet, places):
            sheet.set_role(places, "unused", "the same in all rounds, or no choice")
        else:
            found += [Question(_name(sheet.header[k], most[app] > 1), k) for k in answered]
    if not found:
        raise Refusal(
            "an oTree export in which no field of the players holds choices that repeat",
            "export the app in which the participants chose among options",
        )
    number = sheet.find("subsession.round_number")
    tasks = [] if number is None else [cell.strip() for cell in sheet.cells(number)]
    tasks = tasks if len({*tasks}) > 1 else []
    labels = [sheet.find("participant.label"), sheet.find("participant.code")]
    who = [k for k in labels if k is not None and all(map(str.strip, sheet.cells(k)))]
    sheet.ask(found, sheet.people(who[:1]), tasks=tasks)
    if number is not None:
        sheet.set_role([number], "item", "the round")
    sheet.rest_unused("about the participant, the session or the round")


def _is_choice(sheet: Sheet, place: int) -> bool:
    content = look_at(sheet.cells(place))
    return content.kind == "choice" and len(content.counts) > 1 and not content.all_different


def _is_constant(sheet: Sheet, places: list[int]) -> bool:
    """Whether nearly everybody has the same value in all rounds, though values differ."""
    if len(places) < 2:
        return False
    given = [{row[k].strip() for k in places} - {""} for row in sheet.rows]
    several = [own for own in given if own]
    return sum(len(own) == 1 for own in several) > 0.9 * len(several)


def _name(header: str, rounds: bool) -> str:
    """Return the name of an item: the app, its round if there are several, and the field.

    Examples
    --------
    >>> _name("quiz.1.player.q3", False), _name("quiz.2.player.q3", True)
    ('quiz.q3', 'quiz.2.q3')
    """
    match = _FIELD.fullmatch(header.strip())
    assert match is not None
    parts = (match["app"], match["round"] if rounds else None, match["field"])
    return ".".join(part for part in parts if part)


OTREE = Format(
    "otree",
    "oTree, all apps or one app",
    "«all_apps_wide» or the table of one app: participant.code and the fields of the players",
    _recognise,
    by_table(_fill),
    "an experiment with eight rounds",
)
