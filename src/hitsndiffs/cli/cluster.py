"""``hnd rank --engine dask``: a cluster reads and ranks the files; the screen shows the best."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from hitsndiffs.cli.rank import command_of
from hitsndiffs.cli.result import check_targets
from hitsndiffs.cli.screen import BEST, say_verdict
from hitsndiffs.cli.text import show_cells, show_json
from hitsndiffs.data.files import write_whole
from hitsndiffs.data.progress import working
from hitsndiffs.data.words import count, sizes
from hitsndiffs.errors import InputError
from hitsndiffs.results.rank import key_parameter

if TYPE_CHECKING:
    from hitsndiffs.cli.rank import Job
    from hitsndiffs.results.cells import Cells
    from hitsndiffs.results.cluster import ClusterRanking

__all__ = ["rank_there"]

#: Options for reading that a cluster supports.
UNDERSTOOD = {"user", "item", "option", "layout", "duplicates"}


def rank_there(job: Job) -> None:
    """Connect, read, rank, write, show."""
    _check(job)
    params, result = _params(job), job.result
    from hitsndiffs.reading.cluster import connect, disconnect, in_plain_words, read_on_cluster
    from hitsndiffs.results.cluster import rank_on_cluster

    client = connect(job.scheduler)
    busy = partial(working, quiet=result.quiet, told=True)
    try:
        result.say(f"Dask dashboard: {client.dashboard_link}")
        with busy(f"Reading {job.source.name}"):
            data = read_on_cluster(job.source.paths, client, **job.source.said)
        result.say(f"{job.source.name}: {sizes(data)}, in {count(len(data.parts), 'part')}.")
        with in_plain_words(client):
            with busy("Ranking"):
                ranking = rank_on_cluster(data, job.method or "auto", by=job.by, **params)
                ranking = replace(ranking, command=command_of(job))
            if result.out is not None:
                with busy(f"Writing {result.out}"):
                    ranking.write(result.out)
            best = ranking.cells(job.top or BEST)
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
    out = job.result.out
    if out is not None and out.suffix:
        raise InputError(
            f"--out {out}: with --engine dask the ranking is written part by part into a "
            "folder; name one without an ending."
        )
    check_targets({"--key-out": job.key_out}, job.source.paths)


def _show(job: Job, ranking: ClusterRanking, best: Cells) -> None:
    result = job.result
    if job.key_out is not None:
        write_whole({job.key_out: result.table_writer(ranking.key_cells(), job.key_out)})
    say_verdict(ranking, quiet=result.quiet)
    result.note(ranking.notes)
    result.say(*(f"Written: {path}" for path in (result.out, job.key_out) if path is not None))
    if result.as_json:
        answers = {str(i): str(o) for i, o in ranking.answer_key().items()}
        found = {"method": ranking.method, "n_users": len(ranking)}
        found |= {"verdict": str(ranking.verdict), "best": best.records(), "key": answers}
        show_json(json.dumps(found, indent=1))
    else:
        show_cells(best)
