"""What ``hnd rank`` shows: the words on standard error, the table on standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.cli.text import (
    BEST,
    for_people,
    interval_bar,
    room_left,
    say,
    show_json,
    show_table,
    title,
    whole,
)
from hitsndiffs.methods import METHODS
from hitsndiffs.results.sureness import notes_beside, repeats, sureness
from hitsndiffs.results.wording import count, missing, sizes

if TYPE_CHECKING:
    from hitsndiffs.cli.rank import Job
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.ranking import Ranking

__all__ = ["show_ranking"]

#: On a terminal, up to this many users are all shown; of more, only the first ``BEST``.
WHOLE_UP_TO = 50
#: On a terminal, this many groups are shown; the others are only counted.
GROUPS = 5
#: Minimum and maximum length of the bar of score and interval, in characters.
SHORTEST_BAR, LONGEST_BAR = 10, 24


def show_ranking(ranking: Ranking, job: Job, plan: Plan) -> None:
    """Show a ranking to a person, or pass it on to a program."""
    if job.as_json:
        show_json(ranking.to_json())
        _say_notes(ranking, job)
        return
    for line in _opening(ranking, job, plan):
        say(line, quiet=job.quiet)
    if for_people():
        _show(ranking, job)
        _say_notes(ranking, job)
        _say_key(ranking, job)
    else:
        _say_notes(ranking, job)
        _pipe(ranking, job)


# -- words ------------------------------------------------------------------------------------


def _opening(ranking: Ranking, job: Job, plan: Plan) -> Iterator[str]:
    """What was read, which method was used and why, and how sure the result is."""
    r = ranking.responses
    yield (
        f"{job.source.name}: {sizes(r)}, "
        + ("none missing." if r.is_complete else f"{missing(r)} missing.")
    )
    if plan.is_telling:
        yield f"Read as {plan.line}"
    if r.key is not None and not job.use_key:
        yield (
            f"The file holds a key ({r.key.source}); the ranking does not use it (--use-key does)."
        )
    choice = ranking.fit.choice
    if choice is not None:
        if choice.method is None:
            yield f"No method can rank these answers. {choice.why}."
        else:
            yield f"Method {choice.method}, chosen for these data: {choice.why}."
    else:
        default = "" if job.method else " (the default)"
        yield f"Method {ranking.method}{default}: {METHODS[ranking.method].summary}."
    yield from _certainty(ranking)


def _certainty(ranking: Ranking) -> Iterator[str]:
    if ranking.n_components > 1:
        return
    if ranking.consistent:
        yield "The order is certified: it fits every single answer."
    if (sure := sureness(ranking)) is not None:
        helps = ranking.verdict.help
        yield f"{sure} To be surer: {helps}" if helps else sure
    if (said := repeats(ranking)) is not None:
        yield said


def _say_notes(ranking: Ranking, job: Job) -> None:
    for note in ranking.notes if job.as_json else notes_beside(ranking):
        say(f"Note: {note}", quiet=job.quiet)


def _say_key(ranking: Ranking, job: Job) -> None:
    for path in (job.out, job.key_out, job.report, job.save):
        if path is not None:
            say(f"Written: {path}", quiet=job.quiet)
    if job.key_out is None and ranking.fit.key_probabilities is not None:
        say("The likely answer key: add --key-out key.csv", quiet=job.quiet)


# -- tables -----------------------------------------------------------------------------------


def _pipe(ranking: Ranking, job: Job) -> None:
    """All users (or the top ones), with tabs between the columns; not if they go to a file."""
    if job.out is None:
        sys.stdout.write(ranking.cells(ranking.order[: job.top]).tab_separated())


def _show(ranking: Ranking, job: Job) -> None:
    """Print a table for people, one for each group of users that can be compared."""
    order, groups = ranking.order, ranking.n_components
    most = _most(len(order), job)
    print()
    for group in range(min(groups, GROUPS)):
        users = order[ranking.components[order] == group]
        if groups > 1:
            title(f"Group {group + 1} of {groups} ({count(len(users), 'user')})")
        _show_users(ranking, users[:most])
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


def _show_users(ranking: Ranking, users: Any) -> None:
    shares = ranking.by == "correct"
    show = _shown_share if shares else _shown_score
    second = ranking.abilities if shares else ranking.correct
    low, high = ranking.rank_intervals()
    rows = []
    for j in users.tolist():
        row = {
            "rank": whole(ranking.ranks[j]) or "–",
            "user": str(ranking.users[j]),
            "right ± error" if shares else "score ± error": show(
                float(ranking.scores[j]), float(ranking.standard_errors[j])
            ),
        }
        if np.isfinite(low[users]).any():
            row["rank, 95 % sure"] = f"{whole(low[j])}–{whole(high[j])}"
        if second is not None:
            share = f"{100 * second[j]:.1f} %"
            row["ability" if shares else "right"] = f"{second[j]:.3f}" if shares else share
        row["answers"] = str(ranking.responses.answers_per_user[j])
        rows.append(row)
    _add_bars(ranking, users, rows)
    spare = ("answers", "ability" if shares else "right", "rank, 95 % sure")
    show_table(list(rows[0]), [list(row.values()) for row in rows], names=(1,), spare=spare)


def _add_bars(ranking: Ranking, users: Any, rows: list[dict[str, str]]) -> None:
    """Give every row a small bar of score and interval, if the screen has room for it."""
    if np.isnan(ranking.standard_errors[users]).all():
        return
    room = room_left(list(rows[0]), [list(row.values()) for row in rows])
    if room < SHORTEST_BAR:
        return
    reach = 1.96 * np.nan_to_num(ranking.standard_errors)
    everybody = ranking.components == ranking.components[users[0]]
    if ranking.by == "correct":
        low, high = 0.0, 1.0
    else:
        low = float((ranking.scores - reach)[everybody].min())
        high = float((ranking.scores + reach)[everybody].max())
    for row, j in zip(rows, users.tolist(), strict=True):
        row["interval"] = interval_bar(
            float(ranking.scores[j]), float(reach[j]), (low, high), min(room, LONGEST_BAR)
        )


def _shown_score(score: float, error: float) -> str:
    return f"{score:.3f}" + ("" if np.isnan(error) else f" ± {error:.3f}")


def _shown_share(score: float, error: float) -> str:
    return f"{100 * score:.1f} %" + ("" if np.isnan(error) else f" ± {100 * error:.1f}")
