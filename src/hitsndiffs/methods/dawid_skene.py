"""Dawid and Skene's model of error rates, by EM (1979; Section E of the paper's appendix)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Fit, Method
from hitsndiffs.methods.fitted import Learnt
from hitsndiffs.methods.keys import right_errors
from hitsndiffs.methods.labels import label_numbers, sharing
from hitsndiffs.methods.probability import STEADY, digamma

__all__ = ["Confusions", "DawidSkene", "shared_labels"]

Vector = npt.NDArray[np.float64]

#: The smallest count and probability (no logarithm of zero).
TINY = 1e-10
#: The strengths of the hierarchical priors are learnt every few rounds.
LEARN_EVERY = 3


@dataclass(frozen=True)
class Confusions(Learnt):
    """How every user mistakes labels for each other.

    Attributes
    ----------
    labels, label_priors
        The labels that all items share, and how often each is right.
    confusions
        ``[user, answer, right]``: how likely each answer is, given the right label.
    strengths
        How strongly the population binds each row (hierarchical model).
    truth
        ``[item, label]``: how likely each label is right.
    numbers
        The label of each option.
    """

    labels: npt.NDArray[Any]
    label_priors: Vector
    confusions: Vector
    strengths: Vector
    truth: Vector
    numbers: npt.NDArray[np.int64]

    def put_back(
        self,
        users: npt.NDArray[np.int64],
        items: npt.NDArray[np.int64],
        options: npt.NDArray[np.int64],
    ) -> Confusions:
        """The same where users, items and options have other numbers: those given for each."""
        return replace(
            self,
            confusions=self.confusions[np.argsort(users)],
            truth=self.truth[np.argsort(items)],
            numbers=self.numbers[np.argsort(options)],
        )


@dataclass(kw_only=True, eq=False)
class DawidSkene(Method):
    """Users err at their own rates; the right option of each item is unknown, and inferred.

    Parameters
    ----------
    model
        ``"one-coin"``: a user is right with one probability, and wrong options are equally likely
        otherwise. ``"full"``: a confusion matrix per user, for items that share one label set
        (say, images with the labels dog, cat, rabbit). ``"hierarchical"``: the same, every
        user's rows drawn from a population whose spread is learnt, so that few answers count for
        little and a leaning to one label is told from ability.
    priors
        How likely each option is before anybody answers: ``"even"`` within the item, ``"labels"``
        (as frequent as its label is right over all items, estimated), or ``"auto"``: even for
        one-coin, labels for full.
    smoothing
        Every user's rates are those of as many further answers by the average user.
    options_per_item
        How many options an item has, where some were never chosen (one-coin).
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
        return self._fit_full(data)

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

    def _fit_full(self, data: Engine) -> Fit:
        if not data.in_memory:
            raise data.cannot_serve(f"Method 'dawid-skene' with a matrix per user ({self.model})")
        labels, numbers = shared_labels(data)
        k, items = len(labels), data.items.of_option
        counts = data.choosers_per_option.astype(float)
        truth = np.zeros((data.n_items, k))
        truth[items, numbers] = data.items.share(counts)
        change, rounds = np.inf, 0
        strengths = np.ones(k)
        while True:
            # M: how often each label is right, and each user's answers given the right label
            prior = truth.mean(axis=0) if self.priors != "even" else np.full(k, 1 / k)
            counts = _counted(truth, numbers, data)
            if self.model == "full":
                confusion = self._confusions(counts)
                logs = np.log(confusion)
            else:
                learn = rounds >= LEARN_EVERY and rounds % LEARN_EVERY == 0
                confusion, logs, strengths = _hierarchical(counts, strengths, learn=learn)
            if rounds == self.max_iterations or change <= self.tol:
                break
            # E: how likely each label is right for each item, unchosen labels too
            by_option = np.zeros((data.n_options, k))
            for answer in range(k):
                mine = numbers == answer
                by_option[mine] = data.choosers(logs[:, answer])[mine]
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
        share = np.asarray(prior / prior.sum(), like=confusion)
        accuracy = np.einsum("jcc,c->j", confusion, share)
        errors = right_errors(data, chosen, accuracy, n)
        by_name = np.argsort(labels)
        place = np.argsort(by_name)
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
            learnt=Confusions(
                labels[by_name],
                prior[by_name],
                confusion[:, by_name][:, :, by_name],
                strengths[by_name],
                truth[:, by_name],
                place[numbers],
            ),
        )

    def _confusions(self, counts: Vector) -> Any:
        """``[user, answer, right]``: the probability of each answer, given the right label."""
        pooled = np.maximum(counts.sum(axis=0), TINY)
        counts = np.maximum(counts + self.smoothing * pooled / pooled.sum(axis=0), TINY)
        return counts / counts.sum(axis=1, keepdims=True)


def _counted(truth: Vector, numbers: npt.NDArray[np.int64], data: Engine) -> Vector:
    """``[user, answer, right]``: how often each answer was given where a label is right."""
    k = truth.shape[1]
    by_option = truth[data.items.of_option]
    return np.stack(
        [data.choices(by_option * (numbers == answer)[:, None]) for answer in range(k)], axis=1
    )


def _hierarchical(
    counts: Vector, strengths: Vector, *, learn: bool
) -> tuple[Vector, Vector, Vector]:
    """Mean confusions, their expected logarithms, and how strongly the population binds each row.

    Every user's answers where label ``c`` is right follow a row of probabilities, drawn from a
    Dirichlet distribution about everybody's row with strength ``s_c``.
    """
    pooled = counts.sum(axis=0) + 0.1
    pooled /= pooled.sum(axis=0)
    if learn:
        strengths = np.array(
            [
                _strength(counts[:, :, c], pooled[:, c], float(strengths[c]))
                for c in range(counts.shape[2])
            ]
        )
    rows = counts + strengths * pooled
    total = rows.sum(axis=1, keepdims=True)
    return rows / total, digamma(rows) - digamma(total), strengths


def shared_labels(data: Engine) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The one label set of all items; an error where they clearly have none."""
    found = sharing(data.items)
    if found.apart:
        raise InputError(
            "Method 'dawid-skene' with the model full or hierarchical needs items that share one "
            f"label set (every user has one confusion matrix); here {found.apart}. Use the model "
            "one-coin."
        )
    return found.labels, found.numbers


def _strength(counts: Vector, pooled: Vector, strength: float, rounds: int = 5) -> float:
    """How close users' rows are to the pooled one: precision of a Dirichlet (Minka's iteration).

    Parameters
    ----------
    counts
        Each user's answers where one label is right, a column per answer.
    pooled
        Everybody's shares of those.
    strength
        Where to begin.
    rounds
        Steps of the fixed point.
    """
    totals = counts.sum(axis=1)
    some = totals > 0
    counts, totals = counts[some], totals[some]
    for _ in range(rounds):
        prior = strength * pooled
        up = float((pooled * (digamma(counts + prior) - digamma(prior))).sum())
        down = float((digamma(totals + strength) - digamma(strength)).sum())
        strength = min(max(strength * up / max(down, 1e-9), 0.05), 200.0)
    return strength
