"""The methods as plain loops over the paper's formulas: slow, obvious, and nothing shared."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np


def one_hot(answers):
    """The matrix C (users × options) and the item of each column."""
    columns, items = [], []
    for i in range(answers.shape[1]):
        for option in sorted({int(v) for v in answers[:, i] if v >= 0}):
            columns.append([1.0 if v == option else 0.0 for v in answers[:, i]])
            items.append(i)
    return np.array(columns).T, items


def shares(weights, items):
    """Weights divided by their sum within the item."""
    totals = {}
    for w, i in zip(weights, items, strict=True):
        totals[i] = totals.get(i, 0) + w
    return [w / totals[i] for w, i in zip(weights, items, strict=True)]


def _choosers(C, o):
    return [j for j in range(len(C)) if C[j][o]]


def _chosen(C, j):
    return [o for o in range(C.shape[1]) if C[j][o]]


def hits(answers, rounds=2000):
    C, items = one_hot(answers)
    s = [1.0] * len(C)
    for _ in range(rounds):
        w = shares([sum(s[j] for j in _choosers(C, o)) for o in range(C.shape[1])], items)
        s = [sum(w[o] for o in _chosen(C, j)) for j in range(len(C))]
        s = [x / max(s) for x in s]
    return np.array(s), np.array(w)


def truthfinder(answers, trust=0.9, rounds=200, divided=True):
    C, items = one_hot(answers)
    s = [trust] * len(C)
    for _ in range(rounds):
        w = []
        for o in range(C.shape[1]):
            wrong = 1.0
            for j in _choosers(C, o):
                wrong *= 1 - s[j]
            w.append(1 - wrong)
        if divided:
            w = shares(w, items)
        s = [sum(w[o] for o in _chosen(C, j)) / len(_chosen(C, j)) for j in range(len(C))]
    return np.array(s), np.array(w)


def investment(answers, exponent=1.2, rounds=10, pooled=False):
    """Trust over its mean, and the options' shares of belief (decimals never underflow)."""
    C, items = one_hot(answers)
    m, q = C.shape
    n = [len(_chosen(C, j)) for j in range(m)]
    trust = [Decimal(1)] * m
    w = [Decimal("0.25") if pooled else Decimal(len(_choosers(C, o))) / m for o in range(q)]
    for _ in range(rounds):
        new = []
        for j in range(m):
            earned = Decimal(0)
            for o in _chosen(C, j):
                pool = sum(trust[r] / n[r] for r in _choosers(C, o))
                earned += w[o] * (trust[j] / n[j]) / pool
            new.append(earned)
        trust = new
        invested = [sum(trust[j] / n[j] for j in _choosers(C, o)) for o in range(q)]
        grown = [x ** Decimal(str(exponent)) for x in invested]
        w = [x * g for x, g in zip(invested, shares(grown, items), strict=True)]
        if not pooled:
            w = grown
    mean = sum(trust) / m
    return np.array([float(t / mean) for t in trust]), np.array(list(map(float, shares(w, items))))


def majority(answers):
    C, items = one_hot(answers)
    scores = []
    for j in range(len(C)):
        total = 0.0
        for o in _chosen(C, j):
            counts = [len(_choosers(C, h)) for h in range(C.shape[1]) if items[h] == items[o]]
            if len(_choosers(C, o)) == max(counts):
                total += 1 / counts.count(max(counts))
        scores.append(total / len(_chosen(C, j)))
    return np.array(scores)


def one_coin(answers, rounds, smoothing=0.0):
    """EM, with even priors and as many options per item as were chosen."""
    C, items = one_hot(answers)
    m, q = C.shape
    key = shares([float(len(_choosers(C, o))) for o in range(q)], items)

    def rates():
        right = [sum(key[o] for o in _chosen(C, j)) for j in range(m)]
        n = [len(_chosen(C, j)) for j in range(m)]
        mean = sum(right) / sum(n)
        return [(r + smoothing * mean) / (k + smoothing) for r, k in zip(right, n, strict=True)]

    for _ in range(rounds):
        p = rates()
        likelihood = []
        for o in range(q):
            mine = [h for h in range(q) if items[h] == items[o]]
            log = 0.0
            for h in mine:
                for j in _choosers(C, h):
                    wrong = (1 - p[j]) / max(len(mine) - 1, 1)
                    log += math.log(p[j] if h == o else wrong)
            likelihood.append(log)
        top = max(likelihood)
        key = shares([math.exp(x - top) for x in likelihood], items)
    return np.array(rates()), np.array(key)


def full_confusions(answers, rounds, smoothing=0.0, logs_of=np.log, pooled_of=None):
    """EM with one confusion matrix per user; every label is possible for every item.

    ``logs_of`` gives the logarithms of a user's row from its counts ("full": those of its shares),
    ``pooled_of`` what everybody's counts add to a user's (else ``smoothing`` answers). No count
    and no probability is below 1e-10: rounds magnify a floor that only one side has.
    """
    labels = sorted({int(v) for v in answers.ravel() if v >= 0})
    m, n = answers.shape
    k = len(labels)
    truth = np.zeros((n, k))
    for i in range(n):
        for c, label in enumerate(labels):
            truth[i, c] = (answers[:, i] == label).sum() / (answers[:, i] >= 0).sum()

    def rates():
        counts = np.zeros((m, k, k))
        for j in range(m):
            for i in range(n):
                if answers[j, i] >= 0:
                    counts[j, labels.index(answers[j, i])] += truth[i]
        pooled = np.maximum(counts.sum(axis=0), 1e-10)
        added = smoothing * pooled / pooled.sum(axis=0) if pooled_of is None else pooled_of(pooled)
        counts = np.maximum(counts + added, 1e-10)
        return counts / counts.sum(axis=1, keepdims=True), counts

    for _ in range(rounds):
        prior, (confusion, counts) = truth.mean(axis=0), rates()
        rows = np.log(confusion) if logs_of is np.log else logs_of(counts)
        for i in range(n):
            logs = np.log(np.maximum(prior, 1e-10))
            for j in range(m):
                if answers[j, i] >= 0:
                    logs = logs + rows[j, labels.index(answers[j, i])]
            likelihood = np.exp(logs - logs.max())
            truth[i] = likelihood / likelihood.sum()
    return rates()[0], truth
