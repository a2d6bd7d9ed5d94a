"""The compiled pass over CSV says what the parsers say, and leaves to them what is not plain."""

from __future__ import annotations

import gzip
import io
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType

import numpy as np
import pytest
from factory import examples
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import content

from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_responses
from hitsndiffs.reading.files.source import Chunk
from hitsndiffs.reading.sizes import Sizes
from hitsndiffs.reading.tables import tokens
from hitsndiffs.reading.tables.tokens import TokenScanner

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="there are no compiled kernels"
)

NEVER = 1 << 60


def large(chunk: int, *, scan: bool = True, small: bool = False, **more: int) -> Sizes:
    """Sizes by which small files are read as large ones, with the compiled pass or without."""
    given = {"small": NEVER if small else 0, "scanned": 0 if scan else NEVER, "chunk": chunk}
    return Sizes(**{**given, **more})


@contextmanager
def counted() -> Iterator[Counter[bool]]:
    """Count the chunks that are scanned, and those that are handed back."""
    taken: Counter[bool] = Counter()
    scan_chunk = TokenScanner.scan

    def scan(self: TokenScanner, chunk: Chunk):
        found = scan_chunk(self, chunk)
        taken[found is not None] += 1
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TokenScanner, "scan", scan)
        yield taken


def outcome(data: bytes, sizes: Sizes, **options: object) -> object:
    """All that reading gives: the data with their types and notes, or the message."""
    try:
        r = read_responses(
            io.BytesIO(data), layout="wide", encoding="utf-8", sizes=sizes, **options
        )
    except InputError as error:
        return str(error)
    return (*content(r), r.notes, r.is_dense, r.users.dtype, r.codes.dtype)


def same_in_both_ways(
    data: bytes, chunk: int, more: Mapping[str, int] = MappingProxyType({}), **options: object
) -> Counter[bool]:
    """Read with the compiled pass and with Polars; count plain chunks."""
    with counted() as taken:
        scanned = outcome(data, large(chunk, **more), **options)
    with counted() as none:
        parsed = outcome(data, large(chunk, scan=False, **more), **options)
    assert none.total() == 0
    assert scanned == parsed
    return taken


def same_in_all_ways(
    data: bytes, chunk: int, more: Mapping[str, int] = MappingProxyType({}), **options: object
) -> Counter[bool]:
    """Read with the csv module too."""
    taken = same_in_both_ways(data, chunk, more, **options)
    scanned = outcome(data, large(chunk, **more), **options)
    assert scanned == outcome(data, large(chunk, scan=False, small=True, **more), **options)
    return taken


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


def test_plain_tables_are_scanned_and_give_the_same() -> None:
    taken: Counter[bool] = Counter()

    @examples(500, usual=40)
    @given(tables(TAME, NAMES, faults=False))
    def check(table: tuple[bytes, int]) -> None:
        taken.update(same_in_all_ways(*table))

    check()
    assert taken[True] > 60
    assert taken[False] == 0


def test_strange_tables_give_the_same_and_the_same_messages() -> None:
    taken: Counter[bool] = Counter()

    @examples(500, usual=60)
    @given(tables(TAME * 2 + STRANGE, STRANGE_NAMES, faults=True))
    def check(table: tuple[bytes, int]) -> None:
        taken.update(same_in_both_ways(*table))

    check()
    assert taken[True] > 20
    assert taken[False] > 20


# -- one thing at a time ----------------------------------------------------------------------


def scanned_chunks(text: str, chunk: int = 64, **options: object) -> int:
    """Check that all ways agree; return how many chunks were scanned, which all must be."""
    taken = same_in_all_ways(text.encode(), chunk, **options)
    assert taken[False] == 0
    return taken[True]


def rows_of(cells: str, n_rows: int = 12) -> str:
    return "".join(f"u{k},{cells.replace('#', str(k))}\n" for k in range(n_rows))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("q1,user,q2\n" + "".join(f"A,u{k},{k % 3}\n" for k in range(12)), {}),
        ("q1,q2,user\n" + "".join(f"A,,u{k}\n" for k in range(12)), {}),
        ("user,name,q1\n" + "".join(f"{k},n{k},A\n" for k in range(12)), {}),
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
    assert scanned_chunks(text, **options) > 1


def test_a_file_of_one_column_is_left_to_the_parsers() -> None:
    taken = same_in_all_ways(b"q1\n" + b"A\nB\n" * 20, 64, header=True)
    assert taken.total() == 0


def test_more_than_254_texts_in_an_item_are_left_to_the_parsers() -> None:
    head = "user,q1\n"
    plain = head + rows_of("x#", 254)
    assert same_in_all_ways(plain.encode(), 1 << 20, items="q1") == {True: 1}
    text = head + rows_of("x#", 255)
    assert same_in_all_ways(text.encode(), 1 << 20, items="q1") == {False: 1}


def test_many_options_over_many_chunks_take_two_bytes() -> None:
    text = "user,q1,q2\n" + "".join(f"u{k},x{k % 400},{k % 2}\n" for k in range(800))
    r = read_responses(io.StringIO(text), items="q*", sizes=large(1000))
    assert r.codes.dtype == np.uint16
    assert scanned_chunks(text, 1000, items="q*") > 5


def test_few_slots_hold_fewer_texts() -> None:
    def taken(n_texts: int, **more: int) -> Counter[bool]:
        data = ("user,q1\n" + rows_of("x#", n_texts)).encode()
        return same_in_all_ways(data, 1 << 20, more, items="q1")

    assert taken(48, tables=0) == {True: 1}
    assert taken(49, tables=0) == {False: 1}
    assert taken(12, tables=0, largest_tables=0).total() == 0


def test_users_named_twice_are_found_in_their_lines() -> None:
    text = "user,q1\n" + rows_of("A", 30) + "u3,B\n"
    assert scanned_chunks(text) > 2
    with pytest.raises(InputError, match="lines 5 and 32 "):
        read_responses(io.StringIO(text), sizes=large(64))


def test_lines_are_right_after_chunks_that_are_not_plain() -> None:
    text = "user,q1\n" + rows_of("A", 20) + 'x,"two\nlines"\n\n' + rows_of("B", 20)[5:]
    taken = same_in_all_ways(text.encode(), 64)
    assert min(taken[True], taken[False]) > 0
    with pytest.raises(InputError, match="lines 3 and 25 "):
        read_responses(io.StringIO(text), sizes=large(64))


def test_equal_hashes_are_not_taken_for_equal_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens.np, "sort", lambda hashes: np.zeros_like(hashes))
    assert scanned_chunks("user,q1\n" + rows_of("A")) > 1


def test_a_mark_left_open_at_the_end_is_refused_in_large_files_too() -> None:
    text = "user,q1\n" + rows_of("A") + 'x,"open\ny,""'
    same_in_all_ways(text.encode(), 64)
    with pytest.raises(InputError, match=r"line 14: .* never closed"):
        read_responses(io.StringIO(text), sizes=large(64))


@pytest.mark.parametrize("cell", ['"A"x', 'A"x"', 'A"x', '"A" '])
def test_marks_out_of_place_are_what_they_are_in_small_files(cell: str) -> None:
    same_in_all_ways(("user,q1\n" + rows_of("A", 40) + f"x,{cell}\n").encode(), 40)


def test_rows_without_a_name_are_dropped_or_refused() -> None:
    text = "user,q1\n" + rows_of("A") + ",\n ,NA\n"
    assert scanned_chunks(text) > 1
    assert scanned_chunks(text + ",B\n") > 1


def test_packed_and_text_streams_are_scanned() -> None:
    text = "user,q1,q2\n" + rows_of("A,B")
    parsed = content(read_responses(io.StringIO(text), sizes=large(64, scan=False)))
    for stream in (io.BytesIO(gzip.compress(text.encode())), io.StringIO(text)):
        with counted() as taken:
            assert content(read_responses(stream, sizes=large(64))) == parsed
        assert taken[True] > 1


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_threads_change_nothing(cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "available_cores", lambda: cores)
    rng = np.random.default_rng(0)
    rows = rng.choice(["A", "B", "strongly agree", "NA", " 1"], (200, 6))
    text = "user,a,b,c,d,e,f\n" + "".join(f"u{k},{','.join(r)}\n" for k, r in enumerate(rows))
    assert scanned_chunks(text, 500) > 5


def test_an_error_stops_the_threads_too() -> None:
    text = "user,q1\n" + rows_of("A", 100) + "x,\xff\n"
    data, sizes = io.BytesIO(text.encode("latin-1")), large(64, head=64)
    with counted() as taken, pytest.raises(InputError, match=r"line 102: .* UTF-8"):
        read_responses(data, encoding="utf-8", sizes=sizes)
    assert taken[True] > 5


def test_the_first_error_is_told_though_a_later_one_was_read() -> None:
    text = "user,q1\n" + rows_of("A", 6) + "short\n" + rows_of("A", 8) + "x,\xff\n"
    data, sizes = io.BytesIO(text.encode("latin-1")), large(64, head=64)
    with pytest.raises(InputError, match="line 8: 1 cell "):
        read_responses(data, encoding="utf-8", sizes=sizes)


def test_when_compilation_is_switched_off_the_parsers_do_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = ("user,q1\n" + rows_of("A")).encode()
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")
    assert same_in_all_ways(data, 64).total() == 0


@pytest.mark.usefixtures("without_numba")
def test_without_numba_the_parsers_do_it() -> None:
    data = ("user,q1\n" + rows_of("A")).encode()
    assert same_in_all_ways(data, 64).total() == 0


def test_small_files_load_no_kernels() -> None:
    with counted() as taken:
        outcome(("user,q1\n" + rows_of("A")).encode(), Sizes(small=0))
    assert taken.total() == 0


@pytest.mark.parametrize("end", ["", "\n"])
def test_texts_are_in_the_order_of_their_first_cells(end: str) -> None:
    scanner = TokenScanner(["u", "a", "x", "b"], ["b", "a"], "u", ",")
    found = scanner.scan(Chunk(b"p,B,-,ninebytes\nq,,-,8\nr,B,-,ninebytez" + end.encode(), 1))
    assert found is not None
    assert found["b"].labels == ["ninebytes", "8", "ninebytez"]
    assert found["a"].labels == ["B", ""]
    assert [found[name].numbers.tolist() for name in "ba"] == [[0, 1, 2], [0, 1, 0]]
    assert found["u"] == ["p", "q", "r"]


@pytest.mark.parametrize("line", ["", "a", "a,b,c", 'a,b"c', '"a,b', '"a"b,c', "a,\n", ' ,"x\ny"'])
def test_lines_that_are_not_plain_are_handed_back(line: str) -> None:
    scanner = TokenScanner(["u", "a"], ["a"], "u", ",")
    assert scanner.scan(Chunk(f"x,A\n{line}\ny,B\n".encode(), 1)) is None
