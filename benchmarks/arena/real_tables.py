"""The page's part on real data: Spearman, gaps, keys, confidence, time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.arena.measuring import CONTESTANTS
from benchmarks.arena.peers import PEERS
from benchmarks.arena.real import ALL, ASIDE, DEVELOP, MORE, OTHERS, PAPER
from benchmarks.arena.summary import SIMPLE, TOLD, Results, Verdict, at_least, number, table

__all__ = ["section", "verdicts"]

FIRST = (*PAPER, *OTHERS)
#: Heads of the columns for the two halves, and both.
HALVES = ("first half", "second half", "all")
#: No set may be further below the best simple rival than this.
WORST_GAP = -0.03
#: A wrong ranking (Spearman below the first) must come with a confidence below the second.
WRONG, UNSURE = 0.3, 0.6
ASKED = "auto + 2 asked answers"
#: Whom the peers stand beside.
BESIDE = tuple(c for c in CONTESTANTS if c in ("auto", "majority") or c.startswith("dawid-skene"))


def verdicts(results: Results) -> list[Verdict]:
    """The targets for real data."""
    gaps = {name: _gap(results, name)[0] for name in FIRST}
    worst = min(gaps, key=lambda name: (np.isnan(gaps[name]), gaps[name]))
    majority = number(results.mean("majority", _names(FIRST), "key_share"))
    hnd = number(results.mean("hnd", _names(PAPER), "accuracy"))
    return [
        at_least(
            "The paper's six: mean Spearman of `auto` ≥ 0.885",
            results.mean("auto", _names(PAPER), "accuracy"),
            0.885,
            f" (HnD {hnd})",
        ),
        at_least(
            "The other ten: mean Spearman of `auto` ≥ 0.96",
            results.mean("auto", _names(OTHERS), "accuracy"),
            0.96,
        ),
        at_least(
            "Twelve more, mostly two shared labels: mean Spearman of `auto` ≥ 0.82",
            results.mean("auto", _names(MORE), "accuracy"),
            0.82,
            _where_it_applies(results, "dawid-skene/hierarchical", MORE),
        ),
        _no_confident_error(results),
        at_least(
            f"No set more than {-WORST_GAP} below the best of {', '.join(SIMPLE)}",
            gaps[worst],
            WORST_GAP,
            f" ({worst})",
        ),
        at_least(
            "Share of the key that `auto` recovers ≥ 0.86, mean of the first sixteen",
            results.mean("auto", _names(FIRST), "key_share"),
            0.86,
            f" (majority {majority})",
        ),
    ]


def _no_confident_error(results: Results) -> Verdict:
    target = f"Real sets: Spearman below {WRONG} only where confidence is below {UNSURE}"
    records = {
        name: record
        for name in ALL
        for record in results.records("auto", f"real/{name}").values()
        if "accuracy" in record
    }
    if not records:
        return Verdict(target, "", "not run")
    wrong = {name: r["confidence"] for name, r in records.items() if r["accuracy"] < WRONG}
    said = ", ".join(f"{name} at {sure:.2f}" for name, sure in wrong.items()) or "none wrong"
    met = all(sure < UNSURE for sure in wrong.values())
    return Verdict(target, f"{said} ({len(records)} sets)", "met" if met else "**not met**")


def section(results: Results) -> str:
    """All tables on real data."""
    return "\n\n".join(
        [
            "## Real data",
            "Spearman's correlation of each method's ranking with the users' true shares of right "
            "answers. `true-answer` and `grm` are told the key; all others see the answers only.",
            "### The six sets of the paper",
            _spearman(results, PAPER),
            "### Ten further sets",
            _spearman(results, OTHERS),
            "### Twelve more sets",
            "Most have two labels that all items share (true or false, yes or no).",
            _spearman(results, MORE),
            "### Both halves of the first sixteen",
            "First half: "
            + ", ".join(DEVELOP)
            + ". Second half: "
            + ", ".join(ASIDE)
            + ". The second is there to be looked at rarely; but for version 0.1.0 all sixteen "
            "were looked at while the methods were written, so neither is a clean test.",
            _halves(results),
            "### `auto` set by set",
            "The gap is to the best of the four simple rivals; *taken* is the method that `auto` "
            "took; *after two* is with the right answers of the two items that it asks for; time "
            "is processor time on one core.",
            _by_set(results),
            "### Peers",
            "Published rivals: crowd-kit's models for labels that all items share, and triplet "
            "ranking of language models (Dhurandhar et al., Findings of the ACL 2024), in which "
            "every model judges the others by how far they agree with it; it finds no key. Greedy "
            "triplets depend on the order in which the models come: one random order is shown. "
            "First Spearman, then the share of the key.",
            _beside_peers(results, "accuracy"),
            _beside_peers(results, "key_share"),
            _left_out(results),
        ]
    )


def _names(sets: Sequence[str]) -> list[str]:
    return [f"real/{name}" for name in sets]


def _where_it_applies(results: Results, rival: str, sets: Sequence[str]) -> str:
    """Both means over the sets that the rival can rank (some models need shared labels)."""
    here = [d for d in _names(sets) if not np.isnan(results.mean(rival, d, "accuracy"))]
    if not here:
        return ""
    theirs, ours = (number(results.mean(c, here, "accuracy")) for c in (rival, "auto"))
    part = f"on the {len(here)} sets that" if len(here) < len(sets) else "where"
    return f" ({part} `{rival}` can rank: {ours}, it {theirs})"


def _gap(results: Results, name: str) -> tuple[float, str | None]:
    """How far the default is above the best simple rival, and which that is."""
    data = f"real/{name}"
    rival = results.best(SIMPLE, data, "accuracy")
    if rival is None:
        return float("nan"), None
    here, there = (results.mean(c, data, "accuracy") for c in ("auto", rival))
    return here - there, rival


def _spearman(results: Results, sets: Sequence[str]) -> str:
    def row(contestant: str) -> list[str]:
        values = [results.mean(contestant, data, "accuracy") for data in _names(sets)]
        known = [v for v in values if not np.isnan(v)]
        mean = number(float(np.mean(known))) if known else "–"
        part = "" if len(known) in (0, len(values)) else f" ({len(known)} sets)"
        return [f"`{contestant}`", *map(number, values), f"{mean}{part}"]

    rows = [row(contestant) for contestant in CONTESTANTS if contestant != "true-answer"]
    return table(["method", *sets, "mean"], rows)


def _halves(results: Results) -> str:
    halves = [_names(sets) for sets in (DEVELOP, ASIDE, FIRST)]
    rows = []
    for contestant in CONTESTANTS:
        if contestant in TOLD:
            continue
        spearman = [results.mean(contestant, half, "accuracy") for half in halves]
        keys = [results.mean(contestant, half, "key_share") for half in halves]
        rows.append([f"`{contestant}`", *map(number, spearman), *map(number, keys)])
    header = [f"{what}, {sets}" for what in ("Spearman", "key") for sets in HALVES]
    return table(["method", *header], rows)


def _by_set(results: Results) -> str:
    rows = []
    for name in ALL:
        data = f"real/{name}"
        gap, rival = _gap(results, name)
        record = next(iter(results.records("auto", data).values()), {})
        rows.append(
            [
                name,
                number(record.get("accuracy")),
                f"{rival} {number(results.mean(rival, data, 'accuracy'))}" if rival else "–",
                f"{gap:+.3f}" if gap == gap else "–",
                number(record.get("key_share"), 2),
                number(results.mean("majority", data, "key_share"), 2),
                number(record.get("confidence"), 2),
                number(results.mean(ASKED, data, "accuracy"), 2),
                str(record.get("chosen", "–")),
                number(record.get("seconds"), 1),
            ]
        )
    return table(
        [
            "set",
            "`auto`",
            "best simple rival",
            "gap",
            "key",
            "majority's key",
            "confidence",
            "after two",
            "taken",
            "seconds",
        ],
        rows,
    )


def _beside_peers(results: Results, figure: str) -> str:
    shown = (*BESIDE, *PEERS)
    rows = [
        [name, *(number(results.mean(c, f"real/{name}", figure), 2) for c in shown)] for name in ALL
    ]
    return table(["set", *(f"`{c}`" for c in BESIDE), *PEERS], rows)


def _left_out(results: Results) -> str:
    """Why there is a dash: peer and reason, with the sets."""
    reasons: dict[str, list[str]] = {}
    for peer in PEERS:
        for name in ALL:
            for record in results.records(peer, f"real/{name}").values():
                if "error" in record:
                    reasons.setdefault(f"{peer}, {record['error']}", []).append(name)
    lines = [f"- {reason}: {', '.join(sets)}" for reason, sets in reasons.items()]
    return "\n".join(["Left out (a dash above):", "", *(lines or ["- none"])])
