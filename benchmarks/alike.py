"""Very similar answers: how often innocent people are named, and how often copies are found.

    python -m benchmarks.alike [--classes N] [--first SEED] [DATA …]

*Innocent*: classes whose users answer independently, from every model of ``hitsndiffs.irt`` with
normal and with uniform ability, and real tests in which every item's answers are dealt anew among
users of about the same ability. *Copies*: an ordinary test with one user who took a share of the
answers from another. Beside it, what the best test can find that names somebody in one class of a
hundred: it knows everybody's ability before the copying, all options' curves and the share.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.audit import tests
from hitsndiffs import Responses, simulate
from hitsndiffs.methods.alike import find_alike

MODELS = ("1pl", "2pl", "3pl", "glad", "grm", "bock", "samejima")
SIZES = ((30, 20), (30, 60), (100, 40), (300, 40))
GROUP = 6
#: Classes with copies, and classes to judge the best test by.
COPIES, BEST = 40, 300


def exam(seed: int, users: int, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers to an ordinary test (option 0 is right), and how likely each option was."""
    rng = np.random.default_rng(seed)
    right = 1 / (1 + np.exp(-1.3 * (rng.normal(0.7, 1, (users, 1)) - rng.normal(0, 1, items))))
    chances, lures = np.empty((users, items, 4)), []
    for item in range(items):
        shares = rng.dirichlet([1, 1, 1])
        lures.append(1 + rng.choice(3, users, p=shares))
        chances[:, item, 1:] = (1 - right[:, item, None]) * shares
    chances[:, :, 0] = right
    return np.where(rng.random((users, items)) < right, 0, np.stack(lures, axis=1)), chances


def copied(
    seed: int, users: int, items: int, share: float
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """The same with a share of the answers copied, and who copied from whom."""
    (table, chances), rng = exam(seed, users, items), np.random.default_rng(seed + 99)
    one, other = rng.choice(users, 2, replace=False).tolist()
    taken = rng.random(items) < share
    table[other, taken] = table[one, taken]
    return table, chances, one, other


def told(table: np.ndarray, chances: np.ndarray, share: float) -> np.ndarray:
    """The best evidence for each pair that the first copied such a share from the second (nats)."""
    users, items = table.shape
    own = np.take_along_axis(chances, table[:, :, None], 2)[:, :, 0]
    none = np.log1p(-min(share, 0.999))
    ones = np.eye(4)[table]
    gain = ones * (np.log1p(share * (1 / np.maximum(own, 1e-9) - 1)) - none)[:, :, None]
    found: np.ndarray = gain.reshape(users, -1) @ ones.reshape(users, -1).T + items * none
    np.fill_diagonal(found, -np.inf)
    return found


def best_possible(users: int, items: int, share: float, classes: int) -> float:
    """The share of copies that the best test finds."""
    alone = (exam(10_000 + seed, users, items) for seed in range(classes))
    bar = np.quantile([told(*each, share).max() for each in alone], 0.99)
    hits = 0
    for seed in range(classes):
        table, chances, one, other = copied(seed, users, items, share)
        found = told(table, chances, share)
        hits += max(found[one, other], found[other, one]) > bar
    return hits / classes


def dealt(r: Responses, key: dict[str, str], seed: int) -> Responses:
    """The same test, with each item's answers dealt anew among users of about the same ability."""
    rng = np.random.default_rng(seed)
    indptr, options = r.rows
    table = np.full((r.n_users, r.n_items), -1)
    table[np.repeat(np.arange(r.n_users), np.diff(indptr)), r.option_items[options]] = options
    labels = r.option_labels.astype(str)
    right = np.array([labels[o] == key.get(str(r.items[i])) for o, i in enumerate(r.option_items)])
    answered = table >= 0
    score = (right[table] & answered).sum(axis=1) / np.maximum(answered.sum(axis=1), 1)
    order = np.argsort(score + 1e-6 * rng.random(r.n_users))
    for group in np.array_split(order, max(r.n_users // GROUP, 1)):
        for item in range(r.n_items):
            who = group[table[group, item] >= 0]
            table[who, item] = table[rng.permutation(who), item]
    return Responses.from_wide([[labels[o] if o >= 0 else None for o in row] for row in table])


def innocent(classes: int, first: int = 0) -> Iterator[tuple[str, Responses]]:
    """Simulated classes of independent users."""
    for model in MODELS:
        for ability in ("uniform", "normal"):
            for users, items in SIZES:
                for seed in range(first, first + classes):
                    how = {"ability": ability} if ability == "normal" else {}
                    r = simulate(model, users=users, items=items, seed=seed, **how).responses
                    yield f"{model}, {ability}, {users} × {items}", r


def main() -> None:
    """Print the two tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--classes", type=int, default=25)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("data", nargs="*", type=Path)
    asked = parser.parse_args()
    start = time.process_time()
    named: dict[str, list[bool]] = {}
    for kind, r in innocent(asked.classes, asked.first):
        named.setdefault(kind, []).append(len(find_alike(r).first) > 0)
    for group, name, r, key in tests(asked.data):
        if r.n_users <= 500:
            for seed in range(asked.first, asked.first + 5):
                found = find_alike(dealt(r, key, seed))
                named.setdefault(f"{group}/{name}, dealt anew", []).append(len(found.first) > 0)
    for kind, some in named.items():
        if any(some):
            print(f"{kind}\t{sum(some)} of {len(some)}")
    total = [value for some in named.values() for value in some]
    print(f"innocent classes with anybody named: {sum(total)} of {len(total)}")
    print(f"\nshare copied, found of {COPIES}, and by the best test")
    for users, items in ((30, 20), (30, 60), (100, 40), (100, 100), (300, 100), (100, 200)):
        row = []
        for share in (0.5, 0.75, 1.0):
            hits = 0
            for seed in range(asked.first, asked.first + COPIES):
                table, _, one, other = copied(seed, users, items, share)
                found = find_alike(Responses.from_wide(table))
                pairs = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
                hits += (min(one, other), max(one, other)) in pairs
            best = best_possible(users, items, share, BEST if users <= 100 else BEST // 3)
            row.append(f"{share:.0%} {hits / COPIES:.2f} {best:.2f}")
        print(f"{users} × {items}", *row, sep="\t")
    print(f"\n{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
