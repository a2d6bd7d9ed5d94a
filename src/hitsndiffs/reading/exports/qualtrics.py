"""Qualtrics: CSV with three header rows (the third names every question), or the older layout."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hitsndiffs.reading.exports.base import Format, Refusal, Sample, absent
from hitsndiffs.reading.exports.common import (
    folded,
    split_column,
    without_html,
    words,
)
from hitsndiffs.reading.exports.sheet import Sheet, by_table
from hitsndiffs.reading.vocabulary import plain

__all__ = ["QUALTRICS"]

_IMPORT = re.compile(r"""^\s*\{\s*['"]ImportId['"]\s*:\s*['"]([^'"]*)['"]""")
_QUESTION = re.compile(r"^(?:\d+_)?(QID\d+)((?:[-_#]\d+)*)$")
_PREVIEW = frozenset(("survey preview", "spam", "8"))
_OLD = words(
    "responseid|responseset|name|externaldatareference|emailaddress|email|ipaddress|status|"
    "startdate|enddate|finished|locationlatitude|locationlongitude|locationaccuracy"
)


def _recognise(sample: Sample) -> str | None:
    if not sample.is_table:
        return None
    if _import_row(sample.rows[:3]) is not None:
        return "a row below the header names each column by its ImportId"
    if _is_old(sample.header, sample.full_rows):
        return "the columns V1, V2, … are explained in the next row (ResponseID, …)"
    return None


def _import_row(rows: Sequence[Sequence[str]]) -> int | None:
    for k, row in enumerate(rows):
        cells = [cell for cell in row if cell.strip()]
        if cells and all(_IMPORT.match(cell) for cell in cells):
            return k
    return None


def _is_old(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    if len(rows) < 2 or [name.strip() for name in header[:3]] != ["V1", "V2", "V3"]:
        return False
    return plain(rows[0][0]) == "responseid"


def _convert(sheet: Sheet) -> None:
    header, rows = sheet.header, sheet.rows
    place = _import_row(rows[:3])
    if place is None and not _is_old(header, rows):
        raise absent("a Qualtrics export", "row of ImportIds, nor columns V1, V2, …")
    if place is None:
        _convert_old(sheet)
        return
    codes = [m[1] if (m := _IMPORT.match(cell)) else "" for cell in rows[place]]
    texts = rows[0] if place > 0 else [""] * len(codes)
    sheet.rows = rows[place + 1 :]
    _keep_answers(sheet, codes)
    survey = _Survey(sheet, texts, _who(sheet, codes))
    groups: dict[str, list[int]] = {}
    for k, code in enumerate(codes):
        match = _QUESTION.match(code)
        if match:
            loop = code[: match.start(1)]
            groups.setdefault(loop + match[1], []).append(k)
    for columns in groups.values():
        survey.add_question(columns)
        sheet.set_role(columns, "answers", "a question («QIDn»)")
    if not sheet.stream.persons:
        raise Refusal(
            "a Qualtrics export without a choice question",
            "export the survey again with its questions («QIDn»)",
        )
    asked = {k for columns in groups.values() for k in columns}
    open_text = [k for k, code in enumerate(codes) if k not in asked and code.startswith("QID")]
    sheet.set_role(open_text, "comment", "text or timing that belongs to a question")
    sheet.rest_unused("about the response, or embedded data")


def _keep_answers(sheet: Sheet, codes: Sequence[str]) -> None:
    """Leave out previews and spam."""
    status = next((k for k, code in enumerate(codes) if folded(code) == "status"), None)
    if status is not None:
        kept = [row for row in sheet.rows if folded(row[status]) not in _PREVIEW]
        sheet.keep_rows(kept or sheet.rows, "previews and spam", "by «Status»")


def _who(sheet: Sheet, codes: Sequence[str]) -> list[str]:
    bare = [plain(code) or plain(sheet.header[k]) for k, code in enumerate(codes)]
    for wanted in () if sheet.choices.user else ("recordid", "responseid"):
        if wanted in bare:
            labels = [cell.strip() for cell in sheet.cells(bare.index(wanted))]
            if all(labels) and len(set(labels)) == len(labels):
                return labels
    return sheet.persons([])


@dataclass(frozen=True)
class _Survey:
    """The rows of answers, the texts of the columns, and who answered."""

    sheet: Sheet
    texts: Sequence[str]
    who: Sequence[str]

    def add_question(self, columns: Sequence[int]) -> None:
        """Add one item with several choices, or one item per column (a grid)."""
        if len(columns) > 1 and self._is_multiple(columns):
            self._add_set(columns)
            return
        for k in columns:
            self._add_column(k)

    def _is_multiple(self, columns: Sequence[int]) -> bool:
        """Whether each column is one option: its cells hold the same text or nothing."""
        rows = self.sheet.rows
        alike = all(len({row[k].strip() for row in rows} - {"", "-99"}) <= 1 for k in columns)
        return alike and any(not row[k].strip() for row in rows for k in columns)

    def _add_set(self, columns: Sequence[int]) -> None:
        values = [
            next((text for cell in self.sheet.cells(k) if (text := cell.strip())), "")
            for k in columns
        ]
        suffixes = [re.split(r"[-_#]", self.sheet.header[k])[-1] for k in columns]
        told = len({v for v in values if v}) == sum(bool(v) for v in values)
        labels = [
            value if told and not value.isdigit() else suffix
            for value, suffix in zip(values, suffixes, strict=True)
        ]
        item = re.sub(r"[-_#]\d+$", "", self.sheet.header[columns[0]])
        self.sheet.stream.titles[item] = without_html(self.texts[columns[0]]).rpartition(" - ")[0]
        for row, person in zip(self.sheet.rows, self.who, strict=True):
            chosen = [
                label
                for k, label in zip(columns, labels, strict=True)
                if row[k].strip() not in ("", "-99")
            ]
            self.sheet.stream.add(person, item, chosen)

    def _add_column(self, place: int) -> None:
        item = self.sheet.header[place]
        self.sheet.stream.titles[item] = without_html(self.texts[place])
        cells = self.sheet.cells(place)
        others = {cell.strip() for cell in cells} - {"", "-99"}
        unanswered = "-99" if not any(cell.startswith("-") for cell in others) else None
        sets = split_column(["" if cell.strip() == unanswered else cell for cell in cells], ",")
        for person, answer in zip(self.who, sets, strict=True):
            self.sheet.stream.add(person, item, answer)


def _convert_old(sheet: Sheet) -> None:
    texts, sheet.rows = sheet.rows[0], sheet.rows[1:]
    who = [cell.strip() for cell in sheet.cells(0)]
    if sheet.choices.user or not all(who) or len(set(who)) < len(who):
        who = sheet.persons([])
    survey = _Survey(sheet, texts, who)
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(sheet.header):
        if re.fullmatch(r"V\d+", name.strip()) or plain(texts[k]) in _OLD or not name.strip():
            sheet.set_role([k], "unused", "about the response")
        elif name.endswith("_TEXT"):
            sheet.set_role([k], "comment", "free text")
        else:
            groups.setdefault(re.sub(r"[-_#]\d+$", "", name), []).append(k)
            sheet.set_role([k], "answers", "a question")
    for columns in groups.values():
        survey.add_question(columns)


QUALTRICS = Format(
    "qualtrics",
    "Qualtrics, survey responses",
    "CSV or TSV with question texts and ImportIds below the header; also the older layout",
    _recognise,
    by_table(_convert),
)
