"""``python -m hitsndiffs``: the command ``hnd`` without its script."""

import sys

from hitsndiffs.cli import main

sys.exit(main())
