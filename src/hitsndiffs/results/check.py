"""What the responses contain, and what stands in the way of a good ranking: ``hnd check``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.progress import step
from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import ConvergenceWarning
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.order.consistency import analyse
from hitsndiffs.order.ties import patterns
from hitsndiffs.results.audit import audit
from hitsndiffs.results.diagnostics import item_remarks, settled
from hitsndiffs.results.rank import rank
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.wording import count, listed, per_cent
from hitsndiffs.spectral import leading_axes

__all__ = ["Finding", "examine", "key_findings"]

#: Beyond these sizes the search for a perfect order is skipped unless requested.
SEARCH_RESPONSES = 2_000_000
SEARCH_USERS = 50_000
#: Fewer answers than this say little about a user.
FEW_ANSWERS = 5
#: A second axis with at least this share of the first one's strength competes with it.
COMPETING = 0.9
AXES = 4


@dataclass(frozen=True)
class Finding:
    """One finding: a name, a plain sentence, the values, and whether it is a concern."""

    name: str
    sentence: str
    value: dict[str, Any]
    concern: bool = False


def examine(
    responses: Responses,
    *,
    key: Mapping[Any, Any] | None = None,
    full: bool = False,
    seed: int = 0,
    engine: str = "auto",
    threads: int | None = None,
    search_users: int = SEARCH_USERS,
) -> list[Finding]:
    """Examine responses before they are ranked.

    Parameters
    ----------
    responses
        The data.
    key
        An answer key to compare with the answers (item → option).
    full
        Whether to search for a perfect order and examine the items even if the data are large.
    seed, engine, threads
        As for :func:`hitsndiffs.rank`.
    search_users
        With more users than this, a perfect order is searched for only if ``full``.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> r = hnd.Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
    >>> for finding in examine(r)[-2:]:
    ...     print(finding.sentence)
    A perfect order exists, and it is the only one (but for its direction).
    One axis stands out (strengths 0.500, 0.167).
    """
    how: dict[str, Any] = {"seed": seed, "engine": engine, "threads": threads}
    plain = rank(responses, "hnd", **how)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        small = responses.n_responses <= SEARCH_RESPONSES
        ranking = rank(responses, "auto", **how) if small or full else plain
    return [
        *_ability(ranking),
        *key_findings(ranking, key),
        *_sizes(responses),
        *_groups(ranking),
        *_thin(responses),
        *_copies(plain),
        *_perfect_order(plain, full, search_users),
        *_axes(plain),
    ]


def _sizes(r: Responses) -> Iterator[Finding]:
    yield Finding(
        "size",
        f"{count(r.n_users, 'user')} and {count(r.n_items, 'item')}, "
        f"{count(r.n_responses, 'answer')}.",
        {"users": r.n_users, "items": r.n_items, "answers": r.n_responses},
    )
    cells = r.n_users * r.n_items
    empty = cells - r.n_responses
    share = empty / cells
    yield Finding(
        "missing",
        "Everybody answered everything."
        if r.is_complete
        else f"{count(empty, 'cell')} of {cells:,} are empty ({per_cent(share, 1)}).",
        {"cells": cells, "empty": empty, "share": share},
    )
    options = np.diff(r.item_starts)
    low, high = int(options.min()), int(options.max())
    between = f"{low}" if low == high else f"{low} to {high}"
    yield Finding(
        "options",
        f"Each item has {between} options that somebody chose, {r.n_options:,} in all.",
        {"options": r.n_options, "fewest": low, "most": high},
    )
    same = r.items[options == 1]
    if len(same):
        yield Finding(
            "agreed",
            f"On {count(len(same), 'item')} everybody agrees, which tells nobody apart: "
            f"{listed(same)}.",
            {"items": same.tolist()},
        )


def _groups(ranking: Ranking) -> Iterator[Finding]:
    labels = ranking.components
    sizes = np.bincount(labels[labels >= 0])
    silent = ranking.users[labels < 0]
    if len(sizes) == 1:
        sentence = "All users can be compared with each other."
    else:
        few = ", ".join(f"{size:,}" for size in sizes[:5]) + (", …" if len(sizes) > 5 else "")
        sentence = (
            f"The users fall into {len(sizes)} groups (sizes {few}) that share no answers and "
            "cannot be compared with each other."
        )
    yield Finding("groups", sentence, {"sizes": sizes.tolist()}, concern=len(sizes) > 1)
    if len(silent):
        yield Finding(
            "silent",
            f"{count(len(silent), 'user')} gave no answers and cannot be ranked: {listed(silent)}.",
            {"users": silent.tolist()},
            concern=True,
        )


def _thin(r: Responses) -> Iterator[Finding]:
    answers = r.answers_per_user
    few = min(FEW_ANSWERS, r.n_items)
    thin = r.users[(answers > 0) & (answers < few)]
    yield Finding(
        "thin users",
        f"Every user gave at least {count(few, 'answer')}."
        if len(thin) == 0
        else f"{count(len(thin), 'user')} gave fewer than {few} answers, which says little about "
        f"them: {listed(thin)}.",
        {"users": thin.tolist(), "fewer_than": few, "median_answers": float(np.median(answers))},
        concern=len(thin) > 0,
    )
    rare = int((r.choosers_per_option == 1).sum())
    yield Finding(
        "thin options",
        "Every option was chosen by at least two users."
        if rare == 0
        else f"{count(rare, 'option')} of {r.n_options:,} "
        f"{'was' if rare == 1 else 'were'} chosen by one user only.",
        {"chosen_once": rare, "share": rare / r.n_options},
        concern=rare > 0.25 * r.n_options,
    )


def _copies(ranking: Ranking) -> Iterator[Finding]:
    """Equal answer sheets; users with few answers are skipped: theirs may be equal by chance."""
    r, sheet = ranking.responses, patterns(ranking.data)
    long_enough = np.flatnonzero(r.answers_per_user >= FEW_ANSWERS)
    _, first, sizes = np.unique(sheet[long_enough], return_index=True, return_counts=True)
    shared = np.flatnonzero(sizes > 1)
    groups = [
        r.users[long_enough[sheet[long_enough] == sheet[long_enough[first[g]]]]].tolist()
        for g in shared[np.argsort(-sizes[shared], kind="stable")][:10]
    ]
    users = int(sizes[shared].sum())
    yield Finding(
        "equal answers",
        "No two users gave exactly the same answers."
        if users == 0
        else f"{count(users, 'user')} gave exactly the same answers as somebody else "
        f"({count(len(shared), 'group')}; the largest: {listed(groups[0])}).",
        {"users": users, "groups": groups},
        concern=users > 0,
    )


def _perfect_order(ranking: Ranking, full: bool, search_users: int) -> Iterator[Finding]:
    """Whether any order at all is perfect (PQ-tree)."""
    r = ranking.responses
    step("looking for a perfect order")
    large = r.n_responses > SEARCH_RESPONSES or r.n_users > search_users
    if large and not full:
        known = "A perfect order exists (the certified one); whether it is the only one"
        yield Finding(
            "perfect order",
            f"{known if ranking.consistent else 'Whether any perfect order exists'} was not "
            "looked into, as the data are large (ask for the full check).",
            {"searched": False, "consistent": ranking.consistent or None},
        )
        return
    answered = ranking.order[ranking.components[ranking.order] >= 0]
    found = analyse(r, answered)
    value: dict[str, Any] = {
        "searched": True,
        "consistent": found.consistent,
        "distance": found.distance,
        "misfits": len(found.misfits),
        "misfit_share": found.misfit_share,
    }
    if found.consistent:
        digits = found.tree.log10_orders()
        value["log10_orders"] = digits
        number = f"{found.n_orders:,}" if digits < 9 else f"about 10^{digits:.0f}"
        sentence = (
            "A perfect order exists, and it is the only one (but for its direction)."
            if digits < 0.5
            else f"Perfect orders exist: {number} of them, counting each with its reverse."
        )
    else:
        items = list(found.breaking_items)
        value |= {"first_failing": list(found.first_failing or ()), "items": items}
        worst = f"{'item' if len(items) == 1 else 'items'} {listed(items)}"
        sentence = (
            f"No perfect order exists: {count(len(found.misfits), 'option')} of "
            f"{found.n_tested:,} do not fit the others (mostly of {worst}). Distance from "
            f"perfect: {found.distance:.2f} (0 = perfect, 1 = answers at random)."
        )
    yield Finding("perfect order", sentence, value)


def _axes(ranking: Ranking) -> Iterator[Finding]:
    """How far the strongest axis is ahead, in the largest group."""
    largest = np.flatnonzero(ranking.components == 0)
    if len(largest) < 2:
        return
    data = ranking.data
    part = data if len(largest) == data.n_users else data.subset(largest)[0]
    # three decimals are shown, and only the values
    axes = leading_axes(part, AXES, scored=1, tol=1e-6, seed=ranking.parameters["seed"])
    values = axes.values.tolist()
    if not values or values[0] <= 1e-12:
        yield Finding("axes", "Nothing tells the users apart.", {"strengths": values}, concern=True)
        return
    second = values[1] / values[0] if len(values) > 1 else 0.0
    close = sum(value >= COMPETING * values[0] for value in values[1:])
    strengths = ", ".join(f"{value:.3f}" for value in values)
    if close:
        more = "a second axis is" if close == 1 else f"{close} more axes are"
        sentence = (
            f"Beside the strongest axis {more} almost as strong ({strengths}): the answers alone "
            "may not say which one is ability."
        )
    else:
        sentence = f"One axis stands out (strengths {strengths})."
    yield Finding(
        "axes",
        sentence,
        {"strengths": values, "gap": 1 - second, "competing": close},
        concern=close > 0,
    )


def _ability(ranking: Ranking) -> Iterator[Finding]:
    """How far to rely on a ranking."""
    choice = ranking.fit.choice
    yield Finding(
        "ability",
        str(ranking.verdict),
        {
            "confidence": ranking.confidence,
            "method": ranking.method if choice is None else choice.method or "none",
            "doubt": ranking.verdict.doubt,
        },
        concern=ranking.verdict.doubt != "",
    )


def key_findings(ranking: Ranking, key: Mapping[Any, Any] | None) -> Iterator[Finding]:
    """Say how sure the likely key is, which items look wrong, who guesses, who may have copied.

    Of opinions and ratings there is no key, and nobody guesses.

    Parameters
    ----------
    ranking
        A ranking by a method that infers a key.
    key
        An answer key to compare with the answers.
    """
    r = ranking.responses
    probabilities = ranking.fit.key_probabilities
    if probabilities is None:
        return
    if key is not None:
        found = audit(r, key)
        yield Finding(
            "key",
            str(found),
            {"error_rate": found.error_rate, "fits": found.fits, "items": found.columns()},
            concern=not found.fits or bool(found.flagged),
        )
    if not ranking.ratings:
        yield from _items(ranking, probabilities)
    yield from _alike(r)


def _items(ranking: Ranking, probabilities: Floats) -> Iterator[Finding]:
    r = ranking.responses
    chances = probabilities if ranking.key_chances is None else ranking.key_chances
    n_right, said = settled(r.structure, chances)
    likely = [p for _, p in ranking.answer_key(with_confidence=True).values()]
    mean = sum(likely) / r.n_items
    yield Finding("likely key", said, {"expected_right": n_right, "mean_confidence": mean})
    found = item_remarks(ranking.data, ranking.scores, probabilities)
    remarks = {
        str(item): remark.text for item, remark in zip(r.items, found, strict=True) if remark.text
    }
    yield Finding(
        "items",
        "No item looks wrong."
        if not remarks
        else f"{count(len(remarks), 'item')} to look at: "
        + "; ".join(f"{item}: {remark}" for item, remark in list(remarks.items())[:5])
        + ("; and more." if len(remarks) > 5 else "."),
        {"remarks": remarks},
    )
    guessers = ranking.guessers()
    yield Finding(
        "guessing",
        "Every user does better than guessing."
        if len(guessers) == 0
        else f"{count(len(guessers), 'user')} may only have guessed: {listed(guessers)}.",
        {"users": [str(user) for user in guessers]},
        concern=len(guessers) > 0.5 * r.n_users,
    )


def _alike(r: Responses) -> Iterator[Finding]:
    """Very similar answers, and repeated runs of one source."""
    found = find_alike(r)
    users = [str(r.users[j]) for j in found.users]
    names = [
        f"{r.users[i]} and {r.users[j]}" for i, j in zip(found.first, found.second, strict=True)
    ]
    yield Finding(
        "similar answers",
        "No two users have more unusual answers in common than independent users would."
        if not names
        else f"Very similar answers: {count(len(names), 'pair')} of users share more unusual "
        f"answers than their ability makes likely: {listed(names)}.",
        {"n_users": len(users), "users": users, "pairs": names, "nats": found.strength.tolist()},
        concern=bool(names),
    )
    if found.runs:
        n = sum(map(len, found.runs))
        yield Finding(
            "repeated runs",
            f"{count(n, 'user')} look like repeated runs of {len(found.runs)} sources (by their "
            "names and answers); count each source once with --group.",
            {"runs": [[str(r.users[j]) for j in run] for run in found.runs]},
            concern=True,
        )
