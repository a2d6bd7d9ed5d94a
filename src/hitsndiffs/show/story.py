"""What a ranking says, in sentences for people who do not know the method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.methods.latent_key.reading import DOUBT
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.wording import count, joined, missing, per_cent
from hitsndiffs.show.display_names import clean

__all__ = ["Tile", "tiles", "verdict"]

#: Minimum reliability, and what to expect on other questions of the kind; highest first.
REPEATS = (
    (0.9, "on other questions of this kind the order would come out almost the same"),
    (0.75, "on other questions of this kind most users would keep about their place"),
    (0.5, "it is a rough guide, as on other questions many users would change places"),
    (0.0, "differences between users are mostly luck, as there are too few answers to tell more"),
)
OPENINGS = (
    (0.9, "You can rely on this order"),
    (0.75, "The order is good, but not exact"),
    (0.0, "Take the order with care"),
)


@dataclass(frozen=True)
class Tile:
    """One of the numbers to look at first."""

    label: str
    value: str
    hint: str
    concern: bool = False


def verdict(ranking: Ranking) -> tuple[str, str]:
    """Say in two sentences who is best, and how far to trust the order.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> r = hnd.Responses.from_wide(
    ...     [list("AAA"), list("AAB"), list("ABB"), list("BBC")], users=["ann", "bob", "eve", "tim"]
    ... )
    >>> verdict(hnd.rank(r, method="hnd", strong_user="ann"))[0]
    'ann comes out best, followed by bob and eve.'
    """
    return _best(ranking), _trust(ranking)


def _best(ranking: Ranking) -> str:
    order = ranking.order[ranking.components[ranking.order] == 0]
    first = order[ranking.ranks[order] == 1]
    names = [clean(ranking.users[j], 60) for j in order[:3]]
    if len(first) > 3:
        said = f"{count(len(first), 'user')} share the first place"
    elif len(first) > 1:
        said = f"{joined([clean(ranking.users[j], 60) for j in first])} share the first place"
    elif len(names) == 1:
        said = f"{names[0]} is the only user who can be ranked"
    else:
        said = f"{names[0]} comes out best, followed by {joined(names[1:])}"
    if ranking.n_components > 1:
        said += (
            f" (in the largest of {ranking.n_components} groups of users, which share no answers "
            "and cannot be compared with each other)"
        )
    return said + "."


def _trust(ranking: Ranking) -> str:
    sure = ranking.confidence
    if sure is not None and sure < DOUBT:
        helps = ranking.verdict.help
        return "Do not rely on this order yet: the answers alone leave open who is good." + (
            f" To be surer: {helps}" if helps else ""
        )
    if ranking.consistent:
        return "You can rely on this order: it explains every single answer."
    if not np.isfinite(ranking.reliability):
        return "This method does not tell how well the order would repeat on other questions."
    expected = next(words for least, words in REPEATS if ranking.reliability >= least)
    opening = next(words for least, words in OPENINGS if ranking.reliability >= least)
    return f"{opening}: {expected}{_reach(ranking)}."


def _reach(ranking: Ranking) -> str:
    """The ranks that the best user may truly have, in words."""
    low, high = ranking.rank_intervals()
    best = int(ranking.order[0])
    if not np.isfinite(high[best]) or high[best] <= ranking.ranks[best]:
        return ""
    return (
        f" ({clean(ranking.users[best], 60)} may truly stand anywhere from "
        f"{low[best]:,.0f} to {high[best]:,.0f})"
    )


def tiles(ranking: Ranking) -> list[Tile]:
    """The numbers to look at first."""
    r = ranking.responses
    found = []
    if ranking.confidence is not None:
        found.append(
            Tile(
                "sure",
                per_cent(ranking.confidence),
                "that this is ability, the best on top",
                ranking.confidence < DOUBT,
            )
        )
    if np.isfinite(ranking.reliability):
        found.append(
            Tile(
                "reliability",
                f"{ranking.reliability:.2f}",
                "1: other questions would give the same order",
                ranking.reliability < 0.5,
            )
        )
    found.append(Tile("users", f"{r.n_users:,}", _range(ranking)))
    empty = "everybody answered everything" if r.is_complete else f"{missing(r)} unanswered"
    found.append(Tile("items", f"{r.n_items:,}", empty))
    return found


def _range(ranking: Ranking) -> str:
    scores: Any = ranking.scores[ranking.components == 0]
    if ranking.by == "correct":
        return f"from {per_cent(scores.min())} to {per_cent(scores.max())} right"
    return f"scores from {scores.min():.2f} to {scores.max():.2f}"
