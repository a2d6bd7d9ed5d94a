"""Every format: files made by our own code are read back as they were made, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from formats.cases import CASES, PLAIN, made
from formats.quiz import Made
from formats.table import found, page, wanted

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports import ANY_TOOL, FORMATS, find_format
from hitsndiffs.reading.files.documents import FolderDocument, Settings, open_document

KNOWN = CASES | PLAIN


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


@pytest.mark.parametrize("name", CASES)
def test_a_file_shows_the_signs_of_its_format_and_of_no_other(name, tmp_path):
    found = [own for _, own in matches(open_document(written(made(name), tmp_path), Settings()))]
    assert all(len(own) == 1 for own in found)
    assert CASES[name][0] in {format.name for own in found for format in own}


@pytest.mark.parametrize("name", KNOWN)
def test_a_fixture_is_read_as_it_was_made_or_refused_in_a_sentence(name, tmp_path):
    example = made(name)
    path = written(example, tmp_path)
    if example.refused is not None:
        with pytest.raises(InputError, match=example.refused) as error:
            hnd.plan(path).read()
        assert str(error.value).endswith(".")
        return
    plan = hnd.plan(path)
    assert found(plan.read()) == wanted(example)
    assert plan.format == KNOWN[name][0]
    assert plan.why
    told = "\n".join([str(plan), *plan.notes])
    for part in example.left_out:
        assert part in told


def test_every_format_has_a_fixture_and_a_name_of_its_own():
    names = [format.name for format in FORMATS]
    assert len(set(names)) == len(names)
    assert {format for format, _ in CASES.values()} == set(names)
    assert all(find_format(name) is not None for name in names)
    assert find_format("nothing") is None


@pytest.mark.parametrize("name", ["canvas", "google-sheet", "brightspace"])
def test_another_attempt_can_be_chosen(name, tmp_path):
    path = written(made(name), tmp_path)
    first, last = (found(hnd.plan(path, attempt=which).read()) for which in ("first", "last"))
    assert first.users == last.users
    assert first.answers != last.answers


def test_the_caller_may_name_the_user(tmp_path):
    path = written(made("moodle-en"), tmp_path)
    users = hnd.plan(path, user="Email address").read().users.tolist()
    assert all("@" in user for user in users)
    with pytest.raises(InputError, match="there is no column 'Mail'"):
        hnd.plan(path, user="Mail").read()


def test_the_caller_may_name_the_question(tmp_path):
    path = written(made("zooniverse"), tmp_path)
    items = hnd.plan(path, option="T0").read().items.tolist()
    assert sorted(items) == [str(500 + t) for t in range(10)]


def test_the_caller_may_name_the_item(tmp_path):
    path = written(made("mturk"), tmp_path)
    items = hnd.plan(path, item="Input.image_url").read().items.tolist()
    assert all(item.startswith("https://") for item in items)


@pytest.mark.parametrize("name", ["moodle-en", "lm-eval", "canvas"])
def test_items_are_chosen_by_their_names(name, tmp_path):
    example = made(name)
    path = written(example, tmp_path)
    names = sorted(wanted(example).items)
    assert sorted(hnd.plan(path, items=names[:2]).read().items.tolist()) == names[:2]
    assert sorted(hnd.plan(path, drop=names[:2]).read().items.tolist()) == names[2:]


def test_one_model_of_a_folder_is_no_test(tmp_path):
    example = made("lm-eval")
    name = next(iter(example.files))
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    path.write_bytes(example.files[name])
    with pytest.raises(InputError, match=r"one|1 user"):
        hnd.plan(path).read()


def test_the_page_of_formats_is_as_it_would_be_made():
    path = Path(__file__).parents[1] / "docs" / "formats.md"
    assert path.read_text(encoding="utf-8") == page()
