"""``hnd simulate``: responses with known abilities, as files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hitsndiffs.cli.text import for_people, say
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError, printable
from hitsndiffs.results.wording import sizes

__all__ = ["simulate_files"]


def simulate_files(model: str, out: Path, format: str, *, quiet: bool, **drawn: Any) -> None:
    """Simulate, write three files, and print their names."""
    from hitsndiffs.irt import simulate, write_simulation
    from hitsndiffs.irt.writing import refuse_files

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: this is a file; name a folder.")
    refuse_files(out, format)
    with working("Simulating", quiet=quiet, told=True):
        simulation = simulate(model, **drawn)
        files = write_simulation(simulation, out, format)
    say(f"{model}: {sizes(simulation.responses)}.", quiet=quiet)
    for path in files:
        print(printable(str(path)) if for_people() else path)
