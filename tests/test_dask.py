"""The cluster engine: the same results as one machine, whatever the parts, and plain words."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import naive
import numpy as np
import pytest
from commands import Here
from engine_cases import cluster, on_cluster, quick
from factory import make_responses, some

pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

import dask.dataframe as dd  # noqa: E402
from distributed import Client, KilledWorker, LocalCluster  # noqa: E402

import hitsndiffs as hnd  # noqa: E402
from hitsndiffs.engines import open_engine  # noqa: E402
from hitsndiffs.engines.base import scaled  # noqa: E402
from hitsndiffs.engines.dask import DaskEngine  # noqa: E402
from hitsndiffs.engines.dask_frames import (  # noqa: E402
    encoded_part,
    engine_of_frame,
    joined_items,
    labels_of,
    packed,
)
from hitsndiffs.engines.dask_order import (  # noqa: E402
    chain_ends,
    found_at,
    levelled,
    meet_across,
)
from hitsndiffs.methods import make  # noqa: E402
from hitsndiffs.methods.core.settings import DEFAULT  # noqa: E402
from hitsndiffs.reading.cluster import connect, in_plain_words  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("client"),
    pytest.mark.xdist_group("cluster"),
]


def answers(users, items, missing=0.1, seed=0):
    """Users with one ability each, items with one right answer each; option letters."""
    rng = np.random.default_rng(seed)
    ability, ease = rng.standard_normal((users, 1)), rng.standard_normal(items)
    right = rng.random((users, items)) < 1 / (1 + np.exp(-1.5 * (ability + ease)))
    codes = (np.where(right, 0, rng.integers(1, 4, (users, items))) + np.arange(items)) % 4
    frame = pd.DataFrame(
        np.array(list("ABCD"), dtype=object)[codes], columns=[f"q{i}" for i in range(items)]
    ).mask(rng.random((users, items)) < missing)
    frame.insert(0, "student", [f"student-{u:05d}" for u in range(users)])
    return frame


# -- the sums and the order ----------------------------------------------------------------------


@pytest.mark.parametrize(("parts", "in_bucket"), some([(6, 1), (1, 1), (6, 1000)], 2))
def test_everything_that_is_asked_of_an_engine_is_the_same(client, parts, in_bucket):
    frame = answers(300, 6)
    one = open_engine(hnd.Responses.from_wide(frame), "numpy")
    data = engine_of_frame(dd.from_pandas(frame, npartitions=parts), client)
    assert len(data.parts) == min(parts, 2)
    data = on_cluster(hnd.Responses.from_wide(frame), parts)
    data.users_in_bucket = in_bucket
    rng = np.random.default_rng(1)
    w = rng.standard_normal((data.n_options, 3))
    assert data.items.option_labels.tolist() == one.items.option_labels.tolist()
    assert data.choosers_per_option.tolist() == one.choosers_per_option.tolist()
    np.testing.assert_allclose(data.collect(data.choices(w)), one.choices(w), atol=1e-12)
    s = one.choices(w)
    np.testing.assert_allclose(data.choosers(data.choices(w)), one.choosers(s), atol=1e-10)
    np.testing.assert_allclose(
        data.through(w[:, 0], scaled, 2 * data.everybody), 2 * one.choosers(s[:, 0]), atol=1e-10
    )
    np.testing.assert_array_equal(data.collect(data.fingerprints()), one.fingerprints())
    x, values = data.choices(w)[:, 0], s[:, 0]
    for limit in (0.0, 1e-2, 0.3):
        np.testing.assert_array_equal(
            data.collect(data.ranks(x, limit)), naive.level_ranks(values, limit)
        )
        np.testing.assert_allclose(
            data.collect(data.levelled(x, limit)), one.levelled(values, limit), atol=1e-12
        )
    assert data.values_at(x, [123, 0, 299]) == pytest.approx(np.sort(values)[[123, 0, 299]])
    assert data.top(x, 5).tolist() == np.argsort(-values, kind="stable")[:5].tolist()
    assert data.user_number("student-00271") == 271
    few = np.array([299, 0, 150])
    for ours, theirs in zip(data.rows(few), one.rows(few), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(data.collect(x, few), values[few], atol=1e-12)
    assert data.user_labels(few).tolist() == one.user_labels(few).tolist()


@pytest.mark.parametrize("seed", range(20))
def test_chains_across_buckets_are_those_of_all_values(seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.integers(0, 30, 40) + 0.1 * rng.random(40))
    limit = float(rng.choice([0.0, 0.1, 1.0, 5.0]))
    cuts = np.sort(rng.integers(0, 40, 4))
    buckets = np.split(values, cuts)
    above = 40 - np.cumsum([len(bucket) for bucket in buckets])
    ends = meet_across([chain_ends(limit, bucket) for bucket in buckets], above, limit)
    found = np.concatenate(
        [levelled(*each, limit) for each in zip(buckets, ends, above, strict=True)]
    )
    np.testing.assert_array_equal(found[:, 0], naive.level_ranks(values, limit))
    one = open_engine(make_responses(np.zeros((40, 1), dtype=int)), "numpy")
    np.testing.assert_allclose(found[:, 1], one.levelled(values, limit), atol=1e-12)


@pytest.mark.parametrize("count", [5, 3000, 30_000])
@pytest.mark.parametrize("kind", ["normal", "few values", "in order", "all the same"])
def test_places_of_an_order_are_found_by_narrowing_down(kind, count):
    rng = np.random.default_rng(count)
    values = {
        "normal": rng.standard_normal(count),
        "few values": rng.integers(0, 3, count).astype(float),
        "in order": np.sort(rng.standard_normal(count)),
        "all the same": np.zeros(count),
    }[kind]
    places = [0, count // 10, count // 2, count // 2, count - 1]
    found = found_at(
        lambda act, *given: [act(*each) for each in zip(*given, strict=False)],
        np.array_split(values, 3),
        places,
    )
    assert found == np.sort(values)[places].tolist()


# -- methods -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["full", "hierarchical"])
def test_confusion_matrices_are_those_of_one_machine(model):
    """What the contract suite does not try; it has every method on a cluster."""
    responses = hnd.Responses.from_wide(answers(400, 8, 0.2))
    made = make("dawid-skene", model=model)
    expected = made.fit(responses)
    scores, key = expected.scores_, expected.key_probabilities_
    data = on_cluster(responses, 3)
    found = made.fit(data)
    near = 1e-9 * np.abs(scores).max()
    np.testing.assert_allclose(data.collect(found.scores_), scores, atol=near)
    np.testing.assert_allclose(found.key_probabilities_, key, atol=1e-9)


@pytest.mark.parametrize("method", some(["auto", "latent-key", "hnd-robust"], 1))
def test_solutions_are_looked_for_in_a_sample_and_fitted_to_all(method):
    """The same sample as on one machine; the last rounds are made on the workers."""
    responses = hnd.Responses.from_wide(answers(500, 10))
    few = replace(DEFAULT, fitted_pairs=2_000)

    def fitted(data):
        made = quick(method)
        made.settings = few
        return made._fit(data)

    expected = fitted(open_engine(responses, "numpy"))
    data = on_cluster(responses, 3)
    found = fitted(data)
    np.testing.assert_allclose(data.collect(found.scores), expected.scores, atol=1e-6)
    np.testing.assert_allclose(found.key_probabilities, expected.key_probabilities, atol=1e-6)


@pytest.mark.parametrize("method", ["latent-key", "auto", "hnd-robust"])
def test_few_answers_are_ranked_where_the_caller_is(client, method):
    frame = answers(120, 8)
    made = quick(method)
    expected = made.fit(hnd.Responses.from_wide(frame)).scores_
    data = engine_of_frame(dd.from_pandas(frame, npartitions=3), client)
    found = made.fit(data)
    np.testing.assert_array_equal(data.collect(found.scores_), expected)


def test_other_methods_say_why_not(client):
    data = engine_of_frame(dd.from_pandas(answers(50, 4), npartitions=2), client)
    with pytest.raises(hnd.InputError, match=r"truthfinder.*one machine's memory.*a sample"):
        make("truthfinder").fit(data)


# -- frames and files ----------------------------------------------------------------------------


def test_a_dask_frame_is_ranked_and_its_table_is_one(client):
    frame = answers(200, 6)
    one = hnd.rank(frame, method="majority")
    ranking = hnd.rank(dd.from_pandas(frame, npartitions=4), method="majority")
    table = ranking.table().compute().set_index("user")
    expected = pd.Series(one.ranks, index=one.users)
    assert table["rank"].to_dict() == expected.to_dict()
    assert ranking.answer_key() == one.answer_key()
    best = ranking.top(3)
    assert best["rank"][0] == 1.0
    assert (best["rank_low"] <= best["rank"]).all()
    assert (best["rank"] <= best["rank_high"]).all()


def test_errors_belong_to_the_scores_that_rank(client):
    frame = answers(60, 6)
    for by in (None, "ability"):
        one = hnd.rank(frame, method="hnd-robust", by=by)
        ranking = hnd.rank(dd.from_pandas(frame, npartitions=3), method="hnd-robust", by=by)
        # in memory they are widened by one factor, to what halves of the items say
        np.testing.assert_allclose(
            np.ptp(one.standard_errors / ranking.standard_errors), 0, atol=1e-9
        )
        assert (one.standard_errors >= ranking.standard_errors - 1e-12).all()


def test_long_rows_in_any_order_are_brought_together(client, tmp_path):
    frame = answers(120, 5)
    long = frame.melt("student", var_name="item", value_name="answer").dropna()
    long = long.sample(frac=1, random_state=3)
    one = hnd.rank(hnd.Responses.from_wide(frame), method="majority")
    for number, piece in enumerate(np.array_split(np.arange(len(long)), 3)):
        long.iloc[piece].to_csv(tmp_path / f"part-{number}.csv", index=False)
    data = hnd.read_responses(str(tmp_path / "*.csv"), engine="dask")
    found = hnd.rank(data, method="majority").table().compute().set_index("user")
    assert found["rank"].to_dict() == dict(zip(one.users, one.ranks, strict=True))


def test_some_users_who_are_all_in_one_part():
    responses = make_responses([[0, 1], [1, 0], [0, 0], [1, 1], [0, 1], [2, 1]])
    part, options = on_cluster(responses, 3).subset(np.array([2, 3]))
    assert part.user_labels(np.arange(2)).tolist() == responses.users[2:4].tolist()
    assert options.tolist() == responses.restrict(np.array([2, 3]))[1].tolist()


def test_parts_may_have_more_options_together_than_dense_codes_can_hold():
    halves = [pd.DataFrame({"q": np.arange(first, first + 40_000)}) for first in (0, 40_000)]
    pieces = [encoded_part(half, "wide", {}, "error", named=False) for half in halves]
    items = joined_items(labels_of(pieces), ["q"], as_text=False)
    responses = packed(items, False, [0, 40_000], pieces).responses
    assert responses.rows[1].tolist() == list(range(80_000))


def test_the_command_writes_a_folder_and_shows_the_best(client, tmp_path, capsys):
    frame = answers(150, 5)
    for number in range(3):
        frame.iloc[50 * number : 50 * number + 50].to_parquet(tmp_path / f"{number}.parquet")
    out, key = tmp_path / "ranking", tmp_path / "key.csv"
    done = Here(capsys)(
        "rank", str(tmp_path / "*.parquet"), "--engine", "dask", "--method", "hnd", "--json",
        "--out", str(out), "--key-out", str(key),
    )  # fmt: skip
    assert done.code == 0, done.err
    shown = json.loads(done.out)
    assert shown["n_users"] == 150
    assert shown["best"][0]["rank"] == 1.0
    one = hnd.rank(hnd.Responses.from_wide(frame), method="hnd")
    table = pd.read_parquet(out).set_index("user")
    assert table["rank"].to_dict() == dict(zip(one.users, one.ranks, strict=True))
    assert len(pd.read_csv(key)) == 5


# -- what goes wrong -----------------------------------------------------------------------------


def test_no_scheduler():
    with pytest.raises(hnd.InputError, match="No Dask scheduler answers at"):
        connect("tcp://127.0.0.1:9", timeout=0.5)


def test_a_broken_file_is_named_and_nothing_is_written(client, tmp_path, capsys):
    answers(40, 3).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    out = tmp_path / "out"
    done = Here(capsys)("rank", str(tmp_path / "*.parquet"), "--engine", "dask", "--out", str(out))
    assert done.code != 0
    assert "b.parquet cannot be read as Parquet" in done.err
    assert not out.exists()


def test_a_file_that_is_broken_in_the_middle_is_named(client, tmp_path, capsys):
    for name in "abc":
        frame = answers(400, 30, seed=ord(name))
        frame["student"] += name
        frame.to_parquet(tmp_path / f"{name}.parquet")
    broken = tmp_path / "b.parquet"
    content = bytearray(broken.read_bytes())
    content[len(content) // 4 : len(content) // 2] = bytes(len(content) // 2 - len(content) // 4)
    broken.write_bytes(content)
    out = tmp_path / "out"
    done = Here(capsys)("rank", str(tmp_path / "*.parquet"), "--engine", "dask", "--out", str(out))
    assert done.code != 0
    assert "b.parquet" in done.err
    assert len(done.err.strip().splitlines()[-1]) < 400
    assert [path.name for path in tmp_path.iterdir() if path.suffix != ".parquet"] == []


def test_a_part_that_cannot_be_made_writes_nothing(client, tmp_path):
    ranking = hnd.rank(dd.from_pandas(answers(60, 4), npartitions=2), method="majority")
    out = tmp_path / "out"
    broken = ranking.scores.map_blocks(lambda x: x / (1 // 0), dtype=float)
    with pytest.raises(ZeroDivisionError):
        replace(ranking, scores=broken).write(out)
    assert list(tmp_path.iterdir()) == []


def test_users_of_two_files_are_named(client, tmp_path):
    frame = answers(100, 5)
    frame.iloc[:60].to_parquet(tmp_path / "a.parquet")
    frame.iloc[57:].to_parquet(tmp_path / "b.parquet")
    with pytest.raises(hnd.InputError, match=r"user 'student-0005[789]' is named in part 1 and"):
        hnd.read_responses(str(tmp_path / "*.parquet"), engine="dask")


@pytest.mark.parametrize(
    ("error", "said"),
    [(MemoryError("17 GB"), "not have enough memory"), (OSError("no disk"), "cannot be read")],
)
def test_what_goes_wrong_on_a_worker_is_said_in_one_sentence(client, error, said):
    def part(number):
        if number:
            raise error
        return answers(20, 3)

    frame = dd.from_map(part, [0, 1], meta=answers(2, 3).iloc[:0])
    with pytest.raises(hnd.InputError, match=said):
        hnd.rank(frame, method="majority")


def test_workers_that_die_again_and_again_are_too_small():
    said = pytest.raises(hnd.InputError, match=r"died repeatedly.*worker-3.*memory")
    with said, in_plain_words(cluster()):
        raise KilledWorker("packed", SimpleNamespace(address="tcp://worker-3:1"), 3)


def test_users_without_answers_are_left_out_and_said(client):
    frame = answers(60, 4)
    frame.loc[7, frame.columns[1:]] = None
    data = engine_of_frame(dd.from_pandas(frame, npartitions=3), client)
    assert data.n_users == 59
    assert any("1 users who gave no answers" in note for note in data.notes)


def test_engine_dask_needs_files_or_frames():
    with pytest.raises(hnd.InputError, match="reads the data itself"):
        open_engine(make_responses([[0, 1], [1, 1]]), "dask")


@pytest.mark.parametrize(("workers", "source"), some([(1, "files"), (2, "frame")], 1))
def test_a_worker_that_dies_changes_nothing(tmp_path, monkeypatch, workers, source):
    """In the middle of a fit, also where it is the only one: its nanny starts another."""
    frame = answers(300, 6)
    expected = make("hnd").fit(hnd.Responses.from_wide(frame))
    for number in range(4):
        rows = frame.iloc[75 * number : 75 * number + 75]
        rows.to_csv(tmp_path / f"{number}.csv", index=False)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.wait_for_workers(workers, timeout=60)
        if source == "frame":
            data = engine_of_frame(dd.from_pandas(frame, npartitions=4), client, here_up_to=0)
        else:
            data = hnd.read_responses(tmp_path, engine="dask", here_up_to=0)
        worker, asked, messages = next(iter(cluster.workers.values())), DaskEngine._total, []

        def fatal(data, *given, worker=worker, asked=asked, messages=messages, **named):
            messages.append(given)
            if len(messages) == 5:
                worker.process.process._process.kill()  # not a polite end
            return asked(data, *given, **named)

        with monkeypatch.context() as patch:
            patch.setattr(DaskEngine, "_total", fatal)
            found = make("hnd").fit(data)
            scores = data.collect(found.scores_)
        assert len(messages) > 5
        near = 1e-9 * np.abs(scores).max()
        np.testing.assert_allclose(scores, expected.scores_, atol=near)
