"""Stories: valid data, settled by their number, and a section that has them all."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.arena import stories
from benchmarks.arena.stories import Outcome
from benchmarks.arena.story_kinds import STORIES
from hitsndiffs import Responses


@pytest.mark.parametrize("name", STORIES)
def test_stories_are_valid_and_settled_by_their_number(name):
    story, again, other = stories.told(name, 0), stories.told(name, 0), stories.told(name, 3)
    assert np.array_equal(story.codes, again.codes)
    assert not np.array_equal(story.codes, other.codes)
    assert story.codes.min() >= -1
    assert len(np.unique(story.codes)) > 1
    assert Responses.from_wide(story.codes).n_items == story.codes.shape[1]
    if story.right is not None:
        assert not (story.right & (story.codes < 0)).any()
        shares = stories.true_shares(story)
        assert np.nanstd(shares) > 0
    if story.key is not None:
        assert story.key.shape == story.codes.shape[1:]
        assert story.key.min() >= 0
        assert story.right is None or np.array_equal(story.right, story.codes == story.key)


def test_there_are_stories_of_every_sort():
    made = [stories.told(name, 0) for name in STORIES]
    assert sum(story.right is None for story in made) >= 5
    assert any(story.right is not None and story.key is None for story in made)


def test_the_section_has_every_story_and_counts_what_was_sure_and_wrong():
    found = [Outcome(name, 0.7, 0.9, ((0.95, True), (0.55, False))) for name in STORIES]
    found += [
        Outcome("plain exam", 0.85, 0.9),
        Outcome("myths", 0.85, -0.9, mended=True),
        Outcome("noise", 0.82, None),
    ]
    made = stories.section(found)
    text = made.replace("\n", " ")
    assert all(f"| **{name}**: " in made for name in STORIES)
    assert "2 were said to be at least 80 % sure, and 1 of these (50 %) were right" in text
    assert "Of 1 with nothing to find, 1 were said" in text
    assert "| 0.8–0.9 | 2 | 0.85 | 0.50 |" in made
    assert f"| 0.9–1.0 | {len(STORIES)} | 0.95 | 1.00 |" in made
    assert "1 data sets with one key for all that it was sure and wrong about, 1 came" in text


def test_a_run_writes_between_the_marks(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(
        f"before\n\n{stories.BEGIN}\nformer figures\n{stories.END}\n\nafter\n", encoding="utf-8"
    )
    stories.main(["--runs", "1", "--stories", "plain exam", "--page", str(page)])
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith(f"{stories.END}\n\nafter\n")
    assert "former figures" not in text
    assert capsys.readouterr().out.strip() in text
    with pytest.raises(SystemExit, match="has no place"):
        stories.written("no marks", "")
