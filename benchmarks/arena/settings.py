"""Simulated settings of the arena: what goes wrong in real data, one cause at a time.

The word before the first stroke says what a setting is for: ``paper`` (the paper's own), ``long
tail``, ``blocks`` (missing by design), ``copies``, ``biased``, ``misconception``, ``test``
(ordinary tests, small to large) and ``hard`` (where a ranking without a key can go wrong, so that
confidence can be judged).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.arena import cases
from benchmarks.arena.cases import Case

__all__ = ["SETTINGS", "Case", "kind"]

GRADED = ("grm", "bock", "samejima")


def kind(setting: str) -> str:
    """What a setting is for: the word before the first stroke."""
    return setting.partition("/")[0]


#: Name → how to make one data set of it from a seed.
SETTINGS: Mapping[str, Callable[[int], Case]] = {
    **{
        f"paper/{model}": partial(cases.from_model, model)
        for model in (*GRADED, "c1p", "half-moon", "american-experience")
    },
    **{
        f"paper/{model}/{what} {n:g}": partial(cases.from_model, model, **{what: n})  # type: ignore[arg-type]
        for model in GRADED
        for what, n in (("users", 25), ("items", 25), ("amax", 2.5), ("bmax", 1))
    },
    **{
        f"long tail/{model}": partial(cases.from_model, model, users=300, answers_per_user=10)
        for model in GRADED
    },
    **{
        f"blocks/{model}": partial(cases.from_model, model, users=200, blocks=4) for model in GRADED
    },
    "copies/few sources": cases.copies,
    "copies/repeated runs": cases.repeated,
    "biased/dense": partial(cases.biased, users=40, items=200, per_item=None),
    "biased/sparse": partial(cases.biased, users=100, items=500, per_item=6),
    **{
        f"misconception/{share:.0%} of items": partial(cases.misconception, share=share)
        for share in (0.3, 0.6, 0.9)
    },
    **{
        f"test/{users} users × {items} items": partial(cases.exam, users=users, items=items)
        for users, items in ((10, 10), (20, 10), (50, 20), (200, 40), (500, 60))
    },
    "test/200 users × 40 items, a third answered": partial(
        cases.exam, users=200, items=40, answered=1 / 3
    ),
    **{
        f"hard/{model}/bmax {bmax}": partial(cases.from_model, model, bmax=bmax)
        for model in GRADED
        for bmax in (1.25, 1.5)
    },
    "hard/misconception, few know": partial(cases.misconception, share=0.9, hard=1.2),
    "hard/misconception, small": partial(cases.misconception, users=40, items=15, share=0.7),
    "hard/test/10 users × 6 items": partial(cases.exam, users=10, items=6),
    "hard/test/15 users × 15 items of 2 options": partial(
        cases.exam, users=15, items=15, options=2
    ),
}
