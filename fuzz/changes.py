"""Changes that must not change a result: order, names, copies, blanks, files."""

from __future__ import annotations

import io
import random
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from factory import c1p_table, random_answers, random_table

import hitsndiffs as hnd
from hitsndiffs.errors import ConvergenceWarning, InputError

#: Results may differ by this much, relative to the largest score.
LIMIT = 1e-9
METHODS = [
    "hnd", "hnd-robust", "auto", "abh", "hits", "truthfinder", "investment", "pooled-investment",
    "majority", "dawid-skene", "latent-key",
]  # fmt: skip
#: These read labels across items; other labels in one item are other data to them, unless every
#: item has labels of its own.
READ_LABELS = {"hnd-robust", "auto", "latent-key", "dawid-skene"}
NAMES = ("user-{:02}", "item-{:02}", "option-{}")
CHANGES = ["users", "items", "options", "names", "everything", "copies", "blank", "split"]


@dataclass
class Case:
    """A table of answers (-1: none), a method and a change."""

    table: Any
    method: str
    change: str
    seed: int

    def __repr__(self) -> str:
        return f"Case({self.table.tolist()!r}, {self.method!r}, {self.change!r}, {self.seed})"


def table(rng: random.Random) -> Any:
    """Answers, often degenerate: copies, constant items, perfect orders, symmetric ones."""
    seed = rng.randrange(2**31)
    m, n, k = rng.randint(3, 18), rng.randint(2, 9), rng.randint(2, 4)
    shape = rng.randrange(7)
    if shape == 0:
        found = c1p_table(seed, m, n, k, levels=rng.choice([None, 3, 5]))
    elif shape == 1:
        found = np.repeat(random_answers(max(m // 3, 2), n, k, seed=seed), 3, axis=0)
    elif shape == 2:
        found = random_table(seed, m, n, k, graded=False)
    elif shape == 3:
        found = random_table(seed, m, n, k, missing=0.4)
    elif shape == 4:  # every user differs from the others in the same way
        found = (np.arange(m)[:, None] == np.arange(n)[None, :]).astype(np.int64)
    elif shape == 5:
        found = random_answers(m, n, k, missing=0.2, seed=seed)
        found[:, 0] = 0
    else:
        found = np.random.default_rng(seed).integers(0, 2, (m, n))
    if (found < 0).all():
        found[0, 0] = 0
    return found


class Changes:
    """A result after a change is the result before it."""

    def make(self, rng: random.Random) -> Case:
        method = rng.choice(METHODS)
        while method in ("hnd-robust", "auto", "latent-key") and rng.random() < 0.6:
            method = rng.choice(METHODS)  # slower
        given = Case(table(rng), method, rng.choice(CHANGES), rng.randrange(2**31))
        if given.change == "options" and rng.random() < 0.6:
            given.change = "options item by item"
        return given

    def run(self, given: Case, folder: Path) -> str:
        return check(given)


def check(given: Case) -> str:
    """Rank before and after, and compare."""
    rng = np.random.default_rng(given.seed)
    before = given.table
    m, n = before.shape
    users, items = np.arange(m), np.arange(n)
    codes = before
    names, first_names = NAMES, NAMES
    if given.change in ("users", "everything"):
        users = rng.permutation(m)
    if given.change in ("items", "everything"):
        items = rng.permutation(n)
    if given.change in ("options", "everything"):  # one new name for each, the same in all items
        codes = np.where(before < 0, -1, rng.permutation(10)[before])
    if given.change in ("names", "everything"):
        names = ("z{}", "{}?", "a{}")
    if given.change == "options item by item":
        codes = np.column_stack([np.where(c < 0, -1, rng.permutation(10)[c]) for c in before.T])
        if given.method in READ_LABELS:
            first_names, names = (*NAMES[:2], "{1}.{0}"), (*NAMES[:2], "{0}?{1}")
    after = codes[users][:, items]
    if given.change == "copies":
        after = np.repeat(after, 2, axis=0)
    elif given.change == "blank":
        after = np.column_stack([np.vstack([after, -np.ones((1, n), int)]), -np.ones(m + 1, int)])
    elif given.change == "split":
        return _split(before, given.method)
    first = _ranked(before, given.method, first_names)
    second = _ranked(after, given.method, names)
    if isinstance(first, str) or isinstance(second, str):
        if given.change != "copies":
            assert isinstance(first, str) == isinstance(second, str), f"{first} | {second}"
        return "refused"
    if given.change == "copies":  # more of them may be another result; equal sheets are equal
        assert np.array_equal(second.scores[::2], second.scores[1::2], equal_nan=True)
        return "ranked"
    if given.change == "blank":
        assert np.isnan(second.ranks[-1])
        assert second.components[-1] == -1
        return _compare(first, second.scores[:-1], second)
    back = np.empty_like(users)
    back[users] = np.arange(m)
    return _compare(first, second.scores[back], second)


def _split(rows: Any, method: str) -> str:
    """Two files with some of the users each are one file."""
    if len(rows) < 4:
        return "refused"

    def text(numbers: range) -> io.BytesIO:
        lines = [",".join(["user", *(f"q{i}" for i in range(rows.shape[1]))])]
        lines += [
            ",".join([f"u{j}", *("" if c < 0 else f"o{c}" for c in rows[j])]) for j in numbers
        ]
        return io.BytesIO(("\n".join(lines) + "\n").encode())

    half = len(rows) // 2
    try:
        whole = hnd.read_responses(text(range(len(rows))))
    except InputError:
        return "refused"
    parts = hnd.read_responses([text(range(half)), text(range(half, len(rows)))])
    place = {user: number for number, user in enumerate(parts.users.tolist())}
    assert set(place) == set(whole.users.tolist())
    assert set(whole.items.tolist()) == set(parts.items.tolist())
    first, second = _rank(whole, method), _rank(parts, method)
    if isinstance(first, str) or isinstance(second, str):
        return "refused"
    return _compare(first, second.scores[[place[user] for user in whole.users.tolist()]], second)


def responses(rows: Any, names: Any = NAMES) -> Any:
    """The responses of a table."""
    cells = np.empty(rows.shape, dtype=object)
    for place, code in np.ndenumerate(rows):
        cells[place] = None if code < 0 else names[2].format(code, place[1])
    frame: dict[str, Any] = {"user": [names[0].format(j) for j in range(len(rows))]}
    frame |= {names[1].format(i): cells[:, i].tolist() for i in range(rows.shape[1])}
    import polars as pl

    schema = dict.fromkeys(frame, pl.String)
    return hnd.Responses.from_wide(pl.DataFrame(frame, schema=schema), user="user")


def _ranked(rows: Any, method: str, names: Any = NAMES) -> Any:
    try:
        r = responses(rows, names)
    except InputError as error:
        return str(error)
    return _rank(r, method)


def _rank(r: Any, method: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        try:
            return hnd.rank(r, method)
        except InputError as error:
            return str(error)


def _compare(first: Any, scores: Any, second: Any) -> str:
    """Fail where the results differ; where the data determine none, that must be said."""
    if undetermined(first) and undetermined(second):
        if exchangeable(first) and exchangeable(second):  # the same places, taken by others
            ways = [scores] if decided(first) else [scores, -scores]
            places = [np.sort(one[~np.isnan(one)]) for one in (first.scores, *ways)]
            apart = min(float(np.abs(places[0] - way).max(initial=0.0)) for way in places[1:])
            assert apart <= LIMIT * max(float(np.abs(places[0]).max(initial=0.0)), 1e-300), (
                f"the places differ by {apart:.2g}"
            )
            assert first.confidence is None or (
                abs(first.confidence - second.confidence) <= LIMIT
            ), f"confidence {first.confidence} | {second.confidence}"
        return "undetermined, and said"
    size = max(float(np.nanmax(np.abs(first.scores), initial=0.0)), 1e-300)
    apart = 0.0
    for part in set(first.components.tolist()):  # where no end is the better one, each may turn
        one, other = (x[first.components == part] for x in (first.scores, scores))
        ways = [other] if decided(first, part) else [other, -other]
        apart = max(apart, min(float(np.nanmax(np.abs(one - x), initial=0.0)) for x in ways) / size)
    assert np.array_equal(np.isnan(first.scores), np.isnan(scores))
    assert apart <= LIMIT, f"scores differ by {apart:.2g} at confidence {first.confidence}"
    if first.confidence is not None and np.isfinite(first.confidence):
        assert abs(first.confidence - second.confidence) <= LIMIT, (
            f"confidence {first.confidence} | {second.confidence}"
        )
    return "ranked"


def undetermined(ranking: Any) -> bool:
    """Whether the ranking says that several orders are equally good."""
    return any("the order is not determined" in note for note in ranking.notes)


def exchangeable(ranking: Any) -> bool:
    """Whether that is so because users whom nothing tells apart stand at different places."""
    return any(note.startswith("Nothing in the answers tells") for note in ranking.notes)


def decided(ranking: Any, part: int = 0) -> bool:
    """Whether the data say which end of a component is up; where they do not, that is said."""
    if part > 0:
        said = f"Component {part}: Nothing in the answers shows which end is better"
        return decided(ranking) and not any(note.startswith(said) for note in ranking.notes)
    turned = ranking.orientation
    return turned is None or turned.how != "undecided"
