"""Several starts, and the distinct solutions they lead to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import log
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.progress import step
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit
from hitsndiffs.methods.dawid_skene import DawidSkene
from hitsndiffs.methods.label_axes import label_centred_axes
from hitsndiffs.methods.labels import label_numbers, mark_in_words, two_labels
from hitsndiffs.methods.latent_key.copies import (
    Witnesses,
    find_witnesses,
    group_weights,
    near_equals,
)
from hitsndiffs.methods.latent_key.grid import normal_scores
from hitsndiffs.methods.latent_key.habits import HabitProblem, Habits, habits_of
from hitsndiffs.methods.latent_key.known_answers import informed
from hitsndiffs.methods.latent_key.leanings import LeaningFit, LeaningProblem
from hitsndiffs.methods.latent_key.marks import MarksProblem, beyond_evidence
from hitsndiffs.methods.latent_key.model import KeyProblem
from hitsndiffs.methods.latent_key.modes import (
    HOPELESS,
    Mode,
    consensus,
    correlation,
    find_modes,
    fit_from,
    merged,
)
from hitsndiffs.methods.latent_key.problem import Problem, Sizes, Solution
from hitsndiffs.methods.latent_key.sampling import take_sample
from hitsndiffs.methods.latent_key.solutions import Search, contradicts
from hitsndiffs.spectral.shrinkage import Shrinkage, find_shrinkage

__all__ = ["CONFUSION_CELLS", "Search", "correlation", "search"]

#: Log prior odds that two shared labels are marks (one of them is right in every item): in general,
#: and where their words say so (right and wrong, say).
MARKS, SAID_MARKS = log(0.05 / 0.95), log(0.8 / 0.2)
#: With fewer answers per user than this, marks must lead by this many nats on top of that prior:
#: leaning and ability can hardly be told apart, and the simpler model wins by chance.
FEW_PER_USER, CLEARLY_MARKS = 15, 6.0
#: Share of right answers in tests (log odds): mean and spread.
EASE, EASE_SD = 0.6, 0.7
#: Habits are modelled only if they raise the evidence by at least this many nats, after this many
#: rounds on a sample of the users.
HABITS_GAIN, HABIT_ROUNDS = 20.0, 15
HABIT_SIZES = Sizes(sample_users=1_000, sample_answers=500)
#: They must also raise it by this many nats when users with nearly the same answers count as one,
#: unless fewer than this many users are then left.
GAIN_ALONE, ENOUGH_ALONE = 7.0, 20.0
#: Two rules of who counts are taken as one if they differ by less than this share of all weight: so
#: few users do not decide what is true.
SAME_RULE = 0.05
#: Confusion matrices are tried while users × labels² stays below this.
CONFUSION_CELLS = 5e7
#: The number of their rounds, where they are a start and a comparison.
CONFUSION_ROUNDS = 50


def search(
    data: Engine,
    *,
    answers: Mapping[Any, Any] | None = None,
    strong_user: Any = None,
    group: Mapping[Any, Any] | None = None,
    axes: int = 3,
    seed: int = 0,
    sizes: Sizes | None = None,
) -> Search:
    """Find the distinct solutions of the latent-key model.

    The parameters are those of the methods (:class:`.base.KeySearchMethod`), and size thresholds.
    """
    habits = None if two_labels(data.items) else _habits(data)
    kind = partial(_kind(data, habits), strong_user=strong_user)
    problem = kind(data, sizes=sizes)
    sample = take_sample(problem)
    sampled = sample.users is not None and group is None
    if sampled:
        # solutions belong to the items: a sample of users finds them, everybody joins at the end
        problem = kind(sample.problem.data, sizes=problem.sizes.all_users())
        habits = None if habits is None else habits.picked(sample)
    found = _solutions(problem, habits, group=group, axes=axes, seed=seed)
    if answers:
        found = informed(found, kind(problem.data, answers=answers, sizes=problem.sizes))
    if not sampled:
        return found
    whole = found.problem.part(data, data.everybody, np.arange(data.n_options))
    whole.sizes = sample.whole.sizes
    return replace(found, sample=replace(sample, whole=whole))


def _solutions(
    problem: Problem,
    habits: Habits | None,
    *,
    group: Mapping[Any, Any] | None,
    axes: int,
    seed: int,
) -> Search:
    """The search, without known answers."""
    data, two = problem.data, isinstance(problem, LeaningProblem)
    # 1. two initial rules of who counts as a witness: equal sheets count once, or nearly equal
    # ones do
    step("looking for copies")
    given = None if group is None else group_weights(data, group)
    rules = _rules(problem, habits, given)
    once = rules[-1]

    # 2. the leading axes, plain and with copies counting for less
    step("finding the strongest axes")
    plain = _axes(data, axes, seed, two=two)
    confusions = _by_confusions(data) if two or habits is not None else None
    modes: list[Mode] = []
    firsts = [] if given is not None else [_first(problem, rule) for rule in rules]
    counted = [_witnesses(problem, *each, habits) for each in zip(rules, firsts, strict=False)]
    for witnesses in _distinct(counted or [Witnesses(rules[0], 0.0 * rules[0])]):
        problem.weigh(witnesses.weights)
        weighed = plain
        if (problem.witness < 1).any():
            weighed = _axes(data, axes, seed, two=two, witness=problem.witness)
        # 3. distinct solutions from several starts
        starts = _both_ways(weighed, 1 if two else axes) | _consensus(problem, confusions)
        modes += find_modes(problem, witnesses, starts)
    modes = merged(modes)

    step("comparing the solutions")
    # 4. who is a copy depends on the solution: a clique may have made itself the truth
    if given is None:
        modes = _with_own_witnesses(problem, modes)
    # 5. where two labels are shared: the opposite truth, and one label right everywhere
    if isinstance(problem, LeaningProblem):
        marks = _one_label(problem, witnesses, modes[0])
        modes = merged([*modes, _opposite(problem, modes[0]), *marks])
        modes = _answers_first(data, modes)
    # 6. what the caller knows: solutions that place the strong user below the median come last
    modes = sorted(modes, key=lambda mode: contradicts(problem, mode))
    problem.weigh(modes[0].witnesses.weights)
    by_once = firsts[-1].posterior.mean if firsts else None
    key = None if confusions is None else confusions.key_probabilities
    return Search(problem, modes, plain, once, habits, by_once, key)


def _habits(data: Engine) -> Habits | None:
    """Labels that many users give whatever is asked, if that explains the answers far better.

    Where items are coded so that one label is right in most of them, giving it often is ability,
    not habit; then habits explain little more.
    """
    habits = habits_of(data)
    if habits is None:
        return None
    if not habits.fit_in(data):  # too large for the model: they only make users count for less
        return habits
    # a sample of the users is enough
    sample = take_sample(KeyProblem(data, sizes=HABIT_SIZES))
    data, theirs = sample.problem.data, habits.picked(sample)
    equal = data.how_many(data.fingerprints())
    if _habits_gain(data, theirs, 1.0 / equal) < HABITS_GAIN:
        return None
    # near-copies of one sheet use labels alike too: the others must also support habits
    once = 1.0 / np.maximum(equal, 1 + near_equals(KeyProblem(data), theirs.overused(data)))
    few = float(once.sum()) < ENOUGH_ALONE
    return habits if few or _habits_gain(data, theirs, once) >= GAIN_ALONE else None


def _habits_gain(data: Engine, habits: Habits, once: Floats) -> float:
    """How much habits raise the evidence, with users weighted by ``once``."""
    best = []
    for kind in (KeyProblem, _kind(data, habits)):
        problem = kind(data, once)
        starts = _consensus(problem, _by_confusions(data))
        sample = take_sample(problem)
        fits = [fit_from(sample, start, HABIT_ROUNDS) for start in starts.values()]
        best.append(max(fit.evidence for fit in fits))
    return best[1] - best[0]


def _rules(problem: Problem, habits: Habits | None, given: Floats | None) -> list[Floats]:
    """The users' initial weights, by every rule that differs."""
    if given is not None:
        return [given]
    data = problem.data
    equal = data.how_many(data.fingerprints())
    near = np.maximum(equal, 1 + near_equals(problem))
    rules = [1.0 / equal] if bool((near == equal).all()) else [1.0 / equal, 1.0 / near]
    return rules if habits is None else [rule * habits.weights for rule in rules]


def _first(problem: Problem, rule: Floats) -> Solution:
    """A first solution, with users weighted by a rule."""
    problem.weigh(rule)
    return fit_from(take_sample(problem), consensus(problem), rounds=12)


def _witnesses(problem: Problem, rule: Floats, first: Solution, habits: Habits | None) -> Witnesses:
    """How much each user counts, given a first solution with users weighted by a rule."""
    problem.weigh(rule)
    witnesses = find_witnesses(problem, first)
    if habits is None:
        return witnesses
    return replace(witnesses, weights=witnesses.weights * habits.weights)


def _distinct(found: list[Witnesses]) -> list[Witnesses]:
    """The first, and the second if it differs."""
    first, other = found[0].weights, found[-1].weights
    alike = float(abs(first - other).sum()) < SAME_RULE * float(first.sum())
    return found[:1] if alike else found


def _by_confusions(data: Engine) -> Fit | None:
    """Fit confusion matrices, in which leaning is not ability; ``None`` if the data are too large.

    The fit is a start and a comparison, so a limited number of rounds is enough.
    """
    labels = len(label_numbers(data.items)[0])
    if not data.in_memory or data.n_users * labels**2 > CONFUSION_CELLS:
        return None
    estimator = DawidSkene(model="hierarchical", max_iterations=CONFUSION_ROUNDS, tol=1e-2)
    return estimator._fit(data)


def _consensus(problem: Problem, confusions: Fit | None) -> dict[str, Any]:
    """Starts from what users agree on: the plain consensus, and that by confusion matrices."""
    starts = {"consensus": consensus(problem)}
    if confusions is not None and confusions.correct is not None:
        starts["confusions"] = confusions.correct
    return starts


def _kind(data: Engine, habits: Habits | None) -> Callable[..., Problem]:
    """The model: with leanings if all items share two labels, with habits if there are any."""
    if two_labels(data.items):
        return LeaningProblem
    if habits is None or not habits.fit_in(data):
        return KeyProblem
    return partial(HabitProblem, labels=habits.labels)


def _axes(
    data: Engine, count: int, seed: int, *, two: bool, witness: Floats | None = None
) -> Shrinkage:
    """The leading axes; if two labels are shared, with everybody's leaning taken out."""
    if two:
        return label_centred_axes(data, count, witness=witness, seed=seed)
    return find_shrinkage(data, axes=count, user_weights=witness, seed=seed)


def _both_ways(found: Shrinkage, most: int) -> dict[str, Floats]:
    """Scores along the leading axes (at most ``most``), both ways up."""
    starts = {}
    for a, axis in enumerate(found.axes.scores.T[:most]):
        if float(axis.max()) > float(axis.min()):
            starts[f"axis {a + 1}"] = axis
            starts[f"axis {a + 1} reversed"] = -axis
    return starts


def _opposite(problem: LeaningProblem, best: Mode) -> Mode:
    """The reverse of the best solution, refitted."""
    assert isinstance(best.fit, LeaningFit)
    problem.weigh(best.witnesses.weights)
    fit = problem.fit(problem.mirrored(best.fit), max_rounds=10)
    if best.fit.evidence - fit.evidence < HOPELESS:
        fit = problem.fit(fit, max_rounds=20)
    return replace(best, starts=("opposite",), fit=fit)


def _one_label(problem: LeaningProblem, witnesses: Witnesses, best: Mode) -> list[Mode]:
    """Solutions in which one label is right in every item: marks, not answers.

    Then there is only ability, with a slope per item, and no leaning. This is unlikely a priori, so
    it needs clear evidence, unless the labels' words say so.
    """
    assert isinstance(best.fit, LeaningFit)
    modes = []
    names = label_numbers(problem.items)[0].tolist()
    for label, way in zip(names, (-problem.odds, problem.odds), strict=True):
        marks = MarksProblem(problem.data, witnesses.weights)
        marks.strong, marks.strong_users = problem.strong, problem.strong_users
        marks.label = label
        sample = take_sample(marks)
        fit = sample.for_all(sample.fit(normal_scores(problem.data, way), 30), 30)
        start = f"{label} right everywhere"
        # which of the two labels is right: tests tend to be easy rather than hard
        prior = -0.5 * ((marks.ease - EASE) / EASE_SD) ** 2
        modes.append(Mode((start,), fit, witnesses, prior=prior, one_label=label))
    said = mark_in_words(problem.items)
    fair = beyond_evidence(best.fit)
    whole = float(np.logaddexp.reduce([mode.prior for mode in modes]))
    return [
        replace(
            mode,
            prior=fair + (SAID_MARKS if mode.one_label == said else MARKS + mode.prior - whole),
        )
        for mode in modes
    ]


def _answers_first(data: Engine, modes: list[Mode]) -> list[Mode]:
    """With few answers per user, labels are not marks unless that is clear or their words say so.

    The evidence is unchanged: where marks explain the answers as well, the result is not sure.
    """
    best = modes[0]
    if best.one_label is None or best.one_label == mark_in_words(data.items):
        return modes
    ordinary = next((mode for mode in modes if mode.one_label is None), best)
    clear = best.evidence - ordinary.evidence >= CLEARLY_MARKS
    if clear or data.n_responses >= FEW_PER_USER * data.n_users:
        return modes
    return [ordinary, *(mode for mode in modes if mode is not ordinary)]


def _with_own_witnesses(problem: Problem, modes: list[Mode]) -> list[Mode]:
    """Judge every solution that is not far behind by the further copies that it finds.

    A solution keeps the initial copies, and adds its own only if they explain the answers better.
    """
    best = max(mode.evidence for mode in modes)
    judged = []
    for mode in modes:
        judged.append(mode)
        if len(modes) == 1 or best - mode.evidence >= HOPELESS:
            continue
        problem.weigh(mode.witnesses.weights)
        own = mode.witnesses.joined(find_witnesses(problem, mode.fit))
        if bool((own.weights == mode.witnesses.weights).all()):
            continue
        problem.weigh(own.weights)
        fit = problem.fit(mode.fit, max_rounds=20)
        other = replace(mode, fit=fit, witnesses=own)
        if other.evidence > mode.evidence:
            judged[-1] = other
    return merged(judged)
