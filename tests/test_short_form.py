"""Short forms keep the order of new users better than as many random items."""

from __future__ import annotations

import numpy as np
import pytest

import hitsndiffs as hnd
from hitsndiffs.results.short_form import short_form


def test_a_short_form_beats_random_items_on_new_users() -> None:
    rng = np.random.default_rng(0)
    slope = np.where(np.arange(60) < 12, 2.5, 0.3)  # a fifth of the items tell users apart

    def sheets(n: int) -> tuple[np.ndarray, np.ndarray]:
        ability = rng.normal(size=n)
        p = 1 / (1 + np.exp(-slope * (ability[:, None] - rng.normal(size=60) * 0.5)))
        return ability, rng.random(p.shape) < p

    _, right = sheets(300)
    r = hnd.Responses.from_wide(np.where(right, "A", "B"))
    ranking = hnd.rank(r, method="true-answer", key=dict.fromkeys(range(60), "A"))
    found = short_form(ranking, sizes=[5, 12, 30])
    rows = found.table()
    assert rows["items"].to_list() == [5, 12, 30]
    kept = rows["order_kept"].to_list()
    assert kept == sorted(kept)
    assert np.isin(found.items[:12], np.arange(12)).mean() >= 0.6  # 0.2 by chance
    ability, new = sheets(400)
    good = hnd.accuracy(ability, new[:, found.items[:12]].sum(1))
    chance = [hnd.accuracy(ability, new[:, rng.permutation(60)[:12]].sum(1)) for _ in range(20)]
    assert good > np.mean(chance) + 0.1
    assert good > max(chance) - 0.05
    assert "30 items of 60" in found.sentence(enough=kept[2])
    assert "do not keep the order" in found.sentence(enough=1.01)


def test_sizes_must_be_smaller_than_the_test() -> None:
    r = hnd.Responses.from_wide([list("ABC"), list("ABD"), list("BBC"), list("ABC")])
    ranking = hnd.rank(r, method="majority")
    with pytest.raises(hnd.InputError, match="below 3"):
        short_form(ranking, sizes=[3])
