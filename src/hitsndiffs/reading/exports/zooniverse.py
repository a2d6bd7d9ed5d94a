"""Zooniverse: the classifications of a project as CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hitsndiffs.reading.exports.base import Format, Refusal, Stream, absent, has_columns
from hitsndiffs.reading.exports.common import as_text, is_free_text, literal, objects
from hitsndiffs.reading.exports.entries import Entry, add_entries
from hitsndiffs.reading.exports.sheet import Sheet, by_table, cell_at

__all__ = ["ZOONIVERSE"]


def _convert(sheet: Sheet) -> None:
    stream = sheet.stream
    annotations, subjects = sheet.find("annotations"), sheet.find("subject_ids")
    name, address = sheet.find("user_name"), sheet.find("user_ip")
    if annotations is None or subjects is None:
        raise absent("a Zooniverse export", "annotations and subject_ids")
    workflow = sheet.find("workflow_id")
    entries: list[Entry] = []
    labels: dict[str, set[str]] = {}
    several = len({cell_at(row, workflow) for row in sheet.rows}) > 1
    for row in sheet.rows:
        person = cell_at(row, name)
        if not person and cell_at(row, address):
            person = f"not-logged-in-{cell_at(row, address)}"
        subject = row[subjects].strip()
        if not person or not subject:
            continue
        if several:
            subject = f"{subject}/{cell_at(row, workflow)}"
        for task, words, answer in _tasks(literal(row[annotations])):
            labels.setdefault(task, set()).add(words)
            entries.append(Entry(person, subject, task, answer))
    if not entries:
        raise Refusal(
            "a Zooniverse export without question tasks: drawings or texts only",
            "only tasks with choices can be ranked",
        )
    add_entries(stream, _without_free_text(entries, stream), sheet.choices.option)
    changed = sorted(task for task, words in labels.items() if len(words - {""}) > 1)
    if changed and sheet.find("workflow_version") is not None:
        stream.notes.append(
            f"The wording of {', '.join(changed)} differs between versions of the workflow."
        )
    stream.notes.append("Volunteers who were not logged in are told apart by their machine.")
    sheet.set_role([p for p in (name, address) if p is not None], "user", "the volunteer")
    sheet.set_role([subjects], "item", "what was classified")
    sheet.set_role([annotations], "answers", "the answers as JSON")


def _without_free_text(entries: list[Entry], stream: Stream) -> list[Entry]:
    """Leave out tasks whose answers are free text (transcriptions)."""
    by_task: dict[str, list[str]] = {}
    for entry in entries:
        by_task.setdefault(entry.question, []).append(" ".join(entry.answer))
    texts = {task for task, answers in by_task.items() if is_free_text(answers)}
    if texts == set(by_task):
        raise Refusal(
            "a Zooniverse export of transcriptions", "only tasks with choices can be ranked"
        )
    if texts:
        stream.notes.append(f"The tasks {', '.join(sorted(texts))} are left out: free text.")
    return [entry for entry in entries if entry.question not in texts]


def _tasks(value: Any) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """Yield the name, wording and choices of each task; skip drawings."""
    for part in objects(value):
        task, answer = as_text(part.get("task")), part.get("value")
        parts = objects(answer)
        whole = isinstance(answer, list) and len(parts) == len(answer)
        if parts and whole and all("task" in entry for entry in parts):
            yield from _tasks(parts)  # a combo task
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
    if all(isinstance(entry, dict) and "choice" in entry for entry in answer):  # a survey task
        return tuple(dict.fromkeys(as_text(entry["choice"]) for entry in answer))
    if all(
        isinstance(entry, dict) and set(entry) <= {"value", "option", "label"} for entry in answer
    ):
        return tuple(as_text(e.get("label") or e.get("value")) for e in answer)  # drop-down lists
    return None


ZOONIVERSE = Format(
    "zooniverse",
    "Zooniverse, classifications",
    "The classification export as CSV; question, survey and drop-down tasks",
    has_columns(
        "classification_id",
        "annotations",
        "subject_ids",
        because="the columns classification_id, annotations and subject_ids are there",
    ),
    by_table(_convert),
)
