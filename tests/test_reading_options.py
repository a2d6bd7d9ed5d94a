"""Every decision of the reader can be overruled, in Python and on the command line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import polars as pl
import pytest
from commands import Here

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_file, read_responses

TABLE = """Id,Group,q1,q2,q3,Age
s1,red,A,B,a,20
s2,blue,B,B,A,21
s3,red,A,C,-,20
s4,blue,A,C,b,22
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.fixture
def here(capsys: pytest.CaptureFixture[str]) -> Here:
    return Here(capsys)


def items(here: Here, *arguments: object) -> list[str]:
    """Read with a command, and return the items and options that it found."""
    done = here("check", *arguments, "--json")
    assert done.code == 0, done.err
    plan = json.loads(done.out)["plan"]
    return [column["name"] for column in plan["columns"] if column["role"] == "item"]


def test_what_is_found_out_when_nothing_is_said(table, here):
    r = read_responses(table)
    assert (r.users.tolist(), r.items.tolist()) == (["s1", "s2", "s3", "s4"], ["q1", "q2", "q3"])
    assert items(here, table) == ["q1", "q2", "q3"]


def test_items_and_drop(table, here):
    assert read_responses(table, items=["q*", "Group"]).items.tolist() == [
        "Group",
        "q1",
        "q2",
        "q3",
    ]
    assert read_responses(table, items="q[12]").items.tolist() == ["q1", "q2"]
    assert read_responses(table, drop=["q2"]).items.tolist() == ["q1", "q3"]
    assert items(here, table, "--items", "q1", "--items", "Group") == ["Group", "q1"]
    assert items(here, table, "--drop", "q1") == ["q2", "q3"]
    with pytest.raises(InputError, match=r"no column fits 'x\*', given as items;"):
        read_responses(table, items=["x*"])
    assert "given as drop;" in here("rank", table, "--drop", "nothing").err


def test_user_item_and_option(tmp_path, here):
    path = tmp_path / "long.csv"
    path.write_text("a,b,c,d\nx,ann,q1,A\ny,ann,q2,B\nx,bob,q1,B\ny,bob,q2,B\n")
    r = read_responses(path, user="b", item="c", option="d")
    assert (r.users.tolist(), r.items.tolist()) == (["ann", "bob"], ["q1", "q2"])
    done = here("rank", path, "--user", "b", "--item", "c", "--option", "d", "--method", "majority")
    assert done.code == 0
    assert "bob" in done.out
    joined = read_responses(io.StringIO("f,l,q1,q2\nAnn,B,1,2\nAnn,C,2,2\n"), user="f+l")
    assert joined.users.tolist() == ["Ann B", "Ann C"]


KEYED = "student,q1,q2,q3\nann,A,B,C\nmarked,B,B,A\nbob,B,B,B\ncat,B,A,A\n"


def test_key_row(tmp_path, here):
    path = tmp_path / "keyed.csv"
    path.write_text(KEYED)
    assert read_responses(path).n_users == 4
    r, plan = read_file(path, key_row=3)
    assert r.users.tolist() == ["ann", "bob", "cat"]
    assert dict(r.key) == {"q1": "B", "q2": "B", "q3": "A"}
    assert "key_row" in plan.left_out[0].reason
    done = here("rank", path, "--key-row", 3, "--use-key", "--method", "hnd")
    assert (done.code, "marked" in done.out) == (0, False)


def test_header_row_and_header(tmp_path, here):
    text = "A,B,B\nwho,q1,q2\nann,A,B\nbob,B,B\ncat,B,A\n"
    r, plan = read_file(io.StringIO(text), header_row=2)
    assert (r.users.tolist(), r.items.tolist(), plan.header_row) == (
        ["ann", "bob", "cat"],
        ["q1", "q2"],
        2,
    )
    assert read_responses(io.StringIO("1,2\n2,2\n1,1\n"), header=True).items.tolist() == ["1", "2"]
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert items(here, path, "--header-row", 2) == ["q1", "q2"]
    with pytest.raises(InputError, match="the header row 9 is not one of the 5 rows"):
        read_responses(path, header_row=9)


def test_sheet(tmp_path, here):
    xlsxwriter = pytest.importorskip("xlsxwriter")
    path = tmp_path / "two.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name, first in (("May", "A"), ("June", "C")):
            sheet = book.add_worksheet(name)
            for row, cells in enumerate([["student", "q1"], ["ann", first], ["bob", "B"]]):
                sheet.write_row(row, 0, cells)
    with pytest.raises(InputError, match="'May' and 'June' have the same columns, but cannot be"):
        read_responses(path)  # the same people answered otherwise
    r, plan = read_file(path, sheet="May")
    assert (r.option_labels.tolist(), plan.sheet) == (["A", "B"], "May")
    assert read_responses(path, sheet="June").option_labels.tolist() == ["B", "C"]
    assert read_responses(path, sheet="2").option_labels.tolist() == ["B", "C"]
    assert here("check", path, "--sheet", "june").code == 0
    with pytest.raises(InputError, match="there is no sheet 'Jun'"):
        read_responses(path, sheet="Jun")


def test_a_sheet_of_a_text_is_said_to_be_of_no_use(table: Path) -> None:
    assert any("'June' is not used" in note for note in read_responses(table, sheet="June").notes)


def test_encoding_and_separator(tmp_path, here):
    path = tmp_path / "a.csv"
    path.write_bytes("student;q1;q2\nОля;да;нет\nБоря;нет;нет\n".encode("cp1251"))
    assert read_responses(path, encoding="cp1251").users.tolist() == ["Оля", "Боря"]
    assert "Оля" in here("rank", path, "--encoding", "cp1251", "--method", "majority").out
    with pytest.raises(InputError, match="encoding must be the name of a text encoding"):
        read_responses(path, encoding="cp9999")
    text = "student#q1#q2\nann#A#B\nbob#B#B\n"
    assert read_responses(io.StringIO(text), separator="#").items.tolist() == ["q1", "q2"]
    path.write_text(text)
    assert items(here, path, "--separator", "#") == ["q1", "q2"]
    with pytest.raises(InputError, match="separator must be one character"):
        read_responses(path, separator="ab")


def test_attempt(tmp_path, here):
    text = "student,q1,q2\nann,A,B\nbob,B,B\nann,C,C\n"
    with pytest.raises(InputError, match="'ann' is named in lines 2 and 4"):
        read_responses(io.StringIO(text))
    first, last = (read_responses(io.StringIO(text), attempt=a) for a in ("first", "last"))
    assert (first.n_users, last.n_users) == (2, 2)
    assert first.option_labels.tolist() == ["A", "B", "B"]
    assert last.option_labels.tolist() == ["B", "C", "B", "C"]
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert here("rank", path, "--attempt", "last", "--method", "majority").code == 0
    with pytest.raises(InputError, match="The best attempt is the one with most points"):
        read_responses(path, attempt="best")


def test_fold_and_blanks(table, here):
    r = read_responses(table)
    assert r.option_labels.tolist() == ["A", "B", "B", "C", "A", "b"]
    assert "Taken as no answer: -." in r.notes
    whole = read_responses(table, fold=False, blanks=["b"])
    assert whole.option_labels.tolist()[2:] == ["-", "A", "a"]
    assert here("check", table, "--no-fold", "--blank", "A").code == 0


def test_format_layout_and_transpose(tmp_path, here):
    path = tmp_path / "a.txt"
    path.write_text("user\titem\toption\na\tx\t1\nb\tx\t2\na\ty\t2\nb\ty\t2\n")
    assert read_responses(path, format="tsv").items.tolist() == ["x", "y"]
    assert read_file(path, layout="wide", user="item", attempt="first")[1].layout == "wide"
    turned = "question,s1,s2,s3\nx,A,B,A\ny,B,B,A\n"
    assert read_responses(io.StringIO(turned), transpose=True).users.tolist() == ["s1", "s2", "s3"]
    with pytest.raises(InputError, match=r"format must be one of csv.*did you mean 'moodle'"):
        read_responses(path, format="moodl")
    with pytest.raises(InputError, match="there is no reading option 'itmes'"):
        read_responses(path, itmes=["x"])
    assert here("rank", path, "--format", "canvas").code == 2


def test_plan_on_the_command_line(table, tmp_path, here):
    profile = tmp_path / "plan.json"
    profile.write_text(here("check", table, "--drop", "q3", "--json").out)
    assert items(here, table, "--plan", profile) == ["q1", "q2"]
    assert here("rank", table, "--plan", tmp_path / "none.json").code == 2
    profile.write_text('{"columns": [{"name": "q1", "role": "thing", "reason": ""}]}')
    assert "has the role 'thing'" in here("rank", table, "--plan", profile).err


def test_several_files_and_folders_on_the_command_line(tmp_path, here):
    (tmp_path / "a.csv").write_text("student,q1,q2\nann,A,B\nbob,B,B\n")
    (tmp_path / "b.csv").write_text("student,q1,q2\ncat,A,A\ndan,B,B\n")
    for source in ([tmp_path / "a.csv", tmp_path / "b.csv"], [tmp_path]):
        done = here("rank", *source, "--method", "majority")
        assert done.code == 0
        assert all(name in done.out for name in ("ann", "bob", "cat", "dan"))
        assert "Joined 2 files" in done.err


def test_max_memory(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps([{"user": "a", "q": "x" * 4000}] * 2000))
    with pytest.raises(InputError, match="larger than the memory limit allows"):
        read_responses(path, max_memory="1MB")


def test_one_line_says_what_was_taken_and_what_was_left_out(table, here):
    err = here("rank", table, "--method", "majority").err
    assert "Read as a table with one row per user; left out 2 columns (2 identity)." in err


def test_the_formats_are_listed(here):
    from hitsndiffs.reading.exports import FORMATS

    out = here("formats").out
    assert all(format.name in out for format in FORMATS)
    found = json.loads(here("formats", "--json").out)
    assert {"moodle", "canvas", "lm-eval"} <= {entry["name"] for entry in found}


# -- tables in memory ---------------------------------------------------------------------------


def test_a_long_frame_is_ranked_and_compared_as_it_is():
    long = pl.DataFrame(
        {
            "worker": [f"w{w}" for w in range(5) for _ in range(4)],
            "task": [f"t{t}" for _ in range(5) for t in range(4)],
            "label": [str((w * t) % 3) for w in range(5) for t in range(4)],
        }
    )
    assert hnd.rank(long, "majority").responses.n_items == 4
    assert len(hnd.compare(long, ["majority", "hits"]).results) == 2


def test_items_are_restricted_by_name():
    r = read_responses(io.StringIO(TABLE))
    assert r.select(items=["q2"]).items.tolist() == ["q2"]
    assert r.select(items=[0, 2]).items.tolist() == ["q1", "q3"]
    with pytest.raises(InputError, match="There is no item 'q9'"):
        r.select(items=["q9"])
