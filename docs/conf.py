"""The documentation site: ``make docs`` builds it into site/, with warnings as errors.

Every example is run when the site is built: Python by MyST-NB, commands by the directive
``terminal``. Both run in a folder of example files that ``example_files.py`` makes for the build.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE)]

import example_files  # noqa: E402

import hitsndiffs  # noqa: E402

#: Where the examples run; removed in the end.
PLACE = Path(tempfile.mkdtemp(prefix="hitsndiffs-docs-"))

project = "hitsndiffs"
author = "The hitsndiffs developers"
project_copyright = "The hitsndiffs developers, Apache-2.0"
version = release = hitsndiffs.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "terminal",
    "self_contained",
]
exclude_patterns = ["_build", "_ext", "images"]

# -- text and examples ------------------------------------------------------------------------

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
nb_execution_mode = "force"
nb_execution_cache_path = str(PLACE / "cache")
nb_execution_timeout = 180
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

# -- the library's own names ------------------------------------------------------------------

autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False

# -- looks: nothing is loaded from outside (the theme brings its icons; fonts are the system's) --

html_theme = "pydata_sphinx_theme"
html_title = "hitsndiffs"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars: dict[str, list[str]] = {"index": []}


def prepare(app: Any) -> None:
    """Make the example files, a program ``hnd``, and settings for the kernels of the examples."""
    files, program = PLACE / "files", PLACE / "bin" / "hnd"
    profile = PLACE / "ipython" / "profile_default"
    for folder in (files, program.parent, profile / "startup"):
        folder.mkdir(parents=True)
    example_files.make_all(files)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hitsndiffs "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    start = [
        "import os, altair",
        f"os.chdir({str(files)!r})",
        'altair.renderers.enable("svg")',
        "del os, altair",
    ]
    (profile / "startup" / "examples.py").write_text("\n".join(start) + "\n", encoding="utf-8")
    quiet = "get_config().Application.log_level = 'ERROR'\n"
    (profile / "ipython_kernel_config.py").write_text(quiet, encoding="utf-8")
    os.environ["IPYTHONDIR"] = str(PLACE / "ipython")
    os.environ["HITSNDIFFS_PROGRESS"] = "off"
    os.environ["PATH"] = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    app.config.terminal_folder = str(files)


def clean_up(app: Any, _: Exception | None) -> None:
    """Remove what the examples needed, and the notebooks that MyST-NB leaves beside the site."""
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.rmtree(Path(app.outdir).parent / "jupyter_execute", ignore_errors=True)


def may_be_missing(record: logging.LogRecord) -> bool:
    """Let a pattern in a list of pages name one that another command has not written yet."""
    return "toctree glob pattern" not in str(record.msg)


def setup(app: Any) -> None:
    """Prepare the examples before the build, and remove them after it."""
    logging.getLogger("sphinx.sphinx.directives.other").addFilter(may_be_missing)
    app.connect("builder-inited", prepare)
    app.connect("build-finished", clean_up)
