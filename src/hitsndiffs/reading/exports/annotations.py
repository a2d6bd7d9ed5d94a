"""Annotation tools that write records: Label Studio, Labelbox, Prodigy, doccano, and others.

Each record is a thing with the answers of several people inside, or one answer of one person.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.data.words import listed
from hitsndiffs.reading.exports.base import (
    Choices,
    Column,
    Document,
    Format,
    Refusal,
    Role,
    Sample,
    Stream,
    columns,
    either,
    keys,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    at,
    folded,
    inner,
    literal,
    objects,
    short_hash,
    stem_of_name,
    title_of,
    words,
)
from hitsndiffs.reading.exports.records import Given, Records, chosen, rows_of, within
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = [
    "ARGILLA",
    "DOCCANO",
    "GROUND_TRUTH",
    "LABELBOX",
    "LABEL_STUDIO",
    "LABEL_STUDIO_FLAT",
    "PRODIGY",
    "ZOONIVERSE",
]


# -- Label Studio ----------------------------------------------------------------------------------


def _is_studio(sample: Sample) -> str | None:
    noted = any(isinstance(sample.first.get(n), list) for n in ("annotations", "completions"))
    known = noted and sample.has_keys("data")
    return "each task has its data and a list of annotations" if known else None


def _studio(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    tasks = objects(document.records())
    pairs = within(tasks, "annotations", "completions")
    about = [inner(note, "completed_by") for _, note in pairs]
    mails = {as_text(who.get("id")): as_text(who.get("email")) for who in about}
    for _one in within(tasks, "predictions"):
        yield Given("", "", None, aside=("predictions of models", "nobody made them"))
    for task, note in pairs:
        if note.get("was_cancelled") or note.get("skipped"):
            yield Given("", "", None, aside=("cancelled annotations", "they were not submitted"))
            continue
        person = _person(note.get("completed_by"))
        texts = [text for text in inner(task, "data").values() if isinstance(text, str)]
        found: dict[str, tuple[str, ...]] = {}
        for part in objects(note.get("result")):
            name = as_text(part.get("from_name"))
            found[name] = (*found.get(name, ()), *(chosen(part.get("value")) or ()))
        for name, answer in found.items():
            if answer:
                item = as_text(task.get("id", task.get("inner_id")))
                title = title_of(texts[0] if texts else "")
                yield Given(mails.get(person) or person, item, answer, name, title=title)


def _person(who: Any) -> str:
    named = (inner(who).get(name) for name in ("email", "username", "id"))
    return as_text(next(filter(None, named), "") if isinstance(who, dict) else who).strip()


_STUDIO_EMPTY = (
    "a Label Studio export without Choices: regions, labels or texts only",
    "only tasks with a Choices or Rating tag can be ranked",
)
LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio, JSON",
    "Tasks with their annotations; Choices and Rating tags",
    _is_studio,
    Records(_studio, _STUDIO_EMPTY),
    "exports of regions and of taxonomies, which are refused",
)

#: Columns of Label Studio's own in JSON-MIN and CSV.
_OWN = words(
    "id|annotator|annotation_id|created_at|updated_at|lead_time|agreement|inner_id|"
    "total_annotations"
)
_FLAT = ("annotator", "annotation_id", "lead_time")
_EACH = "each record is an annotation (annotator, annotation_id, lead_time)"


def _flat(document: Document, choices: Choices, _: Stream) -> Iterator[Given]:
    rows = [{n: literal(cell) for n, cell in row.items()} for row in rows_of(document)]
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
    sure, few = [], []
    for name in dict.fromkeys(name for row in rows for name in row if name not in _OWN):
        within_task: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            within_task[as_text(row.get("id"))].add(as_text(row.get(name)))
        signed = any("choices" in inner(row.get(name)) for row in rows)
        if signed or any(len(texts) > 1 for texts in within_task.values()):
            sure.append(name)
        elif 3 * len(set().union(*within_task.values())) <= len(rows):
            few.append(name)
    return sure or (few if len(few) == 1 else [])


LABEL_STUDIO_FLAT = Format(
    "label-studio-min",
    "Label Studio, JSON-MIN and CSV",
    "A record per annotation, with annotator, annotation_id and lead_time",
    either(columns(*_FLAT, because=_EACH), keys(*_FLAT, because=_EACH)),
    Records(_flat, _STUDIO_EMPTY),
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
    keys(
        *("_input_hash", "_task_hash", "answer"),
        because="each line has _input_hash, _task_hash and an answer",
    ),
    Records(
        _prodigy,
        (
            "a Prodigy export of spans or relations, without choices",
            "only the views choice and classification can be ranked",
        ),
        (
            "a Prodigy export that does not name its annotators",
            "annotate with named sessions (?session=NAME), or name another field as the user",
        ),
    ),
    "a campaign with 42 annotators",
)


# -- Labelbox: export v2 (NDJSON), and the older JSON with a record per label ----------------------


def _labelbox(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    for record in objects(document.records()):
        row, labels = inner(record, "data_row"), [record]
        names = [row.get(name) for name in ("global_key", "external_id", "id")]
        names += [record.get(name) for name in ("External ID", "DataRow ID")]
        item = as_text(next(filter(None, names), ""))
        title = title_of(row.get("row_data", record.get("Labeled Data")))
        labels += [own for _, own in within(list(inner(record, "projects").values()), "labels")]
        for label in labels:
            details = inner(label, "label_details")
            person = as_text(label.get("Created By", details.get("created_by"))).strip()
            for part in ("annotations", "Label"):
                for name, own in _classified(inner(label, part).get("classifications")):
                    yield Given(person, item, own, name, title=title)


def _classified(parts: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each question with what was chosen; a text is no choice."""
    for part in objects(parts):
        radio = part.get("radio_answer")
        given = (radio, part.get("checklist_answers"), part.get("answers"), part.get("answer"))
        own = next((chosen(value) for value in given if isinstance(value, (dict, list))), None)
        if own:
            yield as_text(part.get("name") or part.get("title") or part.get("value")), own
        yield from _classified(inner(radio).get("classifications"))


LABELBOX = Format(
    "labelbox",
    "Labelbox, export v2 and the older JSON",
    "NDJSON with data_row and projects, or records with a Label; radio and checklist answers",
    either(
        keys("data_row", "projects", because="each line has a data_row and its projects"),
        keys(
            *("DataRow ID", "Label", "Created By"),
            because="each record has a DataRow ID, a Label and who made it",
        ),
    ),
    Records(
        _labelbox,
        (
            "a Labelbox export without classifications",
            "only radio and checklist answers can be ranked",
        ),
        (
            "a Labelbox export without the names of the labellers",
            "export again with label details (created_by)",
        ),
    ),
)


# -- doccano: a file per annotator (in a zip), or older JSON with users ----------------------------

_TEXTS = ("text", "data", "filename")


def _is_doccano(sample: Sample) -> str | None:
    first, names = sample.first, [folded(name) for name in sample.header]
    if recognise("user", list(first) or list(sample.header)):
        return None
    noted = any("user" in note for _, note in within(list(sample.records), "annotations"))
    if noted and "data" not in first:
        return "each text has annotations with label and user"
    texts = "id" in first and first.keys() & {*_TEXTS}
    if texts and isinstance(first.get("label", first.get("labels")), list):
        return "each line has an id, a text and a list of labels"
    three = names[:1] == ["id"] and names[2:3] == ["label"] and names[1] in _TEXTS
    return "the columns id, text and label come first" if three else None


def _doccano(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    records = rows_of(document)
    by_user = any("user" in note for _, note in within(records, "annotations"))
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
    _is_doccano,
    Records(_doccano, ("a doccano file without labels", "export the labels of each user")),
)


# -- Amazon SageMaker Ground Truth and Augmented AI ------------------------------------------------


def _is_truth(sample: Sample) -> str | None:
    if sample.has_keys("datasetObjectId") and objects(sample.first.get("annotations")):
        return "each object has a datasetObjectId and the annotations of its workers"
    answers = within(sample.first, "answers", "humanAnswers")
    known = any("workerId" in own and "answerContent" in own for _, own in answers)
    return "the answers have a workerId and an answerContent" if known else None


def _truth(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    above = document.folders[-1] if document.folders else stem_of_name(document.name)
    records = objects(document.records())
    for record, own in within(records, "annotations", "answers", "humanAnswers"):
        item = as_text(record.get("datasetObjectId") or record.get("humanLoopName")) or above
        content = inner(own, "annotationData").get("content", own.get("answerContent"))
        for question, value in inner(literal(content)).items():
            answer = chosen(value)
            told = isinstance(value, dict) or role_of_name(question) != "comment"
            if answer is not None and told:
                yield Given(as_text(own.get("workerId")), item, answer, question, is_text=True)


GROUND_TRUTH = Format(
    "ground-truth",
    "Amazon SageMaker Ground Truth, answers of the workers",
    "annotations/worker-response/… (give the folder), or a consolidation request; classes",
    _is_truth,
    Records(
        _truth,
        (
            "a Ground Truth file without classes: boxes, regions or texts only",
            "only tasks in which workers choose a class can be ranked",
        ),
    ),
)


# -- Argilla: the responses of all users to each question ------------------------------------------


def _argilla(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    for record in objects(document.records()):
        fields = inner(record, "fields")
        item = as_text(at(record, "id|external_id")) or short_hash(as_text(fields))
        title = title_of(next(iter(fields.values()), ""))
        for question, responses in inner(record, "responses").items():
            for own in objects(responses):
                if own.get("status") in ("draft", "discarded"):
                    yield Given("", "", None, aside=("drafts", "they were not submitted"))
                elif (answer := chosen(own.get("value"))) is not None:
                    person = as_text(own.get("user_id"))
                    yield Given(person, item, answer, question, title=title, is_text=True)


ARGILLA = Format(
    "argilla",
    "Argilla, records",
    "The JSON that `dataset.records.to_json()` writes; labels, ratings and multiple labels",
    keys(
        *("fields", "responses", "suggestions"),
        because="each record has fields, suggestions and responses",
    ),
    Records(
        _argilla,
        (
            "an Argilla export without responses that choose: texts, spans or rankings only",
            "only label, multi-label and rating questions can be ranked",
        ),
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
    rows = rows_of(document)
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
    columns(
        *("classification_id", "annotations", "subject_ids"),
        because="the columns classification_id, annotations and subject_ids are there",
    ),
    Records(
        _zooniverse,
        (
            "a Zooniverse export without question tasks: drawings, texts or transcriptions only",
            "only tasks with choices can be ranked",
        ),
    ),
    "two exports",
)
