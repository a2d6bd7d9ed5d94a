"""A short run of every kind of fuzzing; ``make fuzz`` runs long ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from fuzz.__main__ import batch, empty, save  # noqa: E402
from fuzz.child import KINDS, kind_of, made, run  # noqa: E402
from fuzz.page import counts, write_page  # noqa: E402

#: Inputs of each kind: half a second each.
COUNTS = {
    "bytes": 30,
    "tables": 50,
    "paths": 4,
    "growth": 1,
    "page": 2,
    "changes": 7,
    "states": 2,
    "faults": 12,
}
#: A seed whose first inputs have no open finding.
SEED = 2024


@pytest.mark.parametrize("name", COUNTS)
def test_a_short_run(name: str) -> None:
    lines: list[str] = []
    found = run(name, SEED, 0, COUNTS[name], lines.append)
    findings = [line for line in lines if line.startswith("{")]
    assert not findings
    assert sum(found["outcomes"].values()) == COUNTS[name]
    assert len(found["outcomes"]) > (name in ("bytes", "tables", "faults"))  # not all refused


def test_kills_lose_nothing(tmp_path: Path) -> None:
    kind = kind_of("kills")
    for after in (0.0, 0.4):
        assert kind.run({"after": after, "ending": "csv"}, tmp_path).startswith("killed")


def test_inputs_follow_from_seed_and_number() -> None:
    for name in set(KINDS) - {"exports"}:  # that needs real files
        kind = kind_of(name)
        assert repr(made(kind, 1, 7)) == repr(made(kind, 1, 7))
        assert repr(made(kind, 1, 7)) != repr(made(kind, 1, 8))


def test_a_campaign_counts_and_goes_on(tmp_path: Path) -> None:
    path, state = tmp_path / "state.json", empty(SEED)
    batch("tables", state, 5, float("inf"))
    save(state, path)
    command = [sys.executable, "-m", "fuzz", "tables", "--inputs", "5", "--seed", str(SEED)]
    subprocess.run([*command, "--resume", str(path)], cwd=ROOT, check=True, timeout=300)
    entry = json.loads(path.read_text())["kinds"]["tables"]
    assert (entry["inputs"], entry["next"]) == (10, 10)


@pytest.mark.parametrize(
    ("code", "reason"),
    [("import os; os.abort()", "crashes"), ("import time; time.sleep(600)", "hangs")],
)
def test_a_child_that_dies_or_hangs_is_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: str, reason: str
) -> None:
    child = tmp_path / "child"
    child.write_text(f"#!/bin/sh\necho ready\necho 3\nexec '{sys.executable}' -c '{code}'\n")
    child.chmod(0o755)
    monkeypatch.setattr("fuzz.__main__.sys.executable", str(child))
    monkeypatch.setattr("fuzz.__main__.keep", lambda *_: None)
    state = empty(0)
    batch("tables", state, 10, float("inf"), patience=0.5)
    entry = state["kinds"]["tables"]
    assert (entry[reason], entry["inputs"], entry["next"]) == (1, 4, 4)
    page = tmp_path / "page.md"
    page.write_text("# Reliability\n\nwords\n\n")
    write_page([state], page)
    assert page.read_text().startswith("# Reliability\n\nwords\n")
    assert "| 4 |" in counts([state])
