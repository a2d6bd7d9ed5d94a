"""Who chose what in a fixture and in what was read of it; the page of all formats."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from formats.quiz import Made


@dataclass(frozen=True)
class Content:
    """Who chose what: users, items, answers by both, the key."""

    users: frozenset[str]
    items: frozenset[str]
    answers: dict[tuple[str, str], str]
    key: dict[str, str]

    @property
    def n_options(self) -> int:
        return len({(item, answer) for (_, item), answer in self.answers.items()})


def label(cell) -> str:
    """A set of choices as the reader writes it."""
    return "; ".join(sorted([cell] if isinstance(cell, str) else cell))


def wanted(example: Made) -> Content:
    """What the fixture was made from."""
    answers = {place: label(cell) for place, cell in example.answers.items() if cell}
    users, items = frozenset(u for u, _ in answers), frozenset(i for _, i in answers)
    return Content(users, items, answers, {item: label(key) for item, key in example.key.items()})


def found(responses) -> Content:
    """What was read."""
    users = [str(user) for user in responses.users.tolist()]
    items = [str(item) for item in responses.items.tolist()]
    labels = [str(own) for own in responses.option_labels.tolist()]
    owners = responses.option_items.tolist()
    starts, chosen = (part.tolist() for part in responses.rows)
    answers = {
        (user, items[owners[option]]): labels[option]
        for k, user in enumerate(users)
        for option in chosen[starts[k] : starts[k + 1]]
    }
    key = {str(item): str(option) for item, option in (responses.key or {}).items()}
    return Content(frozenset(users), frozenset(items), answers, key)


INTRODUCTION = """# Formats

`hnd rank FILE` recognises the exports below by their structure, not by the name of the file; `hnd
check FILE` says what was recognised and why, and `--format NAME` overrules it. A table in no known
format is read as a plain table. What cannot be ranked (counts, points, free text, one person) is
refused with a sentence that says what to export instead.

A file is in a format if it shows one of its signs. The last column says on which real files a
format was tried; where it says –, the format was written from the documentation or the source code
of the tool.

A format is its signs (`Sign`) and where its parts stand: which columns belong to a question
(`Question` in `src/hitsndiffs/reading/exports/sheet.py`), or which path leads to the user, the item
and the answer (`Paths` in `records.py`). The rest is done for all of them. A new format is one
`Format`, one entry in `FORMATS`, and one fixture in `tests/formats/`: files made by our own code,
in which it is known who chose what, and which reading must give back.

"""


def signs(format) -> str:
    """What shows that a file is in a format, in words and by names."""
    found = []
    for because, group in groupby(format.signs, key=lambda sign: sign.because):
        names = [" + ".join((*own.columns, *own.fields)) for own in group]
        named = ", or ".join(f"`{name}`" for name in names if name).replace("|", "\\|")
        found.append(f"{because} ({named})" if named else because)
    return "; or ".join(found)


def page() -> str:
    """The whole page."""
    from hitsndiffs.reading.exports import FORMATS

    listed = "".join(
        f"| `{f.name}` | {f.title} | {f.about} | {signs(f)} | {f.tried or '–'} |\n" for f in FORMATS
    )
    heads = ("name", "export", "where it comes from", "its signs", "tried on real files")
    title = f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
    return INTRODUCTION + title + listed
