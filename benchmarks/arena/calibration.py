"""How sure is sure: signs and outcomes of many simulated data sets, and what is learnt from them.

``python -m benchmarks.arena.calibration`` adds what is missing to a file of records (one line per
data set), learns what :mod:`hitsndiffs.methods.latent_key.confidence` holds, and judges it kind by
kind: learnt without a kind, how does it hold on that kind?

Each sign counts for a solution or not at all, and kinds count alike. Bounds come from arguments,
not from records. What is chosen by looking (which signs, the penalty, whether 0.9 may be said at
all) is chosen within the kinds that are not judged, by leaving out one of these after the other.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.arena.cases import Case
from benchmarks.arena.measuring import key_share, true_shares
from benchmarks.arena.structures import STRUCTURES, UNKNOWABLE, structure
from benchmarks.arena.summary import RIGHT
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.auto import Auto
from hitsndiffs.methods.latent_key.confidence import Signs, bound, label_bound
from hitsndiffs.methods.latent_key.learnt import KeySearch
from hitsndiffs.results.metrics import accuracy

__all__ = ["Learnt", "Record", "judged", "learn", "left_out", "records_of"]

Array = npt.NDArray[np.float64]
Record = dict[str, Any]

#: Signs to choose from: the lead over the rival, plain and in units of the effective sample,
#: agreement between rules of who counts, reliability; and more.
FEW = ("lead", "rules", "reliability")
CHOICES = (FEW, (*FEW, "steadiness"), (*FEW, "steadiness", "axis", "users"))
#: Penalties on the standardised coefficients to choose from.
PENALTIES = (20.0, 60.0)
#: Before anything is seen, a ranking is right four times in five; this counts like so many kinds.
EXPECTED, PSEUDO = 0.8, 10.0
#: Records that are bounded below this teach nothing about the rest.
FREE = 0.75
#: What may be said at most, unless so many cases of 0.9 and more in left-out kinds were right nine
#: times in ten.
CAUTIOUS, ENOUGH, SURE = 0.89, 20, 0.9


@dataclass(frozen=True)
class Learnt:
    """A logistic function of the signs, and the most that is said."""

    constant: float
    counts: dict[str, float]
    most: float
    penalty: float

    def says(self, records: Sequence[Record]) -> Array:
        """The probability of being right, record by record."""
        signs = _signs(records, tuple(self.counts))
        chance = 1 / (1 + np.exp(-(self.constant + signs @ np.array([*self.counts.values()]))))
        return np.minimum(np.minimum(chance, self.most), _bounds(records))


def record(kind: str, seed: int, case: Case) -> Record:
    """What ``auto`` sees in one data set, and how right it is."""
    method = Auto(resamples=0).fit(case.responses)
    fit, signs, most = method.fit_, None, 1.0
    if isinstance(fit.learnt, KeySearch):
        signs = asdict(fit.learnt.signs)
    elif fit.readings:  # confusion matrices: as sure as the key, as far as they agree
        found = method._search(open_engine(case.responses))
        signs = asdict(found.signs)
        most = fit.confidence if fit.confidence < found.confidence else 1.0
    return {
        "kind": kind,
        "seed": seed,
        "rho": accuracy(true_shares(case), fit.scores),
        "key_share": key_share(fit.key_probabilities, case),
        "sure": fit.confidence,
        "most": most,
        "signs": signs,
    }


def records_of(path: Path) -> list[Record]:
    """All records of a file that have signs (a perfect order needs none); none without the file."""
    if not path.exists():
        return []
    kept = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [each for each in kept if each["signs"]]


def collect(path: Path, runs: int, kinds: Sequence[str]) -> list[Record]:
    """All records of the file, after adding those that are missing."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    have = {(r["kind"], r["seed"]) for r in map(json.loads, lines)}
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
            print(f"\r{seed + 1} of {runs}", end="", file=sys.stderr)
    return records_of(path)


def _signs(records: Sequence[Record], names: Sequence[str]) -> Array:
    return np.array([[each["signs"][name] for name in names] for each in records])


def _right(records: Sequence[Record]) -> Array:
    return np.array([float(each["rho"] > RIGHT) for each in records])


def _kinds(records: Sequence[Record]) -> npt.NDArray[Any]:
    return np.array([each["kind"] for each in records])


def _bounds(records: Sequence[Record]) -> Array:
    signs = [(Signs(**each["signs"]), each["most"]) for each in records]
    return np.array([min(bound(each), label_bound(each), most) for each, most in signs])


def fitted(
    records: Sequence[Record], names: Sequence[str], penalty: float, most: float = 1.0
) -> Learnt:
    """A penalised logistic regression, no coefficient below 0, every kind counting alike."""
    free = [r for r, b in zip(records, _bounds(records), strict=True) if b >= FREE]
    x, y, kinds = _signs(free, names), _right(free), _kinds(free)
    sizes = {kind: int((kinds == kind).sum()) for kind in np.unique(kinds)}
    weight = np.array([len(free) / len(sizes) / sizes[kind] for kind in kinds])
    mean, sd = x.mean(axis=0), np.maximum(x.std(axis=0), 1e-6)
    # two more records, with signs like the mean: what is expected before anything is seen
    prior = PSEUDO * len(free) / len(sizes) * np.array([EXPECTED, 1 - EXPECTED])
    weight, y = np.concatenate([weight, prior]), np.concatenate([y, [1.0, 0.0]])
    scaled = np.vstack([(x - mean) / sd, np.zeros((2, len(names)))])
    design = np.column_stack([np.ones(len(y)), scaled])
    punished = np.array([0.0, *np.full(len(names), penalty)])
    beta = np.zeros(design.shape[1])
    for _ in range(100):
        p = 1 / (1 + np.exp(-design @ beta))
        slope = design.T @ (weight * (y - p)) - punished * beta
        used = (beta > 0) | (slope > 0)  # a coefficient at 0 stays there while it would go below
        used[0] = True
        bend = design.T @ (design * (weight * p * (1 - p))[:, None]) + np.diag(punished)
        after = beta.copy()
        after[used] += np.linalg.solve(bend[np.ix_(used, used)], slope[used])
        after[1:] = np.maximum(after[1:], 0.0)
        change, beta = np.abs(after - beta).max(), after
        if change < 1e-9:
            break
    counts = beta[1:] / sd
    found = dict(zip(names, counts.tolist(), strict=True))
    return Learnt(float(beta[0] - counts @ mean), found, most, penalty)


def _each_left_out(records: Sequence[Record], names: Sequence[str], penalty: float) -> Array:
    """What is said of every record by a fit without its kind."""
    kinds, said = _kinds(records), np.empty(len(records))
    for kind in np.unique(kinds):
        rest = [r for r in records if r["kind"] != kind]
        here = [r for r in records if r["kind"] == kind]
        said[kinds == kind] = fitted(rest, names, penalty).says(here)
    return said


def learn(records: Sequence[Record]) -> Learnt:
    """Choose signs, penalty and top by leaving out one kind after the other, then fit to all."""
    right, kinds = _right(records), _kinds(records)
    tried = []
    for names in CHOICES:
        for penalty in PENALTIES:
            said = _each_left_out(records, names, penalty)
            loss = np.mean([((said - right)[kinds == k] ** 2).mean() for k in np.unique(kinds)])
            tried.append((float(loss), names, penalty, said))
    _, names, penalty, said = min(tried, key=lambda each: each[0])
    top = said >= SURE
    supported = top.sum() >= ENOUGH and right[top].mean() >= SURE
    return fitted(records, names, penalty, 1.0 if supported else CAUTIOUS)


def left_out(records: Sequence[Record]) -> Array:
    """For every record what is said when its whole kind was left out of everything."""
    kinds, said = _kinds(records), np.empty(len(records))
    for kind in np.unique(kinds):
        learnt = learn([r for r in records if r["kind"] != kind])
        said[kinds == kind] = learnt.says([r for r in records if r["kind"] == kind])
    return said


def judged(records: Sequence[Record], said: Array) -> dict[str, Any]:
    """Brier score, calibration error, and how often 0.9 and more is right, kind by kind."""
    right, of = _right(records), _kinds(records)
    cells = np.minimum((said * 10).astype(int), 9)
    bins = [
        {"n": int((cells == c).sum()), "said": said[cells == c].mean(),
         "right": right[cells == c].mean(), "from": c / 10}
        for c in np.unique(cells)
    ]  # fmt: skip
    error = sum(each["n"] * abs(each["said"] - each["right"]) for each in bins) / len(right)
    kinds = {}
    for kind in [kind for kind in STRUCTURES if (of == kind).any()]:
        here = of == kind
        sure = here & (said >= SURE)
        kinds[kind] = {
            "runs": int(here.sum()),
            "right": float(right[here].mean()),
            "said": float(said[here].mean()),
            "sure": int(sure.sum()),
            "sure and right": float(right[sure].mean()) if sure.any() else float("nan"),
        }
    brier = float(((said - right) ** 2).mean())
    return {"brier": brier, "calibration error": float(error), "kinds": kinds, "bins": bins}


def main(arguments: list[str] | None = None) -> None:
    """Collect, learn, judge, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--records", type=Path, default=Path(".arena/signs.jsonl"))
    parser.add_argument("--kinds", default=",".join(STRUCTURES))
    given = parser.parse_args(arguments)
    given.records.parent.mkdir(parents=True, exist_ok=True)
    records = collect(given.records, given.runs, given.kinds.split(","))
    learnt = learn(records)
    print(f"\n{len(records)} records, penalty {learnt.penalty:g}")
    print("MOST =", learnt.most)
    print("CONSTANT =", round(learnt.constant, 3))
    print("COUNTS =", {name: round(count, 3) for name, count in learnt.counts.items()})
    for title, said in (
        ("learnt on all kinds", learnt.says(records)),
        ("each kind left out", left_out(records)),
    ):
        found = judged(records, said)
        print(f"\n{title}: Brier {found['brier']:.3f}, error {found['calibration error']:.3f}")
        for kind, row in found["kinds"].items():
            mark = " (cannot be known)" if kind in UNKNOWABLE else ""
            print(f"  {kind + mark:40s}", {k: round(v, 2) for k, v in row.items()})
        for row in found["bins"]:
            print("  ", {k: round(float(v), 2) for k, v in row.items()})


if __name__ == "__main__":
    main()
