"""Stories: answer sheets as they might come about, made up to mislead a ranking without a key.

Each story is a small function of a source of chance and a size, and its docstring tells it. In
some a shared mistake looks like knowledge, in some there is nothing to find at all, and some are
ordinary: they show whether a method is merely cautious.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.arena.cases import Array, Case, Codes
from benchmarks.arena.story_parts import (
    Exam,
    Rng,
    Story,
    blanked,
    drawn,
    keyed,
    logistic,
    workers,
)
from hitsndiffs import Responses

__all__ = ["STORIES", "Teller", "told"]

#: Users and items of the runs, by turns.
SIZES = ((18, 12), (60, 30), (120, 40))

#: A story is told with a source of chance, a number of users and a number of items.
Teller = Callable[[Rng, int, int], Story]
#: Name → how it is told.
STORIES: dict[str, Teller] = {}


def story(tell: Teller) -> Teller:
    """Enter a story under the name of its function."""
    STORIES[tell.__name__.replace("_", " ")] = tell
    return tell


def told(name: str, run: int) -> Case:
    """One data set of a story."""
    users, items = SIZES[run % len(SIZES)]
    tale = STORIES[name](np.random.default_rng([*name.encode(), run]), users, items)
    responses = Responses.from_wide(tale.codes)
    shares = np.full(responses.n_users, np.nan)
    if tale.right is not None:
        given = (tale.codes >= 0).sum(axis=1)
        np.divide(tale.right.sum(axis=1), given, out=shares, where=given > 0)
    key = {} if tale.key is None else dict(zip(responses.items, map(str, tale.key), strict=True))
    return Case(responses, key, shares=shares)


# -- ordinary ones: is it merely cautious? ----------------------------------------------------


@story
def plain_exam(rng: Rng, users: int, items: int) -> Story:
    """A test of four options, as they come."""
    return Exam(rng, users, items).story()


@story
def hard_exam(rng: Rng, users: int, items: int) -> Story:
    """A test of five options that is too hard for most."""
    return Exam(rng, users, items, options=5, ease=-1.2).story()


@story
def few_users(rng: Rng, users: int, items: int) -> Story:  # noqa: ARG001
    """Six users and many items."""
    return Exam(rng, 6, 4 * items).story()


@story
def two_forms(rng: Rng, users: int, items: int) -> Story:
    """Two forms of a test have a fifth of the items in common."""
    exam = Exam(rng, users, items)
    part, first = np.arange(items) % 5, exam.some_users(0.5)
    exam.put(np.where(first, np.isin(part, [1, 2]), np.isin(part, [3, 4])), -1)
    return exam.story()


@story
def negative_marking(rng: Rng, users: int, items: int) -> Story:
    """Wrong answers cost points, so the weak leave out what they are not sure of."""
    exam = Exam(rng, users, items)
    exam.put(exam.often(1.2 * (1 - exam.chance) * logistic(-exam.able)), -1)
    return exam.story()


@story
def out_of_time(rng: Rng, users: int, items: int) -> Story:
    """The weak do not get to the end; the rest of their sheet is blank."""
    exam = Exam(rng, users, items)
    exam.put(exam.late(0.75), -1)
    return exam.story()


@story
def own_choice(rng: Rng, users: int, items: int) -> Story:
    """The able answer more items, and harder ones."""
    exam = Exam(rng, users, items)
    exam.put(~exam.often(logistic(1.2 * exam.able - 0.6 * exam.hard)), -1)
    return exam.story()


@story
def contrarians(rng: Rng, users: int, items: int) -> Story:
    """Three students in ten answer wrongly on purpose where they know better."""
    exam = Exam(rng, users, items, ease=0.8)
    lie = (exam.key + rng.integers(1, 4, size=(users, items))) % 4
    exam.put(exam.some_users(0.3) & (exam.codes == exam.key) & exam.often(0.9), lie)
    return exam.story()


@story
def copied_from_the_best(rng: Rng, users: int, items: int) -> Story:
    """One student in five copies nine answers in ten from the best."""
    exam = Exam(rng, users, items)
    exam.put(exam.some_users(0.2) & exam.often(0.9), exam.codes[exam.theta.argmax()])
    return exam.story()


@story
def free_text(rng: Rng, users: int, items: int) -> Story:
    """Open answers: most wrong ones are given once only."""
    exam = Exam(rng, users, items, ease=-0.5, guessing=False)
    own = 1000 + np.arange(users * items).reshape(users, items)
    exam.put((exam.codes != exam.key) & exam.often(0.7), own)
    return exam.story()


@story
def refusals(rng: Rng, users: int, items: int) -> Story:
    """Strong models refuse more often, and a refusal is one more option."""
    exam = Exam(rng, users, items, ease=0.2)
    exam.put(exam.often(0.7 * logistic(1.5 * exam.able) * rng.beta(1, 2, items)), 4)
    return exam.story()


@story
def lazy_crowd(rng: Rng, users: int, items: int) -> Story:
    """One item in ten is a yes; half of the workers always say no, which is right mostly."""
    key = (rng.random(3 * items) < 0.1).astype(np.int64)
    tried = rng.random((users, len(key))) < rng.uniform(0.7, 0.9, (users, 1))
    slips = (rng.random(tried.shape) < 0.02).astype(np.int64)
    lazy = rng.random((users, 1)) < 0.5
    return keyed(np.where(lazy, slips, np.where(tried, key, 1 - key)), key)


@story
def yes_sayers(rng: Rng, users: int, items: int) -> Story:
    """True or false; whoever doubts says true, some much more than others."""
    key = (rng.random(items) < 0.4).astype(np.int64)
    knows = rng.normal(0.7, 0.8, (users, 1)) + 0.6 * rng.standard_normal(items)
    says_true = logistic(rng.normal(1.0, 1.2, (users, 1)) + (2 * key - 1) * knows)
    return keyed((rng.random((users, items)) < says_true).astype(np.int64), key)


# -- a shared mistake that looks like knowledge -----------------------------------------------


def _tricks(exam: Exam, share: float, fall: float) -> Story:
    falls = exam.often(0.82 * logistic(2 * exam.able + fall))
    exam.put(exam.some_items(share) & falls, exam.wrong())
    return exam.story()


@story
def tricks(rng: Rng, users: int, items: int) -> Story:
    """Two items in five are tricks that the able fall for."""
    return _tricks(Exam(rng, users, items), 0.4, 0.0)


@story
def mostly_tricks(rng: Rng, users: int, items: int) -> Story:
    """Seven items in ten are tricks that the able fall for."""
    return _tricks(Exam(rng, users, items), 0.7, 0.5)


@story
def myths(rng: Rng, users: int, items: int) -> Story:
    """True or false about popular myths: most people believe what is false."""
    key = rng.integers(2, size=items)
    knows = logistic(1.3 * (rng.standard_normal((users, 1)) - rng.normal(0.6, 0.7, items)))
    return keyed(np.where(rng.random((users, items)) < knows, key, 1 - key), key)


@story
def few_experts(rng: Rng, users: int, items: int) -> Story:
    """One user in twelve knows; the others fall for the same wrong options."""
    theta = rng.normal(-1.0, 0.3, users)
    theta[: max(2, users // 12)] = 2.5
    return Exam(rng, users, items, ease=-1.0, guessing=False, alike=0.3, theta=theta).story()


@story
def plausible_guesses(rng: Rng, users: int, items: int) -> Story:
    """Seven users in ten guess, and all guess what sounds plausible."""
    exam = Exam(rng, users, items, ease=0.5)
    plausible = rng.dirichlet(np.full(4, 0.7), size=items)
    exam.put(exam.some_users(0.7), drawn(rng, plausible, users))
    return exam.story()


def _coached(exam: Exam, share: float, faith: Array | float) -> Story:
    leaked = np.where(exam.some_items(0.6), exam.wrong(), exam.key)
    exam.put(exam.some_users(share) & exam.often(faith), leaked)
    return exam.story()


@story
def leaked_key(rng: Rng, users: int, items: int) -> Story:
    """A third of the class learnt a leaked key that is wrong in three items of five."""
    return _coached(Exam(rng, users, items), 0.35, 0.85)


@story
def leaked_to_most(rng: Rng, users: int, items: int) -> Story:
    """Three in five learnt such a key, some better than others."""
    return _coached(Exam(rng, users, items), 0.6, rng.uniform(0.4, 0.95, (users, 1)))


@story
def badly_taught(rng: Rng, users: int, items: int) -> Story:
    """The better of two classes was taught two items in five wrongly."""
    better = rng.random(users) < 0.5
    theta = 0.7 * rng.standard_normal(users) + np.where(better, 0.6, -0.6)
    exam = Exam(rng, users, items, theta=theta)
    exam.put(better[:, None] & exam.some_items(0.4) & exam.often(0.85), exam.wrong())
    return exam.story()


@story
def all_C_at_the_end(rng: Rng, users: int, items: int) -> Story:
    """The weak run out of time and fill in C to the end."""
    exam = Exam(rng, users, items)
    exam.put(exam.late(0.6), 2)
    return exam.story()


@story
def blanks_of_the_able(rng: Rng, users: int, items: int) -> Story:
    """The able leave blank what they do not know, the weak guess; a blank is an option."""
    exam = Exam(rng, users, items, ease=-0.5)
    exam.put(exam.often((1 - exam.chance) * logistic(2 * exam.able)), 4)
    return exam.story()


# -- copies, families, coalitions -------------------------------------------------------------


@story
def one_sheet_for_half(rng: Rng, users: int, items: int) -> Story:
    """Half of the class hands in the sheet of one weak student."""
    exam = Exam(rng, users, items)
    source = exam.codes[np.argsort(exam.theta)[users // 5]]
    exam.put(exam.some_users(0.5) & exam.often(0.95), source)
    return exam.story()


@story
def model_families(rng: Rng, users: int, items: int) -> Story:
    """Models of four families have three answers in five from their family."""
    level, family = rng.normal(0.0, 0.8, 4), rng.integers(4, size=users)
    theta = np.concatenate([level, level[family] + 0.4 * rng.standard_normal(users)])
    exam = Exam(rng, 4 + users, 2 * items, ease=0.2, guessing=False, alike=20.0, theta=theta)
    exam.put(exam.often(0.6), exam.codes[np.concatenate([np.arange(4), family])])
    return keyed(exam.codes[4:], exam.key)


@story
def weak_parent(rng: Rng, users: int, items: int) -> Story:
    """Three models in five are distilled from one weak model, some more than others."""
    theta = np.concatenate([[-1.3], rng.standard_normal(users)])
    exam = Exam(rng, 1 + users, 2 * items, ease=0.2, theta=theta)
    taken = exam.often(rng.uniform(0.4, 0.9, (1 + users, 1)))
    exam.put(exam.some_users(0.6) & taken, exam.codes[0])
    return keyed(exam.codes[1:], exam.key)


def _coalition(
    rng: Rng, users: int, items: int, members: float, faith: Array | float, answered: float
) -> Story:
    key, made_up = rng.integers(4, size=(2, items))
    codes = workers(rng, key, 4, rng.uniform(0.5, 0.9, users))
    follow = (rng.random((users, 1)) < members) & (rng.random(codes.shape) < faith)
    return keyed(blanked(rng, np.where(follow, made_up, codes), answered), key)


@story
def coalition(rng: Rng, users: int, items: int) -> Story:
    """Three workers in ten agreed on a sheet that they made up."""
    return _coalition(rng, users, 3 * items, 0.3, 0.9, 0.25)


@story
def coalition_of_most(rng: Rng, users: int, items: int) -> Story:
    """More than half of the workers follow such a sheet, some more than others."""
    return _coalition(rng, users, 3 * items, 0.55, rng.uniform(0.3, 0.8, (users, 1)), 0.4)


def _other_letters(exam: Exam, order: Codes) -> Story:
    """Half of the sheets have the options of each item in another order (items × options)."""
    right = exam.codes == exam.key
    exam.put(exam.some_users(0.5), order[np.arange(exam.items), exam.codes])
    return Story(exam.codes, None, right)


@story
def reversed_options(rng: Rng, users: int, items: int) -> Story:
    """Half of the sheets list the options in reverse: there A means what is D elsewhere."""
    return _other_letters(Exam(rng, users, items), np.tile([3, 2, 1, 0], (items, 1)))


@story
def shuffled_options(rng: Rng, users: int, items: int) -> Story:
    """Half of the sheets list the options of each item in another order."""
    order = rng.permuted(np.tile(np.arange(4), (items, 1)), axis=1)
    return _other_letters(Exam(rng, users, items), order)


# -- grades and marks -------------------------------------------------------------------------


def _grades(rng: Rng, items: int, shift: Array, spread: Array) -> tuple[Codes, Codes]:
    """Grades of five steps, and the fair ones; each rater has a shift and a spread."""
    fair = rng.uniform(0.5, 5.5, items)
    noise = spread[:, None] * rng.standard_normal((len(spread), items))
    codes, key = (
        np.rint(x).clip(1, 5).astype(int) - 1 for x in (fair + shift[:, None] + noise, fair)
    )
    return codes, key


@story
def severe_and_lenient(rng: Rng, users: int, items: int) -> Story:
    """Raters give five grades, and differ in how severe and how careful they are."""
    shift, spread = rng.normal(0.0, 0.7, users), rng.uniform(0.2, 1.2, users)
    codes, key = _grades(rng, items, shift, spread)
    return keyed(blanked(rng, codes, 0.6), key)


@story
def mostly_lenient(rng: Rng, users: int, items: int) -> Story:
    """Two raters in three give a grade too much."""
    shift = (rng.random(users) < 0.65).astype(float)
    return keyed(*_grades(rng, items, shift, rng.uniform(0.3, 0.8, users)))


@story
def points(rng: Rng, users: int, items: int) -> Story:
    """Not answers but points: 0, 1 or 2, and only 2 is right."""
    reach = rng.standard_normal((users, 1)) - rng.normal(0.0, 0.8, items)
    codes = np.digitize(reach + rng.logistic(0.0, 0.6, (users, items)), [-0.7, 0.7])
    return keyed(codes, np.full(items, 2))


@story
def percentages(rng: Rng, users: int, items: int) -> Story:
    """Homework marked in ten steps; the upper five count as right."""
    reach = rng.standard_normal((users, 1)) + rng.normal(0.6, 0.6, items)
    codes = (10 * logistic(reach + 0.6 * rng.standard_normal((users, items)))).astype(int)
    return Story(codes, None, codes >= 5)


# -- nothing to find --------------------------------------------------------------------------

#: Where agreement in five steps changes.
STEPS = (-1.5, -0.5, 0.5, 1.5)


@story
def attitudes(rng: Rng, users: int, items: int) -> Story:
    """A questionnaire in five steps about one attitude, half of it worded the other way."""
    attitude, wording = rng.standard_normal((users, 1)), rng.choice([-1, 1], items)
    felt = attitude * wording * rng.uniform(0.4, 1.2, items) + rng.normal(0.0, 0.6, items)
    felt = felt + rng.normal(0.0, 0.4, (users, 1)) + 0.8 * rng.standard_normal((users, items))
    return Story(np.digitize(felt * rng.uniform(0.6, 1.5, (users, 1)), STEPS))


@story
def satisfaction(rng: Rng, users: int, items: int) -> Story:
    """How satisfied are you, in five steps: all more or less, in everything."""
    felt = rng.standard_normal((users, 1)) * rng.uniform(0.6, 1.2, items)
    felt = felt + rng.normal(1.0, 0.4, items) + 0.7 * rng.standard_normal((users, items))
    return Story(np.digitize(felt, STEPS))


@story
def two_parties(rng: Rng, users: int, items: int) -> Story:
    """Opinions of two parties of nearly the same size."""
    one, other = (drawn(rng, rng.dirichlet(np.full(4, 0.6), size=items), users) for _ in range(2))
    return Story(np.where(rng.random((users, 1)) < 0.55, one, other))


@story
def tastes(rng: Rng, users: int, items: int) -> Story:
    """Tastes: some people like what most like, others something of their own."""
    common = drawn(rng, rng.dirichlet(np.full(4, 0.6), size=items), users)
    own = rng.integers(4, size=(users, items))
    return Story(np.where(rng.random((users, items)) < rng.uniform(0, 1, (users, 1)), common, own))


@story
def equally_able(rng: Rng, users: int, items: int) -> Story:
    """A test that all take with the same ability: the order is luck."""
    exam = Exam(rng, users, items, theta=np.full(users, 0.5))
    return Story(exam.codes, exam.key)


@story
def popular_answers(rng: Rng, users: int, items: int) -> Story:
    """Some options are popular, and all users draw alike."""
    return Story(drawn(rng, rng.dirichlet(np.full(4, 0.8), size=items), users))


@story
def noise(rng: Rng, users: int, items: int) -> Story:
    """Every answer is drawn at random."""
    return Story(rng.integers(4, size=(users, items)))
