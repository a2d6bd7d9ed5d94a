"""The numbers behind the paper's figures, as a table that the project keeps."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["paper_value", "paper_values"]


@cache
def paper_values() -> dict[str, dict[str, Any]]:
    """Figure → its values: ``x``, and the values of each method for each panel.

    Examples
    --------
    >>> paper_values()["accuracy/c1p/items"]["accuracy"]["hnd"][0]
    0.996297
    """
    text = Path(__file__).with_name("paper_values.json").read_text(encoding="utf-8")
    values: dict[str, dict[str, Any]] = json.loads(text)
    return values


def paper_value(figure: str, panel: str, method: str, place: int) -> float | None:
    """Return one value of the paper, or None if it has none; methods go by their stored names.

    Examples
    --------
    >>> paper_value("accuracy/grm/items", "accuracy", "hnd", 0)
    0.838835
    >>> paper_value("accuracy/grm/items", "accuracy", "majority", 0) is None
    True
    """
    stored = paper_values().get(figure, {}).get(panel)
    if isinstance(stored, list):  # a property of the data, not of a method
        stored = {DATA: stored}
    values = (stored or {}).get(method)
    return None if values is None or place >= len(values) else values[place]


#: Takes the place of a method where a number describes the data.
DATA = "data"
