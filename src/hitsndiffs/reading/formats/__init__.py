"""The export formats that are recognised, one small file each; more specific ones come first."""

from __future__ import annotations

from hitsndiffs.reading.formats.base import Format
from hitsndiffs.reading.formats.blackboard import BLACKBOARD
from hitsndiffs.reading.formats.brightspace import BRIGHTSPACE, BRIGHTSPACE_SURVEY
from hitsndiffs.reading.formats.canvas import CANVAS, CANVAS_ITEMS
from hitsndiffs.reading.formats.canvas_new import CANVAS_NEW
from hitsndiffs.reading.formats.doccano import DOCCANO
from hitsndiffs.reading.formats.figure_eight import FIGURE_EIGHT, FIGURE_EIGHT_AGGREGATED
from hitsndiffs.reading.formats.google_forms import GOOGLE_FORMS
from hitsndiffs.reading.formats.gradebook import GRADEBOOK
from hitsndiffs.reading.formats.gradescope import GRADESCOPE, GRADESCOPE_SCORES
from hitsndiffs.reading.formats.ground_truth import GROUND_TRUTH, GROUND_TRUTH_MANIFEST
from hitsndiffs.reading.formats.helm import HELM
from hitsndiffs.reading.formats.inspect_ai import INSPECT
from hitsndiffs.reading.formats.kahoot import KAHOOT
from hitsndiffs.reading.formats.label_studio import LABEL_STUDIO, LABEL_STUDIO_FLAT
from hitsndiffs.reading.formats.labelbox import LABELBOX
from hitsndiffs.reading.formats.lighteval import LIGHTEVAL
from hitsndiffs.reading.formats.lm_eval import LM_EVAL, LM_EVAL_RESULTS
from hitsndiffs.reading.formats.microsoft_forms import MICROSOFT_FORMS
from hitsndiffs.reading.formats.mmlu import MMLU
from hitsndiffs.reading.formats.mmlu_pro import MMLU_PRO
from hitsndiffs.reading.formats.moodle import MOODLE, MOODLE_GRADES
from hitsndiffs.reading.formats.mturk import MTURK
from hitsndiffs.reading.formats.nested_json import NESTED_JSON
from hitsndiffs.reading.formats.openai_evals import OPENAI_EVALS
from hitsndiffs.reading.formats.opencompass import OPENCOMPASS
from hitsndiffs.reading.formats.prodigy import PRODIGY
from hitsndiffs.reading.formats.qualtrics import QUALTRICS
from hitsndiffs.reading.formats.question_blocks import QUESTION_BLOCKS
from hitsndiffs.reading.formats.scantron import SCANTRON
from hitsndiffs.reading.formats.survey_monkey import SURVEY_MONKEY
from hitsndiffs.reading.formats.toloka import TOLOKA, TOLOKA_AGGREGATED
from hitsndiffs.reading.formats.zipgrade import ZIPGRADE, ZIPGRADE_SUMMARY
from hitsndiffs.reading.formats.zooniverse import ZOONIVERSE

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
