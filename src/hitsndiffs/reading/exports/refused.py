"""Reports that look like answers and hold none: what each is, and what to export instead."""

from __future__ import annotations

import re
from collections.abc import Callable

from hitsndiffs.reading.exports.base import Sample, Sign
from hitsndiffs.reading.exports.common import inner
from hitsndiffs.reading.exports.format import Format
from hitsndiffs.reading.exports.moodle import is_points_only
from hitsndiffs.reading.layouts.content import look_at
from hitsndiffs.reading.vocabulary import folded, role_of_name

__all__ = ["FORMATS"]

#: A table with more columns of choices than this, beside those that are its signs, holds answers.
_FEW = 3


def _report(
    name: str, title: str, what: str, instead: str, *signs: Sign, tried: str = ""
) -> Format:
    """Return a format that is recognised only to say what it is, and what to do instead."""
    signs = tuple(Sign(s.because, s.columns, s.without, s.fields, _no_answers(s)) for s in signs)
    about = what[0].upper() + what[1:]
    return Format(
        name, f"{title} (refused)", about, signs, lambda *_: (), tried, empty=(what, instead)
    )


def _no_answers(sign: Sign) -> Callable[[Sample], bool]:
    """Return the check of a sign, and that no answers stand beside what it looks for."""
    known = re.compile("|".join(f"(?:{pattern})" for pattern in sign.columns) or "(?!)")

    def holds(sample: Sample) -> bool:
        if sign.holds is not None and not sign.holds(sample):
            return False
        choices = 0
        for k, name in enumerate(sample.header if sign.columns else ()):
            if not known.fullmatch(folded(name)) and role_of_name(name) is None:
                content = look_at([row[k] for row in sample.full_rows])
                choices += content.kind == "choice" and len(content.counts) > 1
        return choices <= _FEW

    return holds


_GRADES = (
    r".+\[total pts: .*\](?: \|\d+)?|"  # Blackboard
    r".+<(?:numeric|text|selectbox|pass/fail).*>|"  # Brightspace
    r"[^:]+: ?.+ \((?:real|percentage|letter|punkte|prozentsatz|reell|brut|pourcentage|"
    r"porcentaje)\)"  # Moodle
)
_POSSIBLE = re.compile("points possible|punkte möglich|points possibles|puntos posibles")


def _is_canvas(sample: Sample) -> bool:
    """Whether «Points Possible» stands below the header, as in the gradebook of Canvas."""
    return any(_POSSIBLE.fullmatch(folded(row[0])) for row in sample.rows[:3] if row)


def _is_manifest(sample: Sample) -> bool:
    about = [own for name, own in sample.first.items() if name.endswith("-metadata")]
    return any("human-annotated" in inner(own) for own in about)


def _are_results(sample: Sample) -> bool:
    """Whether there are scores under the name of each task."""
    results = inner(sample.first, "results")
    known = sample.first.keys() & {"versions", "configs", "n-shot"}
    return bool(known and results) and all(isinstance(own, dict) for own in results.values())


_NAMED = "the columns are named like those of a gradebook"
_CONFIDENT = "answers have a confidence and no worker"

FORMATS = (
    _report(
        "canvas-item-analysis",
        "Canvas, Item Analysis",
        "Canvas' «Item Analysis»: one row per question, with counts and no students",
        "download the «Student Analysis» report of the quiz instead",
        Sign(
            "each row is a question with the number of students who answered it",
            ("question id", "question title", "answered student count"),
        ),
    ),
    _report(
        "moodle-grades",
        "Moodle, quiz grades",
        "Moodle's «Grades» report: points per question and no answers",
        "download the «Responses» report of the quiz instead",
        Sign("the questions («Q. 1 /1.00») hold points and no answers", holds=is_points_only),
    ),
    _report(
        "zipgrade-summary",
        "ZipGrade, standard format",
        "ZipGrade's standard export: scores without the answers",
        "choose «Full format (with student responses)» instead",
        Sign(
            "a quiz and percentages, without Stu1",
            ("quiz ?name", "quiz ?class", "percent ?correct"),
            without=r"(?:stu|student) ?\d+",
        ),
    ),
    _report(
        "gradescope-scores",
        "Gradescope, scores",
        "Gradescope's table of scores: points per question and no answers",
        "«Export Evaluations» of the assignment instead",
        Sign(
            "the questions («1: Title (2.0 pts)») hold points",
            (r"[\d.]+:.*\([\d.]+ pts?\)",),
            without="(?:assignment|question) submission id",
        ),
    ),
    _report(
        "gradebook",
        "Gradebooks of Canvas, Blackboard, Brightspace and Moodle",
        "a gradebook: the points of whole tests, without answers",
        "export the answers of one test instead (the report of its attempts or responses)",
        Sign(_NAMED, (_GRADES,)),
        Sign(_NAMED, (r".+ \(\d{3,}\)",), holds=_is_canvas),
    ),
    _report(
        "toloka-aggregated",
        "Toloka, aggregated results",
        "Toloka's aggregated results: one answer per task, no workers",
        "download the assignments of the pool instead",
        Sign(_CONFIDENT, ("confidence:.*", "output:.*")),
    ),
    _report(
        "figure-eight-aggregated",
        "Figure Eight (CrowdFlower), aggregated",
        "Figure Eight's aggregated report: one answer per unit, no workers",
        "download the full report instead",
        Sign(_CONFIDENT, ("_unit_id", ".*:confidence"), without="_worker_id"),
        tried="a report on tweets",
    ),
    _report(
        "prolific",
        "Prolific, participants",
        "Prolific's list of participants: no answers",
        "export the answers from the survey that they filled in",
        Sign(
            "each row is a participation (Submission id, Participant id, Time taken)",
            ("participant[ _]id", "(?:submission|session)[ _]id", "time[ _]taken", "status"),
        ),
    ),
    _report(
        "ground-truth-manifest",
        "Amazon SageMaker Ground Truth, output manifest",
        "Ground Truth's output manifest: one label per object, no workers",
        "give the folder annotations/worker-response of the job instead",
        Sign("an object has a label and its metadata", holds=_is_manifest),
    ),
    _report(
        "lm-eval-results",
        "lm-evaluation-harness, results",
        "a file of lm-eval's results: scores per task, no answers",
        "run lm_eval with --log_samples and give the samples_*.jsonl files",
        Sign("scores by task, with the configuration of the run", holds=_are_results),
        tried="the results of a run",
    ),
)
