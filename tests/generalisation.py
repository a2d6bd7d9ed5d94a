"""How well reading generalises: known files, made unlike anything that was seen.

``PYTHONPATH=tests python tests/generalisation.py`` reads every known export four times – as it is;
with all formats switched off, as an unknown file; so, and with random words for all column names;
so, and with rows and columns in another order – and counts what came out right, what was refused
or asked, and what was silently wrong (``--wrong`` lists these, ``--only NAME`` reads some of them,
``--real`` leaves out those made by our own code).

Right is what the manifests call right: users and items as they must be, or a refusal where nothing
can be ranked. A refusal is never wrong.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import json
import random
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl
from formats.quiz import xlsx_bytes
from known_files import Known, Reading, made_files, reading, real_exports
from strange_tables import strange_tables
from wild_tables import wild_tables

from hitsndiffs.errors import InputError
from hitsndiffs.reading.files.documents import FileDocument, Settings, open_document

#: Rows this close below the header stay where they are: some exports have a second header there.
STAY = 3
SYLLABLES = tuple(f"{a}{b}" for a in "bdfghklmnpr" for b in "aeiou")


def word(name: object) -> str:
    """Return a random word, the same for the same name."""
    digest = hashlib.blake2b(str(name).encode(), digest_size=5).digest()
    return "".join(SYLLABLES[byte % len(SYLLABLES)] for byte in digest)


def other_names(rows: list[list[Any]], place: int | None, _: random.Random) -> list[list[Any]]:
    """Replace every name in the header by a random word."""
    if place is None:
        return rows
    header = [word(cell) if str(cell).strip() else cell for cell in rows[place]]
    return [*rows[:place], header, *rows[place + 1 :]]


def shuffled(rows: list[list[Any]], place: int | None, chance: random.Random) -> list[list[Any]]:
    """Put rows and columns in another order; what stands above the header stays above it."""
    start = 0 if place is None else place + 1 + STAY
    below = rows[start:]
    chance.shuffle(below)
    width = max(map(len, rows), default=0)
    order = list(range(width))
    chance.shuffle(order)
    padded = [[*row, *[""] * (width - len(row))] for row in [*rows[:start], *below]]
    return [[row[k] for k in order] for row in padded]


def json_with_other_names(value: Any, _: random.Random) -> Any:
    """Replace every member name by a random word."""
    if isinstance(value, dict):
        return {word(name): json_with_other_names(own, _) for name, own in value.items()}
    return [json_with_other_names(own, _) for own in value] if isinstance(value, list) else value


def json_shuffled(value: Any, chance: random.Random, *, top: bool = True) -> Any:
    """Put the records, and the members of every record, in another order."""
    if isinstance(value, dict):
        names = list(value)
        chance.shuffle(names)
        return {name: json_shuffled(value[name], chance, top=False) for name in names}
    if isinstance(value, list):
        own = [json_shuffled(one, chance, top=False) for one in value]
        if top:
            chance.shuffle(own)
        return own
    return value


Tables = Callable[[list[list[Any]], int | None, random.Random], list[list[Any]]]


def changed(path: Path, tables: Tables, values: Callable[..., Any]) -> None:
    """Change a file where it stands; leave alone what is neither a table nor JSON."""
    chance = random.Random(len(path.name))
    document = open_document(path, Settings())
    assert isinstance(document, FileDocument)
    try:
        kind = document.kind
        if kind == "table":
            place, shape = document.header_place, document.shape
            lines = document.text()[shape.skip :]
            rows = [
                row
                for row in csv.reader(io.StringIO(lines, newline=""), delimiter=shape.separator)
                if any(cell.strip() for cell in row)
            ]
            out = io.StringIO()
            csv.writer(out, delimiter=shape.separator).writerows(tables(rows, place, chance))
            path.write_text(out.getvalue(), encoding="utf-8")
        elif kind == "sheets":
            sheets = {}
            for name in document.sheets:
                table = document.table(name)
                place = len(table.above) if any(table.header) else None
                rows = [*table.above, *([table.header] if place is not None else []), *table.rows]
                sheets[name] = tables([list(map(str, row)) for row in rows], place, chance)
            path.write_bytes(xlsx_bytes(sheets))
        elif kind == "parquet":
            frame = pl.read_parquet(path)
            if tables is other_names:
                frame = frame.rename(word)
            else:
                names = list(frame.columns)
                chance.shuffle(names)
                frame = frame.select(names).sample(fraction=1.0, shuffle=True, seed=0)
            frame.write_parquet(path)
        elif kind == "json":
            path.write_text(json.dumps(values(document.data(), chance)), encoding="utf-8")
        elif kind == "jsonl":
            records = [values(own, chance) for own in document.records()]
            if values is json_shuffled:
                chance.shuffle(records)
            path.write_text("".join(json.dumps(own) + "\n" for own in records), encoding="utf-8")
    except InputError:
        return


def read_changed(path: Path, folder: Path, tables: Tables, values: Callable[..., Any]) -> Reading:
    """Read a changed copy of a file or folder."""
    copy = folder / "copy" / path.name
    if path.is_dir():
        shutil.copytree(path, copy)
    else:
        copy.parent.mkdir()
        shutil.copy(path, copy)
    for file in [copy] if copy.is_file() else sorted(p for p in copy.rglob("*") if p.is_file()):
        file.chmod(0o644)
        changed(file, tables, values)
    return reading(copy, formats=[])


WAYS: dict[str, Callable[[Path, Path], Reading]] = {
    "as it is": lambda path, folder: reading(path),
    "formats off": lambda path, folder: reading(path, formats=[]),
    "other names": lambda path, folder: read_changed(
        path, folder, other_names, json_with_other_names
    ),
    "shuffled": lambda path, folder: read_changed(path, folder, shuffled, json_shuffled),
}


def verdict(known: Known, way: str) -> tuple[str, str]:
    """Return right, refused or wrong, and what was said or read."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "own").mkdir()
        path = known.write(Path(folder) / "own")
        try:
            found = WAYS[way](path, Path(folder))
        except Exception as error:  # a fault of the reader, not a sentence
            return "crash", repr(error)
    said = found.refusal if found.responses is None else found.entry()
    return known.verdict(found.responses), said


def measure(cases: Iterable[Known], ways: Iterable[str]) -> dict[str, dict[str, tuple[str, str]]]:
    """Return case -> way -> verdict and words."""
    ways = list(ways)
    return {known.name: {way: verdict(known, way) for way in ways} for known in cases}


def kind_of(name: str) -> str:
    """Return what a case is: a real export, one made by our own code, a strange or a wild table."""
    word, colon, _ = name.partition(":")
    return word if colon and word in ("strange", "wild") else "real" if "/" in name else "made"


def table(found: dict[str, dict[str, tuple[str, str]]]) -> str:
    """Return the counts by kind of file and way, in words."""
    lines = [f"{'':14}{'':14}{'right':>8}{'refused':>9}{'wrong':>7}{'crash':>7}"]
    for kind in ("real", "made", "strange", "wild"):
        own = [v for name, v in found.items() if kind_of(name) == kind]
        for way in WAYS:
            counts = Counter(verdicts[way][0] for verdicts in own if way in verdicts)
            if counts:
                cells = "".join(
                    f"{counts[what]:>{width}}"
                    for what, width in (("right", 8), ("refused", 9), ("wrong", 7), ("crash", 7))
                )
                lines.append(f"{kind:14}{way:14}{cells}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="list what was silently wrong")
    parser.add_argument("--refused", action="store_true", help="list what was refused")
    parser.add_argument("--only", default="", help="read only cases whose name contains this")
    parser.add_argument("--way", action="append", choices=list(WAYS), help="only this way")
    parser.add_argument("--real", action="store_true", help="real exports only")
    given = parser.parse_args()
    cases = chain(
        real_exports(), () if given.real else chain(made_files(), strange_tables(), wild_tables())
    )
    chosen = [known for known in cases if given.only in known.name]
    found = measure(chosen, given.way or WAYS)
    print(table(found))
    listed = {"wrong", "crash"} if given.wrong else set()
    listed |= {"refused"} if given.refused else set()
    for name, verdicts in found.items():
        for way, (what, said) in verdicts.items():
            if what in listed:
                print(f"{what:8} {name} ({way}): {said[:300]}")


if __name__ == "__main__":
    main()
