"""Work of the page for tests that look at something else: without pictures, or without an end.

The functions stand in for ``hitsndiffs.show.web.worker.work``, in the process of the work. This
module is imported there too, and so imports little.
"""

from __future__ import annotations

import time
from typing import Any

from hitsndiffs.show import theme
from hitsndiffs.show.web import tasks, worker

BLANK = '<svg xmlns="http://www.w3.org/2000/svg"><title>blank</title></svg>'


class Blank:
    """Takes the place of vl-convert, whose start is half the work of a small ranking."""

    @staticmethod
    def vegalite_to_svg(chart: str) -> str:
        return BLANK

    @staticmethod
    def vegalite_to_vega(chart: str) -> dict[str, Any]:
        return {"data": [{"values": []}]}

    vega_to_svg = vegalite_to_svg


def blank(connection: Any, task: dict[str, Any], limits: dict[str, float]) -> None:
    """The usual work, with blank pictures."""
    theme._converter = lambda: Blank
    worker.work(connection, task, limits)


def endless(connection: Any, task: dict[str, Any], limits: dict[str, float]) -> None:
    """Work that goes on until it is stopped, and takes no processor time."""

    def last(*_: object) -> dict[str, Any]:
        time.sleep(600)
        return {}

    tasks.rank_files = tasks.answer = last
    worker.work(connection, task, limits)
