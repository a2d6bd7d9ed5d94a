"""Where the authors' published code departs from the paper's text.

Kept apart from the methods, so that figures can be drawn both ways and differences explained.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.irt import Bock, Samejima, Simulation
from hitsndiffs.results.metrics import average_ranks

__all__ = ["displacement", "grm_levels", "grm_order", "right_answers"]

Vector = npt.NDArray[np.float64]
IntMatrix = npt.NDArray[np.int64]


def grm_levels(sim: Simulation) -> IntMatrix:
    """The levels that the published code gives to the GRM-estimator, users × items.

    An option of Bock's model gets its entry of ``argsort(slopes)`` instead of its rank. For
    Samejima's model the slopes include the hidden option "don't know", which nobody can choose. A
    missing answer counts as a level too: an extra lowest one, or the highest (Bock, Samejima).

    Examples
    --------
    >>> from hitsndiffs.irt import simulate
    >>> model = Bock(slopes=[[3.0, 1.0, 2.0]], intercepts=[[0.0, 0.0, 0.0]])
    >>> sim = simulate(model, users=4, ability=[-9.0, -1.0, 0.3, 9.0], seed=4)
    >>> sim.responses.codes.tolist(), grm_levels(sim).T.tolist()  # ranks would be 2 0 1
    ([[1, 1, 2, 0]], [[2, 2, 0, 1]])
    """
    responses, model = sim.responses, sim.model
    numbers = {text: number for number, text in enumerate(model.option_labels)}
    option = np.array([numbers[text] for text in responses.option_labels.tolist()], dtype=np.int64)
    answered = responses.codes != np.iinfo(responses.codes.dtype).max
    codes = np.where(answered, responses.codes, 0)
    chosen = option[codes + responses.item_starts[:-1, None]]
    if not isinstance(model, Bock | Samejima):
        return np.where(answered, chosen, -1).T
    slopes = model.slopes
    if isinstance(model, Samejima):
        slopes = np.column_stack([slopes, model.unsure_slope])
    items = [int(item.rsplit("-", 1)[1]) - 1 for item in responses.items.tolist()]
    levels = np.take_along_axis(np.argsort(slopes, axis=1)[items], chosen, axis=1)
    return np.where(answered, levels, slopes.shape[1] - 1).T


def grm_order(sim: Simulation) -> dict[str, list[str]]:
    """The options of each item from worst to best, by the published levels.

    Missing answers stay missing here, and "don't know", which nobody can choose, takes no part.

    Examples
    --------
    >>> from hitsndiffs.irt import simulate
    >>> model = Bock(slopes=[[3.0, 1.0, 2.0]], intercepts=[[0.0, 0.0, 0.0]])
    >>> grm_order(simulate(model, users=4, ability=[-9.0, -1.0, 0.3, 9.0], seed=4))
    {'item-01': ['C', 'A', 'B']}
    """
    responses, levels = sim.responses, grm_levels(sim)
    order = {}
    for number, item in enumerate(responses.items.tolist()):
        first, last = responses.item_starts[number : number + 2]
        names = responses.option_labels[first:last].tolist()
        codes = responses.codes[number]
        places = {name: int(levels[codes == code, number][0]) for code, name in enumerate(names)}
        order[item] = sorted(names, key=places.__getitem__)
    return order


def right_answers(sim: Simulation) -> Vector:
    """How many right answers each user gave: the paper's True-answer (ours is their share)."""
    responses = sim.responses
    right = np.zeros(responses.n_users)
    for number, item in enumerate(responses.items.tolist()):
        first, last = responses.item_starts[number : number + 2]
        names = responses.option_labels[first:last].tolist()
        if sim.key[item] in names:
            right += responses.codes[number] == names.index(sim.key[item])
    return right


def displacement(scores: Vector) -> float:
    """The mean displacement as in Figure 6b: ranks count from 1, but true places from 0.

    Users must be ordered from worst to best.

    Examples
    --------
    >>> displacement(np.array([1.0, 2.0, 3.0, 4.0]))  # a perfect ranking is 1/m away
    0.25
    """
    away = np.abs(average_ranks(scores) - np.arange(len(scores)))
    return float(away.mean() / len(scores))
