"""Several fits of the latent-key model side by side.

On small data a round takes as long as NumPy needs to be called some sixty times, whatever the size
of the arrays. Fits from several starts, or with several weights of the users, therefore share their
rounds: arrays get one more axis, and every fit ends when it settles, as it would alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import fields
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Flags, Floats
from hitsndiffs.data.progress import tracked
from hitsndiffs.methods.latent_key.candidates import Curves
from hitsndiffs.methods.latent_key.grid import THETA, posterior_of
from hitsndiffs.methods.latent_key.model import KeyFit, KeyProblem, key_round, with_prior
from hitsndiffs.methods.latent_key.problem import Problem, Solution, Start

__all__ = ["fit_all"]

#: Fits share their rounds while all have fewer users and options together than this: then their
#: arrays fit the cache.
SHARED_UP_TO = 10_000


def fit_all(
    problems: Sequence[Problem], starts: Sequence[Start], what: str, *, max_rounds: int
) -> list[Solution]:
    """Fit several problems with the same data and the same known answers, each from its start.

    ``what`` the fits are is shown to whoever waits.
    """
    if len(problems) > 1 and _can_share(problems[0], len(problems)):
        shared = _shared(problems, starts, max_rounds)  # type: ignore[arg-type]
        found = dict(tracked(shared, what, len(problems)))
        return [found[number] for number in range(len(problems))]
    both = zip(problems, starts, strict=True)
    return [
        problem.fit(start, max_rounds=max_rounds)
        for problem, start in tracked(both, what, len(problems))
    ]


def _can_share(problem: Problem, fits: int) -> bool:
    """Whether the model is the plain one, and its data small and here."""
    data = problem.data
    here = data.arrays == "numpy" and not data.compiles
    small = fits * (data.n_users + data.n_options) <= SHARED_UP_TO
    return type(problem) is KeyProblem and here and small


def _shared(
    problems: Sequence[KeyProblem], starts: Sequence[Start], max_rounds: int
) -> Iterator[tuple[int, KeyFit]]:
    """Each fit when it settles, with its number; the rounds are those of :class:`KeyProblem`."""
    first, all_ = problems[0]._first_rounds(starts[0]), copy(problems[0])
    all_.witness = np.column_stack([problem.witness for problem in problems])
    all_.fixed = np.column_stack([problem.fixed for problem in problems])
    numbers, before = np.arange(len(problems)), np.full(len(problems), -np.inf)
    state = _begun(problems, starts)
    for rounds in range(1, max_rounds + 1):
        found, evidence, (curves, chosen) = key_round(all_, state, rounds, _expect)
        settled = (rounds > first) & all_.settles(evidence, before)
        for place in np.flatnonzero(settled | (rounds == max_rounds)).tolist():
            number = int(numbers[place])
            yield (
                number,
                KeyFit(
                    problems[number],
                    found.key[:, place].copy(),
                    found.logs[:, place].copy(),
                    float(evidence[place]),
                    rounds,
                    _of(curves, place),
                    converged=bool(settled[place]),
                ),
            )
        if settled.all():
            return
        going = ~settled
        before, numbers = evidence[going], numbers[going]
        all_.witness, all_.fixed = all_.witness[:, going], all_.fixed[:, going]
        state = _of(curves, going), chosen[:, going]


def _begun(problems: Sequence[KeyProblem], starts: Sequence[Start]) -> tuple[Curves, Floats]:
    """Where the fits begin (see :meth:`.KeyProblem.begin`), side by side."""
    both = zip(problems, starts, strict=True)
    curves, chosen = zip(*(problem.begin(start) for problem, start in both), strict=True)
    columns = ([getattr(one, field.name) for one in curves] for field in fields(Curves))
    return Curves(*(np.stack(column, axis=-1) for column in columns)), np.stack(chosen, axis=1)


def _of(curves: Curves, fits: Any) -> Curves:
    """The curves of some of the fits, or of one."""
    return Curves(*(getattr(curves, field.name)[..., fits].copy() for field in fields(Curves)))


def _expect(all_: KeyProblem, logs: Floats) -> tuple[Floats, Floats]:
    """How many chose each option, by fit and over the grid; and the users' log evidence by fit."""
    chosen, evidence = all_.data.through(
        logs.reshape(len(logs), -1), _expected, all_.witness, *all_.strong_users
    )
    return chosen.reshape(logs.shape), evidence


def _expected(sums: Floats, witness: Floats, strong: Flags | None = None) -> tuple[Floats, Floats]:
    """Each fit's posterior weights on the grid times its weights of the users; log evidence."""
    fits = witness.shape[1]
    strong = None if strong is None else np.repeat(strong, fits)
    weights, _, _, logs = posterior_of(with_prior(sums.reshape(-1, len(THETA)), strong))
    weights *= witness.reshape(-1, 1)
    return weights.reshape(sums.shape), (witness * logs.reshape(witness.shape)).sum(axis=0)
