"""Files that are meant to break a reader, or happen to: one sentence, soon, in little memory."""

from __future__ import annotations

import gzip
import io
import random
import zipfile
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from factory import examples
from formats.quiz import ods_bytes, xlsx_bytes, zip_bytes
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import as_if_large, content

from hitsndiffs.data.labels import Place
from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses
from hitsndiffs.reading.layouts.choose import WIDEST, find_layout
from hitsndiffs.reading.layouts.scored import holds_points
from hitsndiffs.reading.options import ReadingOptions


def read(data: bytes, **options):
    return read_responses(io.BytesIO(data), **options)


def jsonl(*records: str) -> bytes:
    return "\n".join(records).encode()


# -- ragged rows -------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [None, 64, 1 << 20])
def test_a_cell_too_few_and_one_too_many_do_not_make_up_for_each_other(chunk):
    rows = "".join(f"w{k},t{k % 7},{'cat' if k % 3 else 'dog'}\n" for k in range(300))
    text = f"user,item,option\n{rows}wS,cat\nwT,t1,cat,12\n"
    with pytest.raises(InputError, match="line 302: 2 cells where the header has 3"):
        read(text.encode(), sizes=as_if_large(chunk))


@examples(60)
@given(st.integers(2, 5), st.integers(0, 40), st.integers(-1, 1), st.sampled_from([None, 64]))
def test_every_ragged_row_is_found_on_every_path(width, row, change, chunk):
    cells = [["user", *(f"q{k}" for k in range(1, width))]]
    cells += [[f"u{k}", *("AB"[(k + i) % 2] for i in range(1, width))] for k in range(41)]
    if change > 0:
        cells[row + 1].append("C")
    elif change < 0:
        cells[row + 1].pop()
    text = "\n".join(",".join(line) for line in cells) + "\n"
    sizes = as_if_large(chunk)
    if change == 0:
        assert read(text.encode(), sizes=sizes).n_users == 41
        return
    with pytest.raises(InputError, match=rf"line {row + 2}: "):
        read(text.encode(), sizes=sizes)


@pytest.mark.parametrize("chunk", [None, 64])
def test_separators_at_the_end_of_rows_shift_nothing(chunk):
    sizes = as_if_large(chunk)
    rows = [f"u{k:02},{'AB'[k % 2]},{'CDE'[k % 3]}" for k in range(40)]
    plain = content(read("\n".join(["user,q1,q2", *rows]).encode(), sizes=sizes))
    ended = [f"{row}," for row in rows]
    for header in ("user,q1,q2", "user,q1,q2,"):
        found = read("\n".join([header, *ended]).encode(), sizes=sizes)
        assert content(found) == plain
        assert any("Left out 'column-4'" in note for note in found.notes)
    # some rows only: which of the columns is too much cannot be told
    with pytest.raises(InputError, match="4 cells where the header has 3"):
        read("\n".join(["user,q1,q2", *rows[:20], *ended[20:]]).encode(), sizes=sizes)
    # R's row names: the header lacks the first name, and that is said
    named = read("\n".join(["q1,q2", *rows]).encode(), sizes=sizes)
    assert (content(named)[0], named.items.tolist()) == (plain[0], ["q1", "q2"])
    assert "The first column has no name in the header." in named.notes


# -- what files point to -----------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["ods", "xlsx"])
def test_no_outside_entity_is_read(ending, tmp_path):
    """An entity that names a file, and one that grows a billion times."""
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret of this machine")
    rows = [["student", "q1", "q2"], ["ada", "A", "MARK"], ["bob", "B", "C"], ["cy", "A", "C"]]
    book = ods_bytes("Sheet", rows) if ending == "ods" else xlsx_bytes({"Sheet": rows})
    inside = "content.xml" if ending == "ods" else "xl/sharedStrings.xml"
    bomb = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
    for word, kinds in (
        ("&x;", f'<!ENTITY x SYSTEM "file://{secret}">'),
        ("&e9;", f'<!ENTITY e0 "entity">{bomb}'),
    ):
        out = io.BytesIO()
        with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(out, "w") as new:
            for name in old.namelist():
                data = old.read(name)
                if name == inside:
                    assert b"MARK" in data
                    head, _, body = data.partition(b"?>")
                    kind = f"?><!DOCTYPE any [{kinds}]>".encode()
                    data = head + kind + body.replace(b"MARK", word.encode())
                new.writestr(name, data)
        try:
            labels = " ".join(map(str, read(out.getvalue()).option_labels))
        except InputError as error:
            labels = str(error)
        assert "secret of" not in labels
        assert len(labels) < 1000


@pytest.mark.parametrize("name", ["../../escape.csv", "/escape.csv", "..\\escape.csv"])
def test_no_path_in_an_archive_is_followed(name, tmp_path, monkeypatch):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    data = zip_bytes({name: b"user,q1\na,A\nb,B\nc,A\n"})
    assert read(data).n_users == 3
    assert [path.name for path in tmp_path.rglob("*")] == ["a", "b"]
    assert not Path("/escape.csv").exists()


# -- JSON --------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunk", [None, 40])
def test_one_rule_for_booleans_and_numbers(chunk):
    sizes = as_if_large(chunk)
    values = ["true", '"True"', "false", "1", "1.0", '"1"', "1e0"]
    records = [
        f'{{"user": "u{k}", "q": {v}, "p": "{"yz"[k % 2]}", "p": "{"yz"[k % 2]}"}}'
        for k, v in enumerate(values)
    ]
    r = read(jsonl(*records), sizes=sizes)
    assert r.option_labels.tolist() == ["1", "False", "True", "y", "z"]
    array = read(("[" + ",".join(records) + "]").encode(), sizes=sizes)
    assert content(array) == content(r)


@pytest.mark.parametrize("chunk", [None, 40])
@pytest.mark.parametrize("array", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_a_name_that_a_record_repeats_is_told(chunk, array, inside):
    records = [f'{{"user": "u{k}", "q1": "{"AB"[k % 2]}", "q2": "A"}}' for k in range(9)]
    records[6] = '{"user": "u6", "q1" : "A", "q1": "B", "q2": "A"}'
    if inside:
        records[6] = '{"user": "u6", "q2": "A", "about": {"q1": "A", "q1": "B"}}'
    data = f"[{','.join(records)}]".encode() if array else jsonl(*records)
    with pytest.raises(InputError, match=r"a record has the name 'q1' twice, with different"):
        read(data, sizes=as_if_large(chunk))


def test_integers_of_thirty_digits_and_halves_of_characters():
    r = read(jsonl(*(f'{{"user": "u{k}", "q": {"1" * 30 if k % 2 else 7}}}' for k in range(6))))
    assert r.option_labels.tolist() == ["7", "1" * 30]
    r = read(jsonl(*(f'{{"user": "u{k}", "q": "\\ud800{k % 2}"}}' for k in range(6))))
    assert r.n_options == 2


@pytest.mark.parametrize(
    "data",
    [
        b"[" * 900 + b"]" * 900,
        b"[" * 100_000,
        b'{"a":' * 900 + b"1" + b"}" * 900,
        jsonl('{"user": "a", "q": 1}', '{"user": "b", "q": ' + "[" * 900 + "]" * 900 + "}"),
    ],
)
def test_json_that_is_nested_deep_is_refused_at_once(data):
    with pytest.raises(InputError, match=r"nested more than 200 levels|not valid JSON"):
        read(data)


# -- sizes -------------------------------------------------------------------------------------


def test_cells_of_thousands_of_digits_are_labels():
    rows = b"".join(b"u%d,%s,A\n" % (k, (b"1" if k % 2 else b"-2x") * 32_000) for k in range(6))
    r = read(b"user,q1,q2\n" + rows, items=["q*"])
    assert r.n_options == 3


def test_packed_bombs_are_bounded():
    with pytest.raises(InputError, match=r"larger than the memory limit allows \(1 MiB\)"):
        read(gzip.compress(b"[" + b"[]," * (1 << 20) + b"[]]"), max_memory="4MB")
    with pytest.raises(InputError, match="the line goes on for more than"):
        read(gzip.compress(b"user,q1\n" + b"A" * (70 << 20), 1))


def test_too_many_columns_are_refused():
    table = SimpleNamespace(names=["q"] * (WIDEST + 1), place=Place("a.csv"))
    with pytest.raises(InputError, match="columns, and more than 250,000 are not read"):
        find_layout(table, ReadingOptions())


def test_messages_do_not_repeat_names_of_seventy_thousand_letters():
    name = "n" * 70_000
    cases = [f"user,q\n{name},1\n{name},2\n", f"user,{name}\na,1\na,2\n", f"user,q\na,{name}\n"]
    for text in cases:
        with pytest.raises(InputError) as caught:
            read(text.encode())
        assert len(str(caught.value)) < 600


# -- Parquet -----------------------------------------------------------------------------------


def parquet(seed: int = 0) -> bytes:
    rng = random.Random(seed)
    out = io.BytesIO()
    columns = {f"q{i}": [rng.choice("ABC") for _ in range(60)] for i in range(4)}
    pl.DataFrame({"user": [f"u{k}" for k in range(60)], **columns}).write_parquet(out)
    return out.getvalue()


def test_damaged_parquet_files_get_one_sentence_and_no_panic(capfd):
    good = parquet()
    rng = random.Random(5)
    refused = []
    for _ in range(60):
        data = bytearray(good)
        for _ in range(2):
            data[rng.randrange(4, len(data) - 4)] = rng.randrange(256)
        try:
            read(bytes(data))
        except InputError as error:
            refused.append(str(error))
    assert len(refused) > 10
    assert not any("\n" in sentence for sentence in refused)
    assert "panicked" not in capfd.readouterr().err


def test_columns_of_lists_do_not_shift_the_others():
    frame = pl.DataFrame(
        {
            "tags": [[1], [2], [3], [4]],
            "student": ["a", "b", "c", "d"],
            "q1": ["A", "B", "A", "B"],
            "q2": ["B", "B", "A", "A"],
        }
    )
    out = io.BytesIO()
    frame.write_parquet(out)
    r = read(out.getvalue())
    assert (r.users.tolist(), r.items.tolist()) == (["a", "b", "c", "d"], ["q1", "q2"])


@examples(80)
@given(st.binary(max_size=300))
def test_any_bytes_get_a_reading_or_a_sentence(data):
    sentence = "."
    try:
        read(data)
    except InputError as error:
        sentence = str(error)
    assert sentence.endswith(".")


@pytest.mark.parametrize("word", ["NaN", "inf", "-Infinity"])
def test_words_that_python_takes_for_numbers_are_no_points(word):
    points = [str(k % 9) for k in range(12)]
    total = [str(2 * (k % 9)) for k in range(12)]
    assert not holds_points([points, [word, *points[1:]]], [total])


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xef\xbb\xbf", b"\xfe\xff", b"\xef\xbb\xbf\n"])
def test_a_file_of_a_mark_alone_is_refused(mark):
    with pytest.raises(InputError, match=r"a\.csv|the file object"):
        read_responses(io.BytesIO(mark))
