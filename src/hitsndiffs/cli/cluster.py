"""``hnd rank --engine dask``: a cluster reads and ranks the files; the screen shows the best."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.outputs import check_target, table_writer
from hitsndiffs.cli.text import BEST, say, show_rows
from hitsndiffs.data.files import write_whole
from hitsndiffs.data.progress import working
from hitsndiffs.errors import InputError
from hitsndiffs.results.rank import key_parameter
from hitsndiffs.results.tables import key_frame
from hitsndiffs.results.values import records
from hitsndiffs.results.wording import count, per_cent, sizes

if TYPE_CHECKING:
    from hitsndiffs.cli.rank import Job

__all__ = ["rank_files"]

#: Options for reading that a cluster supports.
UNDERSTOOD = {"user", "item", "option", "layout", "duplicates"}


def rank_files(job: Job) -> None:
    """Connect, read, rank, write, show."""
    _check(job)
    params = _params(job)
    from hitsndiffs.reading.cluster import (
        connect,
        disconnect,
        in_plain_words,
        read_on_cluster,
    )
    from hitsndiffs.results.cluster import rank_on_cluster

    client = connect(job.scheduler)
    try:
        say(f"Dask dashboard: {client.dashboard_link}", quiet=job.quiet)
        with working(f"Reading {job.source.name}", quiet=job.quiet, told=True):
            data = read_on_cluster(job.source.paths, client, **job.source.said)
        say(
            f"{job.source.name}: {sizes(data)}, in {count(len(data.parts), 'part')}.",
            quiet=job.quiet,
        )
        with in_plain_words(client):
            with working("Ranking", quiet=job.quiet, told=True):
                ranking = rank_on_cluster(data, job.method or "auto", by=job.by, **params)
            if job.out is not None:
                with working(f"Writing {job.out}", quiet=job.quiet, told=True):
                    ranking.write(job.out)
            best = ranking.top(job.top or BEST)
        _show(job, ranking, best)
    finally:
        disconnect(client)


def _params(job: Job) -> dict[str, Any]:
    """The parameters of the method."""
    params = {k: value for k, value in job.params.items() if k not in ("engine", "threads")}
    if job.answers is not None:
        from hitsndiffs.reading import read_key

        params[key_parameter(job.method or "auto")] = read_key(job.answers)
    return params


def _check(job: Job) -> None:
    """Refuse options that a cluster does not support, before any work is done."""
    unknown = sorted(set(job.source.said) - UNDERSTOOD)
    if unknown:
        raise InputError(
            f"--engine dask does not know {', '.join('--' + name for name in unknown)}; it reads "
            "plain Parquet, CSV and TSV files, wide or long."
        )
    for option, given in (("--report", job.report), ("--save", job.save), ("--all", job.everybody),
                          ("--bootstrap", job.bootstrap), ("--use-key", job.use_key),
                          ("--group", job.group)):  # fmt: skip
        if given:
            raise InputError(
                f"{option} needs all users in one place, which --engine dask avoids; use --out "
                "FOLDER and --key-out FILE."
            )
    if job.out is not None and job.out.suffix:
        raise InputError(
            f"--out {job.out}: with --engine dask the ranking is written part by part into a "
            "folder; name one without an ending."
        )
    check_target(job.key_out, "--key-out")


def _show(job: Job, ranking: Any, best: dict[str, Any]) -> None:
    if job.key_out is not None:
        write_whole({job.key_out: table_writer(key_frame(ranking), job.key_out, raw=job.raw)})
    for note in ranking.notes:
        say(f"Note: {note}", quiet=job.quiet)
    if ranking.confidence is not None:
        say(f"How sure: {per_cent(ranking.confidence)}.", quiet=job.quiet)
    for path in (job.out, job.key_out):
        if path is not None:
            say(f"Written: {path}", quiet=job.quiet)
    rows = records(best)
    if job.as_json:
        answers = {str(i): str(o) for i, o in ranking.answer_key().items()}
        print(json.dumps({"method": ranking.method, "n_users": ranking.n_users, "best": rows,
                          "key": answers}, indent=1))  # fmt: skip
        return
    names = ["rank", "user", "score", *(n for n in ("standard_error",) if n in best)]
    cells = [[_text(row[name]) for name in names] for row in rows]
    show_rows(names, cells)


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() else f"{value:.4g}"
    return str(value)
