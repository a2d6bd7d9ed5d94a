"""How charts look: the colours of all of them, and of the report and the page."""

from __future__ import annotations

from functools import cache
from typing import Any

from hitsndiffs.errors import MissingExtraError

__all__ = ["DARK", "LIGHT", "SHADES", "library", "palette_css", "shown_offline"]

#: Colours by role. Blue and orange stay distinct for colour-blind readers, and in greyscale.
LIGHT = {
    "ink": "#1c2430",
    "muted": "#5a6575",
    "line": "#dde2e9",
    "surface": "#ffffff",
    "page": "#f5f7f9",
    "accent": "#1f5fa8",
    "accent-soft": "#a9c8ea",
    "warn": "#b34a00",
    "warn-soft": "#f3c29b",
    "blank": "#eceff3",
    "quiet": "#8b95a3",
    "step-1": "#e9eff7",
    "step-2": "#bfd5ec",
    "step-3": "#86b0db",
    "step-4": "#4a86c2",
    "step-5": "#1a4f8c",
}
DARK = {
    "ink": "#e8ecf2",
    "muted": "#a5b0bf",
    "line": "#343d49",
    "surface": "#1a2029",
    "page": "#12161d",
    "accent": "#7db4f2",
    "accent-soft": "#31557f",
    "warn": "#f5a15c",
    "warn-soft": "#7a4a22",
    "blank": "#262e39",
    "quiet": "#7b8696",
    "step-1": "#212a36",
    "step-2": "#294564",
    "step-3": "#3a6799",
    "step-4": "#5b93d0",
    "step-5": "#a8d0fb",
}
#: Five steps, from low to high.
SHADES = [f"step-{number}" for number in range(1, 6)]

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"

_TEXT = {
    "labelColor": LIGHT["muted"],
    "titleColor": LIGHT["muted"],
    "labelFontSize": 12,
    "titleFontSize": 12,
    "titleFontWeight": "normal",
}
#: The fonts, lines and colours that all charts share, as arguments of Altair's ``configure``.
CONFIG = {
    "background": LIGHT["surface"],
    "padding": {"left": 22, "right": 12, "top": 6, "bottom": 8},  # room for wider fonts
    "font": FONT,
    "axis": {
        **_TEXT,
        **dict.fromkeys(("gridColor", "domainColor", "tickColor"), LIGHT["line"]),
        "titlePadding": 8,
        "labelFlush": False,  # a label is below its tick, also at the ends
    },
    "legend": _TEXT,
    "view": {"stroke": None},
    "title": {"color": LIGHT["ink"], "fontSize": 14, "fontWeight": 600, "anchor": "start"},
    "mark": {"aria": False},
}


def library() -> Any:
    """Vega-Altair, imported when it is needed."""
    try:
        import altair
    except ImportError:
        raise MissingExtraError(
            "Charts need the package altair, which is not installed: "
            "pip install 'hitsndiffs[plots]'."
        ) from None
    return altair


def shown_offline(chart: Any) -> Any:
    """The chart in the house's style, shown in a notebook as a picture."""
    made = chart.configure(**CONFIG)
    # set the plain way, Altair would store the attribute as a part of the chart
    object.__setattr__(made, "__class__", _offline(made.__class__))
    return made


@cache
def _offline(kind: Any) -> Any:
    """The same class of Altair chart, shown in a notebook as a picture.

    Altair's default renderer loads scripts from a public server. Any other renderer that
    ``altair.renderers.enable`` selects takes precedence.
    """
    from altair import renderers

    def bundle(self: Any, *args: Any, **options: Any) -> Any:
        if renderers.active != "default":
            return kind._repr_mimebundle_(self, *args, **options)
        drawn = _converter().vegalite_to_svg(self.to_json(validate=False))
        return {"image/svg+xml": drawn, "text/plain": f"{kind.__name__}(…)"}

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": bundle, "__doc__": kind.__doc__})


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError(
            "Charts in a notebook need the package vl-convert-python, which is not installed: "
            "pip install 'hitsndiffs[plots]'."
        ) from None
    return vl_convert


def palette_css() -> str:
    """The colours as CSS variables: dark on screens in dark mode, light otherwise and in print."""

    def variables(colours: dict[str, str]) -> str:
        return "".join(f"--{name}:{value};" for name, value in colours.items())

    return (
        f":root{{color-scheme:light dark;{variables(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}\n"
    )
