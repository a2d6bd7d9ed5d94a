"""One cell of the arena: one method on one data set."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import hitsndiffs as hnd
from benchmarks.arena import peers, real
from benchmarks.arena.cases import Case
from benchmarks.arena.peers import PEERS, LeftOut, Peer
from benchmarks.arena.settings import SETTINGS
from benchmarks.arena.story_kinds import told as story
from benchmarks.arena.structures import structure
from hitsndiffs.engines import open_engine
from hitsndiffs.results.metrics import accuracy, average_ranks

__all__ = [
    "ASKED",
    "CONTESTANTS",
    "KNOWN",
    "RIGHT",
    "Contestant",
    "case_of",
    "key_share",
    "measure",
    "true_shares",
]

Array = npt.NDArray[np.float64]
Record = dict[str, Any]

#: A ranking is right about axis and sign when its Spearman with the truth is above this.
RIGHT = 0.3
#: Half the width of a 95 % interval, in standard errors.
Z95 = 1.959964


@dataclass(frozen=True)
class Contestant:
    """A method with its parameters, and what it is told.

    Attributes
    ----------
    method, params
        As :func:`hitsndiffs.rank` takes them.
    told
        What it is told of the truth: a function of the case, the right shares and a seed that
        gives further parameters.
    """

    method: str
    params: dict[str, Any] = field(default_factory=dict)
    told: Callable[[Case, Array, int], dict[str, Any]] | None = None


def _key(case: Case, truth: Array, seed: int) -> dict[str, Any]:  # noqa: ARG001
    return {"key": case.key}


def _answers(count: int) -> Callable[[Case, Array, int], dict[str, Any]]:
    def told(case: Case, truth: Array, seed: int) -> dict[str, Any]:  # noqa: ARG001
        r = case.responses
        chosen = set(zip(r.items[r.option_items], map(str, r.option_labels), strict=True))
        items = [item for item, answer in case.key.items() if (item, answer) in chosen]
        drawn = np.random.default_rng([seed, 99]).permutation(len(items))[:count]
        return {"answers": {items[i]: case.key[items[i]] for i in drawn}}

    return told


def _asked(count: int) -> Callable[[Case, Array, int], dict[str, Any]]:
    def told(case: Case, truth: Array, seed: int) -> dict[str, Any]:  # noqa: ARG001
        asked = hnd.rank(case.responses, "auto").ask(count)
        known = {str(item): answer for item, answer in case.key.items()}
        return {"answers": {q.item: known[str(q.item)] for q in asked if str(q.item) in known}}

    return told


#: Name in the tables → the method.
CONTESTANTS: dict[str, Contestant] = {
    **{
        name: Contestant(name)
        for name in (
            "auto", "hnd-robust", "hnd", "abh", "hits", "truthfinder", "investment",
            "pooled-investment", "majority", "dawid-skene",
        )
    },
    **{
        f"dawid-skene/{model}": Contestant("dawid-skene", {"model": model})
        for model in ("full", "hierarchical")
    },
    **{name: Contestant(name) for name in ("double-centred", "glad", "mace", "minimax-entropy")},
    "true-answer": Contestant("true-answer", told=_key),
    "grm": Contestant("grm", told=_key),
}  # fmt: skip
#: The default method, told some right answers, drawn at random.
KNOWN: dict[str, Contestant] = {
    f"auto + {n} known answer{'s' if n > 1 else ''}": Contestant("auto", told=_answers(n))
    for n in (1, 2, 3, 5, 10)
}
#: The default method, told the right answers of the two items that it asks for.
ASKED = "auto + 2 asked answers"
_TOLD = KNOWN | {ASKED: Contestant("auto", told=_asked(2))}
#: Models whose time grows fast: the most answers that each is given.
MOST_ANSWERS = {"glad": 100_000, "mace": 400_000, "minimax-entropy": 100_000, "grm": 100_000}


def case_of(data: str, seed: int) -> Case:
    """A data set by its name: a setting, a real one or part of one, or a kind of structure."""
    if data.startswith("real/"):
        return real.load(data.removeprefix("real/"))
    if data.startswith("part/"):
        return real.part(data.removeprefix("part/"), seed)
    if data.startswith("structure/"):
        return structure(data.removeprefix("structure/"), seed)
    if data.startswith("story/"):
        return story(data.removeprefix("story/"), seed)
    return SETTINGS[data](seed)


def measure(name: str, case: Case, seed: int) -> Record:
    """Run one method and judge it by the truth; figures that do not apply are left out."""
    truth = true_shares(case)
    if name in PEERS:
        return _measure_peer(PEERS[name], case, truth)
    contestant = (CONTESTANTS | _TOLD)[name]
    if case.responses.n_responses > MOST_ANSWERS.get(name, case.responses.n_responses):
        return {"error": f"for at most {MOST_ANSWERS[name]:,} answers"}
    params = dict(contestant.params)
    if contestant.told is not None:
        params |= contestant.told(case, truth, seed)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hnd.ConvergenceWarning)  # kept in the record
            ranking = hnd.rank(case.responses, contestant.method, **params)
    except hnd.InputError as error:
        return {"error": str(error)}
    seconds = time.process_time() - start
    record: Record = {
        "accuracy": accuracy(truth, ranking.scores),
        "confidence": ranking.confidence,
        "seconds": round(seconds, 4),
        "converged": ranking.converged,
        "consistent": ranking.consistent,
        "size": [case.responses.n_users, case.responses.n_items, case.responses.n_responses],
    }
    likely = ranking.fit.key_probabilities
    if likely is not None and case.key and not ranking.parameters.get("key"):
        record["key_share"] = key_share(likely, case)
        record["key_bins"] = _key_bins(ranking, case)
    if case.abilities is not None:
        found = ranking.scores if ranking.abilities is None else ranking.abilities
        record["ability"] = accuracy(case.abilities, found)
        record["ability_of_scores"] = accuracy(case.abilities, ranking.scores)
    record |= _coverage(ranking, case)
    return {k: v for k, v in record.items() if v is not None and v == v}


def _measure_peer(peer: Peer, case: Case, truth: Array) -> Record:
    try:
        found = peers.run(peer, case.responses)
    except LeftOut as why:
        return {"error": str(why)}
    record = {"accuracy": accuracy(truth, found.scores), "seconds": round(found.seconds, 4)}
    if found.key is not None and case.key:
        hits = [found.key.get(item) == answer for item, answer in case.key.items()]
        record["key_share"] = float(np.mean(hits))
    return {k: v for k, v in record.items() if v == v}


def true_shares(case: Case) -> Array:
    """The share of each user's answers that are right; NaN where nothing is known to be."""
    r = case.responses
    if case.shares is not None:
        return case.shares
    right = _right_options(case).astype(float)
    known = np.isin(r.items, list(case.key))[r.option_items].astype(float)
    sums = open_engine(r)
    total, n = sums.choices(right), sums.choices(known)
    shares: Array = np.divide(total, n, out=np.full(r.n_users, np.nan), where=n > 0)
    return shares


def _right_options(case: Case) -> npt.NDArray[np.bool_]:
    r = case.responses
    return np.array(
        [
            case.key.get(item) == str(label)
            for item, label in zip(r.items[r.option_items], r.option_labels, strict=True)
        ]
    )


def key_share(probabilities: Array, case: Case) -> float:
    """The share of the key that the likeliest options get right; of a tie, its part."""
    starts, items = case.responses.item_starts[:-1], case.responses.option_items
    p = np.nan_to_num(probabilities, nan=-1.0)
    likeliest = (p == np.maximum.reduceat(p, starts)[items]) & (p >= 0)
    ties = np.maximum(np.add.reduceat(likeliest.astype(int), starts), 1)
    hits = float((likeliest & _right_options(case)) @ (1 / ties[items]))
    return hits / len(case.key)


def _key_bins(ranking: hnd.Ranking, case: Case) -> list[list[float]]:
    """In tenths of how sure the key of an item is said to be: items, the sum of it, right ones."""
    bins = np.zeros((10, 3))
    for item, (option, sure) in ranking.answer_key(with_confidence=True).items():
        if item in case.key:
            right = case.key[item] == str(option)
            bins[min(int(10 * sure + 1e-9), 9)] += (1, sure, right)
    found: list[list[float]] = bins.round(4).tolist()
    return found


def _coverage(ranking: hnd.Ranking, case: Case) -> Record:
    """How many users' true values lie in their 95 % intervals, and of how many."""
    record: Record = {}
    if case.expected is not None and ranking.by == "correct":
        with np.errstate(divide="ignore", invalid="ignore"):  # some have no error
            off = np.abs(ranking.scores - case.expected) / ranking.standard_errors
        low, high = ranking.rank_intervals()
        judged = ~np.isnan(low) & (ranking.components == 0)
        true = np.full(len(low), np.nan)
        true[judged] = judged.sum() + 1 - average_ranks(case.expected[judged])
        record |= _counted("share", off <= Z95, ~np.isnan(off))
        record |= _counted("rank", (low <= true) & (true <= high), judged)
    found, errors = ranking.abilities, ranking.fit.ability_errors
    if case.normal and found is not None and errors is not None:
        off = np.abs(found - np.asarray(case.abilities)) / errors
        record |= _counted("theta", off <= Z95, ~np.isnan(off))
    return record


def _counted(
    name: str, inside: npt.NDArray[np.bool_], counts: npt.NDArray[np.bool_]
) -> dict[str, int]:
    return {f"{name}_in": int((inside & counts).sum()), f"{name}_of": int(counts.sum())}
