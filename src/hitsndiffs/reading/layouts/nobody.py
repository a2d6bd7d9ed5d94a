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
from hitsndiffs.reading.vocabulary import COUNTS, GRADED, PEOPLE, STATISTICS, plain, tokens

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
#: "The answers that each person gave": what to export instead.
_INSTEAD = "export the answers that each person gave"
_CHOSEN = "export the answers that each person chose, or name the items if these are choices"

Sign = tuple[int, str, str]


def weigh_nobody(
    profiles: Profiles, wide: Wide, *, n_people: int = 0, is_long: bool = False
) -> Hypothesis:
    """Return what speaks for a table that holds no answers, and what it is instead.

    ``n_people`` is how many columns may be users if each row is an item; ``is_long`` says whether
    each row may be an answer.
    """
    best = Hypothesis("no answers of people", possible=False)
    for weight, what, instead in _signs(profiles, wide, n_people, is_long):
        found = Hypothesis(best.title, refusal=Refusal(what, instead))
        found.add(weight, f"it looks like {what}")
        best = found if found.score > best.score or not best.possible else best
    return best


def _signs(profiles: Profiles, wide: Wide, n_people: int, is_long: bool) -> Iterator[Sign]:
    names = profiles.names[:WIDEST]
    if any(name.casefold().startswith("@attribute") for name in names):
        yield 20, "an ARFF file", "save it as CSV"
    pairs = [n.partition("=")[0] for n in names if re.match(r"\w+=\S", n)]
    if len(pairs) > 1 and all(
        any(cell.startswith(f"{name}=") for cell in row) for row in profiles.rows for name in pairs
    ):
        yield 20, "a log with lines of name=value", "write a table with a header instead"
    if not is_long:
        yield from _single(profiles, wide)
    if not profiles.has_header:
        return
    if len(profiles.names) <= WIDEST:
        yield from _counts(profiles, wide)
        if profiles.named("item") and not profiles.named("user"):
            yield from _about_items(profiles, wide, is_turned=n_people >= COLUMNS)
    if not is_long and wide.asked is None and len(wide.items) <= MOST_POINTS:
        yield from _points(profiles, wide)
    for name in wide.users:  # the column of users once more, with others
        again = [own for own in profiles.of(profiles.names) if own.name == f"{name} (2)"]
        cells = {*profiles[name].cells} - {""}
        if again and again[0].distinct > 1 and cells.isdisjoint(again[0].cells):
            what = f"several tables side by side ({name!r} stands over several columns)"
            yield 20, what, "put them below each other"


def _counts(profiles: Profiles, wide: Wide) -> Iterator[Sign]:
    """Counts or percentages per answer, which add up."""
    columns = [p for p in profiles.of(profiles.names) if not _is_id(p)]
    numbers = [own for p in columns if (own := _whole_numbers(p.cells))]
    rows = list(zip(*numbers, strict=False))
    if len(rows) >= ROWS and len(numbers) >= max(COLUMNS, 0.8 * len(columns)):
        total = sum(rows[0])
        vary = len({tuple(sorted(row)) for row in rows}) > 1
        if total > len(numbers) and vary and all(sum(row) == total for row in rows):
            per = f"counts or percentages per answer (each row adds up to {total})"
            yield 10, f"a table of {per}, without the answers of the people", _INSTEAD
    beside = any(not profiles[name].is_numeric for name in wide.items)
    if len(rows) >= ENOUGH and not beside and (most := _sum_of_others(numbers)):
        what = f"a table of counts: one column is the sum of {most} others"
        yield 10, f"{what}, without the answers of the people", _INSTEAD


def _sum_of_others(numbers: Sequence[Sequence[int]]) -> int:
    """Return how many columns beside one another add up to another column; 0 if none do."""
    for k, own in enumerate(numbers):
        for some in (numbers[k + 1 :], numbers[:k]):
            for last in range(COLUMNS, len(some) + 1):
                sums = [sum(row) for row in zip(*some[:last], strict=True)]
                if sums == list(own) and max(own) > 1 and len({*map(tuple, some[:last])}) > 1:
                    return last
    return 0


def _about_items(profiles: Profiles, wide: Wide, *, is_turned: bool) -> Iterator[Sign]:
    """Statistics or counts per question, or questions with one answer each."""
    names = profiles.names
    said = {plain(n) for n in names if {plain(n), *tokens(n)} & STATISTICS}
    if len(said) >= 2:
        what = f"a report with statistics per question ({listed(sorted(said), most=3)})"
        yield 10, f"{what}, without the answers of the people", _INSTEAD
    item = profiles[profiles.named("item")[0]]
    counted = COUNTS & {plain(name) for name in names} and profiles.named("option")
    if counted and item.distinct < item.filled and len(names) <= 4:
        yield 10, "a table of counts per answer, without the answers of the people", _INSTEAD
    items = [n for n in profiles.named("item") if profiles[n].names_rows]
    if not items or is_turned:
        return
    options = [n for n in names if is_option(n)]
    rest = [n for n in names if n not in (*options, *items)]
    keys = [n for n in rest if profiles[n].said == "key" or plain(n) in ("answer", "correct")]
    if len(options) >= 3 and keys and len(rest) - len(keys) <= 3:
        what = "a list of questions with their options, without anybody's answers"
        yield 9, what, "give the answers that each person chose"
    answers = {*profiles.named("answer"), *profiles.named("option")} - {*items}
    choices = [n for n in rest if profiles[n].is_choice]
    others = [n for n in rest if n not in answers and profiles[n].said is None]
    few = len(choices) <= 2 and not wide.series
    if (answers and not others) or (choices and few and not options):
        instead = "a file or a column for each of them, or a table with one row per user"
        yield (
            9,
            "one answer per item (a key, or the answers of one user)",
            f"give the answers of several users: {instead}",
        )


def _points(profiles: Profiles, wide: Wide) -> Iterator[Sign]:
    """Points per question: it is known how good an answer was, not which."""
    items = wide.items
    own = profiles.of(items)
    numbers = [c.name for c in wide.found.values() if c.reason == REASONS["measure"]]
    numeric = all(p.is_numeric for p in own)
    if wide.users and numeric and len(numbers) > max(1, len(items)):
        what = f"a table of points or other numbers that hardly repeat ({listed(numbers, most=2)})"
        yield 8, f"{what}, without answers", _CHOSEN
    if not items:
        return
    totals = [c.name for c in wide.found.values() if c.role in ("points", "unused")]
    columns = [p.cells for p in own]
    words = [{word.rstrip("0123456789") for word in tokens(n)} for n in items]
    graded = all(each & GRADED for each in words) and are_grades(columns)
    what = f"a table of points per question ({listed(items, most=2)}), without answers"
    if graded or holds_points(columns, [profiles[n].cells for n in totals]):
        yield 12, what, _CHOSEN
    elif numeric and _are_marks(profiles, own):
        yield 8, what, _CHOSEN


def _are_marks(profiles: Profiles, items: Sequence[Profile]) -> bool:
    """Whether numbers of every size stand among the items: points, times and grades."""
    places = [p.place for p in items]
    among = profiles.of(profiles.names[min(places) : max(places) + 1])
    measures = [p for p in among if p.said is None and p.is_numeric and p.distinct > MOST_MARKS]
    return len(measures) * 4 > len(items)


def _is_id(own: Profile) -> bool:
    """Whether a column numbers or names the rows, or holds no numbers."""
    first = own.names_rows and own.place == 0
    number = own.is_numeric or own.kind == "score"
    return own.said == "row" or own.kind == "counter" or first or not number


def _whole_numbers(cells: Sequence[str]) -> list[int]:
    """Return cells as whole numbers, without a per cent sign; nothing if one is something else."""
    texts = [cell.strip().removesuffix("%").strip() for cell in cells]
    return [int(text) for text in texts] if all(map(str.isdecimal, texts)) else []


def _single(profiles: Profiles, wide: Wide) -> Iterator[Sign]:
    """One answer per row, beside texts or a key: nobody says who gave it."""
    if any(plain(name) in PEOPLE or recognise("user", [name]) for name in wide.users):
        return
    varied = [n for n in wide.items if profiles[n].distinct < len(profiles.rows)]
    if len(varied) > 1 or wide.asked is not None:
        return
    if len(profiles.names) == 1:
        yield (
            8,
            "a list in a single column",
            "give a row per user and a column per item, with a header",
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
        what = (
            f"one answer per row ({item!r}, beside {beside[0]!r}), and no column says who gave it"
        )
        yield 8, what, "give the answers of several users, or a folder with one file per user"
