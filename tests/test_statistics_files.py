"""Files of SPSS, Stata and SAS: labels become options and wordings, missing stays missing."""

from __future__ import annotations

import random
import sys

import pytest
from reading_helpers import answers

import hitsndiffs as hnd
from hitsndiffs.errors import InputError

pl = pytest.importorskip("polars")
pyreadstat = pytest.importorskip("pyreadstat")

RNG = random.Random(4)
OPTIONS = {1: "Paris", 2: "Rome", 3: "Oslo"}
USERS = [f"s{k:02}" for k in range(12)]
ITEMS = ["q1", "q2", "q3", "q4"]
CODES = {item: [RNG.choice([1, 1, 2, 3, None]) for _ in USERS] for item in ITEMS}
FRAME = pl.DataFrame(
    {"student": USERS, **{item: pl.Series(own, dtype=pl.Float64) for item, own in CODES.items()}}
)
WORDING = {"student": "Name", **{item: f"Question {item[1:]}: which town?" for item in ITEMS}}
LABELS = dict.fromkeys(ITEMS, OPTIONS)


def expected(options):
    return {
        (user, item): options[code]
        for item, own in CODES.items()
        for user, code in zip(USERS, own, strict=True)
        if code is not None
    }


WRITERS = {
    "sav": lambda path: pyreadstat.write_sav(
        FRAME, path, variable_value_labels=LABELS, column_labels=WORDING
    ),
    "zsav": lambda path: pyreadstat.write_sav(
        FRAME, path, compress=True, variable_value_labels=LABELS, column_labels=WORDING
    ),
    "dta": lambda path: pyreadstat.write_dta(
        FRAME, path, variable_value_labels=LABELS, column_labels=WORDING
    ),
    "old.dta": lambda path: pyreadstat.write_dta(
        FRAME, path, version=8, variable_value_labels=LABELS, column_labels=WORDING
    ),
    "por": lambda path: pyreadstat.write_por(FRAME, path, column_labels=WORDING),
    "xpt": lambda path: pyreadstat.write_xport(FRAME, path, column_labels=WORDING),
}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("named", [True, False], ids=["by its ending", "under another name"])
def test_statistics_files_are_read(tmp_path, kind, named):
    path = tmp_path / (f"answers.{kind}" if named else "answers.dat")
    WRITERS[kind](str(path))
    r = hnd.read_responses(path)
    has_labels = kind in ("sav", "zsav", "dta", "old.dta")
    options = OPTIONS if has_labels else {code: str(code) for code in OPTIONS}
    found = {(user, item.lower()): option for (user, item), option in answers(r).items()}
    assert found == expected(options)  # portable files have names in capitals
    if kind != "por":
        assert r.titles["q1"].startswith("Question 1: which town?")
    assert any("labels of the values" in note for note in r.notes) == has_labels


def test_values_declared_missing_are_no_answers(tmp_path):
    path = tmp_path / "missing.sav"
    frame = FRAME.with_columns(pl.col("q1").fill_null(9.0))
    pyreadstat.write_sav(frame, str(path), missing_ranges={"q1": [9]})
    assert answers(hnd.read_responses(path)) == expected({c: str(c) for c in OPTIONS})


@pytest.mark.parametrize("kind", WRITERS)
def test_damaged_statistics_files_are_refused(tmp_path, kind):
    path = tmp_path / f"answers.{kind}"
    WRITERS[kind](str(path))
    data = path.read_bytes()
    for cut in (len(data) // 3, len(data) // 2):
        path.write_bytes(data[:cut])
        try:
            n_answers = hnd.read_responses(path).n_responses
        except InputError as error:
            assert path.name in str(error)  # noqa: PT017
        else:
            assert n_answers < len(expected(OPTIONS))


def test_without_the_extra_one_sentence_names_the_command(tmp_path, monkeypatch):
    path = tmp_path / "answers.sav"
    WRITERS["sav"](str(path))
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(
        hnd.InputError, match=r"a file of SPSS; .* pip install 'hitsndiffs\[stats\]'"
    ):
        hnd.read_responses(path)
