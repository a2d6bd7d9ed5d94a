"""The plan for reading a file: what it is, what each column is, what is left out, and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.display import Viewed
from hitsndiffs.data.words import listed, shortened
from hitsndiffs.errors import InputError
from hitsndiffs.reading.accord import Accord
from hitsndiffs.reading.exports.base import ROLES, Column, LeftOut
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.patterns import exactly

if TYPE_CHECKING:
    from hitsndiffs.data.responses import Responses

__all__ = ["Plan", "load_profile"]


@dataclass
class Plan(Viewed):
    r"""How to read a file (or several); :meth:`read` does it.

    Parameters
    ----------
    sources
        The files.
    format
        ``"csv"``, ``"xlsx"``, … for plain tables, else the name of the export.
    title, why
        What the file is in words, and the reason for thinking so.
    layout
        ``"wide"``, ``"long"``, ``"transposed"``, ``"export"``, or ``"several"`` (files).
    container, encoding, separator, header_row, sheet
        How the bytes become cells, as far as it applies.
    columns
        What each column is, with the reason.
    left_out
        Rows that are left out, with the reason.
    answers
        How answers are normalised.
    key
        Where a key was found; empty if there is none.
    notes
        What else was assumed.
    options
        What the caller said.
    users, items
        How many there are, known once the file is read.
    scores
        For a plain table, how strongly the columns speak for each way to read it, and why.
    accord
        How far answers agree within items and within users; known once the file is read, and None
        for few answers.

    Examples
    --------
    >>> import io
    >>> import hitsndiffs as hnd
    >>> text = "student,q1,q2,Score\nann,A,B,2\nbob,A,C,1\n"
    >>> plan = hnd.plan(io.StringIO(text))
    >>> [(column.name, column.role) for column in plan.columns]
    [('student', 'user'), ('q1', 'item'), ('q2', 'item'), ('Score', 'points')]
    >>> plan.read()
    Responses(2 users × 2 items, 3 options, 4 responses)
    """

    sources: tuple[str, ...]
    format: str = ""
    title: str = ""
    why: str = ""
    layout: str = ""
    container: str = ""
    encoding: str | None = None
    separator: str | None = None
    header_row: int | None = None
    sheet: str | None = None
    columns: list[Column] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    key: str = ""
    notes: list[str] = field(default_factory=list)
    options: ReadingOptions = field(default_factory=ReadingOptions)
    users: int | None = None
    items: int | None = None
    scores: list[str] = field(default_factory=list)
    accord: Accord | None = None
    _reader: Callable[[Plan], Responses] | None = field(default=None, repr=False, compare=False)
    _source: Any = field(default=None, repr=False, compare=False)
    _read: Responses | None = field(default=None, repr=False, compare=False)

    def read(self) -> Responses:
        """Read the file as planned; afterwards the plan lists everything that was left out."""
        if self._read is None:
            if self._reader is None:
                raise InputError(
                    "this plan came from JSON and has no file; give it as the plan for a file."
                )
            self._read = self._reader(self)
        return self._read

    def change(self, **options: Any) -> Plan:
        """Make a new plan with other options, for example ``change(drop=["Bonus"])``."""
        from hitsndiffs.reading.reader import make_plan

        return make_plan(self._source, self.options.changed(**options))

    # -- as data ----------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        names = [own.name for own in fields(self) if not own.name.startswith("_")]
        return {name: getattr(self, name) for name in names} | {
            "sources": list(self.sources),
            "columns": [asdict(column) for column in self.columns],
            "left_out": [asdict(rows) for rows in self.left_out],
            "answers": list(self.answers),
            "accord": None if self.accord is None else asdict(self.accord),
            "notes": list(self.notes),
            "options": self.options.said(),
        }

    def to_json(self) -> str:
        """Return the plan as JSON: a profile for other files of the same kind (``--plan``)."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """Make a plan from the output of :meth:`to_json`; roles may have been edited by hand."""
        return _from_dict(_loaded(text, "the plan"), "the plan")

    # -- in words ---------------------------------------------------------------------------

    @property
    def is_telling(self) -> bool:
        """Whether there is more to report than that a wide table was read in full."""
        gone = any(column.role in _NOT_TAKEN for column in self.columns)
        return self.layout != "wide" or gone or bool(self.left_out) or bool(self.key)

    @property
    def line(self) -> str:
        """One line: what was taken, and what was left out."""
        parts = [self.title + self._because()]
        gone = Counter(c.role for c in self.columns if c.role in _NOT_TAKEN)
        if self.layout != "transposed" and gone:
            number = sum(gone.values())
            roles = ", ".join(f"{count} {role}" for role, count in gone.most_common())
            parts.append(f"left out {number:,} column{'s' if number > 1 else ''} ({roles})")
        rows = [f"{rows.what} ({rows.reason})" for rows in self.left_out[:3]]
        if rows:
            more = f" and {len(self.left_out) - 3} more" if len(self.left_out) > 3 else ""
            parts.append(f"left out {'; '.join(rows)}{more}")
        if self.key:
            parts.append(f"a key was found in {self.key}")
        return "; ".join(parts) + "."

    def _because(self) -> str:
        """Of a plain table with one row per answer, which column is what; else why it is so."""
        if self.layout == "long" and not self.title.startswith("a table"):
            return f" ({self.why})" if self.why else ""
        if self.layout == "long":
            names = [
                " + ".join(f"'{shortened(c.name, 40)}'" for c in self.columns if c.role == role)
                for role in ("user", "item", "answers")
            ]
            if all(names):
                return f": the user in {names[0]}, the item in {names[1]}, the answer in {names[2]}"
        return f" ({self.why})" if self.why and self.layout != "wide" else ""

    def __str__(self) -> str:
        return "\n".join(f"{what}: {words}" for what, words in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """Return the whole plan as pairs of a heading and words."""
        found = [("files", ", ".join(shortened(source) for source in self.sources[:5]))]
        if len(self.sources) > 5:
            found[0] = ("files", f"{found[0][1]} and {len(self.sources) - 5} more")
        found.append(("format", f"{self.title} ({self.format})"))
        if self.why:
            found.append(("because", self.why))
        found += [("weighed", shortened(text, 200)) for text in self.scores[:2]]
        bytes_ = [self.container]
        bytes_ += [f"encoding {self.encoding}"] if self.encoding else []
        if self.separator:
            from hitsndiffs.reading.files.text_rows import separator_name

            bytes_.append(f"separated by {separator_name(self.separator)}")
        bytes_ += [f"header in row {self.header_row}"] if self.header_row else []
        bytes_ += [f"sheet {self.sheet!r}"] if self.sheet else []
        found.append(("container", ", ".join(filter(None, bytes_))))
        for role in ROLES:
            own = [c for c in self.columns if c.role == role]
            reasons: dict[str, list[str]] = {}
            for column in own:
                reasons.setdefault(column.reason, []).append(column.name)
            for reason, names in reasons.items():
                found.append((f"{role} columns", f"{listed(names)}: {reason}"))
        found += [
            ("rows left out", f"{rows.count} × {rows.what}: {rows.reason}")
            for rows in self.left_out
        ]
        found += [("answers", sentence) for sentence in self.answers]
        found.append(
            ("key", f"found in {self.key}; not used unless asked for" if self.key else "none found")
        )
        return found


#: Members of a plan that are texts, and what all members are where they are said.
_TEXTS = ("format", "title", "why", "layout", "container", "key")
_KINDS: dict[str, Any] = {
    **dict.fromkeys((*_TEXTS, "encoding", "separator", "sheet"), str),
    **dict.fromkeys(("sources", "columns", "left_out", "answers", "notes"), list | tuple),
    "header_row": int,
    "options": Mapping,
}
_NOT_TAKEN = tuple(role for role in ROLES if role not in ("user", "item", "answers", "group"))


def _loaded(text: str, where: str) -> Mapping[str, Any]:
    try:
        loaded = json.loads(text)
    except ValueError as error:
        raise InputError(f"{where}: this is not valid JSON ({error}).") from None
    if not isinstance(loaded, dict):
        raise InputError(f"{where}: a plan is a JSON object, as 'hnd check --json' writes it.")
    return loaded


def _from_dict(loaded: Any, where: str) -> Plan:
    """Return a plan from its members, which come from a file and may hold anything."""
    wrong = ["the plan"] if not isinstance(loaded, Mapping) else [
        name for name, kind in _KINDS.items()
        if loaded.get(name) is not None and not isinstance(loaded[name], kind)
    ]  # fmt: skip
    if wrong:
        raise InputError(f"{where}: {wrong[0]} is not valid in a plan; create the plan again.")
    said = {name: loaded.get(name) for name in _KINDS}
    try:
        columns = [Column(**column) for column in said["columns"] or ()]
        left_out = [LeftOut(**rows) for rows in said["left_out"] or ()]
    except TypeError as error:
        raise InputError(f"{where}: a column needs name, role and reason ({error}).") from None
    for column in columns:
        if column.role not in ROLES or not isinstance(column.name, str):
            raise InputError(
                f"{where}: the column {column.name!r} has the role {column.role!r}; the roles are "
                f"{', '.join(ROLES)}."
            )
    told: dict[str, Any] = {name: said[name] or "" for name in _TEXTS}
    told |= {name: said[name] for name in ("encoding", "separator", "sheet", "header_row")}
    told |= {name: list(said[name] or ()) for name in ("answers", "notes")}
    return Plan(
        tuple(said["sources"] or ()),
        **told,
        columns=columns,
        left_out=left_out,
        options=ReadingOptions.from_said(said["options"] or {}),
    )


def load_profile(plan: Any) -> ReadingOptions:
    """Return the options that repeat a plan: a :class:`Plan`, a path to its JSON, or a mapping."""
    if isinstance(plan, Plan):
        found = plan
    elif isinstance(plan, Mapping):
        found = _from_dict(plan.get("plan", plan), "the plan")
    else:
        path = Path(plan)
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"{str(path)!r} cannot be opened ({error.strerror}).") from None
        except UnicodeDecodeError:
            raise InputError(f"{str(path)!r}: this is not a plan (not UTF-8 text).") from None
        loaded = _loaded(text, path.name)
        found = _from_dict(loaded.get("plan", loaded), path.name)
    return _profile(found)


def _profile(plan: Plan) -> ReadingOptions:
    said: dict[str, Any] = {}
    items = [column.name for column in plan.columns if column.role == "item"]
    users = [column.name for column in plan.columns if column.role == "user"]
    if plan.layout == "wide":
        said["layout"] = "wide"
        said["items"] = [exactly(name) for name in items]
        said["user"] = "+".join(users) or None
    elif plan.layout == "long":
        answers = [column.name for column in plan.columns if column.role == "answers"]
        said["layout"] = "long"
        for name, found in (("user", users), ("item", items), ("option", answers)):
            said[name] = found[0] if found else None
    elif plan.layout == "transposed":
        said["transpose"] = True
    elif plan.layout == "export":
        said["format"] = plan.format
    for name in ("encoding", "separator", "header_row", "sheet"):
        said[name] = getattr(plan, name) or None
    if said.get("encoding") in ("utf-8", "utf-8-sig"):
        said["encoding"] = None
    said["group"] = next((column.name for column in plan.columns if column.role == "group"), None)
    kept = {name: value for name, value in said.items() if value not in (None, [], "")}
    return ReadingOptions.from_said({**kept, **plan.options.said()})
