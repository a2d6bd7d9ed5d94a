"""The report: everything about a ranking, in one self-contained file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.results.diagnostics import settled
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.sureness import notes_beside
from hitsndiffs.results.values import jsonable
from hitsndiffs.results.wording import count, missing, sizes
from hitsndiffs.show.alike import Alike, Pair, find_alike
from hitsndiffs.show.charts.answers import answers_chart
from hitsndiffs.show.charts.items import item_chart, items_chart, option_rows
from hitsndiffs.show.charts.ranking import ranking_chart, score_title
from hitsndiffs.show.charts.structure import axes_chart, copies_chart
from hitsndiffs.show.display_names import clean
from hitsndiffs.show.items_and_answers import Item, item_list, option_groups, option_shares
from hitsndiffs.show.rival_axes import find_axes
from hitsndiffs.show.rows import Row, Rows, ranking_rows
from hitsndiffs.show.story import Tile, tiles, verdict
from hitsndiffs.show.templating import environment, policy, render
from hitsndiffs.show.theme import Spec, to_svg, to_svgs

__all__ = ["EMPTY_ROW", "Figure", "Report", "describe", "drawn", "report_html", "write_report"]

#: At most this many items with a remark get a chart; others do only in tests up to this long.
DOUBT_CHARTS, ITEM_CHARTS = 24, 48
#: Maximum rows of the table of items.
ITEM_ROWS = 500
#: Maximum names in a list.
LISTED_NAMES = 40


@dataclass(frozen=True)
class Figure:
    """A picture with its caption, and its label for screen readers."""

    svg: Any
    caption: str
    label: str


@dataclass(frozen=True)
class Card:
    """An item with its chart."""

    item: Item
    svg: Any


@dataclass(frozen=True)
class Audit:
    """A given key, checked against the answers."""

    sentence: str
    items: list[Item]


@dataclass(frozen=True)
class Care:
    """A finding about people, to be worded with care."""

    title: str
    sentence: str
    names: Sequence[str] = ()
    more: int = 0
    pairs: Sequence[Pair] = ()
    figure: Figure | None = None


@dataclass(frozen=True)
class Report:
    """What the templates show."""

    title: str
    subtitle: str
    verdict: tuple[str, str]
    tiles: list[Tile]
    figures: dict[str, Figure | None]
    rows: Rows
    scores_are: str
    audit: Audit | None
    items_sentence: str
    doubts: list[Card]
    n_doubts: int
    others: list[Card]
    shown_items: list[Item]
    n_items: int
    care: list[Care]
    read: str
    reading: list[tuple[str, str]]
    notes: list[str]
    made: list[tuple[str, str]]
    command: str | None
    version: str


def write_report(ranking: Ranking, path: str | os.PathLike[str], **about: Any) -> Path:
    """Write the report; see :meth:`hitsndiffs.Ranking.report`."""
    target = Path(path)
    write_whole({target: text_writer(report_html(ranking, **about))})
    return target


def report_html(ranking: Ranking, **about: Any) -> str:
    """The report as an HTML page; the other parameters are those of :func:`describe`."""
    environment()  # fail before any work if jinja2 is missing
    found = describe(ranking, **about)
    return render("report.html", r=found, empty_row=EMPTY_ROW, policy=policy())


#: A row for the script to fill.
EMPTY_ROW = Row("", "", "", "", "", "", "", 0.0, 0.0, 0.0)


def describe(
    ranking: Ranking,
    *,
    key: Mapping[Any, Any] | None = None,
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
    file
        The file that the answers came from; the report states its name and hash.
    command
        The command line that repeats the result.
    reading
        How the file was read, as pairs of topic and description.
    """
    r = ranking.responses
    items = item_list(ranking, key)
    doubtful = sorted((i for i in items if i.remark), key=_urgency)
    sound = [i for i in items if not i.remark]
    alike = find_alike(ranking)
    cards = _cards(
        ranking, [*doubtful[:DOUBT_CHARTS], *(sound if len(items) <= ITEM_CHARTS else [])]
    )
    name = clean(Path(file).name) if file is not None else "Ranking"
    said = verdict(ranking)
    helps = ranking.verdict.help
    helps_too = [f"To be surer: {helps}"] if helps and helps not in said[1] else []
    return Report(
        title=name,
        subtitle=f"Who is good, found from the answers alone: {sizes(r)}",
        verdict=said,
        tiles=tiles(ranking),
        figures=_figures(ranking, items),
        rows=ranking_rows(ranking),
        scores_are=_scores_are(ranking),
        audit=None if key is None else _audit(items, key),
        items_sentence=_items_sentence(ranking, items),
        doubts=[card for card in cards if card.item.remark],
        n_doubts=len(doubtful),
        others=[card for card in cards if not card.item.remark],
        shown_items=[*doubtful, *sound][:ITEM_ROWS] if len(items) > ITEM_ROWS else items,
        n_items=len(items),
        care=[*_guessers(ranking), *_copies(ranking, alike)],
        read=_read(ranking, file),
        reading=[(clean(what), clean(words, 1000)) for what, words in reading],
        notes=[clean(note, 1000) for note in [*notes_beside(ranking), *helps_too]],
        made=_made(ranking, file),
        command=command,
        version=ranking.version,
    )


def _urgency(item: Item) -> tuple[bool, bool, int]:
    """Wrong keys first, mis-keyed before double-keyed, then in the order of the test."""
    return not item.wrong_key, item.doubt != "mis-keyed", item.number


def drawn(chart: Spec, caption: str, label: str) -> Figure:
    """Draw a chart for a page."""
    from markupsafe import Markup

    return Figure(Markup(to_svg(chart, label=label)), caption, label)


def _figures(ranking: Ranking, items: Sequence[Item]) -> dict[str, Figure | None]:
    what = score_title(ranking)
    axes = find_axes(ranking)
    known = any(item.discrimination is not None for item in items)
    return {
        "ranking": drawn(
            ranking_chart(ranking),
            f"Each point is a user's {what}; the bar holds the true value, 95 % sure. Where bars "
            "overlap a lot, the order of two users may be chance.",
            f"Chart: users from best to worst by {what}, with intervals. The table of the ranking "
            "has the numbers.",
        ),
        "answers": drawn(
            answers_chart(ranking),
            "Users from best to worst, items from easy to hard. Right is what the answers point "
            "to as the key. The clearer the two colours part, the better the order fits.",
            "Picture of the answer table: right, wrong and missing answers, sorted by the result.",
        ),
        "items": drawn(
            items_chart(ranking, items=items),
            "Items further up tell strong users from weak ones better; items at the right are "
            "easier. Triangles are items to look at.",
            "Chart: items by share of right answers and discrimination. The table of items has "
            "the numbers.",
        )
        if known
        else None,
        "axes": drawn(
            axes_chart(ranking, axes=axes),
            "Each point is a user; users who answer alike stand close to each other.",
            "Chart: users on the two strongest axes of the answers, coloured by the ranking.",
        )
        if axes.competing
        else None,
    }


def _cards(ranking: Ranking, items: Sequence[Item]) -> list[Card]:
    from markupsafe import Markup

    if not items or items[0].key is None:
        return []
    shares = option_shares(ranking, option_groups(ranking))
    rows = [option_rows(ranking, item, shares) for item in items]
    labels = [
        f"Chart: share of each option of {item.name} among weak and strong users" for item in items
    ]
    chart = item_chart(rows[0], shares.shape[1])
    pictures = to_svgs(chart, list(zip(rows, labels, strict=True)))
    return [Card(item, Markup(svg)) for item, svg in zip(items, pictures, strict=True)]


def _scores_are(ranking: Ranking) -> str:
    return {
        "correct": "Right: the expected share of right answers, by the likely key.",
        "ability": "Score: ability; only differences are meaningful.",
    }.get(ranking.by, "Score: as the method defines it; only differences are meaningful.")


def _audit(items: Sequence[Item], key: Mapping[Any, Any]) -> Audit:
    given = [item for item in items if item.given is not None]
    agree = sum(item.given == item.key for item in given)
    doubted = sorted((item for item in given if item.wrong_key), key=_urgency)
    said = f"The answers point to your key on {agree} of {count(len(given), 'item')}. " + (
        f"{count(len(doubted), 'key')} should be looked at." if doubted else "No key looks wrong."
    )
    unseen = len(key) - len(given)
    if unseen > 0:
        said += f" {count(unseen, 'entry') if unseen == 1 else f'{unseen:,} entries'} of the key "
        said += "name an item or an option that nobody chose."
    return Audit(said, doubted)


def _items_sentence(ranking: Ranking, items: Sequence[Item]) -> str:
    if ranking.fit.key_probabilities is None:
        return f"{count(len(items), 'item')}."
    _, said = settled(ranking.responses.structure, ranking.fit.key_probabilities)
    doubts = sum(bool(item.remark) for item in items)
    look = f"{count(doubts, 'item')} to look at." if doubts else "No item looks wrong."
    return f"{said} {look}"


def _guessers(ranking: Ranking) -> list[Care]:
    users = ranking.guessers()
    if len(users) == 0:
        return []
    return [
        Care(
            "Answers like guesses",
            f"{count(len(users), 'user')} did not clearly do better than somebody who guesses. "
            "With few or hard questions that happens to honest people too.",
            [clean(user, 60) for user in users[:LISTED_NAMES]],
            max(len(users) - LISTED_NAMES, 0),
        )
    ]


def _copies(ranking: Ranking, alike: Alike) -> list[Care]:
    if alike.n_users == 0:
        return []
    figure = None
    if len(alike.users) > 2:
        figure = drawn(
            copies_chart(ranking, alike=alike),
            "Share of equal answers for each pair of users, among the items both answered.",
            "Chart: share of equal answers between users who look alike; the table has the "
            "strongest pairs.",
        )
    return [
        Care(
            "Answers that are very alike",
            f"{count(alike.n_users, 'user')} agree with somebody more than their abilities "
            "explain. They may have worked together, shared a source, or copied; equal wrong "
            "answers say most. The ranking counts such users for less when it looks for the key.",
            alike.names if not alike.pairs else (),
            max(alike.n_users - len(alike.names), 0) if not alike.pairs else 0,
            alike.pairs,
            figure,
        )
    ]


def _read(ranking: Ranking, file: str | os.PathLike[str] | None) -> str:
    r = ranking.responses
    source = "These data hold"
    if file is not None:
        kind = "folder" if Path(file).is_dir() else "file"
        source = f"The {kind} {clean(Path(file).name)} holds"
    gaps = "no cell is empty" if r.is_complete else f"{missing(r)} of the cells are empty"
    return (
        f"{source} {count(r.n_responses, 'answer')} of {count(r.n_users, 'user')} to "
        f"{count(r.n_items, 'item')}, which have {count(r.n_options, 'option')} that somebody "
        f"chose; {gaps}."
    )


def _made(ranking: Ranking, file: str | os.PathLike[str] | None) -> list[tuple[str, str]]:
    choice, method = ranking.fit.choice, ranking.method
    if choice is not None:
        method += f", which chose {choice.method or 'no method'}: {choice.why}"
    found = [("Method", method)]
    told = {k: v for k, v in ranking.parameters.items() if v is not None}
    said = ", ".join(f"{name}={_short(value)}" for name, value in sorted(told.items()))
    found.append(("Parameters", said or "none"))
    settled = f"settled after {count(ranking.n_iterations, 'round')}"
    found.append(("Computation", settled if ranking.converged else f"not {settled}"))
    found.append(("Software", f"hitsndiffs {ranking.version}"))
    if file is not None and Path(file).is_file():
        found.append(("File", f"{clean(Path(file).name)}, {_size(Path(file))}"))
        found.append(("SHA-256 of the file", _sha256(Path(file))))
    return found


def _short(value: Any) -> str:
    plain = jsonable(value)
    if isinstance(plain, dict):
        return f"{len(plain)} given"
    return clean(plain, 80)


def _size(path: Path) -> str:
    size = path.stat().st_size
    return f"{size:,} bytes" if size < 1_000_000 else f"{size / 1e6:,.1f} MB"


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
