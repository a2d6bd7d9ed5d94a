"""Hostile input and faults, on purpose: ``python -m fuzz [--seconds N] [--seed N] [kind …]``.

Every input follows from a seed and a number, so that each can be made again. Inputs run in child
processes with limits of time and memory: a hang, an abort or a crash ends a child, is counted, and
the input is kept.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent

# the generators of files and the naive oracles live beside the tests
for folder in (ROOT / "tests", ROOT / "src"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
