"""The GPU engine: equal to the processor's, the same bits in every run, and how long it takes.

Needs CuPy and an NVIDIA GPU: ``PYTHONPATH=src python benchmarks/gpu.py --json gpu.json``. With
``--quick`` a tenth of the users.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import tempfile
import time
import warnings
from collections.abc import Callable
from typing import Any

import cupy as cp
import numpy as np

from hitsndiffs.data.items import Items
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import open_engine
from hitsndiffs.engines.base import scaled
from hitsndiffs.engines.cupy import CupyEngine, DevicePacked
from hitsndiffs.engines.grouping import Groups
from hitsndiffs.errors import InputError
from hitsndiffs.methods import make

FOUND: dict[str, Any] = {}


def say(name: str, value: Any) -> None:
    FOUND[name] = value
    print(f"{name}: {value}", flush=True)


def timed(act: Callable[[], Any], repeats: int = 7) -> float:
    """Median seconds; the device has finished when the clock is read."""
    act()
    seconds = []
    for _ in range(repeats):
        cp.cuda.Device().synchronize()
        start = time.perf_counter()
        act()
        cp.cuda.Device().synchronize()
        seconds.append(time.perf_counter() - start)
    return float(np.median(seconds))


def codes_on_device(users: int, items: int, options: int, missing: float, seed: int) -> Any:
    """Answers with one right option per item, more often chosen by able users."""
    rng = cp.random.default_rng(seed)
    ability = rng.standard_normal(users, dtype=cp.float32)
    codes = cp.empty((items, users), dtype=cp.uint8)
    ease = np.random.default_rng(seed).normal(0, 1, items)
    for item in range(items):
        right = rng.random(users, dtype=cp.float32) < 1 / (1 + cp.exp(-(ability + ease[item])))
        wrong = 1 + (rng.random(users, dtype=cp.float32) ** 1.5 * (options - 1)).astype(cp.uint8)
        row = cp.where(right, 0, cp.minimum(wrong, options - 1))
        codes[item] = (row + item) % options
        if missing:
            codes[item][rng.random(users, dtype=cp.float32) < missing] = 255
    return codes


def responses_of(codes: Any, options: int) -> Responses:
    items, users = codes.shape
    return Responses(
        users=np.arange(users),
        items=np.arange(items),
        option_labels=np.tile(np.arange(options), items),
        item_starts=np.arange(0, items * options + 1, options),
        codes=cp.asnumpy(codes),
    )


def compare_methods() -> None:
    """Every method that works there, beside the processor's result."""
    cases = {
        "3,000 × 40 × 4, complete": (3_000, 40, 4, 0.0),
        "60,000 × 30 × 3, 20 % missing": (60_000, 30, 3, 0.2),
        "200,000 × 50 × 5, complete": (200_000, 50, 5, 0.0),
    }
    methods: list[tuple[str, dict[str, Any]]] = [
        ("majority", {}), ("hits", {}), ("investment", {}), ("pooled-investment", {}),
        ("dawid-skene", {}), ("hnd", {}), ("hnd-robust", {}), ("latent-key", {}), ("auto", {}),
    ]  # fmt: skip
    for name, (users, items, options, missing) in cases.items():
        data = responses_of(codes_on_device(users, items, options, missing, seed=users), options)
        for method, params in methods:
            if method in ("auto", "latent-key") and users > 100_000:
                continue
            expected = make(method, engine="threads", **params).fit(data)
            found = make(method, engine="cupy", **params).fit(data)
            again = make(method, engine="cupy", **params).fit(data)
            scale = np.abs(expected.scores_).max()
            error = float(np.abs(found.scores_ - expected.scores_).max() / scale)
            same = bool((found.scores_ == again.scores_).all())
            key, wanted = found.key_probabilities_, expected.key_probabilities_
            starts = data.item_starts[:-1]
            largest = [np.maximum.reduceat(k, starts) for k in (key, wanted)]
            agree = all(
                key[s : s + options].argmax() == wanted[s : s + options].argmax() for s in starts
            )
            say(f"{name}, {method}", {"error": error, "same_bits": same, "same_key": agree,
                "key_error": float(np.abs(largest[0] - largest[1]).max())})  # fmt: skip


def large_round(users: int) -> None:
    """One round, and a whole solve, from packed bytes on the device."""
    items, options = 100, 3
    starts = np.arange(0, items * options + 1, options)
    groups = Groups.of(starts, np.zeros(items, dtype=bool))
    layout = DevicePacked.empty(groups, users)
    piece = 10_000_000
    for first in range(0, users, piece):
        part = codes_on_device(min(piece, users - first), items, options, 0.0, seed=first)
        layout.fill(part, first)
        del part
    data = CupyEngine.of_layout(
        Items(np.arange(items), np.tile(np.arange(options), items), starts), layout
    )
    say("answers", users * items)
    say("packed GB", layout.nbytes / 1e9)
    rounds(data, items * options)
    data.choosers_per_option, data.answers_per_user  # noqa: B018 - counted once
    solve = make("hnd")

    def anew() -> Any:
        for name in ("everybody", "answers_per_user", "choosers_per_option"):
            data.__dict__.pop(name, None)
        return solve._fit(data)

    say("hnd, whole solve, s", timed(anew, 7))
    one = anew()
    say("hnd, rounds", one.n_iterations)
    say("hnd, residual", one.residual)
    say("hnd, same bits", bool((one.scores == anew().scores).all()))
    say("hnd, stages, ms", stages(anew))
    order(data, solve_axis(data))


def solve_axis(data: CupyEngine) -> Any:
    """Scores that nothing was levelled in."""
    from hitsndiffs.spectral import solve

    return solve(data, "lanczos").vector


def rounds(data: CupyEngine, n_options: int) -> None:
    """The passes one by one."""
    weights = np.random.default_rng(0).standard_normal(n_options)
    same_scale = cp.full(1, 0.01)

    def once() -> Any:
        return data._linear(weights, same_scale)

    say("round, ms", 1e3 * timed(once, 21))
    say("round, same bits", bool((once() == once()).all()))
    each = 1.0 * data.everybody
    say("round with a scale per user, ms",
        1e3 * timed(lambda: data.through(weights, scaled, each)))  # fmt: skip
    say("choices, ms", 1e3 * timed(lambda: data.choices(weights)))
    scores = data.choices(weights)
    say("choosers, ms", 1e3 * timed(lambda: data.choosers(scores)))
    say("choosers of ones, ms", 1e3 * timed(lambda: data.choosers(data.everybody)))
    tenth = (scores > float(cp.quantile(scores[:1_000_000], 0.9))).astype(cp.float64)
    say("choosers of a tenth, ms", 1e3 * timed(lambda: data.choosers(tenth)))


def order(data: CupyEngine, scores: Any) -> None:
    """What sorting costs, as the engine does it and as the library does."""
    limit = 1e-9 * float(abs(scores).max())
    say("order, ms", {
        "argsort of 64 bits": 1e3 * timed(lambda: cp.argsort(scores), 3),
        "sort of 64 bits": 1e3 * timed(lambda: cp.sort(scores), 3),
        "levels": 1e3 * timed(lambda: data.levelled(scores, limit), 3),
    })  # fmt: skip


def stages(solve: Callable[[], Any]) -> dict[str, float]:
    """Milliseconds of the parts of a solve; the device has finished at the end of each."""
    from hitsndiffs.methods import axis, hnd
    from hitsndiffs.order import orientation
    from hitsndiffs.spectral import axes

    places = [
        (hnd, "solve"), (axes, "top_pairs"), (hnd, "levelled"), (hnd, "standard_errors"),
        (axis, "orient"), (orientation, "_ends"), (orientation, "_entropies"),
        (axis, "key_from_scores"), (hnd, "perfected"), (axes, "highest_pairs"),
    ]  # fmt: skip
    took: dict[str, float] = {}

    def clocked(name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any, **named: Any) -> Any:
            cp.cuda.Device().synchronize()
            start = time.perf_counter()
            found = act(*given, **named)
            cp.cuda.Device().synchronize()
            took[name] = took.get(name, 0.0) + 1e3 * (time.perf_counter() - start)
            return found

        return run

    kept = [getattr(module, name) for module, name in places]
    try:
        for (module, name), act in zip(places, kept, strict=True):
            setattr(module, name, clocked(name, act))
        clocked("all", solve)()
    finally:
        for (module, name), act in zip(places, kept, strict=True):
            setattr(module, name, act)
    return {name: round(ms, 2) for name, ms in took.items()}


def latent_key(users: int) -> None:
    """The default model on answers that are in the processor's memory."""
    data = responses_of(codes_on_device(users, 100, 4, 0.0, seed=5), 4)
    start = time.perf_counter()
    engine = open_engine(data, "cupy")
    cp.cuda.Device().synchronize()
    say("to the device and packed, s", time.perf_counter() - start)
    for turn in range(2):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make("latent-key").fit(engine)
        say(f"latent-key on {users * 100:,} answers, s (turn {turn + 1})",
            time.perf_counter() - start)  # fmt: skip


def pay_off(sizes: list[int]) -> None:
    """From answers in memory to scores, both engines: from which size on the GPU is faster."""
    for users in sizes:
        codes = codes_on_device(users, 100, 4, 0.0, seed=9)
        for method in ("hnd", "latent-key"):
            took = {}
            for engine in ("cupy", "threads"):
                best = np.inf
                for _ in range(2):
                    data = responses_of(codes, 4)  # a new object: packed anew
                    start = time.perf_counter()
                    make(method, engine=engine).fit(data)
                    best = min(best, time.perf_counter() - start)
                took[engine] = round(best, 3)
            say(f"{users * 100:,} answers, {method}", took)


def from_file(sizes: list[int]) -> None:
    """From a file to a ranking, both engines."""
    import hitsndiffs as hnd

    for users in sizes:
        codes = cp.asnumpy(codes_on_device(users, 100, 4, 0.0, seed=9)).T
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "answers.csv")
            with path.open("wb") as file:
                file.write(b"user," + b",".join(b"q%d" % i for i in range(100)) + b"\n")
                text = np.full((users, 200), ord(","), dtype=np.uint8)
                text[:, ::2] = ord("A") + codes
                text[:, 199] = ord("\n")
                names = np.char.add(np.arange(users).astype("S9"), b",")
                file.writelines(n + row.tobytes() for n, row in zip(names, text, strict=True))
            for method in ("hnd", "latent-key"):
                took = {}
                for engine in ("cupy", "threads"):
                    for _ in range(2):
                        start = time.perf_counter()
                        data = hnd.read_responses(path)
                        read = time.perf_counter() - start
                        hnd.rank(data, method=method, engine=engine)
                        took[engine] = round(time.perf_counter() - start, 3)
                    took["reading"] = round(read, 3)
                say(f"file of {users * 100:,} answers, {method}, s", took)


def memory() -> None:
    """What is said when the card is too small."""
    users = 2_000_000_000
    fake = type("Many", (), {"n_users": users, "n_items": 100, "is_dense": True})
    from hitsndiffs.engines.cupy import _check_memory

    groups = Groups.of(np.arange(0, 401, 4), np.zeros(100, dtype=bool))
    try:
        _check_memory(fake, groups)  # type: ignore[arg-type]
    except InputError as error:
        say("memory", str(error))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="write the results to this file")
    parser.add_argument("--quick", action="store_true", help="a tenth of the users")
    parser.add_argument(
        "--only", nargs="*", default=["round", "key", "methods", "memory", "file", "pay"]
    )
    options = parser.parse_args()
    begun = time.perf_counter()
    less = 10 if options.quick else 1
    properties = cp.cuda.runtime.getDeviceProperties(0)
    say("device", properties["name"].decode())
    parts: dict[str, Callable[[], None]] = {
        "methods": compare_methods,
        "round": lambda: large_round(100_000_000 // less),
        "key": lambda: latent_key(10_000_000 // less),
        "pay": lambda: pay_off([1_000, 10_000, 100_000, 1_000_000]),
        "file": lambda: from_file([10_000, 100_000, 1_000_000 // less]),
        "memory": memory,
    }
    for name in options.only:
        try:
            parts[name]()
        except Exception as error:  # the other parts are worth their time on the device
            say(f"{name} FAILED", repr(error))
            import traceback

            traceback.print_exc()
        cp.get_default_memory_pool().free_all_blocks()
        say(f"{name}: minutes so far", round((time.perf_counter() - begun) / 60, 2))
        if options.json:
            with open(options.json, "w", encoding="utf-8") as file:
                json.dump(FOUND, file, indent=1)


if __name__ == "__main__":
    main()
