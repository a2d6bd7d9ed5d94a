"""How sure is sure: signs and outcomes of many simulated data sets, and what is learnt from them.

``python -m benchmarks.arena.calibration --runs 60`` adds what is missing to a file of records (one
line per data set), fits the logistic function that :mod:`hitsndiffs.methods.latent_key.confidence`
holds, and judges it kind by kind: fitted without a kind, how does it hold on that kind?
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.arena.cases import Case
from benchmarks.arena.measuring import true_shares
from benchmarks.arena.structures import STRUCTURES, UNKNOWABLE, structure
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.latent_key.confidence import COUNTS, Signs, bounded
from hitsndiffs.methods.latent_key.search import search
from hitsndiffs.results.metrics import accuracy

__all__ = ["collect", "fitted", "judged", "left_out"]

Array = npt.NDArray[np.float64]
Record = dict[str, Any]

#: A ranking is right when its Spearman correlation with the true shares is above this.
RIGHT = 0.3
#: Penalty on every standardised coefficient.
RIDGE = 5.0


def record(kind: str, seed: int, case: Case) -> Record:
    """The signs of one data set, and whether the best solution is right."""
    found = search(open_engine(case.responses))
    data = found.problem.data
    scores = data.choices(found.best.fit.key) / data.answers_per_user
    rho = accuracy(true_shares(case), data.collect(scores))
    return {"kind": kind, "seed": seed, "rho": rho, "signs": asdict(found.signs)}


def collect(path: Path, runs: int, kinds: list[str]) -> list[Record]:
    """All records of the file, after adding those that are missing."""
    done = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    have = {(r["kind"], r["seed"]) for r in done}
    with path.open("a", encoding="utf-8") as out:
        for seed in range(runs):
            for kind in kinds:
                if (kind, seed) in have:
                    continue
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    made = record(kind, seed, structure(kind, seed))
                out.write(json.dumps(made) + "\n")
                out.flush()
                done.append(made)
            print(f"\r{seed + 1} of {runs}", end="", file=sys.stderr)
    return done


def _table(records: list[Record], names: list[str]) -> tuple[Array, Array]:
    x = np.array([[r["signs"][name] for name in names] for r in records])
    return x, np.array([float(r["rho"] > RIGHT) for r in records])


def fitted(records: list[Record], names: list[str], ridge: float = RIDGE) -> Array:
    """Constant and coefficients of a penalised logistic regression, kinds counting alike."""
    x, y = _table(records, names)
    sizes = {k: sum(r["kind"] == k for r in records) for k in {r["kind"] for r in records}}
    weight = np.array([1 / sizes[r["kind"]] for r in records])
    weight *= len(records) / weight.sum()
    mean, sd = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    design = np.column_stack([np.ones(len(x)), (x - mean) / sd])
    penalty = np.diag([0.0, *np.full(x.shape[1], ridge)])
    beta = np.zeros(design.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-design @ beta))
        bend = design.T @ (design * (weight * p * (1 - p))[:, None]) + penalty
        step = np.linalg.solve(bend, design.T @ (weight * (y - p)) - penalty @ beta)
        beta += step
        if np.abs(step).max() < 1e-9:
            break
    slopes = beta[1:] / sd
    return np.concatenate([[beta[0] - slopes @ mean], slopes])


def predicted(records: list[Record], names: list[str], beta: Array) -> Array:
    """The probability of being right, record by record."""
    x, _ = _table(records, names)
    chances = 1 / (1 + np.exp(-(beta[0] + x @ beta[1:])))
    signs = [Signs(**r["signs"]) for r in records]
    return np.array([bounded(s, float(p)) for s, p in zip(signs, chances, strict=True)])


def left_out(records: list[Record], names: list[str], ridge: float = RIDGE) -> Array:
    """For every record what is said when its whole kind was left out of the fit."""
    said = np.empty(len(records))
    for kind in {r["kind"] for r in records}:
        here = np.array([r["kind"] == kind for r in records])
        rest = [r for r, out in zip(records, here, strict=True) if not out]
        mine = [r for r, out in zip(records, here, strict=True) if out]
        said[here] = predicted(mine, names, fitted(rest, names, ridge))
    return said


def judged(records: list[Record], said: Array) -> dict[str, Any]:
    """Brier score, calibration error, and how often 0.9 and more is right, kind by kind."""
    right = np.array([r["rho"] > RIGHT for r in records], dtype=float)
    cells = np.minimum((said * 10).astype(int), 9)
    error = sum(abs(float((said - right)[cells == c].sum())) for c in np.unique(cells)) / len(right)
    kinds = {}
    for kind in STRUCTURES:
        here = np.array([r["kind"] == kind for r in records])
        sure = here & (said >= 0.9)
        kinds[kind] = {
            "runs": int(here.sum()),
            "right": float(right[here].mean()) if here.any() else float("nan"),
            "said": float(said[here].mean()) if here.any() else float("nan"),
            "sure": int(sure.sum()),
            "sure and right": float(right[sure].mean()) if sure.any() else float("nan"),
            "wrong above 0.6": int((here & (right == 0) & (said >= 0.6)).sum()),
        }
    brier = float(((said - right) ** 2).mean())
    return {"brier": brier, "calibration error": error, "kinds": kinds}


def main(arguments: list[str] | None = None) -> None:
    """Collect, fit, judge, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--records", type=Path, default=Path(".arena/signs.jsonl"))
    parser.add_argument("--kinds", default=",".join(STRUCTURES))
    given = parser.parse_args(arguments)
    given.records.parent.mkdir(parents=True, exist_ok=True)
    records = collect(given.records, given.runs, given.kinds.split(","))
    names = list(COUNTS)
    beta = fitted(records, names)
    print("\nCONSTANT =", round(float(beta[0]), 3))
    print("COUNTS =", {n: round(float(b), 3) for n, b in zip(names, beta[1:], strict=True)})
    for title, said in (
        ("fitted to all kinds", predicted(records, names, beta)),
        ("each kind left out", left_out(records, names)),
    ):
        found = judged(records, said)
        print(f"\n{title}: Brier {found['brier']:.3f}, error {found['calibration error']:.3f}")
        for kind, row in found["kinds"].items():
            mark = " (cannot be known)" if kind in UNKNOWABLE else ""
            print(f"  {kind + mark:40s}", {k: round(v, 2) for k, v in row.items()})


if __name__ == "__main__":
    main()
