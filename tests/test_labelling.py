"""What to label next, and what workers do: against simulations with a known truth."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import hitsndiffs as hnd
from hitsndiffs.results.labelling import _expected, next_labels, workers


def crowd(
    seed: int, n: int = 40, items: int = 120, share: float = 0.2
) -> tuple[pl.DataFrame, np.ndarray]:
    """Workers who answer yes/no questions; the first says yes too often, the second at random."""
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.5
    right = 0.65 + 0.3 * rng.beta(2, 3, n)
    rows = []
    for u in range(n):
        for i in np.flatnonzero(rng.random(items) < (0.8 if u < 2 else share)):
            yes = truth[i] if rng.random() < right[u] else not truth[i]
            if u == 0:
                yes = yes or rng.random() < 0.8
            if u == 1:
                yes = rng.random() < 0.5
            rows.append((f"worker-{u:02d}", f"t{i:03d}", "yes" if yes else "no"))
    return pl.DataFrame(rows, ["user", "item", "option"], orient="row"), truth


def test_leaning_and_careless_workers_are_named_and_others_are_not() -> None:
    careless: list[bool] = []
    others = 0
    for seed in range(4):
        others += _named(seed, careless)
    assert sum(careless) >= 3
    assert others <= 2


def _named(seed: int, careless: list[bool]) -> int:
    """Check the leaning worker, note the careless one, and count who else is named."""
    frame, _ = crowd(seed, items=500, share=0.3)
    r = hnd.Responses.from_long(frame, user="user", item="item", option="option")
    found = workers(hnd.rank(r, method="majority"))
    remarks = dict(zip(r.users.tolist(), found.remarks(), strict=True))
    assert "says yes" in remarks["worker-00"]
    careless.append("do not follow" in remarks["worker-01"])
    by_hand = frame.filter(pl.col("user") == "worker-00")
    yes = int((by_hand["option"] == "yes").sum())
    assert found.said[r.users.tolist().index("worker-00")].tolist() == [len(by_hand) - yes, yes]
    return sum(bool(remark) for user, remark in remarks.items() if user > "worker-01")


def test_expected_counts_leave_the_user_out() -> None:
    r = hnd.Responses.from_wide([["a", "b"], ["a", "a"], ["b", "a"]])
    found = workers(hnd.rank(r, method="majority"))
    assert found.labels == ("a", "b")
    assert found.expected.tolist() == [[1.5, 0.5], [1.0, 1.0], [1.5, 0.5]]


def test_following_is_the_z_value_of_a_permutation() -> None:
    rng = np.random.default_rng(0)
    frame, _ = crowd(5, n=8, items=30, share=0.9)
    r = hnd.Responses.from_long(frame, user="user", item="item", option="option")
    found = workers(hnd.rank(r, method="majority"))
    wide = frame.pivot(on="item", index="user", values="option")
    table = np.array(wide.drop("user").rows(), dtype=object)
    for u in (1, 4):
        row = r.users.tolist().index(wide["user"][u])
        mine = np.flatnonzero([v is not None for v in table[u]])
        others = np.delete(table, u, axis=0)[:, mine]
        shares = {
            label: np.array([np.mean([v == label for v in c if v is not None]) for c in others.T])
            for label in ("yes", "no")
        }
        said = table[u, mine]
        draws = np.array(
            [sum(shares[v][k] for k, v in enumerate(rng.permutation(said))) for _ in range(4000)]
        )
        observed = sum(shares[v][k] for k, v in enumerate(said))
        z = (observed - draws.mean()) / draws.std()
        assert found.follows[row] == pytest.approx(z, abs=0.15)


def test_confusion_of_a_user() -> None:
    frame, truth = crowd(1)
    r = hnd.Responses.from_long(frame, user="user", item="item", option="option")
    ranking = hnd.rank(r, method="dawid-skene")
    rows = workers(ranking).confusion("worker-00")
    assert list(rows.columns) == ["right", "items", "no", "yes"]
    mine = frame.filter(pl.col("user") == "worker-00")
    wrong = [truth[int(item[1:])] == 0 for item in mine["item"]]
    share = np.mean([said == "yes" for said, no in zip(mine["option"], wrong, strict=True) if no])
    assert rows["yes"].to_list()[0] == pytest.approx(share, abs=0.1)
    with pytest.raises(hnd.InputError, match="no user 'nobody'"):
        workers(ranking).confusion("nobody")


def test_the_gain_of_an_answer_is_its_definition() -> None:
    chances = np.array([0.5, 0.3, 0.2])
    gain, best = _expected(chances, 0.7)
    says = np.full((3, 3), 0.15) + np.eye(3) * 0.55
    then = right = 0.0
    for answer in range(3):
        joint = chances * says[:, answer]
        then += joint.sum() * ((joint / joint.sum()) ** 2).sum()
        right += joint.max()
    assert gain == pytest.approx(then - (chances**2).sum())
    assert best == pytest.approx(right)


def _right_after(frame: pl.DataFrame, truth: np.ndarray, items: list[str]) -> float:
    """The share of the key that is right when these items get one more, true answer each."""
    new = [
        (f"oracle-{k % 3}", item, "yes" if truth[int(item[1:])] else "no")
        for k, item in enumerate(items)
    ]
    more = pl.concat([frame, pl.DataFrame(new, frame.columns, orient="row")])
    r = hnd.Responses.from_long(more, user="user", item="item", option="option")
    key = hnd.rank(r, method="dawid-skene").answer_key()
    return float(np.mean([(a == "yes") == truth[int(i[1:])] for i, a in key.items()]))


def test_asking_where_it_says_beats_asking_anywhere() -> None:
    better = []
    for seed in range(4):
        frame, truth = crowd(seed, n=30, items=150, share=0.12)
        rng = np.random.default_rng(seed)
        r = hnd.Responses.from_long(frame, user="user", item="item", option="option")
        ranking = hnd.rank(r, method="dawid-skene")
        plan = next_labels(ranking, 40, each=5)
        assert plan.right_then >= plan.right_now
        assert len(set(plan.items.tolist())) == len(plan.items)
        asked = plan.table()
        given = set(zip(frame["user"], frame["item"], strict=True))
        assert not given & set(zip(asked["user"], asked["item"], strict=True))
        some = rng.permutation(r.n_items)[: len(plan.items)]

        useful = _right_after(frame, truth, asked["item"].to_list())
        better.append(useful - _right_after(frame, truth, r.items[some].tolist()))
    assert np.mean(better) > 0


def test_what_is_promised_of_more_labels_comes() -> None:
    """Over several crowds together: each by itself may have better or worse luck."""
    promised, came = [], []
    for seed in range(6):
        frame, truth = crowd(seed, items=200, share=0.1)
        drawn = np.random.default_rng(seed)
        drawn.random(200)
        able = dict(enumerate(0.65 + 0.3 * drawn.beta(2, 3, 40)))  # as in the crowd

        ranking = hnd.rank(frame, method="dawid-skene")
        asked = next_labels(ranking, 200).table()
        right = [drawn.random() < able[int(user[-2:])] for user in asked["user"]]
        yes = [truth[int(item[1:])] == ok for item, ok in zip(asked["item"], right, strict=True)]
        option = pl.Series("option", ["yes" if one else "no" for one in yes])
        more = pl.DataFrame([asked["user"], asked["item"], option])
        plan = next_labels(ranking, 200)
        promised.append(plan.right_then - plan.right_now)
        again = hnd.rank(pl.concat([frame, more]), method="dawid-skene")
        keys = [each.answer_key() for each in (ranking, again)]
        before, after = (sum((key[i] == "yes") == truth[int(i[1:])] for i in key) for key in keys)
        came.append(after - before)
    assert sum(came) == pytest.approx(sum(promised), rel=0.4)


def test_when_to_stop_is_said() -> None:
    table = [["A", "B", "C"]] * 12
    ranking = hnd.rank(hnd.Responses.from_wide([*table, ["B", "C", "A"]]), method="dawid-skene")
    assert "You can stop" in next_labels(ranking, 2).sentence()
    with pytest.raises(hnd.InputError, match="budget"):
        next_labels(ranking, 0)


def test_it_is_foreseen_how_far_the_order_will_move() -> None:
    """Against rankings with as many true answers more, each worker right as often as before."""
    foreseen, found, said = [], [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        frame, truth = crowd(seed, n=30, items=150, share=0.3)
        r = hnd.Responses.from_long(frame, user="user", item="item", option="option")
        ranking = hnd.rank(r, method="dawid-skene")
        plan = next_labels(ranking, 140, each=8)
        if np.isnan(plan.order_kept):
            continue
        yes = np.array([truth[int(item[1:])] for item in r.items[plan.items]])
        right = rng.random(len(yes)) < ranking.correct[plan.users]
        new = {"user": r.users[plan.users], "item": r.items[plan.items],
               "option": np.where(yes == right, "yes", "no")}  # fmt: skip
        both = pl.concat([frame, pl.DataFrame({n: list(map(str, v)) for n, v in new.items()})])
        again = hnd.rank(
            hnd.Responses.from_long(both, user="user", item="item", option="option"), "dawid-skene"
        )
        place = {user: n for n, user in enumerate(again.users.tolist())}
        then = again.scores[[place[user] for user in r.users.tolist()]]
        foreseen.append(plan.order_kept)
        found.append(float(np.corrcoef(ranking.scores, then)[0, 1]))
        said.append(plan.sentence())
    assert len(found) >= 3
    assert np.mean(found) == pytest.approx(np.mean(foreseen), abs=0.03)
    assert np.mean(foreseen) < 0.99
    assert all("order of the users" in sentence for sentence in said)


def test_a_ranking_has_it_at_hand() -> None:
    frame, _ = crowd(1)
    ranking = hnd.rank(frame, method="dawid-skene")
    assert ranking.next_labels(3, each=1).table().height <= 3
    assert ranking.confusion("worker-00").height == 2
    assert ranking.short_form([20, 50]).sizes == (20, 50)
