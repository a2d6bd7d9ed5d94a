"""Directive ``terminal``: runs commands when the site is built, and shows what they print.

    ```{terminal}
    hnd rank quiz.csv --top 3
    ```

Commands run on a terminal of 80 columns, in the folder of the example files. A command that fails
is a warning, and so an error of the build, unless ``:fails:`` says that it should. ``:lines: 12``
shows the first lines only.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from pseudo_terminal import run_on_terminal
from sphinx.util import logging

LOG = logging.getLogger(__name__)
COLUMNS = 80

#: The progress display, from hiding the cursor to showing it again; colours; other controls.
SPINNER = re.compile(r"\x1b\[\?25l.*?\x1b\[\?25h(\r|\x1b\[[0-9]*[A-K])*", re.DOTALL)
CONTROLS = re.compile(r"\x1b\[[0-9;?]*[a-zA-Z]")


def run(command: str, folder: Path) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its exit code and what it printed."""
    code, text = run_on_terminal(command, columns=COLUMNS, folder=folder)
    return code, CONTROLS.sub("", SPINNER.sub("", text)).strip("\n")


class Terminal(Directive):
    """Commands and what they print."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "fails": directives.flag,
        "lines": directives.positive_int,
    }

    def run(self) -> list[nodes.Node]:
        """Run the commands of the content."""
        config = self.state.document.settings.env.config
        shown = []
        for command in self.content:
            code, text = run(command, Path(config.terminal_folder))
            if bool(code) != ("fails" in self.options):
                LOG.warning("%s: exit code %s\n%s", command, code, text, location=self.get_source())
            lines = text.splitlines()
            most = self.options.get("lines", len(lines))
            shown += [f"$ {command}", *lines[:most], *["…"] * (len(lines) > most)]
        block = nodes.literal_block("\n".join(shown), "\n".join(shown))
        block["language"] = "text"
        block["classes"] = ["terminal"]
        return [block]

    def get_source(self) -> Any:
        """Where the directive stands."""
        return self.state_machine.get_source_and_line(self.lineno)


def setup(app: Any) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("terminal", Terminal)
    app.add_config_value("terminal_folder", "", "env")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
