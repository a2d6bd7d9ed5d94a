"""The real data sets: which there are, and how they are read."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks.arena.cases import Case
from hitsndiffs import read_key, read_responses

__all__ = ["GROUPS", "load", "part", "present", "size"]

#: The folder is named by this variable; without it, it is ``data``.
VARIABLE = "HITSNDIFFS_DATA"
#: Its subfolders, one for each group of sets, and what they hold.
GROUPS = {
    "mcq": "the paper's six tests",
    "real": "exams, concept inventories, crowds",
    "more": "mostly with two shared labels",
    "fresh": "tests, judgements, crowds, language models",
}
#: A part of a data set has this many items and at most this many users.
PART_ITEMS, PART_USERS = 20, 40
#: Users of a part have answered this many of its items at least.
PART_ANSWERS = 3


def present() -> list[str]:
    """The data sets that the folder holds, as group/name."""
    folder = _folder()
    return [
        f"{group}/{each.name}"
        for group in GROUPS
        if (folder / group).is_dir()
        for each in sorted((folder / group).iterdir())
        if _file(f"{group}/{each.name}").exists()
    ]


def size(name: str) -> int:
    """The size of a data set's file."""
    return _file(name).stat().st_size


@lru_cache(maxsize=2)
def load(name: str) -> Case:
    """A data set with its key."""
    file = _file(name)
    if not file.exists():
        raise FileNotFoundError(f"{file} is not there; let {VARIABLE} name the folder of the data.")
    paper = name.startswith("mcq/")
    responses = read_responses(file, transpose=paper)
    key = read_key(file.with_name("truth.csv" if paper else "key.csv"), responses)
    return Case(responses, key)


def part(name: str, seed: int) -> Case:
    """Some items and some users of a data set, drawn at random: a small test from real answers."""
    whole = load(name)
    rng = np.random.default_rng(seed)
    n_items = whole.responses.n_items
    items = np.sort(rng.choice(n_items, min(PART_ITEMS, n_items), replace=False))
    fewer = whole.responses.select(items=items)
    active = np.flatnonzero(fewer.answers_per_user >= PART_ANSWERS)
    users = np.sort(rng.choice(active, min(PART_USERS, len(active)), replace=False))
    responses = fewer.select(users)
    here = set(responses.items.tolist())
    return Case(responses, {item: answer for item, answer in whole.key.items() if item in here})


def _folder() -> Path:
    return Path(os.environ.get(VARIABLE, "data"))


def _file(name: str) -> Path:
    answers = "answer.csv" if name.startswith("mcq/") else "responses.csv"
    return _folder() / name / answers
