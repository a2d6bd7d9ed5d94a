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
from hitsndiffs.cli.rank import ORDER, Job
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
#: Options that may name files.
FILES = {"plan", "answers", "key", "group", "sections", "compare_groups"}


def rank_file(job: Job) -> None:
    """Read, rank, write, show."""
    _check(job)
    ranking, plan = _ranking(job)
    files: dict[Path, Writer] = {}
    if job.key_out is not None:
        frame = ranking.key_cells().frame()
        files[job.key_out] = table_writer(frame, job.key_out, raw=job.result.raw)
    if job.report is not None:
        files[job.report] = text_writer(_report(ranking, job, plan) + "\n")
    if job.save is not None:
        from hitsndiffs.results.saving import writer

        files[job.save] = writer(ranking)
    instead = _instead(ranking, job)
    if instead is not None:
        write_whole(files)
        show_instead(instead, job, ranking)
        return
    write_whole({**job.result.files(ranking.cells, ranking.to_json), **files})
    show_ranking(ranking, job, plan)


def _check(job: Job) -> None:
    """Refuse options that do not fit together, before any work is done."""
    targets = {
        "--out": job.result.out,
        "--key-out": job.key_out,
        "--report": job.report,
        "--save": job.save,
    }
    endings: dict[str, Sequence[str]] = {"--report": REPORTS, "--save": ()}
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
            if given is not None and target is not None and same_place(target, Path(given)):
                raise InputError(f"{target}: {option} reads this file; name another one to write.")
    if job.top is not None and job.top < 1:
        raise InputError(f"--top must be at least 1; got {job.top}.")
    if job.bootstrap is not None and (job.bootstrap < 0 or job.bootstrap == 1):
        raise InputError(f"--bootstrap must be at least 2 (or left out); got {job.bootstrap}.")
    if job.clusters is not None and job.versus is None:
        raise InputError("--clusters says how surely one user is above another: add --versus A B.")
    if job.report is None and (job.sections or job.compare_groups) is not None:
        raise InputError(
            "--sections and --compare-groups are for a report: add --report FILE.html."
        )
    if (job.versus is not None) + job.pairs + job.short_form > 1:
        raise InputError("give one of --versus, --pairs and --short-form at a time.")


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

    method, params, quiet = job.method or "auto", job.params, job.result.quiet
    groups = group_file(job.group)
    column = job.group if groups is None else None
    responses, plan = job.source.read_with_plan(quiet=quiet, group=column)
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
    if job.key is not None:
        params["key"] = job.key
    how: dict[str, Any] = {"by": job.by, "bootstrap": job.bootstrap or 0, "sample": job.sample}
    with working("Ranking", quiet=quiet, told=True):
        ranking = rank(responses, method, **how, **params)
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


def _report(ranking: Ranking, job: Job, plan: Plan) -> str:
    from hitsndiffs.show import report_html

    paths, sections, groups = job.source.paths, job.sections, job.compare_groups
    about: dict[str, Any] = {
        "key": ranking.given_key,
        "sections": sections and job.source.item_groups(sections, "--sections"),
        "groups": groups and job.source.user_groups(groups, "--compare-groups"),
        "file": None if len(paths) > 1 or paths[0] == "-" else Path(paths[0]),
        "command": command_line(job, report=True),
        "reading": plan.lines(),
    }
    with working("Writing the report", quiet=job.result.quiet, told=True):
        return report_html(ranking, **about)


def command_line(job: Job, *, report: bool = False) -> str:
    """The command line that gives the same order, for more known answers to be added.

    Parameters
    ----------
    job
        What was asked.
    report
        Whether it stands in a report: then it has the known answers and what the report shows, and
        files without their folders, which are nobody else's business.
    """
    told = {**job.source.said, **job.said(ORDER)}
    if report:
        told |= job.said(("sections", "compare_groups"))
    else:
        told = {n: value for n, value in told.items() if n not in ("answers", "strong_user")}
    said = ["hnd", "rank", *(_bare(path) if report else path for path in job.source.paths)]
    for name, value in told.items():
        option = "--" + ("blank" if name == "blanks" else name.replace("_", "-"))
        if isinstance(value, bool):
            said.append(option if value else option.replace("--", "--no-", 1))
            continue
        for one in value if isinstance(value, list) else [value]:
            said += [option, _bare(str(one)) if report and name in FILES else str(one)]
    if report:
        said += ["--report", job.report.name if job.report else "report.html"]
    return shlex.join(said)


def _bare(said: str) -> str:
    """A file's name without its folder; anything else as it is."""
    return Path(said).name if Path(said).is_file() else said
