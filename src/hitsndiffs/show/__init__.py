"""Charts, the report, and how results show themselves in a notebook."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hitsndiffs.show.charts import plot as plot
    from hitsndiffs.show.charts import plot_comparison as plot_comparison
    from hitsndiffs.show.notebook import notebook_html as notebook_html
    from hitsndiffs.show.report import report_html as report_html
    from hitsndiffs.show.report import write_report as write_report

#: Name → its module, loaded on first use: a notebook needs no charts.
_HERE = {
    "notebook_html": "notebook",
    "plot": "charts",
    "plot_comparison": "charts",
    "report_html": "report",
    "write_report": "report",
}

__all__ = ["notebook_html", "plot", "plot_comparison", "report_html", "write_report"]


def __getattr__(name: str) -> Any:
    if name not in _HERE:
        raise AttributeError(f"module 'hitsndiffs.show' has no attribute {name!r}")
    return getattr(importlib.import_module(f"hitsndiffs.show.{_HERE[name]}"), name)
