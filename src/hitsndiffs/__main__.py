"""``python -m hitsndiffs``: the ``hnd`` command without its script."""

import sys

from hitsndiffs.cli import main

sys.exit(main())
