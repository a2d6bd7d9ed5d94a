"""Signs of life: only on a terminal, and only when it takes long."""

from __future__ import annotations

import io
import sys
import time

import pytest

from hitsndiffs.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Called by the test itself: between set-up and test, pytest puts its own streams back."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    return stream


def test_nothing_is_shown_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.working("Waiting"):
        assert list(progress.track(range(3), "Counting")) == [0, 1, 2]
    assert capsys.readouterr() == ("", "")


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    assert list(progress.track(range(3), "Counting")) == [0, 1, 2]
    assert "Counting" in terminal.getvalue()
    assert "3/3" in terminal.getvalue()


def test_a_generator_needs_its_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    assert list(progress.track(iter("abc"), "Spelling", total=3)) == ["a", "b", "c"]
    assert "3/3" in terminal.getvalue()


def test_quiet_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with progress.working("Waiting", quiet=True):
        list(progress.track(range(3), "Counting", quiet=True))
    assert terminal.getvalue() == ""


def test_quick_work_shows_no_spinner(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with progress.working("Waiting"):
        pass
    assert terminal.getvalue() == ""


def test_slow_work_shows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.working("Waiting"):
        deadline = time.monotonic() + 10
        while "Waiting" not in terminal.getvalue() and time.monotonic() < deadline:
            time.sleep(0.02)
    assert "Waiting" in terminal.getvalue()


def test_an_error_ends_the_spinner(monkeypatch: pytest.MonkeyPatch) -> None:
    open_terminal(monkeypatch)
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with pytest.raises(ValueError, match="stop"), progress.working("Waiting"):
        raise ValueError("stop")
