"""The export formats that are recognised, one small file each; more specific ones come first."""

from __future__ import annotations

from hitsndiffs.reading.exports.base import Format
from hitsndiffs.reading.exports.blackboard import BLACKBOARD
from hitsndiffs.reading.exports.brightspace import BRIGHTSPACE, BRIGHTSPACE_SURVEY
from hitsndiffs.reading.exports.canvas import CANVAS, CANVAS_ITEMS
from hitsndiffs.reading.exports.canvas_new import CANVAS_NEW
from hitsndiffs.reading.exports.doccano import DOCCANO
from hitsndiffs.reading.exports.figure_eight import FIGURE_EIGHT, FIGURE_EIGHT_AGGREGATED
from hitsndiffs.reading.exports.google_forms import GOOGLE_FORMS
from hitsndiffs.reading.exports.gradebook import GRADEBOOK
from hitsndiffs.reading.exports.gradescope import GRADESCOPE, GRADESCOPE_SCORES
from hitsndiffs.reading.exports.ground_truth import GROUND_TRUTH, GROUND_TRUTH_MANIFEST
from hitsndiffs.reading.exports.helm import HELM
from hitsndiffs.reading.exports.inspect_ai import INSPECT
from hitsndiffs.reading.exports.kahoot import KAHOOT
from hitsndiffs.reading.exports.label_studio import LABEL_STUDIO, LABEL_STUDIO_FLAT
from hitsndiffs.reading.exports.labelbox import LABELBOX
from hitsndiffs.reading.exports.lighteval import LIGHTEVAL
from hitsndiffs.reading.exports.lm_eval import LM_EVAL, LM_EVAL_RESULTS
from hitsndiffs.reading.exports.microsoft_forms import MICROSOFT_FORMS
from hitsndiffs.reading.exports.mmlu import MMLU
from hitsndiffs.reading.exports.mmlu_pro import MMLU_PRO
from hitsndiffs.reading.exports.moodle import MOODLE, MOODLE_GRADES
from hitsndiffs.reading.exports.mturk import MTURK
from hitsndiffs.reading.exports.nested_json import NESTED_JSON
from hitsndiffs.reading.exports.openai_evals import OPENAI_EVALS
from hitsndiffs.reading.exports.opencompass import OPENCOMPASS
from hitsndiffs.reading.exports.prodigy import PRODIGY
from hitsndiffs.reading.exports.qualtrics import QUALTRICS
from hitsndiffs.reading.exports.question_blocks import QUESTION_BLOCKS
from hitsndiffs.reading.exports.scantron import SCANTRON
from hitsndiffs.reading.exports.survey_monkey import SURVEY_MONKEY
from hitsndiffs.reading.exports.toloka import TOLOKA, TOLOKA_AGGREGATED
from hitsndiffs.reading.exports.zipgrade import ZIPGRADE, ZIPGRADE_SUMMARY
from hitsndiffs.reading.exports.zooniverse import ZOONIVERSE

__all__ = ["FORMATS", "find_format"]

FORMATS: tuple[Format, ...] = (
    # tests
    CANVAS,
    CANVAS_NEW,
    CANVAS_ITEMS,
    MOODLE_GRADES,
    MOODLE,
    MICROSOFT_FORMS,
    GOOGLE_FORMS,
    BLACKBOARD,
    BRIGHTSPACE,
    BRIGHTSPACE_SURVEY,
    QUALTRICS,
    SURVEY_MONKEY,
    ZIPGRADE,
    ZIPGRADE_SUMMARY,
    SCANTRON,
    KAHOOT,
    GRADESCOPE,
    GRADESCOPE_SCORES,
    GRADEBOOK,
    QUESTION_BLOCKS,
    # crowd labels
    MTURK,
    TOLOKA,
    TOLOKA_AGGREGATED,
    LABEL_STUDIO,
    LABEL_STUDIO_FLAT,
    PRODIGY,
    LABELBOX,
    ZOONIVERSE,
    FIGURE_EIGHT,
    FIGURE_EIGHT_AGGREGATED,
    DOCCANO,
    GROUND_TRUTH,
    GROUND_TRUTH_MANIFEST,
    # language models
    LM_EVAL,
    LM_EVAL_RESULTS,
    INSPECT,
    HELM,
    OPENAI_EVALS,
    OPENCOMPASS,
    LIGHTEVAL,
    MMLU,
    MMLU_PRO,
    # what scripts write
    NESTED_JSON,
)


def find_format(name: str) -> Format | None:
    """Return the format with this name, or None."""
    return next((format for format in FORMATS if format.name == name), None)
