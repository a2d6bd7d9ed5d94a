"""Finished cells on disk: one append-only file of JSON lines per figure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from reproduction.cells import Cell, Values
from reproduction.figures import Figure

__all__ = ["Store"]


class Store:
    """The cells of some figures in a folder.

    A line cut off by an interruption is skipped, and its cell is run again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = Store(Path(folder))
    ...     cell = Cell("accuracy/grm/items", place=0, run=0, seed=0)
    ...     store.add(cell, {"accuracy": {"hnd": 0.8}})
    ...     Store(Path(folder)).values(cell)
    {'accuracy': {'hnd': 0.8}}
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._cells: dict[str, dict[tuple[int, int, int], Values]] = {}
        self._cut: set[str] = set()

    def values(self, cell: Cell) -> Values:
        """The stored values of a cell."""
        return self._figure(cell.spec).get((cell.place, cell.run, cell.seed), {})

    def done(self, cell: Cell) -> set[str]:
        """The methods that are finished in a cell."""
        values = self.values(cell)
        return {method for panel in values.values() for method in panel}

    def runs(self, figure: Figure, place: int, seed: int) -> Iterator[tuple[int, Values]]:
        """All finished runs of a point."""
        for (at, run, of), values in sorted(self._figure(figure).items()):
            if at == place and of == seed:
                yield run, values

    def add(self, cell: Cell, values: Values) -> None:
        """Store the values of a cell, in memory and on disk."""
        self._merge(self._figure(cell.spec), (cell.place, cell.run, cell.seed), values)
        self.folder.mkdir(parents=True, exist_ok=True)
        line = {
            "x": cell.x,
            "place": cell.place,
            "run": cell.run,
            "seed": cell.seed,
            "values": values,
        }
        path = self._path(cell.spec)
        with path.open("a", encoding="utf-8") as file:
            # If the last line was cut off, start a new one.
            cut = path.name in self._cut and file.tell() > 0
            self._cut.discard(path.name)
            file.write(("\n" if cut else "") + json.dumps(line) + "\n")

    def _path(self, figure: Figure) -> Path:
        return self.folder / f"{figure.slug}.jsonl"

    def _figure(self, figure: Figure) -> dict[tuple[int, int, int], Values]:
        if figure.name not in self._cells:
            self._cells[figure.name] = self._read(figure)
        return self._cells[figure.name]

    def _read(self, figure: Figure) -> dict[tuple[int, int, int], Values]:
        cells: dict[tuple[int, int, int], Values] = {}
        path = self._path(figure)
        if not path.exists():
            return cells
        text = path.read_text(encoding="utf-8")
        if not text.endswith("\n"):
            self._cut.add(path.name)
        for line in text.splitlines():
            try:
                told = json.loads(line)
                place, run, seed = told["place"], told["run"], told["seed"]
                # Skip lines from an older list of points.
                if place < len(figure.x) and told["x"] == figure.x[place]:
                    self._merge(cells, (place, run, seed), told["values"])
            except (ValueError, KeyError, TypeError):
                continue
        return cells

    @staticmethod
    def _merge(
        cells: dict[tuple[int, int, int], Values], key: tuple[int, int, int], values: Values
    ) -> None:
        kept = cells.setdefault(key, {})
        for panel, of_methods in values.items():
            kept.setdefault(panel, {}).update(of_methods)
