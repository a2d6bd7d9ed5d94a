"""Importing this compiles the templates that all work fills, once for all forked workers."""

from __future__ import annotations

from hitsndiffs.show.templating import environment

__all__: list[str] = []

for _name in ("base.html", "parts.html", "report.html", "result.html", "page/comparison.html"):
    environment().get_template(_name)
