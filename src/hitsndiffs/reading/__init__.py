"""Read files into :class:`hitsndiffs.Responses`, and answer keys into dictionaries.

The way of a file: its bytes become a document (``files/``). If a format knows it (``exports/``), it
is read as a stream of answers (``streams``). Otherwise it is a plain table (``plain``), or one of
several that are read as one (``several``): it is opened (``tables/``), its layout is found
(``layouts/``), and its columns are coded (``build``). All answers go through the same cleaning
(``clean``). ``reader`` leads the way, and the plan records every decision.
"""

from __future__ import annotations

from typing import Any

from hitsndiffs.data.progress import working
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import is_dask_frame
from hitsndiffs.reading.cluster import connect, in_plain_words, read_on_cluster
from hitsndiffs.reading.key import read_key
from hitsndiffs.reading.options import ReadingOptions
from hitsndiffs.reading.plan import Plan, load_profile

__all__ = ["Plan", "plan", "read_file", "read_key", "read_responses"]


def plan(source: Any, *, plan: Any = None, **options: Any) -> Plan:
    r"""Find out how a file (or several, or a folder) would be read.

    Parameters
    ----------
    source
        A path, ``"-"`` for standard input, a file object (binary or text), a folder, or a list of
        them; or a DataFrame.
    plan
        A plan to repeat: a :class:`Plan`, the path of its JSON, or a mapping. Other options
        override it.
    **options
        Options that override single decisions; see :func:`read_responses`.

    Returns
    -------
    Plan
        It can be printed, changed, written as JSON, and read.

    Examples
    --------
    >>> import io
    >>> found = plan(io.StringIO("student,q1,q2,Score\nann,A,B,2\nbob,A,C,1\n"))
    >>> found.layout, [column.name for column in found.columns if column.role == "points"]
    ('wide', ['Score'])
    """
    from hitsndiffs.reading.reader import make_plan

    chosen = ReadingOptions() if plan is None else load_profile(plan)
    return make_plan(source, chosen.changed(**options))


def read_responses(source: Any, **options: Any) -> Responses:
    r"""Read who chose what from a file, several files, or a folder.

    Parameters
    ----------
    source
        A path, ``"-"`` for standard input, a file object (binary or text), a folder, or a list of
        them; or a DataFrame. Recognised are all formats that ``hnd formats`` lists, and plain
        tables (CSV, TSV, spreadsheets, Parquet, JSONL; also in zip, gzip and zstd).
    **options
        What is known about the file; the reader works out the rest:

        layout
            ``"wide"`` (one row per user, one column per item), ``"long"`` (one row per answer), or
            ``"auto"``.
        format
            A format by name, or ``"csv"``, ``"tsv"``, ``"parquet"``, ``"jsonl"``, ``"xlsx"`` for
            plain tables.
        formats
            The formats that may be recognised; an empty list for none, so that every file is read
            as a plain table.
        header, header_row
            Whether there is a header, and in which row (from 1, blank rows not counted).
        user, item, option
            The columns that hold them; ``"First name+Last name"`` joins two for the user.
        group
            The column of the users' groups (a team, the runs of one model): a ranking then counts
            each group as one witness.
        engine, scheduler
            ``engine="dask"``: the workers of a Dask cluster read the files (plain Parquet, CSV or
            TSV; folders and patterns with ``*`` too) and keep them. ``scheduler`` is its address,
            ``tcp://HOST:PORT``; without one, a cluster is started on this machine.
        here_up_to
            With ``engine="dask"``: up to this many answers (default 5 million) are ranked in the
            calling process, which is quicker than a cluster; 0 for never.
        items, drop
            Patterns of the items to keep and to leave out: ``["q*", "Bonus"]``.
        key_row
            The row that holds the key (from 1, blank rows not counted).
        sheet, encoding, separator
            The sheet of a spreadsheet, by name or number; the encoding and the separator of a text
            file.
        attempt
            Which attempt counts: ``"first"``, ``"last"`` or ``"best"``.
        transpose
            Whether the rows are items and the columns users; None to detect it.
        duplicates
            What to do if a user gave two different answers to an item: raise an ``"error"``, or
            keep the ``"first"`` or ``"last"``.
        fold, blanks
            Whether spellings that differ in case, blanks or Unicode form are the same answer
            (default True); words that mean no answer, instead of the usual ones (``"-"``, …).
        max_memory
            How much memory to use at most: a number of bytes, or a text such as ``"4GB"``.
        plan
            A plan to repeat.

    Returns
    -------
    Responses
        All labels are text; ``key`` holds the key if the file has one, and ``notes`` say what
        was assumed or left out.

    Examples
    --------
    >>> import io
    >>> r = read_responses(io.StringIO("student,q1,q2\nann,A,B\nbob,A,C\n"))
    >>> r.users.tolist(), r.option_labels.tolist()
    (['ann', 'bob'], ['A', 'B', 'C'])
    >>> r.notes
    ("Recognised 'student' as the user column.",)
    """
    if options.pop("engine", None) == "dask" or is_dask_frame(source):
        return _on_cluster(source, options)  # type: ignore[no-any-return]
    return read_file(source, **options)[0]


def _on_cluster(source: Any, options: dict[str, Any]) -> Any:
    """Have the workers of a Dask cluster read the files; return the engine that holds them."""
    client = connect(options.pop("scheduler", None))
    if is_dask_frame(source):
        from hitsndiffs.engines.dask_frames import engine_of_frame

        with in_plain_words(client):
            return engine_of_frame(source, client, **options)
    return read_on_cluster(source, client, **options)


def read_file(source: Any, **options: Any) -> tuple[Responses, Plan]:
    r"""Do what :func:`read_responses` does, and return the plan as well.

    Examples
    --------
    >>> import io
    >>> read_file(io.StringIO("worker,task,label\na,1,x\nb,1,x\n"))[1].layout
    'long'
    """
    from hitsndiffs.reading.files.source import NotUtf8

    try:
        with working("Reading"):
            made = plan(source, **options)
            return made.read(), made
    except NotUtf8:
        # The beginning passed as UTF-8 because it had no special characters.
        if options.get("encoding") is not None or hasattr(source, "read") or source == "-":
            raise
        made = plan(source, **{**options, "encoding": "cp1252"})
        responses = made.read()
        note = "The text is read as Windows-1252, as it is not UTF-8 (you can name another one)."
        return responses.with_notes([note, *responses.notes]), made
