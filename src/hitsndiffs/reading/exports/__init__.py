"""The exports that are recognised, the more specific ones first."""

from __future__ import annotations

from hitsndiffs.reading.exports.annotations import (
    ARGILLA,
    DOCCANO,
    GROUND_TRUTH,
    LABEL_STUDIO,
    LABEL_STUDIO_FLAT,
    LABELBOX,
    PRODIGY,
    ZOONIVERSE,
)
from hitsndiffs.reading.exports.base import Format
from hitsndiffs.reading.exports.classroom import (
    KAHOOT,
    QUESTION_BLOCKS,
    SCANNED_FORMS,
    SCANTRON,
    ZIPGRADE,
)
from hitsndiffs.reading.exports.forms import GOOGLE_FORMS, MICROSOFT_FORMS
from hitsndiffs.reading.exports.helm import HELM
from hitsndiffs.reading.exports.inspect_ai import INSPECT
from hitsndiffs.reading.exports.judged import FIGURE_EIGHT, MTURK, TOLOKA
from hitsndiffs.reading.exports.lm_eval import LM_EVAL
from hitsndiffs.reading.exports.lms import (
    BLACKBOARD,
    BRIGHTSPACE,
    BRIGHTSPACE_SURVEY,
    CANVAS,
    CANVAS_NEW,
    GRADESCOPE,
    ILIAS,
)
from hitsndiffs.reading.exports.models import (
    EVALSCOPE,
    LIGHTEVAL,
    MMLU,
    MMLU_PRO,
    OPENAI_EVALS,
    OPENCOMPASS,
    PROMPTFOO,
)
from hitsndiffs.reading.exports.moodle import MOODLE
from hitsndiffs.reading.exports.predictions import ANSWERS_BY_ID, PREDICTIONS
from hitsndiffs.reading.exports.qti import QTI
from hitsndiffs.reading.exports.refused import REFUSED
from hitsndiffs.reading.exports.surveys import LIMESURVEY, OTREE, QUALTRICS, SURVEY_MONKEY

__all__ = ["FORMATS", "find_format"]

FORMATS: tuple[Format, ...] = (
    # tests
    CANVAS,
    CANVAS_NEW,
    MOODLE,
    MICROSOFT_FORMS,
    GOOGLE_FORMS,
    BLACKBOARD,
    BRIGHTSPACE,
    BRIGHTSPACE_SURVEY,
    QUALTRICS,
    SURVEY_MONKEY,
    LIMESURVEY,
    OTREE,
    ZIPGRADE,
    SCANTRON,
    SCANNED_FORMS,
    KAHOOT,
    GRADESCOPE,
    ILIAS,
    QTI,
    QUESTION_BLOCKS,
    # crowd labels
    MTURK,
    TOLOKA,
    LABEL_STUDIO,
    LABEL_STUDIO_FLAT,
    PRODIGY,
    LABELBOX,
    ZOONIVERSE,
    FIGURE_EIGHT,
    DOCCANO,
    ARGILLA,
    GROUND_TRUTH,
    # language models
    LM_EVAL,
    INSPECT,
    HELM,
    OPENAI_EVALS,
    OPENCOMPASS,
    LIGHTEVAL,
    PROMPTFOO,
    EVALSCOPE,
    MMLU,
    MMLU_PRO,
    PREDICTIONS,
    ANSWERS_BY_ID,
    # reports without answers
    *REFUSED,
)


def find_format(name: str) -> Format | None:
    """Return the format with this name, or None."""
    return next((format for format in FORMATS if format.name == name), None)
