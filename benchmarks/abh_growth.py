"""How ABH grows with the number of users: matrix-free rounds beside the paper's dense ones.

    python benchmarks/abh_growth.py [--largest 1000000] [--json FILE]

Graded answers (100 items, 3 options). A round is one product with the Laplacian: two sums over the
responses, or, in the paper's direct variant, a dense users × users matrix times a vector. Rounds of
all sizes are timed in turn; the exponents are least-squares slopes of log time on log users.
Lanczos fits are then run to the end, to see how many rounds they take.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path

import numpy as np
from harness import exponent, machine, measure

from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine
from hitsndiffs.methods import ABH
from hitsndiffs.spectral import Laplacian

ITEMS, OPTIONS = 100, 3
REPEATS = 7


def graded_answers(users: int, seed: int = 0) -> Responses:
    """Responses after the paper's graded-response model."""
    rng = np.random.default_rng(seed)
    ability = rng.random(users, dtype=np.float32)
    slopes = rng.uniform(0, 5, ITEMS).astype(np.float32)
    thresholds = np.sort(rng.uniform(-0.5, 0.5, (ITEMS, OPTIONS - 1)), axis=1).astype(np.float32)
    codes = np.zeros((ITEMS, users), dtype=np.uint8)
    for i in range(ITEMS):
        chance = rng.random(users, dtype=np.float32)
        for b in thresholds[i]:
            codes[i] += chance < 1 / (1 + np.exp(slopes[i] * (b - ability)))
    return Responses(
        users=np.arange(users),
        items=np.arange(ITEMS),
        option_labels=np.tile(np.arange(OPTIONS), ITEMS),
        item_starts=np.arange(ITEMS + 1) * OPTIONS,
        codes=codes,
    )


def rounds_of(responses: Responses, engine: str, dense: bool = False):
    """Return a function that does some rounds, and how many."""
    L = Laplacian.of(open_engine(responses, engine))
    matrix = L.dense() if dense else None
    s = np.random.default_rng(1).standard_normal(responses.n_users)
    repeat = max(1, 200_000 // responses.n_users)  # short rounds are timed many at a time

    def run() -> None:
        for _ in range(repeat):
            _ = L(s) if matrix is None else matrix @ s

    return run, repeat


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=1_000_000, help="number of users")
    parser.add_argument("--json", help="file for the figures")
    options = parser.parse_args()
    print("\n".join(f"# {key}: {value}" for key, value in machine().items()))

    sizes = [10**e for e in range(3, round(math.log10(options.largest)) + 1)]
    whole = graded_answers(sizes[-1])
    data = {m: graded_answers(m) if m < sizes[-1] else whole for m in sizes}
    engine = "threads"
    free = {m: rounds_of(r, engine) for m, r in data.items()}
    dense_sizes = [1000, 2000, 4000]
    dense = {m: rounds_of(graded_answers(m), engine, dense=True) for m in dense_sizes}

    contestants = {f"free {m}": run for m, (run, _) in free.items()}
    contestants |= {f"dense {m}": run for m, (run, _) in dense.items()}
    timings = measure(contestants, REPEATS)
    figures: dict[str, object] = {"machine": machine()}
    for kind, made in (("free", free), ("dense", dense)):
        seconds = [timings[f"{kind} {m}"].median / repeat for m, (_, repeat) in made.items()]
        for m, t in zip(made, seconds, strict=True):
            print(f"{kind:>6} {m:>9,} users {t * 1e3:>10.3f} ms a round")
        found = exponent(list(made), seconds)
        last = exponent(list(made)[-2:], seconds[-2:])
        print(f"{kind:>6} exponent {found:.3f} (between the two largest: {last:.3f})")
        figures[kind] = {"users": list(made), "seconds": seconds, "exponent": found}

    print("whole fits, matrix-free:")
    fits = []
    for m, responses in data.items():
        start = time.perf_counter()
        fitted = ABH(engine=engine).fit(responses)
        seconds = time.perf_counter() - start
        residual = fitted.fit_.residual
        print(
            f"       {m:>9,} users {fitted.n_iterations_:>5} rounds {seconds:>8.2f} s, "
            f"converged {fitted.converged_}, residual {residual:.1e}"
        )
        fits.append({"users": m, "rounds": fitted.n_iterations_, "seconds": seconds})
    figures["fits"] = fits
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
