"""Random sequences of calls of the library, against the naive oracle (a state machine)."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path
from typing import Any

import naive
import numpy as np
from factory import make_responses, random_table
from hypothesis import HealthCheck, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

import hitsndiffs as hnd
from hitsndiffs.engines import open_engine
from hitsndiffs.errors import InputError

seeds = st.integers(0, 10_000)


class Calls(RuleBasedStateMachine):
    """Responses that are sorted, cut, saved, ranked, and asked, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.table = random_table(0, 8, 5, 3)
        self.r: Any = make_responses(self.table)
        self.ranking: Any = None

    @rule(number=seeds, m=st.integers(2, 12), n=st.integers(1, 7), gaps=st.booleans())
    def new_data(self, number: int, m: int, n: int, gaps: bool) -> None:
        self.table = random_table(number, m, n, 3, missing=0.3 * gaps)
        self.table[:, 0] = np.maximum(self.table[:, 0], 0)  # everybody answers something
        self.r, self.ranking = make_responses(self.table, sparse=number % 2 == 0), None

    @rule(number=seeds)
    def some_users(self, number: int) -> None:
        m = len(self.table)
        if m < 4:
            return
        users = np.sort(np.random.default_rng(number).permutation(m)[: max(2, m // 2)])
        part, _ = self.r.restrict(users)
        self.table = self.table[users]
        self.r, self.ranking = part, None

    @rule(number=seeds, engine=st.sampled_from(["numpy", "threads"]))
    def sums(self, number: int, engine: str) -> None:
        data, matrix = open_engine(self.r, engine), naive.one_hot(self.r)
        rng = np.random.default_rng(number)
        w, s = rng.normal(size=matrix.shape[1]), rng.normal(size=matrix.shape[0])
        assert np.allclose(data.collect(data.choices(w)), naive.choices(matrix, w), atol=1e-12)
        assert np.allclose(data.choosers(s), naive.choosers(matrix, s), atol=1e-12)

    @rule(method=st.sampled_from(["hnd", "majority", "hits", "dawid-skene", "abh", "hnd-robust"]))
    def ranks(self, method: str) -> None:
        try:
            self.ranking = hnd.rank(self.r, method)
        except InputError as error:
            assert str(error).endswith(".")  # noqa: PT017

    @precondition(lambda self: self.ranking is not None)
    @rule()
    def saves_and_loads(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ranking.json"
            self.ranking.save(path)
            loaded = hnd.load(path)
        assert loaded == self.ranking
        self.ranking = loaded

    @precondition(lambda self: self.ranking is not None)
    @rule()
    def asks(self) -> None:
        best = self.ranking.order[0]
        assert self.ranking.ranks[best] == np.nanmin(self.ranking.ranks)
        assert len(self.ranking.table()) == self.r.n_users
        assert len(str(self.ranking)) > 10
        low, high = self.ranking.rank_intervals()
        known = np.isfinite(low)
        assert (low[known] <= high[known]).all()

    @invariant()
    def answers_are_what_they_were(self) -> None:
        answered = self.table >= 0
        assert self.r.n_responses == answered.sum()
        assert np.array_equal(self.r.answers_per_user, answered.sum(axis=1))
        matrix = naive.one_hot(self.r)
        assert np.array_equal(matrix.sum(axis=0), self.r.choosers_per_option)


class States:
    """Some sequences of calls; an input is one sequence."""

    def make(self, rng: random.Random) -> int:
        return rng.randrange(2**31)

    def run(self, given: int, folder: Path, sequences: int = 1) -> str:
        quiet = settings(
            max_examples=sequences,
            stateful_step_count=12,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        seeded: Any = seed(given)(type("Calls", (Calls,), {}))
        run_machine(seeded, settings=quiet)
        return "kept"
