"""An answer key that came with the data: the right options, and where they were found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["KnownKey"]


class KnownKey(Mapping[Any, Any]):
    """The right options of some items, as given in the file; rankings use them only if asked to.

    Parameters
    ----------
    options
        Item → option, both by their labels.
    source
        Where the key was found, as a phrase: ``"row 2 (KEY)"``.
    unchosen
        How many of these options nobody chose (``options`` includes them).

    Examples
    --------
    >>> key = KnownKey({"q1": "A"}, "row 2 (KEY)")
    >>> key["q1"], len(key), key.source
    ('A', 1, 'row 2 (KEY)')
    """

    def __init__(self, options: Mapping[Any, Any], source: str, unchosen: int = 0) -> None:
        self._options = dict(options)
        self.source = source
        self.unchosen = unchosen

    def __getitem__(self, item: Any) -> Any:
        return self._options[item]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._options)

    def __len__(self) -> int:
        return len(self._options)

    def __repr__(self) -> str:
        return f"KnownKey({len(self)} items, from {self.source})"

    def only(self, items: Any) -> KnownKey:
        """Return the key of some items."""
        wanted = set(items)
        kept = {item: option for item, option in self._options.items() if item in wanted}
        return KnownKey(kept, self.source, self.unchosen)
