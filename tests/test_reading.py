"""Files to responses: formats, layouts, headers, and the same data by every road."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from factory import examples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from reading_helpers import WIDE, answers, as_if_large, as_parquet, content

from hitsndiffs.data.labels import label_array
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses
from hitsndiffs.reading.sizes import Sizes

WIDE_ANSWERS = {
    ("ann", "q1"): "A",
    ("ann", "q2"): "1",
    ("ann", "q3"): "x",
    ("bob", "q1"): "B",
    ("bob", "q2"): "2",
    ("cat", "q1"): "A",
    ("cat", "q3"): "y",
}
LONG = "worker,task,label\n" + "".join(f"{u},{i},{o}\n" for (u, i), o in WIDE_ANSWERS.items())


@pytest.fixture(params=["at once", "in pieces"])
def road(request):
    """Small files go through the csv module, large ones through Polars in pieces."""
    return as_if_large(40 if request.param == "in pieces" else None)


def read(text: str | bytes, **arguments) -> Responses:
    data = text.encode() if isinstance(text, str) else text
    return read_responses(io.BytesIO(data), **arguments)


# -- formats ----------------------------------------------------------------------------------


def as_jsonl(text: str) -> bytes:
    rows = list(csv.DictReader(io.StringIO(text)))
    return "\n".join(json.dumps({k: v or None for k, v in row.items()}) for row in rows).encode()


def as_nested(text: str) -> bytes:
    lines = []
    for row in csv.DictReader(io.StringIO(text)):
        user = row.pop("student")
        chosen = {item: option for item, option in row.items() if option}
        lines.append(json.dumps({"subject_id": user, "responses": chosen}))
    return "\n".join(lines).encode()


FORMATS = {
    "csv": lambda text: text.encode(),
    "tsv": lambda text: text.replace(",", "\t").encode(),
    "semicolons": lambda text: text.replace(",", ";").encode(),
    "gzip": lambda text: gzip.compress(text.encode()),
    "parquet": as_parquet,
    "jsonl": as_jsonl,
    "jsonl gzip": lambda text: gzip.compress(as_jsonl(text)),
    "json": lambda text: b"[" + as_jsonl(text).replace(b"\n", b",") + b"]",
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "windows": lambda text: text.replace("\n", "\r\n").encode(),
    "old mac": lambda text: text.replace("\n", "\r").encode(),
    "blank lines": lambda text: ("\n \n" + text.replace("\n", "\n\r\n") + "\n\n").encode(),
    "spaces": lambda text: text.replace(",", " , ").encode(),
    "quotes": lambda text: ('"' + text.strip().replace(",", '","').replace("\n", '"\n"') + '"')
    .encode(),
    "no last line end": lambda text: text.rstrip().encode(),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_wide_files_of_every_format(name, road):
    r = read(FORMATS[name](WIDE), sizes=road)
    assert r.users.tolist() == ["ann", "bob", "cat"]
    assert r.items.tolist() == ["q1", "q2", "q3"]
    assert answers(r) == WIDE_ANSWERS
    assert r.kind == "file"
    assert "Recognised 'student' as the user column." in r.notes


@pytest.mark.parametrize("name", FORMATS)
def test_long_files_of_every_format(name, road):
    r = read(FORMATS[name](LONG), sizes=road)
    assert r.users.tolist() == ["ann", "bob", "cat"]
    assert answers(r) == WIDE_ANSWERS
    assert (
        "Took 'worker' as the user, 'task' as the item and 'label' as the option column." in r.notes
    )


def test_records_with_nested_responses(road):
    r = read(as_nested(WIDE), sizes=road)
    assert answers(r) == WIDE_ANSWERS
    assert r.notes == ("Recognised 'subject_id' as the user column.",)


def test_records_of_mixed_types_and_new_items(road):
    lines = [
        '{"model": "a", "answers": {"q1": 1, "q2": "x"}}',
        "",
        '{"model": "b", "answers": {"q1": "1.0", "q2": 2.0, "q3": true}}',
        '{"model": "c", "answers": {"q9": NaN, "q1": null}}',
    ]
    r = read("\n".join(lines), sizes=road)
    assert r.users.tolist() == ["a", "b", "c"]
    assert r.items.tolist() == ["q1", "q2", "q3"]
    assert {str(v).lower() for v in answers(r).values()} == {"1", "x", "2", "true"}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".jsonl", ".csv.gz", ".dat", ""])
def test_the_format_is_found_from_name_and_content(tmp_path, suffix):
    make = {".tsv": "tsv", ".parquet": "parquet", ".jsonl": "jsonl", ".csv.gz": "gzip"}
    path = tmp_path / f"answers{suffix}"
    path.write_bytes(FORMATS[make.get(suffix, "csv")](WIDE))
    assert answers(read_responses(path)) == WIDE_ANSWERS
    assert answers(read_responses(str(path))) == WIDE_ANSWERS


def test_content_that_cannot_be_mistaken_outweighs_the_name(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_bytes(as_parquet(WIDE))
    assert answers(read_responses(path)) == WIDE_ANSWERS


def test_text_files_and_standard_input(monkeypatch):
    assert answers(read_responses(io.StringIO(WIDE))) == WIDE_ANSWERS
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WIDE.encode())))
    assert answers(read_responses("-")) == WIDE_ANSWERS


def test_the_separator_is_noted_when_it_is_not_the_expected_one():
    assert "The cells are separated by semicolons." in read(FORMATS["semicolons"](WIDE)).notes


def test_small_files_do_not_wait_for_polars(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text(WIDE)
    code = (
        "import sys; from hitsndiffs.reading import read_responses; "
        "read_responses(sys.argv[1]); sys.exit('polars' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)], check=False).returncode == 0


# -- labels -----------------------------------------------------------------------------------


def test_options_of_files_are_text_and_compared_after_trimming(road):
    text = "user,n,t\na,1,b\nb, 1.0 ,\tb\nc,10, B\nd,9,b \ne,-1,NA\nf,,\n"
    r = read(text, sizes=road)
    assert r.option_labels.tolist() == ["1", "9", "10", "b"]
    assert r.answers_per_user.tolist() == [2, 2, 2, 2, 0, 0]
    assert "Taken as no answer: -1, NA." in r.notes
    assert "Taken as the same answer: 'B' = 'b'." in r.notes


def test_leading_zeros_are_kept(road):
    rows = "".join(f"{k:03d},{k % 2}{k % 3},{k % 3}\n" for k in range(12))
    r = read("user,bits,n\n" + rows, sizes=road)
    assert r.users.tolist()[:2] == ["000", "001"]
    assert r.option_labels.tolist() == ["00", "01", "02", "10", "11", "12", "0", "1", "2"]


def test_columns_that_change_their_looks_on_the_way(road):
    cells = ["1", "2"] * 10 + ["A", "1.0", "NA", "40000", "B"] + ["2"] * 10
    r = read("user,q\n" + "".join(f"u{k},{cell}\n" for k, cell in enumerate(cells)), sizes=road)
    expected = ["1" if cell == "1.0" else cell for cell in cells]
    found = [answers(r).get((f"u{k}", "q"), "NA") for k in range(len(cells))]
    assert found == expected


def test_quoted_cells_may_hold_separators_quotes_and_line_ends(road):
    text = 'user,q\n"Doe, Jane","a\nb"\n"O""Hara","c,d"\nX,"a\nb"\n'
    r = read(text, sizes=road)
    assert r.users.tolist() == ["Doe, Jane", 'O"Hara', "X"]
    assert r.option_labels.tolist() == ["a\nb", "c,d"]


def test_a_quotation_mark_inside_a_cell_is_a_character(road):
    r = read('user,q\na,5" disk\nb,3" disk\nc,5" disk\n', sizes=road)
    assert r.option_labels.tolist() == ['3" disk', '5" disk']


def test_numbers_in_parquet_are_texts_like_in_csv():
    frame = pl.DataFrame(
        {
            "user": [10, 20, 30],
            "ints": [1, 2, -9],
            "floats": [1.0, 2.5, None],
            "flags": [True, False, None],
            "dates": pl.Series(["2020-01-01", "2020-01-02", None]).str.to_date(),
            "large": [10**12, 10**12, 5],
            "kinds": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
        }
    )
    out = io.BytesIO()
    frame.write_parquet(out)
    r = read(out.getvalue(), layout="wide")
    assert r.users.tolist() == ["10", "20", "30"]
    assert r.option_labels.tolist() == [
        "1", "2", "1", "2.5", "False", "True", "5", "1000000000000", "x", "y",
    ]  # fmt: skip
    assert "Left out 'dates' (time)." in r.notes
    kept = read(out.getvalue(), items=["dates"])
    assert kept.option_labels.tolist() == ["2020-01-01", "2020-01-02"]


# -- layouts and headers ----------------------------------------------------------------------


def test_the_layout_can_be_told(road):
    assert answers(read(LONG, layout="long", sizes=road)) == WIDE_ANSWERS
    wide = read("user,item,option\na,1,2\nb,2,2\n", layout="wide", sizes=road)
    assert wide.items.tolist() == ["item", "option"]


def test_long_columns_can_be_told(road):
    text = "a;b;c;when\nA;ann;q1;1\nB;bob;q1;2\nB;ann;q2;3\n"
    r = read(text, user="b", item="c", option="a", sizes=road)
    assert answers(r) == {("ann", "q1"): "A", ("bob", "q1"): "B", ("ann", "q2"): "B"}
    assert "Left out the other columns: 'when'." in r.notes


def test_a_wide_table_is_not_long_only_because_of_its_names():
    text = "model,question,answer,q3\na,1,2,3\nb,2,1,3\nc,3,2,1\n"
    assert read(text).items.tolist() == ["question", "answer", "q3"]


def test_repeated_and_different_answers_in_long_files(road):
    text = "user,item,option\n" + "a,x,1\nb,x,1\na,x,1.0\n" + "b,y,2\na,x,3\n"
    r = read(text, duplicates="last", sizes=road)
    assert answers(r) == {("a", "x"): "3", ("b", "x"): "1", ("b", "y"): "2"}
    assert read(text, duplicates="first", sizes=road).option_labels.tolist() == ["1", "2"]


def test_files_without_a_header(road):
    text = "3,0,0,4\n0,0,2,2\n0,3,3,0\n"
    with pytest.raises(InputError, match="one row per user or one row per item"):
        read(text, sizes=road)
    assert read(text, transpose=True, sizes=road).n_users == 4
    r = read(text, layout="wide", sizes=road)
    assert r.users.tolist() == ["user-1", "user-2", "user-3"]
    assert r.items.tolist() == ["item-1", "item-2", "item-3", "item-4"]
    assert r.n_responses == 12
    assert "There is no header: the first row holds answers." in r.notes
    assert "There is no user column: the users are named user-1, user-2, …." in r.notes


def test_files_without_a_header_but_with_users(road):
    r = read("u17,A,B,B\nu18,B,B,A\nu19,A,A,B\n", sizes=road)
    assert r.users.tolist() == ["u17", "u18", "u19"]
    assert r.items.tolist() == ["item-1", "item-2", "item-3"]


@pytest.mark.parametrize("first", ["id,1,2,3", "1,2,3,4", ",q1,q2,q3", "101,102,103,104"])
def test_headers_that_look_like_data(first):
    r = read(first + "\nu1,1,2,1\nu2,2,1,1\nu3,1,1,2\n")
    assert r.users.tolist() == ["u1", "u2", "u3"]
    assert r.n_items == 3


def test_the_header_can_be_told():
    text = "1,2,1\n2,1,1\n1,1,2\n"
    assert read(text, header=False, layout="wide").n_users == 3
    told = read(text.replace("1,2,1", "1,2,3", 1), header=True)
    assert (told.n_users, told.items.tolist()) == (2, ["1", "2", "3"])


def test_long_files_without_a_header():
    r = read("u1,q1,A\nu2,q1,B\nu1,q2,A\n", layout="long", header=False)
    assert answers(r) == {("u1", "q1"): "A", ("u2", "q1"): "B", ("u1", "q2"): "A"}


def test_the_first_column_names_the_users_when_it_holds_ids():
    r = read("matric,q1,q2\n1001,3,1\n1002,3,2\n1003,1,2\n")
    assert r.users.tolist() == ["1001", "1002", "1003"]
    assert any("'matric'" in note for note in r.notes)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "index"])
def test_a_first_column_of_row_numbers_names_the_users(name, road):
    r = read(f"{name},q1,q2\n0,1,2\n1,2,2\n2,0,1\n", sizes=road)
    assert (r.users.tolist(), r.items.tolist()) == (["0", "1", "2"], ["q1", "q2"])
    assert "Took the first column, which has no name, as the user column." in r.notes


def test_row_names_without_a_name_in_the_header():
    r = read('"q1","q2"\n"ann",1,2\n"bob",2,2\n')
    assert r.users.tolist() == ["ann", "bob"]


@pytest.mark.parametrize("name", ["csv", "tsv", "parquet", "jsonl"])
def test_tables_can_be_turned_round(name, road):
    text = "item,ann,bob,cat\nq1,A,B,A\nq2,1,2,\nq3,x,,y\n"
    r = read(FORMATS[name](text), transpose=True, sizes=road)
    assert r.users.tolist() == ["ann", "bob", "cat"]
    assert answers(r) == WIDE_ANSWERS


def test_tables_without_names_can_be_turned_round():
    r = read("3,0,0,4\n0,0,2,2\n0,3,3,0\n", transpose=True)
    assert r.users.tolist() == ["user-1", "user-2", "user-3", "user-4"]
    assert r.items.tolist() == ["item-1", "item-2", "item-3"]
    assert r.option_labels.tolist() == ["0", "3", "4", "0", "2", "0", "3"]


def test_blank_columns_and_rows_are_left_out(road):
    r = read("user,q1,q2,\na,1,2,\nb,2,2,\n,,,\nc,1,1,\n", sizes=road)
    assert r.users.tolist() == ["a", "b", "c"]
    assert "Dropped 1 row with neither a user name nor an answer." in r.notes
    assert "Left out 'column-4' (unused)." in r.notes


def test_a_second_column_of_names_is_left_out_of_files():
    r = read("student_id,name,q\n7,ann,1\n8,bob,2\n9,cat,1\n")
    assert (r.users.tolist(), r.items.tolist()) == (["7", "8", "9"], ["q"])
    assert "Left out 'name', which also names the users." in r.notes


def test_very_many_labels_are_held_in_less_memory():
    names = ["user-1", "user-2", "user-3"]
    assert label_array(names).dtype == object
    assert label_array(names, many=2).dtype.kind == "U"
    assert label_array(names, many=2).tolist() == names
    assert label_array([*names, "x" * 40], many=2).dtype == object


# -- by every road ----------------------------------------------------------------------------

# what is full of control characters is no text
signs = st.characters(codec="utf-8", exclude_categories=["Cc", "Cn"])
labels = st.text(signs, min_size=1, max_size=6)
chosen = st.one_of(st.just(""), st.integers(0, 400).map(str), labels, st.sampled_from("ABC"))


@settings(examples(100, usual=40), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(chosen, chosen, chosen), min_size=2, max_size=30))
def test_pieces_and_memory_give_the_same_responses(rows):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["user", "x", "y", "z"])
    writer.writerows([f"u{k}", *row] for k, row in enumerate(rows))
    table = {"user": [f"u{k}" for k in range(len(rows))]}
    table |= dict(zip("xyz", map(list, zip(*rows, strict=True)), strict=True))
    outcomes = []
    asis = {"user": "user", "items": ["x", "y", "z"], "fold": False, "blanks": []}
    for chunk in (None, 16 << 20, 64):
        sizes = as_if_large(chunk)
        outcomes.append(_outcome(lambda: read(text.getvalue(), **asis, sizes=sizes)))  # noqa: B023
    outcomes.append(_outcome(lambda: Responses.from_wide(table)))
    assert outcomes == [outcomes[0]] * 4


def _outcome(make) -> object:
    try:
        r = make()
    except ValueError as error:
        return str(error).partition(": ")[2]
    return content(r)


def test_large_files_are_read_in_pieces(tmp_path):
    sizes = Sizes(chunk=1 << 18)
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, (20_000, 60))
    frame = pl.DataFrame(codes, schema=[f"q{k}" for k in range(60)], orient="row")
    frame = frame.with_columns(pl.col("q7").replace_strict([0, 1, 2, 3], ["A", "B", "C", None]))
    path = tmp_path / "large.csv"
    frame.write_csv(path)
    assert path.stat().st_size > sizes.small
    r = read_responses(path, sizes=sizes)
    assert r.users[[0, -1]].tolist() == ["user-1", "user-20000"]
    assert (r.codes[0] == codes[:, 0]).all()
    assert (r.codes[7] == np.where(codes[:, 7] == 3, 255, codes[:, 7])).all()
