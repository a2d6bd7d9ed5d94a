"""The truth behind the fixtures: who chose what, which options there are, which one is right."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field

import numpy as np

COLOURS = ("Red", "Green", "Blue", "Yellow", "Violet")
FIRST = ("Ada", "Bob", "Cleo", "Dan", "Eva", "Finn", "Gia", "Hal", "Ida", "Jon", "Kim", "Leo")
LAST = ("Ash", "Birk", "Cole", "Dorn", "Elm", "Fox", "Gale", "Hill", "Ives", "Jay", "Kern", "Lind")

Cell = str | tuple[str, ...] | None


@dataclass(frozen=True)
class Person:
    first: str
    last: str
    code: str

    @property
    def name(self) -> str:
        return f"{self.first} {self.last}"

    @property
    def mail(self) -> str:
        return f"{self.first.lower()}.{self.last.lower()}@example.org"


@dataclass(frozen=True)
class Quiz:
    """Persons × questions: the place of the option that was chosen, -1 for none."""

    persons: list[Person]
    stems: list[str]
    options: list[list[str]]
    right: list[int]
    chosen: np.ndarray

    def answer(self, i: int, k: int) -> str:
        """The text of the chosen option; empty for none."""
        place = int(self.chosen[i, k])
        return self.options[k][place] if place >= 0 else ""

    def key(self, k: int) -> str:
        return self.options[k][self.right[k]]

    def points(self, i: int, k: int) -> int:
        return int(self.chosen[i, k] == self.right[k])

    def letter(self, i: int, k: int) -> str:
        place = int(self.chosen[i, k])
        return "ABCDEFGHIJ"[place] if place >= 0 else ""

    def key_letter(self, k: int) -> str:
        return "ABCDEFGHIJ"[self.right[k]]


def quiz(seed: int, n_persons: int = 12, n_items: int = 6, n_options: int = 4, blank: float = 0.05):
    """Draw a quiz: able persons choose the right option more often."""
    rng = np.random.default_rng(seed)
    persons = [
        Person(FIRST[i % 12], LAST[(i + i // 12) % 12], f"{1000 + 7 * i}") for i in range(n_persons)
    ]
    stems = [f"Which colour has thing number {k + 1}?" for k in range(n_items)]
    options = [[f"{COLOURS[j]} {k + 1}" for j in range(n_options)] for k in range(n_items)]
    right = [int(r) for r in rng.integers(n_options, size=n_items)]
    ability = np.linspace(0.95, 0.2, n_persons)
    chosen = rng.integers(n_options, size=(n_persons, n_items))
    knows = rng.random((n_persons, n_items)) < ability[:, None]
    chosen = np.where(knows, np.array(right), chosen)
    chosen[rng.random((n_persons, n_items)) < blank] = -1
    # Every question is answered in two ways at least, and everybody answers something.
    for k in range(n_items):
        chosen[0, k], chosen[1, k] = right[k], (right[k] + 1) % n_options
    chosen[np.all(chosen < 0, axis=1), 0] = right[0]
    return Quiz(persons, stems, options, right, chosen)


@dataclass
class Made:
    """Files of one export, and what reading them must give.

    Parameters
    ----------
    files
        Name (with folders) to bytes.
    answers
        (person, item) to what was chosen: a text, or several.
    key
        Item to the right answer, where the file says so.
    refused
        A part of the sentence with which it is refused, instead of answers.
    left_out
        Parts of sentences that the plan says about what is left out.
    """

    files: dict[str, bytes]
    answers: dict[tuple[str, str], Cell] = field(default_factory=dict)
    key: dict[str, Cell] = field(default_factory=dict)
    refused: str | None = None
    left_out: tuple[str, ...] = ()


def csv_text(rows, separator: str = ",", quote_all: bool = False) -> str:
    """Rows as delimited text."""
    out = io.StringIO()
    quoting = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(out, delimiter=separator, quoting=quoting, lineterminator="\r\n").writerows(rows)
    return out.getvalue()


def csv_bytes(rows, encoding: str = "utf-8", **options) -> bytes:
    return csv_text(rows, **options).encode(encoding)


def xlsx_bytes(sheets) -> bytes:
    """Sheets (name to rows) as a workbook."""
    import xlsxwriter

    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for r, row in enumerate(rows):
                for c, cell in enumerate(row):
                    if cell not in ("", None):
                        sheet.write(r, c, cell)
    return out.getvalue()


def ods_bytes(name: str, rows) -> bytes:
    """One sheet as an OpenDocument spreadsheet."""
    from odf.opendocument import OpenDocumentSpreadsheet
    from odf.table import Table, TableCell, TableRow
    from odf.text import P

    book = OpenDocumentSpreadsheet()
    table = Table(name=name)
    for row in rows:
        line = TableRow()
        for cell in row:
            one = TableCell(valuetype="string")
            one.addElement(P(text=str(cell)))
            line.addElement(one)
        table.addElement(line)
    book.spreadsheet.addElement(table)
    out = io.BytesIO()
    book.write(out)
    return out.getvalue()


def jsonl_bytes(records) -> bytes:
    import json

    return "".join(json.dumps(record) + "\n" for record in records).encode()


def zip_bytes(members) -> bytes:
    import zipfile

    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def by_item(q: Quiz, names, persons=None) -> dict[tuple[str, str], Cell]:
    """The answers of a quiz by (person, item), with the names that a format gives."""
    persons = persons or [p.name for p in q.persons]
    return {
        (persons[i], names[k]): q.answer(i, k)
        for i in range(len(persons))
        for k in range(len(names))
        if q.chosen[i, k] >= 0
    }
