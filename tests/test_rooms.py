"""Imports go down the list of rooms, and never up."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parent.parent / "src" / "hitsndiffs"

#: From low to high: a module may import from its own room and from those before it.
ROOMS = (
    "errors",
    "data",
    "engines",
    "reading",
    "spectral",
    "order",
    "methods",
    "results",
    "show",
    "irt",
    "cli",
)

#: Stand above all rooms: the public names, and the program.
TOP = ("__init__", "__main__")


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imported_rooms(path: Path) -> Iterator[tuple[str, int]]:
    """The rooms that a file imports from, anywhere in it, each with its line."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}, line {node.lineno}: imports are written in full"
            if node.module == "hitsndiffs":  # from hitsndiffs import _version
                names = [f"hitsndiffs.{alias.name}" for alias in node.names]
            else:
                names = [node.module or ""]
        else:
            continue
        for name in names:
            package, *rest = name.split(".")
            if package == "hitsndiffs":
                yield (rest[0] if rest else "__init__"), node.lineno


MODULES = sorted(p for p in SOURCE.rglob("*.py") if room_of(p) not in TOP)


def test_every_module_has_a_room() -> None:
    assert {room_of(path) for path in MODULES} <= set(ROOMS)


def test_imports_go_down() -> None:
    used = [(path, line, room) for path in MODULES for room, line in imported_rooms(path)]
    assert [use for use in used if use[2] not in ROOMS] == [], "public names, not modules"
    height = {room: place for place, room in enumerate(ROOMS)}
    assert [use for use in used if height[use[2]] > height[room_of(use[0])]] == []


def test_the_check_sees_an_import_upwards(tmp_path: Path) -> None:
    file = tmp_path / "engines.py"
    file.write_text("def f():\n    from hitsndiffs.cli.rank import Job\n    return Job\n")
    assert list(imported_rooms(file)) == [("cli", 2)]


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in MODULES}
    assert {str(path): lines for path, lines in lengths.items() if lines > 650} == {}
