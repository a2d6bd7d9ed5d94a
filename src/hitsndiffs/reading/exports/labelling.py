"""Annotation tools that write records: Label Studio, Labelbox, Prodigy, doccano, and others.

Each record is a thing with the answers of several people inside, or one answer of one person.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Choices, Document, Refusal, Sample, Sign
from hitsndiffs.reading.exports.common import (
    as_text,
    at,
    folded,
    inner,
    literal,
    objects,
    stem_of_name,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.records import Levels, Paths, rows_of

__all__ = ["FORMATS"]


# -- Label Studio ----------------------------------------------------------------------------------

_NOTES = "annotations|completions"


def _is_studio(sample: Sample) -> bool:
    notes = at(sample.first, _NOTES)
    own = objects(notes)
    made = not own or any("result" in note for note in own)
    return isinstance(notes, list) and made and "data" in sample.first


def _tasks(document: Document) -> list[dict[str, Any]]:
    """Return the tasks; people who are numbers in some and have an address in others are one."""
    tasks = objects(document.records())
    notes = [note for task in tasks for note in objects(at(task, _NOTES))]
    people = [inner(note.get("completed_by")) for note in notes]
    mails = {as_text(who.get("id")): who.get("email") for who in people}
    for note in notes:
        who = note.get("completed_by")
        named = at(who, "email|username|id") if isinstance(who, dict) else who
        note["completed_by"] = mails.get(as_text(named)) or named
    return tasks


LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio, JSON",
    "Tasks with their annotations; Choices and Rating tags",
    (Sign("each task has its data and a list of annotations", holds=_is_studio),),
    Paths(
        rows=_tasks,
        each=(_NOTES, "result?"),
        user="completed_by",
        item="/id|/inner_id",
        title="/data",
        question="from_name",
        answer="value",
        joined=True,
        aside=(("was_cancelled|skipped", (), "answers of cancelled annotations", "not submitted"),),
    ),
    tried="exports of regions and of taxonomies, which are refused",
    empty=(
        "a Label Studio export without Choices: regions, labels or texts only",
        "only tasks with a Choices or Rating tag can be ranked",
    ),
)


# -- Prodigy ---------------------------------------------------------------------------------------

_MARKS = {"spans", "relations"}


def _prodigy(document: Document) -> Iterator[dict[str, Any]]:
    """Yield the records with what was picked: options, or whether a label was accepted."""
    for record in objects(document.records()):
        done = record.get("answer")
        if "accept" in record or "options" in record:
            own = {"picked": record.get("accept") if done == "accept" else None}
        else:
            own = {"picked": done if done in ("accept", "reject") else None}
            own |= {"asked": record.get("label")}
            own |= {"marked": "label" not in record and bool(record.keys() & _MARKS)}
        yield record | own


PRODIGY = Format(
    "prodigy",
    "Prodigy, annotations",
    "JSONL, a line per annotation; views choice and classification",
    (
        Sign(
            "each line has an _input_hash and an answer",
            fields=("_input_hash", "answer"),
        ),
    ),
    Paths(
        rows=_prodigy,
        user="_annotator_id|_session_id",
        item="_input_hash",
        title="text",
        question="asked",
        answer="picked",
        asked=True,
        aside=(("marked", (), "lines of spans or relations", "they are no choices"),),
    ),
    tried="a campaign with 42 annotators",
    empty=(
        "a Prodigy export of spans or relations, without choices",
        "only the views choice and classification can be ranked",
    ),
    nobody=(
        "a Prodigy export that does not name its annotators",
        "annotate with named sessions (?session=NAME), or name another field as the user",
    ),
)


# -- Labelbox: export v2 (NDJSON), and the older JSON with a record per label ----------------------

LABELBOX = Format(
    "labelbox",
    "Labelbox, export v2 and the older JSON",
    "NDJSON with data_row and projects, or records with a Label; radio and checklist answers",
    (
        Sign("each line has a data_row and its projects", fields=("data_row", "projects")),
        Sign(
            "each record has a DataRow ID, a Label and who made it",
            fields=("DataRow ID", "Label", "Created By"),
        ),
    ),
    Paths(
        each=(
            "projects{}?",
            "labels?",
            "annotations.classifications|Label.classifications",
            "radio_answer.classifications+",
        ),
        user="label_details.created_by|Created By",
        item="/data_row.global_key|/data_row.external_id|/data_row.id|/External ID|/DataRow ID",
        title="/data_row.row_data|/Labeled Data",
        question="name|title|value",
        answer="radio_answer|checklist_answers|answers|answer",
        words="written",
    ),
    empty=(
        "a Labelbox export without classifications",
        "only radio and checklist answers can be ranked",
    ),
    nobody=(
        "a Labelbox export without the names of the labellers",
        "export again with label details (created_by)",
    ),
)


# -- doccano: a file per annotator (in a zip), or older JSON with users ----------------------------

_TEXTS = ("text", "data", "filename")


def _names_users(records: Iterable[dict[str, Any]]) -> bool:
    return any("user" in note for own in records for note in objects(own.get("annotations")))


def _is_by_user(sample: Sample) -> bool:
    first = sample.first
    return (
        not recognise("user", list(first)) and "data" not in first and _names_users(sample.objects)
    )


def _is_labelled(sample: Sample) -> bool:
    first, names = sample.first, [folded(name) for name in sample.header]
    ids = [own.get("id") for own in sample.objects] or [row[0] for row in sample.full_rows if row]
    if recognise("user", [*first, *sample.header]) or len({*map(str, ids)}) < len(ids):
        return False
    three = names[:1] == ["id"] and names[2:3] == ["label"] and names[1] in _TEXTS
    labels = isinstance(first.get("label", first.get("labels")), list)
    return three or (labels and "id" in first and not first.keys().isdisjoint(_TEXTS))


def _doccano(document: Document, choices: Choices, stream: Stream) -> Iterable[Given]:
    records = rows_of(document)
    if _names_users(records):
        return _by_user(document, choices, stream)
    if stem_of_name(document.name) == "all":
        raise Refusal(
            "doccano's «all» file of a shared project: it does not say who set which label",
            "let every member label in a project that is not collaborative, and export the zip",
        )
    if any(isinstance(label, (list, dict)) for own in records for label in _labels(own)):
        what = "a doccano export of spans"
        raise Refusal(what, "only text and image classification can be ranked")
    return _by_file(document, choices, stream)


def _labels(record: dict[str, Any]) -> list[Any]:
    labels = record.get("label", record.get("labels"))
    if isinstance(labels, str):
        labels = literal(labels) if labels.startswith("[") else labels.split("#")
    return labels if isinstance(labels, list) else [labels]


_by_user = Paths(
    each=("annotations",),
    user="user",
    item="/id",
    title="/text",
    answer=lambda _, note: note.objects[0],
    joined=True,
)
_by_file = Paths(
    user=lambda document, _: stem_of_name(document.name),
    item="id",
    title="text",
    answer=lambda _, record: _labels(record.objects[0]),
)

DOCCANO = Format(
    "doccano",
    "doccano, classification",
    "The zip of a project (a file per annotator), or records with annotations by user",
    (
        Sign("each text has annotations with label and user", holds=_is_by_user),
        Sign("each line has an id, a text and its labels", holds=_is_labelled),
    ),
    _doccano,
    empty=("a doccano file without labels", "export the labels of each user"),
)


# -- Amazon SageMaker Ground Truth and Augmented AI ------------------------------------------------


def _is_truth(sample: Sample) -> bool:
    answers = objects(at(sample.first, "answers|humanAnswers"))
    return any("workerId" in own and "answerContent" in own for own in answers)


def _object(document: Document, answer: Levels) -> str:
    """Return the object that was judged; in the answers of the workers, their folder names it."""
    above = document.folders[-1] if document.folders else stem_of_name(document.name)
    return answer.text("/datasetObjectId|/humanLoopName") or above


GROUND_TRUTH = Format(
    "ground-truth",
    "Amazon SageMaker Ground Truth, answers of the workers",
    "annotations/worker-response/… (give the folder), or a consolidation request; classes",
    (
        Sign(
            "each object has a datasetObjectId and the annotations of its workers",
            fields=("datasetObjectId", "annotations"),
        ),
        Sign("the answers have a workerId and an answerContent", holds=_is_truth),
    ),
    Paths(
        each=("annotations|answers|humanAnswers", "annotationData.content|answerContent{}"),
        user="workerId",
        item=_object,
        question="{}",
        answer="=",
        words="perhaps",
    ),
    empty=(
        "a Ground Truth file without classes: boxes, regions or texts only",
        "only tasks in which workers choose a class can be ranked",
    ),
)


# -- Argilla: the responses of all users to each question ------------------------------------------

ARGILLA = Format(
    "argilla",
    "Argilla, records",
    "The JSON that `dataset.records.to_json()` writes; labels, ratings and multiple labels",
    (
        Sign(
            "each record has fields, suggestions and responses",
            fields=("fields", "responses", "suggestions"),
        ),
    ),
    Paths(
        each=("responses{}", "="),
        user="user_id",
        item="/id|/external_id",
        title="/fields",
        question="{}",
        answer="value",
        words="perhaps",
        aside=(("status", ("draft", "discarded"), "drafts", "they were not submitted"),),
    ),
    empty=(
        "an Argilla export without responses that choose: texts, spans or rankings only",
        "only label, multi-label and rating questions can be ranked",
    ),
)


# -- Zooniverse: the answers are JSON in a cell ----------------------------------------------------


def _classifications(document: Document) -> list[dict[str, Any]]:
    """Return the rows; the subjects of several workflows are told apart."""
    rows = rows_of(document)
    several = len({row.get("workflow_id") for row in rows}) > 1
    for row in rows:
        if several and row["subject_ids"]:
            row["subject_ids"] += f"/{row['workflow_id']}"
        if not row.get("user_name", "").strip() and row.get("user_ip"):
            row["user_name"] = f"not-logged-in-{row['user_ip']}"
    return rows


_VOLUNTEERS = Paths(
    each=("annotations", "value+"),
    user="user_name",
    item="subject_ids",
    question="task",
    answer=lambda _, own: own["value"] if "task" in own.objects[0] else {},
    asked=True,
    words="perhaps",
)


def _zooniverse(document: Document, choices: Choices, stream: Stream) -> Iterable[Given]:
    rows = _classifications(document)
    wordings: dict[str, set[str]] = {}
    for task in _VOLUNTEERS.levels(rows):
        wordings.setdefault(task.text("task"), set()).add(task.text("task_label"))
    changed = sorted(name for name, told in wordings.items() if len(told - {""}) > 1)
    if changed:
        stream.note(f"The wording of {listed(changed)} differs between versions of the workflow.")
    if any(str(row.get("user_name")).startswith("not-logged-in") for row in rows):
        stream.note("Volunteers who were not logged in are told apart by their machine.")
    return replace(_VOLUNTEERS, rows=lambda _: rows)(document, choices, stream)


ZOONIVERSE = Format(
    "zooniverse",
    "Zooniverse, classifications",
    "The classification export as CSV; question, survey and drop-down tasks",
    (
        Sign(
            "the columns classification_id, annotations and subject_ids are there",
            ("classification_id", "annotations", "subject_ids"),
        ),
    ),
    _zooniverse,
    tried="two exports",
    empty=(
        "a Zooniverse export without question tasks: drawings, texts or transcriptions only",
        "only tasks with choices can be ranked",
    ),
)

FORMATS = (LABEL_STUDIO, PRODIGY, LABELBOX, DOCCANO, GROUND_TRUTH, ARGILLA, ZOONIVERSE)
