"""Exports as people change them, and damaged ones: read as they were, or refused, never otherwise.

The changes are made to the fixtures of all formats: columns that are renamed (a newer version,
another language), moved or missing, tables that were saved again by another program, members that
are added to records or left out, and damage of any kind.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections import Counter
from contextlib import suppress

import pytest
from factory import examples
from formats.cases import CASES, made
from formats.quiz import Made, csv_bytes, xlsx_bytes, zip_bytes
from formats.table import found, wanted
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from test_formats import written

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports import FORMATS
from hitsndiffs.reading.exports.base import Choices
from hitsndiffs.reading.files.documents import Settings, open_document


def rows_of(data: bytes) -> tuple[list[list[str]], str]:
    """The rows of delimited text, and the separator."""
    text = data.decode("utf-8-sig")
    separator = max(",;\t", key=text.partition("\n")[0].count)
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    return [row + [""] * (len(rows[0]) - len(row)) for row in rows], separator


def is_table(name: str) -> bool:
    files = made(name).files
    return all(n.endswith((".csv", ".tsv")) and b"\0" not in d[:100] for n, d in files.items())


def is_json(name: str) -> bool:
    return all(n.endswith((".json", ".jsonl", ".ndjson")) for n in made(name).files)


READ = [name for name in CASES if made(name).refused is None]
TABLES = [n for n in READ if is_table(n) and len(made(n).files) == 1 and "semicolon" not in n]
#: One language and one layout of a format are enough here.
FEW = [
    n
    for n in TABLES
    if not n.startswith(("moodle-", "canvas-")) or n in ("moodle-xx", "canvas-new")
]
#: Where the members of the outermost object are the answers, none of them may be missing.
BY_ID = ("answers-by-id", "opencompass", "predictions-by-id")
JSON = [name for name in READ if is_json(name) and not name.startswith(BY_ID)]


def content(files: dict[str, bytes], folder):
    """What is read; None if it is refused or asked."""
    with suppress(InputError):
        return found(hnd.plan(written(Made(files), folder)).read())
    return None


def splits(own) -> Counter[tuple[int, ...]]:
    """How many chose each option of an item, whatever users, items and options are called."""
    chosen = Counter((item, answer) for (_, item), answer in own.answers.items())
    return Counter(
        tuple(sorted(n for (name, _), n in chosen.items() if name == item)) for item in own.items
    )


def is_right(own, before) -> bool:
    """Whether the answers are those of before, under any names, or those to some of the items."""
    return own is None or (len(own.users) == len(before.users) and splits(own) <= splits(before))


OPTIONS = ("Answer.animal.cat", "Answer.animal.dog", "Answer.animal.bird")
#: What only this column can tell: without it, the rest is an honest table that says something else.
TELLING = {
    "moodle-xx": ("Grod/10.00",),  # of an unknown language: then it is any table
    "google-sheet": ("Adresse e-mail", "Note"),
    "google-key": ("Your name",),
    "google-key-name": ("Your name",),
    "qualtrics": ("Status", "Q7_1", "Q7_2", "Q7_3"),
    "qualtrics-2016": ("Status", "Q7_1", "Q7_2", "Q7_3"),
    "surveymonkey": ("What do you own?", "", "How is it?"),
    "surveymonkey-de": ("Collector-ID",),
    "surveymonkey-one-row": ("Gender", "Age", "Household Income"),
    "surveymonkey-ticks": ("", "Which films have you seen?"),
    "limesurvey": ("TOOLS[SQ001]", "TOOLS[SQ002]"),
    "limesurvey-words": ("What do you use?[Pen]", "What do you use?[Chalk]"),
    "question-blocks-key": ("Name",),
    "blackboard-long": ("Answer", "Auto Score"),
    "mturk": ("HITId", "AssignmentId", "Answer.animal.label", "Input.image_url"),
    "mturk-options": ("HITId", "AssignmentId", "Input.image_url", *OPTIONS),
    "mturk-json": ("HITId", "AssignmentId", "Answer.taskAnswers", "Input.image_url"),
    "figure-eight": ("_unit_id", "_worker_id"),
    "prodigy": ("_annotator_id", "answer", "_input_hash"),
    "prodigy-choice": ("_annotator_id", "answer", "_input_hash"),
    "mt-bench": ("question_id", "model_a", "model_b", "winner"),
    "lm-eval-mutual": ("metrics",),
    "lm-eval-generated": ("doc", "target"),
    "helm": ("id", "references"),
    "mmlu-pro": ("question_id", "options", "answer"),
    "evalscope": ("sample_score",),
}


@pytest.mark.parametrize("name", FEW)
@pytest.mark.parametrize("change", ["missing", "renamed", "moved"])
def test_a_column_that_is_missing_renamed_or_moved_changes_no_answer(name, change, tmp_path):
    case = made(name)
    (file, data), before = next(iter(case.files.items())), wanted(case)
    rows, separator = rows_of(data)
    for k in range(0, len(rows[0]), max(1, len(rows[0]) // 8)):
        if rows[0][k] in TELLING.get(name, ()):
            continue
        own = [[*row[:k], *row[k + 1 :]] for row in rows]
        if change == "renamed":
            own = [[*rows[0][:k], "Something new", *rows[0][k + 1 :]], *rows[1:]]
        elif change == "moved":
            own = [[*row, cell] for row, cell in zip(own, (row[k] for row in rows), strict=True)]
        after = content({file: csv_bytes(own, separator=separator)}, tmp_path)
        assert is_right(after, before), rows[0][k]


@pytest.mark.parametrize("name", FEW)
def test_rows_may_stand_in_any_order_and_columns_may_be_added(name, tmp_path):
    case = made(name)
    (file, data), before = next(iter(case.files.items())), wanted(case)
    (header, *rows), separator = rows_of(data)
    told = [["" if k == 0 else str(k - 1), *row] for k, row in enumerate([header, *rows])]
    noted = [[*row, "my note" if k == 0 else ""] for k, row in enumerate([header, *rows])]
    for own in (told, noted):
        after = content({file: csv_bytes(own, separator=separator)}, tmp_path)
        assert after is not None
        assert after == before


#: Tables whose rows stand in a meaningful order (headers below headers, tries, people above).
SAVED = [n for n in FEW if n not in ("moodle-xx", "surveymonkey-ticks", "brightspace-survey")]
WAYS = ["semicolon", "tab", "utf-16", "xlsx", "blank rows", "title", "zip"]


def saved(way: str, file: str, rows: list[list[str]]) -> dict[str, bytes]:
    stem = file.rpartition(".")[0]
    if way == "semicolon":
        return {f"{stem}.csv": csv_bytes(rows, "utf-8-sig", separator=";")}
    if way == "tab":
        return {f"{stem}.tsv": csv_bytes(rows, separator="\t")}
    if way == "utf-16":
        return {f"{stem}.csv": csv_bytes(rows, "utf-16", separator="\t")}
    if way == "xlsx":
        return {f"{stem}.xlsx": xlsx_bytes({"Sheet1": rows})}
    if way == "blank rows":
        rows = [row for both in rows for row in (both, [""] * len(both))]
        return {f"{stem}.csv": csv_bytes(rows)}
    if way == "title":
        return {f"{stem}.csv": csv_bytes([["My course, spring"], [], *rows])}
    return {f"{stem}.zip": zip_bytes({file: csv_bytes(rows), "__MACOSX/._x.csv": b"\x00\x05"})}


@pytest.mark.parametrize("name", SAVED)
def test_a_file_saved_again_is_the_same(name, tmp_path):
    case = made(name)
    file, data = next(iter(case.files.items()))
    for way in random.Random(name).sample(WAYS, 3):
        files = saved(way, file, rows_of(data)[0])
        assert content(files, tmp_path / way) == wanted(case), way


# -- records --------------------------------------------------------------------------------------


def changed_records(data: bytes, change) -> bytes:
    """Apply a change to each record of JSON, one value or one per line."""
    text = data.decode()
    try:
        value = json.loads(text)
    except ValueError:
        lines = [json.dumps(change(json.loads(line))) for line in text.splitlines()]
        return "".join(f"{line}\n" for line in lines).encode()
    many = isinstance(value, list)
    return json.dumps([change(own) for own in value] if many else change(value)).encode()


@pytest.mark.parametrize("name", JSON)
def test_members_may_be_added_and_stand_in_any_order(name, tmp_path):
    case = made(name)

    def change(record):
        if not isinstance(record, dict):
            return record
        return {"tool_version": "9.1", **dict(reversed(record.items())), "extra": {"a": [1]}}

    files = {n: changed_records(data, change) for n, data in case.files.items()}
    assert content(files, tmp_path) == wanted(case)


@pytest.mark.parametrize("name", JSON)
def test_a_member_that_is_missing_changes_no_answer(name, tmp_path):
    case, before = made(name), wanted(made(name))
    names: dict[str, None] = {}

    def look(record):
        names.update(dict.fromkeys(record if isinstance(record, dict) else ()))
        return record

    for data in case.files.values():
        changed_records(data, look)
    for member in [n for n in list(names)[:12] if n not in TELLING.get(name, ())]:

        def without(own, member=member):
            return {k: v for k, v in own.items() if k != member} if isinstance(own, dict) else own

        files = {n: changed_records(data, without) for n, data in case.files.items()}
        assert is_right(content(files, tmp_path / "changed"), before), member


# -- damage ---------------------------------------------------------------------------------------

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
    "Ä\u0000",
    "A,B;C",
)
VALUES = [None, True, 0, -1.5, "", "x", [], {}, [None], [[]], {"": None}, [{"id": None}], "[[1,"]
#: One example per format is enough here.
FIRST = {format: name for name, (format, _) in reversed(CASES.items())}


def damaged_table(data: bytes, rng: random.Random) -> bytes:
    """Change cells, rows and columns of a delimited text."""
    rows, separator = rows_of(data)
    for _ in range(rng.randint(1, 5)):
        row = rng.randrange(len(rows))
        place = rng.randrange(len(rows[row])) if rows[row] else 0
        what = rng.randrange(6)
        if what == 0 and rows[row]:
            rows[row][place] = rng.choice(STRANGE)
        elif what == 1 and len(rows) > 1:
            del rows[row]
        elif what == 2:
            rows[row] = rows[row][:place]
        elif what == 3:
            rows = [[*r[:place], rng.choice(STRANGE), *r[place:]] for r in rows]
        elif what == 4:
            rows.insert(row, list(rows[rng.randrange(len(rows))]))
        else:
            rng.shuffle(rows[row])
    return csv_bytes(rows, separator=separator)


def damaged_value(value, rng: random.Random, depth: int = 0):
    """Replace something within a JSON value."""
    if depth > 6 or not isinstance(value, (list, dict)) or not value or rng.random() < 0.15:
        return rng.choice(VALUES)
    if isinstance(value, list):
        place = rng.randrange(len(value))
        return [*value[:place], damaged_value(value[place], rng, depth + 1), *value[place + 1 :]]
    name = rng.choice(list(value))
    if rng.random() < 0.2:
        return {key: own for key, own in value.items() if key != name}
    return value | {name: damaged_value(value[name], rng, depth + 1)}


def damaged(name: str, data: bytes, rng: random.Random) -> bytes:
    """Change a file by what it is; bytes that are no text are left."""
    if name.endswith((".json", ".jsonl", ".ndjson")):
        return changed_records(
            data, lambda own: damaged_value(own, rng) if rng.random() < 0.5 else own
        )
    with suppress(UnicodeDecodeError, csv.Error):
        if name.endswith((".csv", ".tsv")):
            return damaged_table(data, rng)
    return data


@settings(examples(30, usual=5), suppress_health_check=list(HealthCheck))
@pytest.mark.parametrize("name", FIRST.values())
@given(seed=st.integers(0, 2**32))
@example(seed=1)
def test_a_damaged_file_is_read_or_refused(name, seed, tmp_path_factory):
    rng, case = random.Random(seed), made(name)
    for file in rng.sample(list(case.files), min(2, len(case.files))):
        case.files[file] = damaged(file, case.files[file], rng)
    content(case.files, tmp_path_factory.mktemp("damaged"))


@pytest.mark.parametrize("name", FIRST.values())
def test_a_format_forced_on_another_file_is_read_or_refused(name, tmp_path):
    written(made(name), tmp_path)
    (tmp_path / "nothing.csv").write_bytes(b'""')
    files = [file for file in sorted(tmp_path.rglob("*")) if file.is_file()][:3]
    for document in [open_document(file, Settings()) for file in files]:
        for format in FORMATS:
            with suppress(InputError):
                assert format.convert(document, Choices()).entries


@pytest.mark.parametrize("name", FIRST.values())
def test_a_file_without_rows_is_read_or_refused(name, tmp_path):
    case = made(name)
    for file, data in case.files.items():
        if file.endswith((".csv", ".tsv")):
            case.files[file] = data.partition(b"\n")[0] + b"\n"
        elif file.endswith(".json"):
            case.files[file] = b"[]" if data.lstrip().startswith(b"[") else b"{}"
    content(case.files, tmp_path)


@pytest.mark.parametrize("declared", ["UTF-16", "no-such-encoding"])
def test_what_xml_says_of_its_encoding_does_no_harm(declared, tmp_path):
    """The text is decoded before XML is read: what its first line says of bytes is past."""
    case = made("qti")
    files = {n: data.replace(b"UTF-8", declared.encode()) for n, data in case.files.items()}
    assert content(files, tmp_path) == wanted(case)
