"""Place newcomers by an existing ranking, without a new fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, first_few
from hitsndiffs.engines import open_engine
from hitsndiffs.errors import InputError
from hitsndiffs.methods.scoring import Scoring
from hitsndiffs.order.ties import tie_limit
from hitsndiffs.results.cells import Tabled, same
from hitsndiffs.results.columns import Cells, dressed

if TYPE_CHECKING:
    from hitsndiffs.results.ranking import Ranking

__all__ = ["Placement", "place"]


@dataclass(frozen=True, eq=False, repr=False)
class Placement(Tabled):
    """Where newcomers stand among the users of a ranking.

    Attributes
    ----------
    users
        The newcomers, in the order of their data.
    scores, standard_errors
        On the scale of the ranking; NaN for users without an answer that counts.
    ranks
        The rank each would have among the ``of`` users of the ranking: 1 = nobody is better.
    notes
        What the ranking does not know, and how many newcomers answered none of its items.
    method, shares
        The ranking's method, and whether its scores are shares of right answers.
    responses
        The newcomers' answers.
    """

    ROWS = "users"

    users: Array
    scores: Floats
    standard_errors: Floats
    ranks: Floats
    of: int
    notes: tuple[str, ...]
    method: str
    shares: bool
    responses: Responses

    def cells(self) -> Cells:
        """One row per newcomer, best first."""
        order = np.argsort(-np.nan_to_num(self.scores, nan=-np.inf), kind="stable")
        columns = {
            "rank": self.ranks,
            "user": self.users,
            "score": self.scores,
            "standard_error": self.standard_errors,
        }
        found = {name: values[order] for name, values in columns.items()}
        return dressed(found, shares=self.shares)

    def facts(self) -> dict[str, Any]:
        """Among how many users, and what there is to note."""
        return {"ranked_users": self.of, "notes": list(self.notes)}

    def sentence(self) -> str:
        """How many newcomers there are."""
        placed = count(len(self), "newcomer")
        return f"{placed}, placed among {count(self.of, 'user')} (method {self.method})."

    def __len__(self) -> int:
        return len(self.users)


def place(ranking: Ranking, newcomers: Responses) -> Placement:
    """Score users by a ranking's items and key (see :meth:`hitsndiffs.Ranking.score`)."""
    scoring = _scoring(ranking)
    known, notes = _known_items(ranking.responses.structure, newcomers)
    part = newcomers.select(items=known)
    weights, unseen = _matched(scoring.weights, ranking.responses.structure, part.structure)
    if unseen:
        notes.append(
            f"{count(len(unseen), 'option')} that nobody in the ranking chose count as wrong: "
            f"{first_few(unseen)}."
        )
    scores, errors = scoring.place(open_engine(part), weights)
    fitted = np.sort(ranking.scores[ranking.components == 0])
    above = scores + tie_limit(fitted)
    better = len(fitted) - np.searchsorted(fitted, above, side="right")
    silent = int(np.isnan(scores).sum())
    if silent:
        notes.append(f"{count(silent, 'newcomer')} answered no item of the ranking.")
    return Placement(
        users=newcomers.users,
        scores=scores,
        standard_errors=errors,
        ranks=np.where(np.isnan(scores), np.nan, better + 1.0),
        of=len(fitted),
        notes=tuple(notes),
        method=ranking.method,
        shares=ranking.by == "correct",
        responses=newcomers,
    )


def _scoring(ranking: Ranking) -> Scoring:
    """How newcomers are scored: by the method's own weights, or by the key for shares correct."""
    fit = ranking.fit
    if fit.scoring is not None and same(ranking.scores, fit.scores):
        return fit.scoring
    if ranking.by == "correct" and fit.key_probabilities is not None:
        return Scoring(fit.key_probabilities, shares=True)
    raise InputError(
        f"A ranking by {ranking.method!r} cannot place newcomers: its scores are not sums over "
        "options. Rank by the share of right answers (correct), or with hnd or majority."
    )


def _known_items(fitted: Items, newcomers: Responses) -> tuple[Ints, list[str]]:
    names = [str(label).strip() for label in newcomers.items]
    known = np.array([i for i, name in enumerate(names) if name in fitted.places], dtype=np.int64)
    if len(known) == 0:
        raise InputError(
            "None of the newcomers' items is in the ranking. The newcomers have, for example, "
            f"{first_few(names, 3)}; the ranking has {first_few(fitted.labels, 3)}."
        )
    others = [name for name in names if name not in fitted.places]
    if not others:
        return known, []
    return known, [
        f"{count(len(others), 'item')} not in the ranking left out: {first_few(others)}."
    ]


def _matched(fitted: Floats, items: Items, here: Items) -> tuple[Floats, list[str]]:
    """The fitted weight of each option here, and the names of those nobody in the ranking chose.

    These get the lowest weight of their item.
    """
    fitted = np.nan_to_num(fitted)
    weights = np.empty(here.n_options)
    unseen = []
    for i, label in enumerate(here.labels):
        item = items.places[str(label).strip()]
        lightest = fitted[slice(*items.starts[item : item + 2])].min()
        for option in range(*here.starts[i : i + 2].tolist()):
            text = str(here.option_labels[option])
            number = items.option_named(item, text)
            if number is None:
                unseen.append(f"{label}: {text}")
            weights[option] = lightest if number is None else fitted[number]
    return weights, unseen
