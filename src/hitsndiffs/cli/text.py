"""Words and tables: for people on a terminal, for programs through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from hitsndiffs.data.words import Detail
from hitsndiffs.errors import printable

if TYPE_CHECKING:
    from rich.text import Text

    from hitsndiffs.data.arrays import Floats
    from hitsndiffs.results.cells import Cells

__all__ = [
    "Column",
    "filled",
    "for_people",
    "note",
    "room_left",
    "say",
    "show_cells",
    "show_json",
    "show_matrix",
    "show_table",
    "title",
    "width",
]

#: A column as it is shown: its heading, its cells, and their kind (:data:`Kind` of
#: :mod:`hitsndiffs.results.cells`, or ``"picture"``: every blank has its place).
Column = tuple[str, Sequence[str], str]

#: Names keep at least this many characters, however narrow the screen; columns that can be spared
#: make room for more.
SHORTEST, READABLE = 8, 16


def for_people() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout is not None and sys.stdout.isatty()


def width() -> int:
    """Columns of the terminal, at most 100: long lines are hard to read."""
    import shutil

    return min(shutil.get_terminal_size().columns, 100)


def filled(sentence: str) -> str:
    """A paragraph as wide as the terminal, with its further lines indented."""
    import textwrap

    return textwrap.fill(
        sentence, width(), subsequent_indent="  ", break_on_hyphens=False, break_long_words=False
    )


def say(sentence: str, *, quiet: bool = False, bold: bool = False) -> None:
    """Tell the user something besides the result: on standard error, as one line or paragraph.

    A line that begins with a blank is a command to copy, and is not wrapped.
    """
    if quiet:
        return
    sentence = printable(sentence, kept="\n")
    sys.stdout.flush()
    if sys.stderr.isatty():
        sentence = sentence if sentence.startswith(" ") else filled(sentence)
        sentence = _bold(sentence) if bold else sentence
    print(sentence, file=sys.stderr, flush=True)


def note(notes: Iterable[str], *, explain: bool = False, quiet: bool = False) -> None:
    """Say what there is to note; what goes without saying only to those who ask for it."""
    for one in notes:
        if explain or not isinstance(one, Detail):
            say(f"Note: {one}", quiet=quiet)


def title(text: str) -> None:
    """Print a heading on standard output."""
    text = printable(text)
    print(_bold(text) if for_people() else text)


def _bold(text: str) -> str:
    import os

    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else f"\033[1m{text}\033[0m"


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
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[k : k + 4]}" for k in range(0, len(units), 4))


# -- tables -----------------------------------------------------------------------------------


def show_cells(cells: Cells, *, heading: str = "") -> None:
    """Print a table of results: for people, or for programs with tabs between the cells."""
    if not for_people():
        sys.stdout.write(cells.tab_separated())
        return
    if heading:
        title(heading)
    show_table([(cells.heading(n), cells.texts(n), cells.kinds[n]) for n in cells.columns])


def show_matrix(names: Sequence[str], shares: Floats) -> None:
    """Print a number from 0 (or -1) to 1 for every pair of names, in per cent."""
    from hitsndiffs.results.cells import text_of

    numbered = [f"{n:2} {name}" for n, name in enumerate(names, start=1)]
    columns: list[Column] = [("", numbered, "label")]
    for k, own in enumerate(shares.T.tolist()):
        texts = [text_of(share, "chance").removesuffix(" %") for share in own]
        texts[k] = ""  # with itself
        columns.append((str(k + 1), texts, "share"))
    show_table(columns, tight=True)


def show_table(
    columns: Sequence[Column],
    *,
    spare: Sequence[str] = (),
    last: Collection[int] = (),
    tight: bool = False,
) -> None:
    """Print a table for people: labels and words on the left, numbers on the right.

    Labels are cut where the screen is too narrow for them, words are wrapped. The columns with the
    headings in ``spare`` are left out, in this order, if readable labels need their room. A blank
    line follows the rows in ``last``; ``tight`` columns are close to each other.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table

    columns = [(head, list(map(printable, cells)), kind) for head, cells, kind in columns]
    gap, screen, longest = 1 if tight else 2, width(), None
    labels = [cells for _, cells, kind in columns if kind == "label"]
    if labels and all(kind != "words" for _, _, kind in columns):
        wanted = min(READABLE, max(cell_len(cell) for cells in labels for cell in cells))
        for head in spare:
            if (screen - _taken(columns, gap)) // len(labels) < wanted:
                columns = [column for column in columns if column[0] != head]
        longest = max((screen - _taken(columns, gap)) // len(labels), SHORTEST)
        screen = max(screen, _taken(columns, gap) + longest * len(labels))  # numbers are never cut
    table = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, gap - 1),
        collapse_padding=True,
        pad_edge=False,
        show_edge=False,
        header_style="bold",
    )
    for head, _, kind in columns:
        table.add_column(
            head,
            justify="left" if kind in ("label", "words", "picture") else "right",
            no_wrap=kind != "words",
            overflow="fold" if kind == "words" else "ellipsis",
            max_width=longest if kind == "label" else None,
        )
    for number, row in enumerate(zip(*(cells for _, cells, _ in columns), strict=True)):
        drawn = (_drawn(cell, kind) for cell, (_, _, kind) in zip(row, columns, strict=True))
        table.add_row(*drawn, end_section=number in last)
    Console(width=screen, highlight=False).print(table)


def _drawn(cell: str, kind: str) -> Text:
    from rich.text import Text

    drawn = Text(cell)
    if kind == "picture":
        drawn.stylize("dim")
        drawn.highlight_regex("[●o]", "not dim bold cyan")
    return drawn


def _taken(columns: Sequence[Column], gap: int) -> int:
    """The width of all columns but the labels, with the gaps between all columns."""
    from rich.cells import cell_len

    wide = (max(map(cell_len, (head, *cells))) for head, cells, kind in columns if kind != "label")
    return sum(wide) + gap * len(columns)


def room_left(columns: Sequence[Column], spare: Collection[str] = ()) -> int:
    """The width of the screen that a table leaves for one more column, without those to spare."""
    kept = [(head, cells, "number") for head, cells, _ in columns if head not in spare]
    return width() - _taken(kept, 2) - 2
