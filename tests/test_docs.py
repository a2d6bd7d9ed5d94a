"""The documentation, checked without building it: lists, links, commands, names, files.

``make docs`` builds it, runs every example, and takes warnings for errors.
"""

from __future__ import annotations

import ast
import fnmatch
import os
import re
import runpy
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import hitsndiffs as hnd
from hitsndiffs.cli.app import app_of

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = {
    path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(DOCS.rglob("*.md"))
    if "_build" not in path.parts
}
README = (ROOT / "README.md").read_text(encoding="utf-8")
TEXTS = {"README": README, **PAGES}

FENCE = re.compile(r"^(`{3,})(.*?)\n(.*?)^\1\s*$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
MACHINE = re.compile(r"(?<![\w.])/(?:work|home|root|tmp|Users)/\w")


def listed(page: str) -> Iterator[str]:
    """The pages that a page's toctrees name; patterns may match nothing."""
    folder = Path(page).parent
    for _, opening, body in FENCE.findall(PAGES[page]):
        if not opening.startswith("{toctree}"):
            continue
        for line in body.splitlines():
            if not line.strip() or line.startswith(":"):
                continue
            name = os.path.normpath(folder / line.strip())
            if ":glob:" in body and "*" in name:
                yield from fnmatch.filter(PAGES, name)
            else:
                yield name


def test_every_page_is_in_a_list() -> None:
    found, waiting = {"index"}, ["index"]
    while waiting:
        for name in listed(waiting.pop()):
            assert name in PAGES, f"{name} is in a list, and there is no such page"
            if name not in found:
                found.add(name)
                waiting.append(name)
    assert found == set(PAGES)


def slug(heading: str) -> str:
    text = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


@pytest.mark.parametrize("page", TEXTS)
def test_links_lead_somewhere(page: str) -> None:
    text = CODE.sub("", FENCE.sub("", TEXTS[page]))
    folder = ROOT if page == "README" else (DOCS / page).parent
    for target in LINK.findall(text):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        there = (folder / path).resolve() if path else (folder / f"{Path(page).name}.md").resolve()
        assert there.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(slug, headings), f"{page}: {target}"


def test_tests_named_in_the_pages_exist() -> None:
    named = re.compile(r"`(?:tests/)?(test_\w+\.py|…)(?:::(test_\w+))?")
    found = [(page, *each) for page, text in PAGES.items() for each in named.findall(text)]
    assert len(found) > 20
    text = ""
    for page, file, name in found:
        text = text if file == "…" else (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not name or f"def {name}(" in text, f"{page}: {name}"


def test_files_named_in_the_readme_exist() -> None:
    for name in re.findall(r"`((?:docs|examples|benchmarks)/[\w./-]+\w)`", README):
        assert (ROOT / name).exists(), name


# -- commands ---------------------------------------------------------------------------------

PROGRAM: Any = typer.main.get_command(app_of())


def options(command: Any) -> set[str]:
    named = {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
    return {name for name in named if name.startswith("-")} | {"--help", "-h"}


def commands(text: str) -> Iterator[list[str]]:
    """The words of each ``hnd`` command in a text, up to a pipe or the end of the line."""
    lines = [line for _, opening, body in FENCE.findall(text) for line in body.splitlines()]
    lines += [code.replace("\n", " ") for code in CODE.findall(FENCE.sub("", text))]
    for line in lines:
        found = re.match(r"^\$?\s*hnd (\S.*)$", line.strip())
        if found:
            yield shlex.split(re.split(r" [|>#] ?|  +#", found[1])[0])


@pytest.mark.parametrize("page", TEXTS)
def test_commands_and_their_options_exist(page: str) -> None:
    for words in commands(TEXTS[page]):
        name = next((word for word in words if not word.startswith("-")), None)
        if name is not None:
            assert name in PROGRAM.commands, f"{page}: hnd {' '.join(words)}"
        known = options(PROGRAM.commands[name] if name else PROGRAM)
        for word in words:
            if re.match(r"--?[a-z]", word):
                assert word.partition("=")[0] in known, f"{page}: hnd {' '.join(words)}"


#: Pages whose options are those of other programs of the repository.
OF_OTHERS = {"performance", "reliability", "reproduction", "scaling"}


@pytest.mark.parametrize("page", sorted(TEXTS.keys() - OF_OTHERS))
def test_options_named_alone_exist(page: str) -> None:
    known = set[str]().union(*map(options, (PROGRAM, *PROGRAM.commands.values())))
    known |= {"--install-completion"}
    for code in CODE.findall(FENCE.sub("", TEXTS[page])):
        if code.startswith("--"):
            assert code.split()[0].partition("=")[0] in known, f"{page}: {code}"


# -- Python -----------------------------------------------------------------------------------


@pytest.mark.parametrize("page", TEXTS)
def test_python_in_the_pages_is_python(page: str) -> None:
    for _, opening, body in FENCE.findall(TEXTS[page]):
        if opening in ("python", "{code-cell}"):
            lines = [line for line in body.splitlines() if not line.startswith((":tags:", "%"))]
            ast.parse("\n".join(lines))


def test_the_page_of_names_has_all_public_names() -> None:
    shown = set(re.findall(r"(?:auto\w+|py:data):: (\w+)$", PAGES["api"], re.M))
    wanted = {name for name in hnd.__all__ if name != "__version__"}
    wanted |= {cls.__name__ for cls in hnd.METHODS.values()}
    assert shown == wanted


def test_the_pictures_have_all_methods() -> None:
    assert [name for name in hnd.METHODS if f"`{name}`" not in PAGES["pictures"]] == []


# -- files ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [*sorted(DOCS.rglob("*.md")), *sorted(DOCS.rglob("*.py")), ROOT / "README.md"]
)
def test_no_paths_of_a_machine(path: Path) -> None:
    assert MACHINE.findall(path.read_text(encoding="utf-8")) == []


def test_every_picture_is_used() -> None:
    text = "\n".join(TEXTS.values())
    unused = [path.name for path in (DOCS / "images").iterdir() if path.name not in text]
    assert unused == []


def test_example_files_are_the_same_each_time(tmp_path: Path) -> None:
    make = runpy.run_path(str(DOCS / "example_files.py"))
    contents = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        make["make_all"](folder)
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        contents.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert contents[0] == contents[1]
    r = hnd.read_responses(tmp_path / "first" / "class.csv")
    key = hnd.read_key(tmp_path / "first" / "class-key.csv", r)
    right = make["Test"].of(students=36, questions=20, seed=12).key
    assert [item for item in key if key[item] != right[item]] == ["q12"]


def test_the_labels_of_the_crowd_are_right() -> None:
    make = runpy.run_path(str(DOCS / "example_files.py"))
    r = hnd.read_responses(ROOT / "examples" / "crowd.csv")
    told = hnd.rank(r, method="true-answer", key=make["crowd_key"]())
    assert hnd.accuracy(told.scores, hnd.rank(r, method="majority").scores) > 0.7


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ('<script src="https://cdn.example/x.js"></script>', True),
        ('<link rel="stylesheet" href="//fonts.example/a.css">', True),
        ('<img alt="x" src="http://example/a.png">', True),
        ('<script src="_static/x.js"></script><img src="a.png">', False),
        ('<a href="https://example.org">there</a>', False),
        ('<link rel="canonical" href="https://example.org/x.html">', False),
    ],
)
def test_what_a_page_loads_from_outside_is_found(text: str, loads: bool) -> None:
    outside = runpy.run_path(str(DOCS / "_ext" / "self_contained.py"))["outside"]
    assert bool(outside(text)) is loads


def test_what_a_style_loads_from_outside_is_found() -> None:
    outside = runpy.run_path(str(DOCS / "_ext" / "self_contained.py"))["outside"]
    assert outside("@font-face { src: url(https://fonts.example/a.woff2) }", style=True)
    assert not outside("a { background: url('local.png') }", style=True)


@pytest.mark.parametrize(
    ("name", "make"), [("panel", "make_panel"), ("concept", "make_concept_test")]
)
def test_the_examples_in_words_come_out_right_after_asking(
    name: str, make: str, tmp_path: Path
) -> None:
    """A right ranking by confusion matrices stays, and a misconception is mended."""
    runpy.run_path(str(DOCS / "example_files.py"))[make](tmp_path)
    responses = hnd.read_responses(tmp_path / f"{name}.csv")
    key = hnd.read_key(tmp_path / f"{name}-key.csv", responses)
    truth = hnd.rank(responses, "true-answer", key=key).scores
    asked = [question.item for question in hnd.rank(responses).ask(2)]
    told = hnd.rank(responses, answers={item: key[item] for item in asked})
    assert hnd.accuracy(truth, told.scores) > 0.8
