"""Templates of the report and the page: one set, everything that comes from data escaped."""

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


@cache
def asset(name: str) -> str:
    """The text of a file beside the templates.

    >>> "font" in asset("style.css")
    True
    """
    return resources.files("hitsndiffs.show").joinpath("templates", name).read_text("utf-8")


@cache
def environment() -> Any:
    """Jinja's environment: strict about names, and escaping whatever is put in."""
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
    """Fill a template; its style and script come along.

    Parameters
    ----------
    template
        Its file name.
    values
        What it needs. ``nonce`` is set on style and script for a page that is served with a
        content security policy; a file gets a policy of its own (:func:`policy`).
    """
    from markupsafe import Markup

    style = palette_css() + asset("style.css")
    given = {
        "style": Markup(style),
        "script": Markup(asset("report.js")),
        "nonce": None,
        "policy": None,
    }
    text: str = environment().get_template(template).render({**given, **values})
    return text


def policy() -> str:
    """What a report may do: run its own script, show its own style, and reach nothing outside."""
    digest = hashlib.sha256(asset("report.js").encode()).digest()
    return (
        "default-src 'none'; style-src 'unsafe-inline'; "
        f"script-src 'sha256-{base64.b64encode(digest).decode()}'; base-uri 'none'; "
        "form-action 'none'"
    )
