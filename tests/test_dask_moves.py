"""What travels on a cluster: pieces stay where they are read, and nothing user-sized comes here."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from engine_cases import on_cluster, quick
from factory import make_responses

pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

import dask.dataframe as dd  # noqa: E402
from dask.sizeof import sizeof  # noqa: E402
from distributed import Client  # noqa: E402

import hitsndiffs as hnd  # noqa: E402
from hitsndiffs.engines import open_engine  # noqa: E402
from hitsndiffs.engines.dask import Part  # noqa: E402
from hitsndiffs.engines.dask_frames import encoded_part  # noqa: E402
from hitsndiffs.engines.dask_order import sort_and_cut  # noqa: E402
from hitsndiffs.methods.core.settings import DEFAULT  # noqa: E402
from hitsndiffs.results.cluster import rank_on_cluster  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("client"),
    pytest.mark.xdist_group("cluster"),
]


def answers(users, items=6, seed=0):
    rng = np.random.default_rng(seed)
    ability = rng.standard_normal((users, 1))
    right = rng.random((users, items)) < 1 / (1 + np.exp(-2 * ability))
    return np.where(right, 0, rng.integers(1, 4, (users, items)))


def test_the_scheduler_is_told_what_things_weigh():
    """It moves what it takes for small."""
    codes = answers(5000)
    frame = pd.DataFrame(codes).rename(columns=str)
    frame.insert(0, "user", [f"user-{u}" for u in range(5000)])
    piece = encoded_part(frame, "wide", {}, "error")
    assert sizeof(piece) > codes.size
    assert sizeof(Part(make_responses(codes))) > codes.size
    assert sizeof(sort_and_cut(np.arange(5000.0), np.array([7.0]))) > 2 * 8 * 5000


def moved(client):
    """Bytes that came to each worker from others, by the kind of task."""

    def log(dask_worker):
        return [entry["keys"] for entry in dask_worker.transfer_incoming_log]

    found = {}
    for entries in client.run(log).values():
        for keys in entries:
            for key, size in keys.items():
                kind = str(key).strip("('\"").split("-")[0]
                found[kind] = found.get(kind, 0) + size
    return found


def test_pieces_stay_where_they_are_read(client, tmp_path):
    users = 40_000
    for number in range(8):
        frame = pd.DataFrame(answers(users // 8, 40, number)).rename(columns="q{}".format)
        frame.insert(0, "user", [f"user-{number}-{u}" for u in range(users // 8)])
        frame.to_parquet(tmp_path / f"{number}.parquet")
    before = moved(client)
    data = hnd.read_responses(tmp_path, engine="dask")
    data.here_up_to = 0
    rank_on_cluster(data, "hnd")
    after = moved(client)
    travelled = {kind: size - before.get(kind, 0) for kind, size in after.items()}
    assert travelled.get("packed", 0) == 0
    # an idle worker may take one or two pieces from a busy one
    assert travelled.get("encoded_part", 0) <= 2 * (users // 8) * (40 + 80)


@pytest.fixture
def weighed(monkeypatch):
    """The heaviest thing that came to the client, and the heaviest that it sent."""
    heaviest = {"came": 0, "went": 0}
    gather, run, send = Client._gather, Client._run, Client._send_to_scheduler

    async def weighing_gather(self, futures, *given, **named):
        found = await gather(self, futures, *given, **named)
        heaviest["came"] = max(heaviest["came"], len(pickle.dumps(found)))
        return found

    async def weighing_run(self, function, *given, **named):
        heaviest["went"] = max(heaviest["went"], len(pickle.dumps(given)))
        found = await run(self, function, *given, **named)
        heaviest["came"] = max(heaviest["came"], len(pickle.dumps(found)))
        return found

    def weighing_send(self, message):
        if "expr_ser" in message:
            size = sum(memoryview(frame).nbytes for frame in message["expr_ser"].frames)
            heaviest["went"] = max(heaviest["went"], size)
        return send(self, message)

    monkeypatch.setattr(Client, "_gather", weighing_gather)
    monkeypatch.setattr(Client, "_run", weighing_run)
    monkeypatch.setattr(Client, "_send_to_scheduler", weighing_send)
    return heaviest


def test_nothing_user_sized_comes_to_the_client(weighed, tmp_path):
    """Samples of bounded size do; a truth value per user would weigh more than is allowed."""
    users = 300_000
    data = on_cluster(make_responses(answers(users)), 2)
    for method in ("hnd", "majority", "dawid-skene", "pooled-investment"):
        weighed.update(came=0, went=0)
        ranking = rank_on_cluster(data, method)
        if method in ("hnd", "pooled-investment"):  # with and without how sure the ranks are
            ranking.top(10)
        if method == "hnd":
            ranking.write(tmp_path / "out")
        assert weighed["came"] < users, method
        assert weighed["went"] < users / 4, method
    assert len(pd.read_parquet(tmp_path / "out")) == users


@pytest.mark.parametrize("method", ["hnd-robust", "latent-key"])
def test_a_method_that_looks_in_a_sample_brings_little_more(weighed, method):
    """The same sample as on one machine, and so the same solution fitted to all."""
    users = 80_000
    responses = make_responses(answers(users, items=12))  # most sheets are different
    few = replace(DEFAULT, fitted_pairs=2_000)

    def fitted(data):
        estimator = quick(method)
        estimator.settings = few
        return estimator._fit(data)

    data = on_cluster(responses, 2)
    data.choosers_per_option  # noqa: B018 - the parts have been sent before
    weighed.update(came=0, went=0)
    found = fitted(data)
    assert weighed["came"] < 12_000_000  # the sample
    assert weighed["went"] < 300_000  # its users
    expected = fitted(open_engine(responses, "threads", 1))
    np.testing.assert_allclose(data.collect(found.scores), expected.scores, atol=1e-6)
    np.testing.assert_allclose(found.key_probabilities, expected.key_probabilities, atol=1e-6)


def test_few_answers_come_to_the_client_and_that_can_be_overruled(weighed):
    """Up to a limit the client ranks; the result is the same."""
    users = 60_000
    frame = pd.DataFrame(answers(users, items=3)).rename(columns="q{}".format)
    found = {}
    for limit in (None, 0):
        weighed.update(came=0)
        named = {} if limit is None else {"here_up_to": limit}
        ranking = hnd.rank(dd.from_pandas(frame, npartitions=2), method="majority", **named)
        found[limit] = weighed["came"]
        scores = np.asarray(ranking.scores)
    assert found[None] > users
    assert found[0] < users
    one = hnd.rank(frame, method="majority").scores
    np.testing.assert_allclose(scores, one, atol=1e-9)


def test_the_limit_for_files_is_an_option(tmp_path):
    frame = pd.DataFrame(answers(50)).rename(columns="q{}".format)
    frame.to_parquet(tmp_path / "a.parquet")
    assert hnd.read_responses(tmp_path, engine="dask").here_up_to == 5_000_000
    assert hnd.read_responses(tmp_path, engine="dask", here_up_to=7).here_up_to == 7
