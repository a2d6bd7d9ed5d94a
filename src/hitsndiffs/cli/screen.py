"""What ``hnd rank`` shows: verdict, help, table, and what there is to know about the data.

Words go to standard error, the table to standard output.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from hitsndiffs.cli.text import Column, for_people, room_left, say, show_matrix, show_table, title
from hitsndiffs.data.words import count, missing, per_cent, sizes
from hitsndiffs.methods import METHODS
from hitsndiffs.results.columns import COLUMNS, rank_ranges, shown_columns
from hitsndiffs.results.verdict import notes_beside
from hitsndiffs.results.versus import Pairs

if TYPE_CHECKING:
    from hitsndiffs.cli.rank import Job
    from hitsndiffs.data.arrays import Ints
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.cells import Cells, Tabled
    from hitsndiffs.results.found import Found
    from hitsndiffs.results.ranking import Ranking

__all__ = ["BEST", "WHOLE_UP_TO", "interval_bar", "say_verdict", "show_instead", "show_ranking"]

#: On a terminal, up to this many users are all shown; of more, only so many of the best.
WHOLE_UP_TO, BEST = 50, 20
#: Of an order that is in doubt, the first few are shown: enough to see whether it makes sense.
BEST_OF_OPEN = 10
#: On a terminal, this many groups are shown; the others are only counted.
GROUPS = 5
#: Minimum and maximum length of the picture of score and interval, in characters.
SHORTEST_BAR, LONGEST_BAR = 15, 41
#: Half the width of a 95 % interval, in standard errors.
REACH = 1.96
#: Up to this many users fit side by side.
MATRIX = 20
#: Columns that a narrow screen does without, in this order.
SPARE = ("answers", "rank range", "tier")
#: How the better end of an order was found (:class:`hitsndiffs.order.orientation.Orientation`).
JUDGED = {
    "decile entropy": "the end whose users agree more with each other",
    "majority": "the end that sides with the majority",
    "known answers": "judged by the known answers",
    "strong user": "judged by the strong user",
    "words": "judged by what the labels say",
    "evidence": "judged by the likely key",
    "undecided": "nothing in the answers tells",
}


def show_ranking(ranking: Ranking, job: Job, plan: Plan) -> None:
    """Show a ranking to a person, or pass it on to a program."""
    result, best = job.result, ranking.order[: job.top]
    for_programs = not (for_people() or result.as_json)
    table = partial(
        result.show, lambda: ranking.cells(best), lambda: _show(ranking, job), ranking.to_json
    )
    say_verdict(ranking, quiet=result.quiet)
    if not result.quiet:
        result.say(*_by_key(ranking))
    if not for_programs:
        table()
    result.say(*_about(ranking, job, plan))
    result.note(notes_beside(ranking), explain=job.explain)
    result.say(*_files(ranking, job))
    if for_programs:  # last: one that stops reading, such as head, ends the command
        table()


def show_instead(found: Tabled, job: Job, ranking: Ranking) -> None:
    """Show another result in place of the ranking: two users side by side, pairs, a short form."""
    job.result.say(str(found), *((ranking.verdict,) if ranking.verdict.doubt else ()))
    if isinstance(found, Pairs):
        matrix = partial(_show_pairs, found) if len(found.users) <= MATRIX else None
        job.result.give(found, people=matrix)
    else:
        cells = found.cells()
        job.result.give(found, cells=cells.only(range(len(cells))[: job.top]))


def _show_pairs(found: Pairs) -> None:
    title("How likely the user of a row is above that of a column, in per cent")
    show_matrix(list(map(str, found.users)), found.above)


# -- words ------------------------------------------------------------------------------------


def say_verdict(ranking: Found, *, quiet: bool) -> None:
    """Say the verdict, and what would help."""
    verdict = ranking.verdict
    say(verdict, quiet=quiet, bold=True)
    if verdict.help:
        say(f"{verdict.advice}:", quiet=quiet)
        say(f"  {verdict.help}", quiet=quiet)


def _by_key(ranking: Ranking) -> Iterator[str]:
    """How a key fits the answers, whether it was given or came with them."""
    if ranking.key_scores is None or ranking.ratings:
        return
    from hitsndiffs.results.audit import audit
    from hitsndiffs.results.metrics import accuracy

    agree = accuracy(ranking.key_scores, ranking.scores)
    if np.isfinite(agree):
        yield f"The order by your key agrees with this one to {agree:.2f} (1 = the same order)."
    yield str(audit(ranking.responses, ranking.given_key))


def _about(ranking: Ranking, job: Job, plan: Plan) -> Iterator[str]:
    """What was read, and how."""
    r = ranking.responses
    full = "none missing" if r.is_complete else f"{missing(r)} missing"
    yield f"{job.source.name}: {sizes(r)}, {full}."
    if plan.is_telling:
        yield f"Read as {plan.line}"
    if r.key is not None and ranking.spare_key == "found" and not ranking.verdict.help:
        yield (
            f"The file holds a key ({r.key.source}); the ranking does not use it (--use-key does)."
        )
    if job.explain:
        yield from _explained(ranking, job)


def _files(ranking: Ranking, job: Job) -> Iterator[str]:
    """What was written, and where to find more."""
    for path in (job.result.out, job.key_out, job.report, job.save):
        if path is not None:
            yield f"Written: {path}"
    more = ["--all (the order found)"] if ranking.ratings and not job.everybody else []
    more += [] if job.explain else ["--explain"]
    if ranking.verdict.doubt != "nothing":
        if job.key_out is None and ranking.fit.key_probabilities is not None:
            more += [] if ranking.ratings else ["--key-out key.csv (the likely answer key)"]
        if job.report is None:
            more.append("--report report.html")
    if more:
        yield f"More: {', '.join(more)}"


def _explained(ranking: Ranking, job: Job) -> Iterator[str]:
    """Which method was used and why, what the confidence counts, and how well it would repeat."""
    choice, turned = ranking.fit.choice, ranking.orientation
    if choice is not None and choice.method is not None:
        yield f"Method {choice.method}, chosen for these data: {choice.why}."
    elif choice is None:
        default = "" if job.method else " (the default)"
        yield f"Method {ranking.method}{default}: {METHODS[ranking.method].summary}."
    if ranking.confidence is not None and not ranking.ratings:
        yield f"Confidence that this ranking reflects ability: {per_cent(ranking.confidence)}."
    if turned is not None:
        yield f"The better end of the order: {JUDGED[turned.how]}."
    if np.isfinite(ranking.reliability):
        yield (
            f"Reliability {ranking.reliability:.2f} "
            "(1 = a second test like this would give the same order)."
        )
    yield (
        "Tiers: the first user of each is above the first of the next with 95 % probability; "
        "users of neighbouring tiers may be equally good. Bars are 95 % intervals."
    )


# -- tables -----------------------------------------------------------------------------------


def _show(ranking: Ranking, job: Job) -> None:
    """Print a table for people, one for each group of users that can be compared."""
    order, groups, verdict = ranking.order, ranking.n_components, ranking.verdict
    if verdict.doubt in ("nothing", "ratings") and not (job.everybody or job.top):
        return
    most = _most(len(order), job)
    if verdict.is_open and not (job.everybody or job.top):
        most = min(most, BEST_OF_OPEN)
    print()
    if verdict.is_open:
        title(verdict.caption)
    for group in range(min(groups, GROUPS)):
        users = order[ranking.components[order] == group]
        if groups > 1:
            title(f"Group {group} ({count(len(users), 'user')})")
        _show_users(ranking, users, most)
        if len(users) > most:
            rest = count(len(users) - most, "more user")
            print(f"… and {rest}: --all shows them, --out ranking.csv keeps them")
        print()
    if groups > GROUPS:
        rest = count(groups - GROUPS, "more group")
        print(f"… and {rest}: --out ranking.csv keeps them all\n")


def _most(users: int, job: Job) -> int:
    if job.everybody or (job.top is None and users <= WHOLE_UP_TO):
        return users
    return BEST if job.top is None else job.top


def _show_users(ranking: Ranking, users: Ints, most: int) -> None:
    """Print the first users of a group, a tier at a time."""
    cells = ranking.cells(users[:most])
    columns: list[Column] = []
    names = shown_columns(ranking)
    for name in names:
        if name == "range":
            columns.append(("rank range", rank_ranges(cells), "whole"))
        elif name not in ("bar", "component"):  # each group has a table of its own
            columns.append((COLUMNS[name].heading, cells.texts(name), cells.kinds[name]))
    last: list[int] = []
    if "bar" in names:
        _add_picture(ranking, users, cells, columns)
    if "tier" in names:
        last = [n for n, (a, b) in enumerate(pairwise(cells.values("tier"))) if a != b]
    show_table(columns, spare=SPARE, last=last)


def _add_picture(ranking: Ranking, users: Ints, cells: Cells, columns: list[Column]) -> None:
    """Add a column with pictures of scores and their intervals, if the screen has room."""
    scores, reach = cells.columns["score"], REACH * cells.columns["standard_error"]
    length = min(room_left(columns, SPARE[:1]), LONGEST_BAR)
    if length < SHORTEST_BAR or np.isnan(reach).all():
        return
    share, ends = ranking.by == "correct", (0.0, 1.0)
    if not share:
        wide = REACH * np.nan_to_num(ranking.standard_errors[users])
        low, high = ranking.scores[users] - wide, ranking.scores[users] + wide
        ends = float(low.min()), float(high.max())
    both = zip(scores.tolist(), np.nan_to_num(reach).tolist(), strict=True)
    bars = [interval_bar(score, half, ends, length) for score, half in both]
    place = [head for head, _, _ in columns].index("rank range")
    columns.insert(place, (_scale(ends, length, share=share), bars, "picture"))


def interval_bar(
    middle: float,
    reach: float,
    ends: tuple[float, float],
    length: int,
    signs: tuple[str, str] | None = None,
) -> str:
    """Draw a value and its interval (so far to either side, cut at the ends of the bar) as text.

    >>> interval_bar(0.5, 0.25, (0.0, 1.0), 9, ("─", "●"))
    '  ──●──  '
    >>> interval_bar(1.0, 0.25, (0.0, 1.0), 9, ("─", "●"))
    '      ──●'
    """
    line, point = signs or (("─", "●") if _can_print("─●") else ("-", "o"))
    low, high = ends

    def place(value: float) -> int:
        share = (value - low) / (high - low) if high > low else 0.5
        return round(min(max(share, 0.0), 1.0) * (length - 1))

    first, last, here = place(middle - reach), place(middle + reach), place(middle)
    cells = [line if first <= i <= last else " " for i in range(length)]
    cells[here] = point
    return "".join(cells)


def _scale(ends: tuple[float, float], length: int, *, share: bool) -> str:
    """The scale above bars: the values at both ends, and for shares the middle.

    >>> _scale((0.0, 1.0), 21, share=True)
    '0 %      50 %   100 %'
    >>> _scale((-1.5, 2.0), 15, share=False)
    '-1.5        2.0'
    """
    if not share:
        low, high = (f"{end:.2g}" if abs(end) < 1 else f"{end:.1f}" for end in ends)
        return low + high.rjust(length - len(low))
    middle = "50 %" if length > 16 else ""
    here = (length - 1) // 2 - 1  # "50" stands over the middle of the bar
    return ("0 %".ljust(here) + middle).ljust(length - 5) + "100 %"


def _can_print(signs: str) -> bool:
    """Whether standard output can print these characters."""
    try:
        signs.encode(getattr(sys.stdout, "encoding", None) or "ascii")
    except UnicodeEncodeError:
        return False
    return True
