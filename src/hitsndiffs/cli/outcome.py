"""How a command ends: exit codes, and one sentence where something went wrong."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

__all__ = ["in_options", "run"]

BROKEN = 1
UNUSABLE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

#: Parameters of the library that are options of the command, as its sentences spell them.
_PARAMETER = re.compile(
    r"\b(?P<name>user|item|option|items|drop|key_row|header_row|sheet|encoding|separator|attempt"
    r"|max_memory|layout|transpose|duplicates|format|answers|key|strong_user|group|reading|solver"
    r"|seed|engine|threads|by)=(?P<value>'[^']*'|\"[^\"]*\"|[\w-]+)?(?![\w=])"
)

#: The same, where they are what a sentence is about.
_SUBJECT = re.compile(
    r"(?:^|(?<=: ))(?P<name>layout|duplicates|format|seed|engine|threads|by|solver|attempt"
    r"|separator|key_row|header_row|max_memory)(?= (?:must be|takes) )"
)

#: Set by the shell when it wants to know how a line could go on.
COMPLETING = "_HND_COMPLETE"

REPORT = "This is a fault of the program, not of your data"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, and turn whatever happens into an exit code and a sentence."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in args
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal that knows no "±" still gets its table
            stream.reconfigure(errors="backslashreplace")
    _spare_threads(args)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_all if debug else _show
            code = _invoke(args or ["--help"])
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _say("interrupted; no file was changed.", INTERRUPTED)
    except BrokenPipeError:
        _forget_output()
        return PIPE_CLOSED
    except Exception as error:
        if debug:
            import traceback

            traceback.print_exc()
        return _say(*_sentence(error))
    return code


def _spare_threads(args: list[str]) -> None:
    """One thread for NumPy's small matrices: more are slower there, and much so on a busy machine.

    Large data have threads of their own (``hitsndiffs.engines``); ``reproduce`` times the paper's
    dense variants, and keeps what the machine has.
    """
    if "numpy" not in sys.modules and args[:1] != ["reproduce"]:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _invoke(args: list[str]) -> int:
    import typer

    from hitsndiffs.cli.app import app

    command: Any = typer.main.get_command(app)
    if COMPLETING in os.environ:  # the shell asks what could come next
        command(args, prog_name="hnd", standalone_mode=False)
        return 0
    try:
        with command.make_context("hnd", args) as context:
            command.invoke(context)
    except typer.Exit as over:
        return int(over.exit_code)
    return 0


def _sentence(error: Exception) -> tuple[str, int]:
    from hitsndiffs.errors import InputError

    if isinstance(error, InputError):
        return in_options(str(error)), UNUSABLE
    if hasattr(error, "format_message"):  # typer's usage errors, under any of its versions
        context = getattr(error, "ctx", None)
        page = context.command_path if context is not None else "hnd"
        said = error.format_message().rstrip(".")
        said += "" if said.endswith("?") else "."
        return f"{said} See: {page} --help", UNUSABLE
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror}.", UNUSABLE
    if isinstance(error, MemoryError):
        return "the data do not fit into memory.", BROKEN
    text = " ".join(str(error).split())
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{what}. {REPORT}; please report it with what --debug shows.", BROKEN


def in_options(sentence: str) -> str:
    """Name parameters as the command line does.

    >>> in_options("turn it (transpose=True for files), or use strong_user= or layout='long'.")
    'turn it (--transpose for files), or use --strong-user or --layout long.'
    >>> in_options("by must be one of correct, ability; got 'share'.")
    "--by must be one of correct, ability; got 'share'."
    """
    subjects = _SUBJECT.sub(lambda m: "--" + m["name"].replace("_", "-"), sentence)
    return _PARAMETER.sub(_as_option, subjects)


def _as_option(found: re.Match[str]) -> str:
    name, value = found["name"], (found["value"] or "").strip("'\"")
    option = "--answers" if name == "key" else f"--{name.replace('_', '-')}"
    return option if value in ("", "True") else f"{option} {value}"


def _say(sentence: str, code: int) -> int:
    try:
        print(f"hnd: {' '.join(sentence.split())}", file=sys.stderr)
    except BrokenPipeError:
        _forget_output()
    return code


def _forget_output() -> None:
    """Nobody reads any more: keep Python from writing what is left when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """One line for what concerns the user; what concerns the programmer waits for --debug."""
    if issubclass(category, UserWarning):
        _say(f"warning: {message}", 0)


def _show_all(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    _say(f"warning: {category.__name__}: {message}", 0)
