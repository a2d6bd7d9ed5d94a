"""All methods side by side on the same data."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.data.display import Viewed, view
from hitsndiffs.data.lookup import answers_here, covered_items
from hitsndiffs.data.progress import step, working
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, joined
from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.errors import ConvergenceWarning, InputError
from hitsndiffs.methods import METHODS, Method, TrueAnswer, make
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.methods.keys import key_given
from hitsndiffs.results.cells import Cells, Tabled
from hitsndiffs.results.metrics import accuracy

__all__ = ["Compared", "Comparison", "compare"]


#: Methods that rank nobody; left out unless requested.
NO_RANKING = ("avghits",)
#: Methods that take some seconds with this many answers, and longer with more; there they are left
#: out unless requested.
SLOW = {"glad": 200_000, "mace": 2_000_000, "minimax-entropy": 30_000}
#: Methods that are told the key: what they rank by is what the others are judged by.
TOLD = ("true-answer", "grm")
#: Methods whose accuracy is this close to the best count as equally good.
AS_GOOD = 0.01
#: A method that agrees with the others less than this measures something else.
APART = 0.5
#: A key of fewer items than this share judges how the methods do on those, not on the rest.
ENOUGH = 0.5


@dataclass(frozen=True, eq=False)
class Compared:
    """One method in a comparison.

    Attributes
    ----------
    method
        Its name.
    scores
        One per user of the largest component (NaN for the others); ``None`` if it failed.
    seconds, converged, n_iterations
        Duration of the fit, whether it converged, and its rounds.
    accuracy
        Spearman against the share of right answers under the key, if one was given.
    key_recovered
        Share of the given key that the method infers; ``None`` for a method that was told it.
    error
        Why the method does not apply, in a sentence; ``None`` if it does.
    """

    method: str
    scores: Floats | None = None
    seconds: float = float("nan")
    converged: bool = False
    n_iterations: int = 0
    accuracy: float | None = None
    key_recovered: float | None = None
    error: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Tabled, Viewed):
    """Methods side by side: how they agree, how long they took, how right they are.

    Attributes
    ----------
    responses
        The data.
    results
        One :class:`Compared` per method, in the order requested.
    correlations
        Spearman's correlation between the scores of each pair of methods, over the users whom
        both rank (NaN where one failed or has no spread).
    true_scores
        Share of right answers under the key, if one was given.
    key_items
        How many items the key covers.
    """

    ROWS = "table"

    responses: Responses
    results: tuple[Compared, ...]
    correlations: Floats
    true_scores: Floats | None = None
    key_items: int = 0

    @property
    def methods(self) -> tuple[str, ...]:
        """Names of the methods."""
        return tuple(result.method for result in self.results)

    def __getitem__(self, method: str) -> Compared:
        """The result of one method."""
        for result in self.results:
            if result.method == method:
                return result
        raise KeyError(method)

    def rows(self) -> list[dict[str, Any]]:
        """One row per method, as in :meth:`table`.

        With a key, the most accurate first; then those that are told the key; failures last.
        """
        rows = []
        for number, result in enumerate(self.results):
            others = np.delete(self.correlations[number], number)
            agreement = others[~np.isnan(others)]
            row = {"method": result.method, "accuracy": result.accuracy}
            row |= {"key_recovered": result.key_recovered}
            row |= {"agreement": float(agreement.mean()) if len(agreement) else None}
            done = {"seconds": result.seconds, "converged": result.converged}
            done |= {"rounds": result.n_iterations}
            rows.append({**row, **(dict.fromkeys(done) if result.error else done),
                         "error": result.error})  # fmt: skip

        def place(row: dict[str, Any]) -> tuple[bool, bool, float]:
            known = _known(row["accuracy"])
            told = known and row["method"] in TOLD
            return row["error"] is not None, told, -row["accuracy"] if known else 0.0

        return sorted(rows, key=place)

    def cells(self) -> Cells:
        """One row per method, with its correlation to every other one."""
        rows = self.rows()
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in rows[0]}
        places = [self.methods.index(row["method"]) for row in rows]
        for other, name in enumerate(self.methods):
            columns[f"with_{name}"] = self.correlations[places, other]
        cells = Cells.of(columns, share="key_recovered", number="accuracy agreement seconds",
                         whole="rounds", flag="converged", words="error")  # fmt: skip
        heads = {"accuracy": "with the key", "key_recovered": "key found", "converged": "settled"}
        return Cells(cells.columns, cells.kinds, heads)

    def sentence(self) -> str:
        """Say in a sentence or two which method to use."""
        return self.advice()

    def advice(self) -> str:
        """Which method to use: by the key if there is one, else by how far they agree."""
        rows = [row for row in self.rows() if row["error"] is None]
        if not rows:
            return "No method can be used on these data."
        if len(rows) == 1:
            return f"Only {rows[0]['method']} was fitted, so there is nothing to compare it with."
        if self.true_scores is None:
            return _by_agreement(self, rows)
        n_items = self.responses.n_items
        if self.key_items < ENOUGH * n_items:
            few = f"The key covers {self.key_items} of {count(n_items, 'item')}, too few to judge"
            return f"{few} by it. {_by_agreement(self, rows)}"
        return _by_key(rows)

    def __repr__(self) -> str:
        r = self.responses
        methods = count(len(self.results), "method")
        lines = [f"Comparison of {methods}: {r.n_users} users × {r.n_items} items"]
        for row in self.rows():
            known = [f"{name} {row[name]:.2f}" for name in ("agreement", "accuracy") if row[name]]
            said = "does not apply" if row["error"] else ", ".join(known)
            lines.append(f"     {row['method']:<20} {said}")
        return "\n".join(lines)

    def plot(self) -> Any:
        """Draw how alike each pair of methods ranks, and return the chart (a Vega-Altair chart)."""
        return view("plot_comparison")(self)

    def facts(self) -> dict[str, Any]:
        """The methods one by one, with all their scores, and how alike they rank."""
        methods = {}
        for result in self.results:
            entry = {f.name: getattr(result, f.name) for f in fields(result) if f.name != "method"}
            methods[result.method] = entry
        alike = zip(self.methods, self.correlations, strict=True)
        return {
            "n_users": self.responses.n_users,
            "n_items": self.responses.n_items,
            "n_responses": self.responses.n_responses,
            "users": [str(user) for user in self.responses.users],
            "methods": methods,
            "correlations": {row: dict(zip(self.methods, own, strict=True)) for row, own in alike},
            "true_scores": self.true_scores,
        }


def compare(
    responses: Any,
    methods: Iterable[str | Method] | None = None,
    key: Mapping[Any, Any] | None = None,
    seed: int = 0,
) -> Comparison:
    """Fit several methods to the same data, and put the results side by side.

    Parameters
    ----------
    responses
        The data: :class:`~hitsndiffs.Responses`, or any table.
    methods
        Names of methods, or methods with their parameters set (default: all that rank).
    key
        The right option of each item (or some items), item → option. It is used to judge the
        methods, and passed to those that take a key. Default: the key that came with the data, if
        any.
    seed
        Seed of methods given by name.

    Examples
    --------
    >>> from hitsndiffs import Responses
    >>> r = Responses.from_wide([list("AAA"), list("AAB"), list("ABB"), list("BBC"), list("BCD")])
    >>> found = compare(r, ["hnd", "majority"], key={0: "A", 1: "A", 2: "A"})
    >>> round(found["hnd"].accuracy, 3)
    0.975
    """
    responses = as_responses(responses)
    if key is None:
        key = responses.key
    chosen = [_prepared(m, key, seed) for m in (METHODS if methods is None else methods)]
    if methods is None:
        chosen = [m for m in chosen if m.name not in NO_RANKING]
    if repeated := {m.name for m in chosen if [n.name for n in chosen].count(m.name) > 1}:
        raise InputError(f"Method {min(repeated)!r} is given twice; compare takes each once.")
    data = open_engine(responses)
    known = answers_here(data.items, key)
    true_scores = TrueAnswer(key=key, seed=seed).fit(data).scores_ if key else None
    results = []
    with working("Comparing"):
        for number, method in enumerate(chosen):
            step(method.name, number, len(chosen))
            if methods is None and data.n_responses > SLOW.get(method.name, data.n_responses):
                results.append(Compared(method.name, error=_says_slow(method, data)))
                continue
            results.append(_fitted(method, data, known, true_scores))
    return Comparison(responses, tuple(results), _correlations(results), true_scores, len(known))


def _prepared(method: str | Method, key: Mapping[Any, Any] | None, seed: int) -> Method:
    if isinstance(method, Method):
        return method
    made = make(method, seed=seed)
    if key and made.name in TOLD:
        made.set_params(key=key)
    return made


def _says_slow(method: Method, data: Engine) -> str:
    return (
        f"With {data.n_responses:,} answers it takes long (it is included up to "
        f"{SLOW[method.name]:,}); name it among the methods to have it."
    )


def _fitted(
    method: Method, data: Engine, known: Mapping[Any, Any], true_scores: Floats | None
) -> Compared:
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # reported in the result
            method.fit(data)
    except InputError as error:
        return Compared(method.name, error=str(error))
    seconds = time.perf_counter() - start
    scores = np.where(method.components_ == 0, method.scores_, np.nan)
    told = bool(method.get_params().get("key")) or bool(method.get_params().get("order"))
    probabilities = method.key_probabilities_
    return Compared(
        method.name,
        scores=scores,
        seconds=seconds,
        converged=method.converged_,
        n_iterations=method.n_iterations_,
        accuracy=None if true_scores is None else accuracy(true_scores, scores),
        key_recovered=(
            None
            if told or not known or probabilities is None
            else _recovered(data, known, probabilities)
        ),
    )


def _recovered(data: Engine, known: Mapping[Any, Any], probabilities: Floats) -> float:
    """Share of the known items whose likeliest option is the right one; ties count in part."""
    within = data.items
    p = np.nan_to_num(probabilities, nan=-1.0)
    likeliest = ((p == within.max(p)) & (p >= 0)).astype(float)
    ties = np.maximum(within.sum(likeliest), 1)
    right = np.nan_to_num(key_given(data, known, np.zeros(len(p))))
    return float((likeliest * right / ties).sum() / covered_items(within, known).sum())


def _correlations(results: list[Compared]) -> Floats:
    matrix = np.full((len(results), len(results)), np.nan)
    for i, first in enumerate(results):
        for j, second in enumerate(results[: i + 1]):
            if first.scores is not None and second.scores is not None:
                matrix[i, j] = matrix[j, i] = accuracy(first.scores, second.scores)
    return matrix


# -- which method to use ----------------------------------------------------------------------


def _by_key(rows: list[dict[str, Any]]) -> str:
    fair = [row for row in rows if row["method"] not in TOLD and _known(row["accuracy"])]
    if not fair:
        return "No method that works without a key ranks anybody here."
    best = max(row["accuracy"] for row in fair)
    good = [row["method"] for row in fair if row["accuracy"] >= best - AS_GOOD]
    default = next((row for row in fair if row["method"] == "auto"), None)
    if default is not None and default["method"] in good:
        return (
            f"Use auto, the default: without the key it ranks users like the key does "
            f"({default['accuracy']:.2f}), and no method is clearly better here."
        )
    said = f"Against this key {joined(good, 'or')} ranks best ({best:.2f})"
    if default is None:
        return f"{said}."
    return (
        f"{said}, ahead of auto, the default ({default['accuracy']:.2f}): use it here; on data "
        "without a key auto is the safer choice."
    )


def _by_agreement(comparison: Comparison, rows: list[dict[str, Any]]) -> str:
    names = [row["method"] for row in rows]
    agreed = {row["method"]: row["agreement"] for row in rows if _known(row["agreement"])}
    apart = [name for name, value in agreed.items() if value < APART]
    first = "auto" if "auto" in names else max(agreed, key=lambda name: agreed[name], default=None)
    if first is None:
        return "The methods cannot be compared: none of them tells the users apart."
    value = agreed.get(first)
    use = f"Use {first}, the default" if first == "auto" else f"Use {first}"
    if value is None or value < APART:
        return (
            "The methods disagree about who is good, so trust none of them yet; a few known "
            f"answers, or a key for this comparison, would settle it. {use} to begin with."
        )
    place = comparison.methods.index(first)
    alike, others = int((comparison.correlations[place] >= 0.9).sum()) - 1, len(rows) - 1
    if others == 1:
        said = f"{use}: the other gives {'almost the same' if alike else 'a different'} order."
    else:
        many = "all" if alike == others else f"{alike or 'none'} of the"
        said = f"{use}: {many} {others} others give almost the same order."
    if apart and first not in apart:
        said += f" {joined(apart)} {'sees' if len(apart) == 1 else 'see'} something else."
    return said


def _known(value: float | None) -> bool:
    return value is not None and bool(np.isfinite(value))
