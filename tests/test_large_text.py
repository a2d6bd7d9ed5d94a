"""Large text, parsed in pieces by Polars, says what small text says, which the csv module reads."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest
from factory import examples
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import content

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses
from hitsndiffs.reading.sizes import Sizes


def large(chunk: int, **more: int) -> Sizes:
    """Sizes by which small files are read as large ones."""
    return Sizes(small=0, chunk=chunk, **more)


def outcome(data: bytes, sizes: Sizes, **options: object) -> object:
    """All that reading gives: the data with their types and notes, or the message."""
    try:
        r = read_responses(
            io.BytesIO(data), layout="wide", encoding="utf-8", sizes=sizes, **options
        )
    except InputError as error:
        return str(error)
    return (*content(r), r.notes, r.is_dense, r.users.dtype, r.codes.dtype)


def same_in_pieces(data: bytes, chunk: int, **options: object) -> object:
    """Read in pieces, at once, and with the csv module."""
    found = outcome(data, large(chunk), **options)
    assert found == outcome(data, large(1 << 20), **options)
    assert found == outcome(data, Sizes(), **options)
    return found


# -- random tables ----------------------------------------------------------------------------

PLAIN = ["A", "B", "C", "", "1", "2", "10"]
SPELLINGS = [" A", "B ", "1.0", "+1", "007", "0", "-0", "1e3", "0.5", "NA", "nan", "<NA>", "null"]
MISSING = ["-1", "-2.5", " -1", "-007", "  "]
LONG = ["Alpha", "eightish", "ninebytes", "strongly agree", "strongly agreed", "x" * 40]
FOREIGN = ["é", "日本", "ü" * 9, "\u00a0B", "😀"]
QUOTED = ['"A"', '""', '"1"', '" B"', '"strongly agree"', '"a b"', '"é"']
STRANGE = ['"a,b"', '"say ""x"""', '"two\nlines"', '"two\n\nlines"', 'a"b', '"open', '"A"x', '","']

TAME = PLAIN + SPELLINGS + MISSING + LONG + FOREIGN + QUOTED


@st.composite
def tables(draw: st.DrawFn, cells: list[str], users: list[str], faults: bool) -> tuple[bytes, int]:
    n_items = draw(st.integers(1, 5))
    n_rows = draw(st.integers(2, 30))
    kinds = [draw(st.lists(st.sampled_from(cells), min_size=1, max_size=6)) for _ in range(n_items)]
    column = [st.sampled_from(kind) for kind in kinds]
    lines = [",".join(["user", *(f"q{k}" for k in range(n_items))])]
    for row in range(n_rows):
        name = draw(st.sampled_from(users)).replace("#", str(row))
        lines.append(",".join([name, *(draw(cell) for cell in column)]))
    if faults:
        for line in draw(
            st.lists(st.sampled_from(["", "  ", "a", "a,b,c,d,e,f,g", ","]), max_size=2)
        ):
            lines.insert(draw(st.integers(1, len(lines))), line)
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    text = end.join(lines) + draw(st.sampled_from(["", end]))
    return text.encode(errors="surrogateescape"), draw(st.sampled_from([40, 100, 300, 1 << 20]))


NAMES = ["u#"] * 40 + [" u#", "u# ", "é#", '"u#"', "long name of user number #"]
STRANGE_NAMES = [*NAMES, "u1", "", " ", '"u,#"', '"u""#"', "\u00a0u#", "-1", "0#"]


@examples(500, usual=40)
@given(tables(TAME, NAMES, faults=False))
def test_plain_tables_give_the_same_in_pieces(table: tuple[bytes, int]) -> None:
    same_in_pieces(*table)


@examples(500, usual=60)
@given(tables(TAME * 2 + STRANGE, STRANGE_NAMES, faults=True))
def test_strange_tables_give_the_same_messages_in_pieces(table: tuple[bytes, int]) -> None:
    data, chunk = table
    assert outcome(data, large(chunk)) == outcome(data, large(1 << 20))


# -- one thing at a time ----------------------------------------------------------------------


def rows_of(cells: str, n_rows: int = 12) -> str:
    return "".join(
        f"u{k},{cells.replace('#', str(k)).replace('A', 'AC'[k % 2])}\n" for k in range(n_rows)
    )


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("q1,user,q2\n" + "".join(f"A,u{k},{k % 3}\n" for k in range(12)), {}),
        ("q1,q2,user\n" + "".join(f"A,,u{k}\n" for k in range(12)), {}),
        ("user,name,q1\n" + "".join(f"{k},n{k},{'AC'[k % 2]}\n" for k in range(12)), {}),
        ("A,B\nB,A\n" * 30, {"header": False}),
        ("who,q1\n" + rows_of("A"), {"user": "who"}),
        ("user\tq1\tq2\n" + rows_of("A,B").replace(",", "\t"), {"format": "tsv"}),
        ("user;q1;q2\n" + rows_of("A,B").replace(",", ";"), {}),
        ("\ufeffuser,q1\n" + rows_of("A"), {}),
        ("q1\n" + rows_of("A"), {"user": "column-1"}),
    ],
    ids=["middle", "last", "alias", "no header", "told", "tabs", "semicolons", "mark", "R"],
)
def test_columns_of_all_kinds(text: str, options: dict[str, object]) -> None:
    assert not isinstance(same_in_pieces(text.encode(), 64, **options), str)


def test_a_file_of_one_column() -> None:
    same_in_pieces(b"q1\n" + b"A\nB\n" * 20, 64, header=True)


def test_texts_that_the_first_rows_do_not_show() -> None:
    text = "user,q1,q2\n" + "".join(f"u{k},x{k % 400},{k % 2}\n" for k in range(800))
    r = read_responses(io.StringIO(text), items="q*", sizes=large(1000))
    assert r.codes.dtype == np.uint16
    same_in_pieces(text.encode(), 1000, items="q*")


def test_lines_are_right_in_later_pieces() -> None:
    for text, lines in (
        ("user,q1\n" + rows_of("A", 30) + "u3,B\n", "lines 5 and 32 "),
        (
            "user,q1\n" + rows_of("A", 20) + 'x,"two\nlines"\n\n' + rows_of("B", 20)[5:],
            "lines 3 and 25 ",
        ),
    ):
        same_in_pieces(text.encode(), 64)
        with pytest.raises(InputError, match=lines):
            read_responses(io.StringIO(text), sizes=large(64))


def test_a_mark_left_open_at_the_end_is_refused_in_large_files_too() -> None:
    text = "user,q1\n" + rows_of("A") + 'x,"open\ny,""'
    same_in_pieces(text.encode(), 64)
    with pytest.raises(InputError, match=r"line 14: .* never closed"):
        read_responses(io.StringIO(text), sizes=large(64))


@pytest.mark.parametrize("cell", ['"A"x', 'A"x"', 'A"x', '"A" '])
def test_marks_out_of_place_are_what_they_are_in_small_files(cell: str) -> None:
    same_in_pieces(("user,q1\n" + rows_of("A", 40) + f"x,{cell}\n").encode(), 40)


@pytest.mark.parametrize("more", ["", ",B\n"])
def test_rows_without_a_name_are_dropped_or_refused(more: str) -> None:
    same_in_pieces(("user,q1\n" + rows_of("A") + ",\n ,NA\n" + more).encode(), 64)


def test_rows_of_another_width_are_refused_though_the_cells_add_up() -> None:
    text = "user,q1,q2\n" + rows_of("A,B", 20)
    for odd in ("x,A\ny,A,B,C\n", "y,A,B,C\nx,A\n", "x,A\n"):
        with pytest.raises(InputError, match=r"line 22: (2|4) cells where the header has 3"):
            read_responses(io.StringIO(text + odd + rows_of("A,B", 3)), sizes=large(1 << 20))


def test_packed_and_text_streams() -> None:
    text = "user,q1,q2\n" + rows_of("A,B")
    parsed = content(read_responses(io.StringIO(text)))
    for stream in (io.BytesIO(gzip.compress(text.encode())), io.StringIO(text)):
        assert content(read_responses(stream, sizes=large(64))) == parsed


def two_options(pairs: int) -> str:
    return "".join(f"u{k},A\nv{k},B\n" for k in range(pairs))


def test_the_first_error_is_told() -> None:
    for rows, line in (
        (two_options(50), r"line 102: .* UTF-8"),
        (two_options(3) + "short\n" + two_options(4), "line 8: 1 cell "),
    ):
        data = io.BytesIO(("user,q1\n" + rows + "x,\xff\n").encode("latin-1"))
        with pytest.raises(InputError, match=line):
            read_responses(data, encoding="utf-8", sizes=large(64, head=64))
