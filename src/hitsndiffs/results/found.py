"""What a method found, wherever its users are: in memory, or spread over a cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.items import Items
from hitsndiffs.data.lookup import covered_items, python_value
from hitsndiffs.errors import InputError
from hitsndiffs.methods import Fit
from hitsndiffs.results.cells import Cells
from hitsndiffs.results.diagnostics import best_options
from hitsndiffs.results.verdict import Command, Reason, Verdict, verdict_of

__all__ = ["Found", "scores_by"]


def scores_by(
    method: str, fit: Fit, by: str | None, same: Callable[[Any, Any], bool]
) -> tuple[Any, str, Any]:
    """What users are ranked by, its name, and its standard errors (``None``: not known)."""
    held = {
        "correct": (fit.correct, fit.correct_errors),
        "ability": (fit.abilities, fit.ability_errors),
    }
    if by is None:
        own = (name for name, (x, _) in held.items() if x is not None and same(x, fit.scores))
        return fit.scores, next(own, "score"), fit.standard_errors
    scores, errors = held[by]
    if scores is None:
        has = [name for name, (x, _) in held.items() if x is not None]
        rest = f"rank by {has[0]!r}." if has else "leave 'by' out to rank by its own score."
        raise InputError(f"Method '{method}' has no {by!r} score; {rest}")
    return scores, by, fit.standard_errors if same(scores, fit.scores) else errors


def _of_fit(name: str, doc: str) -> Any:
    """A property that passes on what the method found."""
    return property(lambda found: getattr(found.fit, name), doc=doc)


class Found:
    """What :class:`hitsndiffs.Ranking` and a ranking on a cluster have in common."""

    method: str
    parameters: Mapping[str, Any]
    fit: Fit
    command: Command | None = None
    #: What shows that the answers are opinions or ratings; empty if they may be a test.
    ratings = ""

    #: A key that is not taken for right: ``"given"``, ``"found"`` with the answers, or empty.
    spare_key = ""

    @property
    def structure(self) -> Items:
        """The items and their options."""
        raise NotImplementedError

    @property
    def n_components(self) -> int:
        """Number of groups of users that cannot be compared with each other."""
        return 1

    def _how_far(self, sure: str) -> Reason:
        """How far the answers tell users apart, in an order that is not in doubt."""
        raise NotImplementedError

    abilities = _of_fit("abilities", "Latent abilities, if the method has them.")
    correct = _of_fit("correct", "Expected share of right answers (0–1), if the method has it.")
    orientation = _of_fit(
        "orientation", "How the upper end was found (``None``: the method itself knows it)."
    )
    converged = _of_fit("converged", "Whether the iteration settled.")
    n_iterations = _of_fit("n_iterations", "Rounds over the data.")

    @property
    def confidence(self) -> float | None:
        """How sure it is that the order is one of ability, and the right way up (0–1)."""
        return self.fit.confidence

    @cached_property
    def verdict(self) -> Verdict:
        """One sentence on how far to rely on the order, doubt first.

        ``verdict.doubt`` says in a word what the doubt is, and ``verdict.help`` is the command
        that would make the order surer.
        """
        return verdict_of(self)

    # -- the likely key ------------------------------------------------------------------------

    @cached_property
    def key_chances(self) -> Floats | None:
        """How likely each option is the right one of its item, whether the ranking is right or not.

        The fit's key holds if the ranking is right. Other readings have other keys; and where no
        reading is right nothing is known, so the options of an item share that chance evenly. What
        the caller knows stays as it is.
        """
        held, fit, items = self.fit.key_probabilities, self.fit, self.structure
        if held is None or fit.confidence is None:
            return held
        ranked_by = int(self.parameters.get("reading", 1)) - 1
        others = [r for number, r in enumerate(fit.readings) if number != ranked_by]
        none = max(1 - fit.confidence - sum(r.probability for r in others), 0.0)
        chances = fit.confidence * held + none / np.diff(items.starts)[items.of_option]
        for reading in others:
            chances = chances + reading.probability * np.nan_to_num(reading.key)
        told = self.parameters.get("answers") or self.parameters.get("key") or {}
        return np.where(covered_items(items, told)[items.of_option], held, chances)

    def answer_key(self, *, with_confidence: bool = False) -> dict[Any, Any]:
        """The likely right option of each item.

        Parameters
        ----------
        with_confidence
            Return ``(option, probability)`` instead of the option. The probability takes into
            account that the ranking as a whole may be wrong (:attr:`Ranking.confidence`).
        """
        chances, items = self.key_chances, self.structure
        if self.fit.key_probabilities is None or chances is None:
            raise InputError(f"Method '{self.method}' does not infer an answer key.")
        options, _ = best_options(items, self.fit.key_probabilities)
        key: dict[Any, Any] = {}
        for item, option in zip(items.labels, options, strict=True):
            if option >= 0:
                label = python_value(items.option_labels[option])
                told = (label, float(chances[option])) if with_confidence else label
                key[python_value(item)] = told
        return key

    def key_cells(self) -> Cells:
        """The likely key as a table: item, answer, confidence."""
        key = self.answer_key(with_confidence=True)
        columns = {
            "item": [str(item) for item in key],
            "answer": [str(option) for option, _ in key.values()],
            "confidence": np.array([sure for _, sure in key.values()], dtype=float),
        }
        return Cells.of(columns, chance="confidence", label="item answer")
