"""What the responses contain, and what stands in the way of a good ranking: ``hnd check``."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hitsndiffs.data.progress import step
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, first_few, missing, sizes
from hitsndiffs.errors import ConvergenceWarning
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.order.consistency import analyse
from hitsndiffs.order.ties import members, patterns
from hitsndiffs.results.audit import audit
from hitsndiffs.results.diagnostics import judged_items, settled
from hitsndiffs.results.rank import rank
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.verdict import user_notes
from hitsndiffs.spectral import leading_axes

__all__ = ["Finding", "examine", "key_findings"]

#: Fewer answers than this say little about a user.
FEW_ANSWERS = 5
#: A second axis with at least this share of the first one's strength competes with it.
COMPETING = 0.9
AXES = 4
#: Similar answers are looked for among this many users at most: a million with 20 items each took a
#: quarter of the whole examination and .9 GB.
MOST_COMPARED = 100_000

Weight = Literal["concern", "news", "fine"]


@dataclass(frozen=True)
class Finding:
    """One finding: a name, a plain sentence, the values, and what it weighs.

    A finding is a concern, or news, or says that something is as it should be (fine).
    """

    name: str
    sentence: str
    value: dict[str, Any]
    weight: Weight = "fine"

    @property
    def concern(self) -> bool:
        """Whether it stands in the way of a good ranking."""
        return self.weight == "concern"


def examine(
    responses: Responses,
    *,
    key: Mapping[Any, Any] | None = None,
    full: bool = False,
    seed: int = 0,
    engine: str = "auto",
    threads: int | None = None,
) -> list[Finding]:
    """Examine responses: the verdict on their ranking first, then concerns, then the rest.

    A key is compared with the answers; ``full`` also looks for equal answers, a perfect order and
    competing axes. The others are as for :func:`hitsndiffs.rank`.

    >>> import hitsndiffs as hnd
    >>> r = hnd.Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
    >>> for finding in examine(r, full=True)[-2:]:
    ...     print(finding.sentence)
    A perfect order exists, and it is the only one (but for its direction).
    One axis stands out (strengths 0.828, 0.390, 0.115).
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        ranking = rank(responses, seed=seed, engine=engine, threads=threads)
    verdict, choice = ranking.verdict, ranking.fit.choice
    method = ranking.method if choice is None else choice.method or "none"
    told = {"confidence": ranking.confidence, "method": method, "doubt": verdict.doubt}
    found = [
        *key_findings(ranking, key),
        *_contents(responses),
        *_groups(ranking),
        *_thin(responses),
        *(_slow(ranking) if full else ()),
    ]
    weights = ("concern", "news", "fine")
    return [
        Finding("ability", str(verdict), told, "concern" if verdict.doubt else "news"),
        *sorted(found, key=lambda one: weights.index(one.weight)),
    ]


def _listing(
    name: str, none: str, some: str, names: Sequence[Any], weight: Weight, **value: Any
) -> Finding:
    """A finding that lists names: one sentence if there are none, another if there are some."""
    if not len(names):
        return Finding(name, none, value)
    return Finding(name, f"{some}: {first_few(names)}.", value, weight)


# -- the data ---------------------------------------------------------------------------------


def _contents(r: Responses) -> Iterator[Finding]:
    options = np.diff(r.item_starts)
    low, high = int(options.min()), int(options.max())
    between = f"{low}" if low == high else f"{low} to {high}"
    full = "none missing" if r.is_complete else f"{missing(r)} missing"
    said = f"{sizes(r)}, {full}; {between} options for each item."
    value = {"users": r.n_users, "items": r.n_items, "answers": r.n_responses}
    value |= {"empty": r.n_users * r.n_items - r.n_responses, "options": r.n_options}
    yield Finding("size", said, {**value, "fewest": low, "most": high}, "news")
    same = r.items[options == 1].tolist()
    if same:
        agreed = f"On {count(len(same), 'item')} everybody agrees, which tells nobody apart"
        yield _listing("agreed", "", agreed, same, "news", items=same)


def _groups(ranking: Ranking) -> Iterator[Finding]:
    notes, groups = user_notes(ranking), [len(users) for users in members(ranking.components)]
    said = notes.get("groups", "All users can be compared with each other.")
    yield Finding("groups", said, {"sizes": groups}, "concern" if len(groups) > 1 else "fine")
    if "silent" in notes:
        silent = ranking.users[ranking.components < 0].tolist()
        yield Finding("silent", notes["silent"], {"users": silent}, "concern")


def _thin(r: Responses) -> Iterator[Finding]:
    answers, few = r.answers_per_user, min(FEW_ANSWERS, r.n_items)
    thin = r.users[(answers > 0) & (answers < few)].tolist()
    yield _listing(
        "thin users",
        f"Every user gave at least {count(few, 'answer')}.",
        f"{count(len(thin), 'user')} gave fewer than {few} answers, which says little about them",
        thin,
        "concern",
        users=thin,
        fewer_than=few,
        median_answers=float(np.median(answers)),
    )
    rare = int((r.choosers_per_option == 1).sum())
    were = "was" if rare == 1 else "were"
    said = f"{count(rare, 'option')} of {r.n_options:,} {were} chosen by one user only."
    yield Finding(
        "thin options",
        said if rare else "Every option was chosen by at least two users.",
        {"chosen_once": rare, "share": rare / r.n_options},
        "concern" if rare > 0.25 * r.n_options else "fine",
    )


# -- the key, the items and the users ---------------------------------------------------------


def key_findings(ranking: Ranking, key: Mapping[Any, Any] | None) -> Iterator[Finding]:
    """Say how sure the likely key is, which items look wrong, who guesses, who may have copied.

    Of opinions and ratings there is no key, and nobody guesses; while it is open who is good, so is
    what is right.
    """
    r = ranking.responses
    if ranking.fit.key_probabilities is None:
        return
    if key is not None:
        found = audit(r, key)
        yield Finding(
            "key",
            str(found),
            {"error_rate": found.error_rate, "fits": found.fits, "items": found.columns()},
            "concern" if not found.fits or found.flagged else "news",
        )
    if not (ranking.ratings or ranking.verdict.is_open):  # both rest on the order
        yield from _items(ranking)
        guessers = [str(user) for user in ranking.guessers()]
        yield _listing(
            "guessing",
            "Every user does better than guessing.",
            f"{count(len(guessers), 'user')} may only have guessed",
            guessers,
            "concern" if len(guessers) > 0.5 * r.n_users else "news",
            users=guessers,
        )
    yield from _alike(r)


def _items(ranking: Ranking) -> Iterator[Finding]:
    held, chances = ranking.fit.key_probabilities, ranking.key_chances
    assert held is not None
    n_right, said = settled(ranking.structure, held if chances is None else chances)
    likely = [p for _, p in ranking.answer_key(with_confidence=True).values()]
    mean = sum(likely) / ranking.structure.n_items
    value = {"expected_right": n_right, "mean_confidence": mean}
    yield Finding("likely key", said, value, "news")
    _, found = judged_items(ranking.data, ranking.scores, held)
    labels = map(str, ranking.structure.labels)
    remarks = {item: remark.text for item, remark in zip(labels, found, strict=True) if remark.text}
    yield _listing(
        "items",
        "No item looks wrong.",
        f"{count(len(remarks), 'item')} to look at",
        [f"{item} ({remark})" for item, remark in remarks.items()],
        "news",
        remarks=remarks,
    )


def _alike(r: Responses) -> Iterator[Finding]:
    """Very similar answers, and repeated runs of one source."""
    among = ""
    if r.n_users > MOST_COMPARED:
        some = np.random.default_rng(0).choice(r.n_users, MOST_COMPARED, replace=False)
        r, among = r.select(np.sort(some)), f" (of {MOST_COMPARED:,} users drawn at random)"
    found = find_alike(r)
    users = [str(user) for user in r.users[found.users]]
    pairs = zip(r.users[found.first], r.users[found.second], strict=True)
    names = [f"{one} and {other}" for one, other in pairs]
    yield _listing(
        "similar answers",
        f"No two users{among} have more unusual answers in common than independent users would.",
        f"{count(len(names), 'pair')} of users{among} share more unusual answers than their "
        "ability makes likely",
        names,
        "concern",
        n_users=len(users),
        users=users,
        pairs=names,
        nats=found.strength.tolist(),
    )
    if found.runs:
        yield Finding(
            "repeated runs",
            f"{count(sum(map(len, found.runs)), 'user')} look like repeated runs of "
            f"{len(found.runs)} sources (by their names and answers); count each source once with "
            "--group.",
            {"runs": [[str(r.users[j]) for j in run] for run in found.runs]},
            "concern",
        )


# -- what takes longer ------------------------------------------------------------------------


def _slow(ranking: Ranking) -> Iterator[Finding]:
    """Equal answers, a perfect order, competing axes."""
    yield _equal_answers(ranking)
    step("looking for a perfect order")
    yield _perfect_order(rank(ranking.responses, "hnd"))
    step("looking for competing axes")
    yield from _axes(ranking)


def _equal_answers(ranking: Ranking) -> Finding:
    """Equal answer sheets; users with few answers are skipped: theirs may be equal by chance.

    That two users share a sheet is no surprise where both are right everywhere; whether it is one
    is said by the similar answers.
    """
    r = ranking.responses
    long_enough = np.flatnonzero(r.answers_per_user >= FEW_ANSWERS)
    shared = [users for users in members(patterns(ranking.data)[long_enough]) if len(users) > 1]
    groups = [r.users[long_enough[own]].tolist() for own in sorted(shared, key=len, reverse=True)]
    users = sum(map(len, groups))
    value = {"users": users, "groups": groups[:10]}
    if not groups:
        return Finding("equal answers", "No two users gave exactly the same answers.", value)
    return Finding(
        "equal answers",
        f"{count(users, 'user')} gave exactly the same answers as somebody else "
        f"({count(len(groups), 'group')}; the largest: {first_few(groups[0])}).",
        value,
        "news",
    )


def _perfect_order(ranking: Ranking) -> Finding:
    """Whether any order at all is perfect (PQ-tree)."""
    answered = ranking.order[ranking.components[ranking.order] >= 0]
    found = analyse(ranking.data, answered)
    misfits = len(found.misfits)
    value: dict[str, Any] = {"consistent": found.consistent, "distance": found.distance}
    value |= {"misfits": misfits, "misfit_share": misfits / max(found.n_tested, 1)}
    if not found.consistent:
        items = value["items"] = list(found.breaking_items)
        said = (
            f"No perfect order exists: {count(misfits, 'option')} of {found.n_tested:,} do not fit "
            f"the others (mostly of {'item' if len(items) == 1 else 'items'} {first_few(items)}). "
            f"Distance from perfect: {found.distance:.2f} (0 = perfect, 1 = answers at random)."
        )
        return Finding("perfect order", said, value)
    digits = value["log10_orders"] = found.tree.log10_orders()
    number = f"{found.n_orders:,}" if digits < 9 else f"about 10^{digits:.0f}"
    said = f"Perfect orders exist: {number} of them, counting each with its reverse."
    if digits < 0.5:
        said = "A perfect order exists, and it is the only one (but for its direction)."
    return Finding("perfect order", said, value)


def _axes(ranking: Ranking) -> Iterator[Finding]:
    """How far the strongest axis is ahead, in the largest group."""
    largest, data = np.flatnonzero(ranking.components == 0), ranking.data
    if len(largest) < 2:
        return
    part = data if len(largest) == data.n_users else data.subset(largest)[0]
    # three decimals are shown, and only the values
    axes = leading_axes(part, AXES, scored=1, tol=1e-6, seed=ranking.parameters["seed"])
    values = axes.values.tolist()
    if not values or values[0] <= 1e-12:
        said = "Nothing tells the users apart."
        yield Finding("axes", said, {"strengths": values}, "concern")
        return
    second = values[1] / values[0] if len(values) > 1 else 0.0
    close = sum(value >= COMPETING * values[0] for value in values[1:])
    strengths = ", ".join(f"{value:.3f}" for value in values)
    value = {"strengths": values, "gap": 1 - second, "competing": close}
    if not close:
        yield Finding("axes", f"One axis stands out (strengths {strengths}).", value)
        return
    more = "a second axis is" if close == 1 else f"{close} more axes are"
    yield Finding(
        "axes",
        f"Beside the strongest axis {more} almost as strong ({strengths}): the answers alone "
        "may not say which one is ability.",
        value,
        "concern",
    )
