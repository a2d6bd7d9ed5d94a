"""Rankings in files, and newcomers placed by them."""

from __future__ import annotations

import json
import os
import pickle
import zipfile

import numpy as np
import pytest
from factory import examples
from hypothesis import given
from hypothesis import strategies as st

import hitsndiffs as hnd
from hitsndiffs import InputError


def simulated(seed=0, users=40, items=12, options=3):
    return hnd.simulate("grm", users=users, items=items, options=options, seed=seed).responses


@pytest.mark.parametrize("method", ["auto", "hnd", "hnd-robust", "majority", "dawid-skene", "hits"])
def test_a_ranking_comes_back_from_its_file_and_from_a_pickle(method, tmp_path):
    ranking = hnd.rank(simulated(), method=method)
    ranking.save(tmp_path / "ranking.json")
    for again in (hnd.load(tmp_path / "ranking.json"), pickle.loads(pickle.dumps(ranking))):
        assert again == ranking
        assert again.answer_key() == ranking.answer_key()
        np.testing.assert_array_equal(again.standard_errors, ranking.standard_errors)
        assert again.notes == ranking.notes
        assert again.table().equals(ranking.table())
        assert again.to_dict() == ranking.to_dict()
        assert again.fit.choice == ranking.fit.choice
        assert again.fit.alike == ranking.fit.alike
        assert type(again.fit.learnt) is type(ranking.fit.learnt)
    assert hnd.rank(simulated(1), method=method) != ranking != "a ranking"


def test_a_perfect_order_and_an_infinite_lead_come_back(tmp_path):
    table = [list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")]
    ranking = hnd.rank(hnd.Responses.from_wide(table))
    ranking.save(tmp_path / "perfect.json")
    found = hnd.load(tmp_path / "perfect.json").fit
    np.testing.assert_array_equal(found.perfect.order, ranking.fit.perfect.order)
    assert found.perfect.n_orders == ranking.fit.perfect.n_orders
    copies = [list("ABCDA")] * 6 + [list("ABCDB")] * 6
    ranking = hnd.rank(hnd.Responses.from_wide(copies), "latent-key")
    ranking.save(tmp_path / "copies.json")
    found = hnd.load(tmp_path / "copies.json").fit
    assert found.learnt == ranking.fit.learnt
    assert found.alike == ranking.fit.alike


@pytest.mark.parametrize("method", ["auto", "hnd"])
def test_a_perfect_order_of_some_users_comes_back(method, tmp_path):
    """Of two groups that share no item, and beside users without answers."""
    steps = [[*"AAA", None], [*"AAB", None], [*"ABB", None], [*"BBB", None]]
    for others in ([[None, None, None, "A"]] * 2, [[None] * 4]):
        ranking = hnd.rank(hnd.Responses.from_wide([*others, *steps]), method)
        assert ranking.consistent
        if others[0][3] is None:  # everybody who answered is in it, by the number in the data
            assert sorted(ranking.fit.perfect.order.tolist()) == [1, 2, 3, 4]
        ranking.save(tmp_path / "some.json")
        assert hnd.load(tmp_path / "some.json") == ranking


def test_a_sparse_ranking_with_texts_as_labels(tmp_path):
    table = {"user": list("aabbc"), "item": list("xyxzy"), "option": ["é", "b", "é", "d", "b"]}
    ranking = hnd.rank(hnd.Responses.from_long(table), method="majority")
    ranking.save(tmp_path / "r.json")
    assert hnd.load(tmp_path / "r.json") == ranking


def test_the_details_in_json_have_plain_names():
    details = hnd.rank(simulated()).to_dict()["details"]
    assert {"chosen", "why", "starts", "ability_mean"} <= set(details)
    details = hnd.rank(simulated(), "hnd").to_dict()["details"]
    assert set(details) == {"solver", "residual", "eigenvalue"}
    details = hnd.rank(simulated(), "hnd-robust").to_dict()["details"]
    assert set(details) == {"lambda", "mu", "axis", "agreement_with_key_solution"}


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    ranking = hnd.rank(simulated(), method="majority")
    path = tmp_path / "ranking.json"
    ranking.save(path)
    before = path.read_bytes()

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.write", full)
    with pytest.raises(InputError, match="the disk is full"):
        hnd.rank(simulated(1), method="majority").save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["ranking.json"]


def header_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("header.json"))


def changed(path, change):
    """Write the file again with another header."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change(header)
    members["header.json"] = json.dumps(header).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "this is not a saved ranking"),
        (lambda d: d.update(layout=99), "written in layout 99"),
        (lambda d: d["fit"].pop("scores"), "damaged"),
        (lambda d: d["fit"]["scores"].update(shape=[3]), "damaged"),
        (lambda d: d["fit"]["scores"].update(shape=[10**12]), "damaged"),
        (lambda d: d["fit"]["scores"].update(array=99), "damaged"),
        (lambda d: d["fit"]["scores"].update(dtype="|O"), "damaged"),
        (lambda d: d["fit"].update(more=1), "damaged"),
        (lambda d: d["fit"].update(converged=1), "converged cannot be right"),
        (lambda d: d["fit"].update(n_iterations=True), "n_iterations cannot be right"),
        (lambda d: d["fit"].update(notes=["a", 2]), "notes cannot be right"),
        (lambda d: d["fit"].update(correct=d["item_starts"]), "correct cannot be right"),
        (lambda d: d["parameters"].update(threads="x"), "damaged"),
        (lambda d: d.update(method="nothing"), "There is no method 'nothing'"),
    ],
)
def test_damaged_files_get_one_sentence(change, message, tmp_path):
    path = tmp_path / "class.ranking"
    hnd.rank(simulated(), method="majority").save(path)
    changed(path, change)
    with pytest.raises(InputError, match=message):
        hnd.load(path)


def places_in(value, path=()):
    """Where the values of a header are."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from places_in(each, (*path, name))
    elif isinstance(value, list) and len(value) < 50:
        for number, each in enumerate(value):
            yield from places_in(each, (*path, number))
    else:
        yield path


OTHERS = (
    None, True, -1, 0, 2, 10**9, 0.5, -1e300, "", "x", "\ud800", [], [1], {}, {"float": "nan"},
)  # fmt: skip


@pytest.mark.parametrize("method", ["auto", "hnd", "hnd-robust", "dawid-skene"])
def test_whatever_is_changed_is_refused_or_can_be_used(method, tmp_path):
    """A change either gets one sentence, or leaves a ranking that can say all that it says."""
    path, kept = tmp_path / "class.ranking", tmp_path / "kept.ranking"
    hnd.rank(simulated(users=12, items=6), method=method).save(kept)
    places = list(places_in(header_of(kept)))
    rng = np.random.default_rng(0)
    refused = used = 0
    for _ in range(150):
        place = places[rng.integers(len(places))]
        other = OTHERS[rng.integers(len(OTHERS))]

        def change(header, place=place, other=other):
            for name in place[:-1]:
                header = header[name]
            header[place[-1]] = other

        path.write_bytes(kept.read_bytes())
        changed(path, change)
        try:
            ranking = hnd.load(path)
        except InputError:
            refused += 1
            continue
        used += 1
        json.loads(ranking.to_json())
        assert repr(ranking)
        assert ranking.verdict
        ranking.table(), ranking.items(), ranking.option_weights()
    assert refused > 50
    assert used > 5


def test_numbers_too_large_to_square_are_damage(tmp_path):
    path = tmp_path / "class.ranking"
    hnd.rank(simulated(), method="hnd").save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = str(header_of(path)["fit"]["scores"]["array"])
    members[name] = np.full(len(members[name]) // 8, 1e200).tobytes()
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
    with pytest.raises(InputError, match="scores cannot be right"):
        hnd.load(path)


def test_a_cut_or_packed_file_is_refused(tmp_path):
    path = tmp_path / "class.ranking"
    hnd.rank(simulated(), method="majority").save(path)
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(InputError, match="not a saved ranking"):
            hnd.load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
    with pytest.raises(InputError, match="not a saved ranking"):
        hnd.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        hnd.load(tmp_path / "nothing.json")


@examples(20, usual=20)
@given(seed=st.integers(0, 1000), method=st.sampled_from(["auto", "hnd", "hnd-robust", "majority"]))
def test_those_who_are_in_the_ranking_get_the_score_they_have(seed, method):
    responses = simulated(seed, users=25, items=9)
    ranking = hnd.rank(responses, method=method)
    if method == "auto" and ranking.by == "score":
        return
    placed = ranking.score(responses)
    np.testing.assert_allclose(placed.scores, ranking.scores, atol=1e-6)


@pytest.mark.parametrize("method", ["auto", "hnd", "hnd-robust", "majority"])
def test_newcomers_stand_where_a_fit_on_everybody_puts_them(method):
    responses = hnd.simulate("grm", users=400, items=40, options=4, seed=3).responses
    old, new = np.arange(300), np.arange(300, 400)
    everybody = hnd.rank(responses, method=method)
    known = hnd.rank(responses.restrict(old)[0], method=method)
    placed = known.score(responses.restrict(new)[0])
    assert hnd.accuracy(everybody.scores[new], placed.scores) > 0.97
    for told in (known.to_dict(), placed.to_dict()):
        assert {type(user["rank"]) for user in told["users"]} == {int}
    assert placed.of == 300
    assert placed.ranks.min() >= 1
    assert placed.ranks.max() <= 301


def test_unknown_items_and_options_are_told():
    known = hnd.Responses.from_wide(
        [list("AB"), list("AB"), list("AB"), list("BC")], items=["q1", "q2"]
    )
    ranking = hnd.rank(known, method="majority")
    new = hnd.Responses.from_wide(
        [["A", "B", "x"], ["A", "Z", "y"], [None, None, "x"]], items=["q1", "q2", "q9"]
    )
    placed = ranking.score(new)
    assert placed.scores[0] == 1.0
    assert placed.scores[1] == 0.5  # an option that nobody chose is wrong
    assert np.isnan(placed.scores[2])
    told = " ".join(placed.notes)
    assert "1 item not in the ranking left out: q9" in told
    assert "q2: Z" in told
    assert "1 newcomer answered no item" in told
    assert placed.table()["rank"].to_list()[0] == 1.0


def test_what_cannot_be_placed_is_said():
    responses = simulated(options=2)  # hnd-robust takes leanings out: no sums over options
    for method in ("hnd-robust", "hits"):
        with pytest.raises(
            InputError, match=r"cannot place newcomers.* or with hnd or majority\.$"
        ):
            hnd.rank(responses, method=method).score(responses)
    other = hnd.Responses.from_wide([list("AB"), list("BB")], items=["x", "y"])
    for method in ("hnd", "majority"):
        ranking = hnd.rank(responses, method=method)
        np.testing.assert_allclose(ranking.score(responses).scores, ranking.scores)
        with pytest.raises(InputError, match="None of the newcomers' items is in the ranking"):
            ranking.score(other)


def test_a_sample_of_the_users_is_ranked_and_said():
    responses = simulated(users=200)
    ranking = hnd.rank(responses, method="majority", sample=50, seed=3)
    assert len(ranking) == 50
    assert set(ranking.users) <= set(responses.users)
    assert any("A sample of 50 of the 200 users" in note for note in ranking.notes)
    assert hnd.rank(responses, method="majority", sample=50, seed=3) == ranking
    assert len(hnd.rank(responses, method="majority", sample=999)) == 200
    with pytest.raises(InputError, match="at least 2"):
        hnd.rank(responses, method="majority", sample=1)
