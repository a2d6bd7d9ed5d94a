"""``hnd simulate``: responses with known abilities, as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hitsndiffs.cli.text import for_people, say
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError, printable

__all__ = ["simulate"]


@dataclass(frozen=True)
class Drawn:
    """What is drawn: arguments of :func:`hitsndiffs.simulate`."""

    users: int = 100
    items: int | None = None
    options: int | None = None
    ability: str | None = None
    bmax: float | None = None
    amax: float | None = None
    answer_probability: float | None = None
    missing: str | None = None
    answers_per_user: float | None = None
    blocks: int | None = None


def simulate(
    *,
    model: str,
    out: Path,
    drawn: Drawn,
    format: str = "csv",
    seed: int | None = None,
    quiet: bool = False,
) -> None:
    """Simulate users of known ability, and write responses, abilities and key."""
    from hitsndiffs.data.words import sizes
    from hitsndiffs.irt import simulate, write_simulation
    from hitsndiffs.irt.writing import refuse_files

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out}: this is a file; name a folder.")
    refuse_files(out, format)
    told = {name: value for name, value in vars(drawn).items() if value is not None}
    with working("Simulating", quiet=quiet, told=True):
        simulation = simulate(model, seed=seed or 0, **told)
        files = write_simulation(simulation, out, format)
    say(f"{model}: {sizes(simulation.responses)}.", quiet=quiet)
    for path in files:
        print(printable(str(path)) if for_people() else path)
