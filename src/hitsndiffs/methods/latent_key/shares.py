"""Probabilities of the distinct solutions; that of the first is the confidence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hitsndiffs.methods.latent_key.found import Search
from hitsndiffs.methods.latent_key.modes import Mode, correlation

__all__ = ["distinct_modes", "shared_out"]

Array = npt.NDArray[np.float64]

#: Shares of right answers that correlate this well belong to one reading.
SAME_READING = 0.9
#: Most readings kept.
MOST_READINGS = 5
#: A reading this far behind (nats) has half the share of one that is level with the first: models
#: are wrong in ways that many users repeat, so evidence is worth less than it says.
HALVED = 20.0
#: Share of the case that none of the readings is right, on the same scale.
NONE = 0.5


def distinct_modes(found: Search) -> list[Mode]:
    """The solutions that rank people differently, best first."""
    kept: list[tuple[Mode, Array]] = []
    for mode in found.modes:
        share = found.problem.right_shares(mode.fit.key)
        if all(correlation(share, other) < SAME_READING for _, other in kept):
            kept.append((mode, share))
    return [mode for mode, _ in kept[:MOST_READINGS]]


def shared_out(found: Search) -> list[tuple[Mode, float]]:
    """The distinct solutions and their probabilities; the remainder to 1: none of them."""
    modes, sure = distinct_modes(found), found.confidence
    if found.told:
        chance = {id(mode): told for mode, told in zip(found.modes, found.told, strict=True)}
        rest = np.array([chance[id(mode)] for mode in modes[1:]])
        scale = (1 - sure) / max(1 - found.told[0], 1e-12)
        share = rest * min(scale, 1.0)
    else:
        behind = np.array([modes[0].evidence - mode.evidence for mode in modes[1:]])
        share = 1 / (1 + np.maximum(behind, 0.0) / HALVED)
        share = (1 - sure) * share / (share.sum() + NONE)
    # no other is likelier than the first, which explains the answers best; the rest: none of them
    share = np.minimum(share, sure)
    return list(zip(modes, [sure, *share.tolist()], strict=True))
