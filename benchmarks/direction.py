"""Which way up: wise and misled crowds, two camps, and parts of real sets with two labels.

    python -m benchmarks.direction [--runs N]

Where all items share two labels, a solution and its mirror fit equally well. The table counts, for
each kind of data, how often ``auto`` is the right way up, how often it is upside down and says so
with more than 60 %, and how often it calls a toss-up.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from benchmarks.arena import real
from benchmarks.arena.cases import Case, made_case
from benchmarks.arena.measuring import true_shares
from hitsndiffs import Responses, rank
from hitsndiffs.engines import open_engine
from hitsndiffs.methods.labels import two_labels
from hitsndiffs.results.metrics import accuracy

#: Shares of the items on which most of the crowd is misled.
MISLED = (0.0, 0.2, 0.4, 0.6, 0.8)
USERS, ITEMS = (20, 60), 60
#: Parts of the users of real sets.
PARTS = (0.7, 0.4)
SURE, RIGHT = 0.6, 0.3


def crowd(users: int, misled: float, seed: int) -> Case:
    """Two labels, leanings, and items on which the usual answer is wrong; some users know."""
    rng = np.random.default_rng([users, int(100 * misled), seed])
    key = rng.integers(2, size=ITEMS)
    ability = 1 + rng.standard_normal(users)
    pull = np.where(rng.random(ITEMS) < misled, -1.5, 0.5) + 0.5 * rng.standard_normal(ITEMS)
    leaning = 0.7 * rng.standard_normal(users)
    side = 2 * key - 1
    logit = ability[:, None] - 0.5 + pull + leaning[:, None] * side
    right = rng.random((users, ITEMS)) < 1 / (1 + np.exp(-logit))
    return made_case(np.where(right, key, 1 - key), key)


def camps(first: int, second: int, seed: int) -> Case:
    """Two camps that contradict each other on every item, with a few slips."""
    rng = np.random.default_rng([first, second, seed])
    key = rng.integers(2, size=ITEMS)
    codes = np.repeat([key, 1 - key], [first, second], axis=0)
    slips = rng.random(codes.shape) < rng.uniform(0.0, 0.1, len(codes))[:, None]
    return made_case(np.where(slips, 1 - codes, codes), key)


def part(case: Case, share: float, seed: int) -> Case:
    """Some of the users of a set."""
    r = case.responses
    rng = np.random.default_rng([seed, 7])
    count = max(round(share * r.n_users), 4)
    users = np.sort(rng.choice(r.n_users, count, replace=False))
    fewer: Responses = r.select(users)
    here = set(fewer.items.tolist())
    return Case(fewer, {item: answer for item, answer in case.key.items() if item in here})


def rows(runs: int) -> Iterator[tuple[str, list[Case]]]:
    """The rows of the table, with their data."""
    for users in USERS:
        for misled in MISLED:
            name = f"{users} users, misled on {misled:.0%} of the items"
            yield name, [crowd(users, misled, seed) for seed in range(runs)]
    for first, second in ((10, 10), (10, 9), (10, 5)):
        yield f"camps of {first} and {second}", [camps(first, second, seed) for seed in range(runs)]
    sets = [real.load(name) for name in real.present()]
    sets = [case for case in sets if two_labels(open_engine(case.responses).items)]
    for share in PARTS:
        made = [part(case, share, seed) for case in sets for seed in range(max(runs // 3, 1))]
        yield f"{share:.0%} of the users of {len(sets)} real sets", made


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=6)
    print("data\truns\tright\tupside down\tsure of it\ttoss-ups\tof them right", flush=True)
    for name, cases in rows(parser.parse_args().runs):
        found = []
        for case in cases:
            ranking = rank(case.responses)
            value = accuracy(true_shares(case), ranking.scores)
            toss = any(doubt.code == "toss-up" for doubt in ranking.fit.doubts)
            found.append((0.0 if np.isnan(value) else value, ranking.confidence, toss))
        value, sure, toss = np.array(found, dtype=float).T
        wrong = value < -RIGHT
        print(
            name, len(found), (value > RIGHT).sum(), wrong.sum(), (wrong & (sure > SURE)).sum(),
            int(toss.sum()), ((toss > 0) & (value > RIGHT)).sum(), sep="\t", flush=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
