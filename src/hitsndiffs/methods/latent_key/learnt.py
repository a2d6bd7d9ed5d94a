"""What the latent-key model learnt besides the scores and the key."""

from __future__ import annotations

from dataclasses import dataclass

from hitsndiffs.methods.fitted import Learnt
from hitsndiffs.methods.latent_key.confidence import Signs

__all__ = ["FoundSolution", "KeySearch", "Population"]


@dataclass(frozen=True)
class Population:
    """What a solution says about all items together.

    Attributes
    ----------
    mean_slope, mean_intercept
        Means over the items' curves.
    label_shares
        Each label and how often it is right, where all items share two labels.
    right_everywhere
        The label that is right in every item, where the solution says so.
    """

    mean_slope: float
    mean_intercept: float | None = None
    label_shares: tuple[tuple[str, float], ...] = ()
    right_everywhere: str | None = None


@dataclass(frozen=True)
class FoundSolution:
    """A solution: the starts that led to it, and its evidence (nats)."""

    starts: tuple[str, ...]
    evidence: float


@dataclass(frozen=True)
class KeySearch(Learnt):
    """The solutions that were found, and what speaks for the best.

    Attributes
    ----------
    solutions
        The distinct ones, the best first.
    lead
        How far the best is ahead of the next one that disagrees (nats; infinite without one).
    signs
        What the confidence is computed from.
    population
        What the chosen solution says about all items together.
    """

    solutions: tuple[FoundSolution, ...]
    lead: float
    signs: Signs
    population: Population
