"""Reports that look like answers and hold none: what each is, and what to export instead."""

from __future__ import annotations

import re
from collections.abc import Callable

from hitsndiffs.reading.exports.base import Choices, Document, Format, Refusal, Sample, Stream
from hitsndiffs.reading.exports.common import folded, inner
from hitsndiffs.reading.exports.moodle import is_points_only
from hitsndiffs.reading.vocabulary import plain

__all__ = ["REFUSED"]


def _refused(
    name: str,
    title: str,
    about: str,
    sign: Callable[[Sample], bool],
    because: str,
    *refusal: str,
    tried: str = "",
) -> Format:
    """Return a format that is recognised only to say what it is, and what to do instead."""

    def refuse(_: Document, __: Choices) -> Stream:
        raise Refusal(*refusal)

    recognise = lambda sample: because if sign(sample) else None  # noqa: E731
    return Format(name, f"{title} (refused)", about, recognise, refuse, tried)


def _columns(*wanted: str, without: str = "") -> Callable[[Sample], bool]:
    """Tell tables by their columns, given as patterns that match some name each, and one none."""

    def sign(sample: Sample) -> bool:
        if not sample.is_table or len(sample.header) > 5000:
            return False
        names = [" ".join(name.split()) for name in sample.header]
        found = all(any(re.fullmatch(w, n, re.IGNORECASE) for n in names) for w in wanted)
        return found and not (without and any(re.match(without, n, re.I) for n in names))

    return sign


# -- gradebooks ----------------------------------------------------------------------------------

#: How learning platforms name the columns of a gradebook.
_GRADES = re.compile(
    r".+\[total pts: .*\](?: \|\d+)?|"  # Blackboard
    r".+<(?:numeric|text|selectbox|pass/fail).*>|"  # Brightspace
    r"[^:]+: ?.+ \((?:real|percentage|letter|punkte|prozentsatz|reell|brut|pourcentage|"
    r"porcentaje)\)",  # Moodle
    re.IGNORECASE,
)
_CANVAS = re.compile(r".+ \(\d{3,}\)")
_POSSIBLE = re.compile(r"points possible|punkte möglich|points possibles|puntos posibles")


def _is_gradebook(sample: Sample) -> bool:
    if not sample.is_table or len(sample.header) > 5000:
        return False
    names = [" ".join(name.split()) for name in sample.header]
    below = any(_POSSIBLE.search(folded(row[0])) for row in sample.rows[:3] if row)
    return any(map(_GRADES.fullmatch, names)) or (below and any(map(_CANVAS.fullmatch, names)))


def _is_manifest(sample: Sample) -> bool:
    about = [own for name, own in sample.first.items() if name.endswith("-metadata")]
    return any("human-annotated" in inner(own) for own in about)


def _is_summary(sample: Sample) -> bool:
    there = {plain(name) for name in sample.header} if sample.is_table else set()
    quiz = {"quizname", "quizclass", "percentcorrect"} <= there and len(sample.header) <= 100
    return quiz and not any(re.fullmatch(r"(?:stu|student)\d+", name) for name in there)


def _is_lm_eval(sample: Sample) -> bool:
    about = any(sample.has_keys(name) for name in ("versions", "configs", "n-shot"))
    return sample.kind == "json" and sample.has_keys("results") and about


REFUSED: tuple[Format, ...] = (
    _refused(
        "canvas-item-analysis",
        "Canvas, Item Analysis",
        "Quiz statistics, «Item Analysis»: counts per question, no students",
        _columns("question id", "question title", "answered student count"),
        "each row is a question with the number of students who answered it",
        "Canvas' «Item Analysis»: one row per question, with counts and no students",
        "download the «Student Analysis» report of the quiz instead",
    ),
    _refused(
        "moodle-grades",
        "Moodle, quiz grades",
        "Quiz results, «Grades»: points per question, no answers",
        lambda sample: is_points_only(sample.fields),
        "the questions («Q. 1 /1.00») hold points and no answers",
        "Moodle's «Grades» report: points per question and no answers",
        "download the «Responses» report of the quiz instead",
    ),
    _refused(
        "zipgrade-summary",
        "ZipGrade, standard format",
        "CSV with scores only",
        _is_summary,
        "a quiz and percentages, without Stu1",
        "ZipGrade's standard export: scores without the answers",
        "choose «Full format (with student responses)» instead",
    ),
    _refused(
        "gradescope-scores",
        "Gradescope, scores",
        "«Download Grades»: points per question, no answers",
        _columns(r"[\d.]+:.*\([\d.]+ pts?\)", without=r"(?:assignment|question) submission id$"),
        "the questions («1: Title (2.0 pts)») hold points",
        "Gradescope's table of scores: points per question and no answers",
        "«Export Evaluations» of the assignment instead",
    ),
    _refused(
        "gradebook",
        "Gradebooks of Canvas, Blackboard, Brightspace and Moodle",
        "The grades of a course: points per test, no answers",
        _is_gradebook,
        "the columns are named like those of a gradebook",
        "a gradebook: the points of whole tests, without answers",
        "export the answers of one test instead (the report of its attempts or responses)",
    ),
    _refused(
        "toloka-aggregated",
        "Toloka, aggregated results",
        "One answer per task with a confidence, no workers",
        _columns("confidence:.*", "output:.*"),
        "answers have a confidence and no worker",
        "Toloka's aggregated results: one answer per task, no workers",
        "download the assignments of the pool instead",
    ),
    _refused(
        "figure-eight-aggregated",
        "Figure Eight (CrowdFlower), aggregated",
        "One answer per unit with a confidence, no workers",
        _columns("_unit_id", ".*:confidence", without="_worker_id$"),
        "answers have a confidence and no worker",
        "Figure Eight's aggregated report: one answer per unit, no workers",
        "download the full report instead",
        tried="a report on tweets",
    ),
    _refused(
        "ground-truth-manifest",
        "Amazon SageMaker Ground Truth, output manifest",
        "«output.manifest»: one label per object with a confidence, no workers",
        _is_manifest,
        "an object has a label and its metadata",
        "Ground Truth's output manifest: one label per object, no workers",
        "give the folder annotations/worker-response of the job instead",
    ),
    _refused(
        "lm-eval-results",
        "lm-evaluation-harness, results",
        "«results_<time>.json»: scores per task, no answers",
        _is_lm_eval,
        "results by task, with the configuration of the run",
        "lm-eval's results: scores per task, no answers",
        "run lm_eval with --log_samples and give the samples_*.jsonl files",
        tried="the results of a run",
    ),
)
