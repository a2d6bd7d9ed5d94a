"""Files of SPSS, Stata and SAS, read with pyreadstat (the extra ``stats``).

Where a variable has value labels, these are its options; the variable's own label is the wording of
the item. Values that the file declares as missing count as no answer.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.processes import Died, decoded
from hitsndiffs.errors import InputError, MissingExtraError
from hitsndiffs.reading.sizes import Sizes
from hitsndiffs.reading.tables.frames import text_of_value

if TYPE_CHECKING:
    import polars as pl

__all__ = ["program_of", "read_statistics"]

#: How the files of each program begin, and the function of pyreadstat that reads them. Files of
#: Stata 5 to 12 begin with a version, the order of bytes, and 1, 0.
_BEGINS = (
    (rb"\$FL[23]", "SPSS", "read_sav"),
    (rb"(?s).{40,240}ASCII SPSS PORT FILE", "SPSS (portable)", "read_por"),
    (rb"<stata_dta>|[\x69-\x73][\x01\x02]\x01\x00", "Stata", "read_dta"),
    (rb"\x00{12}\xc2\xea\x81\x60", "SAS", "read_sas7bdat"),
    (rb"HEADER RECORD\*{7}LIB", "SAS (transport)", "read_xport"),
)


def program_of(start: bytes) -> tuple[str, str] | None:
    """Return the program that wrote a file and the function that reads it, by its first bytes.

    >>> program_of(b"$FL2@(#) SPSS DATA FILE")[0], program_of(b"user,q1")
    ('SPSS', None)
    """
    for begins, program, function in _BEGINS:
        if re.match(begins, start):
            return program, function
    return None


def read_statistics(
    data: bytes, name: str, sizes: Sizes
) -> tuple[pl.DataFrame, dict[str, str], list[str]]:
    """Return the rows of a file given as its bytes, the wording of its columns, and notes."""
    found = program_of(data[:600])
    assert found is not None
    program, function = found
    if find_spec("pyreadstat") is None:
        raise MissingExtraError(
            f"{name}: this is a file of {program}; install what reads it with: pip install "
            "'hitsndiffs[stats]' (or save it as CSV, with the labels of the values)."
        )
    import polars as pl

    try:
        cells, labels, wording = decoded(decode_statistics, data, function, limit=sizes.held)
    except (RuntimeError, Died) as error:
        raise InputError(
            f"{name}: the {program} file is damaged or cut short ({error}); save it again, or save "
            "it as CSV."
        ) from None
    frame = pl.read_ipc_stream(io.BytesIO(cells))
    frame = frame.with_columns([_labelled(frame[n], labels[n]) for n in labels if n in frame])
    titles = {n: text.strip() for n, text in wording.items() if text}
    notes = ["The labels of the values are taken as the options."] if labels else []
    return frame, titles, notes


def decode_statistics(data: bytes, function: str) -> tuple[bytes, dict[str, Any], dict[str, str]]:
    """Return the frame, the labels of its values and those of its columns (in another process)."""
    import pyreadstat

    frame, about = getattr(pyreadstat, function)(io.BytesIO(data), output_format="polars")
    labels = {n: list(own.items()) for n, own in about.variable_value_labels.items()}
    out: io.BytesIO = frame.write_ipc_stream(None)
    return out.getvalue(), labels, about.column_names_to_labels


def _labelled(column: pl.Series, labels: Sequence[tuple[Any, str]]) -> pl.Series:
    """Return a column with labels in place of the values that have any."""
    import polars as pl

    from hitsndiffs.data.factor import text_of

    places = {text_of_value(value): str(label).strip() for value, label in labels}
    texts = [None if text is None else places.get(text, text) for text in text_of(column).to_list()]
    return pl.Series(column.name, texts, dtype=pl.String)
