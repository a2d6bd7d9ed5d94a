"""Every fixture through the whole reader: users, items, options, key, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest
from formats.cases import CASES, PLAIN, made
from formats.table import found, wanted
from test_formats import written

import hitsndiffs as hnd
from hitsndiffs.errors import InputError
from hitsndiffs.reading.exports import FORMATS

READ = [name for name in CASES if made(name).refused is None]
REFUSED = [name for name in CASES | PLAIN if made(name).refused is not None]


@pytest.mark.parametrize("name", READ)
def test_a_fixture_is_read_as_it_was_made(name, tmp_path):
    example = made(name)
    plan = hnd.plan(written(example, tmp_path))
    assert found(plan.read()) == wanted(example)
    assert plan.format == CASES[name][0]
    assert plan.why
    told = "\n".join([str(plan), *plan.notes])
    for part in example.left_out:
        assert part in told


@pytest.mark.parametrize("name", [name for name in PLAIN if made(name).refused is None])
def test_a_table_that_no_tool_signs_is_read_as_it_was_made(name, tmp_path):
    example = made(name)
    plan = hnd.plan(written(example, tmp_path))
    assert found(plan.read()) == wanted(example)
    assert plan.format == PLAIN[name][0]


@pytest.mark.parametrize("name", REFUSED)
def test_a_fixture_is_refused_with_its_name(name, tmp_path):
    example = made(name)
    path = written(example, tmp_path)
    with pytest.raises(InputError, match=example.refused):
        hnd.plan(path).read()


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


def test_the_page_of_formats_names_every_fixture():
    text = (Path(__file__).parents[1] / "docs" / "formats.md").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.endswith(("| yes |", "| no |"))]
    assert [line.split(" | ")[1] for line in lines] == [*CASES, *PLAIN]
    assert all(line.endswith("| yes |") for line in lines)
    for format in FORMATS:
        assert f"| `{format.name}` | {format.title} |" in text
