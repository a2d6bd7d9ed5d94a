"""Templates shared by the report and the page; everything that comes from data is escaped."""

from __future__ import annotations

import base64
import datetime
import hashlib
from functools import cache
from importlib import resources
from typing import Any

from hitsndiffs.data.words import count
from hitsndiffs.errors import MissingExtraError
from hitsndiffs.results.cells import text_of
from hitsndiffs.show.answers import clean
from hitsndiffs.show.report_data import stored
from hitsndiffs.show.theme import palette_css

__all__ = ["environment", "policy", "render"]

#: The style and the script of a report: tools, pictures, and what brings the report to life. A page
#: adds its own.
STYLES, SCRIPTS = ("style.css",), ("report/tools.js", "report/pictures.js", "report/report.js")
PAGE_STYLES, PAGE_SCRIPTS = (*STYLES, "page/page.css"), (*SCRIPTS, "page/page.js")


@cache
def _texts(names: tuple[str, ...]) -> str:
    folder = resources.files("hitsndiffs.show") / "templates"
    return "".join(folder.joinpath(name).read_text("utf-8") for name in names)


def _style(page: bool) -> str:
    return palette_css() + _texts(PAGE_STYLES if page else STYLES)


def _script(page: bool) -> str:
    return _texts(PAGE_SCRIPTS if page else SCRIPTS)


@cache
def environment() -> Any:
    """The Jinja environment: undefined names are errors, and all values are escaped."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError(
            "Reports need the package jinja2, which is not installed: "
            "pip install 'hitsndiffs[plots]'."
        ) from None
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("hitsndiffs.show", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["clean"] = clean
    made.globals |= {
        "count": count,
        "share": lambda value: text_of(value, "share").replace(" ", "\u00a0"),
        "stored": stored,
        "today": lambda: f"{datetime.date.today():%d %B %Y}".lstrip("0"),
    }
    return made


def render(template: str, *, page: bool = False, **values: Any) -> str:
    """Fill a template, including style and script.

    A report holds its content security policy; a page is served with it (:func:`policy`).
    """
    from markupsafe import Markup

    text: str = (
        environment()
        .get_template(template)
        .render(
            style=Markup(_style(page)),
            script=Markup(_script(page)),
            policy=None if page else policy(),
            **values,
        )
    )
    return text


@cache
def policy(*, page: bool = False) -> str:
    """The content security policy: its own script and style, and nothing from outside.

    >>> "unsafe" in policy() + policy(page=True)
    False
    """

    def own(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    inside = f"script-src {own(_script(page))}; style-src {own(_style(page))}; base-uri 'none'; "
    if page:
        here = "img-src 'self' data:; connect-src 'self'; form-action 'self'"
        return f"default-src 'none'; {inside}{here}; frame-ancestors 'none'"
    return f"default-src 'none'; {inside}form-action 'none'"
