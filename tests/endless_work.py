"""A helper of the page whose rankings go on until they are stopped, for tests of stopping them."""

from __future__ import annotations

import time
from dataclasses import replace

from hitsndiffs.show.web.jobs import main
from hitsndiffs.show.web.tasks import KINDS

if __name__ == "__main__":
    main(
        {
            name: kind if name == "plan" else replace(kind, work=lambda *_: time.sleep(600))
            for name, kind in KINDS.items()
        }
    )
