"""Damaged, changed and mistaken files: a converter answers or refuses, and never fails."""

from __future__ import annotations

import csv
import io
import json
import random
from contextlib import suppress

import pytest
from factory import examples
from formats.cases import CASES, made
from formats.quiz import csv_bytes, xlsx_bytes, zip_bytes
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_formats import converted, matches, written

from hitsndiffs import read_responses
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports import FORMATS
from hitsndiffs.reading.exports.base import Choices
from hitsndiffs.reading.exports.lm_eval import _chosen
from hitsndiffs.reading.files.documents import Settings
from hitsndiffs.reading.files.folders import open_document

#: One example per format is enough here.
FIRST = {format: name for name, (format, _) in reversed(CASES.items())}
STRANGE = (
    "",
    " ",
    "-",
    "0",
    "-1",
    "1e400",
    "nan",
    "{",
    "[1, 2]",
    '{"a": [null]}',
    "ÄÖ\u0000",
    "A,B;C",
)
VALUES = [None, True, 0, -1.5, "", "x", [], {}, [None], [[]], {"": None}, [{"id": None}], "[[1,"]


def read(path) -> None:
    """Convert everything in a file or folder by the formats that recognise it."""
    for document, formats in matches(open_document(path, Settings())):
        for format in formats:
            format.convert(document, Choices())


def changed_table(data: bytes, rng: random.Random) -> bytes:
    """Change cells, rows and columns of a delimited text."""
    text = data.decode("utf-8-sig")
    line = text.partition("\n")[0]
    separator = max(",;\t", key=line.count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    for _ in range(rng.randint(1, 5)):
        row = rng.randrange(len(rows))
        place = rng.randrange(len(rows[row])) if rows[row] else 0
        what = rng.randrange(7)
        if what == 0 and rows[row]:
            rows[row][place] = rng.choice(STRANGE)
        elif what == 1 and len(rows) > 1:
            del rows[row]
        elif what == 2:
            rows[row] = rows[row][:place]
        elif what == 3:
            rows = [[*r[:place], *r[place + 1 :]] for r in rows]
        elif what == 4:
            rows = [[*r[:place], rng.choice(STRANGE), *r[place:]] for r in rows]
        elif what == 5:
            rows.insert(row, list(rows[rng.randrange(len(rows))]))
        elif what == 6:
            rng.shuffle(rows[row])
    return csv_bytes(rows, separator=separator)


def changed_value(value, rng: random.Random, depth: int = 0):
    """Replace something within a JSON value."""
    if depth > 6 or not isinstance(value, (list, dict)) or not value or rng.random() < 0.15:
        return rng.choice(VALUES)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        if rng.random() < 0.1:
            return [*value[:place], *value[place + 1 :]]
        return [*value[:place], changed_value(value[place], rng, depth + 1), *value[place + 1 :]]
    name = rng.choice(list(value))
    if rng.random() < 0.2:
        return {key: own for key, own in value.items() if key != name}
    return value | {name: changed_value(value[name], rng, depth + 1)}


def changed_file(name: str, data: bytes, rng: random.Random) -> bytes:
    """Change a file by what it is; bytes that are no text are cut or left."""
    if name.endswith((".json", ".jsonl", ".ndjson")):
        text = data.decode()
        if text.lstrip().startswith("[") or name.endswith(".json"):
            return json.dumps(changed_value(json.loads(text), rng)).encode()
        records = [json.loads(line) for line in text.splitlines() if line.strip()]
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(records))
            records[place] = changed_value(records[place], rng)
        return "".join(json.dumps(record) + "\n" for record in records).encode()
    if name.endswith((".csv", ".tsv")) and b"\x00" not in data[:100]:
        try:
            return changed_table(data, rng)
        except (UnicodeDecodeError, csv.Error):
            return data
    return data


TEXTS = [
    name
    for name in FIRST.values()
    if not any(n.endswith((".xlsx", ".zip")) for n in made(name).files)
]


@settings(examples(30, usual=6), suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("name", TEXTS)
@given(seed=st.integers(0, 2**32))
@example(seed=1)
def test_a_changed_file_is_read_or_refused(name, seed, tmp_path_factory):
    rng = random.Random(seed)
    example = made(name)
    for file in rng.sample(list(example.files), min(2, len(example.files))):
        example.files[file] = changed_file(file, example.files[file], rng)
    path = written(example, tmp_path_factory.mktemp("changed"))
    with suppress(InputError):
        read(path)


@pytest.mark.parametrize("declared", ["UTF-16", "no-such-encoding"])
def test_what_xml_says_of_its_encoding_does_no_harm(declared, tmp_path):
    """The text is decoded before XML is read: what its first line says of bytes is past."""
    example = made("qti")
    for name, data in example.files.items():
        example.files[name] = data.replace(b"UTF-8", declared.encode())
    responses = read_responses(written(example, tmp_path))
    assert (responses.n_users, responses.n_items) == (8, 10)


@pytest.mark.parametrize("accuracy", [{}, [1], "1", 0.5, None])
def test_an_accuracy_that_is_none_is_no_key(accuracy):
    record = {"filtered_resps": [["-1", "False"], ["-2", "False"]], "acc": accuracy}
    assert _chosen(record, [-1.0, -2.0]).right is None


@pytest.mark.parametrize("name", [*FIRST.values(), "ground-truth-request"])
def test_a_format_forced_on_another_file_is_refused(name, tmp_path):
    path = written(made(name), tmp_path)
    files = [file for file in sorted(tmp_path.rglob("*")) if file.is_file()][:2]
    for document in [open_document(file, Settings()) for file in files]:
        for format in FORMATS:
            with suppress(InputError):
                assert format.convert(document, Choices()).entries
    assert path.exists()


def test_answers_of_brightspace_without_names_are_refused(tmp_path):
    """Each row is an option, so rows cannot stand for people."""
    path = written(made("brightspace"), tmp_path)
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    gone = ("Org Defined ID", "Username", "FirstName", "LastName")
    kept = [name for name in rows[0] if name not in gone]
    path.write_bytes(csv_bytes([kept, *([row[name] for name in kept] for row in rows)]))
    with pytest.raises(InputError, match="without the names of the people"):
        converted(path)


@pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.name)
def test_a_file_without_a_cell_is_read_or_refused(format, tmp_path):
    (tmp_path / "nothing.csv").write_bytes(b'""')
    with suppress(InputError):
        format.convert(open_document(tmp_path / "nothing.csv", Settings()), Choices())


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_without_rows_is_read_or_refused(name, tmp_path):
    example = made(name)
    for file, data in example.files.items():
        if file.endswith((".csv", ".tsv")) and b"\x00" not in data[:100]:
            example.files[file] = data.partition(b"\n")[0] + b"\n"
        elif file.endswith(".json"):
            example.files[file] = b"[]" if data.lstrip().startswith(b"[") else b"{}"
    with suppress(InputError):
        read(written(example, tmp_path))


# -- the same export, as people have it -----------------------------------------------------------


def table_of(example) -> tuple[str, list[list[str]]]:
    name, data = next(iter(example.files.items()))
    return name, list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def same_answers(path, example) -> None:
    stream, _ = converted(path)
    found = {}
    for one in stream.entries:
        if one.status == "answered" and one.attempt == 1:
            answer = frozenset(text.strip() for text in one.answer)
            found.setdefault((one.person, one.item), answer)
    wanted = {
        place: frozenset([cell] if isinstance(cell, str) else cell)
        for place, cell in example.answers.items()
        if cell
    }
    assert found == wanted


SINGLE = [
    "canvas",
    "canvas-new",
    "moodle-en",
    "moodle-de",
    "google-form",
    "google-sheet",
    "zipgrade-web",
]
SINGLE += ["brightspace", "mturk", "figure-eight", "zooniverse", "blackboard-long", "qualtrics"]


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize(
    "kind", ["semicolon", "tab", "utf-16", "xlsx", "blank rows", "title", "zip"]
)
def test_a_file_saved_again_is_the_same(name, kind, tmp_path):
    example = made(name)
    file, rows = table_of(example)
    path = tmp_path / file
    if kind == "semicolon":
        path.write_bytes(csv_bytes(rows, "utf-8-sig", separator=";"))
    elif kind == "tab":
        path = path.with_suffix(".tsv")
        path.write_bytes(csv_bytes(rows, separator="\t"))
    elif kind == "utf-16":
        path.write_bytes(csv_bytes(rows, "utf-16", separator="\t"))
    elif kind == "xlsx":
        path = path.with_suffix(".xlsx")
        path.write_bytes(xlsx_bytes({"Sheet1": rows}))
    elif kind == "blank rows":
        rows = [row for both in rows for row in (both, [""] * len(both))]
        path.write_bytes(csv_bytes(rows))
    elif kind == "title":
        path.write_bytes(csv_bytes([["My course, spring"], [], *rows]))
    else:
        path = path.with_suffix(".zip")
        path.write_bytes(zip_bytes({file: csv_bytes(rows), "__MACOSX/._x.csv": b"\x00\x05"}))
    same_answers(path, example)


@pytest.mark.parametrize("name", ["canvas", "moodle-en", "google-form", "zipgrade-web", "mturk"])
def test_columns_added_at_the_end_do_no_harm(name, tmp_path):
    example = made(name)
    file, rows = table_of(example)
    if name != "canvas":  # its last three columns are its tail
        rows = [[*row, "Checked" if k == 0 else f"note {k}"] for k, row in enumerate(rows)]
    else:
        rows = [["" if k == 0 else str(k - 1), *row] for k, row in enumerate(rows)]  # a row index
    (tmp_path / file).write_bytes(csv_bytes(rows))
    same_answers(tmp_path / file, example)
