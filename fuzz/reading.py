"""Kinds that read: damaged bytes, odd tables, and one content on many paths."""

from __future__ import annotations

import csv
import functools
import io
import json
import os
import random
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from formats.cases import CASES, PLAIN, made
from formats.quiz import jsonl_bytes, ods_bytes, xlsx_bytes, zip_bytes
from reading_helpers import as_if_large, content

import hitsndiffs as hnd
from fuzz.mutation import damaged
from hitsndiffs.errors import InputError

#: Files that take longer to read are chosen less often.
SLOW = (".xlsx", ".ods", ".zip", ".parquet", ".eval", ".gz", ".zst")


@functools.cache
def files(name: str) -> tuple[tuple[str, bytes], ...]:
    """The files of a format."""
    return tuple(made(name).files.items())


def names() -> list[str]:
    """The names of all formats and plain files."""
    return [*CASES, *PLAIN]


@functools.cache
def plain(kind: str) -> bytes:
    """A small table in some container."""
    rng = random.Random(kind)
    rows = [[f"student-{k:02}", *(rng.choice("ABC") for _ in range(4))] for k in range(9)]
    header = ["student", "q1", "q2", "q3", "q4"]
    frame = pl.DataFrame(rows, schema=header, orient="row")
    out = io.BytesIO()
    if kind == "parquet":
        frame.write_parquet(out)
    elif kind == "xlsx":
        return xlsx_bytes({"Sheet": [header, *rows]})
    elif kind == "ods":
        return ods_bytes("Sheet", [header, *rows])
    elif kind == "jsonl":
        return jsonl_bytes(frame.to_dicts())
    elif kind == "json":
        return json.dumps(frame.to_dicts()).encode()
    elif kind == "zip":
        return zip_bytes({"a.csv": frame.write_csv().encode()})
    elif kind == "gz":
        import gzip

        return gzip.compress(frame.write_csv().encode())
    elif kind == "zst":
        import zstandard

        return zstandard.compress(frame.write_csv().encode())
    elif kind == "key":
        return b"item,answer\nq1,A\nq2,B\nq3,C\n"
    elif kind == "plan":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.csv"
            frame.write_csv(path)
            return json.dumps(hnd.plan(path).to_dict()).encode()
    elif kind == "saved":
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "saved.json"
            hnd.rank(hnd.Responses.from_wide(frame), "hnd").save(path)
            return path.read_bytes()
    else:
        frame.write_csv(out, separator={"tsv": "\t", "semicolon": ";"}.get(kind, ","))
    return out.getvalue()


CONTAINERS = ["csv", "tsv", "semicolon", "jsonl", "json", "gz", "zst", "parquet", "zip", "key"]
CONTAINERS += ["saved", "plan", "xlsx", "ods"]
RARE = ("parquet", "zip", "xlsx", "ods", "saved", "plan")


class Bytes:
    """Damaged files of every container and format: a reading or one sentence."""

    def make(self, rng: random.Random) -> tuple[str, str, bytes]:
        if rng.random() < 0.5:
            kind = rng.choice(CONTAINERS)
            while kind in RARE and rng.random() < 0.7:
                kind = rng.choice(CONTAINERS)
            return kind, f"a.{kind}", damaged(plain(kind), rng, plain(rng.choice(CONTAINERS[:7])))
        name, data = rng.choice(files(rng.choice(names())))
        while name.endswith(SLOW) and rng.random() < 0.8:
            name, data = rng.choice(files(rng.choice(names())))
        return "file", Path(name).name, damaged(data, rng)

    def run(self, given: tuple[str, str, bytes], folder: Path) -> str:
        kind, name, data = given
        return reading(kind, name, data, folder)


@functools.cache
def exports() -> tuple[Path, ...]:
    """Real exports of at most 200 kB, where they are at hand (the folder HITSNDIFFS_DATA)."""
    data = os.environ.get("HITSNDIFFS_DATA")
    found = [] if data is None else sorted(Path(data).glob("exports*/**/*"))
    return tuple(p for p in found if p.is_file() and 0 < p.stat().st_size < 200_000)


class Exports:
    """Damaged real exports."""

    def make(self, rng: random.Random) -> tuple[str, str, bytes]:
        path = rng.choice(exports())
        while path.name.endswith(SLOW) and rng.random() < 0.7:
            path = rng.choice(exports())
        return "file", path.name, damaged(path.read_bytes(), rng)

    def run(self, given: tuple[str, str, bytes], folder: Path) -> str:
        kind, name, data = given
        return reading(kind, name, data, folder)


class Tables:
    """Odd tables, well written: names, cells, rows and columns that nobody foresees."""

    def make(self, rng: random.Random) -> tuple[str, str, bytes]:
        words = ["user", "item", "answer", "q1", "Q2", "score", "total", "key", "id", "", "A", "B"]
        words += ["name", "1", "2.0", "true", "N/A", "-5", "x" * 120, "ä", "a\nb", 'say "so"', "=1"]
        rows = rng.choice([0, 1, 2, 3, 5, 8, 20, 60])
        columns = rng.choice([1, 2, 3, 4, 7, 25])
        few = rng.sample(words, rng.randint(1, len(words)))
        header = [rng.choice(words) if rng.random() < 0.5 else f"q{k}" for k in range(columns)]
        table = [
            [f"u{k}" if rng.random() < 0.9 else rng.choice(few), *rng.choices(few, k=columns - 1)]
            for k in range(rows)
        ]
        ending = rng.choice(["csv", "csv", "tsv", "jsonl", "json", "csv", "jsonl"])
        if ending in ("csv", "tsv"):
            out = io.StringIO()
            mark = {"csv": rng.choice(",;|"), "tsv": "\t"}[ending]
            quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
            csv.writer(out, delimiter=mark, quoting=quoting).writerows([header, *table])
            return ending, f"t.{ending}", out.getvalue().encode()
        records: list[dict[str, Any]] = [dict(zip(header, row, strict=True)) for row in table]
        if ending == "json":
            return ending, "t.json", json.dumps(records).encode()
        return ending, "t.jsonl", b"\n".join(json.dumps(r).encode() for r in records)

    def run(self, given: tuple[str, str, bytes], folder: Path) -> str:
        kind, name, data = given
        return reading(kind, name, data, folder)


def reading(kind: str, name: str, data: bytes, folder: Path) -> str:
    """Read some bytes as what they are meant to be: fine, or one sentence."""
    try:
        if kind == "saved":
            (folder / "saved.json").write_bytes(data)
            hnd.load(folder / "saved.json").table()
        elif kind == "key":
            hnd.read_key(io.BytesIO(data))
        elif kind == "plan":
            (folder / "plan.json").write_bytes(data)
            (folder / "a.csv").write_bytes(plain("csv"))
            hnd.read_responses(folder / "a.csv", plan=folder / "plan.json")
        elif len(data) % 2:
            hnd.read_responses(io.BytesIO(data), max_memory="1GB")
        else:
            path = folder / name[-60:]
            path.write_bytes(data)
            try:
                r = hnd.read_responses(path, max_memory="1GB")
            finally:
                path.unlink()
            if r.n_responses % 8 == 0 and r.n_users < 100:
                hnd.rank(r, "majority")
    except InputError as error:
        said = str(error)
        assert said.endswith((".", "?")), f"no sentence: {said!r}"
        assert len(said) < 2000, f"{len(said)} characters: {said[:300]!r}"
        assert not any(ord(c) < 32 and c != "\n" for c in said), f"escapes: {said!r}"
        return "refused"
    return "read"


class Paths:
    """One content on the small path, the large path, in frames, JSONL and Parquet."""

    def make(self, rng: random.Random) -> dict[str, Any]:
        users, items = rng.randint(2, 14), rng.randint(1, 6)
        labels = [["A", "B", "C"], ["1", "2", "10"], ["yes", "no"], ["ja", "ä b", 'c"d', "e,f"]]
        own = [rng.choice(labels) for _ in range(items)]
        blank = rng.choice([0.0, 0.0, 0.2])
        rows = [
            [None if rng.random() < blank else rng.choice(words) for words in own]
            for _ in range(users)
        ]
        rows[0] = [words[0] for words in own]
        rows[1] = [words[1] for words in own]
        return {"rows": rows, "chunk": rng.choice([16, 40, 64, 300]), "long": rng.random() < 0.4}

    def run(self, given: dict[str, Any], folder: Path) -> str:
        rows, n = given["rows"], len(given["rows"][0])
        users = [f"student-{k:02}" for k in range(len(rows))]
        items = [f"q{i}" for i in range(n)]
        if given["long"]:
            cells = [
                (u, i, a)
                for u, row in zip(users, rows, strict=True)
                for i, a in zip(items, row, strict=True)
                if a is not None
            ]
            frame = pl.DataFrame(cells, schema=["user", "item", "option"], orient="row")
            direct = hnd.Responses.from_long
        else:
            frame = pl.DataFrame(
                [[u, *row] for u, row in zip(users, rows, strict=True)],
                schema=dict.fromkeys(["user", *items], pl.String),
                orient="row",
            )
            direct = hnd.Responses.from_wide
        text = frame.write_csv().encode()
        records = b"\n".join(json.dumps(r).encode() for r in frame.to_dicts())
        parquet = io.BytesIO()
        frame.write_parquet(parquet)
        found = {
            "csv": lambda: hnd.read_responses(io.BytesIO(text)),
            "csv as if large": lambda: _large(text, given["chunk"]),
            "jsonl": lambda: hnd.read_responses(io.BytesIO(records)),
            "jsonl as if large": lambda: _large(records, given["chunk"]),
            "parquet": lambda: hnd.read_responses(io.BytesIO(parquet.getvalue())),
            "polars": lambda: direct(frame),
            "pandas": lambda: direct(frame.to_pandas()),
        }
        first = None
        for name, read in found.items():
            try:
                now: Any = content(read())
            except InputError as error:
                now = ("refused", type(error).__name__)
            if first is None:
                first = now
            assert now == first, f"csv and {name} differ: {first!r} | {now!r}"
        return "refused" if first is not None and first[0] == "refused" else "read"


def _large(data: bytes, chunk: int) -> Any:
    return hnd.read_responses(io.BytesIO(data), sizes=as_if_large(chunk))


__all__ = ["Bytes", "Exports", "Paths", "Tables", "exports", "files", "names", "plain"]
