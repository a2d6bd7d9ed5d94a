"""The paper's six real data sets, read from the folder that ``HITSNDIFFS_DATA`` names."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.irt.codes import from_codes, labels
from reproduction.fetching import REPOSITORY

__all__ = [
    "FOLDER_VARIABLE",
    "PAPER_SIZES",
    "WHERE_FROM",
    "data_folder",
    "read_set",
    "require_data",
    "sizes",
]

FOLDER_VARIABLE = "HITSNDIFFS_DATA"
#: Figure 10: users, items, options per item.
PAPER_SIZES = {
    "Chinese": (50, 24, 5),
    "English": (63, 30, 5),
    "IT": (36, 25, 4),
    "Medicine": (45, 36, 4),
    "Pokemon": (55, 20, 6),
    "Science": (111, 20, 5),
}
#: Shown when the data are needed but missing.
WHERE_FROM = (
    f"They are in the authors' repository ({REPOSITORY}): run "
    f"`python -m reproduction --fetch-data paper-data`, which fetches and checks them, and set "
    f"{FOLDER_VARIABLE}=paper-data."
)


def data_folder() -> Path | None:
    """Return the folder that holds one folder per data set, or None if there is none."""
    named = os.environ.get(FOLDER_VARIABLE)
    if not named:
        return None
    for folder in (Path(named) / "mcq", Path(named)):
        if (folder / "Chinese" / "answer.csv").is_file():
            return folder
    return None


def require_data() -> Path:
    """Return that folder, or raise an error that says where to get the data sets."""
    folder = data_folder()
    if folder is None:
        raise InputError(
            f"{FOLDER_VARIABLE} names no folder with the real data sets (Chinese/answer.csv, "
            f"Chinese/truth.csv and so on, or these under mcq/). {WHERE_FROM}"
        )
    return folder


def read_set(name: str) -> tuple[Responses, dict[str, str]]:
    """Read one set: ``answer.csv`` (one row per item, one column per user) and ``truth.csv``."""
    folder = require_data()
    chosen = np.loadtxt(folder / name / "answer.csv", delimiter=",", dtype=np.int64, ndmin=2)
    truth = np.loadtxt(folder / name / "truth.csv", delimiter=",", dtype=np.int64, ndmin=1)
    if len(truth) != len(chosen):
        raise InputError(
            f"{folder / name}: {len(chosen)} items in answer.csv but {len(truth)} in truth.csv."
        )
    codes = np.where(chosen < 0, 255, chosen).astype(np.uint8)
    items = labels("item", len(codes), width=2)
    options = [str(number) for number in range(int(max(chosen.max(), truth.max())) + 1)]
    responses = from_codes(
        codes, users=labels("user", codes.shape[1], width=3), items=items, option_labels=options
    )
    return responses, dict(zip(items.tolist(), (str(t) for t in truth.tolist()), strict=True))


def sizes() -> dict[str, tuple[int, int, int]]:
    """Users, items and most options of an item, of each set that is here."""
    found = {}
    if data_folder() is not None:
        for name in PAPER_SIZES:
            responses, key = read_set(name)
            chosen = {*responses.option_labels.tolist(), *key.values()}
            found[name] = (responses.n_users, responses.n_items, len(chosen))
    return found
