"""The default: choose the method by the evidence in the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.progress import step
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit
from hitsndiffs.methods.certified import certified_fit
from hitsndiffs.methods.dawid_skene import DawidSkene
from hitsndiffs.methods.draws import sampled_users
from hitsndiffs.methods.fitted import Choice
from hitsndiffs.methods.labels import sharing, two_labels
from hitsndiffs.methods.latent_key.base import ByReading
from hitsndiffs.methods.latent_key.method import LatentKey
from hitsndiffs.methods.latent_key.reading import DOUBT, in_words, questions_of, readings_of
from hitsndiffs.methods.latent_key.search import CONFUSION_CELLS, Search, correlation
from hitsndiffs.methods.latent_key.solutions import SAME_READING
from hitsndiffs.methods.predictive import Contest, confusion_against_key
from hitsndiffs.methods.readings import Reading
from hitsndiffs.methods.robust import choose_axis
from hitsndiffs.order.orientation import undecided
from hitsndiffs.spectral.shrinkage import shrunk

__all__ = ["Auto"]

#: Where the key's posterior and the graded axis correlate this well, ability is their average.
AGREE = 0.8
#: If a smaller share of the answers was given by more than one user, they look random.
LEAST_SHARED = 0.02
#: With more answers than this, the models are compared on a sample of the users.
CONTEST_ANSWERS = 200_000


@dataclass(kw_only=True, eq=False)
class Auto(ByReading):
    """Certified order, latent key or confusion matrices, chosen by the evidence in the data.

    1. If plain HnD's order is certified consistent, that order is the answer.
    2. Otherwise the latent-key model is fitted from several starts.
    3. Where all items share one label set (crowd labels), confusion matrices (Dawid–Skene) are
       compared with it on hidden answers, and the better one is taken.

    Scores are the expected share of right answers; latent ability, which also uses what wrong
    answers say, is available too (``by="ability"``).

    Parameters
    ----------
    axes, resamples
        Of the latent-key model.
    answers, strong_user
        Known right answers, and a user known to be strong.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")])
    >>> Auto().fit(r).fit_.choice.method
    'hnd'
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "chooses by the evidence in the data, and says what and why"
    use: ClassVar[str] = "always a good start (the default)"

    resamples: int = 15

    def _fit(self, data: Engine) -> Fit:
        # 0. a perfect order needs no model; numbers drawn at random nearly always have some
        empty = _tells_nothing(data)
        at_random = empty is not None and (data.items.sizes > 1).any() and not _linked(data)
        exact = None if at_random else certified_fit(data, self)
        if exact is not None:
            assert exact.perfect is not None
            alone = exact.perfect.n_orders is not None and exact.perfect.n_orders <= 2
            why = "one order" if alone else "an order (there are others)"
            return _with_choice(exact, "hnd", f"{why} explains every answer")

        # 1. answers that tell nothing
        if empty is not None:
            return empty

        # 2. one unknown key per item
        found = self._search(data)
        # 3. or one confusion matrix per user, where all items share their labels
        contest = self._contest(data, found)
        if contest is not None and contest.confusion_wins:
            return self._confusion(data, found, contest)
        fit = self._latent_key(found, self.reading)
        assert fit.abilities is not None
        fit = replace(fit, abilities=_ability(data, found, fit.abilities))
        why = (
            "all items share two labels, and people lean more or less towards one of them"
            if two_labels(data.items)
            else "each item has its own right answer"
            if contest is None or contest.hidden == 0
            else "it predicts hidden answers better than confusion matrices do (by "
            f"{-contest.z:.1f} standard errors)"
        )
        return _with_choice(fit, "latent-key", why)

    def _latent_key(self, found: Search, reading: int) -> Fit:
        return LatentKey(resamples=self.resamples, reading=reading).from_search(found)

    def _contest(self, data: Engine, found: Search) -> Contest | None:
        """Compare with confusion matrices; ``None`` where they do not apply.

        Two labels shared by all items have their own model, which includes leanings.
        """
        if self.answers or self.strong_user is not None or data.n_items < 2:
            return None
        shared = sharing(data.items)
        if shared.apart or two_labels(data.items):
            return None
        if data.n_users * len(shared.labels) ** 2 > CONFUSION_CELLS:
            return None
        step("comparing with confusion matrices")
        # a sample is enough to compare the models; who is in it depends only on the answers
        data = found.problem.data
        share = CONTEST_ANSWERS / data.n_responses
        start = data.collect(found.best.fit.posterior.mean)
        if share >= 1 and data.arrays == "numpy" and data.gives_answers:
            return confusion_against_key(data, start)
        users = np.flatnonzero(data.collect(sampled_users(data, share, seed=7, bring=True)))
        return confusion_against_key(data.here(users), start[users])

    def _confusion(self, data: Engine, found: Search, contest: Contest) -> Fit:
        estimator = DawidSkene(
            model="hierarchical", seed=self.seed, engine=self.engine, threads=self.threads
        )
        fit = estimator._fit(data)
        readings, numbers = _readings(data, fit, found)
        questions = questions_of(found, readings[:1]) if found.sample is None else ()
        chosen = self._reading_of(len(readings))
        if chosen > 0:
            fit = self._latent_key(found, numbers[chosen - 1])
        else:
            fit = replace(
                fit,
                scores=readings[0].correct,
                abilities=fit.scores,
                ability_errors=fit.standard_errors,
                notes=(*fit.notes, *in_words(found, readings, questions)),
            )
        why = (
            "all items share one set of labels, and confusion matrices predict hidden answers "
            f"better than a latent key does (by {contest.z:.1f} standard errors)"
        )
        fit = replace(
            fit,
            confidence=readings[chosen].probability,
            readings=readings,
            questions=questions,
        )
        return _with_choice(fit, "latent-key" if chosen > 0 else "dawid-skene", why)


def _tells_nothing(data: Engine) -> Fit | None:
    """The result if all users answered alike or (almost) no answer is shared; else ``None``."""
    counts = data.choosers_per_option
    if data.n_users < 2:
        return None
    if (data.items.sizes == 1).all():
        return _equal(data, "All users gave the same answers: nothing tells them apart")
    shared = int(counts[counts > 1].sum())
    if shared == 0:
        return _equal(
            data,
            "No two users gave the same answer to any item, so nothing can be compared. Are these "
            "answers, or measurements? Options must be the same text to be the same option",
        )
    if shared < LEAST_SHARED * data.n_responses and data.n_responses >= 100:
        return _equal(
            data,
            f"Only {100 * shared / data.n_responses:.1f} % of the answers were given by more than "
            "one user: they look like numbers drawn at random, and rank nobody",
        )
    return None


def _linked(data: Engine) -> bool:
    """Whether shared answers link all users, directly or through others."""
    return bool((data.collect(data.components("options")) == 0).all())


def _equal(data: Engine, why: str) -> Fit:
    zero = 0.0 * data.everybody
    counts = data.choosers_per_option.astype(float)
    return Fit(
        scores=zero,
        option_weights=np.zeros(data.n_options),
        key_probabilities=data.items.share(counts),
        standard_errors=zero + np.nan,
        orientation=undecided(np.zeros(1)),
        confidence=0.0,
        choice=Choice(None, why),
    )


def _readings(data: Engine, fit: Fit, found: Search) -> tuple[tuple[Reading, ...], tuple[int, ...]]:
    """The reading by confusion matrices, then those by a key that disagree, with their numbers.

    The first is as sure as the best reading by a key, but less so if the two disagree: then one of
    them is wrong.
    """
    assert fit.correct is not None
    assert fit.key_probabilities is not None
    key = found.for_everybody(found.best).fit.key
    agreement = correlation(fit.correct, data.choices(key) / data.answers_per_user)
    sure = min(found.confidence, 0.5 + 0.5 * max(agreement, 0.0))
    says = "each user confuses labels in their own way"
    first = Reading(sure, float("nan"), 1.0, says, fit.key_probabilities, fit.correct)
    if found.sample is not None:
        return (first,), ()
    others = [
        (number, replace(reading, agreement=correlation(reading.correct, fit.correct)))
        for number, reading in enumerate(readings_of(found), start=1)
    ]
    others = [(number, reading) for number, reading in others if reading.agreement < SAME_READING]
    scale = (1 - sure) / max(sum(reading.probability for _, reading in others), 1 - sure, 1e-12)
    rest = [replace(r, probability=scale * r.probability) for _, r in others]
    return (first, *rest), tuple(number for number, _ in others)


def _ability(data: Engine, found: Search, ability: Floats) -> Any:
    """Latent ability: the key's posterior mean and the graded axis, averaged where they agree."""
    axes = found.shrinkage.axes
    if len(axes.values) == 0:
        return ability
    place, agreements = choose_axis(found.shrinkage, found)
    if abs(agreements[place]) < AGREE:
        return ability
    axis = np.sign(agreements[place]) * axes.scores[:, place]
    if found.sample is not None:  # from the sample to everybody
        weights = shrunk(found.problem.data, axis, found.shrinkage.lam)
        axis = data.choices(weights) / (data.answers_per_user + found.shrinkage.mu)
    scaled = (axis - float(axis.mean())) * (float(ability.std()) / float(axis.std()))
    return (ability + scaled) / 2


def _with_choice(fit: Fit, chosen: str, why: str) -> Fit:
    notes = fit.notes
    if fit.confidence is not None and fit.confidence < DOUBT and not fit.questions:
        thin = "The evidence is thin: who is good is not settled by these answers alone."
        notes = (thin, *notes)
    return replace(fit, notes=notes, choice=Choice(chosen, why))
