"""No file asks for more memory or time than it needs."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import subprocess
import sys
import threading
import time
import zipfile

import polars as pl
import pytest
from formats.quiz import ods_bytes, xlsx_bytes

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


def patched(data: bytes, **changes: tuple[str, str]) -> bytes:
    """A packed file with texts in some members replaced (pattern, text)."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", 8) as new:
        for name in old.namelist():
            pattern, text = changes.get(name.rpartition("/")[2].partition(".")[0], ("$^", ""))
            xml, n = re.subn(
                pattern, lambda _, text=text: text, old.read(name).decode(), flags=re.S
            )
            assert n or pattern == "$^"
            new.writestr(name, xml)
    return out.getvalue()


def xlsx(path, far: str | None = None, *, row: str = "", texts: str | None = None, **cells: str):
    """Write a workbook, with the XML of some cells or of a row more as given, and shared texts."""
    data = xlsx_bytes({"S": [HEADER, *ROWS]})
    if far is not None:
        row = f'<row r="{far.lstrip("ABCDEFX")}"><c r="{far}"><v>1</v></c></row>'
    for name, cell in cells.items():
        data = patched(data, sheet1=(f'<c r="{name}".*?</c>', cell))
    data = patched(data, sheet1=("</sheetData>", f"{row}</sheetData>"))
    if texts is not None:
        data = patched(data, sharedStrings=("count=.*</sst>", f"{texts}</sst>"))
    path.write_bytes(data)


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


CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
BLANKS = '<table:table-cell table:number-columns-repeated="{}"/>'


def ods(path, far: str | None = None, text: str = ""):
    """Write a sheet with many blank cells to the right and below, as programs do."""

    def row(cells: str, times: int = 1) -> str:
        return f'<table:table-row table:number-rows-repeated="{times}">{cells}</table:table-row>'

    more = row(CELL.format(text) * 8 + BLANKS.format(16_370), 1000) if text else ""
    more += row(BLANKS.format(16_370), 1_000_000)
    if far is not None:
        more += row(BLANKS.format(16_000) + CELL.format("stray"))
    data = ods_bytes("answers", [HEADER, *ROWS])
    path.write_bytes(patched(data, content=("</table:table>", f"{more}</table:table>")))


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


#: What the XML of a far cell may look like, and texts that are shared by many cells.
SHARED = "".join(
    f'<row r="{k}">' + '<c t="s"><v>0</v></c>' * 20 + "</row>" for k in range(30, 20_000)
)
DEADLY = {
    "line break": {"row": '<row r="9"><c\nr="XFD1048576"><v>1</v></c></row>'},
    "sign in an attribute": {"row": '<row r="9"><c a=">" r="XFD1048576"><v>1</v></c></row>'},
    "cells without places": {"row": f'<row r="1048576">{"<c/>" * 16383}<c><v>1</v></c></row>'},
    "four billion shared texts": {"texts": 'count="4000000000" uniqueCount="4000000000">'},
    "one long shared text": {
        "row": SHARED,
        "texts": f"><si><t>{'x' * 1_000_000}</t></si>{'<si><t>y</t></si>' * 99}",
    },
}


@pytest.mark.parametrize("what", DEADLY)
def test_what_kills_its_decoder_does_not_kill_the_caller(tmp_path, what):
    path = tmp_path / "answers.xlsx"
    xlsx(path, **DEADLY[what])
    said, peak = read_on(64 * GIB, path)
    assert said.startswith("refused: answers.xlsx: the spreadsheet cannot be read (decoding it")
    assert peak < GIB
    xlsx(path)
    assert hnd.read_responses(path).n_users == 20


def test_long_repeated_text_in_an_ods_is_bounded(tmp_path):
    path = tmp_path / "answers.ods"
    ods(path, text="x" * 100_000)
    said, peak = read_on(64 * GIB, path)
    assert said.startswith("refused: answers.ods: the spreadsheet cannot be read (decoding it")
    assert peak < GIB


# -- Parquet -------------------------------------------------------------------------------------


def damaged_parquet() -> bytes:
    """Return a file in which one byte makes Polars ask for more memory than there is."""
    frame = pl.DataFrame({"user": [*"abca"], "q1": [*"ABAB"], "n": [1, 2, 3, 3]})
    out = io.BytesIO()
    frame.write_parquet(out, compression="uncompressed", statistics=False)
    return out.getvalue()


DECODE = """
import io, os, sys
import polars as pl
data = bytearray(sys.stdin.buffer.read())
for place in range(4, 300):
    changed = bytes([*data[:place], 9, *data[place + 1 :]])
    if (child := os.fork()) == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            pl.read_parquet(io.BytesIO(changed))
        except BaseException:
            pass
        os._exit(0)
    if os.WIFSIGNALED(os.waitpid(child, 0)[1]):
        print(place)
        break
"""


@pytest.mark.parametrize("threads", [True, False])
def test_a_parquet_file_that_kills_its_decoder_does_not_kill_the_caller(tmp_path, threads):
    data = damaged_parquet()
    found = subprocess.run(
        [sys.executable, "-P", "-c", DECODE], input=data, capture_output=True, timeout=120
    ).stdout
    assert found, "no byte of the file kills Polars any more: look for another file"
    path = tmp_path / "answers.parquet"
    path.write_bytes(data[: int(found)] + b"\x09" + data[int(found) + 1 :])
    code = "import threading, time, sys, hitsndiffs as hnd\n"
    code += "threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n" * threads
    code += "try: hnd.read_responses(sys.argv[1])\n"
    code += "except hnd.InputError as error: print(error)\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("answers.parquet: the Parquet file is damaged or cut short (dec")
    assert done.stderr == ""


def test_a_short_parquet_file_of_long_texts_is_bounded(tmp_path):
    path = tmp_path / "answers.parquet"
    texts = pl.select(pl.repeat("x" * 50_000, 100_000).alias("q1"), user=pl.int_range(100_000))
    texts.write_parquet(path)
    assert path.stat().st_size < 1_000_000
    with pytest.raises(InputError, match="takes more than 500 MiB"):
        hnd.read_responses(path, max_memory="500MB")


def test_the_other_process_is_kept_and_ends_with_the_program(tmp_path):
    path = tmp_path / "answers.xlsx"
    xlsx(path)
    code = (
        "import sys, hitsndiffs as hnd; from hitsndiffs.data.processes import decoder\n"
        "children = [(hnd.read_responses(sys.argv[1]), decoder._child.pid)[1] for _ in '12']\n"
        "print(*children)"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(path)], capture_output=True, text=True, timeout=120
    )
    first, second = map(int, done.stdout.split())
    assert first == second
    with pytest.raises(ProcessLookupError):
        os.kill(first, 0)


def test_a_half_empty_sheet_is_no_fault(tmp_path):
    with pytest.importorskip("xlsxwriter").Workbook(tmp_path / "sparse.xlsx") as book:
        sheet = book.add_worksheet()
        sheet.write_row(0, 0, ["user", *(f"q{j}" for j in range(400))])
        for k in range(400):
            sheet.write(k + 1, 0, f"u{k}")
            sheet.write_row(k + 1, k + 1, ["AB"[k % 3 == 0], "AB"[k % 2]])
    assert hnd.read_responses(tmp_path / "sparse.xlsx").n_users == 400


def test_formulas_without_values_and_errors_are_counted(tmp_path):
    path = tmp_path / "answers.xlsx"
    formula = '<c r="{}"><f>A2</f></c>'
    xlsx(
        path,
        B2=formula.format("B2"),
        B3=formula.format("B3"),
        C4='<c r="C4" t="e"><v>#N/A</v></c>',
    )
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


@pytest.mark.parametrize("array", [True, False])
def test_the_limit_holds_for_parsed_records(tmp_path, array):
    path = tmp_path / ("bomb.json.gz" if array else "bomb.jsonl.gz")
    with gzip.open(path, "wb", 6) as out:
        out.write(b"[" * array + b'{"user": "a", "q1": "B"}')
        for _ in range(300):
            out.write((b",{}" if array else b"\n{}") * 100_000)
        out.write(b"]" * array)
    code = "import sys, resource, hitsndiffs as hnd\n"
    code += "try: hnd.read_responses(sys.argv[1], max_memory='500MB')\n"
    code += "except hnd.InputError: print(open('/proc/self/status').read())\n"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(path)], capture_output=True, text=True, timeout=120
    )
    peak = int(done.stdout.partition("VmHWM:")[2].split()[0]) * 1024
    assert peak < GIB


def test_the_limit_holds_for_all_members_of_an_archive(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for k in range(20):
            out.writestr(f"{k}.csv", b"user,q1,q2\n" + b"a,B,C\n" * 2_000_000)
    with pytest.raises(InputError, match="larger than the memory limit allows"):
        hnd.read_responses(path, max_memory="300MB")


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
