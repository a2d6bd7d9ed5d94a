"""Dawid and Skene's model of error rates, by EM (1979; Section E of the paper's appendix)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.engines import Engine
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.fitted import Learnt
from hitsndiffs.methods.keys import right_errors
from hitsndiffs.methods.labels import label_numbers, need_shared
from hitsndiffs.methods.probability import STEADY, digamma
from hitsndiffs.order.numbering import PER_ITEM, PER_OPTION, PER_USER

__all__ = ["Confusions", "DawidSkene"]

#: The smallest count and probability (no logarithm of zero).
TINY = 1e-10
#: Rounds between updates of the hierarchical priors' strengths.
LEARN_EVERY = 3
#: Fixed-point steps of such an update.
STRENGTH_STEPS = 5


@dataclass(frozen=True)
class Confusions(Learnt):
    """How each user confuses labels.

    Attributes
    ----------
    labels, label_priors
        The labels that all items share, and how often each is right.
    confusions
        ``[user, answer, right]``: how likely each answer is, given the right label.
    strengths
        How strongly each row is pulled to the population's (hierarchical model).
    truth
        ``[item, label]``: how likely each label is right.
    numbers
        The label of each option.
    """

    labels: npt.NDArray[Any]
    label_priors: Floats
    confusions: Floats = field(metadata=PER_USER)
    strengths: Floats
    truth: Floats = field(metadata=PER_ITEM)
    numbers: Ints = field(metadata=PER_OPTION)


@dataclass(kw_only=True, eq=False)
class DawidSkene(Method):
    """Users err at their own rates; the right option of each item is unknown, and inferred.

    Parameters
    ----------
    model
        ``"one-coin"``: each user is right with one probability; otherwise all wrong options are
        equally likely. ``"full"``: a confusion matrix per user, for items that share one label set
        (say, images with the labels dog, cat, rabbit). ``"hierarchical"``: the same, with every
        user's rows drawn from a population whose spread is learnt. Few answers then count for
        little, and leaning to one label is told apart from ability.
    priors
        How likely each option is before anybody answers: ``"even"`` within the item, ``"labels"``
        (the estimated share of items in which its label is right), or ``"auto"``: even for
        one-coin, labels otherwise.
    smoothing
        Every user is credited with this many further answers by the average user.
    options_per_item
        How many options each item has, if some were never chosen (one-coin).
    tol, max_iterations
        The rounds end when no option's probability changes by more than ``tol``.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAA"), list("AAB"), list("BBB")])
    >>> fitted = DawidSkene().fit(r)
    >>> (-fitted.scores_).argsort(kind="stable").tolist()
    [0, 1, 2, 3]
    """

    needs_memory: ClassVar[bool] = False
    reads_labels: ClassVar[bool] = True
    name: ClassVar[str] = "dawid-skene"
    summary: ClassVar[str] = "error rates per user and the likely key, by expectation–maximisation"
    use: ClassVar[str] = "crowd labels: many items, each answered by a few"
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {
        "model": ("one-coin", "full", "hierarchical"),
        "priors": ("auto", "even", "labels"),
    }

    model: str = "one-coin"
    priors: str = "auto"
    smoothing: float = 1.0
    options_per_item: int | None = None
    tol: float = 1e-6
    max_iterations: int = 2_000

    def _fit(self, data: Engine) -> Fit:
        if self.model == "one-coin":
            return self._fit_one_coin(data)
        need_shared(
            data.items,
            "Method 'dawid-skene' with the model full or hierarchical",
            "every user has one confusion matrix",
            "Use the model one-coin.",
        )
        return self.fit_full(data)

    def _fit_one_coin(self, data: Engine) -> Fit:
        n = data.answers_per_user
        counts = data.choosers_per_option.astype(float)
        sizes = np.maximum(np.diff(data.items.starts), self.options_per_item or 2)
        wrong_options = counts * np.log(sizes - 1)[data.items.of_option]
        numbers = label_numbers(data.items)[1] if self.priors == "labels" else None
        key = data.items.share(counts)
        within = data.items
        change, rounds = np.inf, 0
        while True:
            # M: how often each user is right, and each label
            right = data.choices(key)
            mean = float(right.sum()) / float(n.sum())
            accuracy = (right + self.smoothing * mean) / (n + self.smoothing)
            accuracy = np.clip(accuracy, TINY, 1 - TINY)
            if rounds == self.max_iterations or change <= self.tol:
                break
            # E: how likely each option is the right one
            logs = data.choosers(np.log(accuracy) - np.log1p(-accuracy)) + wrong_options
            if numbers is not None:
                share = np.bincount(numbers, key) / data.n_items
                logs += np.log(np.maximum(share, TINY))[numbers]
            new = within.softmax(np.round(logs, STEADY))
            change = float(np.abs(new - key).max())
            key = new
            rounds += 1
        errors = right_errors(data, key, accuracy, n)
        return Fit(
            scores=accuracy,
            option_weights=key,
            key_probabilities=key,
            correct=right / n,
            standard_errors=errors,
            correct_errors=errors,
            converged=change <= self.tol,
            n_iterations=rounds,
            residual=change,
        )

    def fit_full(self, data: Engine) -> Fit:
        """Fit a confusion matrix per user, whether the items seem to share their labels or not."""
        labels, numbers = label_numbers(data.items)
        k, items = len(labels), data.items.of_option
        choosers = data.choosers_per_option.astype(float)
        truth = np.zeros((data.n_items, k))
        truth[items, numbers] = data.items.share(choosers)
        change, rounds = np.inf, 0
        strengths = np.ones(k)
        none = np.empty((data.n_options, 0))
        while True:
            # M: how often each label is right, and each user's answers given the right label
            prior = truth.mean(axis=0) if self.priors != "even" else np.full(k, 1 / k)
            weights = _by_answer(truth[items], numbers)
            counts = data.choices(weights)
            pooled = (choosers @ weights).reshape(k, k)
            if self.model == "hierarchical":
                pooled = (pooled + 0.1) / (pooled + 0.1).sum(axis=0)
                if rounds >= LEARN_EVERY and rounds % LEARN_EVERY == 0:
                    strengths = _strengths(data, counts, pooled, strengths)
            rows = _Rows(self.model, self._shared(pooled, strengths))
            if rounds == self.max_iterations or change <= self.tol:
                break
            # E: how likely each label is right for each item, including unchosen labels
            by_option = data.through(none, rows.logs, counts).reshape(-1, k, k)
            by_option = by_option[np.arange(data.n_options), numbers]
            by_item = data.items.total(by_option) + np.log(np.maximum(prior, TINY))
            by_item = np.round(by_item, STEADY)
            new = np.exp(by_item - by_item.max(axis=1, keepdims=True))
            new /= new.sum(axis=1, keepdims=True)
            change = float(np.abs(new - truth).max())
            truth = new
            rounds += 1
        n = data.answers_per_user
        chosen = truth[items, numbers]
        correct = data.choices(chosen) / n
        accuracy = data.choices(weights, partial(rows.right, share=prior / prior.sum()))[:, 0]
        errors = right_errors(data, chosen, accuracy, n)
        learnt = None
        if data.in_memory:
            by_name = np.argsort(labels)
            confusions = data.collect(data.choices(weights, rows.means)).reshape(-1, k, k)
            learnt = Confusions(
                labels[by_name],
                prior[by_name],
                confusions[:, by_name][:, :, by_name],
                strengths[by_name],
                truth[:, by_name],
                np.argsort(by_name)[numbers],
            )
        return Fit(
            scores=accuracy if self.model == "full" else correct,
            option_weights=chosen,
            key_probabilities=data.items.share(chosen),
            correct=correct,
            standard_errors=errors,
            correct_errors=errors,
            converged=change <= self.tol,
            n_iterations=rounds,
            residual=change,
            learnt=learnt,
        )

    def _shared(self, pooled: Floats, strengths: Floats) -> Any:
        """What is added to every user's counts: answers of the average user."""
        if self.model == "hierarchical":
            return strengths * pooled
        pooled = np.maximum(pooled, TINY)
        return self.smoothing * pooled / pooled.sum(axis=0)


def _by_answer(truth: Floats, numbers: Ints) -> Floats:
    """Weights whose sums over a user's options are ``[answer, right]`` counts, as one row."""
    k = truth.shape[1]
    weights = np.zeros((len(truth), k, k))
    weights[np.arange(len(truth)), numbers] = truth
    return weights.reshape(len(truth), k * k)


@dataclass(frozen=True)
class _Rows:
    """Users' rows of probabilities ``[answer, right]`` from their counts, as steps of a pass.

    Where label ``c`` is right, a user's answers follow a row of probabilities. In the hierarchical
    model this row is drawn from a Dirichlet distribution centred on everybody's row.

    Attributes
    ----------
    model
        ``"full"`` or ``"hierarchical"``.
    shared
        What is added to every user's counts.
    """

    model: str
    shared: Floats

    def means(self, counts: Any) -> Any:
        """The probabilities."""
        rows = self._added(counts)
        return (rows / rows.sum(axis=1, keepdims=True)).reshape(counts.shape)

    def logs(self, _: Any, counts: Any) -> Any:
        """Their (expected) logarithms."""
        rows = self._added(counts)
        total = rows.sum(axis=1, keepdims=True)
        if self.model == "full":
            return np.log(rows / total).reshape(counts.shape)
        return (digamma(rows) - digamma(total)).reshape(counts.shape)

    def right(self, counts: Any, share: Floats) -> Any:
        """How often a user is right, given the share of items for each right label; one column."""
        k = len(share)
        diagonal = self.means(counts)[:, :: k + 1]
        return (diagonal * np.asarray(share, like=diagonal)).sum(axis=1, keepdims=True)

    def _added(self, counts: Any) -> Any:
        shared = np.asarray(self.shared, like=counts)
        rows = counts.reshape(len(counts), *shared.shape) + shared
        return np.maximum(rows, TINY) if self.model == "full" else rows


def _strengths(data: Engine, counts: Any, pooled: Floats, strengths: Floats) -> Floats:
    """How close users' rows are to the pooled ones: precisions of Dirichlets (Minka's iteration).

    ``counts`` (a user array) and ``pooled`` are ``[answer, right]``; there is a strength for each
    right label.
    """
    for _ in range(STRENGTH_STEPS):
        up, down = data.reduced(partial(_moments, pooled=pooled, strengths=strengths), counts)
        strengths = np.clip(strengths * up / np.maximum(down, 1e-9), 0.05, 200.0)
    return strengths


def _moments(counts: Any, pooled: Floats, strengths: Floats) -> Any:
    """Both sums of Minka's step, for each right label."""
    k = len(strengths)
    pooled, strengths = (np.asarray(x, like=counts) for x in (pooled, strengths))
    counts = counts.reshape(len(counts), k, k)
    prior = strengths * pooled
    up = (pooled * (digamma(counts + prior) - digamma(prior))).sum(axis=(0, 1))
    down = (digamma(counts.sum(axis=1) + strengths) - digamma(strengths)).sum(axis=0)
    return np.stack([up, down])
