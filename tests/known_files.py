"""Files whose content is known: made by our own code, and real ones where the folder is at hand."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from formats.cases import CASES, PLAIN, made
from formats.table import wanted

import hitsndiffs as hnd

FOLDER = os.environ.get("HITSNDIFFS_DATA")


@dataclass(frozen=True)
class Known:
    """A file or folder, and what reading it must give; None where any number will do.

    ``users`` and ``items`` are the acceptable numbers. If it must be refused, nothing is
    acceptable; if it ``may_refuse``, a refusal is right as well.
    """

    name: str
    path: Path | None = None
    users: frozenset[int] | None = None
    items: frozenset[int] | None = None
    refuse: bool = False
    may_refuse: bool = False
    files: dict[str, bytes] | None = None

    def write(self, folder: Path) -> Path:
        """Return the path; files made by our own code are written to a folder first."""
        if self.path is not None:
            return self.path
        files = made(self.name).files if self.files is None else self.files
        for name, data in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return folder / next(iter(files)) if len(files) == 1 else folder

    def verdict(self, responses: Any) -> str:
        """Return ``"right"``, ``"refused"`` (or asked), or ``"wrong"``; None is a refusal."""
        if responses is None:
            return "right" if self.refuse or self.may_refuse else "refused"
        if self.refuse:
            return "wrong"
        fits = (self.users is None or responses.n_users in self.users) and (
            self.items is None or responses.n_items in self.items
        )
        return "right" if fits else "wrong"


def made_files() -> Iterator[Known]:
    """Return the files made by our own code: exports, and tables that no tool signs."""
    for name in CASES | PLAIN:
        example = made(name)
        if example.refused is not None:
            yield Known(name, refuse=True)
        else:
            content = wanted(example)
            yield Known(
                name, None, frozenset([len(content.users)]), frozenset([len(content.items)])
            )


def real_exports() -> Iterator[Known]:
    """Return the real exports, as their manifests describe them."""
    for part in ("exports", "exports2") if FOLDER else ():
        path = Path(str(FOLDER)) / part / "manifest.json"
        for entry in json.loads(path.read_text(encoding="utf-8")) if path.exists() else ():
            numbers: dict[str, frozenset[int] | None] = {}
            for what in ("users", "items"):
                others = entry.get(f"{what}_ok", [])
                one = [entry[what]] if entry[what] is not None else []
                numbers[what] = frozenset([*one, *others]) or None
            # a real export may be refused only where its manifest says so
            must, may = bool(entry.get("refuse")), bool(entry.get("refuse_ok"))
            yield Known(
                f"{part}/{entry['dir']}", path.parent / entry["path"], **numbers,
                refuse=must and not may, may_refuse=may,
            )  # fmt: skip


def real_sets() -> Iterator[Known]:
    """Return the real data sets: plain tables."""
    for part in ("mcq", "real", "more", "fresh") if FOLDER else ():
        for path in sorted((Path(str(FOLDER)) / part).glob("*/*.csv")):
            if path.name in ("responses.csv", "answer.csv"):
                yield Known(f"{part}/{path.parent.name}", path)


def fingerprint(responses: hnd.Responses) -> str:
    """Return a digest of who chose what, whatever the order of users, items and options."""
    who, what, which = (
        np.array([_number(label) for label in labels.tolist()], dtype=np.uint64)
        for labels in (responses.users, responses.items, responses.option_labels)
    )
    starts, chosen = responses.rows
    users = np.repeat(who, np.diff(starts))
    mixed = users * np.uint64(0x9E3779B97F4A7C15) ^ what[responses.option_items][chosen]
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9) ^ which[chosen]
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(0x94D049BB133111EB)
    return f"{int(mixed.sum(dtype=np.uint64)):016x}"[:10]


def _number(label: object) -> int:
    return int.from_bytes(hashlib.blake2b(str(label).encode(), digest_size=8).digest(), "little")


@dataclass
class Reading:
    """What came of reading a file: the plan and the responses, or the sentence of a refusal."""

    plan: hnd.Plan | None = None
    responses: hnd.Responses | None = None
    refusal: str = ""
    roles: dict[str, int] = field(default_factory=dict)

    def entry(self) -> str:
        """Return one line: layout, size, columns by role, key, and a digest of the answers."""
        if self.responses is None or self.plan is None:
            return "refused"
        r = self.responses
        roles = " ".join(f"{role}:{n}" for role, n in sorted(self.roles.items()))
        key = f"key:{len(r.key)}" if r.key else "no key"
        size = f"{r.n_users}x{r.n_items} {r.n_responses}"
        return f"{self.plan.layout} {size} | {roles} | {key} | {fingerprint(r)}"


def reading(path: Any, **options: Any) -> Reading:
    """Read a file, or say why not; other faults are raised."""
    try:
        plan = hnd.plan(path, **options)
        responses = plan.read()
    except hnd.InputError as error:
        return Reading(refusal=str(error))
    roles: dict[str, int] = {}
    for column in plan.columns:
        roles[column.role] = roles.get(column.role, 0) + 1
    return Reading(plan, responses, roles=roles)
