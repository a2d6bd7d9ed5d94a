"""Growth: twice the input takes at most two and a half times as long."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from formats.quiz import ods_bytes, xlsx_bytes, zip_bytes

import hitsndiffs as hnd
from fuzz.child import processor_time
from hitsndiffs.data.processes import decoder
from hitsndiffs.errors import InputError

#: Allowed ratio of the times for twice the input.
LIMIT = 2.5
#: Seconds of processor time that the smaller input must take to be measured, the largest size
#: (nothing took long enough: fine), and how often a suspect is measured again.
LEAST, LARGEST, AGAIN = 0.15, 1 << 20, 4


def letters(rng: random.Random, n: int) -> list[str]:
    """Answers at random."""
    return rng.choices("ABCD", k=n)


def rows(rng: random.Random, size: int) -> list[list[str]]:
    """One row per user, eight items."""
    header = ["user", *(f"q{k}" for k in range(8))]
    return [header, *([f"u{j}", *letters(rng, 8)] for j in range(size))]


def columns(rng: random.Random, size: int) -> list[list[str]]:
    """Twelve users, many items."""
    header = ["user", *(f"q{k}" for k in range(size))]
    return [header, *([f"u{j}", *letters(rng, size)] for j in range(12))]


def long(rng: random.Random, size: int) -> list[list[str]]:
    """One row per answer."""
    items = max(size // 20, 1)
    cells = [[f"u{k // items}", f"q{k % items}", rng.choice("ABCD")] for k in range(size)]
    return [["user", "item", "answer"], *cells]


def few_users(rng: random.Random, size: int) -> list[list[str]]:
    """One row per answer, three users."""
    cells = [[f"u{k % 3}", f"q{k // 3}", rng.choice("ABCD")] for k in range(size)]
    return [["user", "item", "answer"], *cells]


def words(rng: random.Random, size: int) -> list[list[str]]:
    """Every answer is another text."""
    cells = [[f"u{k // 20}", f"q{k % 20}", f"text {rng.random()}"] for k in range(size)]
    return [["user", "item", "answer"], *cells]


def repeated(rng: random.Random, size: int) -> list[list[str]]:
    """The same user answers the same items again and again."""
    cells = [["u1", f"q{k % 5}", rng.choice("AB")] for k in range(size)]
    return [["user", "item", "answer"], ["u2", "q1", "A"], *cells]


def one_name(rng: random.Random, size: int) -> list[list[str]]:
    """All columns have the same name."""
    return [["user", *["q"] * size], *([f"u{j}", *letters(rng, size)] for j in range(6))]


def junk_above(rng: random.Random, size: int) -> list[list[str]]:
    """Remarks above the table."""
    return [*([f"remark {k}"] for k in range(size)), *rows(rng, 30)]


def long_cells(rng: random.Random, size: int) -> list[list[str]]:
    """Cells of many characters."""
    text = 'a b;c,d"e\n' * max(size // 100, 1)
    return [["user", "q1", "q2"], *([f"u{j}", text + rng.choice("AB"), "A"] for j in range(10))]


SHAPES = [rows, columns, long, few_users, words, repeated, one_name, junk_above, long_cells]


def csv_bytes(table: list[list[str]]) -> bytes:
    """The table as text."""
    out = io.StringIO()
    csv.writer(out).writerows(table)
    return out.getvalue().encode()


def records(table: list[list[str]]) -> list[dict[str, str]]:
    """The rows as objects."""
    header = [name if name != "q" else f"q{k}" for k, name in enumerate(table[0])]
    return [dict(zip(header, row, strict=False)) for row in table[1:]]


def nested(table: list[list[str]]) -> bytes:
    """The records below two more levels."""
    return json.dumps({"run": {"results": records(table)}}).encode()


def many_files(table: list[list[str]]) -> bytes:
    """An archive with a file for every 20 rows."""
    parts = range(1, len(table), 20)
    return zip_bytes({f"part-{k}.csv": csv_bytes([table[0], *table[k : k + 20]]) for k in parts})


WRITERS: dict[str, Callable[[list[list[str]]], bytes]] = {
    "csv": csv_bytes,
    "jsonl": lambda table: b"\n".join(json.dumps(r).encode() for r in records(table)),
    "json": lambda table: json.dumps(records(table)).encode(),
    "nested.json": nested,
    "xlsx": lambda table: xlsx_bytes({"Sheet": table}),
    "ods": lambda table: ods_bytes("Sheet", table),
    "zip": many_files,
}


class Growth:
    """A shape in a container, doubled until it can be measured, and doubled once more."""

    def make(self, rng: random.Random) -> dict[str, Any]:
        return {
            "shape": rng.randrange(len(SHAPES)),
            "ending": rng.choice(list(WRITERS)),
            "seed": rng.randrange(2**31),
            "small": rng.randint(100, 400),
            "ranks": rng.random() < 0.3,
        }

    def run(self, given: dict[str, Any], folder: Path) -> str:
        size = given["small"]
        seconds(given, size, folder)  # what is imported and compiled once is no growth
        while (now := min(seconds(given, size, folder) for _ in "12")) < LEAST:
            size *= 2
            if size > LARGEST:
                return "fast at every size"
        found = []
        for _ in range(AGAIN):  # a busy machine measures too much, never too little
            now = min(now, seconds(given, size, folder))
            found.append(seconds(given, 2 * size, folder))
            if min(found) <= LIMIT * now:
                return "at most in proportion"
        what = f"{SHAPES[given['shape']].__name__} as {given['ending']}"
        raise AssertionError(f"{what}: {size} takes {now:.2f} s, twice that {min(found):.2f} s")


def seconds(given: dict[str, Any], size: int, folder: Path) -> float:
    """Processor time of reading (and ranking) a table of some size."""
    table = SHAPES[given["shape"]](random.Random(given["seed"]), size)
    path = folder / f"grown.{given['ending']}"
    path.write_bytes(WRITERS[given["ending"]](table))
    began = spent()
    with contextlib.suppress(InputError):
        read = hnd.read_responses(path, max_memory="4GB")
        if given["ranks"]:
            hnd.rank(read, "hnd")
    taken = spent() - began
    path.unlink()
    return taken


def spent() -> float:
    """Processor time of this process and of the one that decodes for it."""
    other = decoder._child
    return time.process_time() + (0.0 if other is None else processor_time(other.pid))
