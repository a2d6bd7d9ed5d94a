"""What every job of the page needs, imported before there is one."""

import polars  # noqa: F401

from hitsndiffs.engines import numpy  # noqa: F401
from hitsndiffs.methods import auto  # noqa: F401
from hitsndiffs.reading import reader  # noqa: F401
from hitsndiffs.results import comparison, ranking  # noqa: F401
from hitsndiffs.show import report  # noqa: F401
from hitsndiffs.show.templating import environment
from hitsndiffs.show.web import jobs, tasks  # noqa: F401

for name in ("page/outcome.html", "report/report.html"):
    environment().get_template(name)
