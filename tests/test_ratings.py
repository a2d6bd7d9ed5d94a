"""Opinions, marks and sliders are told from tests of knowledge, and said to be that everywhere."""

from __future__ import annotations

import html
import json
import re

import numpy as np
import polars as pl
import pytest
from commands import as_program

import hitsndiffs as hnd
from hitsndiffs.results.ratings import ratings_in
from hitsndiffs.show import report_html

WORDS = np.array(["strongly disagree", "disagree", "undecided", "agree", "strongly agree"])


def ratings(seed: int, users: int, items: int, places: int) -> np.ndarray:
    """What users rate items from 1 to ``places``: some rate high throughout, items differ."""
    rng = np.random.default_rng(seed)
    liked = rng.normal(size=(users, 1)) * 0.6 + rng.normal(size=(1, items)) * 0.6
    liked = liked + rng.normal(size=(users, items))
    return np.clip(np.round(liked * places / 6 + (places + 1) / 2), 1, places).astype(int)


@pytest.mark.parametrize("places", [5, 7, 100])
def test_ratings_are_found_by_how_their_numbers_act(places: int) -> None:
    found = [ratings_in(hnd.Responses.from_wide(ratings(s, 100, 20, places))) for s in range(10)]
    assert sum(map(bool, found)) >= 8
    assert hnd.rank(ratings(0, 100, 20, places)).verdict.doubt == "ratings"


@pytest.mark.parametrize("model", ["bock", "samejima"])
@pytest.mark.parametrize("skipped", [0.0, 0.3], ids=["all answered", "weak users skip with 0"])
def test_the_numbers_of_a_test_name_options(model: str, skipped: float) -> None:
    for seed in range(8):
        sim = hnd.simulate(model, users=80, items=30, options=5, seed=seed)
        r = sim.responses
        rng = np.random.default_rng(seed)
        sizes = np.diff(r.item_starts)
        names = np.concatenate([1 + rng.permutation(size) for size in sizes])
        starts, chosen = r.some_rows(np.arange(r.n_users))
        users = np.repeat(np.arange(r.n_users), np.diff(starts))
        table = np.zeros((r.n_users, r.n_items), dtype=int)
        table[users, r.option_items[chosen]] = names[chosen]
        weak = sim.abilities < np.median(sim.abilities)
        table[weak[:, None] & (rng.random(table.shape) < skipped)] = 0
        assert ratings_in(hnd.Responses.from_wide(table)) == ""


def test_it_is_said_everywhere_and_nobody_is_asked_for_right_answers(tmp_path) -> None:
    words = WORDS[ratings(1, 30, 8, 5) - 1]
    frame = pl.DataFrame({"id": [f"p{k:02}" for k in range(30)]}).with_columns(
        pl.Series(f"q{j}", words[:, j]) for j in range(8)
    )
    path = tmp_path / "survey.csv"
    frame.write_csv(path)
    ranking = hnd.rank(path)
    said = ranking.verdict
    assert (said.doubt, said.asks) == ("ratings", ())
    assert said.help.endswith("hnd.agreement(responses).pairs()")
    assert "agree" in said.reason.values["such"]
    done = as_program("rank", path, "--json")
    told = json.loads(done.out)
    assert told["verdict"]["doubt"] == "ratings"
    assert told["confidence"] < 0.6
    for text in (done.err, report_html(ranking), repr(ranking)):
        shown = html.unescape(re.sub("<[^>]*>", "", text))
        assert str(said) in shown.replace("\n  ", " ")
        assert "To be surer" not in text
    assert "likely answer key" not in as_program("rank", path).err


def test_known_answers_say_that_it_is_a_test() -> None:
    table = ratings(0, 60, 12, 5)
    for told in ({"answers": {0: 3}}, {"strong_user": 3}, {"key": {0: 3, 1: 2}}):
        assert hnd.rank(table, **told).verdict.doubt != "ratings"
