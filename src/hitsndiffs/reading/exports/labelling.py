"""Annotation tools that write records: Label Studio, Labelbox, Prodigy, doccano, and others.

Each record is a thing with the answers of several people inside, or one answer of one person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from hitsndiffs.data.names import recognise
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import Choices, Column, Document, Refusal, Role, Sample, Sign
from hitsndiffs.reading.exports.common import (
    as_text,
    at,
    inner,
    literal,
    objects,
    short_hash,
    stem_of_name,
    title_of,
    words,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream
from hitsndiffs.reading.exports.records import Levels, Paths, chosen, rows_of
from hitsndiffs.reading.vocabulary import folded

__all__ = ["FORMATS"]


# -- Label Studio ----------------------------------------------------------------------------------

_NOTES = "annotations|completions"


def _is_studio(sample: Sample) -> bool:
    notes = at(sample.first, _NOTES)
    own = objects(notes)
    made = not own or any("result" in note for note in own)
    return isinstance(notes, list) and made and "data" in sample.first


def _studio(document: Document, _: Choices, stream: Stream) -> Iterator[Given]:
    tasks = objects(document.records())
    notes = [note for task in tasks for note in Levels((task,)).within(_NOTES)]
    about = [inner(note["completed_by"]) for note in notes]
    mails = {as_text(who.get("id")): as_text(who.get("email")) for who in about}
    made = sum(len(objects(task.get("predictions"))) for task in tasks)
    if made:
        stream.leave_out(made, "predictions of models", "nobody made them")
    for note in notes:
        if note["was_cancelled"] or note["skipped"]:
            yield Given("", "", None, aside=("cancelled annotations", "they were not submitted"))
            continue
        person, task = _person(note["completed_by"]), note.objects[-1]
        found: dict[str, tuple[str, ...]] = {}
        for part in note.within("result"):
            name = part.text("from_name")
            found[name] = (*found.get(name, ()), *(chosen(part["value"]) or ()))
        texts = [text for text in inner(task, "data").values() if isinstance(text, str)]
        for name, answer in found.items():
            if answer:
                item, title = as_text(at(task, "id|inner_id")), title_of(next(iter(texts), ""))
                yield Given(mails.get(person) or person, item, answer, name, title=title)


def _person(who: Any) -> str:
    named = at(who, "email|username|id") if isinstance(who, dict) else who
    return as_text(named).strip()


_STUDIO_EMPTY = (
    "a Label Studio export without Choices: regions, labels or texts only",
    "only tasks with a Choices or Rating tag can be ranked",
)
LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio, JSON",
    "Tasks with their annotations; Choices and Rating tags",
    (Sign("each task has its data and a list of annotations", holds=_is_studio),),
    _studio,
    tried="exports of regions and of taxonomies, which are refused",
    empty=_STUDIO_EMPTY,
)

#: Columns of Label Studio's own in JSON-MIN and CSV.
_OWN = words(
    "|id|annotator|annotation_id|created_at|updated_at|lead_time|agreement|inner_id|"
    "total_annotations"
)
_FLAT = ("annotator", "annotation_id", "lead_time")
_EACH = "each record is an annotation (annotator, annotation_id, lead_time)"


def _flat(document: Document, choices: Choices, _: Stream) -> Iterator[Given]:
    rows = [
        {folded(n) if folded(n) in _OWN else n: literal(v) for n, v in row.items()}
        for row in rows_of(document)
    ]
    rows = [row for row in rows if as_text(row.get("annotator")).strip()]
    tags = [choices.option] if choices.option else _tags(rows)
    for row in rows:
        for tag in tags:
            who, item, own = _person(row["annotator"]), as_text(row.get("id")), chosen(row.get(tag))
            if own is not None:
                yield Given(who, item, own, tag, is_text=True)


def _tags(rows: list[dict[str, Any]]) -> list[str]:
    """Return the columns that hold answers: those with choices, or that differ within a task.

    If there are none, return the column with few different values, provided it is the only one.
    """
    signed, sure, few = [], [], []
    for name in dict.fromkeys(name for row in rows for name in row if name not in _OWN):
        within_task: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            within_task[as_text(row.get("id"))].add(as_text(row.get(name)))
        n_values = len(set().union(*within_task.values()))
        if any("choices" in inner(row.get(name)) for row in rows):
            signed.append(name)
        elif any(len(texts) > 1 for texts in within_task.values()) and n_values < len(rows):
            sure.append(name)
        elif 3 * n_values <= len(rows):
            few.append(name)
    return signed + sure or (few if len(few) == 1 else [])


LABEL_STUDIO_FLAT = Format(
    "label-studio-min",
    "Label Studio, JSON-MIN and CSV",
    "A record per annotation, with annotator, annotation_id and lead_time",
    (Sign(_EACH, columns=_FLAT), Sign(_EACH, fields=_FLAT)),
    _flat,
    empty=_STUDIO_EMPTY,
)


# -- Prodigy ---------------------------------------------------------------------------------------


def _prodigy(document: Document, choices: Choices, _: Stream) -> Iterator[Given]:
    records = objects(document.records())
    wanted = [choices.user] if choices.user else ["_annotator_id", "_session_id"]
    by = next((name for name in wanted if any(record.get(name) for record in records)), "")
    labels = {as_text(record.get("label")) for record in records if "accept" not in record}
    for record in records:
        item, done = as_text(record.get("_input_hash")), record.get("answer")
        if "accept" in record or "options" in record:
            texts = chosen(record.get("accept")) or () if done == "accept" else ()
        elif "label" in record or not record.keys() & {"spans", "relations"}:
            item += f"/{as_text(record.get('label'))}" if len(labels) > 1 else ""
            texts = (as_text(done),) if done in ("accept", "reject") else ()
        else:
            yield Given("", "", None, aside=("lines of spans or relations", "they are no choices"))
            continue
        title = title_of(record.get("text"))
        yield Given(as_text(record.get(by)).strip(), item, texts, title=title)


PRODIGY = Format(
    "prodigy",
    "Prodigy, annotations",
    "JSONL, a line per annotation; views choice and classification",
    (
        Sign(
            "each line has _input_hash, _task_hash and an answer",
            fields=("_input_hash", "_task_hash", "answer"),
        ),
    ),
    _prodigy,
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


def _names_users(record: dict[str, Any]) -> bool:
    return any("user" in note for note in objects(record.get("annotations")))


def _is_by_user(sample: Sample) -> bool:
    if recognise("user", list(sample.first)) or "data" in sample.first:
        return False
    return any(map(_names_users, sample.objects))


def _is_labelled(sample: Sample) -> bool:
    first, names = sample.first, [folded(name) for name in sample.header]
    ids = [record.get("id") for record in sample.objects] or [
        row[0] for row in sample.full_rows if row
    ]
    if recognise("user", list(first) or list(sample.header)) or len({*map(str, ids)}) < len(ids):
        return False
    three = names[:1] == ["id"] and names[2:3] == ["label"] and names[1] in _TEXTS
    labels = isinstance(first.get("label", first.get("labels")), list)
    return three or (labels and "id" in first and not first.keys().isdisjoint(_TEXTS))


def _doccano(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    records = rows_of(document)
    by_user = any(map(_names_users, records))
    person = stem_of_name(document.name)
    if person == "all" and not by_user:
        raise Refusal(
            "doccano's «all» file of a shared project: it does not say who set which label",
            "let every member label in a project that is not collaborative, and export the zip",
        )
    for record in records:
        item = as_text(record.get("id")) or short_hash(as_text(record.get("text")))
        found: dict[str, list[Any]] = defaultdict(list)
        for note in objects(record.get("annotations")):
            found[as_text(note.get("user"))] += [] if "start_offset" in note else [note]
        if not by_user:
            labels = record.get("label", record.get("labels"))
            if isinstance(labels, str):
                labels = literal(labels) if labels.startswith("[") else labels.split("#")
            found = {person: labels if isinstance(labels, list) else [labels]}
            if any(isinstance(part, (list, dict)) for part in found[person]):
                what = "a doccano export of spans"
                raise Refusal(what, "only text and image classification can be ranked")
        for user, own in found.items():
            if answer := chosen(own):
                yield Given(user, item, answer, title=title_of(record.get("text")))


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
        each=(
            "annotations|answers|humanAnswers",
            "annotationData.content|answerContent{}",
        ),
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


_ZOONIVERSE: dict[str, tuple[Role, str]] = {
    "user_name": ("user", "the volunteer"),
    "user_ip": ("user", "the machine of a volunteer who was not logged in"),
    "subject_ids": ("item", "what was classified"),
    "annotations": ("answers", "the answers as JSON"),
}


def _zooniverse(document: Document, _: Choices, stream: Stream) -> Iterator[Given]:
    rows = [{folded(name): cell for name, cell in row.items()} for row in rows_of(document)]
    stream.columns += [
        Column(name, *_ZOONIVERSE[name], place)
        for place, name in enumerate(rows[0] if rows else ())
        if name in _ZOONIVERSE
    ]
    several = len({row.get("workflow_id") for row in rows}) > 1
    wordings: dict[str, set[str]] = defaultdict(set)
    nameless = "Volunteers who were not logged in are told apart by their machine."
    for row in rows:
        person, item, machine = (row.get(n, "") for n in ("user_name", "subject_ids", "user_ip"))
        if not person.strip() and machine.strip():
            person = f"not-logged-in-{machine}"
        if person.startswith("not-logged-in") and nameless not in stream.notes:
            stream.notes.append(nameless)
        item += f"/{row['workflow_id']}" if several and item else ""
        for task in _tasks(literal(row.get("annotations"))):
            name, own = as_text(task.get("task")), chosen(task.get("value"))
            wordings[name] |= {as_text(task.get("task_label"))} - {""}
            if own is not None:  # drawings are no choices
                yield Given(person.strip(), item.strip(), own, name, is_text=True)
    changed = sorted(name for name, told in wordings.items() if len(told) > 1)
    if changed:
        note = f"The wording of {listed(changed)} differs between versions of the workflow."
        stream.notes.append(note)


def _tasks(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the tasks of a classification, and those in a combined task."""
    for task in objects(value):
        inside = task.get("value")
        combined = isinstance(inside, list) and any("task" in own for own in objects(inside))
        yield from _tasks(inside) if combined else [task]


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

FORMATS = (
    LABEL_STUDIO,
    LABEL_STUDIO_FLAT,
    PRODIGY,
    LABELBOX,
    DOCCANO,
    GROUND_TRUTH,
    ARGILLA,
    ZOONIVERSE,
)
