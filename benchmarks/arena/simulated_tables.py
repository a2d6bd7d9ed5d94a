"""The page's part on simulated data: each cause of trouble, and whether it is mended."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from benchmarks.arena.measuring import CONTESTANTS
from benchmarks.arena.settings import SETTINGS, kind
from benchmarks.arena.summary import (
    RIVALS,
    TOLD,
    Difference,
    Results,
    Verdict,
    no_worse,
    number,
    table,
)

__all__ = ["section", "verdicts"]

#: A difference this small against plain HnD does not count.
ALLOWED = 0.003
#: What long tails and missing blocks must gain on plain HnD.
GAIN = 0.4


def settings_of(*kinds: str) -> list[str]:
    """The settings of some kinds."""
    return [name for name in SETTINGS if kind(name) in kinds]


PAPER = [name for name in settings_of("paper") if name != "paper/c1p"]
SMALL = [name for name in PAPER if name.endswith(" 25")]
THIN = settings_of("long tail", "blocks")
CROWDED = settings_of("copies", "biased")


def verdicts(results: Results) -> list[Verdict]:
    """The targets for simulated data."""

    def against(contestant: str, rival: str, names: list[str]) -> Mapping[str, Difference]:
        return {n: results.difference(contestant, rival, n, "ability") for n in names}

    found = []
    for name in ("auto", "hnd-robust"):
        found.append(
            no_worse(
                f"The paper's settings, by ability: `{name}` not below HnD by more than {ALLOWED}",
                against(name, "hnd", PAPER),
                allowed=ALLOWED,
            )
        )
        found.append(
            no_worse(
                f"25 users or items: `{name}` above HnD",
                against(name, "hnd", SMALL),
                better=True,
            )
        )
    found.append(_certified(results))
    gains = {
        n: Difference(d.mean - GAIN, d.error, d.n) for n, d in against("auto", "hnd", THIN).items()
    }
    found.append(
        no_worse(f"Long tail and blocks: `auto` ≥ {GAIN} above HnD (figure: beyond that)", gains)
    )
    found.append(
        no_worse(
            "Long tail and blocks: `auto` at or above counting right answers with the true key",
            against("auto", "true-answer", THIN),
        )
    )
    found.append(
        no_worse(
            "Copies and biased workers: `auto` at or above the best rival",
            {n: _against_best(results, n)[0] for n in CROWDED},
        )
    )
    return found


def _certified(results: Results) -> Verdict:
    target = "Consistent (C1P) data: certified, and as exact as HnD"
    records = results.records("auto", "paper/c1p")
    if not records:
        return Verdict(target, "", "not run")
    certified = sum(bool(record.get("consistent")) for record in records.values())
    gap = results.difference("auto", "hnd", "paper/c1p", "ability")
    mean = number(results.mean("auto", "paper/c1p", "ability"))
    met = certified == len(records) and abs(gap.mean) < 1e-9
    return Verdict(
        target,
        f"{certified} of {len(records)} certified, Spearman with ability {mean}",
        "met" if met else "**not met**",
    )


def _against_best(results: Results, setting: str) -> tuple[Difference, str]:
    """The default minus the rival with the highest mean, by the true shares of right answers."""
    rival = results.best(RIVALS, setting, "accuracy")
    if rival is None:
        return Difference(np.nan, np.nan, 0), "–"
    return results.difference("auto", rival, setting, "accuracy"), rival


def section(results: Results) -> str:
    """All tables on simulated data."""
    return "\n\n".join(
        [
            "## Simulated data",
            "Differences are means over pairs (the same data set, two methods) with their standard "
            "error.",
            "### The paper's settings, against true ability",
            _against_hnd(results),
            "### Long tail and missing by design, against true ability",
            "Long tail: 300 users with 10 answers in the median. Blocks: every user answers two of "
            "four neighbouring blocks of items.",
            _thin(results),
            "### Copies and biased workers, against true shares of right answers",
            "Copies: a third of the users are near-copies of three sources; or each of 20 users is "
            "there 30 times, with noise. Biased: every worker leans to one of two labels.",
            _crowded(results),
            "### All methods, all settings",
            "Spearman with the users' true shares of right answers (what `rank` gives unless told "
            "otherwise), mean over the runs.",
            _everything(results),
            "Processor seconds per run, mean over the runs:",
            _times(results),
        ]
    )


def _against_hnd(results: Results) -> str:
    rows = []
    for name in settings_of("paper"):
        auto, robust = (
            results.difference(c, "hnd", name, "ability") for c in ("auto", "hnd-robust")
        )
        rows.append(
            [
                name.removeprefix("paper/"),
                str(auto.n),
                *(number(results.mean(c, name, "ability")) for c in ("hnd", "auto", "hnd-robust")),
                str(auto) if auto.n else "–",
                str(robust) if robust.n else "–",
                number(results.mean("true-answer", name, "ability")),
            ]
        )
    return table(
        [
            "setting",
            "runs",
            "`hnd`",
            "`auto`",
            "`hnd-robust`",
            "`auto` − `hnd`",
            "`hnd-robust` − `hnd`",
            "`true-answer`",
        ],
        rows,
    )


def _thin(results: Results) -> str:
    rows = []
    for name in THIN:
        gain = results.difference("auto", "hnd", name, "ability")
        lead = results.difference("auto", "true-answer", name, "ability")
        rows.append(
            [
                name,
                *(
                    number(results.mean(c, name, "ability"))
                    for c in ("hnd", "auto", "hnd-robust", "true-answer", "grm")
                ),
                str(gain) if gain.n else "–",
                str(lead) if lead.n else "–",
            ]
        )
    names = [f"`{c}`" for c in ("hnd", "auto", "hnd-robust", "true-answer", "grm")]
    return table(["setting", *names, "`auto` − `hnd`", "`auto` − `true-answer`"], rows)


def _crowded(results: Results) -> str:
    rows = []
    for name in CROWDED:
        lead, rival = _against_best(results, name)
        taken = [r.get("chosen", "–") for r in results.records("auto", name).values()]
        common = max(sorted(set(taken)), key=taken.count) if taken else "–"
        rows.append(
            [
                name,
                number(results.mean("auto", name, "accuracy")),
                f"{rival} {number(results.mean(rival, name, 'accuracy'))}",
                str(lead) if lead.n else "–",
                number(results.mean("auto", name, "key_share"), 2),
                number(results.mean("majority", name, "key_share"), 2),
                common,
            ]
        )
    return table(
        ["setting", "`auto`", "best rival", "difference", "key", "majority's key", "mostly taken"],
        rows,
    )


def _everything(results: Results) -> str:
    shown = [c for c in CONTESTANTS if c not in TOLD]
    rows = [
        [name, *(number(results.mean(c, name, "accuracy"), 2) for c in shown)]
        for name in SETTINGS
        if results.records("auto", name)
    ]
    return table(["setting", *(f"`{c}`" for c in shown)], rows)


def _times(results: Results) -> str:
    kinds = list(dict.fromkeys(kind(name) for name in SETTINGS))
    rows = []
    for which in kinds:
        names = [n for n in settings_of(which) if results.records("auto", n)]
        if names:
            rows.append([which, *(number(results.mean(c, names, "seconds")) for c in CONTESTANTS)])
    return table(["settings", *(f"`{c}`" for c in CONTESTANTS)], rows)
