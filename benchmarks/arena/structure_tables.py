"""The page's part on structures: kinds of answer sheets, confidence out of kind, and asking."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.arena.calibration import SURE, Record, judged
from benchmarks.arena.structures import STRUCTURES, UNKNOWABLE
from benchmarks.arena.summary import RIGHT, Results, Verdict, number, table

__all__ = ["ASKED", "BESIDE", "section", "verdicts"]

#: Kinds in which a question should help.
ASKED = ("misconception", "two populations", "runs", "runs and letters", "letters")
#: Of the wrong rankings there, so many should be mended by two answers that were asked for.
MENDED = 0.95
#: Calibration error that is allowed over all kinds, and how many data sets there should be.
ERROR, ENOUGH = 0.05, 1000
#: Whom the default meets.
BESIDE = ("majority", "hnd", "dawid-skene", "dawid-skene/hierarchical")


def verdicts(results: Results, signs: Sequence[Record]) -> list[Verdict]:
    """The targets for structures."""
    return [*_sure(signs), _asking(results, signs)]


def _sure(signs: Sequence[Record]) -> list[Verdict]:
    error = f"Confidence, all kinds: calibration error ≤ {ERROR}"
    nine = (
        f"Confidence ≥ {SURE}, all kinds: right at least 90 % in every kind that answers can tell"
    )
    if not signs:
        return [Verdict(error, "", "not run"), Verdict(nine, "", "not run")]
    found = judged(signs)
    value, few = found["calibration error"], "" if len(signs) >= ENOUGH else " (too few)"
    sure = {k: row for k, row in found["kinds"].items() if row["sure"] and k not in UNKNOWABLE}
    low = [k for k, row in sure.items() if row["sure and right"] < 0.9]
    said = sum(row["sure"] for row in sure.values())
    figure = f"{said} such cases" + (f"; below: {', '.join(low)}" if low else "")
    return [
        Verdict(
            error,
            f"{value:.3f} over {len(signs):,} data sets{few}; Brier score {found['brier']:.3f}",
            "met" if value <= ERROR and not few else "**not met**",
        ),
        Verdict(nine, figure, "**not met**" if low else "met"),
    ]


def _asking(results: Results, signs: Sequence[Record]) -> Verdict:
    target = f"Two asked answers mend ≥ {MENDED:.0%} of the wrong rankings ({', '.join(ASKED)})"
    mended, wrong = _mended(results, signs, "auto + 2 asked answers", ASKED)
    if not wrong:
        return Verdict(target, "", "not run")
    at_random, of = _mended(results, signs, "auto + 2 known answers", ASKED)
    figure = f"{mended} of {wrong} (two at random {at_random} of {of})"
    return Verdict(target, figure, "met" if mended >= MENDED * wrong else "**not met**")


def _mended(
    results: Results, signs: Sequence[Record], contestant: str, kinds: Sequence[str]
) -> tuple[int, int]:
    """How many of the default's wrong rankings came out right with more known, and of how many."""
    mended = wrong = 0
    for each in signs:
        if each["kind"] in kinds and each["rho"] <= RIGHT:
            told = results.values(contestant, f"structure/{each['kind']}", "accuracy")
            if each["seed"] in told:
                wrong += 1
                mended += told[each["seed"]] > RIGHT
    return mended, wrong


def section(results: Results, signs: Sequence[Record]) -> str:
    """All tables on structures."""
    return "\n\n".join(
        [
            "## Structures",
            "Kinds of answer sheets that real data showed, one cause of trouble each; sizes and "
            "strengths differ from run to run (`benchmarks/arena/structures.py`). Mean Spearman "
            f"with the true shares of right answers; *right* is above {RIGHT}.",
            _kinds(results, signs),
            "### What no answers can tell",
            "In some kinds the same table of answers comes about as often from another truth that "
            "ranks people otherwise. The reasons are about how the data are made:",
            "\n".join(f"- **{kind}**: {why}." for kind, why in UNKNOWABLE.items()),
            "### Is the confidence right?",
            "No coefficient was learnt on these kinds (`python -m benchmarks.arena.calibration`).",
            *(_calibration(signs) if signs else ["Not run."]),
            "### Asking",
            "Wrong rankings, ranked again with the right answers of the two items that "
            "`ranking.ask(2)` names, or of two items at random that somebody answered rightly.",
            _asked(results, signs),
        ]
    )


def _kinds(results: Results, signs: Sequence[Record]) -> str:
    rows = []
    for kind in STRUCTURES:
        records = [each for each in signs if each["kind"] == kind]
        if not records:
            continue
        right = [each["rho"] > RIGHT for each in records]
        sure = {
            which: [each["said"] for each, ok in zip(records, right, strict=True) if ok is which]
            for which in (True, False)
        }
        rows.append(
            [
                kind + (" ¹" if kind in UNKNOWABLE else ""),
                str(len(records)),
                _mean([each["rho"] for each in records]),
                *(number(results.mean(c, f"structure/{kind}", "accuracy"), 2) for c in BESIDE),
                _mean([each["key_share"] for each in records]),
                f"{np.mean(right):.0%}",
                _mean(sure[True]),
                _mean(sure[False]),
            ]
        )
    methods = [f"`{c}`" for c in ("auto", *BESIDE)]
    made = table(["kind", "runs", *methods, "key", "right", "confidence", "when wrong"], rows)
    return made + "\n\n¹ No answers can tell; see below."


def _calibration(signs: Sequence[Record]) -> list[str]:
    found = judged(signs)
    kinds = [
        [
            kind + (" ¹" if kind in UNKNOWABLE else ""),
            str(row["runs"]),
            number(row["right"], 2),
            number(row["said"], 2),
            str(row["sure"]),
            number(row["sure and right"], 2),
        ]
        for kind, row in found["kinds"].items()
    ]
    bins = [
        [f"{row['from']:.1f}–{row['from'] + 0.1:.1f}", str(row["n"]), number(row["said"], 2),
         number(row["right"], 2)]
        for row in found["bins"]
    ]  # fmt: skip
    return [
        f"{len(signs):,} data sets; Brier score {found['brier']:.3f}, calibration error "
        f"{found['calibration error']:.3f}.",
        table(
            ["kind", "runs", "right", "said on average", f"said {SURE} or more", "of these right"],
            kinds,
        ),
        table(["said", "n", "mean", "right"], bins),
    ]


def _asked(results: Results, signs: Sequence[Record]) -> str:
    rows = []
    for kind in ASKED:
        row = [kind]
        for contestant in ("auto + 2 asked answers", "auto + 2 known answers"):
            mended, wrong = _mended(results, signs, contestant, [kind])
            row.append(f"{mended} of {wrong}" if wrong else "–")
        rows.append(row)
    return table(["kind", "mended by two asked answers", "by two at random"], rows)


def _mean(values: list[Any]) -> str:
    return number(float(np.mean(values)), 2) if values else "–"
