"""The page's part on doubt: misconceptions and anchors, confidence, intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks.arena.measuring import ANCHORED
from benchmarks.arena.real import ALL
from benchmarks.arena.settings import SETTINGS
from benchmarks.arena.summary import RIGHT, Results, Verdict, number, table

__all__ = ["BINS", "MISCONCEPTIONS", "section", "verdicts"]

#: Edges of the bins of confidence.
BINS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
#: From here on a wrong ranking counts as confidently wrong.
CONFIDENT = 0.8
#: 95 % intervals should cover this much.
COVER = (0.93, 0.97)

TESTS = [name for name in SETTINGS if "test" in name]
MISCONCEPTIONS = [name for name in SETTINGS if "misconception" in name]
REAL = [f"real/{name}" for name in ALL]
PARTS = [f"part/{name}" for name in ALL]
INTERVALS = {"share": "share correct", "theta": "ability", "rank": "rank"}


def verdicts(results: Results) -> list[Verdict]:
    """The targets for doubt."""
    return [
        _wrong_is_unsure(results, "Shared misconception", MISCONCEPTIONS),
        _anchors_mend(results),
        _calibrated(results),
        *(
            _covers(results, what, label, names)
            for label, names in (("tests", TESTS), ("all settings", list(SETTINGS)))
            for what in INTERVALS
        ),
    ]


def _right(record: Mapping[str, Any]) -> bool:
    return bool(record["accuracy"] > RIGHT)


def _records(results: Results, contestant: str, names: Iterable[str]) -> list[Mapping[str, Any]]:
    """Records with both a confidence and a truth to hold it against."""
    return [
        record
        for name in names
        for record in results.records(contestant, name).values()
        if "accuracy" in record and "confidence" in record
    ]


def _wrong_is_unsure(results: Results, what: str, names: list[str]) -> Verdict:
    target = f"{what}: wrong rankings come with confidence below {CONFIDENT}"
    records = _records(results, "auto", names)
    if not records:
        return Verdict(target, "", "not run")
    wrong = [record["confidence"] for record in records if not _right(record)]
    sure = sum(confidence >= CONFIDENT for confidence in wrong)
    figure = f"{len(wrong)} of {len(records)} wrong, {sure} of these confident"
    if wrong:
        figure += f" (highest confidence {max(wrong):.2f})"
    return Verdict(target, figure, "met" if sure == 0 else "**not met**")


def _mended(results: Results, contestant: str, names: list[str]) -> tuple[int, int]:
    """How many of the default's wrong rankings an anchor puts right, and of how many."""
    mended = wrong = 0
    for name in names:
        told = results.values(contestant, name, "accuracy")
        for seed, value in results.values("auto", name, "accuracy").items():
            if value <= RIGHT and seed in told:
                wrong += 1
                mended += told[seed] > RIGHT
    return mended, wrong


def _anchors_mend(results: Results) -> Verdict:
    target = "Shared misconception: two known answers mend the wrong rankings (9 in 10)"
    mended, wrong = _mended(results, "auto + 2 known answers", MISCONCEPTIONS)
    if not _records(results, "auto", MISCONCEPTIONS):
        return Verdict(target, "", "not run")
    met = "met" if mended >= 0.9 * wrong else "**not met**"
    return Verdict(target, f"{mended} of {wrong}", met)


def _calibrated(results: Results) -> Verdict:
    target = "Rankings with confidence ≥ 0.9 are right at least 9 times in 10, simulated and real"
    records = _records(results, "auto", [*SETTINGS, *REAL, *PARTS])
    if not records:
        return Verdict(target, "", "not run")
    sure = [_right(record) for record in records if record["confidence"] >= 0.9]
    if not sure:
        return Verdict(target, f"said of none of {len(records):,}", "met")
    share = float(np.mean(sure))
    figure = f"{share:.1%} of {len(sure)}"
    return Verdict(target, figure, "met" if share >= 0.9 else "**not met**")


def _coverage(
    results: Results, contestant: str, names: Iterable[str], what: str, *, right_only: bool = False
) -> tuple[float, int]:
    """Share of users whose true value lies in the interval, and of how many users."""
    inside = count = 0
    for name in names:
        for record in results.records(contestant, name).values():
            if not right_only or _right(record):
                inside += record.get(f"{what}_in", 0)
                count += record.get(f"{what}_of", 0)
    return (inside / count if count else float("nan")), count


def _covers(results: Results, what: str, label: str, names: list[str]) -> Verdict:
    low, high = COVER
    target = (
        f"95 % intervals of {INTERVALS[what]} cover {low:.0%}–{high:.0%}: {label}, where axis and "
        "sign are right"
    )
    share, count = _coverage(results, "auto", names, what, right_only=True)
    if not count:
        return Verdict(target, "", "not run")
    met = "met" if low <= share <= high else "**not met**"
    return Verdict(target, f"{share:.1%} of {count:,} users", met)


def section(results: Results) -> str:
    """All tables on doubt."""
    return "\n\n".join(
        [
            "## Doubt",
            f"A ranking counts as right (axis and sign) when its Spearman with the true shares of "
            f"right answers is above {RIGHT}.",
            "### Shared misconceptions, and what a little knowledge mends",
            "A wrong option attracts the middle; only the ablest get past it. No method can see "
            "that from the answers alone, so doubt must be said, and a known answer must help.",
            _misconceptions(results),
            "How the same data sets come out when `auto` is told something: known answers drawn at "
            "random from the key, or the name of the best user.",
            _anchors(results),
            "### Is the confidence calibrated?",
            "All simulated settings; the real sets; and small parts of these (20 items, up to 40 "
            "users, drawn at random). In a calibrated table the share right is close to the mean "
            "confidence. *By ability* judges by true ability where the setting has one.",
            _reliability(results, {"simulated": list(SETTINGS)}, by_ability=True),
            _reliability(results, {"real": REAL, "parts of real sets": PARTS}),
            _confident_and_wrong(results),
            "### Do the 95 % intervals cover?",
            "Share of users whose true value lies in the interval: expected share correct on the "
            "items answered (from the simulation's own probabilities) in score ± 1.96 standard "
            "errors; true ability in ability ± 1.96 posterior standard deviations (where abilities "
            "are drawn from N(0, 1)); true rank in the rank interval.",
            _intervals(results),
        ]
    )


def _misconceptions(results: Results) -> str:
    rows = []
    for name in MISCONCEPTIONS:
        records = _records(results, "auto", [name])
        sure = {
            right: [r["confidence"] for r in records if _right(r) is right]
            for right in (True, False)
        }
        rows.append(
            [
                name,
                str(len(records)),
                str(len(sure[True])),
                _mean(sure[True]),
                _mean(sure[False]),
                number(max(sure[False], default=None), 2),
                *(
                    number(results.mean(c, name, "accuracy"), 2)
                    for c in ("auto", "majority", "hnd", "dawid-skene")
                ),
            ]
        )
    return table(
        [
            "setting",
            "runs",
            "right",
            "confidence when right",
            "when wrong",
            "highest when wrong",
            "Spearman `auto`",
            "`majority`",
            "`hnd`",
            "`dawid-skene`",
        ],
        rows,
    )


def _anchors(results: Results) -> str:
    rows = []
    for name in MISCONCEPTIONS:
        row = [name, number(results.mean("auto", name, "accuracy"), 2)]
        for contestant in ANCHORED:
            mended, wrong = _mended(results, contestant, [name])
            mean = number(results.mean(contestant, name, "accuracy"), 2)
            row.append(f"{mean} ({mended}/{wrong})" if wrong else mean)
        rows.append(row)
    header = [contestant.removeprefix("auto + ") for contestant in ANCHORED]
    return "Mean Spearman (wrong rankings mended):\n\n" + table(
        ["setting", "nothing", *header], rows
    )


def _reliability(
    results: Results, groups: Mapping[str, list[str]], *, by_ability: bool = False
) -> str:
    """Bins of confidence × groups of data sets: how many, mean confidence, share right."""
    header = ["confidence"]
    for group in groups:
        header += [f"{group}: n", "mean confidence", "share right"]
        header += ["right by ability"] if by_ability else []
    rows = []
    for low, high in pairwise(BINS):
        row = [f"{low:g}–{high:g}"]
        for names in groups.values():
            inside = [
                r
                for r in _records(results, "auto", names)
                if low <= r["confidence"] < high or r["confidence"] == high == BINS[-1]
            ]
            row += [
                str(len(inside)),
                _mean([r["confidence"] for r in inside]),
                _mean([_right(r) for r in inside]),
            ]
            if by_ability:
                row.append(_mean([r["ability"] > RIGHT for r in inside if "ability" in r]))
        rows.append(row)
    return table(header, rows)


def _confident_and_wrong(results: Results) -> str:
    worst = [
        (record["confidence"], record["accuracy"], name, seed)
        for name in [*SETTINGS, *REAL, *PARTS]
        for seed, record in results.records("auto", name).items()
        if record.get("confidence", 0) >= 0.9 and record.get("accuracy", 1) <= RIGHT
    ]
    if not worst:
        return "No ranking with confidence 0.9 or more was wrong."
    listed = "; ".join(
        f"{name} run {seed} (confidence {sure:.2f}, Spearman {value:.2f})"
        for sure, value, name, seed in sorted(worst, reverse=True)[:12]
    )
    return f"Wrong with confidence 0.9 or more ({len(worst)}): {listed}."


def _intervals(results: Results) -> str:
    methods = ("auto", "latent-key")
    rows = []
    for name in SETTINGS:
        row = [name]
        for what in INTERVALS:
            for contestant in methods:
                share, _ = _coverage(results, contestant, [name], what)
                row.append(_percent(share))
        if any(cell != "–" for cell in row[1:]):
            rows.append(row)
    for label, names, right_only in _pools():
        shares = [
            _coverage(results, c, names, what, right_only=right_only)[0]
            for what in INTERVALS
            for c in methods
        ]
        rows.append([f"**{label}**", *map(_percent, shares)])
    header = [f"{what}, `{c}`" for what in INTERVALS.values() for c in methods]
    return table(["setting", *header], rows)


def _pools() -> list[tuple[str, list[str], bool]]:
    """Settings taken together, and whether only where axis and sign are right."""
    return [
        ("tests", TESTS, False),
        ("all settings", list(SETTINGS), False),
        ("tests, axis and sign right", TESTS, True),
        ("all settings, axis and sign right", list(SETTINGS), True),
    ]


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1%}"


def _mean(values: list[Any]) -> str:
    return number(float(np.mean(values)), 2) if values else "–"
