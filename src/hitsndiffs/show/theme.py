"""How charts look, and how a chart becomes a picture that follows the page's colours.

Charts are made with Vega-Altair in the colours of ``LIGHT``. For a page, vl-convert draws them as
SVG in advance, and every colour becomes a CSS variable of the page. The same picture then suits
light mode, dark mode and print. A page with ten pictures needs no charting script: Vega, Vega-Lite
and Vega-Embed are about 830 kB, the pictures about 10 kB each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any
from xml.etree import ElementTree

from hitsndiffs.errors import MissingExtraError

__all__ = ["DARK", "LIGHT", "SHADES", "altair", "dressed", "palette_css", "to_svg", "to_svgs"]

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

_DROPPED = {"aria-label", "aria-roledescription", "aria-hidden", "role", "font-family", "class"}
_VARIABLES = {value: f"var(--{name})" for name, value in LIGHT.items()}


def altair() -> Any:
    """Return the charting library, or say how to get it."""
    try:
        import altair
    except ImportError:
        raise MissingExtraError(
            "Charts need the package altair, which is not installed: "
            "pip install 'hitsndiffs[plots]'."
        ) from None
    return altair


def dressed(chart: Any) -> Any:
    """Give a finished chart the fonts, lines and colours that all charts share."""
    axis = {
        "labelColor": LIGHT["muted"],
        "titleColor": LIGHT["muted"],
        "gridColor": LIGHT["line"],
        "domainColor": LIGHT["line"],
        "tickColor": LIGHT["line"],
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    }
    text = {"labelColor": LIGHT["muted"], "titleColor": LIGHT["muted"]}
    finished = chart.configure(
        background=LIGHT["surface"],
        padding={"left": 22, "right": 12, "top": 6, "bottom": 8},  # room for wider fonts
        font=FONT,
        axis=axis,
        view={"stroke": None},
        legend={"labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal", **text},
        title={"color": LIGHT["ink"], "fontSize": 14, "fontWeight": 600, "anchor": "start"},
        mark={"aria": False},
    )
    # set the plain way, Altair would store the attribute as a part of the chart
    object.__setattr__(finished, "__class__", _offline(finished.__class__))
    return finished


@cache
def _offline(kind: Any) -> Any:
    """The same class of Altair chart, shown in a notebook as a picture.

    Altair's default renderer loads scripts from a public server. Any other renderer that
    ``altair.renderers.enable`` selects takes precedence.
    """

    def bundle(self: Any, *args: Any, **options: Any) -> Any:
        if altair().renderers.active != "default":
            return kind._repr_mimebundle_(self, *args, **options)
        drawn = _converter().vegalite_to_svg(self.to_json(validate=False))
        return {"image/svg+xml": drawn, "text/plain": f"{kind.__name__}(…)"}

    return type(kind.__name__, (kind,), {"_repr_mimebundle_": bundle, "__doc__": kind.__doc__})


def to_svg(chart: Any, *, label: str) -> str:
    """Draw a chart as an SVG element for a page that defines the palette (:func:`palette_css`).

    Parameters
    ----------
    chart
        An Altair chart, styled by :func:`dressed`.
    label
        What the picture shows, for screen readers.
    """
    return _element(_converter().vegalite_to_svg(chart.to_json(validate=False)), label)


def to_svgs(chart: Any, versions: Sequence[tuple[list[dict[str, Any]], str]]) -> list[str]:
    """Draw one chart with several sets of rows: twice as fast as one by one.

    Parameters
    ----------
    chart
        A chart styled by :func:`dressed`, with one set of rows and no scale that depends on them.
    versions
        The rows and the label of each picture.
    """
    spec = _converter().vegalite_to_vega(chart.to_json(validate=False))
    (source,) = [data for data in spec["data"] if "values" in data]
    found = []
    for rows, label in versions:
        source["values"] = rows
        found.append(_element(_converter().vega_to_svg(spec), label))
    return found


def _converter() -> Any:
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError(
            "Pictures in a report need the package vl-convert-python, which is not installed: "
            "pip install 'hitsndiffs[plots]'."
        ) from None
    return vl_convert


def _element(drawn: str, label: str) -> str:
    root = ElementTree.fromstring(drawn)
    for element in root.iter():
        _tidy(element)
    root.attrib |= {"role": "img", "aria-label": label, "class": "chart"}
    return ElementTree.tostring(root, encoding="unicode")


def _tidy(element: ElementTree.Element) -> None:
    """Drop namespaces, inner roles and empty paths; turn colours into CSS variables."""
    element.tag = element.tag.rpartition("}")[2]
    children = [child for child in element if not _is_nothing(child)]
    element[:] = children
    said = element.get("aria-label")
    if said is not None and element.get("role") == "graphics-symbol" and not children:
        title = ElementTree.SubElement(element, "title")  # shown on hover
        title.text = said
    for name in list(element.attrib):
        if name in _DROPPED:
            del element.attrib[name]
        elif name in ("fill", "stroke"):
            element.set(name, _VARIABLES.get(element.attrib[name], element.attrib[name]))
        elif name in ("transform", "x2", "y2"):
            element.set(name, _rounded(element.attrib[name]))


def _is_nothing(element: ElementTree.Element) -> bool:
    """Whether this is one of the empty paths that Vega adds to its groups."""
    tag = element.tag.rpartition("}")[2]
    return tag == "path" and (element.get("display") == "none" or "v0h0Z" in element.get("d", ""))


def _rounded(numbers: str) -> str:
    """Round coordinates to a tenth of a point."""
    return re.sub(r"\d+\.\d{2,}", lambda found: f"{float(found[0]):.1f}", numbers)


def palette_css() -> str:
    """The colours as CSS variables: dark on screens in dark mode, light otherwise and in print."""

    def variables(colours: dict[str, str]) -> str:
        return "".join(f"--{name}:{value};" for name, value in colours.items())

    return (
        f":root{{color-scheme:light dark;{variables(LIGHT)}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}\n"
    )
