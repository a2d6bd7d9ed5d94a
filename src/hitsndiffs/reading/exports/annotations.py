"""Annotation tools that write JSON: Label Studio, Labelbox, Prodigy, doccano, Ground Truth.

Each record is a thing with the answers of several people inside, or one answer of one person. A
format is a generator that yields the answers; the rest is the same for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from hitsndiffs.data.encoding.names import recognise
from hitsndiffs.reading.exports.base import (
    Choices,
    Document,
    Format,
    Refusal,
    Sample,
    Stream,
    columns,
    either,
    keys,
)
from hitsndiffs.reading.exports.common import (
    as_text,
    folded,
    inner,
    is_free_text,
    literal,
    objects,
    short_hash,
    stem_of_name,
    title_of,
    words,
)
from hitsndiffs.reading.exports.entries import Entry, add_entries, chosen_only
from hitsndiffs.reading.exports.judged import chosen_classes
from hitsndiffs.reading.exports.sheet import Sheet, by_table
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["DOCCANO", "GROUND_TRUTH", "LABELBOX", "LABEL_STUDIO", "LABEL_STUDIO_FLAT", "PRODIGY"]


class Given(NamedTuple):
    """One answer in a file of annotations; one that names nobody, or no item, is left out."""

    person: str
    item: str
    question: str
    answer: tuple[str, ...]
    title: str = ""
    #: Why the answer does not count, as the subject of a sentence: "cancelled annotations".
    aside: str = ""


@dataclass(frozen=True)
class _Records:
    """How to read a format: its answers, and what to say where there are none."""

    answers: Callable[[Document, Choices], Iterator[Given]]
    #: What the file is, and what to do, if it has no answers, and if it names nobody.
    empty: tuple[str, str]
    nobody: tuple[str, str] = ("", "")

    def __call__(self, document: Document, choices: Choices) -> Stream:
        stream = Stream()
        entries: list[Entry] = []
        aside: dict[str, int] = defaultdict(int)
        for own in self.answers(document, choices):
            if own.aside or not own.person:
                aside[own.aside or "answers that name nobody"] += 1
            else:
                stream.titles.setdefault(own.item, own.title)
                entries.append(Entry(*own[:4]))
        if not entries and self.nobody[0] and aside["answers that name nobody"]:
            raise Refusal(*self.nobody)
        if not entries:
            raise Refusal(*self.empty)
        add_entries(stream, entries, choices.option)
        for what, count in aside.items():
            if count:
                stream.notes.append(f"Left out {count} {what}.")
        return stream


# -- Label Studio ----------------------------------------------------------------------------------


def _recognise_studio(sample: Sample) -> str | None:
    lists = [sample.first.get(name) for name in ("annotations", "completions")]
    if sample.has_keys("data") and any(isinstance(own, list) for own in lists):
        return "each task has its data and a list of annotations"
    return None


def _studio(document: Document, _: Choices) -> Iterator[Given]:
    tasks = objects(document.records())
    notes = [objects(task.get("annotations", task.get("completions"))) for task in tasks]
    about = [inner(note, "completed_by") for own in notes for note in own]
    mails = {
        as_text(who["id"]): as_text(who["email"]) for who in about if who.keys() >= {"id", "email"}
    }
    for task, own in zip(tasks, notes, strict=True):
        item = as_text(task.get("id", task.get("inner_id")))
        texts = [text for text in inner(task, "data").values() if isinstance(text, str)]
        title = title_of(texts[0] if texts else "")
        for _one in objects(task.get("predictions")):
            yield Given("", item, "", (), aside="predictions of models")
        for note in own:
            if note.get("was_cancelled") or note.get("skipped"):
                yield Given("", item, "", (), aside="cancelled annotations")
                continue
            person = _person(note.get("completed_by"))
            for name, answer in _studio_answers(note.get("result")).items():
                yield Given(mails.get(person, person), item, name, answer, title)


def _person(who: Any) -> str:
    if not isinstance(who, dict):
        return as_text(who)
    return next((as_text(who[n]) for n in ("email", "username", "id") if who.get(n)), "")


#: Where each kind of tag holds what was chosen.
_TAGS = {"choices": "choices", "rating": "rating", "pairwise": "selected"}


def _studio_answers(result: Any) -> dict[str, tuple[str, ...]]:
    """Return what was chosen in each tag of an annotation."""
    found: dict[str, tuple[str, ...]] = {}
    for part in objects(result):
        chosen = inner(part, "value").get(_TAGS.get(as_text(part.get("type")), ""))
        if chosen is not None:
            own = tuple(map(as_text, chosen)) if isinstance(chosen, list) else (as_text(chosen),)
            name = as_text(part.get("from_name"))
            found[name] = tuple(dict.fromkeys((*found.get(name, ()), *own)))
    return {name: own for name, own in found.items() if own}


_STUDIO_EMPTY = (
    "a Label Studio export without Choices: regions, labels or texts only",
    "only tasks with a Choices or Rating tag can be ranked",
)
LABEL_STUDIO = Format(
    "label-studio",
    "Label Studio, JSON",
    "Tasks with their annotations; Choices and Rating tags",
    _recognise_studio,
    _Records(_studio, _STUDIO_EMPTY),
    "exports of regions and of taxonomies, which are refused",
)

#: Columns of Label Studio's own in JSON-MIN and CSV.
_OWN = words(
    "id|annotator|annotation_id|created_at|updated_at|lead_time|agreement|inner_id|"
    "total_annotations"
)
_FLAT = "each record is an annotation (annotator, annotation_id, lead_time)"


def _fill_flat(sheet: Sheet) -> None:
    rows = [{n: literal(c) for n, c in zip(sheet.header, r, strict=True)} for r in sheet.rows]
    rows = [row for row in rows if as_text(row.get("annotator")).strip()]
    option = sheet.choices.option
    tags = list(chosen_only(dict.fromkeys(sheet.header), option)) if option else _tags(rows)
    if not tags:
        raise Refusal(*_STUDIO_EMPTY)
    entries = [
        Entry(_person(row["annotator"]), as_text(row.get("id")), tag, _in_cell(row.get(tag)))
        for row in rows
        for tag in tags
    ]
    add_entries(sheet.stream, entries, None)


def _in_cell(value: Any) -> tuple[str, ...]:
    if isinstance(value, dict):
        value = value.get("choices", value.get("rating"))
    if isinstance(value, list):
        return tuple(as_text(p.get("rating") if isinstance(p, dict) else p) for p in value)
    text = as_text(value).strip()
    return (text,) if text else ()


def _tags(rows: list[dict[str, Any]]) -> list[str]:
    """Return the columns that hold answers: those with choices, or that differ within a task.

    If there are none, return the column with few different values, provided it is the only one.
    """
    names = dict.fromkeys(name for row in rows for name in row if name not in _OWN)
    asked = [name for name in names if _is_choice(row.get(name) for row in rows)]
    sure = []
    for name in asked:
        within: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            within[as_text(row.get("id"))].add(as_text(row.get(name)))
        signed = any("choices" in inner(row.get(name)) for row in rows)
        if signed or any(len(texts) > 1 for texts in within.values()):
            sure.append(name)
    few = [n for n in asked if 3 * len({as_text(row.get(n)) for row in rows}) <= len(rows)]
    return sure or (few if len(few) == 1 else [])


def _is_choice(values: Iterable[Any]) -> bool:
    given = [value for value in values if value not in (None, "")]
    parts = [part for value in given if isinstance(value, list) for part in value]
    if not given or any(isinstance(part, dict) and "rating" not in part for part in parts):
        return False
    return not is_free_text([as_text(value) for value in given])


LABEL_STUDIO_FLAT = Format(
    "label-studio-min",
    "Label Studio, JSON-MIN and CSV",
    "A record per annotation, with annotator, annotation_id and lead_time",
    either(
        columns("annotator", "annotation_id", "lead_time", because=_FLAT),
        keys("annotator", "annotation_id", "lead_time", because=_FLAT),
    ),
    by_table(_fill_flat, records=True),
)


# -- Prodigy ---------------------------------------------------------------------------------------


def _prodigy(document: Document, choices: Choices) -> Iterator[Given]:
    records = objects(document.records())
    wanted = [choices.user] if choices.user else ["_annotator_id", "_session_id"]
    by = next((name for name in wanted if any(record.get(name) for record in records)), "")
    picked = [record for record in records if "accept" in record or "options" in record]
    labels = {as_text(record.get("label")) for record in records if record not in picked}
    for record in records:
        person = as_text(record.get(by)).strip()
        item, done = as_text(record.get("_input_hash")), record.get("answer")
        if "accept" in record or "options" in record:
            own = record.get("accept")
            own = own if isinstance(own, list) else [own]
            texts = tuple(as_text(part) for part in own if part is not None)
            texts = texts if done == "accept" else ()
        elif "label" in record or not record.keys() & {"spans", "relations"}:
            item += f"/{as_text(record.get('label'))}" if len(labels) > 1 else ""
            texts = (as_text(done),) if done in ("accept", "reject") else ()
        else:
            yield Given(person, item, "", (), aside="lines of spans or relations")
            continue
        yield Given(person, item, "", texts, title_of(record.get("text")))


PRODIGY = Format(
    "prodigy",
    "Prodigy, annotations",
    "JSONL, a line per annotation; views choice and classification",
    keys(
        *("_input_hash", "_task_hash", "answer"),
        because="each line has _input_hash, _task_hash and an answer",
    ),
    _Records(
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


def _labelbox(document: Document, _: Choices) -> Iterator[Given]:
    for record in objects(document.records()):
        if "DataRow ID" in record:
            item = as_text(record.get("External ID") or record["DataRow ID"])
            title, person = title_of(record.get("Labeled Data")), as_text(record.get("Created By"))
            for part in objects(inner(record, "Label").get("classifications")):
                own = objects(part.get("answers", part.get("answer")))
                chosen = tuple(as_text(one.get("title") or one.get("value")) for one in own)
                if chosen:  # a text is no choice
                    name = as_text(part.get("title") or part.get("value"))
                    yield Given(person.strip(), item, name, chosen, title)
            continue
        row = inner(record, "data_row")
        item = as_text(row.get("global_key") or row.get("external_id") or row.get("id"))
        title = title_of(row.get("row_data"))
        for project in inner(record, "projects").values():
            for label in objects(inner(project).get("labels")):
                person = as_text(inner(label, "label_details").get("created_by")).strip()
                for name, chosen in _classified(inner(label, "annotations").get("classifications")):
                    yield Given(person, item, name, chosen, title)


def _classified(parts: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    for part in objects(parts):
        name, radio = as_text(part.get("name")), part.get("radio_answer")
        if isinstance(radio, dict):
            yield name, (as_text(radio.get("name")),)
            yield from _classified(radio.get("classifications"))
        elif isinstance(part.get("checklist_answers"), list):
            yield name, tuple(as_text(a.get("name")) for a in objects(part["checklist_answers"]))


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
    _Records(
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


def _recognise_doccano(sample: Sample) -> str | None:
    if first := sample.first:
        notes = [
            part
            for record in objects(list(sample.records))
            for part in objects(record.get("annotations"))
        ]
        if any("user" in part for part in notes) and "data" not in first:
            return "each text has annotations with label and user"
        labels = first.get("label", first.get("labels"))
        texts = "id" in first and first.keys() & {*_TEXTS}
        if isinstance(labels, list) and texts and not recognise("user", list(first)):
            return "each line has an id, a text and a list of labels"
    names = [folded(name) for name in sample.header]
    three = names[:1] == ["id"] and names[2:3] == ["label"] and names[1] in _TEXTS
    if sample.kind == "table" and three and not recognise("user", list(sample.header)):
        return "the columns id, text and label come first"
    return None


def _names_users(records: list[dict[str, Any]]) -> bool:
    notes = [part for record in records for part in objects(record.get("annotations"))]
    return any("user" in part for part in notes)


def _doccano(document: Document, _: Choices) -> Iterator[Given]:
    if document.kind in ("json", "jsonl"):
        records = objects(document.records())
    else:
        table = document.table()
        records = [dict(zip(map(folded, table.header), row, strict=True)) for row in table.rows]
    person = stem_of_name(document.name)
    by_user = any(
        "user" in part for record in records for part in objects(record.get("annotations"))
    )
    if person == "all" and not by_user:
        raise Refusal(
            "doccano's «all» file of a shared project: it does not say who set which label",
            "let every member label in a project that is not collaborative, and export the zip",
        )
    for record in records:
        text = as_text(record.get("text"))
        item = as_text(record.get("id")) or short_hash(text)
        if by_user:
            found: dict[str, list[str]] = defaultdict(list)
            for part in objects(record.get("annotations")):
                if isinstance(part.get("label"), (str, int, float)) and "start_offset" not in part:
                    found[as_text(part.get("user"))].append(as_text(part["label"]))
            for user, own in found.items():
                yield Given(user, item, "", tuple(own), title_of(text))
            continue
        labels = record.get("label", record.get("labels"))
        if isinstance(labels, str):
            labels = literal(labels) if labels.startswith("[") else labels.split("#")
        parts = labels if isinstance(labels, list) else [labels]
        if any(isinstance(part, (list, dict)) for part in parts):
            raise Refusal(
                "a doccano export of spans", "only text and image classification can be ranked"
            )
        chosen = tuple(text for part in parts if (text := as_text(part)).strip())
        if chosen:
            yield Given(person, item, "", chosen, title_of(record.get("text")))


DOCCANO = Format(
    "doccano",
    "doccano, classification",
    "The zip of a project (a file per annotator), or records with annotations by user",
    _recognise_doccano,
    _Records(_doccano, ("a doccano file without labels", "export the labels of each user")),
)


# -- Amazon SageMaker Ground Truth and Augmented AI ------------------------------------------------


def _recognise_truth(sample: Sample) -> str | None:
    first = sample.first
    if "datasetObjectId" in first and isinstance(first.get("annotations"), list):
        return "each object has a datasetObjectId and the annotations of its workers"
    for name in ("answers", "humanAnswers"):
        if any("workerId" in own and "answerContent" in own for own in objects(first.get(name))):
            return "the answers have a workerId and an answerContent"
    return None


def _truth(document: Document, _: Choices) -> Iterator[Given]:
    above = document.folders[-1] if document.folders else stem_of_name(document.name)
    for record in objects(document.records()):
        item = as_text(record.get("datasetObjectId") or record.get("humanLoopName")) or above
        for name in ("annotations", "answers", "humanAnswers"):
            for own in objects(record.get(name)):
                content = inner(own, "annotationData").get("content", own.get("answerContent"))
                for question, value in inner(literal(content)).items():
                    chosen = chosen_classes(value)
                    told = isinstance(value, dict) or role_of_name(question) != "comment"
                    if chosen is not None and told:
                        yield Given(as_text(own.get("workerId")), item, question, chosen)


GROUND_TRUTH = Format(
    "ground-truth",
    "Amazon SageMaker Ground Truth, answers of the workers",
    "annotations/worker-response/… (give the folder), or a consolidation request; classes",
    _recognise_truth,
    _Records(
        _truth,
        (
            "a Ground Truth file without classes: boxes, regions or texts only",
            "only tasks in which workers choose a class can be ranked",
        ),
    ),
)
