"""Where ``hnd`` starts: during start-up an interrupt ends the program silently.

Importing the package takes about ten milliseconds, and an interrupt in that time would print a
traceback. This module is outside the package so that its first lines run before that import. It
uses ``_signal``, the part of ``signal`` built into Python; the rest takes milliseconds to import.
"""

import _signal as signal  # type: ignore[import-not-found]

#: False if the program was started with interrupts ignored; they then stay ignored.
_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
if _heeded:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def main() -> int:
    """Run ``hnd`` with the arguments of the process; return the exit code."""
    from hitsndiffs.cli import main as run

    if _heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()
