"""One finding about some responses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """One finding: a name, a plain sentence, the values, and whether it is a concern."""

    name: str
    sentence: str
    value: dict[str, Any]
    concern: bool = False
