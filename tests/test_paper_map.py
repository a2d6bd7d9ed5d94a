"""docs/paper-map.md: everything that the paper numbers is there, and everything it names exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "paper-map.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| paper"))
]
#: What the paper numbers, and up to what.
NUMBERED = {
    "Definition": 4,
    "Observation": 1,
    "Lemma": 7,
    "Theorem": 2,
    "Algorithm": 2,
    "Equation": 7,
    "Figure": 15,
}


@cache
def defined(path):
    """Names of functions, classes and variables of a module."""
    names = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
    return names


def missing(cell, folder):
    """What a cell of the page names and is not there."""
    named = re.findall(r"`([^`]+)`", cell)
    assert named, f"nothing is named in {cell!r}"
    lost = []
    for name in named:
        file, _, what = name.partition("::")
        path = (ROOT if file.startswith("reproduction/") else folder) / file
        if not path.is_file() or (what and what not in defined(path)):
            lost.append(name)
    return lost


def test_files_and_names_of_the_map_are_there():
    for paper, what, code, test in ROWS:
        assert paper
        assert what
        lost = missing(code, ROOT / "src" / "hitsndiffs") + missing(test, ROOT / "tests")
        assert lost == [], paper


@pytest.mark.parametrize("kind", NUMBERED)
def test_everything_that_the_paper_numbers_is_on_the_map(kind):
    found = {int(n) for row in ROWS for n in re.findall(rf"^{kind} (\d+)", row[0])}
    assert found == set(range(1, NUMBERED[kind] + 1))


def test_a_name_that_is_not_there_is_noticed():
    source = ROOT / "src" / "hitsndiffs"
    assert missing("`methods/hnd.py::HND`, `methods/hnd.py::Gone`", source) == [
        "methods/hnd.py::Gone"
    ]
    assert missing("`methods/gone.py`", source) == ["methods/gone.py"]
