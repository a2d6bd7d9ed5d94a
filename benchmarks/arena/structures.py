"""Kinds of answer sheets that real data showed, with sizes and strengths drawn at random.

Every kind is one cause that can mislead a ranking without a key: repeated runs of few models,
letter habits, cliques, shared misconceptions, two populations, a second trait, leanings. A seed
gives one data set; sizes, numbers of options and strengths differ from seed to seed, so that what
is learnt on a kind is not learnt on one size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from benchmarks.arena.cases import Array, Case, Codes, made_case
from hitsndiffs.irt import simulate

__all__ = ["STRUCTURES", "UNKNOWABLE", "structure"]

Rng = np.random.Generator

#: Kinds in which no answers can tell who is good, and why: the same table of answers comes about as
#: often from another truth that ranks people otherwise. Confidence is judged on them too, but not
#: held to 90 %. The reasons are about how the data are made, not about how a method fares on them.
UNKNOWABLE: Mapping[str, str] = {
    "misconception": (
        "exchange the right option and the wrong one that people fall for: the table is that of a "
        "test in which the other option is right and a group at one end shares a mistake"
    ),
    "two populations": (
        "exchange the two keys: a share s of users with the second key becomes a share 1 - s, "
        "which is a table of the same kind"
    ),
    "two traits": (
        "exchange the two traits: then ability draws people to what was the wrong option, and the "
        "other trait decides among the rest"
    ),
    "nearly alike": (
        "take the common answer for right everywhere: the table is that of a plain test with one "
        "strong wrong option in some items"
    ),
    "marks": (
        "exchange right and wrong in every mark, with abilities and difficulties reversed: the "
        "chances of all answers are the same"
    ),
    "hard graded": (
        "reverse the abilities and the order of the options: a test that is too hard for all "
        "becomes one that is too easy, with the same chances of all answers (exact in GRM and Bock)"
    ),
}


def structure(kind: str, seed: int) -> Case:
    """One data set of a kind.

    >>> structure("exam", 0).responses.n_users == structure("exam", 0).responses.n_users
    True
    """
    rng = np.random.default_rng([sum(kind.encode()), len(kind), seed])
    codes, key = STRUCTURES[kind](rng)
    answered = (codes >= 0).any(axis=1)
    return made_case(codes[answered], key)


def _logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _pick(rng: Rng, *values: int) -> int:
    return int(rng.choice(values))


class _Test:
    """A multiple-choice test: abilities, the right options, and everybody's answers."""

    def __init__(
        self, rng: Rng, users: int, items: int, *, sd: float = 1.0, ease: float = 0.2,
        options: int | None = None,
    ) -> None:  # fmt: skip
        self.options = int(rng.integers(3, 6)) if options is None else options
        self.theta = sd * rng.standard_normal(users)
        slope, hard = rng.lognormal(0.0, 0.3, items), rng.normal(-ease, 1.0, items)
        right = rng.random((users, items)) < _logistic(slope * (self.theta[:, None] - hard))
        self.key: Codes = rng.integers(self.options, size=items)
        lures = rng.dirichlet(np.ones(self.options - 1), size=items).cumsum(axis=1)
        wrong = (rng.random((users, items, 1)) > lures).sum(axis=2).clip(max=self.options - 2)
        wrong += wrong >= self.key
        self.codes: Codes = np.where(right, self.key, wrong)

    @property
    def shape(self) -> tuple[int, int]:
        return self.codes.shape[0], self.codes.shape[1]

    def lured(self) -> Codes:
        """One wrong option of every item: the one after the right one."""
        return np.asarray((self.key + 1) % self.options)


def _blank(rng: Rng, codes: Codes, share: float) -> Codes:
    return np.where(rng.random(codes.shape) < share, codes, -1)


def _repeat(rng: Rng, test: _Test, most_noise: float) -> Codes:
    """Many runs of each, some answers of every run drawn at random."""
    codes = np.repeat(test.codes, int(rng.integers(4, 13)), axis=0)
    noisy = rng.random(codes.shape) < rng.uniform(0.02, most_noise)
    return np.where(noisy, rng.integers(test.options, size=codes.shape), codes)


def _habit(rng: Rng, test: _Test, users: npt.NDArray[np.int64], least: float, same: float) -> None:
    """Some users answer many items by one letter, mostly the same letter for all of them."""
    for user in users:
        letter = test.options - 2 if rng.random() < same else int(rng.integers(test.options))
        test.codes[user, rng.random(test.shape[1]) < rng.uniform(least, 1.0)] = letter


def _exam(rng: Rng) -> tuple[Codes, Codes]:
    test = _Test(
        rng, _pick(rng, 20, 40, 80, 150), _pick(rng, 12, 20, 40),
        sd=rng.uniform(0.4, 1.2), ease=rng.uniform(-0.8, 1.0),
    )  # fmt: skip
    return test.codes, test.key


def _sparse(rng: Rng) -> tuple[Codes, Codes]:
    test = _Test(rng, _pick(rng, 80, 150), _pick(rng, 50, 100), sd=rng.uniform(0.5, 1.2))
    return _blank(rng, test.codes, rng.uniform(0.08, 0.4)), test.key


def _runs(rng: Rng) -> tuple[Codes, Codes]:
    test = _Test(
        rng, int(rng.integers(5, 16)), _pick(rng, 40, 80, 120), ease=rng.uniform(-0.5, 0.5)
    )
    return _repeat(rng, test, 0.3), test.key


def _runs_and_letters(rng: Rng) -> tuple[Codes, Codes]:
    models = int(rng.integers(6, 14))
    test = _Test(rng, models, _pick(rng, 40, 80, 120), ease=rng.uniform(-0.5, 0.5))
    weak = np.argsort(test.theta)[: int(models * rng.uniform(0.3, 0.7))]
    _habit(rng, test, weak, 0.5, 0.8)
    return _repeat(rng, test, 0.2), test.key


def _letters(rng: Rng) -> tuple[Codes, Codes]:
    test = _Test(rng, _pick(rng, 40, 80, 120), _pick(rng, 20, 40), ease=rng.uniform(-0.5, 0.5))
    habit = rng.random(test.shape[0]) < _logistic(-test.theta) * rng.uniform(0.4, 1.2)
    _habit(rng, test, np.flatnonzero(habit), 0.3, 0.6)
    return test.codes, test.key


def _cliques(rng: Rng) -> tuple[Codes, Codes]:
    test = _Test(rng, _pick(rng, 60, 120), _pick(rng, 25, 40), ease=rng.uniform(-0.8, 0.5))
    users, items = test.shape
    waiting = rng.permutation(users)
    for _ in range(int(rng.integers(1, 6))):
        size = int(users * rng.uniform(0.02, 0.15))
        group, waiting = waiting[:size], waiting[size:]
        sheet = test.codes[rng.integers(users)].copy()
        if rng.random() < 0.6:  # a bad sheet: none of its answers is right
            other = (test.key + 1 + rng.integers(test.options - 1, size=items)) % test.options
            sheet = np.where(sheet == test.key, other, sheet)
        taken = rng.random((size, items)) < rng.uniform(0.6, 1.0)
        test.codes[group] = np.where(taken, sheet, test.codes[group])
    return test.codes, test.key


def _misconception(rng: Rng) -> tuple[Codes, Codes]:
    test = _Test(rng, _pick(rng, 60, 120), _pick(rng, 20, 30), options=int(rng.integers(4, 6)))
    users, items = test.shape
    lured = rng.random(items) < rng.uniform(0.3, 1.0)
    knows = rng.random((users, items)) < _logistic(
        2 * (test.theta[:, None] - rng.uniform(0.3, 1.6))
    )
    falls = rng.random((users, items)) < _logistic(2 * (test.theta[:, None] + 0.8))
    guess = rng.integers(test.options, size=(users, items))
    answer = np.where(knows, test.key, np.where(falls, test.lured(), guess))
    return np.where(lured, answer, test.codes), test.key


def _two_populations(rng: Rng) -> tuple[Codes, Codes]:
    """Some users hold another key for right, and differ in ability by it as the rest do."""
    test = _Test(rng, _pick(rng, 60, 120), _pick(rng, 25, 40), ease=rng.uniform(-1.0, 0.0))
    users, items = test.shape
    second = (test.key + 1 + rng.integers(test.options - 1, size=items)) % test.options
    hit = rng.random((users, items)) < _logistic(
        rng.standard_normal(users)[:, None] - rng.standard_normal(items) + 0.2
    )
    miss = (test.key + 1 + rng.integers(test.options - 1, size=(users, items))) % test.options
    others = rng.random(users) < rng.uniform(0.2, 0.6)
    return np.where(others[:, None], np.where(hit, second, miss), test.codes), test.key


def _two_traits(rng: Rng) -> tuple[Codes, Codes]:
    """A second trait moves people to one wrong option of every item."""
    test = _Test(rng, _pick(rng, 60, 120), _pick(rng, 25, 40), sd=rng.uniform(0.4, 1.0))
    users, items = test.shape
    trait = rng.uniform(1, 3) * (rng.standard_normal(users)[:, None] - rng.normal(0.5, 1.0, items))
    moved = rng.random((users, items)) < _logistic(trait) * rng.uniform(0.3, 0.9)
    return np.where(moved, test.lured(), test.codes), test.key


def _crowd(rng: Rng) -> tuple[Codes, Codes]:
    """One label set, pooled confusions, own leanings, item difficulty, some spammers; sparse."""
    labels, users, items = int(rng.integers(2, 6)), _pick(rng, 25, 50, 80), _pick(rng, 80, 160)
    key = rng.choice(labels, p=rng.dirichlet(np.full(labels, 4.0)), size=items)
    pooled = rng.normal(0.0, rng.uniform(0.2, 1.0), (labels, labels))
    hard = np.maximum(rng.standard_normal(items), 0.0)
    skill = rng.normal(rng.uniform(0.5, 2.0), rng.uniform(0.2, 1.0), users)
    leaning = rng.uniform(0.1, 1.2)
    codes = np.empty((users, items), dtype=np.int64)
    for user in range(users):
        pull = pooled[key] + rng.normal(0.0, leaning, labels)
        pull[np.arange(items), key] += 1.5 * (skill[user] - 0.7 * hard)
        if rng.random() < 0.12:
            pull = np.tile(rng.normal(0.0, 3.0, labels), (items, 1))
        codes[user] = np.argmax(pull + rng.gumbel(size=pull.shape), axis=1)
    eager = rng.random((users, items)) * rng.lognormal(0.0, 1.0, users)[:, None]
    asked = eager.argsort(axis=0).argsort(axis=0) >= users - min(int(rng.integers(4, 10)), users)
    return np.where(asked, codes, -1), key


def _nearly_alike(rng: Rng) -> tuple[Codes, Codes]:
    """Users of almost one ability; on many items the common answer is wrong."""
    options, users, items = int(rng.integers(3, 6)), _pick(rng, 20, 40), _pick(rng, 100, 160)
    key = rng.integers(options, size=items)
    common = np.where(rng.random(items) < 0.4, (key + 1) % options, key)
    follow = rng.normal(0.65, rng.uniform(0.01, 0.08), users).clip(0.2, 0.95)
    know = rng.normal(0.5, 0.15, users).clip(0.0, 1.0)
    rest = np.where(
        rng.random((users, items)) < know[:, None], key, rng.integers(options, size=(users, items))
    )
    codes = np.where(rng.random((users, items)) < follow[:, None], common, rest)
    return _blank(rng, codes, rng.uniform(0.2, 1.0)), key


def _ceiling(rng: Rng) -> tuple[Codes, Codes]:
    """An easy test: many able users have the same perfect sheet, and nobody copied."""
    test = _Test(rng, _pick(rng, 60, 120), _pick(rng, 12, 20), sd=1.5, ease=rng.uniform(1.5, 3.0))
    return test.codes, test.key


def _true_or_false(rng: Rng, *, sparse: bool) -> tuple[Codes, Codes]:
    """Two labels shared by all items; leanings of any strength; the majority may be wrong."""
    users, items = _pick(rng, 25, 50, 80), _pick(rng, 30, 60, 100)
    key = (rng.random(items) < rng.choice([0.2, 0.35, 0.5, 0.65])).astype(np.int64)
    lean = rng.choice([-1.0, 0.0, 1.0, 2.0]) + rng.choice([0.0, 0.5, 1.0, 2.0]) * (
        rng.standard_normal(users)
    )
    if rng.random() < 0.4:  # some say the same to everything
        lean += 5.0 * (rng.random(users) < 0.2)
    able = rng.choice([0.3, 0.8, 1.5]) + rng.choice([0.3, 0.7, 1.2]) * rng.standard_normal(users)
    ease = rng.choice([0.3, 1.0]) * rng.standard_normal(items)
    one = _logistic(lean[:, None] + (2 * key - 1) * (able[:, None] + ease))
    codes = (rng.random((users, items)) < one).astype(np.int64)
    return _blank(rng, codes, float(rng.choice([0.1, 0.3])) if sparse else 1.0), key


def _marks(rng: Rng) -> tuple[Codes, Codes]:
    """Not answers but marks: 1 is right in every item."""
    test = _Test(rng, _pick(rng, 40, 100), _pick(rng, 20, 40), ease=rng.uniform(-0.5, 1.0))
    return (test.codes == test.key).astype(np.int64), np.ones(test.shape[1], dtype=np.int64)


def _graded(rng: Rng, *, hard: bool) -> tuple[Codes, Codes]:
    """The paper's models: several options rise with ability; hard ones have nobody at the top."""
    model = str(rng.choice(["grm", "bock", "samejima"]))
    bmax = float(rng.uniform(1.1, 1.5) if hard else rng.uniform(0.5, 0.9))
    sim = simulate(
        model, users=_pick(rng, 30, 50, 80), items=_pick(rng, 25, 40), bmax=bmax,
        seed=int(rng.integers(2**31)),
    )  # fmt: skip
    r = sim.responses
    letters = {label: n for n, label in enumerate(sorted({str(x) for x in r.option_labels}))}
    starts, text = r.item_starts, [letters[str(label)] for label in r.option_labels]
    codes = np.stack(
        [np.array(text[starts[i] : starts[i + 1]])[r.codes[i]] for i in range(r.n_items)], axis=1
    )
    # shuffled item by item: that letters are in the order of merit is no part of the model
    key = np.array([letters.get(sim.key[item], len(letters)) for item in r.items])
    turn = np.stack([rng.permutation(len(letters) + 1) for _ in range(r.n_items)])
    return turn[np.arange(r.n_items), codes], turn[np.arange(r.n_items), key]


#: Kind → answers (users × items, -1 for none) and the right ones, from a source of chance.
STRUCTURES: Mapping[str, Callable[[Rng], tuple[Codes, Codes]]] = {
    "exam": _exam,
    "sparse": _sparse,
    "ceiling": _ceiling,
    "runs": _runs,
    "runs and letters": _runs_and_letters,
    "letters": _letters,
    "cliques": _cliques,
    "misconception": _misconception,
    "two populations": _two_populations,
    "two traits": _two_traits,
    "crowd": _crowd,
    "nearly alike": _nearly_alike,
    "true or false": lambda rng: _true_or_false(rng, sparse=False),
    "sparse true or false": lambda rng: _true_or_false(rng, sparse=True),
    "marks": _marks,
    "graded": lambda rng: _graded(rng, hard=False),
    "hard graded": lambda rng: _graded(rng, hard=True),
}
