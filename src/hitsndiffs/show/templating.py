"""Templates shared by the report and the page; everything that comes from data is escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Any

from hitsndiffs.errors import MissingExtraError
from hitsndiffs.results.wording import per_cent
from hitsndiffs.show.theme import palette_css

__all__ = ["asset", "environment", "policy", "render"]

#: The script of a report: tools, pictures, and what brings the report to life.
SCRIPTS = ("report/tools.js", "report/pictures.js", "report/report.js")


@cache
def asset(name: str) -> str:
    """The text of a file in the folder of the templates.

    >>> "font" in asset("style.css")
    True
    """
    return resources.files("hitsndiffs.show").joinpath("templates", name).read_text("utf-8")


def _script() -> str:
    return "".join(map(asset, SCRIPTS))


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
    made.globals["per_cent"] = lambda share: "–" if share is None else per_cent(share)
    return made


def render(template: str, **values: Any) -> str:
    """Fill a template, including style and script.

    A page served with a content security policy needs a ``nonce``, which is set on style and
    script; a file contains its policy (:func:`policy`).
    """
    from markupsafe import Markup

    style = palette_css() + asset("style.css")
    given = {
        "style": Markup(style),
        "script": Markup(_script()),
        "nonce": None,
        "policy": None,
    }
    text: str = environment().get_template(template).render({**given, **values})
    return text


def policy() -> str:
    """The content security policy of a report: its own script and style, nothing from outside."""
    digest = hashlib.sha256(_script().encode()).digest()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{base64.b64encode(digest).decode()}'; base-uri 'none'; "
        "form-action 'none'"
    )
