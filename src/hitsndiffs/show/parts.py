"""What a report says in sentences and small tables: of the key, sections, labels and people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from hitsndiffs.data.lookup import said_of
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count
from hitsndiffs.errors import InputError
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.results.agreement import agreement
from hitsndiffs.results.audit import Audit
from hitsndiffs.results.cells import Cells, Kind
from hitsndiffs.results.labelling import NextLabels, Workers, next_labels, workers
from hitsndiffs.results.marks import Marks, marks
from hitsndiffs.results.parts import Parts, differences, parts
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.answers import clean, equal_answers

__all__ = [
    "LONGEST",
    "VERDICTS",
    "Labels",
    "Part",
    "alike_part",
    "audit_part",
    "fits",
    "group_part",
    "guessers_part",
    "has_key",
    "labels_part",
    "section_part",
    "sections_of",
]

#: Maximum names in a list, pairs of users, labels to ask for next, and characters of a name.
LISTED, PAIRS, ASKED, LONGEST = 40, 20, 20, 120
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
#: Sections, short forms and items that are harder for a group need a table of users × items, at
#: most so large.
MOST_CELLS = 20_000_000
#: Columns whose texts are links.
LINKED = ("user", "other", "item")
#: What the table of the audit says of an entry of the key.
VERDICTS = {
    "": "",
    "wrong": "looks wrong",
    "double": "two answers look right",
    "open": "the answers do not tell",
}
#: Names of the sizes of a difference between groups (ETS).
SIZES = {"B": "moderate", "C": "large"}


class Table(NamedTuple):
    """A small table; users and items in it are links, told by the names of their columns.

    Attributes
    ----------
    caption
        What it shows, for readers who cannot see it.
    cells
        The columns.
    more
        What it leaves out, in words.
    """

    caption: str
    cells: Cells
    more: str = ""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The rows as texts, names as everywhere in the report."""
        kinds = self.cells.kinds
        columns = [
            [clean(value, LONGEST) for value in self.cells.values(name)]
            if name in LINKED
            else [clean(text) if text else "" for text in self.cells.texts(name)]
            for name in kinds
        ]
        return list(zip(*columns, strict=True))


def _headed(cells: Cells, **heads: str) -> Cells:
    """Some columns, and what stands above them."""
    columns = {name: cells.columns[name] for name in heads}
    return Cells(columns, {name: cells.kinds[name] for name in heads}, heads)


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
    names: Sequence[str] = ()
    more_names: int = 0


@dataclass(frozen=True)
class Labels:
    """What is known of labels that were handed out: what labellers do, and what to ask next."""

    workers: Workers | None
    asked: NextLabels | None

    @classmethod
    def of(cls, ranking: Ranking) -> Labels | None:
        """Find it out; ``None`` where the answers are those of a test, or opinions."""
        if ranking.ratings or not _handed_out(ranking.responses):
            return None
        try:
            each = workers(ranking)
        except InputError:  # the items share no labels: nobody can lean to one
            each = None
        known = ranking.key_chances is not None and ranking.correct is not None
        knows = known and not ranking.verdict.doubt
        return cls(each, next_labels(ranking, ranking.responses.n_items) if knows else None)


def has_key(ranking: Ranking) -> bool:
    """Whether there is a likely key, and an order that may be relied on."""
    known = ranking.fit.key_probabilities is not None and not ranking.ratings
    return known and ranking.verdict.allows_numbers


def fits(r: Responses) -> bool:
    """Whether a table of users × items fits into memory."""
    return r.n_users * r.n_items <= MOST_CELLS


def sections_of(ranking: Ranking, sections: Mapping[Any, Any] | str | None) -> Parts | None:
    """Sub-scores of the sections by the likely key; by default the items' names may tell them."""
    if not (has_key(ranking) and fits(ranking.responses)):
        return None
    if sections is None:
        sizes = Counter(said_of(ranking.responses.items.tolist(), "names").tolist())
        if len(sizes) < 2 or min(sizes.values()) < FEWEST_ITEMS or None in sizes:
            return None
    return parts(ranking.responses, ranking.answer_key(), sections or "names")


def _handed_out(r: Responses) -> bool:
    """Whether items were handed out for labels, rather than asked in a test.

    Most users were then not asked most items, or (in a test people leave out a few) not a tenth of
    them where labels are words and not the letters of options; or few people did many items.
    """
    filled = r.n_responses / (r.n_users * r.n_items)
    words = any(len(str(label)) > 1 for label in r.option_labels.tolist())
    return filled <= (0.9 if words else 0.5) or r.n_items >= MANY_ITEMS * r.n_users


# -- a key that was given -------------------------------------------------------------------------


def audit_part(
    ranking: Ranking, found: Audit, key: Mapping[Any, Any]
) -> tuple[Part, Sequence[Marks]]:
    """What is wrong with the key, and the marks by it, also after repair."""
    r, columns, said, tables = ranking.responses, found.cells().columns, [str(found)], []
    verdicts = list(columns["verdict"])
    told = {**columns, "verdict": [VERDICTS[verdict] for verdict in verdicts]}
    cells = Cells.of(told, chance="probability_wrong")
    cells = cells.only([row for row, verdict in enumerate(verdicts) if verdict])
    heads = {"item": "item", "given": "your key", "likely": "likely"}
    heads |= {"probability_wrong": "probably wrong", "verdict": ""}
    if len(cells):
        caption = "Answers of the key to look at, the likeliest errors first"
        tables = [Table(caption, _headed(cells, **heads))]
    entries = list(zip(columns["item"], columns["likely"], verdicts, strict=True))
    here = {str(item) for item, *_ in entries}  # also those with several answers, not judged
    used = {item: answer for item, answer in key.items() if str(item).strip() in here}
    marked = [marks(r, used)] if used else []
    wrong = {str(item): likely for item, likely, verdict in entries if verdict == "wrong"}
    double = {item: likely for item, likely, verdict in entries if verdict == "double"}
    if used and (wrong or double):
        repaired = {item: wrong.get(str(item).strip(), used[item]) for item in used}
        marked.append(marks(r, repaired, accept=double))
        gains = np.nan_to_num(marked[1].gains(marked[0]))
        gain, lose = int((gains > 0).sum()), int((gains < 0).sum())
        said.append(
            f"{marked[0].sentence()} With the key repaired, "
            f"{count(gain, 'user') if gain else 'nobody'} would gain and "
            f"{count(lose, 'user') if lose else 'nobody'} would lose marks."
        )
        if gains.any():
            tables.append(_changes(ranking, marked[0].marks, gains))
    elif used:
        said.append(marked[0].sentence())
    return Part("Your key, compared with the answers", said, tables), marked


def _changes(ranking: Ranking, before: Any, gains: Any) -> Table:
    """Who gains and who loses marks, the largest changes first."""
    changed = np.flatnonzero(gains)
    changed = changed[np.argsort(-gains[changed], kind="stable")]
    more = f"The largest changes; {len(changed):,} users in all." if len(changed) > LISTED else ""
    if more:
        changed = np.concatenate([changed[: LISTED // 2], changed[-LISTED // 2 :]])
    columns = {
        "user": ranking.users[changed],
        "marks by your key": before[changed],
        "after repair": (before + gains)[changed],
        "change": gains[changed],
    }
    kinds: dict[str, Kind] = {**dict.fromkeys(columns, "whole"), "user": "label"}
    return Table("Who gains and who loses", Cells(columns, kinds), more)


# -- parts of the test, and groups of users -------------------------------------------------------


def section_part(found: Parts | None, *, are_guessed: bool) -> list[Part]:
    """Sections side by side, and what each adds to the whole."""
    if found is None:
        return []
    cells = found.cells().only(np.arange(min(len(found.sections), LISTED)))
    cells = _headed(
        cells, section="section", items="items", mean="right", alpha="alpha", adds="adds"
    )
    by_names = ["The sections are what the items' names begin with."] if are_guessed else []
    said = [f"{found} Open a user to see the user's sections.", *by_names]
    return [Part("Sections", said, [Table("Sections of the items", cells)])]


def group_part(ranking: Ranking, groups: Mapping[Any, Any]) -> list[Part]:
    """Groups of users side by side, and items that are harder for one of two."""
    r = ranking.responses
    if not groups or not has_key(ranking):
        return []
    own = said_of(r.users.tolist(), groups)
    sizes = Counter(group for group in own.tolist() if group is not None)
    means = {group: float(np.nanmean(ranking.scores[own == group])) for group in sizes}
    names = sorted(sizes, key=lambda group: -means[group])[:LISTED]
    score, kind = ("right", "share") if ranking.by == "correct" else ("score", "number")
    columns = {
        "group": names,
        "users": np.array([sizes[group] for group in names]),
        score: np.array([means[group] for group in names]),
    }
    tables = [Table("Groups of users", Cells.of(columns, **{kind: score}))]
    if sum(size >= FEWEST_USERS for size in sizes.values()) < 2:
        said = f"Items are compared between groups of {FEWEST_USERS} users or more."
        return [Part("Groups", [said], tables)]
    if not fits(r):
        return [Part("Groups", [], tables)]
    found = differences(r, ranking.answer_key(), groups)
    cells = found.cells()
    cells = cells.only(np.flatnonzero(np.asarray(cells.columns["size"]) != "A"))
    if len(cells):
        unfair = {
            "item": cells.columns["item"],
            "harder for": [found.groups[delta < 0] for delta in cells.values("delta")],
            "difference": [SIZES[size] for size in cells.values("size")],
            "Mantel–Haenszel": cells.columns["delta"],
        }
        caption = "Items that are harder for one of two equally able groups"
        tables.append(Table(caption, Cells.of(unfair)))
    return [Part("Groups", [found.sentence()], tables)]


# -- labels ---------------------------------------------------------------------------------------


def labels_part(ranking: Ranking, found: Labels | None) -> Part | None:
    """Of labels that were handed out: who stands out, and what to ask for next."""
    if found is None:
        return None
    said, tables = [agreement(ranking.responses).sentence()], []
    if found.workers is not None:
        said.append(found.workers.sentence())
        cells = found.workers.cells()
        odd = [row for row, remark in enumerate(cells.values("remark")) if remark][:LISTED]
        cells = _headed(cells.only(odd), user="user", answers="answers", remark="stands out by")
        if odd:
            tables.append(Table("Labellers who stand out", cells))
    if found.asked is not None:
        said.append(found.asked.sentence())
        n, cells = len(found.asked.items), found.asked.cells()
        more = f"{n - ASKED:,} more are in the file of labels to ask for." if n > ASKED else ""
        heads = {**{name: name for name in cells.columns}, "user": "ask", "confidence": "sure"}
        cells = _headed(cells.only(np.arange(min(n, ASKED))), **heads)
        if n:
            tables.append(Table("What to label next, the most useful first", cells, more))
    return Part("Labels", said, tables)


# -- about people ---------------------------------------------------------------------------------


def guessers_part(ranking: Ranking) -> list[Part]:
    """Users whose answers look like guesses."""
    found = ranking.guessers().tolist()
    if not found or ranking.verdict.is_open:
        return []
    said = (
        f"{count(len(found), 'user')} did not score clearly above guessing. "
        "With few or hard questions that happens to honest people too."
    )
    names = [clean(user, LONGEST) for user in found[:LISTED]]
    return [Part("Answers like guesses", [said], (), names, max(len(found) - LISTED, 0))]


def alike_part(ranking: Ranking) -> list[Part]:
    """Users with very similar answers, and as how many votes all of them count."""
    r, said = ranking.responses, []
    alike, votes = find_alike(r), agreement(r).independent_votes
    if len(alike.users):
        said.append(
            f"{count(len(alike.users), 'user')} share more unusual answers with somebody than "
            "their ability makes likely. They may have worked together or shared a source; "
            "equal wrong answers say most."
        )
    if votes is not None and votes < FEWER_VOTES * r.n_users:
        said.append(
            f"As some agree beyond their abilities, the {r.n_users:,} users count as at most "
            f"about {votes:.0f} independent votes."
        )
    pairs = np.column_stack([alike.first[:PAIRS], alike.second[:PAIRS]])
    if not len(pairs):
        return [Part("Very similar answers", said)] if said else []
    some, places = np.unique(pairs, return_inverse=True)
    at = tuple(places.reshape(pairs.shape).T)
    common, equal, wrong = (table[at] for table in equal_answers(ranking, some))
    order = np.lexsort((*pairs.T[::-1], -equal, -wrong))
    columns = {
        "user": r.users[pairs[order, 0]],
        "other": r.users[pairs[order, 1]],
        "equal answers": equal[order],
        "of": common[order],
        "not the likely key": wrong[order],
    }
    cells = Cells.of(columns, label="user other")
    caption = "Pairs of users with the most equal answers"
    return [Part("Very similar answers", said, [Table(caption, cells)])]
