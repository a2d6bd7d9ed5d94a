"""Dawid and Skene's model of error rates, by EM (1979; Section E of the paper's appendix)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hitsndiffs.engines import Engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.base import Fit, Method

__all__ = ["DawidSkene", "shared_labels"]

Vector = npt.NDArray[np.float64]

#: The smallest count and probability (no logarithm of zero).
LEAST = 1e-10
#: One label set for all items has at most this many labels (a confusion matrix per user).
MOST_LABELS = 100


@dataclass(kw_only=True, eq=False)
class DawidSkene(Method):
    """Users err at their own rates; the right option of each item is unknown, and inferred.

    Parameters
    ----------
    model
        ``"one-coin"``: a user is right with one probability, and wrong options are equally likely
        otherwise. ``"full"``: a confusion matrix per user, for items that share one label set
        (say, images with the labels dog, cat, rabbit).
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

    any_engine: ClassVar[bool] = True
    name: ClassVar[str] = "dawid-skene"
    summary: ClassVar[str] = "error rates per user and the likely key, by expectation–maximisation"
    use: ClassVar[str] = "crowd labels: many items, each answered by a few"
    one_of: ClassVar[dict[str, tuple[str, ...]]] = {
        "model": ("one-coin", "full"),
        "priors": ("auto", "even", "labels"),
    }

    model: str = "one-coin"
    priors: str = "auto"
    smoothing: float = 1.0
    options_per_item: int | None = None
    tol: float = 1e-6
    max_iterations: int = 2_000

    def _fit(self, data: Engine) -> Fit:
        if self.model == "full":
            return self._fit_full(data)
        return self._fit_one_coin(data)

    def _fit_one_coin(self, data: Engine) -> Fit:
        n = data.answers_per_user
        counts = data.choosers_per_option.astype(float)
        sizes = np.maximum(np.diff(data.items.starts), self.options_per_item or 2)
        wrong_options = counts * np.log(sizes - 1)[data.items.of_option]
        numbers = _labels(data)[1] if self.priors == "labels" else None
        key = data.items.share(counts)
        within = data.items
        change, rounds = np.inf, 0
        while True:
            # M: how often each user is right, and each label
            right = data.choices(key)
            mean = float(right.sum()) / float(n.sum())
            accuracy = (right + self.smoothing * mean) / (n + self.smoothing)
            accuracy = np.clip(accuracy, LEAST, 1 - LEAST)
            if rounds == self.max_iterations or change <= self.tol:
                break
            # E: how likely each option is the right one
            logs = data.choosers(np.log(accuracy) - np.log1p(-accuracy)) + wrong_options
            if numbers is not None:
                share = np.bincount(numbers, key) / data.n_items
                logs += np.log(np.maximum(share, LEAST))[numbers]
            new = within.softmax(logs)
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
            details={"residual": change, "model": self.model},
        )

    def _fit_full(self, data: Engine) -> Fit:
        if not data.in_memory:
            raise InputError(
                "Method 'dawid-skene' with model='full' keeps a matrix per user, and does not work "
                f"on engine={data.name!r}. Use model='one-coin', or rank a sample (--sample N)."
            )
        labels, numbers = shared_labels(data)
        k, items = len(labels), data.items.of_option
        counts = data.choosers_per_option.astype(float)
        truth = np.zeros((data.n_items, k))
        truth[items, numbers] = data.items.share(counts)
        change, rounds = np.inf, 0
        while True:
            # M: how often each label is right, and each user's answers given the right label
            prior = truth.mean(axis=0) if self.priors != "even" else np.full(k, 1 / k)
            confusion = self._confusions(truth, numbers, data)
            if rounds == self.max_iterations or change <= self.tol:
                break
            # E: how likely each label is right for each item, unchosen labels too
            logs = np.zeros((data.n_options, k))
            for answer in range(k):
                mine = numbers == answer
                logs[mine] = data.choosers(np.log(confusion[:, answer]))[mine]
            logs = data.items.total(logs) + np.log(np.maximum(prior, LEAST))
            new = np.exp(logs - logs.max(axis=1, keepdims=True))
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
        return Fit(
            scores=accuracy,
            option_weights=chosen,
            key_probabilities=data.items.share(chosen),
            correct=correct,
            standard_errors=errors,
            correct_errors=errors,
            converged=change <= self.tol,
            n_iterations=rounds,
            details={
                "residual": change,
                "model": self.model,
                "labels": labels,
                "label_priors": prior,
                "confusions": confusion,
                "truth": truth,
                "numbers": numbers,
            },
        )

    def _confusions(
        self,
        truth: Vector,
        numbers: npt.NDArray[np.int64],
        data: Engine,
    ) -> Vector:
        """``[user, answer, right]``: the probability of each answer, given the right label."""
        k = truth.shape[1]
        by_option = truth[data.items.of_option]
        counts = np.stack(
            [data.choices(by_option * (numbers == answer)[:, None]) for answer in range(k)], axis=1
        )
        pooled = np.maximum(counts.sum(axis=0), LEAST)
        counts += self.smoothing * pooled / pooled.sum(axis=0)
        np.maximum(counts, LEAST, out=counts)
        counts /= counts.sum(axis=1, keepdims=True)
        return counts


def right_errors(data: Engine, key: Vector, accuracy: Vector, answers: Vector) -> Any:
    """Standard error of a user's share of right answers: chance in them, doubt about the key.

    The chance is that of so many answers, each right with the user's (smoothed) accuracy: a user
    whose few answers all seem right is not sure to go on like that.
    """
    chance = answers * accuracy * (1 - accuracy)
    doubt = data.choices(key * (1 - key))
    return np.sqrt(chance + doubt) / answers


def _labels(data: Engine) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """All labels of all items, and the number of each option's label."""
    texts = np.array([str(label) for label in data.items.option_labels])
    labels, numbers = np.unique(texts, return_inverse=True)
    return labels, numbers.reshape(-1).astype(np.int64)


def shared_labels(data: Engine) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """The one label set of all items; an error where they clearly have none."""
    labels, numbers = _labels(data)
    once = labels[np.bincount(numbers) == 1]
    widest = max(int(np.diff(data.items.starts).max()), 2)
    apart = 2 * len(once) > len(labels) and 2 * len(labels) > 3 * widest
    if apart or len(labels) > MOST_LABELS:
        why = (
            f"{len(once)} of the {len(labels)} labels occur in one item only, for example "
            f"{str(once[0])!r}"
            if apart
            else f"there are {len(labels)} labels"
        )
        raise InputError(
            "Method 'dawid-skene' with model='full' needs items that share one label set (every "
            f"user has one confusion matrix); here {why}. Use model='one-coin'."
        )
    return labels, numbers
