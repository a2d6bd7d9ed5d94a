"""The verdict on a ranking: one sentence, doubt first, the same wherever a ranking is shown.

What there is to say is found out once, as a code with its values (:class:`Reason`); one table
(:data:`SENTENCES`) turns codes into words. Nobody has to read a sentence to know what it says.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from hitsndiffs.data.words import count, first_few, joined, per_cent, shortened
from hitsndiffs.errors import printable

if TYPE_CHECKING:
    from hitsndiffs.results.found import Found
    from hitsndiffs.results.ranking import Ranking

__all__ = [
    "Command",
    "Doubt",
    "Reason",
    "Verdict",
    "doubt_of",
    "how_far",
    "notes_beside",
    "user_notes",
    "verdict_of",
]

#: Why an order should not be relied on; empty if nothing speaks against it.
Doubt = Literal["", "nothing", "ratings", "unknown", "direction", "apart", "luck"]

#: Below the first confidence the order is in doubt; below the second it is worth asking for more.
#: On unseen data, of the rankings surer than the first, 97 of 100 were right (docs/confidence).
RELIED_ON, SURE = 0.8, 0.9
#: Items, each with its options.
Asks = tuple[tuple[str, tuple[str, ...]], ...]
#: At most this many users are named.
NAMED = 3

#: Code → the sentence, with the names of its values.
SENTENCES: Mapping[str, str] = {
    "nothing": "These answers rank nobody. {why}.",
    "ratings": (
        "Do not read this order as ability: the answers look like opinions or ratings ({such}), "
        "and none of these is right or wrong. If some are, say so with a key."
    ),
    "unknown": "Do not rely on this order yet: {because} ({sure} sure that it is ability).",
    "direction": (
        "Do not rely on this order yet: nothing in the answers shows which end is the better one."
    ),
    "apart": (
        "There is no one order: the users fall into {groups} that share no answers and cannot be "
        "compared; each is ranked by itself."
    ),
    "luck": (
        "Do not rely on this order: the answers do not tell the {users} apart, and another test "
        "could turn it round."
    ),
    "errors": "{first} first; this method does not say how far to rely on the order{sure}.",
    "many": "The answers put {users} in one order{sure}.",
    "perfect": "You can rely on this order: it explains every single answer{sure}.",
    "tiers": "The answers tell {tiers} of users apart; {first} at the top{sure}.",
}


#: Code of :class:`hitsndiffs.methods.fitted.Doubt` → why an order may not be ability.
BECAUSE: Mapping[str, str] = {
    "": "the answers alone leave open who is good",
    "rival": "the answers can be read in another way that is nearly as good",
    "witnesses": "simpler rankings of the same answers disagree with it",
    "who counts": "it changes if users with nearly the same answers count only once",
    "who took part": "a few other users could have given the opposite order",
    "toss-up": "which end is the better one is a toss-up",
    "marks": "one label is right in every item, as if these were marks and not answers",
    "follows": "it follows how often users give one label, which may be a habit",
    "noise": "much of the difference between users may be chance",
}


@dataclass(frozen=True)
class Reason:
    """What the verdict rests on: a code of :data:`SENTENCES`, and the values of its sentence."""

    code: str
    values: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """The sentence."""
        return SENTENCES[self.code].format(**self.values)


@dataclass(frozen=True)
class Command:
    """A command line that makes a ranking, to which more can be added.

    ``files`` are followed by the options that say how they are read, ``options`` say how they are
    ranked, and ``key`` is the file of a key among these.

    >>> made = Command(("quiz.csv",), ("--method", "hnd"))
    >>> made.line("--strong-user", "_"), made.line("--pairs", "10", verb="labels")
    ('hnd rank quiz.csv --method hnd --strong-user _', 'hnd labels quiz.csv --pairs 10')
    """

    files: tuple[str, ...]
    options: tuple[str, ...] = ()
    key: str | None = None

    def line(self, *more: str, verb: str = "rank") -> str:
        """The command line with more options, or another command for the same files."""
        own = self.options if verb == "rank" else ()
        return shlex.join(["hnd", verb, *self.files, *own, *more])


class Verdict(str):
    """One sentence on how far to rely on a ranking.

    Attributes
    ----------
    doubt
        Why the order should not be relied on: ``"nothing"`` (the answers rank nobody),
        ``"ratings"`` (they are opinions or ratings, of which none is right), ``"unknown"`` (what
        the order is the order of), ``"direction"`` (which end is up), ``"apart"`` (groups that
        cannot be compared), ``"luck"`` (nobody is told apart), or empty.
    help
        The command, or the call, that would make the order surer; empty if there is none. An
        underscore stands where an answer has to be filled in.
    advice
        A sentence that goes before it (without a full stop).
    asks
        The items whose right answers the command asks for, each with its options.
    """

    __slots__ = ("advice", "asks", "doubt", "help", "reason")

    doubt: Doubt
    help: str
    advice: str
    asks: Asks
    reason: Reason

    def __new__(
        cls,
        reason: Reason,
        help: str = "",
        advice: str = "",
        asks: Asks = (),
    ) -> Verdict:
        """Word a reason."""
        made = super().__new__(cls, str(reason))
        made.reason, made.help, made.advice, made.asks = reason, help, advice, asks
        made.doubt = reason.code if reason.code in get_args(Doubt) else ""  # type: ignore[assignment]
        return made

    @property
    def is_open(self) -> bool:
        """Whether it is open what the order is the order of, or which end is up."""
        return self.doubt in ("nothing", "ratings", "unknown", "direction")

    @property
    def allows_numbers(self) -> bool:
        """Whether scores and their errors may stand beside the order: they look precise."""
        return self.doubt in ("", "apart")

    @property
    def caption(self) -> str:
        """What to write above an order that is in doubt."""
        if self.doubt == "luck":
            return "The order found; another test could turn it round"
        if self.doubt == "ratings":
            return "Neighbours in this order answer alike; it does not say who is good"
        return "The order found; it may be upside down, or of something other than ability"

    def __reduce__(self) -> tuple[Any, ...]:
        return Verdict, (self.reason, self.help, self.advice, self.asks)


def doubt_of(found: Found) -> Doubt:
    """Whether it is open who is good, whatever the scores' errors are."""
    fit, turned = found.fit, found.orientation
    if fit.choice is not None and fit.choice.method is None:
        return "nothing"
    if found.ratings:
        return "ratings"
    if turned is not None and not turned.decided:
        return "direction"
    if fit.confidence is not None and fit.confidence < RELIED_ON:
        return "unknown"
    return "apart" if found.n_components > 1 else ""


def verdict_of(found: Found) -> Verdict:
    """The verdict on a ranking (see :attr:`hitsndiffs.Ranking.verdict`).

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> said = verdict_of(hnd.rank([["A", "B"], ["A", "B"]]))
    >>> print(said)
    These answers rank nobody. All users gave the same answers: nothing tells them apart.
    >>> said.doubt, said.help
    ('nothing', '')
    """
    doubt, sure = doubt_of(found), per_cent(found.confidence or 0.0)
    values: dict[str, str] = {}
    if doubt == "nothing":
        assert found.fit.choice is not None
        values = {"why": found.fit.choice.why}
    elif doubt == "ratings":
        values = {"such": found.ratings}
    elif doubt == "apart":
        values = {"groups": count(found.n_components, "group")}
    elif doubt == "unknown":
        strongest = found.fit.doubts[0] if found.fit.doubts else None
        code = strongest.code if strongest and strongest.bound < RELIED_ON else ""
        values = {"because": BECAUSE.get(code, BECAUSE[""]), "sure": sure}
    told = "" if found.confidence is None else f" ({sure} sure that this is ability)"
    reason = Reason(doubt, values) if doubt else found._how_far(told)
    return Verdict(reason, *_help(found, doubt))


def how_far(ranking: Ranking, sure: str) -> Reason:
    """How far the answers tell users apart, in an order that is not in doubt."""
    if ranking.consistent and sure:
        return Reason("perfect", {"sure": sure})
    tiers = ranking.tiers
    if not np.isfinite(ranking.standard_errors).any():
        return Reason("errors", {"first": _first(ranking, tiers), "sure": sure})
    most = int(tiers.max(initial=1))
    if most == 1:
        users = count(int((ranking.components >= 0).sum()), "user")
        return Reason("luck", {"users": users})
    values = {"tiers": count(most, "tier"), "first": _first(ranking, tiers), "sure": sure}
    return Reason("tiers", values)


def _first(ranking: Ranking, tiers: Any) -> str:
    """Who is in the top tier, or ranked first where there are no tiers, with a verb."""
    order = ranking.order
    top = order[tiers[order] == 1] if tiers.max(initial=1) > 1 else order[ranking.ranks[order] == 1]
    names = [_name(label) for label in ranking.users[top[: NAMED + 1]]]
    if len(top) > NAMED + 1:
        return f"{', '.join(names[:NAMED])} and {len(top) - NAMED:,} more are"
    return f"{joined(names)} {'is' if len(names) == 1 else 'are'}"


def _name(label: Any) -> str:
    return shortened(" ".join(printable(str(label)).split()) or "(empty)", 40)


def user_notes(ranking: Ranking) -> dict[str, str]:
    """Who has no rank (``"silent"``), and who cannot be compared (``"groups"``)."""
    found = {}
    silent = ranking.components < 0
    if silent.any():
        found["silent"] = (
            f"{count(int(silent.sum()), 'user')} gave no answers and cannot be ranked: "
            f"{first_few(ranking.users[silent])}."
        )
    if ranking.n_components > 1:
        sizes = np.bincount(ranking.components[~silent])
        found["groups"] = (
            f"The users fall into {ranking.n_components} groups (sizes {first_few(sizes)}) that "
            "cannot be compared with each other; each is ranked by itself."
        )
    return found


def notes_beside(ranking: Ranking) -> list[str]:
    """The notes of a ranking, for places that show the verdict and the method by themselves."""
    from hitsndiffs.methods.axis import OPEN_DIRECTION

    said = {OPEN_DIRECTION} if ranking.verdict.doubt == "direction" else set()
    notes = [note for note in ranking.fit.notes if note not in said]
    return [*ranking.responses.notes, *notes, *user_notes(ranking).values()]


def _help(found: Found, doubt: Doubt) -> tuple[str, str, Asks]:
    """The command that would make a ranking surer, what to say of it, and what it asks for."""
    command, verb = found.command, "rank"
    asks: Asks = ()
    sure = found.confidence is None or found.confidence >= SURE
    options: tuple[str, ...]
    if doubt == "ratings":
        call, verb, options = "hnd.agreement(responses).pairs()", "labels", ("--pairs", "10")
        advice = "To see how far people agree, and who answers alike, run"
    elif doubt in ("nothing", "apart") or found.parameters.get("answers") or sure:
        return "", "", ()
    elif found.spare_key == "found":
        call, options = "hnd.rank(responses, answers=responses.key)", ("--use-key",)
        advice = "If the key that came with the answers is right, use it"
    elif found.spare_key == "given":
        call = "hnd.rank(responses, answers=key)"
        options = ("--answers", (command and command.key) or "key.csv")
        advice = "If your key is certainly right, run"
    elif asks := _asks(found):
        wanted = ", ".join(f"{item!r}: '_'" for item, _ in asks)
        call = f"hnd.rank(responses, answers={{{wanted}}})"
        options = ("--answers", ",".join(f"{item}=_" for item, _ in asks))
        named = joined([f"'{item}'" if " " in item else item for item, _ in asks])
        answers = "the right answer" if len(asks) == 1 else "the right answers"
        advice = f"To be surer, put in {answers} to {named} in place of _, and run"
    else:
        call, options = "hnd.rank(responses, strong_user='_')", ("--strong-user", "_")
        advice = "To be surer, put the name of a user who is certainly good in place of _, and run"
    return call if command is None else command.line(*options, verb=verb), advice, asks


def _asks(found: Found) -> Asks:
    """Two items whose right answers would settle most, each with its options."""
    items = found.structure
    asks = []
    for question in found.fit.questions[:2]:
        options = items.option_labels[slice(*items.starts[question.item : question.item + 2])]
        item = str(items.labels[question.item])
        # an item with a comma or an equals sign in its name does not fit on a command line
        if found.command is None or not set(item) & set(",="):
            asks.append((item, tuple(map(str, options.tolist()))))
    return tuple(asks)
