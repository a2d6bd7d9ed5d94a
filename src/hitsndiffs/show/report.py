"""The report: everything about a ranking, in one self-contained file.

The file holds the verdict and the lists as text, and the data behind them once, packed. Its script
(``templates/report.js``) draws tables and pictures from these data, and shows the answers behind
each user and item. So no picture is made here, which took two thirds of the time of a report.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hitsndiffs.data.files import text_writer, write_whole
from hitsndiffs.data.words import count, per_cent
from hitsndiffs.results.audit import Audit, audit
from hitsndiffs.results.cells import jsonable
from hitsndiffs.results.columns import COLUMNS, Cells
from hitsndiffs.results.marks import marks
from hitsndiffs.results.ranking import Ranking
from hitsndiffs.results.verdict import notes_beside
from hitsndiffs.results.wording import missing, sizes
from hitsndiffs.show.alike import Pair, find_alike
from hitsndiffs.show.display_names import clean
from hitsndiffs.show.items_and_answers import (
    Item,
    chosen_options,
    item_list,
    option_groups,
    option_shares,
)
from hitsndiffs.show.rival_axes import find_axes
from hitsndiffs.show.templating import environment, policy, render

__all__ = ["Report", "describe", "report_html", "write_report"]

Ints = npt.NDArray[np.int64]

#: The report lists this many users; of more, half are from the top, half from the bottom.
MOST_USERS = 100_000
#: It holds this many answers; of more, those of the first and last users. A megabyte, packed.
MOST_ANSWERS = 4_000_000
#: Items with more options than this have no answers in the report (free text).
MOST_OPTIONS = 50_000
#: Up to this many rows are stored as plain data; more are packed (deflate, base64).
PLAIN = 200
#: At most this many doubtful items get a picture of their own.
CARDS = 12
#: Options of an item that get a line: the keys first, then the most chosen.
LINES = 6
#: Maximum names in a list, rows of the lists that readers without scripts see, and rows printed.
LISTED, PLAIN_ROWS, PRINTED = 40, 100, 600
#: Maximum characters of a name, and of an option.
LONGEST, LONGEST_OPTION = 120, 60
#: What an audit says of an entry of the key.
VERDICTS = {
    "wrong": "looks wrong",
    "double": "two answers look right",
    "open": "the answers do not tell",
}
#: Codes of options begin here, after the characters that end a string or a line.
CODE = 36


@dataclass(frozen=True)
class Change:
    """A user whose marks change when the key is repaired."""

    place: int
    name: str
    before: str
    after: str
    gain: str


@dataclass(frozen=True)
class Entry:
    """An entry of a given key that should be looked at."""

    number: int
    item: str
    given: str
    likely: str
    wrong: str
    words: str


@dataclass(frozen=True)
class KeyPart:
    """A given key, checked against the answers."""

    sentence: str
    entries: list[Entry]
    marks: str
    changes: list[Change]
    n_changes: int


@dataclass(frozen=True)
class Care:
    """A finding about people, to be worded with care."""

    title: str
    sentence: str
    names: Sequence[tuple[int, str]] = ()
    more: int = 0
    pairs: Sequence[tuple[Pair, int, int]] = ()


@dataclass(frozen=True)
class Report:
    """What the templates show.

    Attributes
    ----------
    data, packed
        The data for the script: JSON, or packed JSON.
    rows
        The first users, for readers without scripts.
    parts
        The sections, as anchor and title, for the contents.
    """

    title: str
    subtitle: str
    date: str
    verdict: str
    doubt: str
    help: str
    facts: list[tuple[str, str, str]]
    audit: KeyPart | None
    scores_are: str
    items: list[Item]
    items_sentence: str
    n_items: int
    n_doubts: int
    care: list[Care]
    one_scale: bool
    axes: bool
    left_out: str
    about: list[tuple[str, str]]
    notes: list[str]
    command: str | None
    rows: list[tuple[str, str, str]]
    data: str
    packed: bool
    has_key: bool
    has_scores: bool
    version: str

    @property
    def parts(self) -> list[tuple[str, str]]:
        """The contents."""
        return [
            *([("audit", "Your key")] if self.audit else []),
            ("users", "Ranking"),
            *([("scores", "Scores")] if self.has_scores else []),
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
    return render("report.html", r=describe(ranking, **about), policy=policy())


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
    audited = None if key is None else audit(r, key)
    if audited is not None:
        items = _with_verdicts(items, audited)
    order = ranking.order
    if len(order) > MOST_USERS:
        order = np.concatenate([order[: MOST_USERS // 2], order[-(MOST_USERS // 2) :]])
    place = np.full(r.n_users, -1, dtype=np.int64)
    place[order] = np.arange(len(order))
    name = clean(Path(file).name) if file is not None else "Ranking"
    cells = ranking.cells(order)
    axes = _axes(ranking)
    data = _data(ranking, cells, items, axes, Path(name).stem if file is not None else "hnd")
    data["audited"] = key is not None
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = len(order) > PLAIN or len(items) > PLAIN
    main = data["main"]
    first = ranking.cells(order[:PLAIN_ROWS])
    told = zip(*(first.texts(name) for name in ("rank", "user", main)), strict=True)
    said, today = ranking.verdict, datetime.date.today()
    return Report(
        title=name,
        subtitle=f"Who is good, found from the answers alone: {sizes(r)}",
        date=f"{today.day} {today:%B %Y}",
        verdict=str(said),
        doubt=said.doubt,
        help=said.help,
        facts=_facts(ranking),
        audit=None if audited is None else _key_part(ranking, audited, key or {}, place),
        scores_are=_scores_are(ranking),
        items=sorted((i for i in items if i.remark), key=_urgency)[:LISTED] or items[:LISTED],
        items_sentence=_items_sentence(items),
        n_items=len(items),
        n_doubts=sum(bool(i.remark) for i in items),
        care=[] if ranking.ratings else [*_guessers(ranking, place), *_alike(ranking, place)],
        one_scale=data["shares"] and any(item.share is not None for item in items),
        axes=axes is not None,
        left_out=_left_out(len(ranking.order), len(order), data["answers"]),
        about=_about(ranking, file, reading),
        notes=[clean(note, 1000) for note in notes_beside(ranking)],
        command=command,
        rows=[(rank, clean(user, LONGEST), score) for rank, user, score in told],
        data=_packed(text) if packed else _harmless(text),
        packed=packed,
        has_key=any(item.key is not None for item in items),
        has_scores=not data["doubted"] or any(item.key is not None for item in items),
        version=ranking.version,
    )


def _urgency(item: Item) -> tuple[bool, bool, int]:
    """Wrong keys first, then items with two right answers, then in the order of the test."""
    return item.doubt not in ("wrong", "mis-keyed"), not item.wrong_key, item.number


def _with_verdicts(items: Sequence[Item], found: Audit) -> list[Item]:
    """The items with what the audit says of their entry in the key instead of other remarks."""
    columns = found.columns()
    told = {str(item): v for item, v in zip(columns["item"], columns["verdict"], strict=True)}
    verdicts = [told[str(item.label)] for item in items]
    return [
        replace(item, remark=VERDICTS[verdict] if verdict else "", doubt=verdict)
        for item, verdict in zip(items, verdicts, strict=True)
    ]


# -- what the script draws ----------------------------------------------------------------------


def _data(
    ranking: Ranking, cells: Cells, items: Sequence[Item], axes: dict[str, Any] | None, file: str
) -> dict[str, Any]:
    """The data of the report: the columns of the ranking, the items, and the answers."""
    shares = ranking.by == "correct"
    main = {"correct": "correct", "ability": "ability"}.get(ranking.by, "score")
    main = main if main in cells.columns else "score"
    reach = 1.96 * np.nan_to_num(ranking.standard_errors)
    low, high = ranking.scores - reach, ranking.scores + reach
    bounds = [0.0, 1.0] if shares else [float(np.nanmin(low)), float(np.nanmax(high))]
    tiers, several = int(ranking.tiers.max(initial=1)), ranking.n_components > 1
    in_doubt = not ranking.verdict.allows_numbers
    shown = ["rank", "user", *(["tier"] if tiers > 1 else []), *([] if in_doubt else [main])]
    if np.isfinite(ranking.standard_errors).any() and not in_doubt:
        shown += ["bar", "range"]
    shown += ["key_score"] if "key_score" in cells.columns else []
    shown += [] if ranking.responses.is_complete else ["answers"]
    shown += ["component"] if several else []
    doubts = [i.number for i in sorted((i for i in items if i.remark), key=_urgency)]
    users = ranking.order if len(cells) == len(ranking.order) else None
    groups = option_groups(ranking) if any(i.key is not None for i in items) else 0
    return {
        "file": file,
        "main": main,
        "shares": shares,
        "range": bounds,
        "scale": ["0", "50", "100 %"] if shares else [f"{bound:.2g}" for bound in bounds],
        "users": len(ranking.order),
        "tiers": tiers,
        "doubted": in_doubt,
        "shown": shown,
        "printed": PRINTED,
        "columns": [_column(cells, name) for name in cells.columns],
        "groups": groups,
        "items": _item_data(ranking, items, groups),
        "doubts": doubts[:CARDS],
        "answers": _answers(ranking, ranking.order if users is not None else None),
        "axes": axes,
    }


def _column(cells: Cells, name: str) -> dict[str, Any]:
    values = cells.values(name)
    if cells.kinds[name] == "label":
        values = [clean(value, LONGEST) for value in values]
    elif cells.kinds[name] != "whole":
        values = [None if value is None else round(value, 4) for value in values]
    return {
        "name": name,
        "heading": COLUMNS[name].heading,
        "kind": cells.kinds[name],
        "values": values,
    }


def _item_data(ranking: Ranking, items: Sequence[Item], groups: int) -> list[dict[str, Any]]:
    r = ranking.responses
    labels = [clean(label, LONGEST_OPTION) for label in r.option_labels.tolist()]
    choosers = r.choosers_per_option
    shares = np.round(option_shares(ranking, groups), 3) if groups else None
    found = []
    for item in items:
        first, last = (int(place) for place in r.item_starts[item.number : item.number + 2])
        own, counts = labels[first:last], choosers[first:last]
        key = None if item.key_option is None else item.key_option - first
        given = None if item.given_option is None else item.given_option - first
        special = [o for o in (key, given) if o is not None]
        drawn = sorted(range(last - first), key=lambda o: (o not in special, -counts[o]))[:LINES]
        curve = [] if shares is None else [_known(shares[first + o]) for o in drawn]
        found.append(
            {
                "name": clean(item.name, LONGEST),
                "answers": item.answers,
                "options": own,
                "counts": counts.tolist(),
                "key": key,
                "given": given,
                "unseen": item.given if given is None else None,
                "sure": _short_number(item.confidence),
                "share": _short_number(item.share),
                "best": _short_number(item.strong_share),
                "telling": _short_number(item.discrimination),
                "remark": item.remark,
                "drawn": drawn,
                "curve": curve,
            }
        )
    return found


def _known(values: Any) -> list[float | None]:
    return [None if v != v else v for v in values.tolist()]


def _short_number(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def _answers(ranking: Ranking, order: Ints | None) -> dict[str, Any]:
    """The answers of as many users as there is room for, one character each."""
    r = ranking.responses
    none = {"first": 0, "last": 0, "code": ""}
    if order is None:
        order = ranking.order
        order = np.concatenate([order[: MOST_USERS // 2], order[-(MOST_USERS // 2) :]])
    if r.n_items == 0 or np.diff(r.item_starts).max(initial=0) > MOST_OPTIONS:
        return none
    room = MOST_ANSWERS // r.n_items
    first, last = (len(order), 0) if len(order) <= room else (room // 2, room // 2)
    users = np.concatenate([order[:first], order[len(order) - last :]])
    chosen = chosen_options(ranking, users)
    own = np.where(chosen < 0, -1, chosen - r.item_starts[:-1])
    code = (own + CODE).astype("<u2").tobytes().decode("utf-16-le")
    return {"first": first, "last": last, "code": code}


def _axes(ranking: Ranking) -> dict[str, Any] | None:
    """The users on the two strongest axes, if these compete."""
    axes = find_axes(ranking)
    if not axes.competing or axes.points.shape[1] < 2:
        return None
    points = np.round(axes.points[:, :2], 4)
    return {
        "x": points[:, 0].tolist(),
        "y": points[:, 1].tolist(),
        "fifth": axes.fifths.tolist(),
        "name": [clean(user, LONGEST) for user in ranking.users[axes.users].tolist()],
        "titles": [f"axis {k + 1} (strength {axes.strengths[k]:.2f})" for k in range(2)],
    }


def _packed(text: str) -> str:
    packer = zlib.compressobj(6, zlib.DEFLATED, -15)  # 9: six times as long, 7 % less
    return base64.b64encode(packer.compress(text.encode()) + packer.flush()).decode()


def _harmless(text: str) -> str:
    """JSON that is safe inside a page: it cannot open or close a tag."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


# -- what the templates say -----------------------------------------------------------------------


def _facts(ranking: Ranking) -> list[tuple[str, str, str]]:
    """The numbers to look at first: what, how much, and what that means."""
    r = ranking.responses
    found = []
    in_doubt = not ranking.verdict.allows_numbers
    if ranking.confidence is not None and not ranking.ratings:
        sure = per_cent(ranking.confidence)
        found.append(("confidence", sure, "that this ranking reflects ability"))
    if np.isfinite(ranking.reliability) and not in_doubt:
        words = "1 = a second test like this would give the same order"
        found.append(("reliability", f"{ranking.reliability:.2f}", words))
    scores = ranking.scores[ranking.components == 0]
    spread = ""
    if ranking.by == "correct" and not in_doubt:
        spread = f"from {per_cent(scores.min())} to {per_cent(scores.max())} right"
    found.append(("users", f"{r.n_users:,}", spread))
    empty = "everybody answered everything" if r.is_complete else f"{missing(r)} unanswered"
    found.append(("items", f"{r.n_items:,}", empty))
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


def _items_sentence(items: Sequence[Item]) -> str:
    if all(item.key is None for item in items):
        return f"{count(len(items), 'item')}."
    doubts = sum(bool(item.remark) for item in items)
    if doubts:
        return f"{doubts:,} of {count(len(items), 'item')} to look at."
    return f"None of {count(len(items), 'item')} looks wrong."


def _key_part(ranking: Ranking, found: Audit, key: Mapping[Any, Any], place: Ints) -> KeyPart:
    """The audit, and what repairing the key does to the marks."""
    r, columns = ranking.responses, found.columns()
    rows = list(zip(*columns.values(), strict=True))
    numbers = {str(item): i for i, item in enumerate(r.items.tolist())}
    entries = [
        Entry(
            numbers[str(item)],
            clean(item, LONGEST),
            clean(given, LONGEST_OPTION),
            clean(likely, LONGEST_OPTION),
            per_cent(wrong),
            VERDICTS[verdict],
        )
        for item, given, likely, wrong, verdict in rows
        if verdict
    ]
    known = {str(item) for item, given, *_ in rows if given is not None}
    used = {item: answer for item, answer in key.items() if str(item).strip() in known}
    if not used:
        return KeyPart(str(found), entries, "", [], 0)
    before = marks(r, used)
    wrong = {str(item): likely for item, _, likely, _, verdict in rows if verdict == "wrong"}
    double = {item: likely for item, _, likely, _, verdict in rows if verdict == "double"}
    if not wrong and not double:
        return KeyPart(str(found), entries, before.sentence(), [], 0)
    repaired = {item: wrong.get(str(item).strip(), answer) for item, answer in used.items()}
    gains = marks(r, repaired, accept=double).gains(before)
    changed = np.flatnonzero(np.nan_to_num(gains) != 0)
    changed = changed[np.argsort(-gains[changed], kind="stable")]
    shown = changed
    if len(changed) > LISTED:
        shown = np.concatenate([changed[: LISTED // 2], changed[-(LISTED // 2) :]])
    changes = [
        Change(
            int(place[j]),
            clean(ranking.users[j], LONGEST),
            f"{before.marks[j]:g}",
            f"{before.marks[j] + gains[j]:g}",
            f"{gains[j]:+g}",
        )
        for j in shown.tolist()
    ]
    told = (
        f"{before.sentence()} With {count(len(wrong) + len(double), 'answer')} of the key "
        f"repaired, {count(int((gains > 0).sum()), 'user')} would gain and "
        f"{count(int((gains < 0).sum()), 'user')} would lose marks."
    )
    return KeyPart(str(found), entries, told, changes, len(changed))


def _guessers(ranking: Ranking, place: Ints) -> list[Care]:
    users = [ranking.user_number(user) for user in ranking.guessers().tolist()]
    if not users:
        return []
    return [
        Care(
            "Answers like guesses",
            f"{count(len(users), 'user')} did not score clearly above guessing. "
            "With few or hard questions that happens to honest people too.",
            [(int(place[j]), clean(ranking.users[j], 60)) for j in users[:LISTED]],
            max(len(users) - LISTED, 0),
        )
    ]


def _alike(ranking: Ranking, place: Ints) -> list[Care]:
    alike = find_alike(ranking)
    if alike.n_users == 0:
        return []
    return [
        Care(
            "Very similar answers",
            f"{count(alike.n_users, 'user')} share more unusual answers with somebody than their "
            "ability makes likely. They may have worked together or shared a source; equal wrong "
            "answers say most.",
            pairs=[
                (pair, int(place[pair.users[0]]), int(place[pair.users[1]])) for pair in alike.pairs
            ],
        )
    ]


def _left_out(n_users: int, n_listed: int, answers: Mapping[str, Any]) -> str:
    """What the file does not hold, in words."""
    said = []
    if n_listed < n_users:
        said.append(f"It lists the first and the last {n_listed // 2:,} of {n_users:,} users.")
    held = answers["first"] + answers["last"]
    if held == 0:
        said.append("It does not hold the answers.")
    elif held < n_listed:
        said.append(f"It holds the answers of the first and the last {held // 2:,} users.")
    return " ".join(said)


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
