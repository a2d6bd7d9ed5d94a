"""What can be made of a ranking: charts, a report, a file, scores of newcomers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hitsndiffs.data.display import Viewed, view
from hitsndiffs.methods.inputs import as_responses

if TYPE_CHECKING:
    from hitsndiffs.results.placing import Placement

__all__ = ["RankingViews"]


class RankingViews(Viewed):
    """What can be made of a ranking (:class:`hitsndiffs.Ranking` has these methods)."""

    def plot(self, name: str = "ranking", **options: Any) -> Any:
        """Draw the ranking, and return the chart (a Vega-Altair chart).

        Parameters
        ----------
        name
            ``"ranking"``: users with their intervals (``users=`` draws only some).
            ``"scores"``: the scores of the users beside the difficulty of the items.
            ``"answers"``: right, wrong and missing answers, sorted by the result
            (``as_read=True``: in the order of the data).
            ``"items"``: items by difficulty and discrimination (``key=`` marks wrong keys).
            ``"options"``: who chose which option of one item (``item=``, ``key=``).
            ``"axes"``: users on the two strongest axes of the answers.
            ``"copies"``: users who agree more than ability explains.
        **options
            Options of the chart, as named above.

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
        """Write everything about the ranking to one self-contained HTML file.

        Parameters
        ----------
        path
            The file to write; it appears once it is complete.
        key
            An answer key to compare with the answers (item → option): items that look mis-keyed
            come first.
        file
            Where the answers came from; the report shows its name and hash.
        command
            The command line that repeats the result, shown in the report.
        reading
            How the file was read: pairs of a topic and its description.

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

    def save(self, path: str | Path) -> None:
        """Write the ranking and its answers to a file that :func:`hitsndiffs.load` reads."""
        from hitsndiffs.results.saving import save

        save(self, path)  # type: ignore[arg-type]

    def score(self, newcomers: Any) -> Placement:
        """Place newcomers by the fitted items and key, without a new fit.

        Parameters
        ----------
        newcomers
            :class:`~hitsndiffs.Responses`, or any table that :func:`hitsndiffs.rank` takes. Items
            that the ranking does not know are left out and unknown options count as wrong, with a
            note.
        """
        from hitsndiffs.results.placing import place

        return place(self, as_responses(newcomers))  # type: ignore[arg-type]
