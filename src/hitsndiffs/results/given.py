"""What a caller gives to be ranked: a table or responses, groups of users, a sample size."""

from __future__ import annotations

from typing import Any

import numpy as np

from hitsndiffs.data.responses import Responses
from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS
from hitsndiffs.results.wording import count

__all__ = ["as_responses", "key_parameter", "sampled", "with_groups"]


def as_responses(table: Any, group: str | None = None) -> Responses:
    """Responses unchanged; any other table is read as wide or long, whichever it is."""
    return table if isinstance(table, Responses) else Responses.from_table(table, group=group)


def with_groups(
    table: Any, method: str, params: dict[str, Any]
) -> tuple[Responses, dict[str, Any]]:
    """Return responses, and the parameters with the groups from a column of the data.

    Parameters
    ----------
    table
        Responses, or a table.
    method, params
        How they are ranked. ``group`` may name a column of the table; without it, groups that were
        read with the responses are used.

    Examples
    --------
    >>> table = {"user": ["a", "b"], "q1": ["A", "B"], "team": ["x", "x"]}
    >>> with_groups(table, "auto", {"group": "team"})[1]
    {'group': {'a': 'x', 'b': 'x'}}
    """
    named = params.get("group")
    if not isinstance(named, str):
        responses = as_responses(table)
        if named is not None or responses.groups is None:
            return responses, params
    elif isinstance(table, Responses):
        raise InputError(
            f"group {named!r}: these answers have already been read and have no columns any more; "
            "name the column when you read them, or pass a mapping of users to groups."
        )
    else:
        responses = as_responses(table, named)
    if named is None and method in METHODS and "group" not in METHODS[method]().get_params():
        said = f"Method {method!r} takes no groups: every user counts as a witness."
        return responses.with_notes([*responses.notes, said]), params
    return responses, {**params, "group": responses.groups}


def key_parameter(method: str) -> str:
    """The parameter in which a method takes right answers: a hint, or the key that it requires.

    >>> key_parameter("auto"), key_parameter("true-answer")
    ('answers', 'key')
    """
    names = METHODS[method]().get_params() if method in METHODS else {}
    return "key" if "answers" not in names and "key" in names else "answers"


def sampled(responses: Responses, size: int, seed: int) -> Responses:
    """Responses of ``size`` users, drawn at random."""
    if size < 2:
        raise InputError(f"sample must be at least 2 users (or left out); got {size}.")
    if size >= responses.n_users:
        return responses
    users = np.random.default_rng(seed).choice(responses.n_users, size, replace=False)
    part = responses.select(np.sort(users))
    said = f"A sample of {size:,} of the {count(responses.n_users, 'user')}, drawn at random."
    return part.with_notes([*responses.notes, said])
