"""A worker process whose jobs go on until they are stopped, for tests of stopping them."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from hitsndiffs.show.web import tasks, worker


def _endless(*_: Any) -> dict[str, Any]:
    time.sleep(600)
    return {}


if __name__ == "__main__":
    for kind in ("rank", "api"):
        tasks.KINDS[kind] = replace(tasks.KINDS[kind], work=_endless)
    worker.main()
