"""Advice on which method to use, after a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.results.wording import count, joined

if TYPE_CHECKING:
    from hitsndiffs.results.comparison import Comparison

__all__ = ["advice"]

#: Methods whose accuracy is this close to the best count as equally good.
AS_GOOD = 0.01
#: A method that agrees with the others less than this measures something else.
APART = 0.5
#: A key of fewer items than this share judges how the methods do on those, not on the rest.
ENOUGH = 0.5


def advice(comparison: Comparison) -> str:
    """Say which method to use: by the key if there is one, else by how far they agree."""
    rows = [row for row in comparison.rows() if row["error"] is None]
    if not rows:
        return "No method can be used on these data."
    if len(rows) == 1:
        return f"Only {rows[0]['method']} was fitted, so there is nothing to compare it with."
    if comparison.true_scores is None:
        return _by_agreement(comparison, rows)
    n_items = comparison.responses.n_items
    if comparison.key_items < ENOUGH * n_items:
        few = f"The key covers {comparison.key_items} of {count(n_items, 'item')}, too few to judge"
        return f"{few} by it. {_by_agreement(comparison, rows)}"
    return _by_key(rows)


def _by_key(rows: list[dict[str, Any]]) -> str:
    from hitsndiffs.results.comparison import TOLD

    fair = [row for row in rows if row["method"] not in TOLD and _known(row["accuracy"])]
    if not fair:
        return "No method that works without a key ranks anybody here."
    best = max(row["accuracy"] for row in fair)
    good = [row["method"] for row in fair if row["accuracy"] >= best - AS_GOOD]
    default = next((row for row in fair if row["method"] == "auto"), None)
    if default is not None and default["method"] in good:
        return (
            f"Use auto, the default: without the key it ranks users like the key does "
            f"({default['accuracy']:.2f}), and no method is clearly better here."
        )
    said = f"Against this key {joined(good, 'or')} ranks best ({best:.2f})"
    if default is None:
        return f"{said}."
    return (
        f"{said}, ahead of auto, the default ({default['accuracy']:.2f}): use it here; on data "
        "without a key auto is the safer choice."
    )


def _by_agreement(comparison: Comparison, rows: list[dict[str, Any]]) -> str:
    names = [row["method"] for row in rows]
    agreed = {row["method"]: row["agreement"] for row in rows if _known(row["agreement"])}
    apart = [name for name, value in agreed.items() if value < APART]
    first = "auto" if "auto" in names else max(agreed, key=lambda name: agreed[name], default=None)
    if first is None:
        return "The methods cannot be compared: none of them tells the users apart."
    value = agreed.get(first)
    use = f"Use {first}, the default" if first == "auto" else f"Use {first}"
    if value is None or value < APART:
        return (
            "The methods disagree about who is good, so trust none of them yet; a few known "
            f"answers, or a key for this comparison, would settle it. {use} to begin with."
        )
    place = comparison.methods.index(first)
    alike, others = int((comparison.correlations[place] >= 0.9).sum()) - 1, len(rows) - 1
    if others == 1:
        said = f"{use}: the other gives {'almost the same' if alike else 'a different'} order."
    else:
        many = "all" if alike == others else f"{alike or 'none'} of the"
        said = f"{use}: {many} {others} others give almost the same order."
    if apart and first not in apart:
        said += f" {joined(apart)} {'sees' if len(apart) == 1 else 'see'} something else."
    return said


def _known(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))
