"""Tables in which people judge things, a row per judgment: MTurk, Toloka, Figure Eight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hitsndiffs.reading.exports.base import (
    Format,
    Refusal,
    absent,
    columns,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    is_free_text,
    literal,
    objects,
    split_column,
)
from hitsndiffs.reading.exports.entries import Entry, add_entries, chosen_only
from hitsndiffs.reading.exports.sheet import Question, Sheet, by_table, cell_at
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["FIGURE_EIGHT", "MTURK", "TOLOKA", "ZOONIVERSE"]

_NO_CHOICE = "only answers by choice can be ranked"


def _tasks(sheet: Sheet, names: Sequence[str], inputs: Sequence[int]) -> list[str]:
    """Return the task of each row, by its name: equal inputs are one task, even if posted again."""
    given = sheet.given_items()
    if given:
        return given
    first: dict[tuple[str, ...], str] = {}
    contents = [tuple(row[k].strip() for k in inputs) for row in sheet.rows]
    pairs = zip(contents, names, strict=True)
    return [
        first.setdefault(own, name or " | ".join(filter(None, own))) if inputs else name
        for own, name in pairs
    ]


# -- Amazon Mechanical Turk ------------------------------------------------------------------------

_ANSWER = re.compile(r"^Answer(?:[. _](?P<name>.+))?$", re.IGNORECASE | re.DOTALL)
_REMARK = re.compile(r"expla|comment|feedback|reason|why|justif|rationale|suggest|detail", re.I)
_BOOLEANS = frozenset(("true", "false", "on", "off", ""))


def _fill_mturk(sheet: Sheet) -> None:
    hit, assignment, worker = (sheet.find(n) for n in ("HITId", "AssignmentId", "WorkerId"))
    if worker is None or not any(map(str.strip, sheet.cells(worker))):
        worker = assignment
        note = "The file does not name the workers: each assignment counts as one."
        sheet.stream.notes.append(note)
    if hit is None or worker is None:
        raise absent("an MTurk batch", "HITId and AssignmentId")
    inputs = [k for k, name in enumerate(sheet.header) if name.strip().lower().startswith("input.")]
    # Without inputs, every HIT shows the same page.
    names = [row[hit].strip() if inputs else "task" for row in sheet.rows]
    tasks = _tasks(sheet, names, inputs)
    questions = _mturk_questions(sheet)
    wanted = chosen_only({str(one.item): one for one in questions}, sheet.choices.option)
    who = sheet.people([worker], "the worker", "user")
    sheet.ask([*wanted.values()], who, tasks=[] if len({*tasks}) == 1 else tasks)
    if not sheet.stream.persons:
        raise Refusal("an MTurk batch whose answers are free text", _NO_CHOICE)
    sheet.set_role([hit], "item", "the task")
    sheet.rest_unused("about the batch, or what the workers saw")


def _mturk_questions(sheet: Sheet) -> list[Question]:
    """Return the questions: a column each, a column per option, or all in one cell as JSON."""
    groups: dict[str, dict[str, int]] = {}
    single: dict[str, int] = {}
    for place, header in enumerate(sheet.header):
        match = _ANSWER.match(header.strip())
        if match is None:
            continue
        name = match["name"] or "answer"
        base, dot, option = name.rpartition(".")
        if dot and {cell.strip().casefold() for cell in sheet.cells(place)} <= _BOOLEANS:
            groups.setdefault(base, {})[option] = place
        else:
            single[name.removesuffix(".label")] = place
    found: list[Question] = []
    for base, options in groups.items():
        places = list(options.values())
        if len(options) == 1:
            single[base] = places[0]
            continue
        ticked = [
            tuple(o for o, k in options.items() if row[k].strip().casefold() in ("true", "on"))
            for row in sheet.rows
        ]
        shown = tuple(places)
        found.append(Question(base, places[0], also=shown[1:], given=ticked, shown=shown))
    for name, place in single.items():
        cells = [cell.strip() for cell in sheet.cells(place)]
        nested = _nested(cells) if any(c[:1] in "[{" and len(c) > 1 for c in cells if c) else {}
        typed = bool(groups) and name.endswith(("_text", ".text"))  # «other, please specify»
        if nested:
            found += [Question(n, place, given=own, sparse=True) for n, own in nested.items()]
        elif role_of_name(name) == "time" and look_at(cells).is_number:
            sheet.set_role([place], "time", "named like a time")
        elif typed or _is_remark(name, cells):
            sheet.set_role([place], "comment", "free text")
        elif any(cells):
            found.append(Question(name, place, given=split_column(cells, "|")))
    return found


def _is_remark(name: str, cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell]
    differ = len(given) > 2 and len(set(given)) > 0.8 * len(given)
    remark = bool(_REMARK.search(name)) and differ
    return role_of_name(name) == "comment" or is_free_text(cells) or remark


def _nested(cells: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """Read ``[{"q": {"A": true, "B": false}}]``: the options that are true."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for k, cell in enumerate(cells):
        for record in objects(literal(cell)):
            for name, value in record.items():
                chosen = chosen_classes(value)
                if chosen is not None:
                    found.setdefault(str(name), [()] * len(cells))[k] = chosen
    return {
        name: answers
        for name, answers in found.items()
        if role_of_name(name) != "comment" and not is_free_text(map("; ".join, answers))
    }


def chosen_classes(value: Any) -> tuple[str, ...] | None:
    """Return what a form of Amazon's crowd tools says was chosen; None if it is no answer.

    Examples
    --------
    >>> chosen_classes({"cat": True, "dog": False}), chosen_classes({"label": "cat"})
    (('cat',), ('cat',))
    """
    if isinstance(value, dict) and isinstance(value.get("labels"), list):
        return tuple(map(as_text, value["labels"]))
    if isinstance(value, dict) and "label" in value:
        return (as_text(value["label"]),)
    if isinstance(value, dict) and value and all(isinstance(v, bool) for v in value.values()):
        return tuple(option for option, on in value.items() if on)
    return (as_text(value),) if isinstance(value, (str, int, float)) else None


MTURK = Format(
    "mturk",
    "Amazon Mechanical Turk, batch results",
    "«Batch_…_batch_results.csv»: a row per assignment, Answer.* columns",
    columns(
        *("hitid", "assignmentid", "answer(?:[. _].+)?"),
        because="the columns HITId, AssignmentId and Answer are there",
    ),
    by_table(_fill_mturk),
    "three batches, old and new",
)


# -- Toloka ----------------------------------------------------------------------------------------


def _fill_toloka(sheet: Sheet) -> None:
    stream = sheet.stream
    worker, task = sheet.find("ASSIGNMENT:worker_id"), sheet.find("ASSIGNMENT:task_id")
    status = sheet.find("ASSIGNMENT:status")
    if worker is None:
        raise absent("a Toloka file", "ASSIGNMENT:worker_id")
    # In old dumps, only the last row of a suite names the assignment.
    for place in (worker, status):
        if place is not None and not all(row[place].strip() for row in sheet.rows):
            below = ""
            for row in reversed(sheet.rows):
                below = row[place] = row[place].strip() or below
    inputs, outputs, golden = (_starting(sheet, p) for p in ("INPUT:", "OUTPUT:", "GOLDEN:"))
    texts = {n: k for n, k in outputs.items() if is_free_text(sheet.cells(k))}
    asked = {n: k for n, k in outputs.items() if n not in texts and any(sheet.cells(k))}
    asked = chosen_only(asked, sheet.choices.option)
    rows = [row for row in sheet.rows if any(row[k].strip() for k in asked.values())]
    done = [row for row in rows if cell_at(row, status).upper() not in ("SKIPPED", "EXPIRED")]
    sheet.rows = rows
    sheet.keep_rows(done, "rows of skipped or expired assignments", "nobody answered in them")
    names = [cell_at(row, task) for row in sheet.rows]
    found = [
        Question(n, k, golden.get(n), given=_listed(sheet, k), keys=_listed(sheet, golden.get(n)))
        for n, k in asked.items()
    ]
    who = sheet.people([worker], "the worker", "user")
    sheet.ask(found, who, tasks=_tasks(sheet, names, list(inputs.values())))
    if not stream.persons:
        raise Refusal(
            "a Toloka file without answers by choice", "download the assignments of the pool"
        )
    sheet.set_role(inputs.values(), "item", "what the worker saw")
    sheet.set_role(texts.values(), "comment", "free text")


def _starting(sheet: Sheet, prefix: str) -> dict[str, int]:
    """Return the columns with this prefix, by the rest of their names."""
    names = [name.strip() for name in sheet.header]
    return {n[len(prefix) :]: k for k, n in enumerate(names) if n.upper().startswith(prefix)}


def _listed(sheet: Sheet, place: int | None) -> list[tuple[str, ...]]:
    """Return the options in the cells of a column; several are written as a JSON list."""
    found = []
    for row in sheet.rows:
        cell = cell_at(row, place)
        value = literal(cell) if cell.startswith("[") else None
        parts = value if isinstance(value, list) else []
        several = bool(parts) and not any(isinstance(v, (list, dict)) for v in parts)
        found.append(tuple(map(as_text, parts)) if several else (cell,) if cell else ())
    return found


TOLOKA = Format(
    "toloka",
    "Toloka, assignments",
    "The assignments of a pool as TSV: INPUT:, OUTPUT:, GOLDEN:, ASSIGNMENT:",
    columns("assignment:worker_id", because="the column ASSIGNMENT:worker_id is there"),
    by_table(_fill_toloka, key_from="the columns «GOLDEN:»"),
)


# -- Figure Eight (CrowdFlower) --------------------------------------------------------------------


def _fill_figure_eight(sheet: Sheet) -> None:
    unit, worker = sheet.find("_unit_id"), sheet.find("_worker_id")
    if unit is None or worker is None:
        raise absent("a Figure Eight report", "_unit_id and _worker_id")
    places = {name.strip(): k for k, name in enumerate(sheet.header)}
    asked = chosen_only(places, sheet.choices.option) if sheet.choices.option else {}
    asked = asked or _differing(sheet, unit, places)
    if not asked:
        raise Refusal("a Figure Eight report without answers by choice", _NO_CHOICE)
    found = []
    for name, k in asked.items():
        gold = places.get(f"{name}_gold")
        given = [tuple(map(str.strip, cell.splitlines())) for cell in sheet.cells(k)]
        keys = [cell_at(row, gold) for row in sheet.rows]
        right = [(text,) if text and "\n" not in text else () for text in keys]
        found.append(Question(name, k, gold, given=given, keys=right))
    who = sheet.people([worker], "the worker", "user")
    tasks = sheet.given_items() or list(map(str.strip, sheet.cells(unit)))
    sheet.ask(found, who, tasks=tasks)
    sheet.set_role([unit], "item", "the unit")
    sheet.rest_unused("about the judgment, or what the workers saw")


def _differing(sheet: Sheet, unit: int, places: dict[str, int]) -> dict[str, int]:
    """Return the answer columns: they differ between workers; those with a gold column first."""
    asked = {
        name: k
        for name, k in places.items()
        if name and not name.startswith("_") and not name.endswith(("_gold", "_gold_reason"))
    }
    golden = {name: k for name, k in asked.items() if f"{name}_gold" in places}
    for group in (golden, asked):
        found = {}
        for name, k in group.items():
            seen: dict[str, str] = {}
            pairs = [(row[unit], row[k]) for row in sheet.rows if row[k].strip()]
            differs = any(seen.setdefault(task, cell) != cell for task, cell in pairs)
            if differs and not is_free_text(sheet.cells(k)):
                found[name] = k
        if found:
            return found
    return {}


FIGURE_EIGHT = Format(
    "figure-eight",
    "Figure Eight (CrowdFlower), full report",
    "CSV with a row per judgment: _unit_id, _worker_id, …",
    columns("_unit_id", "_worker_id", because="the columns _unit_id and _worker_id are there"),
    by_table(_fill_figure_eight, key_from="the columns «…_gold»"),
    "a full report",
)


# -- Zooniverse: the answers are JSON in a cell ----------------------------------------------------


def _fill_zooniverse(sheet: Sheet) -> None:
    stream = sheet.stream
    annotations, subjects = sheet.find("annotations"), sheet.find("subject_ids")
    name, address, workflow = map(sheet.find, ("user_name", "user_ip", "workflow_id"))
    if annotations is None or subjects is None:
        raise absent("a Zooniverse export", "annotations and subject_ids")
    entries: list[Entry] = []
    labels: dict[str, set[str]] = {}
    several = len({cell_at(row, workflow) for row in sheet.rows}) > 1
    for row in sheet.rows:
        person, subject = cell_at(row, name), row[subjects].strip()
        if not person and cell_at(row, address):
            person = f"not-logged-in-{cell_at(row, address)}"
        if not person or not subject:
            continue
        subject += f"/{cell_at(row, workflow)}" if several else ""
        for task, words, answer in _classified(literal(row[annotations])):
            labels.setdefault(task, set()).add(words)
            entries.append(Entry(person, subject, task, answer))
    by_task: dict[str, list[str]] = {}
    for entry in entries:
        by_task.setdefault(entry.question, []).append(" ".join(entry.answer))
    texts = {task for task, answers in by_task.items() if is_free_text(answers)}
    if texts == set(by_task):
        raise Refusal(
            "a Zooniverse export without question tasks: drawings, texts or transcriptions only",
            "only tasks with choices can be ranked",
        )
    if texts:
        stream.notes.append(f"The tasks {', '.join(sorted(texts))} are left out: free text.")
    add_entries(stream, [e for e in entries if e.question not in texts], sheet.choices.option)
    changed = sorted(task for task, words in labels.items() if len(words - {""}) > 1)
    if changed and sheet.find("workflow_version") is not None:
        tasks = ", ".join(changed)
        note = f"The wording of {tasks} differs between versions of the workflow."
        stream.notes.append(note)
    if any(person.startswith("not-logged-in") for person in stream.persons):
        stream.notes.append("Volunteers who were not logged in are told apart by their machine.")
    sheet.set_role([p for p in (name, address) if p is not None], "user", "the volunteer")
    sheet.set_role([subjects], "item", "what was classified")
    sheet.set_role([annotations], "answers", "the answers as JSON")


def _classified(value: Any) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the name, wording and choices of each task; skip drawings."""
    for part in objects(value):
        task, answer = as_text(part.get("task")), part.get("value")
        parts = objects(answer)
        whole = isinstance(answer, list) and len(parts) == len(answer)
        if parts and whole and all("task" in entry for entry in parts):
            yield from _classified(parts)  # a combo task
            continue
        chosen = _choices(answer)
        if chosen is not None:
            yield task, as_text(part.get("task_label")), chosen


def _choices(answer: Any) -> tuple[str, ...] | None:
    if answer is None:
        return ()
    if isinstance(answer, (str, int, float, bool)):
        return (as_text(answer),)
    if not isinstance(answer, list):
        return None
    if all(isinstance(entry, (str, int)) for entry in answer):
        return tuple(as_text(entry) for entry in answer)
    if len(objects(answer)) < len(answer):
        return None
    if all("choice" in entry for entry in answer):  # a survey task
        return tuple(dict.fromkeys(as_text(entry["choice"]) for entry in answer))
    if all(set(entry) <= {"value", "option", "label"} for entry in answer):  # drop-down lists
        return tuple(as_text(e.get("label") or e.get("value")) for e in answer)
    return None


ZOONIVERSE = Format(
    "zooniverse",
    "Zooniverse, classifications",
    "The classification export as CSV; question, survey and drop-down tasks",
    columns(
        *("classification_id", "annotations", "subject_ids"),
        because="the columns classification_id, annotations and subject_ids are there",
    ),
    by_table(_fill_zooniverse),
    "two exports",
)
