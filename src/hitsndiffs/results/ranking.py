"""Ranking: the one result type."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hitsndiffs.data.arrays import Array, Floats, Ints
from hitsndiffs.data.display import Viewed, view
from hitsndiffs.data.items import Items
from hitsndiffs.data.lookup import covered_items, no_such_user, right_options
from hitsndiffs.data.responses import Responses
from hitsndiffs.engines import Engine, open_engine
from hitsndiffs.methods import Fit, Method
from hitsndiffs.methods.core.doubt import EITHER
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.order.perfect import ordered_users
from hitsndiffs.order.ties import Levels, members
from hitsndiffs.results import version as versions
from hitsndiffs.results.asking import Asking
from hitsndiffs.results.cells import Cells, same
from hitsndiffs.results.columns import cells_of
from hitsndiffs.results.diagnostics import guessing, judged_items, option_columns
from hitsndiffs.results.found import Found, scores_by
from hitsndiffs.results.ratings import ratings_in
from hitsndiffs.results.rendering import as_dict, as_json, as_text
from hitsndiffs.results.resampling import half_sample_errors, refitted, widening
from hitsndiffs.results.uncertainty import (
    rank_intervals,
    reliability,
    tiers_of,
    top_probabilities,
)
from hitsndiffs.results.verdict import Command, Reason, doubt_of, how_far, user_notes
from hitsndiffs.results.versus import Pairs, Versus, pairs, versus

if TYPE_CHECKING:
    from hitsndiffs.results.labelling import NextLabels
    from hitsndiffs.results.placing import Placement
    from hitsndiffs.results.short_form import ShortForm

__all__ = ["Ranking"]

#: What ``dir()`` and editors offer first.
OFFERED = (
    "abilities", "answer_key", "ask", "components", "confidence", "confusion", "consistent",
    "items", "method", "next_labels", "notes", "option_weights",
    "orientation", "pairs", "plot", "rank_intervals", "ranks", "readings", "reliability", "report",
    "responses", "save", "score", "scores", "short_form", "standard_errors", "table", "tiers",
    "to_json", "users", "verdict", "versus",
)  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class Ranking(Found, Asking, Viewed):
    """Users in order of ability, with what speaks for and against the order.

    Arrays are aligned with ``responses.users``; a user without answers has NaN.

    Attributes
    ----------
    responses
        The data.
    method, parameters
        What made the ranking.
    fit
        Everything the method found (:class:`hitsndiffs.methods.Fit`).
    by
        What the scores are: ``"correct"``, ``"ability"`` or ``"score"`` (the method's own).
    scores, ranks
        Higher score = better; rank 1 = best, ties share a rank; within each component.
    components
        0 = the largest component, -1 = no answers. Users of different components cannot be
        compared.
    order
        User numbers from best to worst, component by component, users without answers last.
        Within a score tie, users with equal answers stand together.
    consistent
        Whether the order is certified: every option's choosers stand side by side.
    version
        The software's version.
    resampled_errors
        Standard errors from random halves of the items, if requested.
    given_key
        The key that was given with the answers or found in their file, if any; it may err.
    command
        The command line that made the ranking, if one did.
    """

    responses: Responses
    method: str
    parameters: Mapping[str, Any]
    fit: Fit
    by: str
    scores: Floats
    ranks: Floats
    components: Ints
    order: Ints
    consistent: bool
    version: str
    resampled_errors: Floats | None = None
    given_key: Mapping[Any, Any] | None = None
    command: Command | None = None

    @classmethod
    def of(
        cls,
        responses: Responses,
        method: Method,
        by: str | None = None,
        given_key: Mapping[Any, Any] | None = None,
    ) -> Ranking:
        """Make the ranking of a fitted method."""
        fit, labels = method.fit_, method.components_
        scores, quantity, _ = scores_by(method.name, fit, by, same)
        levels = Levels.of(scores, labels)
        order, consistent = ordered_users(method.data_, levels)
        made = cls(
            responses=responses,
            method=method.name,
            parameters=method.get_params(),
            fit=fit,
            by=quantity,
            scores=_read_only(scores),
            ranks=_read_only(levels.ranks),
            components=_read_only(labels),
            order=_read_only(np.concatenate([order, np.flatnonzero(labels < 0)])),
            consistent=consistent and (fit.choice is None or fit.choice.method is not None),
            version=versions.version(),
            given_key=responses.key if given_key is None else given_key,
        )
        made.__dict__["data"] = method.data_  # the engine is open already
        return made

    @property
    def users(self) -> Array:
        """User labels, in the order of the data."""
        return self.responses.users

    @property
    def structure(self) -> Items:
        """The items and their options."""
        return self.responses.structure

    @cached_property
    def data(self) -> Engine:
        """The engine that holds the answers."""
        engine, threads = self.parameters.get("engine", "auto"), self.parameters.get("threads")
        return open_engine(self.responses, engine, threads)

    # -- how far to rely on it -----------------------------------------------------------------

    @property
    def spare_key(self) -> str:  # type: ignore[override]
        """A key not taken for right: ``"given"``, ``"found"`` with the answers, or empty."""
        if self.given_key is None or self.parameters.get("answers"):
            return ""
        return "found" if self.given_key == self.responses.key else "given"

    def _how_far(self, sure: str) -> Reason:
        return how_far(self, sure)

    @cached_property
    def ratings(self) -> str:  # type: ignore[override]
        """What shows that the answers are opinions or ratings; empty if they may be a test.

        A key, known answers or a strong user say that there are right answers; a key that the
        file holds does not, since forms and quizzes save it with opinions, too.
        """
        key = self.given_key is not None and self.given_key != self.responses.key
        told = (self.parameters.get(name) is not None for name in ("answers", "strong_user"))
        return "" if key or any(told) else ratings_in(self.responses)

    @cached_property
    def tiers(self) -> Ints:
        """Groups of users that the data tell apart: 1 = top, -1 = no answers.

        The first of a tier is above the first of the next with 95 % probability; users of
        neighbouring tiers may be equally good. While it is open who is good (``verdict.doubt``),
        all are in one tier. Users of different components cannot be compared: each has its tiers.

        Examples
        --------
        >>> import hitsndiffs as hnd
        >>> alike = hnd.rank([["A", "B"], ["A", "B"], ["A", "B"]])
        >>> alike.tiers.tolist()
        [1, 1, 1]
        """
        tiers = np.where(self.components < 0, -1, 1)
        if doubt_of(self) in ("", "apart"):
            for users in members(self.components):
                tiers[users] = tiers_of(self.scores[users], self.own_errors[users])
        return _read_only(tiers)

    def versus(self, a: Any, b: Any, *, clusters: Mapping[Any, Any] | str | None = None) -> Versus:
        """Compare two users by the items that both answered.

        Parameters
        ----------
        a, b
            The users' labels, or names of groups (runs of one model) that the ranking was told.
        clusters
            Item → cluster, for items that belong together (a passage, a template), or
            ``"names"``: what is before the number at the end of an item's name. Within a cluster
            the answers of a user stand or fall together, so there is less to go by.

        Examples
        --------
        >>> import hitsndiffs as hnd
        >>> ranking = hnd.rank(hnd.simulate("samejima", users=40, items=40, seed=2).responses)
        >>> best, *_, last = ranking
        >>> ranking.versus(best, last).probability > 0.9
        True
        """
        return versus(self, a, b, clusters=clusters)

    def pairs(self, most: int = 20, *, clusters: Mapping[Any, Any] | str | None = None) -> Pairs:
        """How likely each of the first users is above each of the others.

        Parameters
        ----------
        most
            How many users are compared, the best first.
        clusters
            Items that belong together, as for :meth:`versus`.

        Examples
        --------
        >>> import hitsndiffs as hnd
        >>> ranking = hnd.rank(hnd.simulate("samejima", users=40, items=40, seed=2).responses)
        >>> print(ranking.pairs(most=5))
        Of the 10 pairs of the first 5 users, the answers tell 2 apart (with 95 % probability).
        """
        return pairs(self, most, clusters=clusters)

    def confusion(self, user: Any) -> Any:
        """What a user says, by what is likely right (for labels that the items share).

        One row per label that may be right: ``right``, ``items``, and for each label the share of
        these items on which the user says it. ``hnd labels`` shows what all users do.
        """
        from hitsndiffs.results.labelling import workers

        return workers(self).confusion(user)

    def next_labels(self, budget: int, **more: Any) -> NextLabels:
        """The answers worth asking for next, and from whom.

        Parameters
        ----------
        budget
            How many answers there will be.
        more
            ``users`` who can be asked, and how many answers ``each`` gives at most.
        """
        from hitsndiffs.results.labelling import next_labels

        return next_labels(self, budget, **more)

    def short_form(self, sizes: Sequence[int] | None = None) -> ShortForm:
        """Which items would do for the same order, checked on users who did not choose them.

        Parameters
        ----------
        sizes
            Numbers of items to try; by default 5, 10, 20, 50, …
        """
        from hitsndiffs.results.short_form import short_form

        return short_form(self, sizes, seed=self._seed)

    @cached_property
    def key_scores(self) -> Floats | None:
        """Each user's share of right answers by the given key; ``None`` without one."""
        if self.given_key is None:
            return None
        items = self.data.items
        right = np.zeros(items.n_options)
        right[right_options(items, self.given_key)] = 1.0
        judged = covered_items(items, self.given_key)[items.of_option].astype(float)
        n_right, n = self.data.choices(np.stack([right, judged], axis=1)).T
        return np.asarray(np.divide(n_right, n, out=np.full(len(n), np.nan), where=n > 0))

    @cached_property
    def standard_errors(self) -> Floats:
        """Standard errors of the scores, with any error common to all users; NaN if unknown."""
        if self.resampled_errors is not None:
            return self.resampled_errors
        by = None if self.by == "score" else self.by
        errors: Floats | None = scores_by(self.method, self.fit, by, same)[2]
        if errors is None:
            return np.full(self.responses.n_users, np.nan)
        return errors * widening(self, errors)

    @cached_property
    def own_errors(self) -> Floats:
        """Standard errors without the part common to all users; the order depends on these."""
        common = self.fit.common_errors
        if common is None or self.by != "correct" or self.resampled_errors is not None:
            return self.standard_errors
        return np.sqrt(np.maximum(self.standard_errors**2 - common**2, 0.0))

    @cached_property
    def reliability(self) -> float:
        """How well the order would repeat on other items of the same kind: 0 (luck) to 1.

        For users of the largest component; NaN without standard errors.
        """
        users = self.components == 0
        return reliability(self.scores[users], self.own_errors[users])

    def rank_intervals(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Best and worst rank that each user may truly have, within the component.

        Parameters
        ----------
        level
            Probability that an interval holds the true rank.
        """
        low, high = self.ranks.copy(), self.ranks.copy()
        for users, scores, errors in self.with_errors():
            low[users], high[users] = rank_intervals(scores, errors, level, self._seed)
        # ranks come from raw scores, intervals from shrunken ones: widen them to include the rank
        low, high = np.minimum(low, self.ranks), np.maximum(high, self.ranks)
        without = np.isnan(self.standard_errors)
        low[without] = high[without] = np.nan
        return low, high

    @cached_property
    def intervals(self) -> tuple[Floats, Floats]:
        """:meth:`rank_intervals` at 95 %."""
        return self.rank_intervals()

    def top_probabilities(self, k: int) -> Floats:
        """Probability that each user is truly among the best ``k`` of the component."""
        chance = np.full(self.responses.n_users, np.nan)
        for users, scores, errors in self.with_errors():
            chance[users] = top_probabilities(scores, errors, k, self._seed)
        return chance

    def bootstrapped(self, repeats: int = 100) -> Ranking:
        """The same ranking with standard errors from random halves of the items.

        Parameters
        ----------
        repeats
            How many halves; each needs a fit to half the data.
        """
        errors = half_sample_errors(
            self.responses.n_items, partial(refitted, self), self.scores, repeats, self._seed
        )
        return replace(self, resampled_errors=errors)

    def made_by(self, command: Command) -> Ranking:
        """The same ranking, which knows the command line that made it."""
        made = replace(self, command=command)
        own = {field.name for field in fields(self)} | {"verdict"}
        made.__dict__.update({n: value for n, value in self.__dict__.items() if n not in own})
        return made

    def with_errors(self) -> Iterator[tuple[Ints, Floats, Floats]]:
        """The users of each component that have a standard error, with scores and errors."""
        for component in members(self.components):
            users = component[np.isfinite(self.standard_errors[component])]
            if len(users) > 1:
                yield users, self.scores[users], self.own_errors[users]

    @property
    def _seed(self) -> int:
        return int(self.parameters.get("seed", 0))

    @property
    def confidence(self) -> float | None:
        """How sure it is that the order is one of ability, and the right way up (0–1)."""
        sure = self.fit.confidence
        return min(sure, EITHER) if sure is not None and self.ratings else sure

    @property
    def n_components(self) -> int:
        """Number of groups of users that cannot be compared with each other."""
        return int(self.components.max()) + 1

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What the reader should know about the data, the method and the users."""
        return (*self.responses.notes, *self.fit.sentences, *user_notes(self).values())

    # -- users by name -------------------------------------------------------------------------

    def user_number(self, user: Any) -> int:
        """A user's place in :attr:`users`, by label."""
        place = self.data.user_number(user)
        if place is None:
            raise no_such_user(user, self.users)
        return int(place)

    def __len__(self) -> int:
        return self.responses.n_users

    def __iter__(self) -> Iterator[Any]:
        """The users, best first."""
        return iter(self.users[self.order].tolist())

    def __contains__(self, user: object) -> bool:
        return self.data.user_number(user) is not None

    def __getitem__(self, user: Any) -> dict[str, Any]:
        """One user's row of :meth:`table`, by the user's label."""
        place = self.data.user_number(user)
        if place is None:
            raise KeyError(user)
        return self.cells(users=np.array([place])).records()[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ranking):
            return NotImplemented
        return (
            (self.method, self.by, self.consistent) == (other.method, other.by, other.consistent)
            and [str(u) for u in self.users] == [str(u) for u in other.users]
            and same(self.scores, other.scores)
            and same(self.ranks, other.ranks)
            and same(self.standard_errors, other.standard_errors)
        )

    __hash__ = None  # type: ignore[assignment]

    # -- tables --------------------------------------------------------------------------------

    def cells(self, users: Ints | None = None, names: Sequence[str] = ()) -> Cells:
        """The columns of :meth:`table`, for whoever shows them.

        Parameters
        ----------
        users
            Numbers of the users, in the order wanted (default: everybody, best first).
        names
            Only these columns.
        """
        return cells_of(self, users, names)

    def table(self) -> Any:
        """One row per user, best first, in the same kind of frame as the data."""
        return self.cells().frame(self.responses.kind)

    def option_weights(self) -> Any:
        """One row per option: its weight, its choosers, how likely it is to be the right one."""
        r, weights, chances = self.responses, self.fit.option_weights, self.key_chances
        blank = np.full(r.n_options, np.nan)
        columns = {
            "item": r.items[r.option_items],
            "option": r.option_labels,
            "weight": blank if weights is None else weights,
            "choosers": r.choosers_per_option,
            "key_probability": blank if chances is None else chances,
        }
        return Cells.of(columns).frame(r.kind)

    def items(self, *, key: Mapping[Any, Any] | None = None) -> Any:
        """One row per item: likely key, difficulty, discrimination, and what looks wrong with it.

        Parameters
        ----------
        key
            An answer key to compare with the answers (item → option): items that look mis-keyed,
            or that seem to have two right answers, are marked.
        """
        held, chances = self.fit.key_probabilities, self.key_chances
        columns, _ = judged_items(self.data, self.scores, held, key, chances)
        return Cells.of(columns).frame(self.responses.kind)

    def options(self, *, groups: int = 3) -> Any:
        """One row per option: the share of weak, middle and strong users who chose it.

        Parameters
        ----------
        groups
            How many groups of equal size to divide the users into, weakest first.
        """
        columns = option_columns(self.data, self.scores, groups)
        return Cells.of(columns).frame(self.responses.kind)

    def guessers(self) -> Array:
        """Users whose answers are no better than guessing (needs expected shares correct)."""
        if self.correct is None:
            return self.users[:0]
        return self.users[guessing(self.data, self.correct)]

    # -- what can be made of it ----------------------------------------------------------------

    def plot(self, name: str = "ranking", **options: Any) -> Any:
        """Draw the ranking, and return the chart (a Vega-Altair chart).

        Parameters
        ----------
        name
            ``"ranking"``: users with their intervals (``users=`` draws only some).
            ``"scores"``: the scores of the users beside the difficulty of the items.
            ``"answers"``: right, wrong and missing answers, sorted by the result
            (``as_read=True``: in the order of the data).
            ``"items"``: items by difficulty and discrimination (``key=`` marks wrong keys).
            ``"options"``: who chose which option of one item (``item=``, ``key=``).
            ``"axes"``: users on the two strongest axes of the answers.
            ``"copies"``: users who agree more than ability explains.
        **options
            Options of the chart, as named above.

        Examples
        --------
        >>> import hitsndiffs as hnd
        >>> ranking = hnd.rank([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
        >>> type(ranking.plot()).__name__
        'LayerChart'
        """
        return view("plot")(self, name, **options)

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        key: Mapping[Any, Any] | None = None,
        sections: Mapping[Any, Any] | str | None = None,
        groups: Mapping[Any, Any] | None = None,
        clusters: Mapping[Any, Any] | str | None = None,
        file: str | os.PathLike[str] | None = None,
        command: str | None = None,
        reading: Sequence[tuple[str, str]] = (),
    ) -> Path:
        """Write everything about the ranking to one self-contained HTML file.

        Parameters
        ----------
        path
            The file to write; it appears once it is complete.
        key
            An answer key to compare with the answers (item → option): items that look mis-keyed
            come first.
        sections
            The section of each item (item → section, or ``"names"``): sub-scores, and whether they
            add anything. By default the items' names tell, where they do.
        groups
            Groups of users to compare (user → group): means, and items harder for one of two.
        clusters
            Items that belong together, as for :meth:`versus`: they say less of who is better.
        file
            Where the answers came from; the report shows its name and hash.
        command
            The command line that repeats the result, shown in the report.
        reading
            How the file was read: pairs of a topic and its description.

        Examples
        --------
        >>> import hitsndiffs as hnd, pathlib, tempfile
        >>> ranking = hnd.rank([list("AAA"), list("AAB"), list("ABB"), list("BBC")])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ranking.report(pathlib.Path(folder) / "report.html").name
        'report.html'
        """
        about: dict[str, Any] = {"key": key, "sections": sections, "groups": groups}
        about["clusters"] = clusters
        about |= {"file": file, "command": command, "reading": reading}
        written: Path = view("write_report")(self, path, **about)
        return written

    def save(self, path: str | Path) -> None:
        """Write the ranking and its answers to a file that :func:`hitsndiffs.load` reads."""
        from hitsndiffs.results.saving import save

        save(self, path)

    def score(self, newcomers: Any) -> Placement:
        """Place newcomers by the fitted items and key, without a new fit.

        Parameters
        ----------
        newcomers
            :class:`~hitsndiffs.Responses`, or any table that :func:`hitsndiffs.rank` takes. Items
            that the ranking does not know are left out and unknown options count as wrong, with a
            note.
        """
        from hitsndiffs.results.placing import place

        return place(self, as_responses(newcomers))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values (JSON types)."""
        return as_dict(self)

    def to_json(self) -> str:
        """:meth:`to_dict` as JSON text."""
        return as_json(self)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "data"}

    def __dir__(self) -> list[str]:
        """What a person needs first; everything else is there too."""
        return list(OFFERED)

    def __repr__(self) -> str:
        return as_text(self)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view
