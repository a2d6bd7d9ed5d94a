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
from hitsndiffs.results.cells import Cells
from hitsndiffs.results.labelling import NextLabels, Workers, next_labels, workers
from hitsndiffs.results.marks import Marks, marks
from hitsndiffs.results.parts import Parts, differences, parts
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.show.answers import clean, equal_answers

__all__ = ["LONGEST", "Labels", "Part", "Speaker", "fits", "has_key", "sections_of"]

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
#: What the table of the audit says of an entry of the key.
VERDICTS = {
    "": "",
    "wrong": "looks wrong",
    "double": "two answers look right",
    "open": "the answers do not tell",
}
#: Names of the sizes of a difference between groups (ETS).
SIZES = {"B": "moderate", "C": "large"}


class Named(NamedTuple):
    """A user or an item by name, with the place that the script knows it by."""

    place: int
    name: str


@dataclass(frozen=True)
class Table:
    """Some columns of a result.

    Attributes
    ----------
    caption
        What it shows, for readers who cannot see it.
    cells, heads
        The columns, and what stands above those that are shown.
    names
        Whom or what the first column names, if not just by its text: a user, an item, or a pair.
    more
        What the table leaves out, in words.
    texts
        Columns of texts that are set like numbers.
    """

    caption: str
    cells: Cells
    heads: Mapping[str, str]
    names: Sequence[Named] | Sequence[tuple[Named, Named]] = ()
    more: str = ""
    texts: Sequence[str] = ()

    @property
    def what(self) -> str:
        """What the first column names: ``"user"``, ``"item"``, ``"pair"``, or nothing."""
        return next(iter(self.heads)) if self.names else ""

    @property
    def kinds(self) -> list[str]:
        """The kind of each column that is shown: ``n`` for numbers."""
        quantities = ("whole", "share", "chance", "number")
        numbers = {name for name, kind in self.cells.kinds.items() if kind in quantities}
        return ["n" if name in numbers.union(self.texts) else "" for name in self.heads]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows as texts, with the names in the first column."""
        columns: list[Sequence[Any]] = [
            [clean(text) if text else "" for text in self.cells.texts(name)] for name in self.heads
        ]
        columns[0] = self.names or columns[0]
        return list(zip(*columns, strict=True))


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


class Speaker:
    """Says what is known of a ranking, part by part.

    Parameters
    ----------
    ranking
        The ranking.
    listed
        The users in the report, in their order there.
    """

    def __init__(self, ranking: Ranking, listed: Any) -> None:
        self.ranking, self.responses = ranking, ranking.responses
        self._places = np.full(self.responses.n_users, -1, dtype=np.int64)
        self._places[listed] = np.arange(len(listed))
        labels = self.responses.items.tolist()
        self._numbers = {str(label): number for number, label in enumerate(labels)}

    def _user(self, number: int) -> Named:
        return Named(int(self._places[number]), clean(self.responses.users[number], LONGEST))

    def _items(self, cells: Cells) -> list[Named]:
        items = cells.values("item")
        return [Named(self._numbers[str(item)], clean(item, LONGEST)) for item in items]

    # -- a key that was given -------------------------------------------------------------------

    def audit(self, found: Audit, key: Mapping[Any, Any]) -> tuple[Part, Sequence[Marks]]:
        """What is wrong with the key, and the marks by it, also after repair."""
        r, columns, said = self.responses, found.cells().columns, [str(found)]
        verdicts = list(columns["verdict"])
        told = {**columns, "verdict": [VERDICTS[verdict] for verdict in verdicts]}
        cells = Cells.of(told, chance="probability_wrong")
        cells = cells.only([row for row, verdict in enumerate(verdicts) if verdict])
        heads = {"item": "item", "given": "your key", "likely": "likely"}
        heads |= {"probability_wrong": "probably wrong", "verdict": ""}
        caption = "Answers of the key to look at, the likeliest errors first"
        tables = [Table(caption, cells, heads, self._items(cells))] if len(cells) else []
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
                tables.append(self._changes(marked[0].marks, gains))
        elif used:
            said.append(marked[0].sentence())
        return Part("Your key, compared with the answers", said, tables), marked

    def _changes(self, before: Any, gains: Any) -> Table:
        """Who gains and who loses marks, the largest changes first."""
        changed = np.flatnonzero(gains)
        changed = changed[np.argsort(-gains[changed], kind="stable")]
        shown, half = changed, LISTED // 2
        if len(changed) > LISTED:
            shown = np.concatenate([changed[:half], changed[-half:]])
        columns = {
            "user": self.responses.users[shown],
            "before": before[shown],
            "after": (before + gains)[shown],
            "change": [f"{gain:+g}" for gain in gains[shown]],
        }
        heads = {"user": "user", "before": "marks by your key", "after": "after repair"}
        more = (
            f"The largest changes; {len(changed):,} users in all." if len(changed) > LISTED else ""
        )
        return Table(
            "Who gains and who loses",
            Cells.of(columns, whole="before after"),
            {**heads, "change": "change"},
            [self._user(j) for j in shown.tolist()],
            more,
            texts=["change"],
        )

    # -- parts of the test, and groups of users -------------------------------------------------

    def sections(self, found: Parts | None, *, are_guessed: bool) -> list[Part]:
        """Sections side by side, and what each adds to the whole."""
        if found is None:
            return []
        cells = found.cells().only(np.arange(min(len(found.sections), LISTED)))
        heads = {"section": "section", "items": "items", "mean": "right", "alpha": "alpha"}
        by_names = ["The sections are what the items' names begin with."] if are_guessed else []
        said = [f"{found} Open a user to see the user's sections.", *by_names]
        table = Table("Sections of the items", cells, {**heads, "adds": "adds"})
        return [Part("Sections", said, [table])]

    def groups(self, groups: Mapping[Any, Any]) -> list[Part]:
        """Groups of users side by side, and items that are harder for one of two."""
        ranking, r = self.ranking, self.responses
        if not groups or not has_key(ranking):
            return []
        own = said_of(r.users.tolist(), groups)
        sizes = Counter(group for group in own.tolist() if group is not None)
        means = {group: float(np.nanmean(ranking.scores[own == group])) for group in sizes}
        names = sorted(sizes, key=lambda group: -means[group])[:LISTED]
        columns = {
            "group": names,
            "users": np.array([sizes[group] for group in names]),
            "score": np.array([means[group] for group in names]),
        }
        is_share = ranking.by == "correct"
        cells = Cells.of(columns, **{"share" if is_share else "number": "score"})
        heads = {"group": "group", "users": "users", "score": "right" if is_share else "score"}
        tables = [Table("Groups of users", cells, heads)]
        if sum(size >= FEWEST_USERS for size in sizes.values()) < 2:
            said = f"Items are compared between groups of {FEWEST_USERS} users or more."
            return [Part("Groups", [said], tables)]
        if not fits(r):
            return [Part("Groups", [], tables)]
        found = differences(r, ranking.answer_key(), groups)
        unfair = found.cells()
        unfair = unfair.only(np.flatnonzero(np.asarray(unfair.columns["size"]) != "A"))
        harder = [found.groups[delta < 0] for delta in unfair.values("delta")]
        told = {
            **unfair.columns,
            "size": [SIZES[size] for size in unfair.values("size")],
            "harder": harder,
        }
        heads = {"item": "item", "harder": "harder for", "size": "difference"}
        if harder:
            caption = "Items that are harder for one of two equally able groups"
            shown = Cells.of(told)
            heads["delta"] = "Mantel–Haenszel"
            tables.append(Table(caption, shown, heads, self._items(unfair)))
        return [Part("Groups", [found.sentence()], tables)]

    # -- labels ---------------------------------------------------------------------------------

    def labels(self, found: Labels | None) -> Part | None:
        """Of labels that were handed out: who stands out, and what to ask for next."""
        if found is None:
            return None
        said, tables = [agreement(self.responses).sentence()], []
        if found.workers is not None:
            said.append(found.workers.sentence())
            cells = found.workers.cells()
            odd = [row for row, remark in enumerate(cells.values("remark")) if remark][:LISTED]
            heads = {"user": "user", "answers": "answers", "remark": "stands out by"}
            if odd:
                caption, names = "Labellers who stand out", [self._user(j) for j in odd]
                tables.append(Table(caption, cells.only(odd), heads, names))
        if found.asked is not None:
            said.append(found.asked.sentence())
            n = len(found.asked.items)
            cells = found.asked.cells().only(np.arange(min(n, ASKED)))
            heads = {"item": "item", "user": "ask", "answers": "answers", "likely": "likely"}
            heads |= {"confidence": "sure", "gain": "gain"}
            caption = "What to label next, the most useful first"
            more = f"{n - ASKED:,} more are in the file of labels to ask for." if n > ASKED else ""
            if n:
                tables.append(Table(caption, cells, heads, self._items(cells), more))
        return Part("Labels", said, tables)

    # -- about people ---------------------------------------------------------------------------

    def care(self) -> list[Part]:
        """Users whose answers look like guesses, and users with very similar answers."""
        return [] if self.ranking.ratings else [*self._guessers(), *self._alike()]

    def _guessers(self) -> list[Part]:
        found = [self.ranking.user_number(user) for user in self.ranking.guessers().tolist()]
        if not found or self.ranking.verdict.is_open:
            return []
        said = (
            f"{count(len(found), 'user')} did not score clearly above guessing. "
            "With few or hard questions that happens to honest people too."
        )
        names = [self._user(j) for j in found[:LISTED]]
        return [Part("Answers like guesses", [said], (), names, max(len(found) - LISTED, 0))]

    def _alike(self) -> list[Part]:
        """Users with very similar answers, and as how many votes all of them count."""
        r, said = self.responses, []
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
        common, equal, wrong = (
            table[at].astype(np.int64) for table in equal_answers(self.ranking, some)
        )
        order = np.lexsort((*pairs.T[::-1], -equal, -wrong))
        names = [(self._user(a), self._user(b)) for a, b in pairs[order].tolist()]
        columns = {
            "pair": [f"{one.name} and {other.name}" for one, other in names],
            "equal": [f"{e} of {c}" for e, c in zip(equal[order], common[order], strict=True)],
            "wrong": wrong[order],
        }
        heads = {"pair": "users", "equal": "equal answers", "wrong": "of them not the likely key"}
        caption = "Pairs of users with the most equal answers"
        table = Table(caption, Cells.of(columns), heads, names, texts=["equal"])
        return [Part("Very similar answers", said, [table])]
