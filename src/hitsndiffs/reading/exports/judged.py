"""Tables in which people judge things, a row per judgment: MTurk, Toloka, Label Studio, pairs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from hitsndiffs.reading.exports.base import Choices, Document, Refusal, Sign
from hitsndiffs.reading.exports.common import (
    as_text,
    chosen,
    folded,
    is_free_text,
    literal,
    objects,
    split_column,
)
from hitsndiffs.reading.exports.format import Format, Given, Stream, chosen_only
from hitsndiffs.reading.exports.records import Paths, rows_of
from hitsndiffs.reading.exports.sheet import Question, Sheet, cell_at, option_columns, sheet_of
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import role_of_name

__all__ = ["FORMATS"]

_REMARK = re.compile(r"expla|comment|feedback|reason|why|justif|rationale|suggest|detail", re.I)
_ON_OR_OFF = frozenset(("true", "false", "on", "off", "1", "0", ""))
_ONLY = "only these can be ranked"
_LIST = r"[|\n]"  # several options in a cell
_NOBODY = (
    "a table of judgments of several things that does not name the workers",
    "export it again with the column of workers",
)
_SKIPPED = ("skipped", "expired")


@dataclass(frozen=True)
class _Judgments:
    """What the columns of a table of judgments are, by patterns of their names.

    Parameters
    ----------
    worker, task
        Who judged (the first of these names that has cells), and what.
    answer, gold
        Answers and right answers; the group is the name of the question.
    seen
        What the workers saw: equal contents are one task, even if it was posted again.
    status
        Whether somebody skipped the task.
    among_others
        Whether the answers stand among columns of other kinds: answers are those that differ
        between the workers of a task, and, where some have right answers, only these.
    """

    worker: tuple[str, ...]
    task: str
    answer: str
    gold: str = ""
    seen: str = ""
    status: str = ""
    among_others: bool = False

    def __call__(self, document: Document, choices: Choices, stream: Stream) -> Iterator[Given]:
        """Yield the answers in a table."""
        sheet = sheet_of(document, choices, stream)
        places = [k for name in self.worker if (k := sheet.find(name)) is not None]
        filled = [k for k in places if any(map(str.strip, sheet.cells(k)))]
        worker, task, status = (
            next(iter(filled), None),
            sheet.find(self.task),
            sheet.find(self.status),
        )
        if worker is None or (self.among_others and task is None):
            return
        if worker != sheet.find(self.worker[0]):
            if task is not None and len({*sheet.cells(task)}) > 1:
                raise Refusal(*_NOBODY)
            stream.note("The file does not name the workers: each assignment counts as one.")
        for place in filter(None, (worker, status)):
            below = ""  # in old dumps, only the last row of a suite says who did it
            for row in reversed(sheet.rows):
                below = row[place] = row[place].strip() or below
        asked, golden = (_named(sheet, pattern) for pattern in (self.answer, self.gold))
        if choices.option is not None:
            asked = chosen_only(asked, choices.option)
        elif self.among_others:
            asked = _differing(sheet, task, asked, golden)
        sheet.rows = [
            row
            for row in sheet.rows
            if row[worker].strip() and any(row[k].strip() for k in asked.values())
        ]
        done = [row for row in sheet.rows if folded(cell_at(row, status)) not in _SKIPPED]
        sheet.keep_rows(done, "rows of skipped or expired assignments", "nobody answered in them")
        seen = [*_named(sheet, self.seen).values()]
        people = sheet.people([worker], "the worker", "user")
        given = sheet.asked_for(choices.item, "item")
        tasks = [" ".join(row[k].strip() for k in given) for row in sheet.rows if given]
        tasks = tasks or self._tasks(sheet, task, seen, people)
        questions = _questions(sheet, asked, golden)
        yield from sheet.ask(questions, people, tasks=[] if len({*tasks}) == 1 else tasks)
        sheet.set_role([task, *seen], "item", "the task, and what the worker saw")
        sheet.rest_unused("about the judgment, or what the workers saw")

    def _tasks(
        self, sheet: Sheet, task: int | None, seen: Sequence[int], people: Sequence[str]
    ) -> list[str]:
        """Return what was judged in each row; one page for all if nobody came back to another."""
        if self.seen and not seen and (task is None or len({*people}) == len(people)):
            return ["task"] * len(sheet.rows)
        first: dict[tuple[str, ...], str] = {}
        tasks = []
        for row in sheet.rows:
            own = tuple(row[k].strip() for k in seen)
            name = cell_at(row, task) or " | ".join(filter(None, own))
            tasks.append(first.setdefault(own, name) if seen else name)
        return tasks


def _named(sheet: Sheet, pattern: str) -> dict[str, int]:
    """Return the columns with such names, by the question that the group names."""
    names = [name.strip() for name in sheet.header] if pattern else []
    found = [re.fullmatch(pattern, name, re.IGNORECASE | re.DOTALL) for name in names]
    return {(match[1] or "answer"): k for k, match in enumerate(found) if match is not None}


def _differing(
    sheet: Sheet, task: int | None, asked: dict[str, int], golden: dict[str, int]
) -> dict[str, int]:
    """Return the columns that differ between workers; those with right answers, if there are."""
    found = {}
    for name, k in asked.items():
        pairs = {(cell_at(row, task), row[k]) for row in sheet.rows if row[k].strip()}
        if len(pairs) > len({thing for thing, _ in pairs}):
            found[name] = k
    return {name: k for name, k in found.items() if name in golden} or found


def _questions(sheet: Sheet, asked: dict[str, int], golden: dict[str, int]) -> list[Question]:
    """Return the questions: a column each, a column per option, or all in one cell as JSON."""
    options: dict[str, dict[str, int]] = {}
    for name, k in asked.items():
        base, dot, option = name.rpartition(".")
        if dot and {folded(cell) for cell in sheet.cells(k)} <= _ON_OR_OFF:
            options.setdefault(base, {})[option] = k
    grouped = {base: own for base, own in options.items() if len(own) > 1}
    found = [one for base, own in grouped.items() for one in option_columns(sheet, base, own)]
    ticked = {k for own in grouped.values() for k in own.values()}
    for name, k in asked.items():
        cells = [cell.strip() for cell in sheet.cells(k)]
        if k in ticked or not any(cells):
            continue
        if nested := _nested(cells):
            found += [Question(n or name, k, given=own, sparse=True) for n, own in nested.items()]
        elif role_of_name(name) == "time" and look_at(cells).is_number:
            sheet.set_role([k], "time", "named like a time")
        elif _is_remark(name, cells) or (grouped and name.endswith(("_text", ".text"))):
            sheet.set_role([k], "comment", "free text")
        else:
            gold, given = golden.get(name), split_column(cells, _LIST)
            # several right answers are alternatives, with which no set can be compared
            right = [] if gold is None else split_column(sheet.cells(gold), _LIST)
            keys = [own if len(own) < 2 else () for own in right] or None
            found.append(Question(name.removesuffix(".label"), k, gold, given=given, keys=keys))
    return found


def _is_remark(name: str, cells: Sequence[str]) -> bool:
    given = [cell for cell in cells if cell]
    differ = len(given) > 2 and len({*given}) > 0.8 * len(given)
    named = role_of_name(name) == "comment" or (bool(_REMARK.search(name)) and differ)
    return named or is_free_text(cells)


def _nested(cells: Sequence[str]) -> dict[str, list[tuple[str, ...]]]:
    """Read cells of JSON: what was chosen, or the questions and the options that are true."""
    found: dict[str, list[tuple[str, ...]]] = {}
    for k, cell in enumerate(cells):
        for record in objects(literal(cell)) if cell[:1] in ("[", "{") else ():
            whole = {"": record} if "choices" in record else record
            for name, value in whole.items():
                if answer := chosen(value):
                    found.setdefault(name, [()] * len(cells))[k] = answer
    return {
        name: answers
        for name, answers in found.items()
        if role_of_name(name) != "comment" and not is_free_text(map("; ".join, answers))
    }


MTURK = Format(
    "mturk",
    "Amazon Mechanical Turk, batch results",
    "«Batch_…_batch_results.csv»: a row per assignment, Answer.* columns",
    (
        Sign(
            "the columns HITId, AssignmentId and Answer are there",
            ("hitid", "assignmentid", "answer(?:[. _].+)?"),
        ),
    ),
    _Judgments(
        worker=("WorkerId", "AssignmentId"),
        task="HITId",
        answer=r"Answer(?:[.\s_](.+))?",
        seen="Input[.](.+)",
    ),
    tried="three batches, old and new",
    empty=("an MTurk batch without answers by choice", _ONLY),
)
TOLOKA = Format(
    "toloka",
    "Toloka, assignments",
    "The assignments of a pool as TSV: INPUT:, OUTPUT:, GOLDEN:, ASSIGNMENT:",
    (Sign("the column ASSIGNMENT:worker_id is there", ("assignment:worker_id",)),),
    _Judgments(
        worker=("ASSIGNMENT:worker_id",),
        task="ASSIGNMENT:task_id",
        answer="OUTPUT:(.+)",
        gold="GOLDEN:(.+)",
        seen="INPUT:(.+)",
        status="ASSIGNMENT:status",
    ),
    empty=("a Toloka file without answers by choice", _ONLY),
    key_from="the columns «GOLDEN:»",
)
FIGURE_EIGHT = Format(
    "figure-eight",
    "Figure Eight (CrowdFlower), full report",
    "CSV with a row per judgment: _unit_id, _worker_id, …",
    (Sign("the columns _unit_id and _worker_id are there", ("_unit_id", "_worker_id")),),
    _Judgments(
        worker=("_worker_id",),
        task="_unit_id",
        answer="((?!_).+)(?<!_gold)(?<!_gold_reason)",
        gold="(.+)_gold",
        among_others=True,
    ),
    tried="a full report",
    empty=("a Figure Eight report without answers by choice", _ONLY),
    key_from="the columns «…_gold»",
)

#: Columns of Label Studio's own.
_OWN = "id|annotator|annotation_id|created_at|updated_at|lead_time|agreement|inner_id"
_FLAT = ("annotator", "annotation_id", "lead_time")
_EACH = "each record is an annotation (annotator, annotation_id, lead_time)"
LABEL_STUDIO_FLAT = Format(
    "label-studio-min",
    "Label Studio, JSON-MIN and CSV",
    "A record per annotation, with annotator, annotation_id and lead_time",
    (Sign(_EACH, columns=_FLAT), Sign(_EACH, fields=_FLAT)),
    _Judgments(
        worker=("annotator",),
        task="id",
        answer=f"((?!(?:{_OWN}|total_annotations)$).+)",
        among_others=True,
    ),
    empty=(
        "a Label Studio export without Choices: regions, labels or texts only",
        "only tasks with a Choices or Rating tag can be ranked",
    ),
)


# -- judgments of pairs: which of two models gave the better answer to a question ------------------


def _battles(document: Document) -> list[dict[str, Any]]:
    """Return the judgments with the pair and the winner by name: either model may stand first."""
    found = []
    for row in rows_of(document):
        pair = " or ".join(sorted(as_text(row.get(name)) for name in ("model_a", "model_b")))
        asked = "/".join(filter(None, (as_text(row.get(n)) for n in ("question_id", "turn"))))
        won = as_text(row.get("winner"))
        found.append(row | {"pair": f"{asked}: {pair}", "won": row.get(won, won)})
    if len({row["pair"] for row in found}) == len(found):
        raise Refusal(
            "a file of battles between models that one person each judged",
            "give judgments of the same pairs by several people; what is ranked are the judges",
        )
    return found


_MODELS = ("model_a", "model_b", "winner", "judge")
MT_BENCH = Format(
    "mt-bench",
    "MT-bench and similar, judgments of pairs",
    "JSONL, Parquet or CSV with a judgment per row; what is ranked are the judges",
    (
        Sign("each record says which of two models won, and who judged", fields=_MODELS),
        Sign("each row says which of two models won, and who judged", columns=_MODELS),
    ),
    Paths(user="judge", item="pair", answer="won", rows=_battles),
    empty=("a file of pairs of models without judgments", "give the judgments of several judges"),
)

FORMATS = (MTURK, TOLOKA, FIGURE_EIGHT, LABEL_STUDIO_FLAT, MT_BENCH)
