"""The real data sets: where they are, how they are read, and which half each belongs to."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

import numpy as np

from benchmarks.arena.cases import Case
from hitsndiffs import read_key, read_responses

__all__ = ["ALL", "ASIDE", "DEVELOP", "MORE", "OTHERS", "PAPER", "load", "part", "present", "size"]

#: The folder is named by this variable.
VARIABLE = "HITSNDIFFS_DATA"

#: The six data sets of the paper, and the others.
PAPER = ("Chinese", "English", "IT", "Medicine", "Pokemon", "Science")
OTHERS = (
    "credential",
    "crowd_rte",
    "crowd_web",
    "eedi_core",
    "fims",
    "itan_ds1",
    "medical_admission",
    "mmlu_pro",
    "openpsy_iq1",
    "sphere_tce",
)
#: Twelve more, most of them with two labels shared by all items.
MORE = (
    "copa_dialect_lm",
    "copa_lm",
    "crowd_product",
    "crowd_temporal",
    "crt_lm",
    "digit_matrices_lm",
    "gk_a",
    "gk_b",
    "sp_art",
    "sp_lesions",
    "syntax_lm",
    "timss07_rus",
)
ALL = (*PAPER, *OTHERS, *MORE)
#: Of the first sixteen: develop on this half; look at the other rarely.
DEVELOP = ("Chinese", "IT", "Pokemon", "credential", "crowd_rte", "fims", "itan_ds1", "mmlu_pro")
ASIDE = tuple(name for name in (*PAPER, *OTHERS) if name not in DEVELOP)

#: A part of a data set has this many items and at most this many users.
PART_ITEMS, PART_USERS = 20, 40
#: Users of a part have answered this many of its items at least.
PART_ANSWERS = 3


def present() -> list[str]:
    """The data sets that the folder holds."""
    return [name for name in ALL if _responses_file(name).exists()]


def size(name: str) -> int:
    """The size of a data set's file; 0 where it is not there."""
    file = _responses_file(name)
    return file.stat().st_size if file.exists() else 0


@lru_cache(maxsize=2)
def load(name: str) -> Case:
    """A data set with its key."""
    file = _responses_file(name)
    if not file.exists():
        raise FileNotFoundError(f"{file} is not there; let {VARIABLE} name the folder of the data.")
    responses = read_responses(file, transpose=name in PAPER)
    key = read_key(file.with_name("truth.csv" if name in PAPER else "key.csv"), responses)
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


def _responses_file(name: str) -> Path:
    folder = Path(os.environ.get(VARIABLE, "data"))
    if name in PAPER:
        return folder / "mcq" / name / "answer.csv"
    return folder / ("more" if name in MORE else "real") / name / "responses.csv"
