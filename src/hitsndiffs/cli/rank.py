"""``hnd rank``: a file of answers in, a ranking out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.options import typed
from hitsndiffs.cli.result import Result, check_targets
from hitsndiffs.cli.source import Source, file_named
from hitsndiffs.data.files import Writer, text_writer, write_whole
from hitsndiffs.data.pool import limited_threads
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.cells import Tabled
    from hitsndiffs.results.ranking import Ranking
    from hitsndiffs.results.verdict import Command

__all__ = ["Job", "rank"]

#: Options that the method takes as they are; and with them all that say what the order is.
PARAMETERS = ("strong_user", "reading", "solver", "seed", "engine", "threads")
ORDER = (
    "method",
    "by",
    "bootstrap",
    "sample",
    "answers",
    "group",
    "key",
    "predicted",
    *PARAMETERS,
    "use_key",
)
#: Options that may name files.
FILES = {"plan", "answers", "key", "group", "sections", "compare_groups", "clusters"}


@dataclass(frozen=True, kw_only=True)
class Job:
    """What ``hnd rank`` is asked to do."""

    key: str | None = None
    answers: str | None = None
    result: Result
    key_out: Path | None = None
    report: Path | None = None
    versus: tuple[str, str] | None = None
    pairs: bool = False
    short_form: bool = False
    top: int | None = None
    everybody: bool = False
    explain: bool = False
    method: str | None = None
    by: str | None = None
    group: str | None = None
    reading: int | None = None
    use_key: bool = False
    predicted: str | None = None
    strong_user: str | None = None
    solver: str | None = None
    sample: int | None = None
    bootstrap: int | None = None
    seed: int | None = None
    engine: str | None = None
    scheduler: str | None = None
    threads: int | None = None
    source: Source
    sections: str | None = None
    compare_groups: str | None = None
    save: Path | None = None
    clusters: str | None = None

    def said(self, names: Iterable[str]) -> dict[str, Any]:
        """The options of these names that were given."""
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value not in (None, False)}

    @property
    def params(self) -> dict[str, Any]:
        """The parameters of the method that were given."""
        return self.said(PARAMETERS)


def rank(job: Job) -> None:
    """Rank the users of a file, best first, and infer the answer key.

    On a terminal you get a table; through a pipe every user, with tabs between the columns.
    """
    with limited_threads(job.threads):
        if job.scheduler is not None or job.engine == "dask":
            from hitsndiffs.cli.cluster import rank_there

            rank_there(job)
        else:
            _rank_here(job)


def _rank_here(job: Job) -> None:
    """Read, rank, write, show."""
    _check(job)
    from hitsndiffs.cli.screen import show_instead, show_ranking

    ranking, plan = _ranking(job)
    files: dict[Path, Writer] = {}
    if job.key_out is not None:
        files[job.key_out] = job.result.table_writer(ranking.key_cells(), job.key_out)
    if job.report is not None:
        files[job.report] = text_writer(_report(ranking, job, plan) + "\n")
    if job.save is not None:
        from hitsndiffs.results.saving import writer

        files[job.save] = writer(ranking)
    instead = _instead(ranking, job)
    if instead is None:
        write_whole({**job.result.files(ranking.cells, ranking.to_json), **files})
        show_ranking(ranking, job, plan)
    else:
        write_whole(files)
        show_instead(instead, job, ranking)


def _check(job: Job) -> None:
    """Refuse options that do not fit together, before any work is done."""
    targets = {
        "--out": job.result.out,
        "--key-out": job.key_out,
        "--report": job.report,
        "--save": job.save,
    }
    read = (*job.source.paths, job.answers, job.key, job.source.plan, job.group)
    check_targets(targets, read, {"--report": (".html", ".htm"), "--save": ()})
    if job.top is not None and job.top < 1:
        raise InputError(f"--top must be at least 1; got {job.top}.")
    if job.bootstrap is not None and (job.bootstrap < 0 or job.bootstrap == 1):
        raise InputError(f"--bootstrap must be at least 2 (or left out); got {job.bootstrap}.")
    if job.clusters is not None and not (job.versus or job.pairs or job.report):
        raise InputError(
            "--clusters says how surely one user is above another: add --versus A B, --pairs or "
            "--report FILE.html."
        )
    if job.report is None and (job.sections or job.compare_groups) is not None:
        raise InputError(
            "--sections and --compare-groups are for a report: add --report FILE.html."
        )
    if job.key is not None and job.predicted is not None:
        raise InputError("give --key or --predicted, not both: each is a key that may err.")
    if (job.versus is not None) + job.pairs + job.short_form > 1:
        raise InputError("give one of --versus, --pairs and --short-form at a time.")


def _ranking(job: Job) -> tuple[Ranking, Plan]:
    from hitsndiffs.results.rank import key_parameter, rank

    method, params, quiet = job.method or "auto", job.params, job.result.quiet
    groups = None if job.group is None else file_named(job.group)
    responses, plan = job.source.read_with_plan(
        quiet=quiet, group=job.group if groups is None else None
    )
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
        params["group"] = job.source.user_groups(str(job.group), "--group")
    if job.key is not None:
        params["key"] = job.key
    elif job.predicted is not None:
        found = job.source.surprising(responses, job.predicted)
        params["key"] = found.key
        responses = responses.with_notes([*responses.notes, str(found)])
    how: dict[str, Any] = {"by": job.by, "bootstrap": job.bootstrap or 0, "sample": job.sample}
    with working("Ranking", quiet=quiet, told=True):
        ranking = rank(responses, method, **how, **params)
    return ranking.made_by(command_of(job)), plan


def _known_answers(said: str, responses: Responses) -> Any:
    """A file of right answers, or those in ``q09=D,q03=A``."""
    from hitsndiffs.results.rank import spelled

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


def _instead(ranking: Ranking, job: Job) -> Tabled | None:
    """What is shown in place of the ranking."""
    from hitsndiffs.cli.screen import BEST

    if job.short_form:
        return ranking.short_form()
    said = job.clusters
    clusters = None if said is None else job.source.item_groups(said, "--clusters")
    if job.versus is not None:
        return ranking.versus(*job.versus, clusters=clusters)
    return ranking.pairs(job.top or BEST, clusters=clusters) if job.pairs else None


def _report(ranking: Ranking, job: Job, plan: Plan) -> str:
    from hitsndiffs.show import report_html

    paths, sections, groups = job.source.paths, job.sections, job.compare_groups
    about: dict[str, Any] = {
        "key": ranking.given_key,
        "sections": sections and job.source.item_groups(sections, "--sections"),
        "groups": groups and job.source.user_groups(groups, "--compare-groups"),
        "clusters": job.clusters and job.source.item_groups(job.clusters, "--clusters"),
        "file": None if len(paths) > 1 or paths[0] == "-" else Path(paths[0]),
        "command": command_of(job, told=True, bare=True).line("--report", _bare(str(job.report))),
        "reading": plan.lines(),
    }
    with working("Writing the report", quiet=job.result.quiet, told=True):
        return report_html(ranking.made_by(command_of(job, bare=True)), **about)


def command_of(job: Job, *, told: bool = False, bare: bool = False) -> Command:
    """The command that gives the same order.

    It is ``told`` the known answers and what a report shows, which otherwise can be added; ``bare``
    files stand without their folders, which are nobody else's business.
    """
    from hitsndiffs.results.verdict import Command

    more = ("sections", "compare_groups", "clusters")
    said = job.said((*ORDER, *more)) if told else job.said(set(ORDER) - {"answers", "strong_user"})
    ordered = {name: said[name] for name in (*ORDER, *more) if name in said}
    files = [_bare(path) if bare else path for path in job.source.paths]
    key = None if job.key is None else _bare(job.key) if bare else job.key
    read, ranked = (_typed(options, bare=bare) for options in (job.source.said, ordered))
    return Command((*files, *read), tuple(ranked), key)


def _typed(options: Mapping[str, Any], *, bare: bool) -> Iterator[str]:
    """Options as they are typed."""
    for name, value in options.items():
        option, *_ = typed("blank" if name == "blanks" else name)[0].split("/")
        if isinstance(value, bool):
            yield option if value else option.replace("--", "--no-", 1)
            continue
        for one in value if isinstance(value, list) else [value]:
            yield from (option, _bare(str(one)) if bare and name in FILES else str(one))


def _bare(said: str) -> str:
    """A file's name without its folder; anything else as it is."""
    return Path(said).name if Path(said).is_file() or Path(said).parent.is_dir() else said
