"""Words and tables: for people on a terminal, for programs through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hitsndiffs.data.words import Detail
from hitsndiffs.errors import printable

if TYPE_CHECKING:
    from hitsndiffs.data.arrays import Floats
    from hitsndiffs.results.cells import Cells

__all__ = [
    "BEST",
    "for_people",
    "interval_bar",
    "note",
    "room_left",
    "say",
    "scale",
    "show_cells",
    "show_json",
    "show_matrix",
    "show_table",
    "title",
    "width",
]

#: Of many users, this many are shown.
BEST = 20
#: Names keep at least this many characters, however narrow the screen; columns that can be spared
#: make room for more.
SHORTEST, READABLE = 8, 16


def for_people() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def say(sentence: str, *, quiet: bool = False) -> None:
    """Tell the user something besides the result: on standard error, as one line or paragraph.

    A line that begins with a blank is a command to copy, and is not wrapped.
    """
    if quiet:
        return
    sentence = printable(sentence, kept="\n")
    sys.stdout.flush()
    if sys.stderr.isatty() and not sentence.startswith(" "):
        import textwrap

        sentence = textwrap.fill(sentence, width(), subsequent_indent="  ", break_on_hyphens=False)
    print(sentence, file=sys.stderr, flush=True)


def note(notes: Iterable[str], *, explain: bool = False, quiet: bool = False) -> None:
    """Say what there is to note; what goes without saying only to those who ask for it."""
    for one in notes:
        if explain or not isinstance(one, Detail):
            say(f"Note: {one}", quiet=quiet)


def show_json(text: str) -> None:
    """Print JSON on standard output; characters that a terminal might obey are escaped."""
    if not text.replace("\n", " ").isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else _escaped(c) for c in text)
    print(text)


def _escaped(sign: str) -> str:
    r"""A character as a JSON escape (beyond 16 bits, as two).

    >>> _escaped("\x9b"), _escaped("\U000e0001")
    ('\\u009b', '\\udb40\\udc01')
    """
    code = ord(sign)
    if code > 0xFFFF:
        high, low = divmod(code - 0x10000, 0x400)
        return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
    return f"\\u{code:04x}"


def width() -> int:
    """Columns of the terminal, at most 100: long lines are hard to read."""
    import shutil

    return min(shutil.get_terminal_size().columns, 100)


def title(text: str) -> None:
    """Print a heading on standard output."""
    text = printable(text)
    print(f"\033[1m{text}\033[0m" if _colourful() else text)


def show_table(
    heads: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    names: Sequence[int] = (),
    words: Sequence[int] = (),
    spare: Sequence[str] = (),
    pictures: Sequence[int] = (),
    tight: bool = False,
) -> None:
    """Print a table for people; columns other than names and words are numbers, aligned right.

    Parameters
    ----------
    heads
        One per column.
    rows
        The cells.
    names
        The columns of short names, which are cut if the screen is too narrow.
    words
        The columns of sentences, which are wrapped.
    spare
        The heads of columns after the names that are left out, in this order, if the screen is too
        narrow for them and for readable names.
    pictures
        The columns in which every blank has its place.
    tight
        Whether columns are close to each other.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[printable(cell) for cell in row] for row in rows]
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 0) if tight else (0, 1),
        collapse_padding=True,
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    screen, longest = width(), None
    if names and not words:
        gap = 1 if tight else 2
        wanted = min(READABLE, max(cell_len(row[place]) for row in cells for place in names))
        numbers = _width_of_numbers(heads, cells, names, gap)
        for head in spare:
            if (screen - numbers) // len(names) < wanted and head in heads:
                kept = [place for place, name in enumerate(heads) if name != head]
                pictures = [kept.index(place) for place in pictures]
                heads, *cells = [[row[place] for place in kept] for row in (heads, *cells)]
                numbers = _width_of_numbers(heads, cells, names, gap)
        longest = max((screen - numbers) // len(names), SHORTEST)
        screen = max(screen, numbers + longest * len(names))  # numbers are never cut
    for place, head in enumerate(heads):
        table.add_column(
            head,
            justify="left" if place in (*names, *words, *pictures) else "right",
            no_wrap=place not in words,
            overflow="fold" if place in words else "ellipsis",
            max_width=longest if place in names else None,
        )
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    Console(width=screen, highlight=False).print(table)


def show_cells(cells: Cells, *, heading: str = "") -> None:
    """Print a table of results: for people, or for programs with tabs between the cells."""
    if not for_people():
        sys.stdout.write(cells.tab_separated())
        return
    if heading:
        title(heading)
    places = {kind: [n for n, name in enumerate(cells.columns) if cells.kinds[name] == kind]
              for kind in ("label", "words")}  # fmt: skip
    show_table(
        [cells.heading(name) for name in cells.columns],
        zip(*map(cells.texts, cells.columns), strict=True),
        names=places["label"],
        words=places["words"],
    )


def show_matrix(names: Sequence[str], shares: Floats) -> None:
    """Print a number from 0 (or -1) to 1 for every pair of names, in per cent."""
    rows = [
        [f"{n:2} {name}", *("" if n == k else "–" if share != share else _hundredths(share)
                            for k, share in enumerate(own.tolist(), start=1))]
        for n, (name, own) in enumerate(zip(names, shares, strict=True), start=1)
    ]  # fmt: skip
    show_table(["", *map(str, range(1, len(names) + 1))], rows, names=(0,), tight=True)


def _hundredths(share: float) -> str:
    """A share in per cent; only exact 1 is shown as 100.

    >>> _hundredths(0.996), _hundredths(0.004), _hundredths(-0.5)
    ('>99', '<1', '-50')
    """
    if 0.995 <= share < 1:
        return ">99"
    return "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"


def _width_of_numbers(
    heads: Sequence[str], rows: Sequence[Sequence[str]], names: Sequence[int], gap: int
) -> int:
    """The width of all columns other than names, plus the gaps between all columns."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(heads, *rows, strict=True)]
    return sum(wide for place, wide in enumerate(widths) if place not in names) + gap * len(heads)


def room_left(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """The width of the screen that a table leaves for one more column."""
    return width() - _width_of_numbers(heads, rows, (), 2) - 2


def interval_bar(
    middle: float,
    reach: float,
    ends: tuple[float, float],
    length: int,
    signs: tuple[str, str] | None = None,
) -> str:
    """Draw a value and its interval as text.

    Parameters
    ----------
    middle, reach
        The value, and how far the interval reaches to either side (cut at the ends).
    ends
        The values at both ends of the bar.
    length
        How many characters the bar has.
    signs
        Characters for the interval and the value (default: what standard output can print).

    Examples
    --------
    >>> interval_bar(0.5, 0.25, (0.0, 1.0), 9, ("─", "●"))
    '  ──●──  '
    >>> interval_bar(1.0, 0.25, (0.0, 1.0), 9, ("─", "●"))
    '      ──●'
    """
    line, point = signs or (("─", "●") if _knows("─●") else ("-", "o"))
    low, high = ends

    def place(value: float) -> int:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(min(max(share, 0.0), 1.0) * (length - 1))

    first, last, here = place(middle - reach), place(middle + reach), place(middle)
    cells = [line if first <= i <= last else " " for i in range(length)]
    cells[here] = point
    return "".join(cells)


def scale(ends: tuple[float, float], length: int, *, share: bool) -> str:
    """The scale above bars: the values at both ends, and for shares the middle.

    >>> scale((0.0, 1.0), 21, share=True)
    '0 %      50 %   100 %'
    >>> scale((-1.5, 2.0), 15, share=False)
    '-1.5        2.0'
    """
    if not share:
        low, high = (f"{end:.2g}" if abs(end) < 1 else f"{end:.1f}" for end in ends)
        return low + high.rjust(length - len(low))
    middle = "50 %" if length > 16 else ""
    here = (length - 1) // 2 - 1  # "50" stands over the middle of the bar
    return ("0 %".ljust(here) + middle).ljust(length - 5) + "100 %"


def _knows(signs: str) -> bool:
    """Whether standard output can print these characters."""
    try:
        signs.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _colourful() -> bool:
    import os

    return for_people() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
