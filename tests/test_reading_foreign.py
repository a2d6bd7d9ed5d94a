"""Files that hold no table, and JSON in odd shapes: each is named truly, or read right."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import random
import sqlite3
import zipfile
from pathlib import Path

import pytest

import hitsndiffs as hnd
from hitsndiffs.reading.files.old_excel import cells_without_value

ROWS = [
    {"user": f"student-{u}", "item": f"q{i}", "option": "ABC"[(u * i) % 3]}
    for u in range(6)
    for i in range(5)
]
LINES = [json.dumps(row) for row in ROWS]
TABLE = "user,q1,q2\n" + "".join(f"student-{k},{'AB'[k % 2]},{'ABC'[k % 3]}\n" for k in range(6))


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return out.getvalue()


def database() -> bytes:
    connection = sqlite3.connect(":memory:")
    connection.execute("create table answers (user)")
    return connection.serialize()


OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2000)
PAGE = b"<!doctype html><html><body>Sign in</body></html>"

#: What is in a file under some name, and what must be said of it.
FOREIGN: dict[str, tuple[str, bytes, str]] = {
    "bzip2": ("a.csv", b"BZh91AY&SY" + bytes(50), "compressed with bzip2"),
    "xz": ("a.csv.xz", b"\xfd7zXZ\0" + bytes(50), "compressed with xz"),
    "lzma": ("a.lzma", b"\x5d\0\0\x80\0" + bytes(50), "compressed with xz"),
    "compress": ("a.Z", b"\x1f\x9d\x90" + bytes(50), "unpack it first"),
    "lz4": ("a.lz4", b"\x04\x22\x4d\x18" + bytes(50), "compressed with lz4"),
    "tar": ("a.tar", b"a.csv".ljust(257, b"\0") + b"ustar\0", "a tar archive"),
    "packed tar": ("a.tar.gz", gzip.compress(bytes(257) + b"ustar\0"), "a tar archive"),
    "empty zip": ("a.zip", b"PK\x05\x06" + bytes(18), "an empty zip archive"),
    "PDF": ("a.csv", b"\n%PDF-1.7", "a PDF"),
    "RTF": ("a.csv", rb"{\rtf1 hello}", "a text document"),
    "Word": ("a.csv", zipped(word__document_dot_xml=b"<w/>"), "a Word document"),
    "PowerPoint": ("a.zip", zipped(ppt__presentation_dot_xml=b"<p/>"), "a PowerPoint"),
    "Writer": ("a.odt", zipped(mimetype=b"x.text", content_dot_xml=b"<x/>"), "a text document"),
    "old Word": ("a.doc", OLD_OFFICE + "WordDocument".encode("utf-16-le"), "a Word document"),
    "locked": ("a.xlsx", OLD_OFFICE + "EncryptedPackage".encode("utf-16-le"), "a password"),
    "Minitab": ("a.mtw", OLD_OFFICE, "another program"),
    "Excel 4": ("a.xls", b"\x09\x04\x06\0\0\0\x10\0" + bytes(50), "before 1993"),
    "SQLite": ("a.csv", database(), "a database"),
    "Access": ("a.mdb", b"\0\1\0\0Standard Jet DB\0", "an Access database"),
    "dBase": ("a.dbf", b"\x03\x7c\x01\x0f" + bytes(60), "a dBase table"),
    "R": ("a.rds", gzip.compress(b"X\n\0\0\0\3\0\4"), "R's own data"),
    "R, bzip2": ("a.rds", b"BZh91AY&SY", "R's own data"),
    "R, text": ("a.rds", b"A\n3\n262657\n197888\n", "R's own data"),
    "Avro": ("a.avro", b"Obj\x01\x04", "an Avro or ORC file"),
    "pickle": ("a.pkl", b"(dp0\nVuser\n", "a Python pickle"),
    "SAS catalogue": ("a.sas7bcat", bytes(12) + b"\xc2\xea\x81\x63", "a catalogue of SAS"),
    "bitmap": ("a.bmp", b"BM\x36\0\0\0\0\0\0\0", "a picture"),
    "film": ("a.csv", b"\0\0\0\x20ftypisom", "a film"),
    "program": ("a.csv", b"\x7fELF\2\1\1", "a program"),
    "noise": ("a.csv", bytes(range(1, 32)) * 9, "not text"),
    "noise with zeros": ("a.csv", bytes(range(32)) * 9, "not text"),
    "Arrow": ("a.csv", b"ARROW1\0\0", "write it as Parquet or CSV"),
    "HDF5": ("a.csv", b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    "NumPy": ("a.csv", b"\x93NUMPY\x01\0", "load it with numpy.load()"),
    "binary pickle": ("a.csv", pickle.dumps({"a": [1]}), "a Python pickle"),
    "PNG": ("a.csv", b"\x89PNG\r\n\x1a\n", "a picture; the table itself is needed"),
    "git-annex": ("a.csv", b"/annex/objects/SHA256E-s1--00\n", "git annex get"),
    "Git LFS": ("a.csv", b"version https://git-lfs.github.com/spec/v1\noid x\n", "Git LFS"),
    "page": ("a.csv", b"\n <!-- saved -->" + PAGE, "a web page, not a table"),
    "page as workbook": ("a.xls", PAGE, "save it as xlsx or CSV"),
    "XML": ("a.csv", b"<Error><Code>AccessDenied</Code></Error>", "text without a table"),
    "Excel's XML": (
        "a.xls",
        b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
        "Excel's XML of 2003",
    ),
    "an error": ("a.csv", b"404: Not Found", "nothing but '404: Not Found'"),
    "a scalar": ("a.json", b"null", "nothing but 'null'"),
    "callback": ("a.json", f"load({json.dumps(ROWS)});".encode(), "words of a program around it"),
    "script": ("a.js", f"var rows = {json.dumps(ROWS)};".encode(), "words of a program around it"),
    "comment": ("a.json", f"// rows\n{json.dumps(ROWS)}".encode(), "take the comments out"),
    "Python": ("a.jsonl", "\n".join(map(str, ROWS)).encode(), "Python's own notation"),
    "cut": ("a.json", json.dumps(ROWS)[:-9].encode(), "the file is cut short"),
    "last comma": ("a.json", f"[{','.join(LINES)},]".encode(), "a comma stands before the closing"),
    "bare names": ("a.json", b'[{user: "a"}]', "without double quotation marks"),
    "digits": ("a.json", b'[{"user": ' + b"9" * 5000 + b"}]", "thousands of digits"),
    "one user": ("a.csv", b"user,q1,q2\nann,A,B\n", "give the answers of the others"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_what_is_no_table_is_named(name, tmp_path):
    file, content, words = FOREIGN[name]
    path = tmp_path / file
    path.write_bytes(content)
    with pytest.raises(hnd.InputError, match=r"^a\.[\w.]+[:,]") as caught:
        hnd.read_responses(path)
    assert words in str(caught.value)


@pytest.mark.parametrize("suffix", ["json", "parquet"])
@pytest.mark.parametrize(
    "name", ["Git LFS", "page", "R", "bzip2", "HDF5", "NumPy", "PDF", "pickle"]
)
def test_a_name_does_not_hide_what_a_file_is(name, suffix, tmp_path):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(FOREIGN[name][1])
    with pytest.raises(hnd.InputError, match="this is ") as caught:
        hnd.read_responses(path)
    assert FOREIGN[name][2] in str(caught.value)


@pytest.mark.parametrize(
    "name", ["user,q1\n", "[ID],q1\n", "<none>,q1\n", "<p>id</p>,q1\n", "MZ,BM\n", "ORC,RIFF\n"]
)
def test_a_table_that_begins_like_another_file_is_read(name, tmp_path):
    path = Path(tmp_path, "a.csv")
    path.write_text(name + "".join(f"student-{k},{'AB'[k % 2]}\n" for k in range(6)))
    assert hnd.read_responses(path, user=name.split(",")[0]).n_users == 6


#: JSON in shapes that are no plain list of records, all with the same answers.
SHAPES = {
    "records without a break": "".join(LINES),
    "records on several lines": "\n".join(json.dumps(row, indent=1) for row in ROWS),
    "records with commas": ",\n".join(LINES),
    "several lists": "\n".join(json.dumps(ROWS[k : k + 10]) for k in range(0, 30, 10)),
    "lists with a header": json.dumps([list(ROWS[0]), *(list(row.values()) for row in ROWS)]),
    "lines of lists": "\n".join(
        json.dumps(own) for own in [list(ROWS[0]), *(list(row.values()) for row in ROWS)]
    ),
    "lists inside": json.dumps(
        {"range": "A1:C31", "values": [list(ROWS[0]), *(list(row.values()) for row in ROWS)]}
    ),
    "a mark of the order of bytes": "\ufeff" + json.dumps(ROWS),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_json_in_other_shapes_is_read(shape, tmp_path):
    path = tmp_path / "a.json"
    path.write_text(SHAPES[shape], encoding="utf-8")
    found = hnd.read_responses(path)
    assert set(found.triples()) == {tuple(row.values()) for row in ROWS}


def test_a_text_in_another_encoding_is_read(tmp_path):
    for encoding in ("utf-16", "utf-16-le", "utf-32"):
        path = tmp_path / f"{encoding}.csv"
        path.write_bytes(TABLE.encode(encoding))
        assert hnd.read_responses(path).n_responses == 12


DRAWN = {
    "Markdown": "| user | q1 |\n|------|:---:|\n",
    "a database": " user | q1\n------+----\n",
    "a box": "+------+----+\n| user | q1 |\n+------+----+\n",
}


@pytest.mark.parametrize("kind", DRAWN)
def test_the_lines_of_a_drawn_table_are_no_users(kind, tmp_path):
    edge = "" if kind == "a database" else "|"
    path = tmp_path / "a.txt"
    rows = "".join(f"{edge} student-{k} | {'AB'[k % 2]} {edge}\n" for k in range(6))
    path.write_text(DRAWN[kind] + rows)
    assert hnd.read_responses(path).users.tolist() == [f"student-{k}" for k in range(6)]


@pytest.mark.parametrize("n_rows", [12, 400])  # a small stream, and one of whole sectors
def test_an_old_workbook_tells_what_has_no_value(n_rows, tmp_path):
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    book.add_sheet("plan").write(0, 0, "see the next sheet")
    sheet = book.add_sheet("answers")
    for k, name in enumerate(("user", "q1", "q2", "q3")):
        sheet.write(0, k, name)
    for k in range(1, n_rows + 1):
        sheet.write(k, 0, f"student-{k:03}")
        sheet.write(k, 1, "ABC"[k % 3])
        sheet.write(k, 2, "AB"[k % 2] if k > 3 else xlwt.Formula(f"B{k}"))
        if k in (5, 7):
            sheet.row(k).set_cell_error(3, 0x2A)  # #N/A
        else:
            sheet.write(k, 3, "AB"[k % 2])
    path = tmp_path / "a.xls"
    book.save(str(path))
    notes = " ".join(hnd.read_responses(path).notes)
    assert "3 cells hold formulas without a stored value" in notes
    assert "2 cells hold errors such as #N/A" in notes


def test_a_damaged_old_workbook_tells_nothing(tmp_path):
    xlwt = pytest.importorskip("xlwt")
    book = xlwt.Workbook()
    book.add_sheet("answers").write(0, 0, xlwt.Formula("1"))
    book.save(str(tmp_path / "a.xls"))
    data = (tmp_path / "a.xls").read_bytes()
    assert cells_without_value(data) == {"answers": (1, 0)}
    chance = random.Random(0)
    for _ in range(300):
        changed = bytearray(data[: chance.randrange(512, len(data))])
        for _ in range(chance.randrange(1, 9)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        for name, counts in cells_without_value(bytes(changed)).items():
            assert isinstance(name, str)
            assert min(counts) >= 0
