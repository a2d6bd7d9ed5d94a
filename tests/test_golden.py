"""Every known file is read as before: layout, columns, key and answers, compared with a record.

After a change that is meant, renew the record: ``PYTHONPATH=tests python tests/test_golden.py``.
It holds names, counts and digests only. Entries of real files stay where these are not at hand.
"""

from __future__ import annotations

import json
import tempfile
from itertools import chain
from pathlib import Path

import pytest
from known_files import FOLDER, Known, made_files, reading, real_exports, real_sets

RECORD = Path(__file__).parent / "golden" / "plans.json"


def record() -> dict[str, str]:
    return json.loads(RECORD.read_text(encoding="utf-8"))


def entry_of(known: Known) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return reading(known.write(Path(folder))).entry()


@pytest.mark.parametrize("known", list(made_files()), ids=lambda known: known.name)
def test_a_made_file_is_read_as_recorded(known):
    assert entry_of(known) == record()[known.name]


@pytest.mark.data
@pytest.mark.parametrize(
    "known", list(chain(real_exports(), real_sets())), ids=lambda known: known.name
)
def test_a_real_file_is_read_as_recorded(known):
    assert entry_of(known) == record()[known.name]


def test_the_record_names_no_file_that_is_gone():
    there = {known.name for known in made_files()}
    real = {name for name in record() if name.split("/")[0] in PARTS and "/" in name}
    if FOLDER is not None:
        there |= {known.name for known in chain(real_exports(), real_sets())}
        assert set(record()) == there
    else:
        assert set(record()) - real == there


#: The folders of real files.
PARTS = ("exports", "exports2", "mcq", "real", "more", "fresh")


def renew() -> None:
    """Write the record anew, and print what changed."""
    old = record() if RECORD.exists() else {}
    there = list(chain(made_files(), real_exports(), real_sets()))
    new = {known.name: entry_of(known) for known in there}
    if FOLDER is None:
        new |= {name: line for name, line in old.items() if name.split("/")[0] in PARTS}
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            print(f"{name}\n  was {old.get(name)}\n  is  {new.get(name)}")
    text = json.dumps(dict(sorted(new.items())), indent=0, ensure_ascii=False)
    RECORD.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    renew()
