"""A build fails when a page loads something from outside: a script, a font, a picture."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

#: What a browser fetches by itself; ``<a href>`` is for the reader to follow, and not meant.
LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*?\bsrc\s*=\s*["']?(?:https?:)?//[^"'>\s]+"""
    r"""|<link\b(?![^>]*\brel\s*=\s*["']?(?:canonical|author|license))[^>]*?"""
    r"""\bhref\s*=\s*["']?(?:https?:)?//[^"'>\s]+"""
)
STYLE = re.compile(r"""(?:@import\s+|url\(\s*)["']?(?:https?:)?//[^"')\s]+""")


def outside(text: str, *, style: bool = False) -> list[str]:
    """Return what a page (or a style sheet) loads from outside."""
    return [found[0] for found in (STYLE if style else LOADED).finditer(text)]


def check(app: Any, failure: Exception | None) -> None:
    """Look through everything that was built."""
    from sphinx.util import logging

    if failure is not None or app.builder.format != "html":
        return
    log = logging.getLogger(__name__)
    for path in sorted(Path(app.outdir).rglob("*")):
        if path.suffix in (".html", ".css"):
            text = path.read_text(encoding="utf-8", errors="replace")
            for found in outside(text, style=path.suffix == ".css"):
                log.warning("%s loads from outside: %s", path.relative_to(app.outdir), found)


def setup(app: Any) -> dict[str, Any]:
    """Register the check."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
