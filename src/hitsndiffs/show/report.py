"""The report: everything about a ranking, in one self-contained file.

The file holds what is said as text, and the data behind it once (:mod:`.report_data`). Its script
(``templates/report``) draws tables and pictures from these data, and shows the answers behind each
user and item. So no picture is made here, which took two thirds of the time of a report.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.data.lookup import said_of
from hitsndiffs.data.words import count, per_cent
from hitsndiffs.errors import InputError
from hitsndiffs.methods.alike import find_alike
from hitsndiffs.results.agreement import agreement
from hitsndiffs.results.audit import Audit, audit
from hitsndiffs.results.cells import Cells, jsonable
from hitsndiffs.results.diagnostics import settled
from hitsndiffs.results.labelling import next_labels, workers
from hitsndiffs.results.marks import Marks, marks
from hitsndiffs.results.parts import Parts, differences, parts
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.short_form import ShortForm, short_form
from hitsndiffs.results.verdict import notes_beside
from hitsndiffs.results.wording import missing, sizes
from hitsndiffs.show.items_and_answers import Item, clean, equal_answers, item_list
from hitsndiffs.show.report_data import LONGEST, listed_users, report_data, stored, urgency
from hitsndiffs.show.templating import environment, render

__all__ = ["Report", "describe", "report_html", "write_report"]

Ints = npt.NDArray[np.int64]

#: Maximum names in a list, pairs of users, labels to ask for next, and rows of the lists that
#: readers without scripts see.
LISTED, PAIRS, ASKED, PLAIN_ROWS = 40, 20, 20, 100
#: Sections and short forms need a table of users × items, at most so large.
MOST_CELLS = 20_000_000
#: Sections are taken from the items' names if each has this many items: of fewer, a share right is
#: off by a fifth or more.
FEWEST_ITEMS = 5
#: Groups are compared from this many users each: of fewer, even a large difference (1.5 on the
#: scale of ETS) is within one standard error.
FEWEST_USERS = 20
#: Sizes of short forms in the picture.
SHORT_FORMS = 8
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
        quantities = ("whole", "share", "number")
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


@dataclass(frozen=True)
class Report:
    """What the templates show.

    Attributes
    ----------
    data, packed
        The data for the script: JSON, or packed JSON.
    rows
        The first users, for readers without scripts.
    """

    title: str
    subtitle: str
    date: str
    verdict: str
    doubt: str
    help: str
    advice: str
    facts: list[tuple[str, str, str]]
    audit: Part | None
    scores_are: str
    parts: list[Part]
    labels: Part | None
    items: list[Item]
    items_sentence: str
    n_doubts: int
    short: str
    care: list[Part]
    left_out: str
    about: list[tuple[str, str]]
    notes: list[str]
    command: str | None
    rows: list[tuple[str, str, str]]
    data: str
    packed: bool
    has_key: bool
    has_pairs: bool
    has_scores: bool
    has_marks: bool
    one_scale: bool
    version: str

    @property
    def contents(self) -> list[tuple[str, str]]:
        """Anchors and titles of the sections."""
        return [
            *([("audit", "Your key")] if self.audit else []),
            ("users", "Ranking"),
            *([("scores", "Scores")] if self.has_scores else []),
            *([("parts", "Sections and groups")] if self.parts else []),
            *([("labels", "Labels")] if self.labels else []),
            ("items", "Items"),
            *([("care", "With care")] if self.care else []),
            ("about", "About"),
        ]


def write_report(ranking: Ranking, path: str | os.PathLike[str], **about: Any) -> Path:
    """Write the report; see :meth:`hitsndiffs.Ranking.report`."""
    target = Path(path)
    write_whole({target: text_writer(report_html(ranking, **about))})
    return target


def report_html(ranking: Ranking, **about: Any) -> str:
    """The report as an HTML page; the other parameters are those of :func:`describe`."""
    environment()  # fail before any work if jinja2 is missing
    return render("report/report.html", r=describe(ranking, **about))


def describe(
    ranking: Ranking,
    *,
    key: Mapping[Any, Any] | None = None,
    sections: Mapping[Any, Any] | str | None = None,
    groups: Mapping[Any, Any] | None = None,
    file: str | os.PathLike[str] | None = None,
    command: str | None = None,
    reading: Sequence[tuple[str, str]] = (),
) -> Report:
    """Collect what a report says.

    Parameters
    ----------
    ranking
        The result.
    key
        An answer key to check against the answers (item → option).
    sections
        The section of each item (item → section, or ``"names"``); by default the items' names
        tell, where they do.
    groups
        Groups of users to compare (user → group).
    file
        The file that the answers came from; the report states its name and hash.
    command
        The command line that repeats the result.
    reading
        How the file was read, as pairs of topic and description.
    """
    r, said = ranking.responses, ranking.verdict
    items = item_list(ranking, key)
    audited = None if key is None else audit(r, key)
    if audited is not None:
        items = _with_verdicts(items, audited)
    elif said.is_open:
        items = [replace(item, remark="", doubt="") for item in items]  # by an order in doubt
    users, numbers = _Places(ranking), {str(item.label): item.number for item in items}
    found, guessed = _sections(ranking, sections)
    short = _short_form(ranking)
    checked, marked = (
        (None, ()) if audited is None else _audit(ranking, audited, key or {}, users, numbers)
    )
    name = clean(Path(file).name) if file is not None else "Ranking"
    stem = Path(name).stem if file is not None else "hnd"
    data = report_data(
        ranking, items, file=stem, audited=key is not None, parts=found, short=short, marked=marked
    )
    text, packed = stored(data)
    first = ranking.cells(ranking.order[:PLAIN_ROWS])
    rows = zip(*(first.texts(column) for column in ("rank", "user", data["main"])), strict=True)
    today = datetime.date.today()
    notes = [clean(note, 1000) for note in notes_beside(ranking)]
    has_key = any(item.key is not None for item in items)
    return Report(
        title=name,
        subtitle=sizes(r),
        date=f"{today.day} {today:%B %Y}",
        verdict=str(said),
        doubt=said.doubt,
        help=said.help,
        advice=said.advice,
        facts=_facts(ranking),
        audit=checked,
        scores_are=_scores_are(ranking),
        parts=[*_section_part(found, guessed), *_group_part(ranking, numbers, groups or {})],
        labels=_labels(ranking, users, numbers),
        items=sorted((i for i in items if i.remark), key=urgency)[:LISTED] or items[:LISTED],
        items_sentence=_items_sentence(ranking, items),
        n_doubts=sum(bool(i.remark) for i in items),
        short="" if short is None else short.sentence(),
        care=[] if ranking.ratings else [*_guessers(ranking, users), *_alike(ranking, users)],
        left_out=_left_out(ranking, data["answers"]),
        about=_about(ranking, file, reading),
        notes=notes,
        command=command,
        rows=[(rank, clean(user, LONGEST), score) for rank, user, score in rows],
        data=text,
        packed=packed,
        has_key=has_key and not said.is_open,
        has_pairs=data["pairing"] is not None and said.allows_numbers,
        has_scores=said.allows_numbers,
        has_marks=bool(marked),
        one_scale=data["shares"] and any(item.share is not None for item in items),
        version=ranking.version,
    )


class _Places:
    """Users by number, as the report names them."""

    def __init__(self, ranking: Ranking) -> None:
        order = listed_users(ranking)
        self.labels = ranking.users
        self.places = np.full(len(self.labels), -1, dtype=np.int64)
        self.places[order] = np.arange(len(order))

    def __call__(self, user: int) -> Named:
        return Named(int(self.places[user]), clean(self.labels[user], LONGEST))


# -- the verdict, and what the tables show ------------------------------------------------------


def _facts(ranking: Ranking) -> list[tuple[str, str, str]]:
    """The numbers to look at first: what, how much, and what that means."""
    r, numbers = ranking.responses, ranking.verdict.allows_numbers
    scores = ranking.scores[ranking.components == 0]
    spread = ""
    if ranking.by == "correct" and numbers:
        spread = f"from {per_cent(scores.min())} to {per_cent(scores.max())} right"
    empty = "everybody answered everything" if r.is_complete else f"{missing(r)} unanswered"
    found = [("users", f"{r.n_users:,}", spread), ("items", f"{r.n_items:,}", empty)]
    if np.isfinite(ranking.reliability) and numbers:
        words = "1 = a second test like this would give the same order"
        found.append(("reliability", f"{ranking.reliability:.2f}", words))
    if ranking.key_chances is not None and numbers:
        n, _ = settled(r.structure, ranking.key_chances)
        found.append(("likely key", f"{n:,} of {r.n_items:,}", "answers expected to be right"))
    return found


def _scores_are(ranking: Ranking) -> str:
    if not ranking.verdict.allows_numbers:
        return f"{ranking.verdict.caption}."
    told = {
        "correct": "Right: the expected share of right answers, by the likely key.",
        "ability": "Ability: only differences are meaningful.",
    }.get(ranking.by, "Score: as the method defines it; only differences are meaningful.")
    if ranking.tiers.max(initial=1) > 1:
        told += " A new tier begins where the answers surely tell a user from the tier above."
    return told


def _items_sentence(ranking: Ranking, items: Sequence[Item]) -> str:
    doubts = sum(bool(item.remark) for item in items)
    if doubts:
        return f"{doubts:,} of {count(len(items), 'item')} to look at."
    if ranking.verdict.is_open or all(item.key is None for item in items):
        return f"{count(len(items), 'item')}."
    return f"None of {count(len(items), 'item')} looks wrong."


def _left_out(ranking: Ranking, answers: Mapping[str, Any]) -> str:
    """What the file does not hold, in words."""
    said, n_users, n_listed = [], len(ranking.order), len(listed_users(ranking))
    if n_listed < n_users:
        said.append(f"It lists the first and the last {n_listed // 2:,} of {n_users:,} users.")
    held = answers["first"] + answers["last"]
    if held == 0:
        said.append("It does not hold the answers.")
    elif held < n_listed:
        said.append(f"It holds the answers of the first and the last {held // 2:,} users.")
    return " ".join(said)


# -- a key that was given -----------------------------------------------------------------------


def _with_verdicts(items: Sequence[Item], found: Audit) -> list[Item]:
    """The items with what the audit says of their entry in the key instead of other remarks."""
    columns = found.columns()
    told = {str(item): v for item, v in zip(columns["item"], columns["verdict"], strict=True)}
    verdicts = [told[str(item.label)] for item in items]
    return [
        replace(item, remark=VERDICTS[verdict] if verdict else "", doubt=verdict)
        for item, verdict in zip(items, verdicts, strict=True)
    ]


def _audit(
    ranking: Ranking,
    found: Audit,
    key: Mapping[Any, Any],
    users: _Places,
    numbers: Mapping[str, int],
) -> tuple[Part, Sequence[Marks]]:
    """What is wrong with the key, and the marks by it, also after repair."""
    r, title = ranking.responses, "Your key, compared with the answers"
    columns = found.columns()
    doubtful = [k for k, verdict in enumerate(columns["verdict"]) if verdict]
    told = [VERDICTS.get(verdict, "") for verdict in columns["verdict"]]
    cells = Cells.of({**found.cells().columns, "verdict": told}, share="probability_wrong")
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
    used = {item: answer for item, answer in key.items() if str(item).strip() in known}
    if not used:
        return Part(title, said, tables), ()
    before = marks(r, used)
    said.append(before.sentence())
    if not wrong and not double:
        return Part(title, said, tables), (before,)
    repaired = {item: wrong.get(str(item).strip(), answer) for item, answer in used.items()}
    after = marks(r, repaired, accept=double)
    gains = np.nan_to_num(after.gains(before))
    said[1] += (
        f" With the key repaired, {count(int((gains > 0).sum()), 'user')} would gain and "
        f"{count(int((gains < 0).sum()), 'user')} would lose marks."
    )
    if gains.any():
        tables.append(_changes(before.marks, gains, users))
    return Part(title, said, tables), (before, after)


def _changes(before: Any, gains: Any, users: _Places) -> Table:
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


def _sections(
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


def _section_part(found: Parts | None, guessed: bool) -> list[Part]:
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


def _group_part(
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


def _labels(ranking: Ranking, users: _Places, numbers: Mapping[str, int]) -> Part | None:
    """Of labels that were handed out: who stands out, and what to ask for next.

    Labels were handed out where most users were not asked most items.
    """
    r = ranking.responses
    if ranking.ratings or 2 * r.n_responses > r.n_users * r.n_items:
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


def _short_form(ranking: Ranking) -> ShortForm | None:
    """How well fewer items keep the order."""
    r, of_one = ranking.responses, int((ranking.components == 0).sum())
    known = ranking.key_chances is not None and ranking.verdict.allows_numbers
    if not known or of_one < 4 or r.n_items < 5 or r.n_users * r.n_items > MOST_CELLS:
        return None
    steps = np.linspace(0, r.n_items, SHORT_FORMS + 1)[1:-1].round().astype(int)
    return short_form(ranking, sorted({int(step) for step in steps if step >= 2}))


# -- about people -------------------------------------------------------------------------------


def _guessers(ranking: Ranking, users: _Places) -> list[Part]:
    found = [ranking.user_number(user) for user in ranking.guessers().tolist()]
    if not found or ranking.verdict.is_open:
        return []
    said = (
        f"{count(len(found), 'user')} did not score clearly above guessing. "
        "With few or hard questions that happens to honest people too."
    )
    names = [users(j) for j in found[:LISTED]]
    return [Part("Answers like guesses", [said], (), names, max(len(found) - LISTED, 0))]


def _alike(ranking: Ranking, users: _Places) -> list[Part]:
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
    if votes is not None and votes < r.n_users - 1:
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


# -- how it was made ----------------------------------------------------------------------------


def _about(
    ranking: Ranking,
    file: str | os.PathLike[str] | None,
    reading: Sequence[tuple[str, str]],
) -> list[tuple[str, str]]:
    """How the answers were read, and how the ranking was made."""
    r = ranking.responses
    gaps = "no cell is empty" if r.is_complete else f"{missing(r)} of the cells are empty"
    found = [
        (
            "Answers",
            f"{count(r.n_responses, 'answer')} of {count(r.n_users, 'user')} to "
            f"{count(r.n_items, 'item')} with {count(r.n_options, 'chosen option')}; {gaps}",
        ),
        *((clean(what), clean(words, 1000)) for what, words in reading),
    ]
    choice, method = ranking.fit.choice, ranking.method
    if choice is not None:
        method += f", which chose {choice.method or 'no method'}: {choice.why}"
    told = {k: v for k, v in ranking.parameters.items() if v is not None}
    parameters = ", ".join(f"{name}={_short(value)}" for name, value in sorted(told.items()))
    rounds = f"settled after {count(ranking.n_iterations, 'round')}"
    found += [
        ("Method", method),
        ("Parameters", parameters or "none"),
        ("Computation", rounds if ranking.converged else f"not {rounds}"),
        ("Software", f"hitsndiffs {ranking.version}"),
    ]
    if file is not None and Path(file).is_file():
        path = Path(file)
        found.append(("File", f"{clean(path.name)}, {path.stat().st_size:,} bytes"))
        with path.open("rb") as stream:
            found.append(("SHA-256", hashlib.file_digest(stream, "sha256").hexdigest()))
    return found


def _short(value: Any) -> str:
    plain = jsonable(value)
    return f"{len(plain)} given" if isinstance(plain, dict) else clean(plain, 80)
