"""How sure is sure: confidence and outcomes of many simulated data sets of every kind.

``python -m benchmarks.arena.calibration`` adds what is missing to a file of records, one line per
data set. Nothing is learnt from them: the confidence rests on bounds, each of which has an
argument (:mod:`hitsndiffs.methods.core.doubt`).
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena.measuring import key_share, true_shares
from benchmarks.arena.structures import STRUCTURES, structure
from benchmarks.arena.summary import RIGHT
from hitsndiffs import ConvergenceWarning, rank
from hitsndiffs.results.metrics import accuracy

__all__ = ["Record", "judged", "record_of", "records_of"]

Record = dict[str, Any]

#: From here on a ranking is said to be sure; and how wide the bins of confidence are.
SURE, BIN = 0.8, 0.1


def record_of(kind: str, seed: int) -> Record:
    """Rank one data set of a kind, and hold the result against the truth."""
    case = structure(kind, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranking = rank(case.responses)
    likely = ranking.fit.key_probabilities
    return {
        "kind": kind,
        "seed": seed,
        "rho": accuracy(true_shares(case), ranking.scores),
        "key_share": float("nan") if likely is None else key_share(likely, case),
        "said": float(ranking.confidence or 0.0),
    }


def records_of(path: Path) -> list[Record]:
    """The records of a file; none if there is no file."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judged(records: Sequence[Record]) -> dict[str, Any]:
    """How the said confidence holds, kind by kind (kinds count alike) and bin by bin."""
    said = np.array([each["said"] for each in records])
    right = np.array([each["rho"] > RIGHT for each in records], dtype=float)
    kind = np.array([each["kind"] for each in records])
    kinds = {}
    for name in dict.fromkeys(kind.tolist()):
        here = kind == name
        sure = here & (said >= SURE)
        kinds[name] = {
            "runs": int(here.sum()),
            "right": float(right[here].mean()),
            "said": float(said[here].mean()),
            "sure": int(sure.sum()),
            "sure and right": float(right[sure].mean()) if sure.any() else float("nan"),
        }
    place = np.minimum((said / BIN).astype(int), round(1 / BIN) - 1)
    bins = [
        {
            "from": BIN * cell,
            "n": int((place == cell).sum()),
            "said": float(said[place == cell].mean()),
            "right": float(right[place == cell].mean()),
        }
        for cell in np.unique(place).tolist()
    ]
    error = sum(each["n"] * abs(each["said"] - each["right"]) for each in bins) / len(records)
    return {
        "kinds": kinds,
        "bins": bins,
        "brier": float(((said - right) ** 2).mean()),
        "calibration error": float(error),
    }


def main(arguments: list[str] | None = None) -> None:
    """Add what is missing to the file of records."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.arena.calibration")
    parser.add_argument("--runs", type=int, default=20, help="data sets of each kind (20)")
    parser.add_argument("--cache", type=Path, default=Path(".arena"), help="finished cells")
    given = parser.parse_args(arguments)
    path = given.cache / "signs.jsonl"
    done = {(each["kind"], each["seed"]) for each in records_of(path)}
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        for seed in range(given.runs):
            for kind in STRUCTURES:
                if (kind, seed) not in done:
                    file.write(json.dumps(record_of(kind, seed)) + "\n")
                    file.flush()
    found = judged(records_of(path))
    print(f"Brier score {found['brier']:.3f}, calibration error {found['calibration error']:.3f}")
    for name, row in found["kinds"].items():
        print(f"{name:24} right {row['right']:.2f} said {row['said']:.2f} sure {row['sure']}")


if __name__ == "__main__":
    main()
