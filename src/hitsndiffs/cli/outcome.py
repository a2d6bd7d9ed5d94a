"""How a command ends: exit codes, and one sentence if something went wrong."""

from __future__ import annotations

import contextlib
import errno
import gc
import io
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import pairwise
from typing import Any

from hitsndiffs.cli.text import filled
from hitsndiffs.data.processes import safe_path
from hitsndiffs.data.words import suggestion
from hitsndiffs.errors import InputError, lacks_memory, printable

__all__ = ["run"]

BROKEN = 1
UNUSABLE = 2
INTERRUPTED = 130
PIPE_CLOSED = 141

#: Set by the shell when it asks for completions.
COMPLETING = "_HND_COMPLETE"

#: Garbage is collected after so many new objects: what starting makes stays (a tenth of the time
#: of a small file went into looking for garbage in it).
ROUNDS = (100_000, 10, 10)

REPORT = "This is a fault of the program, not of your data"


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line, and turn whatever happens into an exit code and a sentence."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    with safe_path():  # the current folder holds other people's files
        return _run(args)


def _run(args: list[str]) -> int:
    debug = "--debug" in args
    closed = _open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without "±" still gets its table
            stream.reconfigure(errors="backslashreplace")
    _spare_threads()
    gc.set_threshold(*ROUNDS)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_all if debug else _show
            code = _invoke(args or ["--help"])
        sys.stdout.flush()
        if closed is not None and closed.asked:
            raise InputError("standard output is closed: what was to be shown is lost.")
    except BrokenPipeError:
        _forget_output()
        return PIPE_CLOSED
    except (KeyboardInterrupt, Exception) as error:
        if _was_interrupted(error):
            return _say("interrupted; no file was changed.", INTERRUPTED)
        _forget_output()
        if debug:
            import traceback

            traceback.print_exc()
        return _say(*_sentence(error, args))
    return code


class _Nowhere(io.StringIO):
    """Replaces a closed stream: drops what is written, and records whether anything was."""

    asked = False

    def write(self, text: str) -> int:
        self.asked = self.asked or bool(text)
        return len(text)


def _open_streams() -> _Nowhere | None:
    """Replace closed standard streams.

    Their file numbers are occupied first: a file opened later could otherwise get one, and with
    it what a library prints there.
    """
    if sys.stdin is not None and sys.stdout is not None and sys.stderr is not None:
        return None
    while os.open(os.devnull, os.O_RDWR) <= 2:  # the last one stays open, which is harmless
        pass
    lost = None
    if sys.stdout is None:
        sys.stdout = lost = _Nowhere()
    if sys.stderr is None:
        sys.stderr = _Nowhere()
    return lost


def _spare_threads() -> None:
    """Give NumPy one thread: more are slower on small matrices, above all on a busy machine.

    Large data have their own threads (``hitsndiffs.engines``).
    """
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@cache
def _command(*names: str) -> Any:
    """Some commands (default: all) with their options."""
    import typer

    from hitsndiffs.cli.app import app_of

    built: Any = typer.main.get_command(app_of(*names))
    for command in (built, *built.commands.values()):
        command.get_params = partial(_described, command.get_params)
    return built


def _described(params: Callable[[Any], list[Any]], ctx: Any) -> list[Any]:
    """The parameters of a command, described without what only a programmer understands."""
    found = params(ctx)
    for parameter in found:
        if parameter.param_type_name == "argument":  # not {FILE…}..., nor <list[str]>
            parameter.display_type_rich = lambda ctx: None  # noqa: ARG005
            parameter._usage_display_name = partial(str, parameter.metavar)
        elif parameter.metavar is None:  # not <bool>
            parameter.metavar = ""
    return found


def _names_a_file(word: str) -> bool:
    """Whether the first word of a command line is a file to rank, and no command."""
    return not word.startswith("-") and (os.path.exists(word) or "." in word or os.sep in word)


def _invoke(args: list[str]) -> int:
    import typer

    from hitsndiffs.cli.app import COMMANDS

    if args[0] not in COMMANDS and _names_a_file(args[0]):
        args = ["rank", *args]
    command = _command(*args[:1]) if args[0] in COMMANDS else _command()
    if COMPLETING in os.environ:  # the shell asks for completions
        command(args, prog_name="hnd", standalone_mode=False)
        return 0
    try:
        with command.make_context("hnd", args) as context:
            command.invoke(context)
    except typer.Exit as over:
        return int(over.exit_code)
    return 0


def _was_interrupted(error: BaseException | None) -> bool:
    """Whether an interrupt caused an error: Python wraps one that is raised in a class body."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _sentence(error: BaseException, args: list[str]) -> tuple[str, int]:
    if isinstance(error, InputError):
        return str(error), UNUSABLE
    if hasattr(error, "format_message"):  # usage errors, in any version of typer
        context = getattr(error, "ctx", None)
        page = context.command_path if context is not None else "hnd"
        said = (_expected(error, args) or error.format_message()).rstrip(".")
        said += "" if said.endswith("?") else "."
        return f"{said} See: {page} --help", UNUSABLE
    if lacks_memory(error):
        return "the data do not fit into memory.", BROKEN
    if isinstance(error, OSError) and error.strerror:
        if error.errno == errno.ELOOP:
            return f"{error.filename}: this is a link that leads back to itself.", UNUSABLE
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror}.", UNUSABLE
    if isinstance(error, RuntimeError) and "Symlink loop" in str(error):  # Python before 3.13
        return f"{str(error).partition('from ')[2]}: a link that leads back to itself.", UNUSABLE
    text = " ".join(str(error).split())
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return f"{what}. {REPORT}; please report it with what --debug shows.", BROKEN


#: What an option takes, by what stands for its value in the help.
_TAKEN = {"N": "a whole number"} | dict.fromkeys("ABP", "a number")


def _expected(error: Any, args: list[str]) -> str | None:
    """What an option or argument takes, if it got something else or nothing."""
    if type(error).__name__ == "NoSuchOption":
        known = [name for each in error.ctx.command.params for name in each.opts]
        return f"There is no option {error.option_name}{suggestion(error.option_name, known)}"
    parameter = getattr(error, "param", None)
    if parameter is None:
        return None
    metavar, option = str(parameter.metavar), parameter.opts[-1]
    if parameter.param_type_name == "argument":
        missing = type(error).__name__ == "MissingParameter"
        return f"{metavar.rstrip('…')} is missing" if missing else None
    taken = _TAKEN.get(metavar, metavar)
    got = [word for before, word in pairwise(args) if before in parameter.opts]
    return f"{option} takes {taken}" + (f", and got {got[-1]!r}" if got else "")


def _say(sentence: str, code: int) -> int:
    text = f"hnd: {printable(' '.join(sentence.split()))}"
    if sys.stderr.isatty():
        text = filled(text)
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):  # standard error cannot be written to
        _forget_output()
    return code


def _forget_output() -> None:
    """Drop output that nobody reads, so that Python does not try to write it when it ends."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Show warnings for users in one line; warnings for programmers appear only with --debug."""
    if issubclass(category, UserWarning):
        _say(f"warning: {message}", 0)


def _show_all(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    _say(f"warning: {category.__name__}: {message}", 0)
