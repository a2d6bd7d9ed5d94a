"""Figures without runs: the curves of the response models, and the worked example of Figure 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.responses import Responses
from hitsndiffs.irt import C1P, GRM, Bock, ResponseModel
from hitsndiffs.irt.codes import from_codes, labels
from reproduction.full_matrices import one_hot

__all__ = ["CURVES", "EXAMPLE", "Curve", "example_responses", "worked_example"]

Vector = npt.NDArray[np.float64]

#: The answers of users 1–4 to items 1–3; A is the best option. The paper prints this example only
#: as a picture; these answers have every property that its text states: they are consistent, user 2
#: is right on items 1 and 2, and 1, 2, 3, 4 (or its reverse) is the only possible ranking.
EXAMPLE = ("AAA", "AAB", "ABB", "BBC")


@dataclass(frozen=True)
class Curve:
    """One line: the chance of one option against ability.

    Attributes
    ----------
    label
        For the legend.
    line
        Number of the model; models in one picture differ in line style.
    colour
        Number of the colour: that of the option or the item.
    theta, chance
        The points.
    """

    label: str
    line: int
    colour: int
    theta: Vector
    chance: Vector


def _options(name: str, line: int, model: ResponseModel, theta: Vector) -> list[Curve]:
    chances = model.probabilities(theta)[:, 0]
    return [
        Curve(f"{name}, option {option}", line, option, theta, chances[:, option])
        for option in range(model.n_options)
    ]


def _grm(a: float, low: float, high: float) -> GRM:
    return GRM(discrimination=np.array([a]), thresholds=np.array([[low, high]]))


def _bock(a: float, middle: float) -> Bock:
    """Slopes 0, a and 2a; the middle option has an intercept."""
    return Bock(slopes=np.array([[0.0, a, 2 * a]]), intercepts=np.array([[0.0, middle, 0.0]]))


def intro() -> list[Curve]:
    """The chance of the correct answer to three items of rising difficulty (Figure 1c)."""
    theta = np.linspace(0, 1, 401)
    model = GRM(discrimination=np.full(3, 40.0), thresholds=np.array([[0.3], [0.5], [0.7]]))
    chances = model.probabilities(theta)[:, :, 1]
    return [Curve(f"item {i + 1}", 0, i, theta, chances[:, i]) for i in range(3)]


def grm_bock() -> list[Curve]:
    """GRM with a = 8 beside Bock with slopes 8 and 16."""
    theta = np.linspace(-1, 1, 401)
    return [
        *_options("GRM", 0, _grm(8.0, -0.2, 0.2), theta),
        *_options("Bock", 1, _bock(8.0, 1.6), theta),
    ]


def c1p_limit() -> list[Curve]:
    """GRM and Bock with steep slopes beside the steps that they approach."""
    theta = np.linspace(-1, 1, 801)
    return [
        *_options("GRM", 0, _grm(50.0, -0.4, 0.4), theta),
        *_options("Bock", 1, _bock(50.0, 20.0), theta),
        *_options("C1P", 2, C1P(np.array([[-0.4, 0.4]])), theta),
    ]


CURVES = {"curves/intro": intro, "curves/grm-bock": grm_bock, "curves/c1p-limit": c1p_limit}


def example_responses() -> Responses:
    """Return the answers of the worked example."""
    codes = np.array([["ABC".index(c) for c in row] for row in EXAMPLE], dtype=np.uint8).T.copy()
    return from_codes(
        codes, users=labels("u", 4, width=1), items=labels("t", 3, width=1), option_labels="ABC"
    )


def worked_example() -> dict[str, Any]:
    """Every step of HnD on the example of Figure 1, as plain numbers.

    Examples
    --------
    >>> steps = worked_example()
    >>> steps["ranking"], steps["columns"][:2]
    (['u-1', 'u-2', 'u-3', 'u-4'], ['t-1 A', 't-1 B'])
    """
    responses = example_responses()
    m, C = responses.n_users, one_hot(responses)
    U = (C / C.sum(axis=1, keepdims=True)) @ (C / C.sum(axis=0)).T
    S, T = np.diff(np.eye(m), axis=0), np.tri(m, m - 1, -1)
    values, vectors = np.linalg.eig(S @ U @ T)
    top = int(np.argmax(values.real))
    steps = vectors[:, top].real
    scores = T @ steps
    scores -= scores.mean()
    # Users 1 and 2 agree more than users 3 and 4, so user 1 is at the upper end.
    scores *= -np.sign(scores[-1] - scores[0])
    order = np.argsort(-scores)
    return {
        "answers": {f"u-{j + 1}": list(row) for j, row in enumerate(EXAMPLE)},
        "columns": [
            f"{responses.items[i]} {label}"
            for i, label in zip(responses.option_items, responses.option_labels, strict=True)
        ],
        "C": C.astype(int).tolist(),
        "U": U.round(6).tolist(),
        "U_diff": (S @ U @ T).round(6).tolist(),
        "eigenvalues of U_diff": np.sort(values.real)[::-1].round(6).tolist(),
        "scores": scores.round(6).tolist(),
        "ranking": responses.users[order].tolist(),
    }
