"""The exports that are recognised: the first format whose signs a file shows is the one it has."""

from __future__ import annotations

from hitsndiffs.reading.exports import (
    blocks,
    classroom,
    forms,
    judged,
    labelling,
    lm_eval,
    lms,
    models,
    moodle,
    predictions,
    refused,
    runs,
    surveys,
)
from hitsndiffs.reading.exports.format import Format

__all__ = ["ANY_TOOL", "FORMATS", "find_format"]

#: What scripts and tools of all kinds write: only where no format of one tool fits.
ANY_TOOL: tuple[Format, ...] = (*blocks.FORMATS, *predictions.FORMATS)

FORMATS: tuple[Format, ...] = (
    # tests
    *lms.FORMATS,
    *moodle.FORMATS,
    *forms.FORMATS,
    *surveys.FORMATS,
    *classroom.FORMATS,
    # crowd labels
    *judged.FORMATS,
    *labelling.FORMATS,
    # language models
    *lm_eval.FORMATS,
    *runs.FORMATS,
    *models.FORMATS,
    # reports without answers
    *refused.FORMATS,
    *ANY_TOOL,
)


def find_format(name: str) -> Format | None:
    """Return the format with this name, or None."""
    return next((format for format in FORMATS if format.name == name), None)
