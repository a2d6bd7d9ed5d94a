"""Broken files: one clear sentence with the file, the place, and what to do."""

from __future__ import annotations

import csv
import gzip
import io
import random

import polars as pl
import pytest
from factory import examples
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import WIDE, as_if_large, as_parquet

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_key, read_responses

ROWS = "user,q1,q2\n" + "".join(f"u{k},{k % 3},{k % 2}\n" for k in range(30))


def parquet(**columns) -> bytes:
    out = io.BytesIO()
    pl.DataFrame(columns).write_parquet(out)
    return out.getvalue()


def with_line(number: int, line: str) -> bytes:
    """Return the rows with another text in one line (counted from 1)."""
    lines = ROWS.splitlines()
    lines[number - 1] = line
    return ("\n".join(lines) + "\n").encode()


# name: (file name, content, arguments, what the message says)
BROKEN = {
    "empty": ("a.csv", b"", {}, "^a.csv: the file is empty"),
    "blank": ("a.csv", b"\n \n\n", {}, "^a.csv: the file holds nothing but blank lines"),
    "header only": ("a.csv", b"user,q1\n", {}, "^a.csv: there is a header and nothing below it"),
    "short row": (
        "a.csv",
        with_line(9, "u7,1"),
        {},
        r"^a.csv, line 9: 2 cells where the header has 3 \(nothing follows column 'q1'\); leave",
    ),
    "long row": (
        "a.csv",
        with_line(17, "u15,1,2,3"),
        {},
        r"^a.csv, line 17: 4 cells where the header has 3 \(there is more after column 'q2'\); put",
    ),
    "short and long row": (
        "a.csv",
        with_line(9, "u7,1\nu99,1,2,3"),
        {},
        "^a.csv, line 9: 2 cells",
    ),
    "short first row": ("a.csv", with_line(2, "u0"), {}, "^a.csv, line 2: 1 cell where"),
    "open quotation mark": (
        "a.csv",
        with_line(5, 'u3,"1,2'),
        {},
        "^a.csv, line 5: a quotation mark is opened and never closed; write",
    ),
    "quotation mark in a cell": (
        "a.csv",
        with_line(5, 'u3,"1"x,2'),
        {},
        "^a.csv, line 5: a quotation mark stands in the middle of a cell",
    ),
    "not UTF-8": (
        "a.csv",
        with_line(6, "u4,1,é").decode().encode("latin-1"),
        {"encoding": "utf-8"},
        r"^a.csv, line 6: the text is not utf-8; give another encoding",
    ),
    "zero bytes": ("a.csv", with_line(4, "u2,\0,1"), {}, "^a.csv, line 4: this is not text"),
    "Excel": ("a.xlsx", b"PK\x03\x04 and more", {}, "^a.xlsx: the spreadsheet cannot be read"),
    "cut gzip": (
        "a.csv.gz",
        gzip.compress(ROWS.encode())[:-20],
        {},
        "^a.csv.gz: the gzip data are damaged or cut short .*copy or pack the file again",
    ),
    "damaged gzip": (
        "a.csv.gz",
        gzip.compress(ROWS.encode())[:30] + b"\0" * 40,
        {},
        "^a.csv.gz: the gzip data are damaged",
    ),
    "empty gzip": ("a.csv.gz", gzip.compress(b""), {}, "^a.csv.gz: the packed file is empty"),
    "not Parquet": ("a.parquet", b"user,q1\n", {}, "^a.parquet: this is not a Parquet file"),
    "cut Parquet": (
        "a.parquet",
        as_parquet(WIDE)[:-30],
        {},
        "^a.parquet: the Parquet file is damaged or cut short .*copy or write it again",
    ),
    "hollow Parquet": (
        "a.parquet", b"PAR1" + bytes(50) + b"PAR1", {}, "^a.parquet: the Parquet file is damaged"
    ),
    "Parquet without rows": (
        "a.parquet", parquet(user=[], q=[]), {}, "^a.parquet: the file has 2 columns and no rows"
    ),
    "lists in Parquet": (
        "a.parquet", parquet(user=["a", "b"], q=[[1], [2]]), {}, "^a.parquet: column 'q' holds"
    ),
    "broken JSON line": (
        "a.jsonl",
        b'{"user": "a", "q": 1}\n\n{"user": "b", "q": }\n',
        {},
        "^a.jsonl, line 3, column 20: this is not valid JSON .*every line should be one record",
    ),
    "a list for a record": (
        "a.jsonl",
        b'{"user": "a", "q": 1}\n[1, 2]\n',
        {},
        "^a.jsonl, line 2: expected a record, got a list",
    ),
    "a list for an answer": (
        "a.jsonl",
        b'{"user": "a", "q": 1}\n{"user": "b", "q": [1, 2]}\n',
        {},
        "^a.jsonl, line 2, member 'q': expected a single value, got a list",
    ),
    "broken JSON": ("a.json", b'[{"user": "a"}', {}, "^a.json, line 1, .*: this is not valid"),
    "users twice": (
        "a.csv",
        with_line(20, "u3,1,1"),
        {},
        "^a.csv: the user 'u3' is named in lines 5 and 20 of column 'user'; .*merge the rows",
    ),
    "users twice in Parquet": (
        "a.parquet",
        parquet(user=["a", "b", "a"], q=[1, 2, 3]),
        {},
        "^a.parquet: the user 'a' is named in rows 1 and 3 of column 'user'",
    ),
    "users twice in JSON": (
        "a.jsonl",
        b'{"user": "a", "q": 1}\n\n{"user": "b", "q": 1}\n{"user": "a", "q": 2}\n',
        {},
        "^a.jsonl: the user 'a' is named in lines 1 and 4 of column 'user'",
    ),
    "nested answers without a user": (
        "a.jsonl",
        b'{"run": 1, "responses": {"q": 1}}\n',
        {},
        "^a.jsonl, record 1: the record holds 'responses' but nothing that names the user",
    ),
    "JSON that is no list": ("a.json", b"[] x", {}, "^a.json, line 1, column 4: this is not valid"),
    "empty list": ("a.json", b"[]", {}, "^a.json: there are no records"),
    "empty records": ("a.json", b"{}\n{}", {}, "^a.json: the records are empty"),
    "long with two columns": (
        "a.csv", b"u1,A\nu2,B\n", {"layout": "long", "header": False}, "^a.csv: a long table needs"
    ),
    "item without a name": (
        "a.csv", b"item,u1,u2\nx,1,2\n,1,2\n", {"transpose": True}, "^a.csv, line 3: the item has"
    ),
    "answers without a user": ("a.csv", with_line(8, ",1,2"), {}, "^a.csv, line 8: there are ans"),
    "no items": ("a.csv", b"user\na\nb\n", {}, "^a.csv: no item columns were found"),
    "one user": ("a.csv", b"user,q\na,1\n", {}, r"^a.csv: only one user was found \('a'\)"),
    "nothing answered": ("a.csv", b"user,q\na,\nb,NA\n", {}, "^a.csv: none of the 2 cells holds"),
    "unknown column": (
        "a.csv",
        ROWS.encode(),
        {"user": "usr"},
        r"^a.csv: there is no column 'usr' \(did you mean 'user'\?\), given as user; the columns",
    ),
    "long without options": (
        "a.csv",
        b"user,item,mark\na,x,1\nb,x,2\n",
        {"layout": "long"},
        "^a.csv: none of the columns 'user', 'item' and 'mark' is named like the option column",
    ),
    "two answers": (
        "a.csv",
        b"user,item,option\na,x,1\n\nb,x,2\na,x,3\n",
        {},
        "^a.csv, lines 2 and 5: the user 'a' answered the item 'x' with '1' and with '3'; keep",
    ),
    "answer without an item": (
        "a.csv",
        b"user,item,option\na,x,1\nb,,2\n",
        {},
        "^a.csv, line 3, column 'item': there is an answer but no item",
    ),
    "item rows twice": (
        "a.csv",
        b"item,u1,u2\nx,1,2\ny,1,2\nx,2,2\n",
        {"transpose": True},
        "^a.csv: the item 'x' is named in lines 2 and 4",
    ),
    "turned and long": ("a.csv", b"x", {"transpose": True, "layout": "long"}, "^Only a wide file"),
    "unknown format": ("a.csv", b"x", {"format": "xls"}, "^format must be one of csv, tsv,"),
    "unknown layout": ("a.csv", b"x", {"layout": "square"}, "^layout must be one of auto, wide,"),
    "long name": (
        "a.csv", b"user,q1," + b"x" * 9000 + b"\na,A,B,C,D\nb,B,A\n", {},
        "^a.csv, line 2: 5 cells where the header has 3 .there is more after column 'x{39}…'",
    ),
    "unknown header": ("a.csv", b"x", {"header": "no"}, "^header must be one of True, False"),
}  # fmt: skip


@pytest.fixture(params=["at once", "in pieces"])
def road(request):
    return as_if_large(64 if request.param == "in pieces" else None)


@pytest.mark.parametrize("case", BROKEN)
def test_broken_files(case, tmp_path, road):
    name, data, arguments, message = BROKEN[case]
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=message) as caught:
        read_responses(path, **arguments, sizes=road)
    text = str(caught.value)
    assert text.endswith(".")
    assert "\n" not in text
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_missing_files_and_folders(tmp_path):
    (tmp_path / "answers.csv").write_text(WIDE)
    with pytest.raises(InputError, match=r"no such file \(did you mean 'answers.csv'\?\)"):
        read_responses(tmp_path / "answrs.csv")
    assert read_responses(tmp_path).n_users == 3
    with pytest.raises(InputError, match=r"got int.*from_wide"):
        read_responses([1, 2])


# -- fuzzing ----------------------------------------------------------------------------------


def attempt(data: bytes, **arguments) -> None:
    """Read; anything but success or an InputError in one line is a defect."""
    message = ""
    try:
        read_responses(io.BytesIO(data), **arguments)
    except InputError as error:
        message = str(error)
    assert "\n" not in message


@examples(150)
@given(st.binary(max_size=300))
def test_random_bytes(data):
    attempt(data)


@examples(150)
@given(st.text(alphabet='ab01,;\t"\n\r -.{}[]:é\0', max_size=120), st.booleans())
def test_random_text(text, transpose):
    attempt(text.encode(), transpose=transpose)


@examples(300, usual=75)
@given(st.integers(0, 2**32), st.sampled_from(["csv", "long", "jsonl", "gzip"]))
def test_damaged_files(seed, kind):
    rng = random.Random(seed)
    data = bytearray(damageable(kind))
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(data))
        action = rng.randrange(3)
        if action == 0:
            data[place] = rng.choice(b'",\n\r;0A \xff\0{}')
        elif action == 1:
            del data[place : place + rng.randint(1, 5)]
        else:
            data[place:place] = rng.choice([b'"', b",", b"\n", b"\xc3", b"-1", b"{"])
    attempt(bytes(data), sizes=as_if_large(64 if rng.random() < 0.5 else None))


@examples(50)
@given(st.integers(1, 2000))
def test_cut_parquet(length):
    # Damage within a page is beyond us: Polars panics over it, and may even abort.
    data = as_parquet(ROWS)
    with pytest.raises(InputError, match=r"not a Parquet file|damaged or cut short"):
        read_responses(io.BytesIO(data[: -min(length, len(data) - 1)]), format="parquet")


def damageable(kind: str) -> bytes:
    if kind == "csv":
        return ROWS.encode()
    if kind == "gzip":
        return gzip.compress(ROWS.encode())
    rows = list(csv.DictReader(io.StringIO(ROWS)))
    if kind == "long":
        return b"user,item,option\n" + b"".join(
            f"{row['user']},{item},{row[item]}\n".encode() for row in rows for item in ("q1", "q2")
        )
    return "\n".join(str(row).replace("'", '"') for row in rows).encode()


# -- keys -------------------------------------------------------------------------------------


def responses():
    return read_responses(io.StringIO(WIDE))


@pytest.mark.parametrize(
    "text",
    [
        "item,answer\nq1,A\nq2,1\nq3,y\n",
        "Question_ID;Correct answer\nq1;A\nq2; 1.0\nq3;y\n",
        "\ufeffitem\tkey\tnote\r\nq1\tA\t\r\n\r\nq2\t1\t\r\nq3\ty\tx\r\n",
        '{"q1": "A", "q2": 1, "q3": "y"}',
        "A\n1\ny\n",
        "answer\nA\n1\ny\n",
        "q1,A\nq2,1\nq3,y\n",
    ],
)
def test_keys_of_every_form(text):
    expected = {"q1": "A", "q2": "1", "q3": "y"}
    assert read_key(io.BytesIO(text.encode()), responses()) == expected


def test_a_part_of_a_key_is_enough():
    text = "item,answer\nq3,y\nq1,\n"
    assert read_key(io.StringIO(text), responses()) == {"q3": "y"}
    assert read_key(io.StringIO(text)) == {"q3": "y"}
    told = read_key(io.StringIO("a,b\nq1,A\n"), responses(), item="a", answer="b")
    assert told == {"q1": "A"}


KEY_MISTAKES = {
    "unknown item": ("item,answer\nq1,A\nq22,B\n", r"names 'q22' \(did you mean 'q2'\?\).*no such"),
    "unknown items": ("item,answer\nx,A\ny,B\n", "names 'x' and 'y', and the responses have no"),
    "wrong count": ("A\nB\n", "has 2 answers and no item names, and the responses have 3 items"),
    "two answers": ("item,answer\nq1,A\nq1,B\n", "line 3: the item 'q1' has the answer 'B' here"),
    "no columns": ("a,b,c\nq1,A,B\n", "needs the columns item and answer; the columns are 'a'"),
    "short row": ("item,answer\nq1\n", "line 2: an item and an answer were expected; got 'q1'"),
    "no answers": ("item,answer\nq1,\n", "the key holds no answers"),
    "blank": ("\n\n", "nothing but blank lines"),
    "broken JSON": ('{"q1": ', "not valid JSON"),
    "nested JSON": ('{"q1": ["A"]}', r"item 'q1': one answer was expected; got \['A'\]"),
    "a name twice": ('{"q1": "A", "q1": "B"}', "a record has the name 'q1' twice"),
    "open quotation mark": ('item,answer\nq1,"A\n', "line 2: a quotation mark is opened and never"),
}


@pytest.mark.parametrize("case", KEY_MISTAKES)
def test_mistakes_in_keys(case):
    text, message = KEY_MISTAKES[case]
    with pytest.raises(InputError, match=message) as caught:
        read_key(io.StringIO(text), responses())
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_key_without_items_needs_the_responses():
    with pytest.raises(InputError, match="give the responses"):
        read_key(io.StringIO("A\nB\n"))
    with pytest.raises(InputError, match=r"none of the columns .* item column of a key.* the item"):
        read_key(io.StringIO("a,b\nq1,A\n"), answer="b")


def test_records_without_columns_that_are_to_be_turned_round() -> None:
    with pytest.raises(InputError, match="there are no columns"):
        read_responses(io.StringIO("[{}]{}"), transpose=True)
