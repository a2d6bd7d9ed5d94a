"""The options of all commands: each is described once, and a command names those that it has."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import is_dataclass
from functools import cache, wraps
from typing import Annotated, Any, get_type_hints

import typer

__all__ = ["spread", "typed"]

#: Each option: its parameter, what stands for its value (a flag has none), and what it does, under
#: its heading in the help. "command.parameter" is what one command means by it.
OPTIONS = """
[]
key FILE: An answer key, which may have errors (columns item, answer; several as A;C).
answers q09=D,q03=A|FILE: Right answers that you are sure of, or a file of them (columns item,
    answer).
out FILE: Write the table: .csv, .tsv, .parquet or .json (--engine dask: a folder).
key_out FILE: Write the likely answer key.
report FILE.html: Write a self-contained HTML report.
versus A B: Is A better than B? And the items on which they differ.
pairs: How likely each of the best is above each other.
short_form: How many items would do for the same order, and which.
top N: Show the best N only.
everybody: Show everybody.
explain: Say how it was found, and what goes without saying.
check.full: Run the slow checks too, and say what is as it should be.
compare.method NAME: Only this one; may be given several times.
accept ITEM=ANSWER: Accept this answer, too (q07=B); may be given several times.
without ITEM: This item does not count; may be given several times.
blanks wrong|skip: Whether a blank is wrong or does not count for that user.
worker NAME: What this user says, by what is likely right.
next N: The N answers that would help most, and from whom.
each N: With --next: at most this many answers from one user.
labels.pairs N: The N pairs of users who agree most beyond chance and ability.
labels.predicted COLUMN: The column of what users think most others will answer: surprisingly
    popular answers.
simulate.out DIR: The folder to write into; made if new.
ability NAME: How abilities are spread: uniform, normal, spaced or mostly-able.
bmax B: Largest item difficulty; difficulties lie within 1 below it.
amax A: Largest item discrimination (higher = less noise).
host ADDRESS: Where to listen (default 127.0.0.1: reachable from this machine only).
port N: The port (default 8765; 0: any that is free).
no_open: Do not open it in the browser.
[The method]
method NAME: One of those that 'hnd methods' lists.
by correct|ability: Rank by the expected share of right answers, or by latent ability.
group COLUMN|FILE: The column of the users' groups (runs of one model, a team), or a file of users
    and groups. Each group counts once.
reading N: Rank by another reading of the answers (2, 3, …).
use_key: Use the key that the file holds as known answers.
predicted COLUMN: The column of what users think most others will answer: surprisingly popular
    answers are taken for a key that may err.
strong_user NAME: A user who is certainly good.
solver NAME: How a spectral method is computed: lanczos, power, …
sample N: Rank N users only, drawn at random.
bootstrap N: Errors from this many random halves of the items (slow).
seed N: For random starts (default 0).
engine NAME: What computes: auto, numpy or threads (auto: by size), cupy (a GPU), dask (a
    cluster).
scheduler tcp://HOST:PORT: A Dask cluster to work on (--engine dask; without it, this machine).
threads N: How many threads (default: all cores).
[The file]
user NAME: Column of the users.
item NAME: Column of the items.
option NAME: Column of the answers.
items GLOB: Only these items (q*, 'Q[1-9]'); may be given several times.
drop GLOB: Leave these items out; may be given several times.
key_row N: The row that holds the key (from 1).
header_row N: The row with the names (from 1).
header: Whether the first row holds names; detected if not given.
sheet NAME: Sheet of a spreadsheet.
layout wide|long: One row per user (wide) or per answer (long); detected if not given.
transpose: Rows are items, columns are users.
attempt first|last|best: Which attempt of a person counts (default: first).
duplicates error|first|last: What to do if a user gave two different answers to an item.
format NAME: One that 'hnd formats' lists, or csv, tsv, xlsx, parquet, jsonl for plain tables.
encoding NAME: Text encoding: utf-8, cp1252, utf-16, …
separator MARK: Between cells: ; , tab, …
blank WORD: Text that means 'no answer', replacing the usual words; may be given several times.
fold: Whether b and B are the same answer.
plan FILE.json: Read as this plan says ('hnd check --json' writes one).
max_memory SIZE: Memory limit: 500MB, 4GB (default: half of the machine's memory).
[What comes out]
sections COLUMN|FILE|names: The section of each item (a file: columns item, section; 'names': by
    what is before the number in an item's name): sub-scores, and whether they add anything.
compare_groups COLUMN|FILE: Groups of users to compare (a file: columns user, group): items harder
    for one of two.
save FILE: Keep the ranking, for 'hnd score' and hnd.load.
clusters COLUMN|FILE|names: With --versus, --pairs and --report: items that belong together (a
    passage, a template) count as one; 'names': by what is before the number in an item's name.
simulate.format csv|parquet:
raw: Leave cells of CSV and TSV that look like formulas as they are (for programs).
as_json: Everything, as JSON.
quiet: Nothing but the result.
debug: Show where an error came from.
[Size]
users N:
simulate.items N: 100, unless the model has its own.
options N: Options of each item: 3, unless the model has its own.
[Who answers what]
answer_probability P: The share of items that each user answers.
missing fixed|pairs: That share for every user, or as a probability for every user and item.
answers_per_user N: The median number of answers, with a long tail.
blocks N: Cut the items into blocks, of which each user answers two.
[Limits]
max_upload SIZE: How much may be sent at once (default 100MB).
serve.max_memory SIZE: How much one piece of work may hold (default 4GB, or half of the
    machine's).
time_limit SECONDS: How long one piece of work may take (default 600).
"""

#: What stands without an option's name.
ARGUMENTS = """
paths FILE…: Tables (CSV, Excel, ODS, Parquet, JSONL), exports that 'hnd formats' lists, folders
    of them, also packed; - reads standard input.
score.model MODEL: A ranking that hnd rank --save wrote.
simulate.model MODEL: 1pl, 2pl, 3pl, glad, grm, bock, samejima, c1p, half-moon or
    american-experience.
"""

#: What is typed for a parameter, where it is not its name.
TYPED = {
    "as_json": ["--json"],
    "everybody": ["--all"],
    "out": ["--out", "-o"],
    "quiet": ["--quiet", "-q"],
    "method": ["--method", "-m"],
    "header": ["--header/--no-header"],
    "fold": ["--fold/--no-fold"],
    "bmax": ["--hardest"],
    "amax": ["--sharpest"],
    "answer_probability": ["--answered"],
}


def typed(name: str) -> list[str]:
    """What is typed for a parameter.

    >>> typed("quiet"), typed("key_out")
    (['--quiet', '-q'], ['--key-out'])
    """
    return TYPED.get(name) or [f"--{name.replace('_', '-')}"]


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command its options: its parameters, the fields of its dataclasses, and ``--debug``.

    In the help, the fields appear where the dataclass is among the parameters. ``--debug`` is for
    :mod:`hitsndiffs.cli.outcome`, which shows the errors of all commands.
    """
    own = inspect.signature(command, eval_str=True).parameters
    leaves = [leaf for parameter in own.values() for leaf in _leaves(parameter)]
    if "debug" not in own:
        kind = inspect.Parameter.KEYWORD_ONLY
        leaves.append(inspect.Parameter("debug", kind, default=False, annotation=bool))
    leaves = [_described(command.__name__, leaf) for leaf in leaves]

    @wraps(command)
    def with_options(**given: Any) -> None:
        command(**{name: _filled(parameter, given) for name, parameter in own.items()})

    with_options.__signature__ = inspect.Signature(leaves)  # type: ignore[attr-defined]
    with_options.__annotations__ = {leaf.name: leaf.annotation for leaf in leaves}
    return with_options


def _leaves(parameter: inspect.Parameter) -> list[inspect.Parameter]:
    """The options that a parameter stands for."""
    if not is_dataclass(parameter.annotation):
        return [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
    return [leaf for field in _fields(parameter.annotation) for leaf in _leaves(field)]


def _filled(parameter: inspect.Parameter, given: dict[str, Any]) -> Any:
    """The value of a parameter, from the options given."""
    if not is_dataclass(parameter.annotation):
        return given[parameter.name]
    kind: Any = parameter.annotation
    return kind(**{field.name: _filled(field, given) for field in _fields(kind)})


def _fields(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind)
    found = inspect.signature(kind).parameters.values()
    return [field.replace(annotation=hints[field.name]) for field in found]


@cache
def _table() -> dict[str, tuple[str | None, str, str]]:
    """Parameter → heading in the help (``None``: an argument), value, what it does."""
    found: dict[str, tuple[str | None, str, str]] = {}
    panel: str | None = None
    for line in (ARGUMENTS + OPTIONS).replace("\n    ", " ").split("\n"):
        if line.startswith("["):
            panel = line.strip("[]")
        elif line:
            option, _, said = line.partition(": ")
            name, _, metavar = option.rstrip(":").partition(" ")
            found[name] = panel, metavar, said
    return found


def _described(command: str, leaf: inspect.Parameter) -> inspect.Parameter:
    """A parameter with what the help says of it."""
    name, table = leaf.name, _table()
    panel, metavar, said = table.get(f"{command}.{name}") or table[name]
    how: dict[str, Any] = {"metavar": metavar, "help": said or None}
    if panel is None:
        described: Any = typer.Argument(show_default=False, **how)
    else:
        if name == "method":
            how["autocompletion"] = _methods
        if "/" in typed(name)[0]:
            how["show_default"] = False
        described = typer.Option(*typed(name), rich_help_panel=panel or None, **how)
    return leaf.replace(annotation=Annotated[leaf.annotation, described])


def _methods(incomplete: str) -> list[str]:
    """The names of methods, for shells that complete words."""
    from hitsndiffs.methods import METHODS

    return [name for name in METHODS if name.startswith(incomplete)]
