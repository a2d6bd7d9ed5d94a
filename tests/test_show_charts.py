"""Charts: every one is drawn, says what the numbers say, and takes any name."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any

import numpy as np
import pytest
from factory import c1p_table, examples, make_responses, random_table
from hypothesis import given
from hypothesis import strategies as st
from show_cases import copied, hostile

import hitsndiffs as hnd
from hitsndiffs.show.answers import chosen_options, clean, item_list, right_answers
from hitsndiffs.show.charts import CHARTS, _apart, distinct
from hitsndiffs.show.theme import DARK, LIGHT

pytest.importorskip("altair")
pytest.importorskip("vl_convert")

pytestmark = pytest.mark.xdist_group("report")  # what draws charts takes long to start


def svg_of(chart: Any) -> str:
    """The picture that a notebook shows."""
    return str(chart._repr_mimebundle_()["image/svg+xml"])


def rows_of(spec: object) -> list[dict]:
    """All rows in a chart's data."""
    found: list[dict] = []
    if isinstance(spec, dict):
        data = spec.get("data")
        if isinstance(data, dict) and "values" in data:
            found += data["values"]
        for value in spec.values():
            found += rows_of(value)
    elif isinstance(spec, list):
        for value in spec:
            found += rows_of(value)
    return found


@pytest.fixture(scope="module")
def quiz() -> hnd.Ranking:
    return hnd.rank(hnd.simulate("samejima", users=40, items=25, options=4, seed=3).responses)


@pytest.mark.parametrize("name", [name for name in CHARTS if name != "copies"])
def test_every_chart_can_be_drawn(quiz: hnd.Ranking, name: str) -> None:
    assert svg_of(quiz.plot(name)).startswith("<svg")


def test_copies_are_drawn_where_there_are_some() -> None:
    ranking = hnd.rank(copied())
    rows = rows_of(json.loads(ranking.plot("copies").to_json()))
    named = {row["row"] for row in rows} | {row["column"] for row in rows}
    assert {"student-00", "student-01", "student-02"} <= named
    pair = next(r for r in rows if {r["row"], r["column"]} == {"student-00", "student-01"})
    assert pair["value"] == 1.0
    assert "null" not in svg_of(ranking.plot("copies"))  # the legend's lowest shade


def test_without_copies_a_sentence_says_so(quiz: hnd.Ranking) -> None:
    with pytest.raises(hnd.InputError, match="No users agree more"):
        quiz.plot("copies")


def test_an_unknown_chart_is_named_with_the_others(quiz: hnd.Ranking) -> None:
    with pytest.raises(hnd.InputError, match="no chart 'pie'; the charts are ranking, scores"):
        quiz.plot("pie")
    with pytest.raises(hnd.InputError, match="does not take this option"):
        quiz.plot("ranking", item="q1")
    with pytest.raises(hnd.InputError, match="no item 'q99'"):
        quiz.plot("options", item="q99")
    with pytest.raises(hnd.InputError, match="no user 'nobody'"):
        quiz.plot(users=["nobody"])


def test_the_caterpillar_shows_scores_and_intervals(quiz: hnd.Ranking) -> None:
    rows = rows_of(json.loads(quiz.plot().to_json()))
    by_user = {row["user"]: row for row in rows}
    assert len(by_user) == 40
    for j, user in enumerate(quiz.users):
        row = by_user[str(user)]
        assert row["score"] == pytest.approx(quiz.scores[j])
        reach = 1.96 * quiz.standard_errors[j]
        assert row["low"] == pytest.approx(max(quiz.scores[j] - reach, 0.0))
        assert row["high"] == pytest.approx(min(quiz.scores[j] + reach, 1.0))


def test_some_users_only(quiz: hnd.Ranking) -> None:
    asked = [str(user) for user in quiz.users[[3, 7]]]
    rows = rows_of(json.loads(quiz.plot(users=asked).to_json()))
    assert {row["user"] for row in rows} == set(asked)


def test_many_users_and_items_stay_readable() -> None:
    answers = hnd.simulate(
        "samejima", users=3000, items=60, options=3, answer_probability=0.7, seed=1
    )
    ranking = hnd.rank(answers.responses, method="majority")
    for name in ("ranking", "scores", "answers", "items", "axes"):
        rows = rows_of(json.loads(ranking.plot(name).to_json()))
        assert 0 < len(rows) <= 5000, name


def test_opinions_have_no_picture_of_right_answers() -> None:
    scale = hnd.rank(make_responses(random_table(1, 300, 30, 3)))  # the numbers act as amounts
    for name in ("ranking", "scores", "items", "options"):
        with pytest.raises(hnd.InputError, match="none is right, so there is nothing to draw"):
            scale.plot(name)
    states = {row["answer"] for row in rows_of(json.loads(scale.plot("answers").to_json()))}
    assert states == {"usual", "another"}


def test_a_chart_says_that_its_order_is_in_doubt() -> None:
    table = np.random.default_rng(0).integers(0, 2, (12, 6))
    ranking = hnd.rank(make_responses(table))
    assert ranking.verdict.doubt
    assert ranking.verdict.caption in json.loads(ranking.plot().to_json())["title"]["subtitle"]


def test_right_answers_are_the_key() -> None:
    table = random_table(5, 20, 8, 3, missing=0.2)
    ranking = hnd.rank(make_responses(table), method="majority")
    key = ranking.answer_key()
    users = ranking.order[::2].copy()
    right = right_answers(ranking, chosen_options(ranking, users))
    for row, j in enumerate(users):
        for i in range(8):
            if table[j, i] < 0:
                assert np.isnan(right[row, i])
            else:
                assert right[row, i] == (table[j, i] == key[i])


def test_the_picture_of_consistent_answers_has_two_parts() -> None:
    """In every column the right answers stand together: the paper's consecutive ones."""
    ranking = hnd.rank(make_responses(c1p_table(3, 25, 12, 3)), method="hnd")
    assert ranking.consistent
    rows = rows_of(json.loads(ranking.plot("answers").to_json()))
    for item in {row["item"] for row in rows}:
        states = [row["answer"] for row in rows if row["item"] == item]
        changes = sum(a != b for a, b in itertools.pairwise(states))
        assert changes <= 2


def test_the_answers_as_they_were_read(quiz: hnd.Ranking) -> None:
    rows = rows_of(json.loads(quiz.plot("answers", as_read=True).to_json()))
    assert list(dict.fromkeys(row["user"] for row in rows)) == [str(u) for u in quiz.users]
    items = [str(item) for item in quiz.responses.items]
    assert list(dict.fromkeys(row["item"] for row in rows)) == items
    sorted_rows = rows_of(json.loads(quiz.plot("answers").to_json()))
    assert {tuple(row.items()) for row in rows} == {tuple(row.items()) for row in sorted_rows}


def test_items_of_another_group_are_not_drawn() -> None:
    table = np.full((10, 8), -1)
    table[:6, :5] = random_table(1, 6, 5, 2)
    table[6:, 5:] = random_table(2, 4, 3, 2)
    ranking = hnd.rank(make_responses(table), method="majority")
    rows = rows_of(json.loads(ranking.plot("answers").to_json()))
    assert {row["item"] for row in rows} == set("01234")


def test_doubtful_items_are_marked() -> None:
    sim = hnd.simulate("samejima", users=150, items=12, options=3, seed=2)
    ranking = hnd.rank(sim.responses)
    key = ranking.answer_key()
    first = next(iter(key))
    labels = set(sim.responses.option_labels[sim.responses.option_items == 0].tolist())
    key[first] = min(labels - {key[first]})
    found = item_list(ranking, key)
    assert found[0].remark.startswith("mis-keyed?")
    assert min(found, key=lambda item: item.urgency) == found[0]
    rows = rows_of(json.loads(ranking.plot("items", key=key).to_json()))
    assert any("mis-keyed" in row["remark"] for row in rows)
    options = rows_of(json.loads(ranking.plot("options", item=first, key=key).to_json()))
    assert {row["role"] for row in options} == {"key", "given", "other"}


def test_names_of_doubtful_items_do_not_cover_each_other() -> None:
    sim = hnd.simulate("samejima", users=150, items=30, options=4, seed=2)
    ranking = hnd.rank(sim.responses, method="majority")
    labels = ["A", "B", "C", "D"]
    key = {i: min(set(labels) - {a}) for i, a in ranking.answer_key().items()}
    chart = ranking.plot("items", key=key)
    _, marked, named = (rows_of(json.loads(part.to_json())) for part in chart.layer)
    assert 3 < len(named) < len(marked)
    svg = svg_of(ranking.plot("items", key=key))
    names = re.findall(r'translate\(([\d.]+),([\d.-]+)\)"[^>]*>(item-\d+)</text>', svg)
    assert len(names) == len(named)
    for (x, y, name), (x2, y2, _) in itertools.permutations(names, 2):
        wide = 5.5 * len(name)
        assert not (0 <= float(x2) - float(x) < wide and abs(float(y2) - float(y)) < 10)


def test_the_key_is_the_thick_line_and_others_are_thin() -> None:
    ranking = hnd.rank(hnd.simulate("samejima", users=60, items=6, options=3, seed=2).responses)
    key = dict(ranking.answer_key())
    first = next(iter(key))
    labels = ranking.responses.option_labels[ranking.responses.option_items == 0].tolist()
    key[first] = min(set(labels) - {key[first]})
    svg = svg_of(ranking.plot("options", item=first, key=key))
    lines = re.findall(r'd="M[^"]*L[^"]*" stroke="([^"]*)" stroke-width="([^"]*)"', svg)
    assert dict(lines) == {LIGHT["accent"]: "3", LIGHT["warn"]: "2.2", LIGHT["quiet"]: "1.2"}


def test_hostile_names_are_data_not_markup() -> None:
    ranking = hnd.rank(hostile())
    for name in ("ranking", "answers", "items", "options"):
        svg = svg_of(ranking.plot(name))
        assert "<img" not in svg
        assert "<script" not in svg


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def contrast(a: str, b: str) -> float:
    bright, dark = sorted((luminance(a), luminance(b)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_text_can_be_read(palette: dict[str, str]) -> None:
    for text in ("ink", "muted", "accent", "warn"):
        assert contrast(palette[text], palette["surface"]) >= 4.5, text
    # right and wrong differ in brightness too, for people who see no colour
    assert contrast(palette["accent"], palette["warn-soft"]) >= 2.5


def test_a_notebook_shows_a_chart_without_the_network(quiz: hnd.Ranking) -> None:
    import altair as alt

    chart = quiz.plot()
    assert isinstance(chart, alt.LayerChart)
    shown = chart._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert "cdn" not in str(shown)
    changed = chart.properties(width=500)
    assert "image/svg+xml" in changed._repr_mimebundle_()
    assert changed.to_dict()["width"] == 500
    with alt.renderers.enable("json"):
        assert "application/json" in chart._repr_mimebundle_()[0]


def test_comparisons_draw_themselves() -> None:
    r = make_responses(random_table(0, 30, 10, 3))
    found = hnd.compare(r, ["hnd", "majority", "hits"])
    rows = rows_of(json.loads(found.plot().to_json()))
    assert len(rows) == 3  # pairs
    with pytest.raises(hnd.InputError, match="Two methods or more"):
        hnd.compare(r, ["hnd"]).plot()


@examples(200, usual=30)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=20))
def test_names_stay_apart(labels: list[str]) -> None:
    unique = list(dict.fromkeys(labels))
    names = distinct(unique, 10)
    assert all(name.isprintable() and name for name in names)
    cleaned = [clean(label, 10) for label in unique]
    numbered = [name for name, plain in zip(names, cleaned, strict=True) if name != plain]
    assert len(set(numbered)) == len(numbered)


@examples(50)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_names_beside_lines_do_not_overlap(ends: list[float]) -> None:
    places = sorted(_apart(ends))
    assert all(b - a >= 0.07 - 1e-9 for a, b in itertools.pairwise(places))
    assert places[-1] <= 1.0
