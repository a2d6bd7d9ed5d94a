"""Progress: told to whoever watches, shown only where somebody looks, gone at the end."""

from __future__ import annotations

import io
import sys
import time
import types
from typing import Any

import pytest
from commands import QUIZ, Here
from factory import make_responses, random_table

import hitsndiffs as hnd
from hitsndiffs.data import progress
from hitsndiffs.data.progress import (
    NotebookWatch,
    Stage,
    TerminalWatch,
    Watch,
    step,
    tracked,
    watched,
    working,
)


class Noting(Watch):
    """Remembers every line, and whether it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.closed = 0

    def changed(self) -> None:
        self.lines.append(self.line())

    def close(self) -> None:
        self.closed += 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called by the test itself: between set-up and test, pytest puts its own streams back."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("HITSNDIFFS_PROGRESS", raising=False)
    return stream


def wait_for(text: str, stream: io.StringIO) -> None:
    deadline = time.monotonic() + 10
    while text not in stream.getvalue() and time.monotonic() < deadline:
        time.sleep(0.02)


# -- the mechanism ----------------------------------------------------------------------------


def test_a_watch_sees_stages_and_steps() -> None:
    watch = Noting()
    with watched(watch), working("Ranking"):
        with working("auto"):
            assert list(tracked("ab", "trying starts")) == ["a", "b"]
        step("drawing")
    assert watch.lines == [
        "Ranking",
        "Ranking: auto",
        "Ranking: auto: trying starts, 0 of 2 done",
        "Ranking: auto: trying starts, 1 of 2 done",
        "Ranking: auto",
        "Ranking",
        "Ranking: drawing",
        "",
    ]
    assert watch.closed == 1


def test_without_a_watch_nothing_happens(capsys: pytest.CaptureFixture[str]) -> None:
    with working("Waiting"):
        step("still", 1, 2)
        assert list(tracked(range(3), "counting")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_an_error_ends_every_stage_and_nobody_watches_afterwards() -> None:
    watch = Noting()
    with pytest.raises(KeyboardInterrupt), watched(watch), working("a"), working("b"):
        raise KeyboardInterrupt
    assert (watch.stages, watch.closed) == ([], 1)
    seen = list(watch.lines)
    with working("later"):
        step("x")
    assert watch.lines == seen


@pytest.mark.parametrize(
    ("done", "seconds", "left"),
    [(1, 100.0, None), (2, 0.5, None), (2, 10.0, 40.0), (5, 10.0, 10.0), (10, 10.0, None)],
)
def test_the_time_left_is_that_of_the_pace_so_far(
    done: int, seconds: float, left: float | None
) -> None:
    assert Stage("x", "y", done=done, total=10, since=5.0).remaining(now=5.0 + seconds) == left


def test_the_line_says_what_the_time_is_for() -> None:
    watch = Watch()
    long_ago = time.monotonic() - 100
    counted = Stage("latent-key", "starts", done=5, total=10, since=long_ago)
    watch.stages = [Stage("Ranking"), counted]
    assert watch.line() == (
        "Ranking: latent-key: starts, 5 of 10 done, about 2 min left for this step"
    )
    watch.stages = [counted]
    assert watch.line().endswith("about 2 min left")


def test_ranking_tells_its_stages() -> None:
    watch = Noting()
    with watched(watch):
        hnd.rank(hnd.read_responses(QUIZ), bootstrap=2)
    told = "\n".join(watch.lines)
    for words in ("Reading", "Ranking: auto: comparing readings"):
        assert words in told
    assert "half of the items, 1 of 2 done" in told


def test_comparing_counts_the_methods() -> None:
    watch = Noting()
    with watched(watch):
        hnd.compare(make_responses(random_table(0, 12, 6, 3)), ["hnd", "majority"])
    assert "Comparing: hnd, 0 of 2 done" in watch.lines
    assert "Comparing: majority, 1 of 2 done" in watch.lines


def test_results_do_not_depend_on_being_watched() -> None:
    r = make_responses(random_table(0, 30, 12, 3))
    with watched(Noting()):
        seen = hnd.rank(r)
    assert (seen.scores == hnd.rank(r).scores).all()


# -- the terminal -----------------------------------------------------------------------------


def test_slow_work_shows_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with watched(TerminalWatch(patience=0.0)), working("Waiting"):
        step("for the bus", 1, 3)
        wait_for("for the bus", terminal)
    assert "Waiting: for the bus, 1 of 3 done" in terminal.getvalue()


def test_quick_or_quiet_work_shows_none(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with working("Waiting", told=True):
        pass
    monkeypatch.setattr(progress.TerminalWatch, "changed", lambda self: 1 / 0)
    with working("Waiting", quiet=True, told=True):
        step("x")
    assert terminal.getvalue() == ""


@pytest.mark.parametrize(
    ("told", "prompt", "variables", "shown"),
    [
        (True, False, {}, True),
        (False, False, {}, False),  # a script
        (False, True, {}, True),
        (True, False, {"HITSNDIFFS_PROGRESS": "off"}, False),
        (True, True, {"TERM": "dumb"}, False),
    ],
)
def test_progress_is_shown_to_commands_and_at_the_prompt(
    monkeypatch: pytest.MonkeyPatch, told: bool, prompt: bool, variables: dict, shown: bool
) -> None:
    assert progress._find_watch(told=True) is None  # a pipe
    open_terminal(monkeypatch)
    if prompt:
        monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert isinstance(progress._find_watch(told), TerminalWatch) == shown


def test_a_pipe_gets_nothing_but_the_result(capsys: pytest.CaptureFixture[str]) -> None:
    done = Here(capsys)("rank", QUIZ, "--quiet")
    assert done.err == ""
    assert "\x1b" not in done.out


# -- the notebook -----------------------------------------------------------------------------


class Displayed:
    """What a notebook shows: one line that is rewritten."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def display(self, bundle: dict[str, str], raw: bool, display_id: bool) -> Displayed:
        assert raw
        assert display_id
        self.lines.append(bundle["text/plain"])
        return self

    def update(self, bundle: dict[str, str], raw: bool) -> None:
        self.lines.append(bundle["text/plain"])


def in_notebook(monkeypatch: pytest.MonkeyPatch) -> Displayed:
    shown = Displayed()
    shell = types.SimpleNamespace(kernel=object())
    package: Any = types.ModuleType("IPython")
    package.get_ipython = lambda: shell
    module: Any = types.ModuleType("IPython.display")
    module.display = shown.display
    package.display = module
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", module)
    return shown


def test_a_notebook_shows_one_line_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = in_notebook(monkeypatch)
    with working("Ranking"):  # quick work shows nothing
        step("trying starts", 1, 7)
    assert shown.lines == []
    assert isinstance(progress._find_watch(told=False), NotebookWatch)
    with watched(NotebookWatch(patience=0.0, pause=0.0)), working("Ranking"):
        step("trying starts", 1, 7)
    assert shown.lines == ["Ranking", "Ranking: trying starts, 1 of 7 done", ""]
