"""The latent-key model of its docstring, one loop per item, option and answer.

Written from the model's description as an oracle: no sums, no blocks.
"""

from __future__ import annotations

from math import lgamma

import numpy as np

GRID = np.linspace(-4, 4, 21)
PRIOR = np.exp(-0.5 * GRID**2) / np.exp(-0.5 * GRID**2).sum()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def options_of(table, item):
    return sorted(set(table[:, item].tolist()) - {-1})


def distractors(counts, key):
    """Log probability of the other answers under a flat Dirichlet prior over the other options.

    Dirichlet-multinomial of one sequence of answers: Γ(k)/Γ(n+k) ∏ Γ(c+1).
    """
    others = [c for option, c in counts.items() if option != key]
    k = max(len(others), 1)
    return lgamma(k) - lgamma(sum(others) + k) + sum(lgamma(c + 1) for c in others)


def fit_candidate(chosen, answered, steps=60):
    """Slope and intercept that maximise the log posterior, and its Hessian's determinant.

    Priors: slope N(1, 1/4), cut at 0; intercept N(0, 9/4).
    """
    a, b = 1.0, 0.0
    for _ in range(steps):
        p = sigmoid(a * GRID + b)
        v = answered * p * (1 - p)
        residual = chosen - answered * p
        gradient = np.array([(residual * GRID).sum() - (a - 1) / 0.25, residual.sum() - b / 2.25])
        hessian = np.array(
            [
                [(v * GRID**2).sum() + 1 / 0.25, (v * GRID).sum()],
                [(v * GRID).sum(), v.sum() + 1 / 2.25],
            ]
        )
        step = np.linalg.solve(hessian, gradient)
        a, b = max(a + np.clip(step[0], -1, 1), 0.0), b + np.clip(step[1], -2, 2)
    return a, b, np.linalg.det(hessian)


def one_round(table, start, witness=None, known=None, strong=None):
    """Key posterior, ability posterior (grid rows) and evidence after one round from ``start``.

    ``known``: item → right option; ``strong``: (user, prior over the grid).
    """
    m, n = table.shape
    witness = np.ones(m) if witness is None else witness
    key, curves, evidence = {}, {}, 0.0
    for i in range(n):
        options = options_of(table, i)
        answered = sum(witness[j] * start[j] for j in range(m) if table[j, i] >= 0)
        counts = {o: sum(witness[j] for j in range(m) if table[j, i] == o) for o in options}
        score, prior = {}, {}
        for o in options:
            chosen = sum(witness[j] * start[j] for j in range(m) if table[j, i] == o)
            a, b, det = fit_candidate(chosen, answered)
            p = sigmoid(a * GRID + b)
            curves[i, o] = p
            popularity = np.log((counts[o] + 1) / sum(c + 1 for c in counts.values()))
            prior[o] = (
                -((a - 1) ** 2) / (2 * 0.25)
                - b**2 / (2 * 2.25)
                - 0.5 * np.log(0.25 * 2.25)
                - 0.5 * np.log(det)
                + distractors(counts, o)
                + popularity
            )
            fit = (chosen * np.log(p) + (answered - chosen) * np.log(1 - p)).sum()
            score[o] = fit + prior[o]
        top = max(score.values())
        total = sum(np.exp(s - top) for s in score.values())
        for o in options:
            key[i, o] = np.exp(score[o] - top) / total
            if known and i in known:
                key[i, o] = float(o == known[i])
            if key[i, o] > 0:
                evidence += key[i, o] * (prior[o] - np.log(key[i, o]))
    posterior = np.empty((m, len(GRID)))
    for j in range(m):
        logs = np.log(PRIOR if strong is None or strong[0] != j else strong[1])
        for i in range(n):
            if table[j, i] < 0:
                continue
            for o in options_of(table, i):
                p = curves[i, o]
                logs = logs + key[i, o] * np.log(p if table[j, i] == o else 1 - p)
        raised = np.exp(logs - logs.max())
        posterior[j] = raised / raised.sum()
        evidence += witness[j] * (logs.max() + np.log(raised.sum()))
    return key, posterior, evidence
