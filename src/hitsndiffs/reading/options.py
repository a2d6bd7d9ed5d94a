"""What the caller may say about how to read a file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from hitsndiffs.data.encode import DUPLICATES
from hitsndiffs.data.words import suggestion
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Choices
from hitsndiffs.reading.files.documents import Settings
from hitsndiffs.reading.sizes import DEFAULT, Sizes
from hitsndiffs.reading.streams import ATTEMPTS

__all__ = ["CONTAINERS", "ReadingOptions", "memory_limit"]

#: Names of plain formats; every other format is an export that is recognised.
CONTAINERS = ("csv", "tsv", "parquet", "json", "jsonl", "xlsx")
_TEXTS = ("format", "user", "item", "option", "group", "sheet", "encoding", "separator")
_LISTS = ("items", "drop", "blanks", "formats")
_ROWS = ("header_row", "key_row")
_CHOICES: dict[str, tuple[Any, ...]] = {
    "layout": ("auto", "wide", "long"),
    "duplicates": DUPLICATES,
    "attempt": (None, *ATTEMPTS),
    "header": (True, False, "auto"),
}
_SEPARATORS = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " "}
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[kmgt]?)(?:i?b)?", re.IGNORECASE)


#: A piece of text becomes up to 24 times as large where it is parsed (empty JSON records).
_CHUNKS = 64


@dataclass(frozen=True)
class ReadingOptions:
    """What :func:`hitsndiffs.read_responses` takes, which says what each option means.

    None leaves a decision to the reader. ``sizes`` are those at which a file is read differently;
    the result does not depend on them.
    """

    layout: str = "auto"
    format: str | None = None
    formats: Sequence[str] | None = None
    header: bool | str = "auto"
    header_row: int | None = None
    user: str | None = None
    item: str | None = None
    option: str | None = None
    group: str | None = None
    items: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    key_row: int | None = None
    sheet: str | None = None
    encoding: str | None = None
    separator: str | None = None
    attempt: str | None = None
    transpose: bool | None = None
    duplicates: str = "error"
    fold: bool = True
    blanks: Sequence[str] | None = None
    max_memory: str | int | None = None
    sizes: Sizes = DEFAULT

    def __post_init__(self) -> None:
        for name in _TEXTS:
            text = getattr(self, name)
            if text is not None and not isinstance(text, str):
                raise InputError(f"{name} must be a text; got {text!r}.")
        for name in _LISTS:
            value = getattr(self, name)
            listed = (value,) if isinstance(value, str) else value
            if listed is None:
                continue
            if not isinstance(listed, list | tuple) or not all(isinstance(w, str) for w in listed):
                raise InputError(f"{name} must be a text or a list of texts; got {value!r}.")
            object.__setattr__(self, name, tuple(listed))
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                said = ", ".join(str(choice) for choice in allowed if choice is not None)
                raise InputError(f"{name} must be one of {said}; got {value!r}.")
        for name in _ROWS:
            row = getattr(self, name)
            if row is not None and (isinstance(row, bool) or not isinstance(row, int) or row < 1):
                said = name.replace("_", " ")
                raise InputError(f"the {said} must be a whole number from 1 on; got {row!r}.")
        if self.transpose and self.layout == "long":
            raise InputError("Only a wide file can be transposed; a long file has no rows to turn.")
        if self.format is not None and self.format not in CONTAINERS:
            self._check_format("format", self.format)
        for name in self.formats or ():
            self._check_format("formats", name)
        if self.separator is not None:
            mark = _SEPARATORS.get(self.separator.casefold(), self.separator)
            if len(mark) != 1:
                raise InputError(
                    f"separator must be one character, or tab, comma, semicolon, bar, space; got "
                    f"{self.separator!r}."
                )
            object.__setattr__(self, "separator", mark)

    def _check_format(self, option: str, name: str) -> None:
        from hitsndiffs.reading.exports import FORMATS

        known = [*CONTAINERS, *(format.name for format in FORMATS)]
        if name not in known:
            raise InputError(
                f"{option} must be one of {', '.join(CONTAINERS)} or a format that 'hnd formats' "
                f"lists; got {name!r}{suggestion(name, known)}."
            )

    @property
    def is_plain(self) -> bool:
        """Whether the caller said that the file is a plain table."""
        return self.format in CONTAINERS or self.layout != "auto" or bool(self.transpose)

    @property
    def settings(self) -> Settings:
        """The options for bytes and cells."""
        memory = memory_limit(self.max_memory)
        return Settings(
            encoding=self.encoding,
            separator="\t" if self.format == "tsv" and not self.separator else self.separator,
            header_row=self.header_row,
            header=None if self.header == "auto" else bool(self.header),
            sheet=self.sheet,
            sizes=replace(
                self.sizes,
                memory=memory,
                held=memory // 4,
                chunk=min(self.sizes.chunk, max(memory // _CHUNKS, 1 << 16)),
            ),
        )

    @property
    def choices(self) -> Choices:
        """The options for the converters of formats."""
        return Choices(self.user, self.item, self.option, self.sheet)

    def changed(self, **given: Any) -> ReadingOptions:
        """Return the options with some of them changed."""
        known = [option.name for option in fields(self)]
        for name in given:
            if name not in known:
                raise InputError(
                    f"there is no reading option {name!r}{suggestion(name, known)}; the options "
                    f"are {', '.join(known)}."
                )
        return replace(self, **given)

    @property
    def tells_columns(self) -> bool:
        """Whether the caller says what the columns are, so that nothing is guessed."""
        named = (self.items, self.item, self.option, self.transpose)
        return self.layout != "auto" or any(value is not None for value in named)

    def said(self) -> dict[str, Any]:
        """Return the options that differ from the defaults; sizes do not count."""
        default = ReadingOptions()
        return {
            option.name: list(value) if isinstance(value, tuple) else value
            for option in fields(self)
            if (value := getattr(self, option.name)) != getattr(default, option.name)
            and option.name != "sizes"
        }

    @classmethod
    def from_said(cls, said: Mapping[str, Any]) -> ReadingOptions:
        """Rebuild the options from what :meth:`said` returned."""
        return cls().changed(**said)


def memory_limit(said: str | int | None) -> int:
    """Return how many bytes may be used: as given, or half of the machine's memory.

    Examples
    --------
    >>> memory_limit("2 GB"), memory_limit(1000)
    (2147483648, 1000)
    """
    if isinstance(said, int):
        if said <= 0:
            raise InputError(f"the memory limit must be positive; got {said}.")
        return said
    if said is None:
        try:
            return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
        except (AttributeError, ValueError, OSError):
            return 4 << 30
    found = _SIZE.fullmatch(said.strip())
    if found is None or float(found["number"]) <= 0:
        raise InputError(f"the memory limit must be a size such as 500MB or 4GB; got {said!r}.")
    power = " kmgt".index(found["unit"].lower() or " ")
    return int(float(found["number"]) * 1024**power)
