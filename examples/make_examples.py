"""Make the example files, the same to the last byte each time.

Run ``python examples/make_examples.py [FOLDER]``. The answers are simulated: nobody's own.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hitsndiffs.irt.examples import EXAMPLES

FOLDER = Path(__file__).parent


def make_all(folder: Path) -> list[Path]:
    """Write every example file into a folder."""
    for name, make in EXAMPLES.items():
        (folder / name).write_bytes(make().encode())
    return [folder / name for name in EXAMPLES]


if __name__ == "__main__":
    for written in make_all(Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER):
        print(written)
