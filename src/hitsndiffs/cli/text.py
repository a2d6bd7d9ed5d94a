"""Words and tables: for people on a terminal, for programs through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

__all__ = [
    "count",
    "for_people",
    "listed",
    "per_cent",
    "say",
    "show_table",
    "tab_separated",
    "title",
]


def for_people() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def count(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "user"), count(2500, "user"), count(2, "reply")
    ('1 user', '2,500 users', '2 replies')
    """
    if number == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {plural}"


def per_cent(share: float, digits: int = 0) -> str:
    """Return a share as per cent, never rounding to 0 or 100 what is not.

    >>> per_cent(0.25), per_cent(0.0), per_cent(0.0001), per_cent(0.9999), per_cent(0.123, 1)
    ('25 %', '0 %', 'under 1 %', 'over 99 %', '12.3 %')
    """
    step = 10.0**-digits
    if 0 < share * 100 < step:
        return f"under {step:.{digits}f} %"
    if 100 - step < share * 100 < 100:
        return f"over {100 - step:.{digits}f} %"
    return f"{100 * share:.{digits}f} %"


def listed(labels: Iterable[object], most: int = 5) -> str:
    """Return the first few labels.

    >>> listed("abc"), listed(range(9))
    ('a, b, c', '0, 1, 2, 3, 4, …')
    """
    labels = list(labels)
    return ", ".join([str(label) for label in labels[:most]] + ["…"] * (len(labels) > most))


def say(sentence: str, *, quiet: bool = False) -> None:
    """Tell the user something beside the result: on standard error, as one line or paragraph."""
    if quiet:
        return
    sys.stdout.flush()
    if sys.stderr.isatty():
        import textwrap

        sentence = textwrap.fill(sentence, width(), subsequent_indent="  ", break_on_hyphens=False)
    print(sentence, file=sys.stderr, flush=True)


def width() -> int:
    """Columns of the terminal, at most 100: long lines are hard to read."""
    import shutil

    return min(shutil.get_terminal_size().columns, 100)


def title(text: str) -> None:
    """Print a heading on standard output."""
    print(f"\033[1m{text}\033[0m" if _colourful() else text)


def show_table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: Sequence[int]) -> None:
    """Print a table for people.

    Parameters
    ----------
    heads
        One per column.
    rows
        The cells; too long ones are cut at the width of the terminal.
    left
        The columns that are words (the others are numbers and stand at the right).
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for place, head in enumerate(heads):
        words = place in left
        table.add_column(
            head,
            justify="left" if words else "right",
            no_wrap=not words,
            overflow="fold" if words else "ellipsis",
        )
    for row in rows:
        table.add_row(*(Text(_one_line(cell)) for cell in row))
    Console(width=width(), highlight=False).print(table)


def tab_separated(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table for programs: a line of heads, then tabs between the cells of a row."""
    write = sys.stdout.write
    write("\t".join(heads) + "\n")
    for row in rows:
        write("\t".join(map(_one_line, row)) + "\n")


def _one_line(cell: str) -> str:
    """No tab, line break or escape sequence in a label may disturb the table."""
    return cell if cell.isprintable() else "".join(c if c.isprintable() else " " for c in cell)


def _colourful() -> bool:
    import os

    return for_people() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
