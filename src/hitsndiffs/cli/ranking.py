"""The work of ``hnd rank`` in one process: read, rank, write, show."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.outputs import (
    TABLES,
    check_distinct,
    check_target,
    group_file,
    read_groups,
    table_writer,
)
from hitsndiffs.cli.rank import Job
from hitsndiffs.cli.ranking_screen import show_instead, show_ranking
from hitsndiffs.cli.text import BEST
from hitsndiffs.data.files import Writer, same_place, text_writer, write_whole
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError
from hitsndiffs.results.rank import key_parameter, spelled

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.cells import Tabled
    from hitsndiffs.results.ranking import Ranking

__all__ = ["command_line", "rank_file"]

#: File endings of a report.
REPORTS = (".html", ".htm")


def rank_file(job: Job) -> None:
    """Read, rank, write, show."""
    targets = {
        "--out": job.out,
        "--key-out": job.key_out,
        "--report": job.report,
        "--save": job.save,
    }
    endings: dict[str, Sequence[str]] = {"--report": REPORTS, "--save": ()}
    for option, path in targets.items():
        check_target(path, option, job.source.paths, endings.get(option, TABLES))
    check_distinct(targets)
    for option, given in (
        ("--answers", None if job.answers is None else Path(job.answers)),
        ("--key", job.key),
        ("--plan", job.source.plan),
        ("--group", group_file(job.group)),
    ):
        for target in targets.values():
            if given is not None and target is not None and same_place(target, given):
                raise InputError(f"{target}: {option} reads this file; name another one to write.")
    if job.top is not None and job.top < 1:
        raise InputError(f"--top must be at least 1; got {job.top}.")
    if job.halves < 0 or job.halves == 1:
        raise InputError(f"--bootstrap must be at least 2 (or left out); got {job.halves}.")
    if job.clusters is not None and job.versus is None:
        raise InputError("--clusters says how surely one user is above another: add --versus A B.")
    if job.report is None and (job.sections or job.compare_groups) is not None:
        raise InputError(
            "--sections and --compare-groups are for a report: add --report FILE.html."
        )
    if (job.versus is not None) + job.pairs + job.short_form > 1:
        raise InputError("give one of --versus, --pairs and --short-form at a time.")
    ranking, plan = _ranking(job)
    instead = _instead(ranking, job)
    _write(ranking, job, plan)
    if instead is None:
        show_ranking(ranking, job, plan)
    else:
        show_instead(instead, job, ranking)


def _instead(ranking: Ranking, job: Job) -> Tabled | None:
    """What is shown in place of the ranking."""
    if job.versus is not None:
        said = job.clusters
        clusters = None if said is None else job.source.item_groups(said, "--clusters")
        return ranking.versus(*job.versus, clusters=clusters)
    if job.short_form:
        return ranking.short_form()
    return ranking.pairs(job.top or BEST) if job.pairs else None


def _ranking(job: Job) -> tuple[Ranking, Plan]:
    from hitsndiffs.results.rank import rank

    method = job.method or "auto"
    params = job.params
    groups = group_file(job.group)
    column = job.group if groups is None else None
    responses, plan = job.source.read_with_plan(quiet=job.quiet, group=column)
    if job.answers is not None:
        params[key_parameter(method)] = _known_answers(job.answers, responses)
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
        if job.key is not None:
            params["key"] = job.key
        ranking = rank(
            responses, method, by=job.by, bootstrap=job.halves, sample=job.sample, **params
        )
    named = replace(ranking, command=command_line(job))
    named.__dict__["data"] = ranking.data  # the engine is open already
    return named, plan


def _known_answers(said: str, responses: Responses) -> Any:
    """A file of right answers, or those in ``q09=D,q03=A``."""
    if "=" not in said or Path(said).is_file():
        if not Path(said).is_file() and not Path(said).suffix and said != "-":
            raise InputError(
                f"--answers {said}: expected right answers such as q09=D,q03=A, or a file of them."
            )
        return said
    found: dict[str, str] = {}
    for pair in said.split(","):
        item, equals, answer = pair.partition("=")
        if not equals or not item.strip() or not answer.strip():
            raise InputError(
                f"--answers {said}: expected pairs of an item and its right answer, such as "
                f"q09=D,q03=A; got {pair!r}."
            )
        found[item.strip()] = answer.strip()
    known, unchosen = spelled(found, responses, "--answers")
    if unchosen:
        raise InputError(unchosen[0])
    return known


# -- files ------------------------------------------------------------------------------------


def _write(ranking: Ranking, job: Job, plan: Plan) -> None:
    files: dict[Path, Writer] = {}
    if job.out is not None:
        if job.out.suffix.lower() == ".json":
            files[job.out] = text_writer(ranking.to_json() + "\n")
        else:
            files[job.out] = table_writer(ranking.cells().frame(), job.out, raw=job.raw)
    if job.key_out is not None:
        files[job.key_out] = table_writer(ranking.key_cells().frame(), job.key_out, raw=job.raw)
    if job.report is not None:
        files[job.report] = text_writer(_report(ranking, job, plan) + "\n")
    if job.save is not None:
        from hitsndiffs.results.saving import writer

        files[job.save] = writer(ranking)
    write_whole(files)


def _report(ranking: Ranking, job: Job, plan: Plan) -> str:
    from hitsndiffs.show import report_html

    paths, sections, groups = job.source.paths, job.sections, job.compare_groups
    about: dict[str, Any] = {
        "key": ranking.given_key,
        "sections": sections and job.source.item_groups(sections, "--sections"),
        "groups": groups and job.source.user_groups(groups, "--compare-groups"),
        "file": None if len(paths) > 1 or paths[0] == "-" else Path(paths[0]),
        "command": _command(job),
        "reading": plan.lines(),
    }
    with working("Writing the report", quiet=job.quiet, told=True):
        return report_html(ranking, **about)


def command_line(job: Job) -> str:
    """The command line as it was typed, without known answers and without what it writes."""
    said = ["hnd", "rank", *job.source.paths]
    for name, value in {**job.source.said, **_told(job)}.items():
        if name not in ("answers", "strong_user"):
            said += _option(name, value)
    return shlex.join(said)


def _option(name: str, value: Any) -> list[str]:
    option = "blank" if name == "blanks" else name.replace("_", "-")
    if isinstance(value, bool):
        return [f"--{option}" if value else f"--no-{option}"]
    values = value if isinstance(value, list) else [value]
    return [part for one in values for part in (f"--{option}", str(one))]


def _told(job: Job) -> dict[str, Any]:
    """The options that say how to rank."""
    told = {
        "method": job.method,
        "by": job.by,
        "bootstrap": job.halves or None,
        "sample": job.sample,
        "answers": job.answers,
        "group": job.group,
        "key": job.key,
        **job.params,
        "use_key": job.use_key or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _command(job: Job) -> str:
    """The command line that repeats the report; file names without their folders."""
    said = ["hnd", "rank"]
    said += ["-" if path == "-" else Path(path).name for path in job.source.paths]
    files = {"plan", "answers", "key"} | ({"group"} if group_file(job.group) else set())
    shown = {"sections": job.sections, "compare_groups": job.compare_groups}
    files |= {name for name, value in shown.items() if group_file(value)}
    told = {name: value for name, value in shown.items() if value is not None}
    for name, value in {**job.source.said, **_told(job), **told}.items():
        said += _option(name, Path(value).name if name in files else value)
    return shlex.join([*said, "--report", job.report.name if job.report else "report.html"])
