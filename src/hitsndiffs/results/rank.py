"""``rank``: whatever a caller gives, ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from hitsndiffs.data.lookup import mapping_of
from hitsndiffs.data.progress import working
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count
from hitsndiffs.engines import Engine, is_dask_frame
from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS, make
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.results.ranking import Ranking

__all__ = ["key_parameter", "rank", "right_answers", "spelled"]

QUANTITIES = ("correct", "ability")
#: Parameters that every method has, with their defaults.
METHOD_DEFAULTS = {"seed": 0, "engine": "auto"}
#: Stands where an answer has to be filled in (:attr:`hitsndiffs.results.verdict.Verdict.help`).
BLANK = "_"


def rank(
    responses: Any,
    method: str = "auto",
    *,
    answers: Any = None,
    key: Any = None,
    strong_user: Any = None,
    group: Any = None,
    reading: int | None = None,
    by: str | None = None,
    seed: int = 0,
    engine: str = "auto",
    threads: int | None = None,
    bootstrap: int = 0,
    sample: int | None = None,
    **params: Any,
) -> Ranking:
    """Rank users by ability, from their answers alone.

    A Dask frame, or what ``hnd.read_responses(…, engine="dask")`` returns, is ranked on the
    cluster; the result is a :class:`~hitsndiffs.results.cluster.ClusterRanking`.

    Parameters
    ----------
    responses
        The answers: a path (or several), a DataFrame or a 2-D array with one row per user (or a
        DataFrame with one row per answer), a SciPy sparse matrix (users × items with codes, or
        users × options with ones), or :class:`~hitsndiffs.Responses`.
    method
        A name of :data:`hitsndiffs.METHODS`.
    answers
        Right answers that are certain: a mapping (item → option), a Series, a frame with the
        columns item and answer, or a file of them.
    key
        An answer key that may err, given likewise. Scores by the key stand beside the
        ranking's own (:attr:`Ranking.key_scores`); methods that have a use for a key get it.
    strong_user
        A user who is certainly good.
    group
        Users who count once together, such as runs of one model: a mapping (user → group), or
        the name of a column of the data.
    reading
        Rank by another reading of the answers (2, 3, …; see :attr:`Ranking.readings`).
    by
        ``"correct"`` (expected share of right answers) or ``"ability"`` (latent ability): what
        the scores are, for methods that have both. Default: what the method does best.
    seed
        Seed of random starts; the same seed gives the same result.
    engine, threads
        What runs the computation (:func:`hitsndiffs.engines.open_engine`).
    bootstrap
        Standard errors from this many random halves of the items instead of the method's own.
    sample
        Rank only this many users, drawn at random, in the order of the data.
    **params
        Further parameters of the method, for example ``solver=``, and what
        :func:`hitsndiffs.read_responses` takes, for example ``user=``.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> r = hnd.Responses.from_wide(
    ...     [list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")], users=list("vwxyz")
    ... )
    >>> ranking = hnd.rank(r, method="hnd")
    >>> ranking.ranks.tolist(), ranking.consistent
    ([1.0, 2.0, 3.0, 4.0, 5.0], True)
    >>> ranking.answer_key()
    {0: 'A', 1: 'A', 2: 'A'}
    >>> list(ranking)
    ['v', 'w', 'x', 'y', 'z']
    """
    given = {"strong_user": strong_user, "group": group, "reading": reading, "threads": threads}
    params |= {name: value for name, value in given.items() if value is not None}
    params |= {name: value for name, value in (("seed", seed), ("engine", engine))
               if value != METHOD_DEFAULTS[name]}  # fmt: skip
    if isinstance(responses, Engine) or is_dask_frame(responses):
        from hitsndiffs.results.cluster import rank_there

        known = {"answers": answers, "key": key}
        params |= {name: value for name, value in known.items() if value is not None}
        return rank_there(responses, method, by, bootstrap, params)  # type: ignore[no-any-return]
    responses, params = as_told(responses, params)
    responses, params = with_groups(responses, method, params)
    responses, params, given_key = right_answers(responses, method, params, answers, key)
    if sample is not None:
        responses = sampled(responses, sample, seed)
    if by is not None and by not in QUANTITIES:
        raise InputError(f"by must be one of {', '.join(QUANTITIES)}; got {by!r}.")
    estimator = make(method, **params)
    with working("Ranking"):
        estimator.fit(responses)
        ranking = Ranking.of(responses, estimator, by, given_key=given_key)
        return ranking.bootstrapped(bootstrap) if bootstrap else ranking


def as_told(data: Any, params: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Read data as the caller says (``user=``, ``items=``, …); the other parameters are left.

    >>> table = {"name": ["a", "b"], "q1": ["A", "B"], "q2": ["A", "B"]}
    >>> as_told(table, {"user": "name", "solver": "power"})
    (Responses(2 users × 2 items, 4 options, 4 responses), {'solver': 'power'})
    """
    if not params or isinstance(data, Responses):
        return data, params
    from hitsndiffs.reading import read_responses
    from hitsndiffs.reading.options import ReadingOptions

    names = {field.name for field in fields(ReadingOptions)} - {"group"}
    told = {name: value for name, value in params.items() if name in names}
    if not told:
        return data, params
    if isinstance(params.get("group"), str):
        told["group"] = params["group"]
    rest = {name: value for name, value in params.items() if name not in told}
    return read_responses(data, **told), rest


def with_groups(
    table: Any, method: str, params: dict[str, Any]
) -> tuple[Responses, dict[str, Any]]:
    """Responses, and the parameters with the groups: of a column, or read with the responses.

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
        said = f"Method {method!r} takes no groups: every user counts separately."
        return responses.with_notes([*responses.notes, said]), params
    return responses, {**params, "group": responses.groups}


def key_parameter(method: str) -> str:
    """The parameter in which a method takes right answers: a hint, or the key that it requires.

    >>> key_parameter("auto"), key_parameter("true-answer")
    ('answers', 'key')
    """
    names = METHODS[method]().get_params() if method in METHODS else {}
    return "key" if "answers" not in names and "key" in names else "answers"


def right_answers(
    responses: Responses, method: str, params: dict[str, Any], answers: Any, key: Any
) -> tuple[Responses, dict[str, Any], Mapping[Any, Any] | None]:
    """Check known answers and a key against the answers, in whatever form they are given.

    They are spelled as the answers are, as in reading. Returns the responses (with notes on what
    did not fit), the parameters of the method, and the key.
    """
    notes: list[str] = []
    given = {name: told for name, told in (("answers", answers), ("key", key))
             if told is not None and not (isinstance(told, Mapping) and not told)}  # fmt: skip
    found = {name: _read(told, responses, name, notes) for name, told in given.items()}
    if notes:
        responses = responses.with_notes([*responses.notes, *notes])
    has = METHODS[method]().get_params() if method in METHODS else {}
    own = {name: told for name, told in found.items() if name == "answers" or name in has}
    return responses, {**params, **own}, found.get("key")


def _read(given: Any, responses: Responses, name: str, notes: list[str]) -> dict[Any, Any]:
    """Item → option, spelled as in the data; an answer that nobody gave stays as it is."""
    from hitsndiffs.reading import read_key

    told = mapping_of(given)
    if told is None:
        told = read_key(given, responses)
        notes += told.notes  # also on answers that nobody gave
        return spelled(told, responses, name)[0]
    found, unchosen = spelled(told, responses, name)
    notes += unchosen
    return found


def spelled(
    given: Mapping[Any, Any], responses: Responses, name: str
) -> tuple[dict[Any, Any], list[str]]:
    """Right answers (item → option), spelled as in the data, and a sentence for each nobody gave.

    The sentences call them by the ``name``.
    """
    from hitsndiffs.data.cells import normalise

    items, found, unchosen = responses.structure, {}, []
    for item, answer in given.items():
        if isinstance(answer, (list, tuple, set, frozenset)):
            answer = ";".join(map(str, answer))
        if normalise(answer) is None:
            continue  # a blank in a key
        place = items.places.get(str(item).strip())
        if place is not None:
            own = items.option_labels[slice(*items.starts[place : place + 2])]
            texts = [str(label) for label in own.tolist()]
            shown = f"the answers given are {', '.join(texts[:6])}."
            if str(answer) == BLANK and BLANK not in texts:
                raise InputError(
                    f"{name}: put the right answer to {str(item)!r} in place of {BLANK!r}; {shown}"
                )
            options = items.options_named(place, str(answer))
            if not options:
                said = f"{name}: nobody chose {str(answer)!r} in {str(item)!r}; {shown}"
                unchosen.append(said)
            else:
                answer = ";".join(str(items.option_labels[option]) for option in options)
        found[item] = answer
    return found, unchosen


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
