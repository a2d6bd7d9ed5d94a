"""No file asks for more memory or time than it needs, and what is no table is named."""

from __future__ import annotations

import gzip
import io
import json
import os
import pickle
import resource
import subprocess
import sys
import threading
import time
import zipfile

import pytest

import hitsndiffs as hnd
from hitsndiffs.errors import InputError

ROWS = [[f"u{k}", *("ABC"[(k * j + j) % 3] for j in range(1, 8))] for k in range(20)]
HEADER = ["user", *(f"q{j}" for j in range(1, 8))]
GIB = 1 << 30
#: Memory that a reading process may really have, whatever the machine pretends.
ALLOWED = int(1.5 * GIB)

READ = """
import os, resource, sys
real = os.sysconf
pages = int(sys.argv[1]) // real("SC_PAGE_SIZE")
os.sysconf = lambda name: pages if name == "SC_PHYS_PAGES" else real(name)
import hitsndiffs as hnd
try:
    print(hnd.read_responses(sys.argv[2]))
except hnd.InputError as error:
    print("refused:", error)
# (the peak of ru_maxrss may be that of the process that started this one)
status = open('/proc/self/status').read()
print(int(status.partition('VmHWM:')[2].split()[0]) * 1024)
"""


def read_on(machine: int, path) -> tuple[str, int]:
    """Read a file where the machine says that it has this much memory: what came, and the peak."""
    limit = (ALLOWED, ALLOWED)
    done = subprocess.run(
        [sys.executable, "-P", "-c", READ, str(machine), str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "POLARS_MAX_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, limit),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said, peak = done.stdout.strip().rsplit("\n", 1)
    return said, int(peak)


both_machines = pytest.mark.parametrize("machine", [64 * GIB, GIB], ids=["64 GiB", "1 GiB"])


# -- spreadsheets --------------------------------------------------------------------------------


def xlsx(path, far: str | None = None, **cells):
    book = pytest.importorskip("openpyxl").Workbook()
    sheet = book.active
    for row in (HEADER, *ROWS):
        sheet.append(row)
    for name, value in cells.items():
        sheet[name] = value
    if far is not None:
        sheet[far] = "stray"
    book.save(path)


def xls(path, far: str | None = None):
    book = pytest.importorskip("xlwt").Workbook()
    sheet = book.add_sheet("answers")
    for k, row in enumerate((HEADER, *ROWS)):
        for j, cell in enumerate(row):
            sheet.write(k, j, cell)
    book.save(str(path))
    if far is not None:  # what no program writes: the last cell that a record can name
        data = bytearray(path.read_bytes())
        place = data.rfind(b"\xfd\x00\x0a\x00") + 4
        data[place : place + 4] = b"\xff\xff\xff\xff"
        path.write_bytes(data)


def ods(path, far: str | None = None):
    def row(cells, times=1):
        inner = "".join(
            f'<table:table-cell office:value-type="string"><text:p>{cell}</text:p>'
            "</table:table-cell>"
            for cell in cells
        )
        rest = '<table:table-cell table:number-columns-repeated="16370"/>'
        return (
            f'<table:table-row table:number-rows-repeated="{times}">{inner}{rest}</table:table-row>'
        )

    lines = [row(cells) for cells in (HEADER, *ROWS)]
    lines.append(row([], 1_000_000))
    if far is not None:
        lines.append(
            "<table:table-row><table:table-cell table:number-columns-repeated="
            '"16000"/><table:table-cell office:value-type="string"><text:p>stray</text:p>'
            "</table:table-cell></table:table-row>"
        )
    names = {
        name: f"urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"
        for name in ("office", "table", "text")
    }
    spaces = " ".join(f'xmlns:{name}="{uri}"' for name, uri in names.items())
    content = (
        f'<?xml version="1.0"?><office:document-content {spaces}><office:body>'
        f'<office:spreadsheet><table:table table:name="answers">{"".join(lines)}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = (
        '<?xml version="1.0"?><manifest:manifest xmlns:manifest="'
        'urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        out.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        out.writestr("content.xml", content)
        out.writestr("META-INF/manifest.xml", manifest)


@both_machines
@pytest.mark.parametrize("make", [xlsx, xls, ods])
def test_a_far_cell_is_refused_and_named(tmp_path, machine, make):
    path = tmp_path / f"answers.{make.__name__}"
    make(path)
    said, _ = read_on(machine, path)
    assert said.startswith("Responses(20 users × 7 items"), said
    make(path, "XFD1048576")
    said, peak = read_on(machine, path)
    assert said.startswith(f"refused: {path.name}: "), said
    assert "stray cell" in said
    assert peak < GIB // 2


def test_the_far_cell_is_named_by_its_place(tmp_path):
    path = tmp_path / "answers.xlsx"
    xlsx(path, "XFD20000")
    with pytest.raises(InputError, match="up to XFD20000; delete the stray cells"):
        hnd.read_responses(path)


def test_a_half_empty_sheet_is_no_fault(tmp_path):
    book = pytest.importorskip("openpyxl").Workbook()
    sheet = book.active
    sheet.append(["user", *(f"q{j}" for j in range(400))])
    for k in range(400):
        sheet.append([f"u{k}", *([None] * k), "AB"[k % 3 == 0], "AB"[k % 2]])
    book.save(tmp_path / "sparse.xlsx")
    assert hnd.read_responses(tmp_path / "sparse.xlsx").n_users == 400


def test_formulas_without_values_and_errors_are_counted(tmp_path):
    path = tmp_path / "answers.xlsx"
    xlsx(path, B2="=A2", B3="=A3", C4="#N/A")
    [note] = [note for note in hnd.read_responses(path).notes if "formula" in note]
    assert note.startswith("2 cells hold formulas without a stored value and came as blank")
    assert "1 cell holds an error" in note
    xlsx(path)
    assert not [note for note in hnd.read_responses(path).notes if "formula" in note]


# -- limits --------------------------------------------------------------------------------------


@both_machines
def test_a_small_json_takes_little(tmp_path, machine):
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([dict(zip(HEADER, row, strict=True)) for row in ROWS]))
    said, peak = read_on(machine, path)
    assert said.startswith("Responses(20 users × 7 items")
    assert peak < GIB // 2


@pytest.mark.parametrize("header", ["q1,q2", "user,item,option"])
def test_the_limit_holds_for_packed_rows(tmp_path, header):
    path = tmp_path / "bomb.csv.gz"
    row = b"A,B\n" if header == "q1,q2" else b"a,b,C\n"
    with gzip.open(path, "wb", 6) as out:
        out.write(header.encode() + b"\n")
        for _ in range(10):
            out.write(row * 1_000_000)
    assert path.stat().st_size < 300_000
    with pytest.raises(InputError, match="larger than the memory limit allows \\(500 MiB\\)"):
        hnd.read_responses(path, max_memory="500MB")


# -- what gives its bytes only once --------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["fifo", "dev"])
def test_a_pipe_is_read_once(tmp_path, packed, kind):
    text = "\n".join(",".join(row) for row in (HEADER, *ROWS)).encode()
    data = gzip.compress(text) if packed else text
    if kind == "fifo":
        path = tmp_path / "pipe"
        os.mkfifo(path)
        writer = threading.Thread(target=lambda: path.write_bytes(data))
        writer.start()
        r = hnd.read_responses(path)
        writer.join()
    else:
        end, begin = os.pipe()
        os.write(begin, data)
        os.close(begin)
        r = hnd.read_responses(f"/dev/fd/{end}")
        os.close(end)
    assert (r.n_users, r.n_items) == (20, 7)


# -- what is no table ----------------------------------------------------------------------------


def npy() -> bytes:
    numpy = pytest.importorskip("numpy")
    out = io.BytesIO()
    numpy.save(out, numpy.zeros((3, 3)))
    return out.getvalue()


@pytest.mark.parametrize(
    ("data", "said", "remedy"),
    [
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\n", "Git LFS", "git lfs pull"),
        (b"/annex/objects/SHA256E-s1--00\n", "git-annex", "git annex get"),
        (b"\n<!DOCTYPE html><html><body>Sign in</body></html>", "a web page", "download"),
        (b"RDX3\nX\n\x00\x00\x00\x03", "R's own data", "write.csv"),
        (gzip.compress(b"RDX3\nX\n\x00\x00\x00\x03"), "R's own data", "write.csv"),
        (gzip.compress(b"X\n\x00\x00\x00\x03\x00\x04"), "R's own data", "write.csv"),
        (b"%PDF-1.7", "a PDF", "CSV"),
        (b"BZh91AY&SY\x00", "bzip2", "unpack"),
        (b"ARROW1\x00\x00", "Arrow", "Parquet"),
        (b"\x89HDF\r\n\x1a\n", "HDF5", "CSV"),
        (pickle.dumps({"a": [1]}), "pickle", "CSV"),
        (npy, "NumPy", "numpy.load"),
        (b"\x89PNG\r\n\x1a\n", "a picture", "table"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("suffix", ["csv", "json", "parquet"])
def test_what_is_no_table_is_named_with_what_to_do(tmp_path, data, said, remedy, suffix):
    path = tmp_path / f"data.{suffix}"
    path.write_bytes(data if isinstance(data, bytes) else data())
    with pytest.raises(InputError, match="this is ") as refused:
        hnd.read_responses(path)
    assert said in str(refused.value)
    assert remedy in str(refused.value)


# -- time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["jsonl", "json"])
def test_records_take_linear_time(tmp_path, form):
    def seconds(n: int) -> float:
        records = [
            {"user": f"u{k}", **{f"q{j}": "ABC"[(k + j) % 3] for j in range(5)}} for k in range(n)
        ]
        path = tmp_path / f"{n}.{form}"
        texts = [json.dumps(record) for record in records]
        path.write_text("\n".join(texts) if form == "jsonl" else f"[{','.join(texts)}]")
        best = float("inf")
        for _ in range(2):
            begin = time.process_time()
            hnd.read_responses(path)
            best = min(best, time.process_time() - begin)
        return best

    seconds(1000)
    assert seconds(20_000) < 7 * seconds(5000) + 0.1
