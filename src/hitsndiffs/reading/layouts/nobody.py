"""No answers of people at all: counts, statistics, marks, lists, measurements, logs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Refusal
from hitsndiffs.reading.layouts.columns import Profile, Profiles
from hitsndiffs.reading.layouts.layout import REASONS, Hypothesis
from hitsndiffs.reading.layouts.scored import are_grades, holds_points
from hitsndiffs.reading.layouts.turned import is_option
from hitsndiffs.reading.layouts.wide import Wide
from hitsndiffs.reading.vocabulary import FIRST_NAMES, LAST_NAMES, plain, tokens

__all__ = ["weigh_nobody"]

#: Counts of the same answers add up to the same number, in at least so many rows and columns.
ROWS, COLUMNS = 5, 3
#: Fewer rows say little.
ENOUGH = 8
#: Wider tables are not looked at.
WIDEST = 60
#: Tables with more items than this are not tables of points.
MOST_POINTS = 500
#: A question has at most so many options that are numbers.
MOST_MARKS = 10
_PEOPLE = FIRST_NAMES | LAST_NAMES | {"name", "fullname", "email", "emailaddress", "username"}
_STATISTICS = {
    "difficulty", "discrimination", "biserial", "pointbiserial", "variance", "mean", "median",
    "stddev", "standarddeviation", "facility", "facilityindex", "discriminationindex", "pvalue",
    "responses", "nresponses", "count", "frequency", "correctcount", "percentcorrect", "stdev",
    "itemvariance", "alpha", "reliability",
}  # fmt: skip
_COUNTS = {"count", "counts", "n", "votes", "nvotes", "frequency", "freq", "percent"}
#: What is graded as a whole.
_GRADED = {
    "homework", "hw", "assignment", "assignments", "midterm", "exam", "quiz", "test", "lab",
    "project", "essay", "final", "klausur", "hausaufgabe", "devoir", "examen", "tarea", "compito",
}  # fmt: skip
#: "The answers that each person gave": what to export instead.
_INSTEAD = "export the answers that each person gave"
_CHOSEN = "export the answers that each person chose, or name the items if these are choices"


def weigh_nobody(
    profiles: Profiles, wide: Wide, *, n_people: int = 0, is_long: bool = False
) -> Hypothesis:
    """Return what speaks for a table that holds no answers, and what it is instead.

    ``n_people`` is how many columns may be users if each row is an item; ``is_long`` says whether
    each row may be an answer.
    """
    best = Hypothesis("no answers of people", possible=False)
    for weight, refusal in _signs(profiles, wide, n_people, is_long):
        found = Hypothesis("no answers of people", refusal=refusal)
        found.add(
            weight, f"it looks like {str(refusal).partition(';')[0].removeprefix('this is ')}"
        )
        if found.score > best.score or not best.possible:
            best = found
    return best


def _signs(
    profiles: Profiles, wide: Wide, n_people: int, is_long: bool
) -> Iterator[tuple[int, Refusal]]:
    names = profiles.names
    if any(name.casefold().startswith("@attribute") for name in names[:WIDEST]):
        yield 20, Refusal("an ARFF file", "save it as CSV")
    pairs = [n.partition("=")[0] for n in names[:WIDEST] if re.match(r"\w+=\S", n)]
    if len(pairs) > 1 and all(
        sum(cell.startswith(f"{name}=") for cell in row) for row in profiles.rows for name in pairs
    ):
        yield 20, Refusal("a log with lines of name=value", "write a table with a header instead")
    if not is_long:
        yield from _single(profiles, wide)
    if not profiles.has_header:
        return
    if len(names) <= WIDEST:
        yield from _counts(profiles, wide)
        yield from _statistics(profiles)
        if n_people < COLUMNS:
            yield from _lists(profiles, wide)
    if not is_long:
        yield from _points(profiles, wide)
    yield from _beside(profiles, wide)


def _counts(profiles: Profiles, wide: Wide) -> Iterator[tuple[int, Refusal]]:
    """Counts or percentages per answer, which add up to the same number in every row."""
    what = "without the answers of the people"
    columns = [p for p in profiles.of(profiles.names) if not _is_id(p)]
    numbers = [own for p in columns if (own := _whole_numbers(p.cells))]
    rows = list(zip(*numbers, strict=False))
    plain_numbers = len(numbers) >= COLUMNS and len(numbers) >= 0.8 * len(columns)
    if len(rows) >= ROWS and plain_numbers:
        total = sum(rows[0])
        ranks = {tuple(sorted(row)) for row in rows}
        if total > len(numbers) and len(ranks) > 1 and all(sum(row) == total for row in rows):
            per = f"counts or percentages per answer (each row adds up to {total})"
            yield 10, Refusal(f"a table of {per}, {what}", _INSTEAD)
    beside = any(not profiles[name].is_numeric for name in wide.items)
    if len(rows) >= ENOUGH and not beside and (most := _sum_of_others(numbers)):
        what = f"a table of counts: one column is the sum of {most} others, {what}"
        yield 10, Refusal(what, _INSTEAD)
    item = profiles.named("item")
    if item and not profiles.named("user"):
        cells = profiles[item[0]]
        counted = {plain(name) for name in profiles.names} & _COUNTS
        if counted and cells.distinct < cells.filled and profiles.named("option") and len(
            profiles.names
        ) <= 4:  # fmt: skip
            yield 10, Refusal(f"a table of counts per answer, {what}", _INSTEAD)


def _sum_of_others(numbers: Sequence[Sequence[int]]) -> int:
    """Return how many columns beside one another add up to another column; 0 if none do."""
    for k, own in enumerate(numbers):
        for some in (numbers[k + 1 :], numbers[:k]):
            for last in range(COLUMNS, len(some) + 1):
                sums = [sum(row) for row in zip(*some[:last], strict=True)]
                if sums == list(own) and max(own) > 1 and len({*map(tuple, some[:last])}) > 1:
                    return last
    return 0


def _statistics(profiles: Profiles) -> Iterator[tuple[int, Refusal]]:
    """A report with statistics per question."""
    if not profiles.named("item") or profiles.named("user"):
        return
    said = {
        plain(name) for name in profiles.names
        if plain(name) in _STATISTICS or any(word in _STATISTICS for word in tokens(name))
    }  # fmt: skip
    if len(said) >= 2:
        yield (
            10,
            Refusal(
                f"a report with statistics per question ({listed(sorted(said), most=3)}), without "
                "the answers of the people",
                _INSTEAD,
            ),
        )


def _lists(profiles: Profiles, wide: Wide) -> Iterator[tuple[int, Refusal]]:
    """Questions with their options, or with one answer each: nobody else's answers."""
    item = [n for n in profiles.named("item") if profiles[n].names_rows]
    if not item or profiles.named("user"):
        return
    options = [n for n in profiles.names if is_option(n)]
    rest = [n for n in profiles.names if n not in (*options, *item)]
    keys = [n for n in rest if profiles[n].said == "key" or plain(n) in ("answer", "correct")]
    if len(options) >= 3 and keys and len(rest) - len(keys) <= 3:
        yield (
            9,
            Refusal(
                "a list of questions with their options, without anybody's answers",
                "give the answers that each person chose",
            ),
        )
    answers = {*profiles.named("answer"), *profiles.named("option")} - {*item}
    choices = [n for n in rest if profiles[n].is_choice]
    others = [n for n in rest if n not in answers and profiles[n].said is None]
    few = len(choices) <= 2 and not wide.series
    if (answers and not others) or (choices and few and not options):
        yield (
            9,
            Refusal(
                "one answer per item (a key, or the answers of one user)",
                "give the answers of several users: a file or a column for each of them, or a "
                "table with one row per user",
            ),
        )


def _points(profiles: Profiles, wide: Wide) -> Iterator[tuple[int, Refusal]]:
    """Points per question: it is known how good an answer was, not which."""
    items = wide.items
    if len(items) > MOST_POINTS or wide.asked is not None:
        return
    numbers = [c.name for c in wide.found.values() if c.reason == REASONS["measure"]]
    numeric = all(profiles[n].is_numeric for n in items)
    if wide.users and numeric and len(numbers) > max(1, len(items)):
        yield (
            8,
            Refusal(
                "a table of points or other numbers that hardly repeat "
                f"({listed(numbers, most=2)}), without answers",
                _CHOSEN,
            ),
        )
    if not items:
        return
    totals = [c.name for c in wide.found.values() if c.role == "points" or c.role == "unused"]
    columns = [profiles[n].cells for n in items]
    graded = all(
        {word.rstrip("0123456789") for word in tokens(n)} & _GRADED for n in items
    ) and are_grades(columns)
    points = Refusal(
        f"a table of points per question ({listed(items, most=2)}), without answers",
        _CHOSEN,
    )
    if graded or holds_points(columns, [profiles[n].cells for n in totals]):
        yield 12, points
    elif are_marks(profiles, items):
        yield 8, points


def are_marks(profiles: Profiles, items: Sequence[str]) -> bool:
    """Whether the items are numbers, and numbers of every size stand among them.

    Options of a test are the same few numbers in most items; points, times and grades are not.
    """
    own = profiles.of(items)
    if not all(p.is_numeric for p in own):
        return False
    places = [p.place for p in own]
    among = profiles.of(profiles.names[min(places) : max(places) + 1])
    measures = [p for p in among if p.said is None and p.is_numeric and p.distinct > MOST_MARKS]
    return len(measures) * 4 > len(own)


def _beside(profiles: Profiles, wide: Wide) -> Iterator[tuple[int, Refusal]]:
    """Several tables side by side: they repeat the column of users."""
    for name in profiles.names:
        again = re.fullmatch(r"(.*) \(\d+\)", name, re.DOTALL)
        if again is None or again[1] not in wide.users:
            continue
        cells = {*profiles[name].cells} - {""}
        if len(cells) > 1 and cells.isdisjoint(profiles[again[1]].cells):
            yield (
                20,
                Refusal(
                    f"several tables side by side ({again[1]!r} stands over several columns)",
                    "put them below each other",
                ),
            )


def _is_id(own: Profile) -> bool:
    """Whether a column numbers or names the rows, or holds no numbers."""
    first = own.names_rows and own.place == 0
    return own.said == "row" or own.kind == "counter" or first or not (
        own.is_numeric or own.kind == "score"
    )  # fmt: skip


def _whole_numbers(cells: Sequence[str]) -> list[int]:
    """Return cells as whole numbers, without a per cent sign; nothing if one is something else."""
    found = []
    for cell in cells:
        text = cell.strip().removesuffix("%").strip()
        if not text.isdecimal():
            return []
        found.append(int(text))
    return found


def _single(profiles: Profiles, wide: Wide) -> Iterator[tuple[int, Refusal]]:
    """One answer per row, beside texts or a key: nobody says who gave it."""
    if any(plain(name) in _PEOPLE or recognise("user", [name]) for name in wide.users):
        return
    varied = [n for n in wide.items if profiles[n].distinct < len(profiles.rows)]
    if len(varied) > 1 or wide.asked is not None:
        return
    if len(profiles.names) == 1:
        yield (
            8,
            Refusal(
                "a list in a single column",
                "give a row per user and a column per item, with a header",
            ),
        )
    if not wide.items:
        return
    item = (varied or wide.items)[0]
    others = [c for c in wide.found.values() if c.name != item]
    beside = [c.name for c in others if c.role == "key"]
    texts = [c.name for c in others if c.role in ("comment", "identity")]
    beside += [name for name in texts if profiles[name].said is None]
    beside += [n for n in wide.items if n != item]
    beside += [name for name in wide.users if recognise("item", tokens(name))]
    if beside and len(profiles.rows) >= ENOUGH:
        yield (
            8,
            Refusal(
                f"one answer per row ({item!r}, beside {beside[0]!r}), and no column says who gave "
                "it",
                "give the answers of several users, or a folder with one file per user",
            ),
        )
