"""Reports that look like answers and hold none: what each is, and what to export instead."""

from __future__ import annotations

from hitsndiffs.reading.exports.base import (
    Format,
    Recogniser,
    Sample,
    columns,
    either,
    keys,
    refuse,
)
from hitsndiffs.reading.exports.common import inner
from hitsndiffs.reading.exports.moodle import is_points_only

__all__ = ["REFUSED"]


def _report(
    name: str, title: str, about: str, sign: Recogniser, what: str, instead: str, tried: str = ""
) -> Format:
    """Return a format that is recognised only to say what it is, and what to do instead."""
    return Format(name, f"{title} (refused)", about, sign, refuse(what, instead), tried)


def _is_points(sample: Sample) -> str | None:
    points = is_points_only(sample.fields)
    return "the questions («Q. 1 /1.00») hold points and no answers" if points else None


_GRADES = (
    r".+\[total pts: .*\](?: \|\d+)?|"  # Blackboard
    r".+<(?:numeric|text|selectbox|pass/fail).*>|"  # Brightspace
    r"[^:]+: ?.+ \((?:real|percentage|letter|punkte|prozentsatz|reell|brut|pourcentage|"
    r"porcentaje)\)"  # Moodle
)
_POSSIBLE = " *(?:points possible|punkte möglich|points possibles|puntos posibles)"
_NAMED = "the columns are named like those of a gradebook"


def _is_canvas(sample: Sample) -> str | None:
    """Recognise the gradebook of Canvas: «Points Possible» stands below the header."""
    below = Sample(sample.kind, tuple(row[0] for row in sample.rows[:3] if row))
    possible = columns(_POSSIBLE, because=_NAMED)(below)
    return possible and columns(r".+ \(\d{3,}\)", because=_NAMED)(sample)


def _is_manifest(sample: Sample) -> str | None:
    about = [own for name, own in sample.first.items() if name.endswith("-metadata")]
    signed = any("human-annotated" in inner(own) for own in about)
    return "an object has a label and its metadata" if signed else None


_CONFIDENT = "answers have a confidence and no worker"
_BY_TASK = "results by task, with the configuration of the run"

REFUSED = (
    _report(
        "canvas-item-analysis",
        "Canvas, Item Analysis",
        "Quiz statistics, «Item Analysis»: counts per question, no students",
        columns(
            *("question id", "question title", "answered student count"),
            because="each row is a question with the number of students who answered it",
        ),
        "Canvas' «Item Analysis»: one row per question, with counts and no students",
        "download the «Student Analysis» report of the quiz instead",
    ),
    _report(
        "moodle-grades",
        "Moodle, quiz grades",
        "Quiz results, «Grades»: points per question, no answers",
        _is_points,
        "Moodle's «Grades» report: points per question and no answers",
        "download the «Responses» report of the quiz instead",
    ),
    _report(
        "zipgrade-summary",
        "ZipGrade, standard format",
        "CSV with scores only",
        columns(
            *("quiz ?name", "quiz ?class", "percent ?correct"),
            without=r"(?:stu|student) ?\d+",
            because="a quiz and percentages, without Stu1",
        ),
        "ZipGrade's standard export: scores without the answers",
        "choose «Full format (with student responses)» instead",
    ),
    _report(
        "gradescope-scores",
        "Gradescope, scores",
        "«Download Grades»: points per question, no answers",
        columns(
            r"[\d.]+:.*\([\d.]+ pts?\)",
            without="(?:assignment|question) submission id",
            because="the questions («1: Title (2.0 pts)») hold points",
        ),
        "Gradescope's table of scores: points per question and no answers",
        "«Export Evaluations» of the assignment instead",
    ),
    _report(
        "gradebook",
        "Gradebooks of Canvas, Blackboard, Brightspace and Moodle",
        "The grades of a course: points per test, no answers",
        either(columns(_GRADES, because=_NAMED), _is_canvas),
        "a gradebook: the points of whole tests, without answers",
        "export the answers of one test instead (the report of its attempts or responses)",
    ),
    _report(
        "toloka-aggregated",
        "Toloka, aggregated results",
        "One answer per task with a confidence, no workers",
        columns("confidence:.*", "output:.*", because=_CONFIDENT),
        "Toloka's aggregated results: one answer per task, no workers",
        "download the assignments of the pool instead",
    ),
    _report(
        "figure-eight-aggregated",
        "Figure Eight (CrowdFlower), aggregated",
        "One answer per unit with a confidence, no workers",
        columns("_unit_id", ".*:confidence", without="_worker_id", because=_CONFIDENT),
        "Figure Eight's aggregated report: one answer per unit, no workers",
        "download the full report instead",
        "a report on tweets",
    ),
    _report(
        "prolific",
        "Prolific, participants",
        "The participants of a study: who they are and when they took part, no answers",
        columns(
            *("participant[ _]id", "(?:submission|session)[ _]id", "time[ _]taken", "status"),
            because="each row is a participation (Submission id, Participant id, Time taken)",
        ),
        "Prolific's list of participants: no answers",
        "export the answers from the survey that they filled in",
    ),
    _report(
        "ground-truth-manifest",
        "Amazon SageMaker Ground Truth, output manifest",
        "«output.manifest»: one label per object with a confidence, no workers",
        _is_manifest,
        "Ground Truth's output manifest: one label per object, no workers",
        "give the folder annotations/worker-response of the job instead",
    ),
    _report(
        "lm-eval-results",
        "lm-evaluation-harness, results",
        "«results_<time>.json»: scores per task, no answers",
        either(*(keys("results", n, because=_BY_TASK) for n in ("versions", "configs", "n-shot"))),
        "lm-eval's results: scores per task, no answers",
        "run lm_eval with --log_samples and give the samples_*.jsonl files",
        "the results of a run",
    ),
)
