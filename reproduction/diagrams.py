"""The paper's two diagrams: how the response models relate, and the graph of HnD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reproduction.drawings import worked_example

__all__ = ["MODELS", "SPECIAL_CASES", "SpecialCase", "draw_models", "draw_tripartite", "graph"]

#: Model → number of free parameters per item (k options), and position in the picture.
MODELS: dict[str, tuple[str, float, float]] = {
    "samejima": ("2k", 1.0, 3.0),
    "3pl": ("3", 3.0, 2.2),
    "bock": ("2(k - 1)", 1.0, 2.0),
    "2pl": ("2", 2.6, 1.0),
    "grm": ("k", 0.0, 1.0),
    "c1p": ("k - 1", 0.0, 0.0),
    "1pl": ("1", 2.2, 0.0),
    "glad": ("1", 3.2, 0.0),
}
LABELS = {"samejima": "Samejima", "bock": "Bock", "glad": "GLAD"}


@dataclass(frozen=True)
class SpecialCase:
    """One arrow of Figure 2: under a condition, one model becomes another.

    Attributes
    ----------
    general, special
        The models.
    condition
        What turns the general model into the special one.
    exact
        Whether it does so exactly; if not, nearly or under further assumptions (dashed).
    """

    general: str
    special: str
    condition: str
    exact: bool = True


SPECIAL_CASES = (
    SpecialCase("samejima", "bock", "β₀ → -∞"),
    SpecialCase("samejima", "3pl", "k = 2, c = 1/k", exact=False),
    SpecialCase("bock", "2pl", "k = 2"),
    SpecialCase("bock", "grm", "αₕ = h·a, nearly", exact=False),
    SpecialCase("3pl", "2pl", "c = 0"),
    SpecialCase("grm", "2pl", "k = 2"),
    SpecialCase("grm", "c1p", "a → ∞"),
    SpecialCase("2pl", "1pl", "a = 1"),
    SpecialCase("2pl", "glad", "b = 0"),
)


def graph() -> dict[str, list[tuple[str, str]]]:
    """The edges between the three parts of the graph of HnD on the worked example.

    Examples
    --------
    >>> edges = graph()
    >>> edges["options"][:2], edges["differences"]
    ([('t-1 A', 'u-1'), ('t-2 A', 'u-1')], [('u-1', 'd1'), ('u-2', 'd1'), ('u-2', 'd2'), ('u-3', 'd2'), ('u-3', 'd3'), ('u-4', 'd3')])
    """  # noqa: E501
    steps = worked_example()
    users = list(steps["answers"])
    options = [
        (column, user)
        for user, row in zip(users, steps["C"], strict=True)
        for column, chosen in zip(steps["columns"], row, strict=True)
        if chosen
    ]
    differences = [
        (users[place], f"d{number}")
        for number in range(1, len(users))
        for place in (number - 1, number)
    ]
    return {"options": options, "differences": differences}


def draw_models(canvas: Any, colours: tuple[str, ...]) -> None:
    """Figure 2: arrows mean "specialises to"; dashed ones hold nearly, or under assumptions."""
    canvas.set_size_inches(7.0, 4.6)
    axes = _bare(canvas)
    for arrow in SPECIAL_CASES:
        (_, x0, y0), (_, x1, y1) = MODELS[arrow.general], MODELS[arrow.special]
        axes.annotate(
            "",
            (x1, y1),
            (x0, y0),
            arrowprops={
                "arrowstyle": "-|>",
                "linestyle": "-" if arrow.exact else "--",
                "color": "#444444",
                "shrinkA": 16,
                "shrinkB": 16,
            },
        )
        leftwards = x1 < x0  # the label stands above the arrow
        axes.text(
            (x0 + x1) / 2 + (-0.06 if leftwards else 0.06),
            (y0 + y1) / 2 + 0.06,
            arrow.condition,
            ha="right" if leftwards else "left",
            fontsize=8,
            color="#333333",
        )
    for name, (free, x, y) in MODELS.items():
        box = {"boxstyle": "round,pad=0.45", "facecolor": "white", "edgecolor": colours[0]}
        axes.text(
            x, y, LABELS.get(name, name.upper()), ha="center", va="center", fontsize=10, bbox=box
        )
        left = x < 1.5  # away from the arrows
        axes.text(
            x - 0.36 if left else x + 0.28,
            y,
            free,
            ha="right" if left else "left",
            va="center",
            fontsize=9,
            color=colours[1],
            weight="bold",
        )
    axes.set_xlim(-0.9, 3.9)
    axes.set_ylim(-0.6, 3.4)
    axes.text(
        -0.85,
        -0.55,
        "coloured: free parameters per item; dashed: nearly, or under assumptions",
        fontsize=8,
    )


def draw_tripartite(canvas: Any, colours: tuple[str, ...]) -> None:
    """Figure 3: option weights, user scores, and differences between neighbouring users."""
    edges = graph()
    users = list(worked_example()["answers"])
    options = list(dict.fromkeys(option for option, _ in sorted(edges["options"])))
    differences = list(dict.fromkeys(name for _, name in edges["differences"]))
    places = {}
    for x, names in ((0.0, options), (1.6, users), (3.0, differences)):
        for number, name in enumerate(names):
            places[name] = (x, 1.0 - (number + 0.5) / len(names))
    canvas.set_size_inches(7.0, 4.2)
    axes = _bare(canvas)
    for part, colour in (("options", colours[0]), ("differences", colours[1])):
        for one, other in edges[part]:
            axes.plot(*zip(places[one], places[other], strict=True), color=colour, linewidth=1)
    for name, (x, y) in places.items():
        shape = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": "#444444"}
        axes.text(x, y, name, ha="center", va="center", fontsize=8, bbox=shape)
    for x, head in ((0.0, "option weights w"), (1.6, "user scores s"), (3.0, "differences")):
        axes.text(x, 1.06, head, ha="center", fontsize=9, weight="bold")
    for x, rule in (
        (0.8, "w ← (C$^{col}$)ᵀ s\ns ← C$^{row}$ w"),
        (2.3, "s$^{diff}$ ← S s\ns ← T s$^{diff}$"),
    ):
        axes.text(x, -0.12, rule, ha="center", fontsize=9)
    axes.set_xlim(-0.4, 3.4)
    axes.set_ylim(-0.2, 1.15)


def _bare(canvas: Any) -> Any:
    axes = canvas.subplots()
    axes.set_axis_off()
    return axes
