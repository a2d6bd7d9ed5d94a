"""Where ``hnd`` begins: an interrupt ends it without a word until it has something to say.

Importing the package takes some ten milliseconds, and Python answers an interrupt meanwhile with a
traceback. This module is outside the package, so that its first lines come before that. It takes
the part of ``signal`` that is built into Python, since the rest takes milliseconds to import.
"""

import _signal as signal  # type: ignore[import-not-found]

#: Whoever started the program may have had interrupts ignored; that stays.
_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _heeded:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Run ``hnd`` with the arguments of the process; return the exit code."""
    from hitsndiffs.cli import main as run

    if _heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()
