"""Published rivals in the arena: crowd-kit's models, and triplet ranking of language models.

They belong to the arena, not to the library. crowd-kit's models run as its users run them: a frame
with the columns ``task``, ``worker`` and ``label`` goes in; the worker's skill is the score, the
label found is the key. Triplet ranking is written here from the paper's description.

References
----------
A. Dhurandhar, R. Nair, M. Singh, E. Daly and K. Natesan Ramamurthy, "Ranking Large Language Models
without Ground Truth", Findings of the ACL, 2024, pages 2431-2452.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from hitsndiffs import Responses
from hitsndiffs.methods.labels import sharing
from hitsndiffs.results.metrics import average_ranks

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "PEERS",
    "LeftOut",
    "Outcome",
    "Peer",
    "full_triplets",
    "greedy_triplets",
    "judged",
    "run",
]

Array = npt.NDArray[np.float64]

#: Reputations have settled when none changes by more than this share of the largest.
SETTLED, MOST_ROUNDS = 1e-9, 1000


class LeftOut(Exception):
    """A peer that does not apply; the message says why."""


@dataclass(frozen=True)
class Outcome:
    """Users' scores, the labels that the peer holds right (item → label), processor seconds."""

    scores: Array
    key: dict[str, str] | None
    seconds: float


@dataclass(frozen=True)
class Peer:
    """A rival from elsewhere.

    Attributes
    ----------
    fit
        From the responses to scores and, where the peer has one, a key.
    most_responses, most_users, most_pairs
        Above these sizes it is left out: it would take too long, or too much memory. Pairs are
        those of users who answered an item in common.
    """

    fit: Callable[[Responses], tuple[Array, dict[str, str] | None]]
    most_responses: int
    most_users: int = 3_000
    most_pairs: int | None = None


def run(peer: Peer, responses: Responses) -> Outcome:
    """Fit a peer; :class:`LeftOut` where it does not apply or breaks."""
    for what, size, most in (
        ("responses", responses.n_responses, peer.most_responses),
        ("users", responses.n_users, peer.most_users),
    ):
        if size > most:
            raise LeftOut(f"more than {most:,} {what}")
    if peer.most_pairs is not None:
        met = np.isfinite(agreement(responses))
        if np.triu(met, 1).sum() > peer.most_pairs:
            raise LeftOut(f"more than {peer.most_pairs:,} pairs of users with an item in common")
    start = time.process_time()
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # not our code to mend
            scores, key = peer.fit(responses)
    except LeftOut:
        raise
    except Exception as error:  # a peer that breaks must not end the run
        raise LeftOut(f"stops with {type(error).__name__}") from error
    if not np.isfinite(scores).any():
        raise LeftOut("finds no scores")
    return Outcome(scores, key, time.process_time() - start)


# --- crowd-kit ---------------------------------------------------------------------------------


def _crowd_kit(
    name: str,
    skills: Callable[[Any, pd.DataFrame], pd.Series[Any]],
    *,
    labels: int | None = None,
    **parameters: Any,
) -> Callable[[Responses], tuple[Array, dict[str, str] | None]]:
    """One of crowd-kit's models, and where its result has the workers' skills."""

    def fit(responses: Responses) -> tuple[Array, dict[str, str]]:
        if importlib.util.find_spec("crowdkit") is None:
            raise LeftOut("crowd-kit is not installed")
        from crowdkit import aggregation

        frame = _frame(responses)
        if labels is not None and frame["label"].nunique() != labels:
            raise LeftOut(f"for {labels} labels only")
        model = getattr(aggregation, name)(**parameters)
        found = {str(task): str(label) for task, label in model.fit_predict(frame).items()}
        scores = skills(model, frame).reindex(responses.users).to_numpy(dtype=float)
        return scores, found

    return fit


def _frame(responses: Responses) -> pd.DataFrame:
    """The answers as crowd-kit takes them."""
    import pandas as pd

    if sharing(responses.structure).apart:
        raise LeftOut("for items that share their labels")
    indptr, options = responses.rows
    return pd.DataFrame(
        {
            "task": responses.items[responses.option_items[options]],
            "worker": np.repeat(responses.users, np.diff(indptr)),
            "label": [str(label) for label in responses.option_labels[options]],
        }
    )


def _expected_right(model: Any, frame: pd.DataFrame) -> pd.Series[Any]:
    """How many of a worker's labels are right, as the label probabilities have it."""
    likely = model.probas_.stack()
    right = likely.reindex(list(zip(frame["task"], frame["label"], strict=True))).to_numpy()
    return frame.assign(right=right).groupby("worker")["right"].mean()


def _agreeing(model: Any, frame: pd.DataFrame) -> pd.Series[Any]:
    """How many of a worker's labels are those found (KOS keeps no skills)."""
    right = frame["label"] == frame["task"].map(model.labels_)
    return frame.assign(right=right).groupby("worker")["right"].mean()


def _competence(model: Any, frame: pd.DataFrame) -> pd.Series[Any]:
    """MACE's probability that a worker knows instead of guessing."""
    import pandas as pd

    return pd.Series(model.spamming_[:, 1], index=pd.unique(frame["worker"]))


# --- triplets ----------------------------------------------------------------------------------


def agreement(responses: Responses) -> Array:
    """Share of equal answers of every two users, of the items both answered; NaN of none."""
    indptr, options = responses.rows
    rows = sp.csr_array(
        (np.ones(len(options)), np.asarray(options), np.asarray(indptr)),
        shape=(responses.n_users, responses.n_options),
    )
    owner = sp.csr_array(
        (np.ones(responses.n_options), responses.option_items, np.arange(responses.n_options + 1)),
        shape=(responses.n_options, responses.n_items),
    )
    answered = rows @ owner
    equal, both = (rows @ rows.T).toarray(), (answered @ answered.T).toarray()
    shares: Array = np.divide(equal, both, out=np.full(both.shape, np.nan), where=both > 0)
    return shares


def judged(agree: Array, a: int, b: int, judge: int) -> float:
    """How a judge sees two others: 1 where the first agrees more with it, 0 less, ½ neither."""
    first, second = agree[a, judge], agree[b, judge]
    return 0.5 if np.isnan(first) or np.isnan(second) else float(np.heaviside(first - second, 0.5))


def full_triplets(agree: Array) -> Array:
    """Full triplet ranking: the reputation of every model.

    In every triplet each model judges the other two by how well their answers agree with its own.
    A model's reputation is the share of the judgements on it that it wins, each judgement weighted
    by the judge's reputation; all begin equal, and it is repeated until nothing changes. With equal
    answers as similarity, what a judge says of one model against all others is that model's rank in
    the judge's column, so no triplet is visited by itself.
    """
    n = len(agree)
    wins = np.zeros((n, n))
    for judge in range(n):
        others = np.flatnonzero(~np.isnan(agree[:, judge]) & (np.arange(n) != judge))
        unknown = n - 1 - len(others)
        wins[:, judge] = (n - 2) / 2
        wins[others, judge] = average_ranks(agree[others, judge]) - 1 + unknown / 2
        wins[judge, judge] = 0
    reputation = np.ones(n)
    for _ in range(MOST_ROUNDS):
        judges = reputation.sum() - reputation  # nobody judges itself
        new = np.divide(wins @ reputation, (n - 2) * judges, out=np.zeros(n), where=judges > 0)
        settled = np.abs(new - reputation).max() <= SETTLED * new.max()
        reputation = new
        if settled:
            break
    return reputation


def greedy_triplets(agree: Array, seed: int = 0) -> list[int]:
    """Greedy triplet ranking: the models from best to worst.

    Three models, taken at random, judge each other; the worst leaves and the next one comes, until
    all have come. The two that stay are the best. The same with those that left gives the next two,
    and so on. The worst of three wins the fewest of its two judgements; where this is a tie, it
    agrees least with the other two. Of the two that stay, the best model known judges, at first
    the model that left last.
    """
    left = [int(i) for i in np.random.default_rng(seed).permutation(len(agree))]
    ranking: list[int] = []
    while left:
        stay, gone = left[:2], []
        for new in left[2:]:
            stay.append(new)
            gone.append(_worst(agree, stay))
            stay.remove(gone[-1])
        judge = ranking[0] if ranking else gone[-1]
        if len(stay) == 2 and judged(agree, stay[0], stay[1], judge) < 0.5:
            stay.reverse()
        ranking += stay
        left = gone
    return ranking


def _worst(agree: Array, three: list[int]) -> int:
    def worth(model: int) -> tuple[float, float]:
        one, two = (other for other in three if other != model)
        votes = judged(agree, model, one, two) + judged(agree, model, two, one)
        return votes, float(np.nansum(agree[model, [one, two]]))

    return min(three, key=worth)


def _full(responses: Responses) -> tuple[Array, None]:
    return full_triplets(_agreement_of_three(responses)), None


def _greedy(responses: Responses) -> tuple[Array, None]:
    best_first = greedy_triplets(_agreement_of_three(responses))
    scores = np.empty(responses.n_users)
    scores[best_first] = np.arange(responses.n_users, 0, -1)
    return scores, None


def _agreement_of_three(responses: Responses) -> Array:
    if responses.n_users < 3:
        raise LeftOut("for three users at least")
    return agreement(responses)


#: Name in the tables → the peer. The sizes keep each below half a minute on one core.
PEERS: dict[str, Peer] = {
    "crowd-kit DawidSkene": Peer(_crowd_kit("DawidSkene", _expected_right), 400_000),
    "crowd-kit OneCoin": Peer(_crowd_kit("OneCoinDawidSkene", lambda m, _: m.skills_), 50_000),
    "crowd-kit GLAD": Peer(_crowd_kit("GLAD", lambda m, _: m.alphas_), 6_000),
    # Its ten restarts all begin from the same seed, and end the same.
    "crowd-kit MACE": Peer(_crowd_kit("MACE", _competence, n_restarts=1), 30_000),
    "crowd-kit KOS": Peer(_crowd_kit("KOS", _agreeing, labels=2), 400_000),
    # Its sign step holds a dense matrix with a row for every pair.
    "crowd-kit M-MSR": Peer(
        _crowd_kit("MMSR", lambda m, _: m.skills_), 50_000, most_users=300, most_pairs=5_000
    ),
    "full triplets": Peer(_full, 2_000_000),
    "greedy triplets": Peer(_greedy, 2_000_000),
}
