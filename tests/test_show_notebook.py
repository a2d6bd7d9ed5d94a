"""How results look in a notebook: everything that matters, nothing that could do harm."""

from __future__ import annotations

import subprocess
import sys

import pytest
from factory import make_responses, random_table
from show_cases import HOSTILE, Html, hostile

import hitsndiffs as hnd


def test_a_ranking_shows_verdict_errors_notes_and_the_answers_behind() -> None:
    sim = hnd.simulate("samejima", users=50, items=30, seed=1)
    ranking = hnd.rank(sim.responses)
    page = Html(ranking._repr_html_())
    words = page.words
    assert str(ranking.verdict) in words
    assert "50 users, 30 items; method auto" in words
    assert len(page.of("svg")) == 15
    for note in ranking.notes:
        assert note in words
    key, r, best = ranking.answer_key(), ranking.responses, ranking.order[0]
    indptr, chosen = r.rows
    own = chosen[indptr[best] : indptr[best + 1]]
    wrong = [
        f"{r.items[i]}: {label}"
        for i, label in zip(r.option_items[own], r.option_labels[own], strict=True)
        if key[r.items[i]] != label
    ]
    for line in wrong[:15]:
        assert line in words


def test_responses_show_their_corner() -> None:
    table = random_table(0, 20, 12, 3, missing=0.2)
    r = make_responses(table, users=[f"u{j}" for j in range(20)])
    words = Html(r._repr_html_()).words
    assert "Responses: 20 users × 12 items" in words
    assert "u5" in words
    assert "u6" not in words
    assert "14 more users and 4 more items" in words


def test_a_comparison_gives_advice() -> None:
    found = hnd.compare(make_responses(random_table(0, 30, 10, 3)), ["hnd", "majority", "grm"])
    words = Html(found._repr_html_()).words
    assert found.advice() in words
    assert "grm was left out" in words


@pytest.mark.parametrize("kind", ["ranking", "responses", "comparison"])
def test_hostile_names_do_no_harm(kind: str) -> None:
    r = hostile()
    thing = {
        "ranking": lambda: hnd.rank(r, "majority"),
        "responses": lambda: r,
        "comparison": lambda: hnd.compare(r, ["hnd", "majority"]),
    }[kind]()
    page = Html(thing._repr_html_())
    assert page.is_harmless()
    assert not page.of("script")
    if kind != "comparison":
        assert any(HOSTILE[0] in text for text in page.text)


def test_nothing_needs_to_be_installed() -> None:
    """The views of a notebook work without the extra, and load no chart library."""
    code = """
import sys
for name in ("altair", "vl_convert", "jinja2"):
    sys.modules[name] = None
import hitsndiffs as hnd
r = hnd.Responses.from_wide([list("AAA"), list("AAB"), list("ABB")])
r._repr_html_(), hnd.rank(r)._repr_html_(), hnd.compare(r, ["hnd", "majority"])._repr_html_()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
