"""``hnd rank``: a file of answers in, a ranking out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.cli.inputs import Source
from hitsndiffs.cli.outputs import (
    TABLES,
    check_distinct,
    check_target,
    group_file,
    read_groups,
    table_writer,
)
from hitsndiffs.cli.text import (
    BEST,
    for_people,
    interval_bar,
    room_left,
    say,
    show_json,
    show_table,
    six_digits,
    tab_separated,
    title,
)
from hitsndiffs.data.files import Writer, same_place, text_writer, write_whole
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError
from hitsndiffs.results.exports import key_frame, ranking_frame
from hitsndiffs.results.sureness import notes_beside, repeats, sureness
from hitsndiffs.results.wording import count, missing, sizes

if TYPE_CHECKING:
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.ranking import Ranking

__all__ = ["Job", "rank_file"]

#: On a terminal, up to this many users are all shown; of more, only the first ``BEST``.
WHOLE_UP_TO = 50
#: On a terminal, this many groups are shown; the others are only counted.
GROUPS = 5
#: Minimum and maximum length of the bar of score and interval, in characters.
SHORTEST_BAR, LONGEST_BAR = 10, 24
#: File endings of a report.
REPORTS = (".html", ".htm")


@dataclass(frozen=True)
class Job:
    """What ``hnd rank`` was asked to do."""

    source: Source
    method: str | None = None
    by: str | None = None
    bootstrap: int = 0
    sample: int | None = None
    params: dict[str, Any] = field(default_factory=dict)
    scheduler: str | None = None
    answers: Path | None = None
    group: str | None = None
    use_key: bool = False
    out: Path | None = None
    key_out: Path | None = None
    report: Path | None = None
    save: Path | None = None
    key: Path | None = None
    as_json: bool = False
    top: int | None = None
    everybody: bool = False
    raw: bool = False
    quiet: bool = False


def rank_file(job: Job) -> None:
    """Read, rank, write, show."""
    if job.scheduler is not None or job.params.get("engine") == "dask":
        from hitsndiffs.cli.cluster import rank_files

        rank_files(job)
        return
    targets = {
        "--out": job.out,
        "--key-out": job.key_out,
        "--report": job.report,
        "--save": job.save,
    }
    endings = {"--report": REPORTS, "--save": (".json",)}
    for option, path in targets.items():
        check_target(path, option, job.source.paths, endings.get(option, TABLES))
    check_distinct(targets)
    for option, given in (
        ("--answers", job.answers),
        ("--key", job.key),
        ("--plan", job.source.plan),
        ("--group", group_file(job.group)),
    ):
        for target in targets.values():
            if given is not None and target is not None and same_place(target, given):
                raise InputError(f"{target}: {option} reads this file; name another one to write.")
    if job.report is None and job.key is not None:
        raise InputError(
            "--key is for the report: add --report report.html (to rank with right answers that "
            "you know, use --answers)."
        )
    if job.top is not None and job.top < 1:
        raise InputError(f"--top must be at least 1; got {job.top}.")
    if job.bootstrap < 0 or job.bootstrap == 1:
        raise InputError(f"--bootstrap must be at least 2 (or left out); got {job.bootstrap}.")
    ranking, plan = _ranking(job)
    _write(ranking, job, plan)
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


def _ranking(job: Job) -> tuple[Ranking, Plan]:
    from hitsndiffs.results.given import key_parameter
    from hitsndiffs.results.ranking import rank

    method = job.method or "auto"
    params = dict(job.params)
    groups = group_file(job.group)
    column = job.group if groups is None else None
    responses, plan = job.source.read_with_plan(quiet=job.quiet, group=column)
    if job.answers is not None:
        from hitsndiffs.reading import read_key

        key = read_key(job.answers, responses)
        for note in key.notes:
            say(f"Note: {note}", quiet=job.quiet)
        params[key_parameter(method)] = dict(key)
    elif job.use_key:
        if responses.key is None:
            raise InputError(
                f"{job.source.name}: --use-key: there is no key in it; give one with --answers."
            )
        params[key_parameter(method)] = dict(responses.key)
    if groups is not None:
        if job.group in {found.name for found in plan.columns}:
            raise InputError(
                f"--group {job.group}: this is a column of {job.source.name} and also a file; "
                f"write ./{job.group} for the file, or give the file another name."
            )
        params["group"] = read_groups(groups)
    with working("Ranking", quiet=job.quiet, told=True):
        ranking = rank(
            responses, method, by=job.by, bootstrap=job.bootstrap, sample=job.sample, **params
        )
        return ranking, plan


# -- files ------------------------------------------------------------------------------------


def _write(ranking: Ranking, job: Job, plan: Plan) -> None:
    files: dict[Path, Writer] = {}
    if job.out is not None:
        if job.out.suffix.lower() == ".json":
            files[job.out] = text_writer(ranking.to_json() + "\n")
        else:
            files[job.out] = table_writer(ranking_frame(ranking), job.out, raw=job.raw)
    if job.key_out is not None:
        files[job.key_out] = table_writer(key_frame(ranking), job.key_out, raw=job.raw)
    if job.report is not None:
        files[job.report] = text_writer(_report(ranking, job, plan) + "\n")
    if job.save is not None:
        from hitsndiffs.results.saving import as_text

        files[job.save] = text_writer(as_text(ranking) + "\n")
    write_whole(files)


def _report(ranking: Ranking, job: Job, plan: Plan) -> str:
    from hitsndiffs.reading import read_key
    from hitsndiffs.show import report_html

    responses = ranking.responses
    key = responses.key if job.key is None else read_key(job.key, responses)
    paths = job.source.paths
    file = None if len(paths) > 1 or paths[0] == "-" else Path(paths[0])
    with working("Writing the report", quiet=job.quiet, told=True):
        return report_html(ranking, key=key, file=file, command=_command(job), reading=plan.lines())


def _command(job: Job) -> str:
    """The command line that repeats the report; file names without their folders."""
    import shlex

    said = ["hnd", "rank"]
    said += ["-" if path == "-" else Path(path).name for path in job.source.paths]
    for name, value in job.source.said.items():
        option = "blank" if name == "blanks" else name.replace("_", "-")
        if isinstance(value, bool):
            said.append(f"--{option}" if value else f"--no-{option}")
        else:
            for one in value if isinstance(value, list) else [value]:
                said += [f"--{option}", Path(one).name if name == "plan" else str(one)]
    told: dict[str, Any] = {
        "method": job.method,
        "by": job.by,
        "bootstrap": job.bootstrap or None,
        "sample": job.sample,
        "answers": None if job.answers is None else job.answers.name,
        "group": job.group if (groups := group_file(job.group)) is None else groups.name,
        "key": None if job.key is None else job.key.name,
        **job.params,
    }
    for name, value in told.items():
        if value is not None:
            said += [f"--{name.replace('_', '-')}", str(value)]
    if job.use_key:
        said.append("--use-key")
    return shlex.join([*said, "--report", job.report.name if job.report else "report.html"])


# -- words ------------------------------------------------------------------------------------


def _opening(ranking: Ranking, job: Job, plan: Plan) -> Iterator[str]:
    """What was read, which method was used and why, and how sure the result is."""
    from hitsndiffs.methods import METHODS

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
        helps = ranking.what_helps
        tell = " Tell it with --answers or --strong-user."
        yield sure if helps is None else f"{sure} {helps}{tell}"
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
    """All users (or the top ones), with tabs between the columns."""
    order = ranking.order[: job.top]
    low, high = ranking.rank_intervals()
    columns = {
        "rank": [_whole(rank) for rank in ranking.ranks[order].tolist()],
        "user": [str(user) for user in ranking.users[order].tolist()],
        "score": [six_digits(score) for score in ranking.scores[order].tolist()],
        "error": [six_digits(error) for error in ranking.standard_errors[order].tolist()],
        "low": [_whole(rank) for rank in low[order].tolist()],
        "high": [_whole(rank) for rank in high[order].tolist()],
        "answers": [str(n) for n in ranking.responses.answers_per_user[order].tolist()],
    }
    if ranking.n_components > 1:
        groups = ranking.components[order].tolist()
        columns["group"] = ["" if group < 0 else str(group + 1) for group in groups]
    tab_separated(list(columns), zip(*columns.values(), strict=True))


def _whole(rank: float) -> str:
    return "" if np.isnan(rank) else f"{rank:.0f}"


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
            "rank": _whole(ranking.ranks[j]) or "–",
            "user": str(ranking.users[j]),
            "right ± error" if shares else "score ± error": show(
                float(ranking.scores[j]), float(ranking.standard_errors[j])
            ),
        }
        if np.isfinite(low[users]).any():
            row["rank, 95 % sure"] = f"{_whole(low[j])}–{_whole(high[j])}"
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
