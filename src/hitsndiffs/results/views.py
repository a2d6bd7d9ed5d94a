"""What a ranking can be turned into for the eye."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hitsndiffs.data.views import Viewed, view

__all__ = ["RankingViews"]


class RankingViews(Viewed):
    """Charts and the report of a ranking (:class:`hitsndiffs.Ranking` has these methods)."""

    def plot(self, name: str = "ranking", **options: Any) -> Any:
        """Draw the ranking, and return the chart (a Vega-Altair chart).

        Parameters
        ----------
        name
            ``"ranking"``: users with their intervals (``users=`` draws some only).
            ``"answers"``: right, wrong and missing answers, sorted by the result
            (``as_read=True``: in the order of the data).
            ``"items"``: items by difficulty and discrimination (``key=`` marks wrong keys).
            ``"options"``: who chose which option of one item (``item=``, ``key=``).
            ``"axes"``: users on the two strongest axes of the answers.
            ``"copies"``: users who agree more than ability explains.
        **options
            Of the chart, as named above.

        Examples
        --------
        >>> import hitsndiffs as hnd
        >>> ranking = hnd.rank([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
        >>> type(ranking.plot()).__name__
        'LayerChart'
        """
        return view("plot")(self, name, **options)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        key: Mapping[Any, Any] | None = None,
        file: str | os.PathLike[str] | None = None,
        command: str | None = None,
        reading: Sequence[tuple[str, str]] = (),
    ) -> Path:
        """Write all there is to say about the ranking as one HTML file that needs nothing else.

        Parameters
        ----------
        path
            The file to write; it appears when it is complete.
        key
            An answer key to hold against the answers (item → option): items that look mis-keyed
            come first.
        file
            Where the answers came from; its name and its hash are put in.
        command
            What repeats the result on a command line, put in as well.
        reading
            How the file was read: what, and in which words.

        Examples
        --------
        >>> import hitsndiffs as hnd, pathlib, tempfile
        >>> ranking = hnd.rank([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ranking.report(pathlib.Path(folder) / "report.html").name
        'report.html'
        """
        written: Path = view("write_report")(
            self, path, key=key, file=file, command=command, reading=reading
        )
        return written
