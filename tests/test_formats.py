"""Every format: files made by our own code, read back to who chose what, and what is right."""

from __future__ import annotations

import pytest
from formats.cases import CASES, made
from formats.quiz import Made

from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports import ANY_TOOL, FORMATS, find_format
from hitsndiffs.reading.exports.base import Choices
from hitsndiffs.reading.exports.format import Stream
from hitsndiffs.reading.exports.per_file import name_users
from hitsndiffs.reading.files.documents import Settings
from hitsndiffs.reading.files.folders import FolderDocument, open_document


def written(example: Made, folder):
    """Write the files of an example; return the file, or the folder of several."""
    for name, data in example.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / next(iter(example.files)) if len(example.files) == 1 else folder


def matches(document):
    """All documents in a folder or an archive with their formats, the outermost first."""
    own = [format for format in FORMATS if format.recognise(document.sample) is not None]
    own = [format for format in own if format not in ANY_TOOL] or own
    if own:
        return [(document, own)]
    if isinstance(document, FolderDocument):
        inner = [*document.files(), *document.subfolders()]
    else:
        inner = document.members() if document.kind == "archive" else []
    return [match for one in inner for match in matches(one)]


def converted(path) -> tuple[Stream, list[str]]:
    """Read everything there is; return the stream and the names of the formats."""
    stream, names = Stream(), []
    refusals = []
    read = []
    for document, formats in matches(open_document(path, Settings())):
        assert len(formats) == 1, f"{document.name}: {[format.name for format in formats]}"
        try:
            read.append((document, formats[0].convert(document, Choices())))
            names.append(formats[0].name)
        except InputError as error:
            refusals.append(error)
    name_users(read)
    for _, own in read:
        stream.extend(own)
    if not names and refusals:
        raise refusals[0]
    return stream, names


def as_set(cell) -> frozenset[str]:
    return frozenset([cell] if isinstance(cell, str) else cell)


def said(stream: Stream) -> str:
    """Everything that the stream says was left out or assumed."""
    rows = [f"{rows.count} {rows.what} {rows.reason}" for rows in stream.left_out]
    columns = [f"{column.name} {column.role} {column.reason}" for column in stream.columns]
    return "\n".join([*stream.notes, *rows, *columns])


@pytest.mark.parametrize("name", [name for name in CASES if made(name).refused is None])
def test_a_fixture_gives_who_chose_what(name, tmp_path):
    example = made(name)
    stream, formats = converted(written(example, tmp_path))
    assert set(formats) == {CASES[name][0]}
    first: dict[tuple[str, str], tuple[int, frozenset[str]]] = {}
    for one in stream.entries:
        if one.status == "answered":
            place = (one.person, one.item)
            if place not in first or one.attempt < first[place][0]:
                first[place] = (one.attempt, frozenset(text.strip() for text in one.answer))
    found = {place: answer for place, (_, answer) in first.items()}
    assert found == {place: as_set(cell) for place, cell in example.answers.items() if cell}
    keys = {(one.item, frozenset(one.key)) for one in stream.entries if one.key}
    if keys or not any(one.points is not None for one in stream.entries):
        assert keys == {(item, as_set(key)) for item, key in example.key.items()}
    assert bool(keys) == bool(stream.key_from)


@pytest.mark.parametrize("name", [name for name in CASES if made(name).refused is not None])
def test_what_cannot_be_ranked_is_refused_in_a_sentence(name, tmp_path):
    example = made(name)
    assert example.refused is not None
    with pytest.raises(InputError) as error:
        converted(written(example, tmp_path))
    text = str(error.value)
    assert example.refused in text
    assert text.startswith("this is ")
    assert "; " in text
    assert text.endswith(".")


def test_every_format_has_a_fixture_and_a_name_of_its_own():
    names = [format.name for format in FORMATS]
    assert len(set(names)) == len(names)
    assert {format for format, _ in CASES.values()} == set(names)
    assert all(find_format(name) is not None for name in names)
    assert find_format("nothing") is None
