"""What ``hnd rank`` shows: verdict, help, table, and what there is to know about the data.

Words go to standard error, the table to standard output.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.cli.text import (
    BEST,
    for_people,
    interval_bar,
    room_left,
    scale,
    show_matrix,
    show_table,
    title,
)
from hitsndiffs.methods import METHODS
from hitsndiffs.results.columns import COLUMNS
from hitsndiffs.results.verdict import notes_beside
from hitsndiffs.results.versus import Pairs
from hitsndiffs.results.wording import count, joined, judged, listed, missing, per_cent, sizes

if TYPE_CHECKING:
    from hitsndiffs.cli.rank import Job
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.cells import Tabled
    from hitsndiffs.results.columns import Cells
    from hitsndiffs.results.found import Found
    from hitsndiffs.results.ranking import Ranking

__all__ = ["show_instead", "show_ranking", "verdict_lines"]

#: On a terminal, up to this many users are all shown; of more, only the first ``BEST``.
WHOLE_UP_TO = 50
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
#: Columns of the table, and of that of an order in doubt: numbers that look precise do not stand
#: beside it.
SHOWN = ("rank", "user", "tier", "score", "key_score", "ranks", "answers")
SHOWN_IN_DOUBT = ("rank", "user", "key_score", "answers")
#: Columns that a narrow screen does without, in this order.
SPARE = ("answers", "rank range", "tier")


def show_ranking(ranking: Ranking, job: Job, plan: Plan) -> None:
    """Show a ranking to a person, or pass it on to a program."""
    result, best = job.result, ranking.order[: job.top]
    for_programs = not (for_people() or result.as_json)
    table = partial(
        result.show, lambda: ranking.cells(best), lambda: _show(ranking, job), ranking.to_json
    )
    result.say(*verdict_lines(ranking), *(_by_key(ranking) if job.key is not None else ()))
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


def verdict_lines(ranking: Found) -> Iterator[str]:
    """The verdict, and what would help."""
    verdict = ranking.verdict
    yield verdict
    if verdict.help:
        if verdict.asks:
            items = joined([f"'{item}'" if " " in item else item for item, _ in verdict.asks])
            yield f"To be surer, put in the right answers to {items} in place of _, and run:"
        elif ranking.held_key:
            yield "To be surer, take the key that the file holds for right:"
        else:
            yield "To be surer, name a user who is certainly good:"
        yield f"  {verdict.help}"


def _by_key(ranking: Ranking) -> Iterator[str]:
    """How the given key fits the answers."""
    from hitsndiffs.results.audit import audit
    from hitsndiffs.results.metrics import accuracy

    assert ranking.given_key is not None
    assert ranking.key_scores is not None
    agree = accuracy(ranking.key_scores, ranking.scores)
    yield f"Your key: the order by it and this order agree to {agree:.2f} (1 = the same order)."
    yield str(audit(ranking.responses, ranking.given_key))


def _about(ranking: Ranking, job: Job, plan: Plan) -> Iterator[str]:
    """What was read, and how."""
    r = ranking.responses
    full = "none missing" if r.is_complete else f"{missing(r)} missing"
    yield f"{job.source.name}: {sizes(r)}, {full}."
    if plan.is_telling:
        yield f"Read as {plan.line}"
    if r.key is not None and ranking.held_key and not ranking.verdict.help:
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
    more = [] if job.explain else ["--explain"]
    has_key = ranking.fit.key_probabilities is not None and not ranking.ratings
    if job.key_out is None and has_key:
        more.append("--key-out key.csv (the likely answer key)")
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
        yield f"The better end of the order: {judged(turned.how)}."
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
    order, groups = ranking.order, ranking.n_components
    if ranking.verdict.doubt == "nothing" and not job.everybody:
        return
    most = _most(len(order), job)
    if ranking.verdict.is_open:
        most = most if job.everybody or job.top else min(most, BEST_OF_OPEN)
    print()
    if ranking.verdict.is_open:
        title(ranking.verdict.caption)
    for group in range(min(groups, GROUPS)):
        users = order[ranking.components[order] == group]
        if groups > 1:
            title(f"Group {group} ({count(len(users), 'user')})")
        _show_users(ranking, users[:most])
        if len(users) > most:
            rest = count(len(users) - most, "more user")
            print(f"… and {rest}: --all shows them, --out ranking.csv keeps them")
        print()
    if groups > GROUPS:
        rest = count(groups - GROUPS, "more group")
        print(f"… and {rest}: --out ranking.csv keeps them all\n")
    silent = ranking.users[ranking.components < 0]
    if len(silent):
        print(f"No rank, as they gave no answers: {listed(silent)}\n")


def _most(users: int, job: Job) -> int:
    if job.everybody or (job.top is None and users <= WHOLE_UP_TO):
        return users
    return BEST if job.top is None else job.top


def _show_users(ranking: Ranking, users: Any) -> None:
    numbers = ranking.verdict.allows_numbers
    cells = ranking.cells(users)
    heads, columns = [], []
    for name in SHOWN if numbers else SHOWN_IN_DOUBT:
        if name == "ranks":
            if ranking.standard_errors is not None and np.isfinite(cells.columns["rank_low"]).any():
                heads.append("rank range")
                columns.append(_ranges(cells))
        elif name in cells.columns:
            share = name == "score" and cells.kinds[name] == "share"
            heads.append("right" if share else COLUMNS[name].heading)
            columns.append(cells.texts(name))
    rows = [list(row) for row in zip(*columns, strict=True)]
    pictures: Sequence[int] = ()
    if not ranking.verdict.is_open:
        pictures = _add_pictures(ranking, cells, heads, rows)
    show_table(heads, rows, names=(1,), spare=SPARE, pictures=pictures)


def _ranges(cells: Cells) -> list[str]:
    both = zip(cells.texts("rank_low"), cells.texts("rank_high"), strict=True)
    return [low if low == high else f"{low}–{high}" for low, high in both]


def _add_pictures(
    ranking: Ranking, cells: Cells, heads: list[str], rows: list[list[str]]
) -> Sequence[int]:
    """Give every row a picture of score and interval; return its column, if the screen has room."""
    scores = cells.columns["score"]
    reach = REACH * cells.columns["standard_error"]
    if np.isnan(reach).all():
        return ()
    place = heads.index("right" if "right" in heads else "score") + 1 if len(heads) > 4 else 2
    kept = [name for name in heads if name not in SPARE[:1]]
    room = room_left(kept, [[cell for head, cell in zip(heads, row, strict=True)
                             if head in kept] for row in rows])  # fmt: skip
    if room < SHORTEST_BAR:
        return ()
    length = min(room, LONGEST_BAR)
    everybody = (
        ranking.components == ranking.components[ranking.user_number(cells.values("user")[0])]
    )
    if cells.kinds["score"] == "share":
        ends, unit = (0.0, 1.0), "share"
    else:
        wide = REACH * np.nan_to_num(ranking.standard_errors[everybody])
        all_scores = ranking.scores[everybody]
        ends, unit = (float((all_scores - wide).min()), float((all_scores + wide).max())), "number"
    heads.insert(place, scale(ends, length, share=unit == "share"))
    for row, score, half in zip(rows, scores.tolist(), np.nan_to_num(reach).tolist(), strict=True):
        row.insert(place, interval_bar(score, half, ends, length))
    return (place,)
