"""The jobs: look into files, rank, compare; they run in the worker process."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.words import missing, sizes
from hitsndiffs.errors import InputError
from hitsndiffs.results.verdict import Command
from hitsndiffs.show.answers import clean, first_answers
from hitsndiffs.show.web.forms import key_text

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses
    from hitsndiffs.reading import Plan
    from hitsndiffs.results.ranking import Ranking
    from hitsndiffs.results.surprising import SurprisinglyPopular
    from hitsndiffs.show.web.jobs import Reporting

__all__ = ["KINDS", "TABLES", "Kind"]

#: Maximum names offered in a list, and their length; users and items in a preview; notes shown.
OFFERED, LONGEST, CORNER_USERS, CORNER_ITEMS, SHOWN_NOTES = 1000, 1000, 5, 8, 50
#: Tables that can be downloaded, and what they are called on the page.
TABLES = {
    "ranking": "Ranking",
    "key": "Likely key",
    "marks": "Marks",
    "labels-to-ask": "Labels to ask for",
}
#: What a visitor can say of the ranking, and of items and users: the option of the command.
RANKED_BY = ("method", "by", "strong_user")
BESIDE = {"sections": "--sections", "groups": "--compare-groups", "clusters": "--clusters"}

Task = dict[str, Any]


def _read(task: Task) -> tuple[Responses, Plan]:
    from hitsndiffs.reading import read_file

    files = task["files"]
    return read_file(files[0] if len(files) == 1 else files, **task["options"])


# -- the plan ---------------------------------------------------------------------------------


def look(task: Task, watch: Reporting) -> dict[str, Any]:
    """Read the files, and describe how they are read."""
    with watch.stage(0):
        responses, plan = _read(task)
    return _described(task, plan, responses)


def _described(task: Task, plan: Plan, r: Responses) -> dict[str, Any]:
    """Return what the page says about a plan, and write it as a file."""
    _write(task, "how-it-is-read.json", plan.to_json() + "\n")
    n_users, n_items = min(CORNER_USERS, r.n_users), min(CORNER_ITEMS, r.n_items)
    return {
        "plan": plan.to_dict(),
        "items": _items(plan, r),
        "size": sizes(r) + ("" if r.is_complete else f", {missing(r)} of the cells empty"),
        "users": [name for name in map(str, r.users[:OFFERED].tolist()) if len(name) <= LONGEST],
        "sample": [clean(r.items[0], 40), clean(r.option_labels[0], 40)],
        "preview": {
            "items": [clean(item, 24) for item in r.items[:n_items].tolist()],
            "rows": first_answers(r, n_users, n_items, 24),
            "more_users": r.n_users - n_users,
            "more_items": r.n_items - n_items,
        },
        "key": None if r.key is None else {"source": clean(r.key.source), "n": len(r.key)},
        "notes": list(r.notes[:SHOWN_NOTES]),
    }


def _items(plan: Plan, r: Responses) -> list[dict[str, Any]]:
    """Return the items that can be left out one by one; none if they are columns of the file."""
    from hitsndiffs.reading.patterns import match_names

    if plan.layout == "wide":
        return []
    unused = [column.name for column in plan.columns if column.role == "unused"]
    drop = plan.options.drop
    gone = sorted(match_names(drop, unused, "drop")) if drop else []
    kept = [str(item) for item in r.items[:OFFERED].tolist()]
    return [
        {"name": name, "kept": name not in gone} for name in kept + gone if len(name) <= LONGEST
    ]


# -- the ranking ------------------------------------------------------------------------------


def rank_files(task: Task, watch: Reporting) -> dict[str, Any]:
    """Read, rank, and write everything that can be shown or downloaded."""
    from hitsndiffs.data.formulas import without_formulas
    from hitsndiffs.show.report import describe
    from hitsndiffs.show.templating import render

    with watch.stage(0):
        responses, plan = _read(task)
        known, check = _keys(task, responses)
        foreseen, beside = _foreseen(task, plan, responses), _beside(task)
        if foreseen is not None:
            check = foreseen.key
            responses = responses.with_notes([*responses.notes, str(foreseen)])
    with watch.stage(1):
        ranking = _ranked(task, responses, known, None if foreseen is None else check)
    with watch.stage(2):
        command = _command(task)
        more = ["--answers", "known.csv"] if known else []
        found = describe(
            ranking.made_by(command),
            key=check,
            file=Path(task["files"][0]) if len(task["files"]) == 1 else None,
            command=command.line(*more, "--report", "report.html"),
            reading=plan.lines(),
            **beside,
        )
        tables = {"ranking": ranking.cells()}
        if ranking.fit.key_probabilities is not None and not ranking.ratings:
            tables["key"] = ranking.key_cells()
        tables |= found.tables
        for name, cells in tables.items():
            _write(task, f"{name}.csv", without_formulas(cells.frame()).write_csv())
        outcome = render(
            "page/outcome.html",
            r=found,
            tables={name: TABLES[name] for name in tables},
            # a name with a comma does not fit on a command line, but it can be asked for here
            questions=ranking.verdict.asks,
            helps=_helps(ranking),
        )
        _write(task, "outcome.html", outcome)
        _write(task, "report.html", render("report/report.html", r=found))
    return {
        "plan": _described(task, plan, responses),
        "title": found.title,
        "subtitle": found.subtitle,
    }


def _helps(ranking: Ranking) -> str:
    """What would make a ranking surer, where it is no right answer to an item that is asked for."""
    if not ranking.verdict.help or ranking.ratings:
        return ""
    return "key" if ranking.spare_key else "user"


def _ranked(
    task: Task, responses: Responses, known: dict[str, Any] | None, key: Any = None
) -> Ranking:
    from hitsndiffs.results.rank import key_parameter, rank

    method, params = task.get("method") or "auto", {} if key is None else {"key": key}
    if known:
        params[key_parameter(method)] = known
    for name in ("strong_user", "seed"):
        if task.get(name) not in (None, ""):
            params[name] = task[name]
    return rank(responses, method, by=task.get("by") or None, **params)


def _keys(task: Task, responses: Responses) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the answers that the ranking may use, and the key to check against the answers."""
    from hitsndiffs.reading import read_key

    given = None if responses.key is None else dict(responses.key)
    if task.get("key_file"):
        given = dict(read_key(task["key_file"], responses))
    elif task.get("key_text"):
        items = {str(item) for item in responses.items.tolist()}
        typed = io.StringIO(key_text(task["key_text"], items))
        typed.name = "what you typed"
        given = dict(read_key(typed, responses))
    known: dict[str, Any] = dict(task["known"])
    if task.get("use_key"):
        if given is None and not known:
            raise InputError(
                "You asked for a ranking by a key, but there is none; choose a file, or type it in."
            )
        known = {**(given or {}), **known}
    return known or None, given


def _beside(task: Task) -> dict[str, Any]:
    """What was said of items and users: sections, clusters and groups, by a column or a file."""
    from hitsndiffs.reading.beside import item_groups, two_columns, user_groups

    found: dict[str, Any] = {}
    for name in BESIDE:
        said, file = task.get(name), task.get(f"{name}_file")
        if file:
            found[name] = two_columns(Path(file), name, "names and what they belong to")
        elif said == "names" and name != "groups":
            found[name] = "names"
        elif said:
            of_column = user_groups if name == "groups" else item_groups
            found[name] = of_column(task["files"], task["options"], said)
    return found


def _foreseen(task: Task, plan: Plan, votes: Responses) -> SurprisinglyPopular | None:
    """The surprisingly popular answers, where a column holds what users think others will say."""
    from hitsndiffs.reading import read_responses
    from hitsndiffs.results.surprising import surprisingly_popular

    if not task.get("predicted"):
        return None
    own = next((column.name for column in plan.columns if column.role == "answers"), None)
    if own is None or plan.layout != "long":
        raise InputError("Predictions need a table with one row per answer; this is none.")
    options = {**task["options"], "layout": "long", "option": task["predicted"]}
    return surprisingly_popular(votes, read_responses(task["files"], **options))


def _command(task: Task) -> Command:
    """The command that ranks the files in this way; what it names can be downloaded."""
    files = [Path(file).name for file in task["files"][:20]]
    plan = ["--plan", "how-it-is-read.json"] if task["options"] else []
    said = {f"--{name.replace('_', '-')}": task.get(name) for name in RANKED_BY}
    for name, option in BESIDE.items():
        file, column = task.get(f"{name}_file"), task.get(name)
        said[option] = Path(file).name if file else column
    options = [word for name, value in said.items() if value for word in (name, str(value))]
    return Command((*files, *plan), tuple(options))


# -- all methods ------------------------------------------------------------------------------


def compare_files(task: Task, watch: Reporting) -> dict[str, Any]:
    """Read, fit every method, and write the comparison."""
    from hitsndiffs.results.comparison import compare
    from hitsndiffs.show.templating import render

    with watch.stage(0):
        responses, _ = _read(task)
        known, given = _keys(task, responses)
    with watch.stage(1):
        found = compare(responses, key=given or known)
    with watch.stage(2):
        rows = found.rows()
        fitted = [row for row in rows if row["error"] is None]
        places = [found.methods.index(row["method"]) for row in fitted]
        alike = 100 * found.correlations[np.ix_(places, places)]
        text = render(
            "page/comparison.html",
            advice=found.advice(),
            rows=fitted,
            left_out=[row for row in rows if row["error"] is not None],
            judged=found.true_scores is not None,
            alike=[[None if v != v else round(v) for v in row] for row in alike.tolist()],
        )
        _write(task, "comparison.html", text)
    return {"methods": [row["method"] for row in fitted]}


# -- for programs -----------------------------------------------------------------------------


def answer(task: Task, watch: Reporting) -> dict[str, Any]:
    """Do what ``hnd rank --json`` does."""
    from hitsndiffs.reading import read_key

    with watch.stage(0):
        responses, _ = _read(task)
        known = dict(read_key(task["key_file"], responses)) if task.get("key_file") else None
    with watch.stage(1):
        ranking = _ranked(task, responses, known)
    _write(task, "ranking.json", ranking.to_json() + "\n")
    return {}


def _write(task: Task, name: str, text: str) -> None:
    (Path(task["folder"]) / name).write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Kind:
    """A kind of job: what does it, and its stages as they are shown."""

    work: Callable[[Task, Reporting], dict[str, Any]]
    stages: tuple[str, ...]


KINDS = {
    "plan": Kind(look, ("Looking into the file",)),
    "rank": Kind(rank_files, ("Reading the file", "Ranking", "Drawing the report")),
    "compare": Kind(
        compare_files, ("Reading the file", "Trying every method", "Drawing the comparison")
    ),
    "api": Kind(answer, ("Reading the file", "Ranking")),
}
