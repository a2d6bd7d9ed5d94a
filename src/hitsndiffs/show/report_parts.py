"""What a report says in sentences and small tables: of the key, sections, labels and people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hitsndiffs.data.lookup import said_of
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.results.agreement import agreement
from hitsndiffs.results.audit import Audit
from hitsndiffs.results.cells import Cells
from hitsndiffs.results.labelling import next_labels, workers
from hitsndiffs.results.marks import Marks, marks
from hitsndiffs.results.parts import Parts, differences, parts
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.items_and_answers import Item, clean, equal_answers
from hitsndiffs.show.report_data import LONGEST, listed_users

__all__ = [
    "MOST_CELLS",
    "Part",
    "Places",
    "alike_part",
    "audit_part",
    "group_part",
    "guessers_part",
    "labels_part",
    "section_part",
    "sections_of",
    "with_verdicts",
]

#: Maximum names in a list, pairs of users, and labels to ask for next.
LISTED, PAIRS, ASKED = 40, 20, 20
#: Sections and short forms need a table of users × items, at most so large.
MOST_CELLS = 20_000_000
#: Sections are taken from the items' names if each has this many items: of fewer, a share right is
#: off by a fifth or more.
FEWEST_ITEMS = 5
#: Groups are compared from this many users each: of fewer, even a large difference (1.5 on the
#: scale of ETS) is within one standard error.
FEWEST_USERS = 20
#: It is worth saying that users are not independent where they count as this share of their number
#: or less: of 160 simulated classes of independent users none came below 0.92.
FEWER_VOTES = 0.9
#: Labellers are fewer than items by this factor at least; pupils are not.
MANY_ITEMS = 5
#: What an audit says of an entry of the key.
VERDICTS = {
    "wrong": "looks wrong",
    "double": "two answers look right",
    "open": "the answers do not tell",
}


@dataclass(frozen=True)
class Named:
    """A user or an item by name, with the place that the script knows it by."""

    place: int
    name: str


@dataclass(frozen=True)
class Table:
    """A small table of the report.

    Attributes
    ----------
    caption
        What it shows, for readers who cannot see it.
    heads, rows
        Headings with their kind (``n`` for numbers), and the cells as texts. The first cell of a
        row may be :class:`Named`, or two of them.
    what
        What the first cells name: ``"user"``, ``"item"``, ``"pair"``, or nothing.
    more
        What the table leaves out, in words.
    """

    caption: str
    heads: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Any]]
    what: str = ""
    more: str = ""

    @classmethod
    def of(
        cls,
        caption: str,
        cells: Cells,
        shown: Mapping[str, str],
        *,
        names: Sequence[Any] | None = None,
        what: str = "",
        more: str = "",
    ) -> Table:
        """Some columns of a result, by what stands above them; ``names`` replace the first."""
        quantities = ("whole", "share", "chance", "number")
        heads = [(said, "n" if cells.kinds[c] in quantities else "") for c, said in shown.items()]
        columns: list[Sequence[Any]] = [[clean(t) for t in cells.texts(c)] for c in shown]
        if names is not None:
            columns[0] = names
        return cls(caption, heads, list(zip(*columns, strict=True)), what, more)


@dataclass(frozen=True)
class Part:
    """A part of the report that is said in words and a table or two.

    Attributes
    ----------
    sentences
        What is to be said first.
    tables
        The tables; those after the first are folded away, under a summary.
    names
        Users that the sentences speak of.
    """

    title: str
    sentences: Sequence[str]
    tables: Sequence[Table] = ()
    names: Sequence[Named] = ()
    more_names: int = 0


class Places:
    """Users by number, as the report names them."""

    def __init__(self, ranking: Ranking) -> None:
        order = listed_users(ranking)
        self.labels = ranking.users
        self.places = np.full(len(self.labels), -1, dtype=np.int64)
        self.places[order] = np.arange(len(order))

    def __call__(self, user: int) -> Named:
        """The user of this number."""
        return Named(int(self.places[user]), clean(self.labels[user], LONGEST))


# -- a key that was given -----------------------------------------------------------------------


def with_verdicts(items: Sequence[Item], found: Audit) -> list[Item]:
    """The items with what the audit says of their entry in the key instead of other remarks."""
    columns = found.columns()
    told = {str(item): v for item, v in zip(columns["item"], columns["verdict"], strict=True)}
    verdicts = [told[str(item.label)] for item in items]
    return [
        replace(item, remark=VERDICTS[verdict] if verdict else "", doubt=verdict)
        for item, verdict in zip(items, verdicts, strict=True)
    ]


def audit_part(
    ranking: Ranking,
    found: Audit,
    key: Mapping[Any, Any],
    users: Places,
    numbers: Mapping[str, int],
) -> tuple[Part, Sequence[Marks]]:
    """What is wrong with the key, and the marks by it, also after repair."""
    r, title = ranking.responses, "Your key, compared with the answers"
    columns = found.columns()
    doubtful = [k for k, verdict in enumerate(columns["verdict"]) if verdict]
    told = [VERDICTS.get(verdict, "") for verdict in columns["verdict"]]
    cells = Cells.of({**found.cells().columns, "verdict": told}, chance="probability_wrong")
    cells = cells.only(doubtful)
    heads = {"item": "item", "given": "your key", "likely": "likely"}
    heads |= {"probability_wrong": "probably wrong", "verdict": ""}
    names = [Named(numbers[str(item)], clean(item, LONGEST)) for item in cells.values("item")]
    caption = "Answers of the key to look at, the likeliest errors first"
    tables = [Table.of(caption, cells, heads, names=names, what="item")] if doubtful else []
    entries = list(zip(*(columns[c] for c in ("item", "given", "likely", "verdict")), strict=True))
    known = {str(item) for item, given, *_ in entries if given is not None}
    wrong = {str(item): likely for item, _, likely, verdict in entries if verdict == "wrong"}
    double = {item: likely for item, _, likely, verdict in entries if verdict == "double"}
    verb = "look" if len(wrong) > 1 else "looks"
    # the table names them
    said = [f"{len(wrong)} of {len(known)} answers in it {verb} wrong." if wrong else str(found)]
    here = {str(item) for item, *_ in entries}  # also those with several answers, not judged
    used = {item: answer for item, answer in key.items() if str(item).strip() in here}
    if not used:
        return Part(title, said, tables), ()
    before = marks(r, used)
    said.append(before.sentence())
    if not wrong and not double:
        return Part(title, said, tables), (before,)
    repaired = {item: wrong.get(str(item).strip(), answer) for item, answer in used.items()}
    after = marks(r, repaired, accept=double)
    gains = np.nan_to_num(after.gains(before))
    better, worse = int((gains > 0).sum()), int((gains < 0).sum())
    said[1] += (
        f" With the key repaired, {count(better, 'user') if better else 'nobody'} would gain and "
        f"{count(worse, 'user') if worse else 'nobody'} would lose marks."
    )
    if gains.any():
        tables.append(_changes(before.marks, gains, users))
    return Part(title, said, tables), (before, after)


def _changes(before: Any, gains: Any, users: Places) -> Table:
    """Who gains and who loses marks, the largest changes first."""
    changed = np.flatnonzero(gains)
    changed = changed[np.argsort(-gains[changed], kind="stable")]
    shown, half = changed, LISTED // 2
    if len(changed) > LISTED:
        shown = np.concatenate([changed[:half], changed[-half:]])
    rows = [
        (users(j), f"{before[j]:g}", f"{before[j] + gains[j]:g}", f"{gains[j]:+g}")
        for j in shown.tolist()
    ]
    heads = [("user", ""), ("marks by your key", "n"), ("after repair", "n"), ("change", "n")]
    more = f"The largest changes; {len(changed):,} users in all." if len(changed) > LISTED else ""
    return Table("Who gains and who loses", heads, rows, "user", more)


# -- parts of the test, and groups of users -----------------------------------------------------


def sections_of(
    ranking: Ranking, sections: Mapping[Any, Any] | str | None
) -> tuple[Parts | None, bool]:
    """Sub-scores of the sections by the likely key, and whether the sections are guessed."""
    r = ranking.responses
    no_key = ranking.ratings or ranking.fit.key_probabilities is None
    too_large = r.n_users * r.n_items > MOST_CELLS
    if no_key or too_large or not ranking.verdict.allows_numbers:
        return None, False
    guessed = sections is None
    if guessed:
        sizes = Counter(said_of(r.items.tolist(), "names").tolist())
        if len(sizes) < 2 or min(sizes.values()) < FEWEST_ITEMS or None in sizes:
            return None, False
    return parts(r, ranking.answer_key(), sections or "names"), guessed


def section_part(found: Parts | None, guessed: bool) -> list[Part]:
    """Sections side by side, and what each adds to the whole."""
    if found is None:
        return []
    cells = found.cells().only(np.arange(min(len(found.sections), LISTED)))
    heads = {"section": "section", "items": "items", "mean": "right", "alpha": "alpha"}
    said = (
        "A section adds something where its score says more about itself than the whole score "
        "does. Open a user to see the user's sections."
    )
    by_names = ["The sections are what the items' names begin with."] if guessed else []
    table = Table.of("Sections of the items", cells, {**heads, "adds": "adds"})
    return [Part("Sections", [said, *by_names], [table])]


def group_part(
    ranking: Ranking, numbers: Mapping[str, int], groups: Mapping[Any, Any]
) -> list[Part]:
    """Groups of users side by side, and items that are harder for one of two."""
    r = ranking.responses
    no_key = ranking.ratings or ranking.fit.key_probabilities is None
    if not groups or no_key or not ranking.verdict.allows_numbers:
        return []
    own = said_of(r.users.tolist(), groups)
    sizes = Counter(group for group in own.tolist() if group is not None)
    means = {g: float(np.nanmean(ranking.scores[own == g])) for g in sizes}
    names = sorted(sizes, key=lambda g: -means[g])[:LISTED]
    cells = Cells.of(
        {
            "group": names,
            "users": np.array([sizes[g] for g in names]),
            "score": np.array([means[g] for g in names]),
        },
        **{"share" if ranking.by == "correct" else "number": "score"},
    )
    score = "right" if ranking.by == "correct" else "score"
    tables = [
        Table.of("Groups of users", cells, {"group": "group", "users": "users", "score": score})
    ]
    said = []
    if sum(size >= FEWEST_USERS for size in sizes.values()) < 2:
        said = [f"Items are compared between groups of {FEWEST_USERS} users or more."]
    elif r.n_users * r.n_items <= MOST_CELLS:
        found = differences(r, ranking.answer_key(), groups)
        said = [found.sentence()]
        wanted = ("item", "size", "delta")
        unfair = [
            (
                Named(numbers[str(item)], clean(item)),
                clean(found.groups[delta < 0]),
                {"B": "moderate", "C": "large"}[size],
                f"{delta:+.2f}",
            )
            for item, size, delta in zip(*map(found.cells().values, wanted), strict=True)
            if size != "A"
        ]
        heads = [("item", ""), ("harder for", ""), ("difference", ""), ("Mantel–Haenszel", "n")]
        if unfair:
            caption = "Items that are harder for one of two equally able groups"
            tables.append(Table(caption, heads, unfair, "item"))
    return [Part("Groups", said, tables)]


def _handed_out(r: Responses) -> bool:
    """Whether items were handed out for labels, rather than asked in a test.

    Most users were then not asked most items, or (in a test people leave out a few) not a tenth of
    them where labels are words and not the letters of options; or few people did many items.
    """
    filled = r.n_responses / (r.n_users * r.n_items)
    words = any(len(str(label)) > 1 for label in r.option_labels.tolist())
    return filled <= (0.9 if words else 0.5) or r.n_items >= MANY_ITEMS * r.n_users


def labels_part(ranking: Ranking, users: Places, numbers: Mapping[str, int]) -> Part | None:
    """Of labels that were handed out: who stands out, and what to ask for next."""
    r = ranking.responses
    if ranking.ratings or not _handed_out(r):
        return None
    said, tables = [agreement(r).sentence()], []
    try:
        found = workers(ranking)
    except InputError:  # the items share no labels: nobody can lean to one
        pass
    else:
        cells = found.cells()
        said.append(found.sentence())
        odd = [k for k, remark in enumerate(cells.values("remark")) if remark][:LISTED]
        names = [users(j) for j in odd]
        heads = {"user": "user", "answers": "answers", "remark": "stands out by"}
        if odd:
            caption = "Labellers who stand out"
            tables.append(Table.of(caption, cells.only(odd), heads, names=names, what="user"))
    if (
        ranking.key_chances is not None
        and ranking.correct is not None
        and not ranking.verdict.doubt
    ):
        asked = next_labels(ranking, r.n_items)
        said.append(asked.sentence())
        if len(asked.items):
            cells = asked.cells().only(np.arange(min(len(asked.items), ASKED)))
            labels = cells.values("item")
            names = [Named(numbers[str(item)], clean(item, LONGEST)) for item in labels]
            heads = {"item": "item", "user": "ask", "answers": "answers", "likely": "likely"}
            heads |= {"confidence": "sure", "gain": "gain"}
            caption = "What to label next, the most useful first"
            more = "hnd labels … --next N has more." if len(asked.items) > ASKED else ""
            tables.append(Table.of(caption, cells, heads, names=names, what="item", more=more))
    return Part("Labels", said, tables)


# -- about people -------------------------------------------------------------------------------


def guessers_part(ranking: Ranking, users: Places) -> list[Part]:
    """Users whose answers look like guesses."""
    found = [ranking.user_number(user) for user in ranking.guessers().tolist()]
    if not found or ranking.verdict.is_open:
        return []
    said = (
        f"{count(len(found), 'user')} did not score clearly above guessing. "
        "With few or hard questions that happens to honest people too."
    )
    names = [users(j) for j in found[:LISTED]]
    return [Part("Answers like guesses", [said], (), names, max(len(found) - LISTED, 0))]


def alike_part(ranking: Ranking, users: Places) -> list[Part]:
    """Users with very similar answers, and as how many votes all of them count."""
    r = ranking.responses
    alike, votes = find_alike(r), agreement(r).independent_votes
    said = []
    if len(alike.users):
        said.append(
            f"{count(len(alike.users), 'user')} share more unusual answers with somebody than "
            "their ability makes likely. They may have worked together or shared a source; equal "
            "wrong answers say most."
        )
    if votes is not None and votes < FEWER_VOTES * r.n_users:
        said.append(
            f"As some agree beyond their abilities, the {r.n_users:,} users count as at most about "
            f"{votes:.0f} independent votes."
        )
    if not said:
        return []
    first, second = alike.first[:PAIRS], alike.second[:PAIRS]
    some, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    common, equal, wrong = equal_answers(ranking, some)
    pairs = list(zip(first, second, *np.split(places, 2), strict=True)) if len(first) else []
    pairs.sort(key=lambda p: (-wrong[p[2:]], -equal[p[2:]], *p[:2]))
    rows = [
        ((users(a), users(b)), f"{equal[at]:.0f} of {common[at]:.0f}", f"{wrong[at]:.0f}")
        for a, b, *places in pairs
        for at in [tuple(places)]
    ]
    heads = [("users", ""), ("equal answers", "n"), ("of them not the likely key", "n")]
    tables = [Table("Pairs of users with the most equal answers", heads, rows, "pair")]
    return [Part("Very similar answers", said, tables if rows else ())]
