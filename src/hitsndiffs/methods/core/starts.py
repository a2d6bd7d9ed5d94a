"""Where fits start: simple guesses at the key, each wrong in its own way.

* the majority; where labels are shared, votes centred on the labels' shares;
* the leading axes of the item-centred answers, both ways up (HnD with its second mend);
* hierarchical Dawid-Skene and the double-centred axis, where labels are shared;
* one label in every item (marks), where two are shared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.ones import Ones
from hitsndiffs.methods.core.table import Table

__all__ = ["DoubleAxis", "centred_axes", "confusions", "double_centred", "one_label", "starts"]


def starts(table: Table, axes: Floats) -> dict[str, Floats]:
    """Keys to start from, by name; both ends of the first two axes are among them."""
    found = {"majority": table.softmax(2 * np.log(np.maximum(table.counts, 1e-9)))}
    if table.coded:
        found["centred votes"] = table.hard(table.centred_votes)
    for number, axis in enumerate(axes.T[:2], start=1):
        found[f"axis {number}"] = table.hard(axis)
        found[f"axis {number} reversed"] = table.hard(-axis)
    return found


def one_label(table: Table, label: int) -> Floats:
    """The key in which one label is right in every item that has it."""
    key = (table.labels[0] == label).astype(float)
    return table.items.share(key)


def centred_axes(table: Table, count: int = 2, rounds: int = 40) -> Floats:
    """Option weights along the leading axes of the item-centred, shrunken answers."""
    m = table.n_users
    w = (1 / np.sqrt(table.counts + 1))[:, None]
    r = (1 / np.sqrt(table.per_user + 1))[:, None]
    share = table.shares[:, None]
    space = np.linalg.qr(np.random.default_rng(0).standard_normal((m, min(count, m))))[0]
    for _ in range(rounds):
        sums_of = table.choosers(r * space)
        weights = w * (sums_of - share * table.items.sum(sums_of))
        back = w * weights
        space = r * table.choices(back - table.items.sum(share * back))
        space = np.linalg.qr(space)[0]
    found: Floats = weights / w / (table.counts + 1)[:, None]
    return found


class DoubleAxis(NamedTuple):
    """The double-centred axis: option weights, user scores, rounds, and the last change."""

    weights: Floats
    scores: Floats
    rounds: int
    change: float


def double_centred(
    table: Table, shrink: float = 5.0, rounds: int = 100, tol: float = 1e-5
) -> DoubleAxis:
    """The axis left when the users' and the items' uses of the labels are taken out.

    The upper end is where the centred votes are.
    """
    numbers, k = table.labels
    m, n = table.n_users, table.n_items
    label = numbers[table.option]
    base = np.bincount(label, minlength=k) / len(label)
    user = np.bincount(table.user * k + label, minlength=m * k).reshape(m, k)
    usual = (user + shrink * base) / (table.per_user[:, None] + shrink)
    counts = np.bincount(table.item * k + label, minlength=n * k).reshape(n, k)
    rest = (counts + base) / (table.per_item[:, None] + 1) - base
    asked = Ones(table.indptr, table.item, n)
    said = Ones(table.indptr, table.item * k + label, n * k)
    asked_back, said_back = asked.T, said.T
    scores, weights = np.ones(m), rest.copy()
    change, done = np.inf, 0
    while done < rounds and change > tol:
        # the residual 1[says l] - user's share - item's share + base is never formed
        left = said @ weights.ravel() - ((asked @ weights) * usual).sum(1)
        left -= asked @ (rest * weights).sum(1)
        new = left / (asked @ (weights**2).sum(1) + 1e-3)
        new /= max(float(np.sqrt((new**2).mean())), 1e-9)
        back = (said_back @ new).reshape(n, k) - asked_back @ (new[:, None] * usual)
        back -= (asked_back @ new)[:, None] * rest
        weights = back / ((asked_back @ new**2)[:, None] + 1.0)
        change = float(np.abs(new - scores).max())
        scores = new
        done += 1
    of_options = weights[table.of_option, numbers]
    sign = 1.0 if float((of_options * table.centred_votes).sum()) >= 0 else -1.0
    return DoubleAxis(sign * of_options, sign * scores, done, change)


def confusions(table: Table, rounds: int = 60) -> Floats:
    """The key by hierarchical Dawid-Skene: confusion matrices with pooled rows as priors."""
    numbers, k = table.labels
    m, n = table.n_users, table.n_items
    label = numbers[table.option]
    truth = table.by_label.copy()
    said = []
    for each in range(k):
        mine = label == each
        begins = np.searchsorted(table.user[mine], np.arange(m + 1))
        said.append(Ones(begins, table.item[mine], n))
    back = [part.T for part in said]
    strength = 4.0
    for _ in range(rounds):
        counts = np.stack([part @ truth for part in said], axis=2)  # user, truth, answer
        pooled = counts.sum(axis=0) + 1 + np.eye(k)
        pooled /= pooled.sum(axis=1, keepdims=True)
        counts += strength * pooled
        logs = np.log(counts / counts.sum(axis=2, keepdims=True))
        value = np.log((truth.sum(axis=0) + 1) / (n + k)) + sum(
            back[each] @ logs[:, :, each] for each in range(k)
        )
        value -= value.max(axis=1, keepdims=True)
        new = np.exp(value)
        new /= new.sum(axis=1, keepdims=True)
        settled = np.abs(new - truth).max() < 1e-4
        truth = new
        if settled:
            break
    return table.items.share(truth[table.of_option, numbers])
