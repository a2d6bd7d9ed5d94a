"""Files that workers read: the same as on one machine; broken ones are named, with the line."""

from __future__ import annotations

import numpy as np
import pytest
from commands import Here
from factory import examples
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

import hitsndiffs as hnd  # noqa: E402
from hitsndiffs.reading.cluster_files import TextPieces  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("client"),
    pytest.mark.xdist_group("cluster"),
]


def table(users, first=0, items=4):
    """Random answers of users who are numbered from ``first``."""
    rng = np.random.default_rng(first)
    letters = np.array(list("ABC"), dtype=object)[rng.integers(0, 3, (users, items))]
    frame = pd.DataFrame(letters, columns=[f"q{i}" for i in range(items)])
    frame.insert(0, "student", [f"student-{first + u:04d}" for u in range(users)])
    return frame


def write_folder(folder, ending=".csv"):
    """Three files of 30 users each."""
    for number, name in enumerate("abc"):
        frame, path = table(30, 30 * number), folder / f"{name}{ending}"
        if ending == ".parquet":
            frame.to_parquet(path)
        else:
            frame.to_csv(path, index=False, sep="\t" if ending == ".tsv" else ",")


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines(keepends=True)


# -- pieces --------------------------------------------------------------------------------------

CELLS = st.sampled_from(["A", "B", "", 'say ""x""', "a, b", "ä", "-1", "NA", "0.5"])


@examples(60)
@given(
    rows=st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=12),
    size=st.integers(1, 80),
    end=st.sampled_from(["\n", "\r\n"]),
    last=st.booleans(),
    blank=st.booleans(),
)
def test_pieces_of_a_text_hold_every_row_once(tmp_path_factory, rows, size, end, last, blank):
    path = tmp_path_factory.mktemp("text") / "a.csv"
    lines = ["x,y,z", *(",".join(f'"{cell}"' for cell in row) for row in rows)]
    if blank:
        lines.insert(len(lines) // 2 + 1, "")
    path.write_bytes((end.join(lines) + end * last).encode())
    made = TextPieces([str(path)], ",", size).pieces(["z", "x"])
    found = [row for piece in made for row in piece().rows()]
    assert [tuple(cell or "" for cell in row) for row in found] == [
        tuple(cell.replace('""', '"') for cell in (z, x)) for x, _, z in rows
    ]


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet"])
def test_a_folder_is_read_as_on_one_machine(tmp_path, ending):
    write_folder(tmp_path, ending)
    data = hnd.read_responses(tmp_path, engine="dask")
    one = hnd.read_responses(sorted(map(str, tmp_path.iterdir())))
    assert data.n_users == one.n_users == 90
    assert data.items.labels.tolist() == one.items.tolist()
    assert data.items.option_labels.tolist() == one.option_labels.tolist()
    assert data.user_labels(np.arange(90)).tolist() == one.users.tolist()
    np.testing.assert_array_equal(data.responses.codes, one.codes)


def test_a_row_has_the_number_of_its_line(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n\n3,4\n5,6\n7,8\n", encoding="utf-8")
    first, second = TextPieces([str(path)], ",", 9).pieces(["x"])
    assert [first.place.line_of(row) for row in range(first().height)] == [2, 4]
    assert [second.place.line_of(row) for row in range(second().height)] == [5, 6]


# -- broken files --------------------------------------------------------------------------------


def ragged(lines):
    lines[17] = lines[17].rstrip("\n") + ",B,B\n"


def short(lines):
    lines[17] = "student-0046,A\n"


def not_closed(lines):
    lines[17] = lines[17].replace(",", ',"', 1)


def damaged_letters(lines):
    lines[17] = "student-\udcff0046,A,A,A,A\n"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (ragged, r"b\.csv, line 18: 7 cells where the header has 5"),
        (short, r"b\.csv, line 18: 2 cells where the header has 5"),
        (not_closed, r"b\.csv, line \d+: .*quotation mark"),
        (damaged_letters, r"b\.csv.*(UTF-8|utf-8)"),
    ],
)
@pytest.mark.parametrize("layout", ["wide", "long"])
def test_a_broken_text_in_the_middle_is_named_with_its_line(tmp_path, damage, said, layout):
    write_folder(tmp_path)
    broken = tmp_path / "b.csv"
    lines = lines_of(broken)
    damage(lines)
    broken.write_bytes("".join(lines).encode("utf-8", "surrogateescape"))
    roles = {"layout": "long", "user": "student", "item": "q0", "option": "q1"}
    with pytest.raises(hnd.InputError, match=said) as refused:
        hnd.read_responses(tmp_path, engine="dask", **(roles if layout == "long" else {}))
    assert "\n" not in str(refused.value)


def test_nothing_is_written_where_a_text_is_broken(tmp_path, capsys):
    write_folder(tmp_path)
    lines = lines_of(tmp_path / "b.csv")
    ragged(lines)
    (tmp_path / "b.csv").write_text("".join(lines), encoding="utf-8")
    out = tmp_path / "out"
    done = Here(capsys)("rank", str(tmp_path / "*.csv"), "--engine", "dask", "--out", str(out))
    assert done.code != 0
    assert "b.csv, line 18" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv", "c.csv"]


def test_a_long_parquet_file_that_is_broken_in_the_middle_is_named(tmp_path):
    for name in "abc":
        long = table(400, ord(name)).melt("student", var_name="item", value_name="answer")
        long.sample(frac=1, random_state=1).to_parquet(tmp_path / f"{name}.parquet")
    broken = tmp_path / "b.parquet"
    content = bytearray(broken.read_bytes())
    content[100 : len(content) // 2] = bytes(len(content) // 2 - 100)
    broken.write_bytes(content)
    with pytest.raises(hnd.InputError, match=r"b\.parquet"):
        hnd.read_responses(tmp_path, engine="dask")


def test_a_user_who_has_two_rows_in_a_file_is_named_with_them(tmp_path):
    write_folder(tmp_path)
    lines = lines_of(tmp_path / "b.csv")
    (tmp_path / "b.csv").write_text("".join([*lines, lines[4]]), encoding="utf-8")
    with pytest.raises(hnd.InputError, match=r"b\.csv.*lines 5 and 32"):
        hnd.read_responses(tmp_path, engine="dask")


def test_texts_with_other_columns_are_refused(tmp_path):
    write_folder(tmp_path)
    lines = lines_of(tmp_path / "c.csv")
    lines[0] = lines[0].replace("q3", "q7")
    (tmp_path / "c.csv").write_text("".join(lines), encoding="utf-8")
    with pytest.raises(
        hnd.InputError, match=r"c\.csv has different columns from .*a\.csv: q7 extra"
    ):
        hnd.read_responses(tmp_path, engine="dask")


def test_line_ends_within_cells_are_said(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('x,y\n"1","a\nb"\n"3","c"\n', encoding="utf-8")
    first, *_ = TextPieces([str(path)], ",", 8).pieces(["x"])
    with pytest.raises(hnd.InputError, match=r"a\.csv: cells in quotation marks hold line ends"):
        first()
