"""Every figure of the paper: its data, its points and its lines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from hitsndiffs.errors import InputError, did_you_mean
from reproduction.values import paper_values

__all__ = ["FIGURES", "Figure", "choose"]

RANKERS = (
    "hnd",
    "abh",
    "hits",
    "truthfinder",
    "investment",
    "pooled-investment",
    "true-answer",
    "grm",
)
WITHOUT_KEY = RANKERS[:6]
#: Drawn beside them: the text's formula, and the published code's levels.
TEXT, LEVELS = "truthfinder-text", "grm-levels"
SPECTRAL = ("hnd", "abh")
#: The variants that the paper times, with full matrices as in the paper; then the library's.
FULL_MATRICES = ("hnd/power", "hnd/arnoldi", "hnd/deflation", "abh/direct", "abh/power")
TIMED = (
    *FULL_MATRICES,
    "hnd/power-sums",
    "hnd/deflation-sums",
    "hnd/lanczos",
    "abh/power-sums",
    "abh/lanczos",
    "grm",
)
#: Extra panels: what the paper's text says where its code differs, and absolute values as drawn.
PAIRS = "accuracy, each user and item with the probability"
FROM_ONE = "displacement, places counted from 1"
SIGNED = "variance, signs kept"
BETWEEN = "displacement between two runs"
ABSOLUTE = "accuracy, absolute"


@dataclass(frozen=True)
class Figure:
    """What one figure shows.

    Attributes
    ----------
    name
        The key of its stored values, and its name on the command line.
    kind
        How a cell is computed (see :mod:`reproduction.cells`).
    title, x_label
        For the picture.
    x
        The points; each is a cell, run several times.
    panels
        What is measured; each is one panel of the picture.
    methods
        The lines.
    model, varies
        For simulated data: the model, and the argument of ``simulate`` that varies.
    paper_runs
        How many runs the paper averages. ``--runs`` scales this: 10 means as many runs as in the
        paper, for every figure.
    least_runs
        As many runs at least, whatever ``--runs`` says.
    log_x, log_y
        Whether the axes are logarithmic.
    beside
        Another figure whose stored values are the paper's for this one.
    """

    name: str
    kind: str
    title: str
    x: tuple[Any, ...] = ()
    x_label: str = ""
    panels: tuple[str, ...] = ("accuracy",)
    methods: tuple[str, ...] = ()
    model: str = ""
    varies: str = ""
    paper_runs: int = 10
    least_runs: int = 1
    log_x: bool = False
    log_y: bool = False
    beside: str = ""

    def places(self, points: int | None = None) -> list[int]:
        """Indices of the points to run: all, or some spread evenly over the axis."""
        count = len(self.x)
        if points is None or points >= count:
            return list(range(count))
        return sorted({round(i * (count - 1) / max(points - 1, 1)) for i in range(points)})

    def runs(self, runs: int) -> int:
        """How many runs of each cell ``--runs`` means (a deterministic figure has one)."""
        return max(self.least_runs, runs * self.paper_runs // 10) if self.paper_runs > 1 else 1

    @property
    def slug(self) -> str:
        """The name as a file name."""
        return self.name.replace("/", "-")


_MODELS = {"grm": "GRM", "bock": "Bock", "samejima": "Samejima", "c1p": "C1P"}
_VARIES = {
    "items": ("items", "number of items", True),
    "users": ("users", "number of users", True),
    "amax": ("amax", "largest discrimination", True),
    "answer_probability": ("answer_probability", "share of items answered", False),
    "options": ("options", "options per item", False),
    "difficulty": ("bmax", "mean user accuracy (%)", False),
}


def _accuracy(name: str) -> Figure:
    _, model, varied = name.split("/")
    argument, label, log = _VARIES[varied]
    return Figure(
        name=name,
        kind="accuracy",
        title=f"{_MODELS[model]}, varying {'difficulty' if varied == 'difficulty' else label}",
        x=tuple(paper_values()[name]["x"]),
        x_label=label,
        panels=("accuracy", PAIRS) if varied == "answer_probability" else ("accuracy",),
        methods=(*RANKERS, TEXT, *([LEVELS] if model in ("bock", "samejima") else [])),
        model=model,
        varies=argument,
        log_x=log,
    )


def _scalability(side: str) -> Figure:
    name = f"scalability/{side}"
    return Figure(
        name=name,
        kind="scalability",
        title=f"Time against number of {side} (GRM, the other side 100)",
        x=tuple(paper_values()[name]["x"]),
        x_label=f"number of {side}",
        panels=("seconds", "ratio"),
        methods=TIMED,
        model="grm",
        varies=side,
        paper_runs=5,
        log_x=True,
        log_y=True,
    )


def _rounds(side: str) -> Figure:
    """Rounds of ABH-power are heavy-tailed: three times the paper's five data sets."""
    timed = _scalability(side)
    return replace(
        timed,
        name=f"rounds/{side}",
        kind="rounds",
        title=f"Rounds against number of {side} (GRM, the other side 100)",
        panels=("iterations",),
        methods=("hnd/power", "hnd/deflation", "abh/power"),
        least_runs=15,
        beside=timed.name,
    )


def _simulated(name: str, model: str, users: int, title: str) -> Figure:
    return Figure(
        name=name,
        kind="simulated",
        title=title,
        x=(users,),
        methods=(*RANKERS, TEXT),
        model=model,
    )


def _all() -> Iterable[Figure]:
    for name in paper_values():
        if name.startswith("accuracy/"):
            yield _accuracy(name)
    yield _scalability("users")
    yield _scalability("items")
    yield _rounds("users")
    yield _rounds("items")
    yield Figure(
        name="stability",
        kind="stability",
        title="Stability of HnD and ABH (Bock, equally spaced)",
        x=tuple(paper_values()["stability"]["x"]),
        x_label="discrimination",
        panels=("variance", SIGNED, "displacement", FROM_ONE, BETWEEN, "accuracy"),
        methods=SPECTRAL,
        model="bock",
        paper_runs=100,
    )
    yield Figure(
        name="real",
        kind="real",
        title="Six real data sets, against the True-answer ranking",
        x=tuple(name for name in paper_values()["real"]["x"] if name != "mean"),
        panels=("accuracy", ABSOLUTE),
        methods=(*WITHOUT_KEY, TEXT),
        paper_runs=1,
    )
    american = "American Experience test"
    for users in (100, 2692):
        name = f"simulated/american-experience/{users}"
        yield _simulated(name, "american-experience", users, f"{american}, {users} students")
    yield _simulated("simulated/half-moon", "half-moon", 100, "Half-moon items")
    yield Figure(
        name="abh-power/beta",
        kind="beta",
        title="ABH-power: rounds against β",
        x=(1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0),
        x_label="β, as a multiple of the largest entry of D",
        panels=("relative rounds",),
        methods=("abh/power",),
        model="grm",
    )
    for name, title in (
        ("curves/intro", "The introduction's example: three items and four users"),
        ("curves/grm-bock", "GRM is nearly a special case of Bock"),
        ("curves/c1p-limit", "Steep GRM and Bock items answer consistently"),
    ):
        yield Figure(name=name, kind="curves", title=title, panels=())
    yield Figure(
        name="models",
        kind="models",
        title="Which response model is a special case of which (Figure 2)",
        panels=(),
    )
    yield Figure(
        name="tripartite",
        kind="tripartite",
        title="HnD on a graph of three parts (Figure 3)",
        panels=(),
    )
    yield Figure(
        name="example",
        kind="example",
        title="Worked example (Figure 1, answers invented): 4 users, 3 items, 3 options",
        panels=(),
    )


#: Every figure, by name, in the order of the report.
FIGURES: dict[str, Figure] = {figure.name: figure for figure in _all()}


def choose(names: Iterable[str]) -> list[Figure]:
    """Figures by name; ``all`` or a leading part of names (``accuracy/grm``) also works.

    Examples
    --------
    >>> [figure.name for figure in choose(["scalability"])]
    ['scalability/users', 'scalability/items']
    """
    chosen: dict[str, Figure] = {}
    for name in names or ["all"]:
        text = name.strip("/")
        hits = [
            figure
            for key, figure in FIGURES.items()
            if text in ("all", key) or key.startswith(text + "/")
        ]
        if not hits:
            hint = did_you_mean(text, FIGURES)
            raise InputError(
                f"There is no figure {name!r}; see python -m reproduction --list.{hint}"
            )
        chosen.update((figure.name, figure) for figure in hits)
    return [figure for figure in FIGURES.values() if figure.name in chosen]
