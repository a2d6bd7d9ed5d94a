"""Jobs of the page that go on until they are stopped, for tests of stopping them."""

from __future__ import annotations

import time
from typing import Any

from hitsndiffs.show.web.jobs import do


def endless(task: dict[str, Any], *more: Any) -> None:
    """Read as usual, and rank for ever."""
    if task["kind"] == "plan":
        do(task, *more)
    else:
        time.sleep(600)
