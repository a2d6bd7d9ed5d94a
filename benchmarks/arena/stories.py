"""Is the confidence right on data made up to mislead it? ``python -m benchmarks.arena.stories``.

Ranks every story of :mod:`benchmarks.arena.story_kinds` with ``auto``, in three sizes by turns, and
prints how often it was sure and wrong. With ``--page docs/confidence.md`` it writes the same into
that page, between two marks.
"""

from __future__ import annotations

import argparse
import fnmatch
import textwrap
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import hitsndiffs as hnd
from benchmarks.arena.cases import Array
from benchmarks.arena.story_kinds import STORIES
from benchmarks.arena.story_parts import Story
from benchmarks.arena.summary import RIGHT, number, table
from hitsndiffs.data.words import per_cent
from hitsndiffs.results.metrics import accuracy

__all__ = ["Outcome", "outcome", "section", "told", "true_shares", "written"]

#: Users and items of the runs, by turns.
SIZES = ((18, 12), (60, 30), (120, 40))
#: From here on a ranking is said to be sure.
SURE = 0.8
#: Data sets of each story, unless told otherwise.
RUNS = 30
#: So many answers are asked for where it was sure and wrong.
ASKED = 2
#: So many of the stories that mislead most are named in the text.
NAMED = 6
#: The width of the page's lines.
WIDTH = 140
#: What stands between these marks of a page is written here.
BEGIN = "<!-- stories: written by python -m benchmarks.arena.stories --page docs/confidence.md -->"
END = "<!-- stories: end -->"


@dataclass(frozen=True)
class Outcome:
    """What became of one data set.

    Attributes
    ----------
    story
        Its name.
    confidence
        What ``auto`` said.
    rho
        Spearman with the true shares of right answers; None where there is nothing to find.
    key
        For each item how sure its key was said to be, and whether it was right.
    mended
        Whether the right answers of the items it asks for put it right; None if not tried.
    """

    story: str
    confidence: float
    rho: float | None
    key: tuple[tuple[float, bool], ...] = ()
    mended: bool | None = None

    @property
    def right(self) -> bool:
        """Whether the ranking is right; never where there is nothing to find."""
        return self.rho is not None and self.rho > RIGHT

    @property
    def misled(self) -> bool:
        """Sure, and wrong."""
        return self.confidence >= SURE and not self.right


def told(name: str, run: int) -> Story:
    """One data set of a story."""
    users, items = SIZES[run % len(SIZES)]
    return STORIES[name](np.random.default_rng([*name.encode(), run]), users, items)


def outcome(name: str, run: int) -> Outcome:
    """Rank one data set and hold the result against the truth."""
    story = told(name, run)
    responses, truth = hnd.Responses.from_wide(story.codes), true_shares(story)
    ranking = _ranked(responses)
    rho = None if truth is None else accuracy(truth, ranking.scores)
    key: dict[str, str] = {}
    if story.key is not None:
        key = {str(item): str(option) for item, option in enumerate(story.key)}
    inferred = {}
    if key and ranking.fit.key_probabilities is not None:
        inferred = ranking.answer_key(with_confidence=True)
    found = Outcome(
        name,
        float(ranking.confidence),
        rho,
        tuple((sure, str(label) == key[str(item)]) for item, (label, sure) in inferred.items()),
    )
    if not found.misled or truth is None or not key:
        return found
    answers = {question.item: key[str(question.item)] for question in ranking.ask(ASKED)}
    again = accuracy(truth, _ranked(responses, answers=answers).scores)
    return replace(found, mended=again > RIGHT)


def _ranked(responses: hnd.Responses, **known: dict[object, str]) -> hnd.Ranking:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hnd.ConvergenceWarning)
        return hnd.rank(responses, **known)


def true_shares(story: Story) -> Array | None:
    """The share of each user's answers that are right (NaN without any)."""
    if story.right is None:
        return None
    given = (story.codes >= 0).sum(axis=1)
    count = story.right.sum(axis=1)
    return np.divide(count, given, out=np.full(len(given), np.nan), where=given > 0)


# -- the tables -------------------------------------------------------------------------------


def by_story(outcomes: Sequence[Outcome]) -> str:
    """A row for every story, those that mislead most on top."""
    rows = []
    for name in dict.fromkeys(each.story for each in outcomes):
        here = [each for each in outcomes if each.story == name]
        rhos = [each.rho for each in here if each.rho is not None and each.rho == each.rho]
        tale = (STORIES[name].__doc__ or "").strip()
        rows.append(
            (
                sum(each.misled for each in here),
                [
                    f"**{name}**: {tale}",
                    str(len(here)),
                    number(float(np.mean(rhos)) if rhos else None, 2),
                    number(float(np.mean([each.confidence for each in here])), 2),
                    str(sum(each.confidence >= SURE for each in here)),
                    str(sum(each.misled for each in here)),
                ],
            )
        )
    rows.sort(key=lambda row: -row[0])
    header = ["story", "runs", "Spearman", "confidence", f"said ≥ {SURE}", "of these wrong"]
    return table(header, [row for _, row in rows])


def in_bins(what: str, pairs: Sequence[tuple[float, bool]]) -> str:
    """How often something was right, by how sure it was said to be."""
    said, right = np.array([p for p, _ in pairs]), np.array([ok for _, ok in pairs], dtype=float)
    cells = np.minimum((said * 10 + 1e-9).astype(int), 9)
    rows = [
        [f"{c / 10:.1f}–{(c + 1) / 10:.1f}", f"{int(here.sum()):,}", number(said[here].mean(), 2),
         number(right[here].mean(), 2)]
        for c in np.unique(cells)
        for here in [cells == c]
    ]  # fmt: skip
    return table(["said", what, "said on average", "right"], rows)


# -- the section ------------------------------------------------------------------------------

ABOUT = """
The {stories} stories of `benchmarks/arena/story_kinds.py` are made up to mislead a ranking without
a key: a shared mistake that looks like knowledge, a crowd that follows one sheet, opinions and
noise with nothing to find. Ordinary ones stand among them, to show that the confidence is not
merely low. `python -m benchmarks.arena.stories` ranks {runs} data sets of each with `auto`. The
list was made to find errors, and every story that ever showed one is in it: the shares below are
those of a hard test, not of data as they come.

No coefficient was learnt and no sign chosen with these stories. But two of the bounds, those on
certified orders and on the use of all labels, were added because an earlier round of them had shown
errors. So questionnaires, grades and points are no longer new to it.
"""
FOUND = """
Of {truths:,} data sets with a truth, {sure} were said to be at least {SURE} sure, and {right} of
these ({share}) were right (Spearman above {RIGHT}). Of {voids} with nothing to find, {void_sure}
were said to be at least {SURE} sure. {clean} stories never misled it; there it was that sure of
{clean_sure} of {clean_of} data sets. With a truth:
"""
WHY = """
Sure and wrong it was most often with {worst}. In most of these the answers alone cannot tell. Where
many share a mistake, or the able fall for a trick, the table is that of a test in which the mistake
is right, and people differ in it as they would in ability. A group that follows one sheet looks
like a group that knows. In opinions and tastes some people are nearer to the common answer than
others, as in knowledge.

What helps is to know something: whether the questions have right answers at all, and the right
answers of a few items (`answers=`, `--answers`). `ranking.ask()` names those to look up.
Of {tried} data sets with one key for all that it was sure and wrong about, {mended} came right with
the answers of the {ASKED} items that it asked for.
"""
KEY = "How often the inferred key was right, item by item, by how sure it was said to be:"
STORY = (
    "Story by story; *wrong* is a Spearman of {RIGHT} or less, or that there is nothing to find:"
)


def section(outcomes: Sequence[Outcome]) -> str:
    """The figures in words and tables, as Markdown."""
    findable = [each for each in outcomes if each.rho is not None]
    void = [each for each in outcomes if each.rho is None]
    sure = [each for each in findable if each.confidence >= SURE]
    right = sum(each.right for each in sure)
    asked = [each.mended for each in outcomes if each.mended is not None]
    misled = Counter(each.story for each in outcomes if each.misled)
    runs = Counter(each.story for each in outcomes)
    worst = [f"*{name}* ({n} of {runs[name]})" for name, n in misled.most_common(NAMED)]
    clean = [each for each in outcomes if not misled[each.story]]
    figures = {
        "RIGHT": RIGHT, "SURE": per_cent(SURE), "ASKED": ASKED,
        "stories": len(runs), "runs": max(runs.values()),
        "truths": len(findable), "sure": len(sure), "right": right,
        "share": per_cent(right / len(sure)) if sure else "none",
        "voids": len(void), "void_sure": sum(each.misled for each in void),
        "clean": len(runs) - len(misled), "clean_of": len(clean),
        "clean_sure": sum(each.confidence >= SURE for each in clean),
        "worst": ", ".join(worst) or "no story",
        "tried": len(asked), "mended": sum(asked),
    }  # fmt: skip
    parts = [
        "## Kinds made up to mislead it",
        _filled(ABOUT, figures),
        _filled(FOUND, figures),
        in_bins("data sets", [(each.confidence, each.right) for each in findable]),
        _filled(WHY, figures),
        KEY,
        in_bins("items", [pair for each in outcomes for pair in each.key]),
        _filled(STORY, figures),
        by_story(outcomes),
    ]
    return "\n\n".join(parts)


def _filled(text: str, figures: dict[str, Any]) -> str:
    """Paragraphs with their figures, in lines of the page's width."""
    paragraphs = text.format(**figures).strip().split("\n\n")
    return "\n\n".join(textwrap.fill(each, WIDTH, break_on_hyphens=False) for each in paragraphs)


def written(page: str, made: str, first: str = BEGIN, last: str = END) -> str:
    """The page with what stands between its two marks replaced."""
    before, begin, rest = page.partition(first)
    _, end, after = rest.partition(last)
    if not (begin and end):
        raise SystemExit(f"The page has no place for the section: add the lines\n{first}\n{last}")
    return f"{before}{first}\n\n{made}\n\n{last}{after}"


def main(arguments: list[str] | None = None) -> None:
    """Rank, print, and write the section if a page is given."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.arena.stories", description=(__doc__ or "").split("``")[0]
    )
    parser.add_argument("--runs", type=int, default=RUNS, help=f"data sets of each ({RUNS})")
    parser.add_argument("--stories", default="*", metavar="GLOB", help="only these: 'model*'")
    parser.add_argument("--page", type=Path, help="write the section into this page")
    given = parser.parse_args(arguments)
    names = fnmatch.filter(STORIES, given.stories)
    if not names or given.runs < 1:
        parser.error(f"no story is called {given.stories!r}, or no run is left; stories: "
                     + ", ".join(STORIES))  # fmt: skip
    made = section([outcome(name, run) for name in names for run in range(given.runs)])
    print(made)
    if given.page:
        page = written(given.page.read_text(encoding="utf-8"), made)
        given.page.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
