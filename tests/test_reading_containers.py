"""Containers, encodings and headers: the same table in every wrapping reads the same."""

from __future__ import annotations

import csv
import gzip
import io
import json

import numpy as np
import polars as pl
import pytest
from factory import examples
from formats.quiz import ods_bytes, xlsx_bytes, zip_bytes
from hypothesis import given
from hypothesis import strategies as st
from reading_helpers import answers, content

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.reading import read_file, read_responses
from hitsndiffs.reading.files.encodings import find_encoding
from hitsndiffs.reading.sizes import Sizes

ROWS = [
    ["student", "q1", "q2", "q3"],
    ["Ämilie", "A", "x", "ja"],
    ["Bob", "B", "y", "nein"],
    ["Çem", "A", "y", "ja"],
    ["Dora", "B", "x", "ja"],
]


def text(rows=ROWS, separator=",") -> str:
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(rows)
    return out.getvalue()


EXPECTED = answers(read_responses(io.StringIO(text())))


def frame() -> pl.DataFrame:
    return pl.DataFrame(ROWS[1:], schema=ROWS[0], orient="row")


def xls() -> bytes:
    book = pytest.importorskip("xlwt").Workbook()
    sheet = book.add_sheet("Answers")
    for r, row in enumerate(ROWS):
        for c, cell in enumerate(row):
            sheet.write(r, c, cell)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def zstd(data: bytes) -> bytes:
    return pytest.importorskip("zstandard").ZstdCompressor().compress(data)


WRAPPED = {
    "utf-8": ("a.csv", lambda: text().encode()),
    "utf-8 with a mark": ("a.csv", lambda: text().encode("utf-8-sig")),
    "utf-16": ("a.csv", lambda: text().encode("utf-16")),
    "utf-16 without a mark": ("a.csv", lambda: text().encode("utf-16-le")),
    "utf-16, tabs": ("a.xls.csv", lambda: text(separator="\t").encode("utf-16")),
    "cp1252": ("a.csv", lambda: text().encode("cp1252")),
    "semicolons": ("a.csv", lambda: text(separator=";").encode()),
    "tabs": ("a.tsv", lambda: text(separator="\t").encode()),
    "bars": ("a.txt", lambda: text(separator="|").encode()),
    "sep line": ("a.csv", lambda: b"sep=;\r\n" + text(separator=";").encode()),
    "lone CR": ("a.csv", lambda: text().replace("\n", "\r").encode()),
    "title rows": ("a.csv", lambda: b"My quiz\n\nRoom 7,,\n" + text().encode()),
    "blank lines": ("a.csv", lambda: text().replace("\n", "\n\n").encode()),
    "rows end in a comma": ("a.csv", lambda: text().replace("\n", ",\n").encode()),
    "gzip": ("a.csv.gz", lambda: gzip.compress(text().encode())),
    "zstd": ("a.csv.zst", lambda: zstd(text().encode())),
    "zip": ("a.zip", lambda: zip_bytes({"quiz.csv": text().encode(), "__MACOSX/._quiz.csv": b"x"})),
    "xlsx": ("a.xlsx", lambda: xlsx_bytes({"Answers": ROWS})),
    "xlsx under another name": ("a.dat", lambda: xlsx_bytes({"Answers": ROWS})),
    "xls": ("a.xls", xls),
    "xls under another name": ("a.dat", xls),
    "ods": ("a.ods", lambda: ods_bytes("Answers", ROWS)),
    "parquet": ("a.parquet", lambda: parquet()),
    "json": ("a.json", lambda: frame().write_json().encode()),
    "jsonl": ("a.jsonl", lambda: frame().write_ndjson().encode()),
}


def parquet() -> bytes:
    out = io.BytesIO()
    frame().write_parquet(out)
    return out.getvalue()


@pytest.mark.parametrize("case", WRAPPED)
def test_every_wrapping_gives_the_same_answers(case, tmp_path):
    name, make = WRAPPED[case]
    path = tmp_path / name
    path.write_bytes(make())
    assert answers(read_responses(path)) == EXPECTED
    with path.open("rb") as file:
        assert answers(read_responses(file)) == EXPECTED


def test_data_rows_that_end_in_a_comma_are_not_shifted():
    r = read_responses(io.StringIO("user,q1,q2\na,A,B,\nb,B,B,\nc,A,A,\n"))
    assert (r.users.tolist(), r.items.tolist()) == (["a", "b", "c"], ["q1", "q2"])
    r = read_responses(io.StringIO("q1,q2,q3\na,A,B,A\nb,B,B,A\nc,A,A,B\n"))
    assert (r.users.tolist(), r.items.tolist()) == (["a", "b", "c"], ["q1", "q2", "q3"])
    with pytest.raises(InputError, match="line 2: 4 cells where the header has 3"):
        read_responses(io.StringIO("user,q1,q2\na,A,B,\na,B,B,A\na,A,A,\n"))


def test_what_is_guessed_about_the_text_is_said():
    assert any(
        "Windows-1252" in note for note in read_responses(io.BytesIO(text().encode("cp1252"))).notes
    )
    assert any("semicolons" in n for n in read_responses(io.StringIO(text(separator=";"))).notes)
    assert any(
        "The header is row 2, below 1 row." in n
        for n in read_responses(io.StringIO("A quiz\n" + text())).notes
    )


def test_text_that_is_not_utf8_far_down_is_read_as_windows_1252(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"user,q1\n" + b"".join(b"u%d,A\n" % k for k in range(50)) + b"x,\xe9\n")
    r = read_responses(path, sizes=Sizes(head=64))
    assert r.option_labels.tolist() == ["A", "é"]
    assert "Windows-1252" in r.notes[0]


def test_repeated_and_renamed_headers_are_told_apart():
    r = read_responses(io.StringIO("user,A,A,B\nx,1,2,1\ny,2,2,1\nz,1,1,2\n"))
    assert r.items.tolist() == ["A", "A (2)", "B"]
    assert any("told apart" in note for note in r.notes)
    renamed = "user,q1,q1.1,q1_duplicated_0,Unnamed: 4\na,1,2,2,\nb,2,2,1,\nc,1,1,1,\n"
    assert read_responses(io.StringIO(renamed)).items.tolist() == ["q1", "q1.1", "q1_duplicated_0"]


def test_label_files_with_blanks_between_the_cells():
    labels = "".join(
        f"w{w} item{i} {(i + (w * i) // 9) % 2}\n" for i in range(12) for w in range(4)
    )
    r, plan = read_file(io.StringIO(labels))
    assert (plan.layout, r.n_users, r.n_items) == ("long", 4, 12)


# -- several files ----------------------------------------------------------------------------


def test_the_same_test_in_several_files_is_joined(tmp_path):
    (tmp_path / "a.csv").write_text(text(ROWS[:3]))
    (tmp_path / "b.csv").write_text(text([ROWS[0], *ROWS[3:]]))
    for source in ([tmp_path / "a.csv", tmp_path / "b.csv"], tmp_path):
        r, plan = read_file(source)
        assert answers(r) == EXPECTED
        assert "Joined 2 files: 'a.csv' and 'b.csv'." in r.notes
        assert plan.sources == ("a.csv", "b.csv")
    (tmp_path / "a.csv").write_text(text([row[:3] for row in ROWS]))
    (tmp_path / "b.csv").write_text(text([[row[0], row[3]] for row in ROWS]))
    assert answers(read_responses(tmp_path)) == EXPECTED  # the same users, other items


def test_files_with_nothing_in_common_are_refused(tmp_path):
    (tmp_path / "a.csv").write_text(text())
    (tmp_path / "b.csv").write_text("user,x1,x2\nu1,0,1\nu2,1,1\n")
    with pytest.raises(InputError, match="neither items nor users in common"):
        read_responses(tmp_path)


def test_one_file_for_each_user_takes_the_name_of_the_file(tmp_path):
    for name, picks in {"model-a": "ABC", "model-b": "ABB", "model-c": "CBB"}.items():
        rows = [["question", "answer"], *([f"q{k}", pick] for k, pick in enumerate(picks))]
        (tmp_path / f"{name}.csv").write_text(text(rows))
    r = read_responses(tmp_path)
    assert sorted(r.users.tolist()) == ["model-a", "model-b", "model-c"]
    assert r.n_items == 3
    assert "The users are named after the files." in r.notes


def test_a_key_beside_the_answers_is_found(tmp_path):
    (tmp_path / "answers.csv").write_text(
        "question,worker,answer\n"
        + "".join(f"q{k},w{w},{k * w % 2}\n" for k in range(5) for w in range(4))
    )
    (tmp_path / "truth.csv").write_text("question,truth\n" + "".join(f"q{k},0\n" for k in range(5)))
    r = read_responses(tmp_path)
    assert (r.n_users, r.n_items) == (4, 5)
    assert dict(r.key) == {f"q{k}": "0" for k in range(5)}
    assert r.key.source == "truth.csv"


def test_zip_with_several_files(tmp_path):
    path = tmp_path / "a.zip"
    path.write_bytes(
        zip_bytes({"a.csv": text(ROWS[:3]).encode(), "b.csv": text([ROWS[0], *ROWS[3:]]).encode()})
    )
    assert answers(read_responses(path)) == EXPECTED


# -- what a plan says ------------------------------------------------------------------------


def test_a_plan_can_be_printed_written_changed_and_repeated(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(
        "Timestamp;student;q1;q2;q3;Score\n"
        + "".join(
            f"2024-01-0{k + 1};s{k};{'AB'[k % 2]};{'AB'[k // 2 % 2]};A;{k}\n" for k in range(5)
        )
    )
    plan = hnd.plan(path)
    roles = {column.name: column.role for column in plan.columns}
    assert roles == {
        "Timestamp": "time", "student": "user", "q1": "item", "q2": "item", "q3": "item",
        "Score": "points",
    }  # fmt: skip
    assert plan.separator == ";"
    assert "left out 2 columns (1 time, 1 points)" in plan.line
    assert "time columns: 'Timestamp'" in str(plan)
    changed = plan.change(drop=["q3"])
    assert changed.read().items.tolist() == ["q1", "q2"]
    again = hnd.Plan.from_json(plan.to_json())
    assert again.columns == plan.columns
    profile = tmp_path / "plan.json"
    profile.write_text(plan.to_json().replace('"role": "points"', '"role": "item"'))
    r = read_responses(path, plan=profile)
    assert r.items.tolist() == ["q1", "q2", "q3", "Score"]
    assert read_responses(path, plan=plan).items.tolist() == ["q1", "q2", "q3"]
    with pytest.raises(InputError, match="has no file"):
        again.read()


@examples(40)
@given(
    st.integers(3, 8),
    st.integers(2, 6),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-16", "utf-8-sig"]),
    st.integers(0, 3),
    st.data(),
)
def test_wrappings_never_change_the_answers(users, items, separator, encoding, titles, data):
    cells = [[data.draw(st.sampled_from("ABC")) for _ in range(items)] for _ in range(users)]
    rows = [["student", *(f"q{k + 1}" for k in range(items))]]
    rows += [[f"s{k}", *row] for k, row in enumerate(cells)]
    plain = "".join(f"Title {k}\n" for k in range(titles)) + text(rows, separator)
    r = read_responses(io.BytesIO(plain.encode(encoding)))
    expected = {
        (f"s{u}", f"q{i + 1}"): cell for u, row in enumerate(cells) for i, cell in enumerate(row)
    }
    assert answers(r) == expected


def test_a_link_to_itself_is_told(tmp_path):
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="cannot be opened"):
        read_responses(loop)


def test_parquet_columns_are_written_to_their_place_whatever_they_are(tmp_path):
    """Columns of bytes, one with more options than a byte holds, one that nobody answered."""
    rng = np.random.default_rng(0)
    table = {
        "user": [f"u{k}" for k in range(600)],
        "late": ["b"] * 599 + ["a"],
        "empty": [None] * 600,
        "numbers": rng.integers(0, 12, 600),
        "many": [f"x{k % 300}" for k in range(600)],
    }
    for left_out in ([], ["many"], ["empty"], ["many", "empty"]):
        made = pl.DataFrame({name: table[name] for name in table if name not in left_out})
        made.write_parquet(tmp_path / "a.parquet")
        made.write_csv(tmp_path / "a.csv")
        items = [name for name in made.columns if name != "user"]
        both = [read_responses(tmp_path / f"a.{end}", items=items) for end in ("parquet", "csv")]
        assert content(both[0]) == content(both[1])
        assert both[0].codes.dtype == (np.uint8 if "many" in left_out else np.uint16)
        assert both[0].notes == both[1].notes


def test_many_files_are_converted_by_several_processes(tmp_path, monkeypatch):

    for model in range(5):
        folder = tmp_path / f"org__model-{model}"
        folder.mkdir()
        lines = []
        for question in range(6):
            likely = [[str(-1.0 - (k + model * question) % 3), "False"] for k in range(3)]
            lines.append(
                json.dumps(
                    {
                        "doc_id": question,
                        "doc": {"question": f"what {question}?", "choices": ["a", "b", "c"]},
                        "target": "0",
                        "arguments": {f"gen_args_{k}": {"arg_0": "x", "arg_1": f" {c}"}
                                      for k, c in enumerate("abc")},
                        "resps": [[pair] for pair in likely],
                        "filtered_resps": likely,
                        "doc_hash": f"h{question}",
                    }
                )
            )  # fmt: skip
        name = "samples_quiz_2025-01-01T00-00-00.000000.jsonl"
        (folder / name).write_text("\n".join(lines) + "\n")
    alone = read_responses(tmp_path)
    monkeypatch.setattr("hitsndiffs.data.pool.available_cores", lambda: 2)
    together = read_responses(tmp_path, sizes=Sizes(parallel=0))
    assert (together.n_users, together.n_items) == (5, 6)
    assert content(together) == content(alone)
    (tmp_path / "org__model-0" / name).write_text('{"doc_id": 0, "resps": [], "filtered_resps": \n')
    with pytest.raises(InputError):
        read_responses(tmp_path / "org__model-0", format="lm-eval")


@pytest.mark.parametrize(
    ("encoding", "words"),
    [
        ("gb18030", "学号 姓名 班级 成绩 选择正确的答案"),
        ("big5", "學號 姓名 班級 選擇正確的答案 請說明"),
        ("cp932", "学籍番号 氏名 クラス 正しい答えを選んでください"),
        ("cp949", "학번 이름 반 올바른 답을 고르십시오"),
        ("cp1251", "Студент Группа Вопрос Ключ выберите правильный ответ"),
        ("cp1252", "Étudiant Übung über größte façon señor naïve"),
    ],
)
def test_the_encoding_is_found(encoding, words):
    line = f"{words.replace(' ', ',')},A,B\n"
    assert find_encoding(line.encode(encoding)) == encoding
    assert find_encoding((line * 3000).encode(encoding)[: (1 << 16) + 1]) == encoding
    assert find_encoding(line.encode()) == "utf-8"


WESTERN = """
    café Straße mañana très über façade größer élève début ÜBER ÄRZTE señor niño João não maçã
    coração piñata smörgås Ångström fjäll blåbær høst naïve œuvre “so” 50€ 20° §3 ½ «oui» Lösung
    Prüfung Schüler Antwort réponse élévation été créée Müller Größe año ¿qué? città perché
"""


@given(st.lists(st.sampled_from(WESTERN.split()), min_size=1))
def test_western_words_stay_western(words):
    lines = "name,answer\n" + "".join(f"Zoe Dupond,{word}\n" for word in words)
    assert find_encoding(lines.encode("cp1252")) in ("cp1252", "utf-8")


def test_the_first_sheet_with_a_table_is_read_and_a_sheet_may_hold_the_key(tmp_path):
    rows = [
        ["ID", "q1", "q2", "q3"],
        *[[f"s{i}", *("AB"[i % 2], "BC"[i % 2], "A")] for i in range(9)],
    ]
    rows[3][3] = "B"
    sheets = {
        "Info": [["Exam", "Rivers"], ["Date", "2026-01-02"]],
        "Answers": rows,
        "Key": [["Question", "Answer"], ["q1", "A"], ["q2", "C"], ["q3", "A"]],
    }
    path = tmp_path / "exam.xlsx"
    path.write_bytes(xlsx_bytes(sheets))
    plan = hnd.plan(path)
    r = plan.read()
    assert plan.sheet == "Answers"
    assert r.users.tolist() == [f"s{i}" for i in range(9)]
    assert dict(r.key) == {"q1": "A", "q2": "C", "q3": "A"}
    assert r.key.source == "the sheet 'Key'"
    assert hnd.plan(path, sheet="Answers").read().n_items == 3


def test_files_that_are_no_tables_do_not_spoil_an_archive(tmp_path):
    members = {"a/quiz.csv": text().encode(), "a/read.pdf": b"%PDF-1.4", "a/notes.txt": b"Hello.\n"}
    path = tmp_path / "a.zip"
    path.write_bytes(zip_bytes(members))
    r = read_responses(path)
    assert answers(r) == EXPECTED
    assert any("read.pdf" in note for note in r.notes)


@pytest.mark.parametrize("seed", range(6))
def test_joined_files_hold_every_answer_of_each(seed, tmp_path):
    rng = np.random.default_rng(seed)
    expected: dict[tuple[str, str], str] = {}
    for number in range(3):
        items = [f"q{i}" for i in rng.permutation(8)[: rng.integers(3, 8)]]
        lines = ["user," + ",".join(items)]
        for user in range(5):
            name = f"student-{number}{user}"
            cells = rng.choice(["A", "B", " C", "10", "9", ""], len(items)).tolist()
            lines.append(",".join([name, *cells]))
            expected |= {
                (name, i): c.strip() for i, c in zip(items, cells, strict=True) if c.strip()
            }
        (tmp_path / f"part{number}.csv").write_text("\n".join(lines) + "\n")
    assert answers(read_responses(tmp_path)) == expected
