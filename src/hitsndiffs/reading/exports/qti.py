"""QTI results (TAO and other test platforms): an XML file per person and test."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports.base import Choices, Document, Sample, Sign
from hitsndiffs.reading.exports.common import attempt_number, number, stem_of_name
from hitsndiffs.reading.exports.format import Format, Given, Stream

__all__ = ["FORMATS"]

#: In 2.1, 2.2 and 3.0 the namespace ends differently.
_NAMESPACE = "http://www.imsglobal.org/xsd/imsqti_result_v"
#: Variables that every item has besides the answer.
_ABOUT = ("numAttempts", "duration")
#: What people choose: one option, or several. Pairs, points and files are no choices.
_CHOSEN = ("identifier", "boolean", "integer", "string", "")


def _is_result(sample: Sample) -> bool:
    return sample.kind == "text" and "assessmentResult" in sample.text and _NAMESPACE in sample.text


def _answers(document: Document, _: Choices, __: Stream) -> Iterator[Given]:
    text = document.text()
    if "<!ENTITY" in text:
        raise InputError(f"{document.name}: entities in XML are not read; remove them.")
    try:
        root = ElementTree.fromstring(text)  # decoded: the encoding that it names is past
    except ElementTree.ParseError as error:
        raise InputError(f"{document.name}: this is not valid XML ({error}).") from None
    context = root.find("{*}context")
    session = root.find("{*}context/{*}sessionIdentifier")
    named = [] if context is None else [context.get("sourcedId")]
    named += [] if session is None else [session.get("identifier")]
    person = next(filter(None, named), None) or stem_of_name(document.name)
    for item in root.iterfind("{*}itemResult"):
        found = [
            v for v in item.iterfind("{*}responseVariable") if v.get("identifier") not in _ABOUT
        ]
        outcomes = {
            v.get("identifier"): next(iter(_values(v, "{*}value")), "")
            for v in item.iterfind("{*}outcomeVariable")
        }
        tried = item.find("{*}responseVariable[@identifier='numAttempts']/{*}candidateResponse")
        for own in found:
            if own.get("baseType", "") not in _CHOSEN:
                continue
            name = item.get("identifier", "")
            yield Given(
                person,
                name if len(found) == 1 else f"{name}.{own.get('identifier')}",
                _values(own, "{*}candidateResponse/{*}value"),
                key=_values(own, "{*}correctResponse/{*}value"),
                attempt=1 if tried is None else attempt_number("".join(tried.itertext())),
                points=number(outcomes.get("SCORE", "")) if len(found) == 1 else None,
                possible=number(outcomes.get("MAXSCORE", "")) if len(found) == 1 else None,
                is_text=own.get("baseType") == "string",
            )


def _values(variable: ElementTree.Element, path: str) -> tuple[str, ...]:
    found = [text for one in variable.iterfind(path) if (text := (one.text or "").strip())]
    if variable.get("cardinality") == "multiple" and len(found) == 1:  # TAO: [a; b] in one value
        found = [text.strip() for text in found[0].strip("[]").split(";")]
    return tuple(filter(None, found))


QTI = Format(
    "qti-results",
    "QTI results (TAO and others)",
    "An assessmentResult as XML (2.1, 2.2, 3.0) per person and test; give the folder or the zip",
    (Sign("it is an assessmentResult of QTI", holds=_is_result),),
    _answers,
    empty=(
        "a QTI result without answers by choice",
        "only interactions with options can be ranked",
    ),
    key_from="the correct responses",
)

FORMATS = (QTI,)
