"""An answer key that may be wrong, judged item by item from the answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hitsndiffs.data.arrays import Floats, Ints
from hitsndiffs.data.items import Items
from hitsndiffs.data.lookup import python_value
from hitsndiffs.data.responses import Responses
from hitsndiffs.data.words import count, listed, per_cent, shortened
from hitsndiffs.methods.given_key import GivenKey, Sheets, fit_given_key
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.results.values import to_frame

__all__ = ["Audit", "audit"]

#: Beyond this estimated error rate, or this share of items flagged, key and answers do not fit
#: each other: which of the two is wrong, the answers cannot tell.
MOST_WRONG, MOST_FLAGGED = 0.15, 0.2
#: An entry from this probability up of being wrong stays open.
OPEN = 0.2
#: A second answer is right too if its choosers are abler than the rest by this many standard errors
#: (those of wrong ones are not), and hardly weaker than those of the key.
ABLER, WEAKER = 3.0, 1.0
#: With more answers, those of a sample of the users are used.
MOST_ANSWERS = 2_000_000
#: Items named in the sentence.
SHOWN = 5


def audit(responses: Any, key: Any) -> Audit:
    """Judge an answer key by the answers: which of its entries look wrong.

    The key as a whole is the best evidence of who is able, and the able show where it errs.

    Parameters
    ----------
    responses
        :class:`~hitsndiffs.Responses`, or any table that :func:`hitsndiffs.rank` takes.
    key
        Item → right answer, or a file with them (as for :func:`hitsndiffs.read_key`). Items that
        it leaves out are judged by the others.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> sim = hnd.simulate("grm", users=200, items=30, options=4, seed=1)
    >>> key = {**sim.key, "item-04": "A"}  # an error
    >>> found = hnd.audit(sim.responses, key)
    >>> found.flagged
    ('item-04',)
    >>> print(found)
    1 of 30 answers in the key looks wrong: item-04 (key A, likely D).
    """
    from hitsndiffs.reading import read_key

    r = as_responses(responses)
    checked = read_key(key, r)
    items, given, extra = _with_unseen(r, checked)
    users = np.arange(r.n_users)
    if r.n_responses > MOST_ANSWERS:
        size = max(int(r.n_users * MOST_ANSWERS / r.n_responses), 1)
        users = np.sort(np.random.default_rng(0).choice(r.n_users, size, replace=False))
    indptr, chosen = r.some_rows(users) if len(users) < r.n_users else r.rows
    user = np.repeat(np.arange(len(users)), np.diff(indptr))
    # options that the key names and nobody chose stand behind the others of their item
    place = np.arange(r.n_options) + np.concatenate([[0], np.cumsum(extra)])[r.option_items]
    sheets = Sheets(user, place[chosen], items, len(users))
    notes = list(checked.notes)
    if len(users) < r.n_users:
        notes.append(f"Judged by {len(users):,} of the {r.n_users:,} users, drawn at random.")
    return Audit(r, items, given, sheets.per_option(), fit_given_key(sheets, given), tuple(notes))


def _with_unseen(r: Responses, key: Mapping[str, str]) -> tuple[Items, Ints, Ints]:
    """The items with the options that only the key knows; the key's options; how many were new."""
    labels: list[Any] = []
    given, extra = np.full((2, r.n_items), -1, dtype=np.int64)
    extra[:] = 0
    for i, item in enumerate(r.items.tolist()):
        first = len(labels)
        own = r.option_labels[r.item_starts[i] : r.item_starts[i + 1]].tolist()
        labels += own
        answer = key.get(str(item).strip())
        if answer is None:
            continue
        words = [str(label) for label in own]
        extra[i] = answer not in words
        if extra[i]:
            labels.append(answer)
        given[i] = first + (len(own) if extra[i] else words.index(answer))
    starts = r.item_starts + np.concatenate([[0], np.cumsum(extra)])
    return Items(r.items, np.array(labels, dtype=object), starts), given, extra


@dataclass(frozen=True, repr=False, eq=False)
class Audit:
    """What the answers say of a key; see :func:`audit`.

    Attributes
    ----------
    responses
        The answers.
    options
        The items with all options, also those that only the key names.
    given
        For each item the number of the option that the key names (-1: none).
    counts
        How many users chose each option.
    fit
        What key and answers say together.
    notes
        What in the key did not fit the answers, and what was left out.
    """

    responses: Responses
    options: Items
    given: Ints
    counts: Floats
    fit: GivenKey
    notes: tuple[str, ...]

    @property
    def error_rate(self) -> float:
        """The estimated share of the key's entries that are wrong."""
        return self.fit.error_rate

    @cached_property
    def probability_wrong(self) -> Floats:
        """For each item, how likely its entry in the key is wrong (NaN without an entry)."""
        known = self.given >= 0
        wrong = np.full(len(self.given), np.nan)
        wrong[known] = 1 - self.fit.probabilities[self.given[known]]
        return wrong

    @cached_property
    def likely(self) -> Ints:
        """For each item the number of its likeliest option."""
        p, items = self.fit.probabilities, self.options
        best = np.flatnonzero(p >= items.max(p))[::-1]
        found = np.zeros(items.n_items, dtype=np.int64)
        found[items.of_option[best]] = best
        return found

    @property
    def fits(self) -> bool:
        """Whether key and answers fit each other; if not, the items are only put in order."""
        known = self.given >= 0
        flagged = (self.probability_wrong[known] > 0.5).sum()
        return bool(self.error_rate <= MOST_WRONG and flagged <= MOST_FLAGGED * known.sum())

    @cached_property
    def verdicts(self) -> list[str]:
        """``"wrong"``, ``"double"``, ``"open"`` or nothing, item by item."""
        wrong = np.nan_to_num(self.probability_wrong)
        if not self.fits:
            return [""] * len(wrong)
        found = np.where(wrong > 0.5, "wrong", np.where(wrong >= OPEN, "open", ""))
        return [str(word) for word in np.where(self._doubles >= 0, "double", found)]

    @cached_property
    def _doubles(self) -> Ints:
        """For each item, a second option that looks as right as the given one (-1: none)."""
        found = np.full(len(self.given), -1, dtype=np.int64)
        known = np.flatnonzero(self.given >= 0)
        z, mean = self.fit.association, self.fit.ability
        counts = np.maximum(self.counts, 1)
        for i in known:
            first, last = self.options.starts[i : i + 2]
            here, others = self.given[i], np.arange(first, last)
            others = others[others != here]
            if len(others) < 2 or z[here] < ABLER:  # of two options, one is wrong
                continue
            other = others[np.argmax(z[others])]
            error = np.sqrt(1 / counts[here] + 1 / counts[other])
            if z[other] >= ABLER and mean[other] > mean[here] - WEAKER * error:
                found[i] = other
        return found

    @property
    def flagged(self) -> tuple[Any, ...]:
        """The items whose entry looks wrong, the likeliest first."""
        items = self.responses.items
        return tuple(python_value(items[i]) for i in self._order if self.verdicts[i] == "wrong")

    @cached_property
    def _order(self) -> Ints:
        """The items, the most doubtful first; those without an entry last."""
        doubt = np.where(np.isnan(self.probability_wrong), -1.0, self.probability_wrong)
        return np.argsort(-doubt, kind="stable")

    def table(self) -> Any:
        """One row per item, the most doubtful first.

        Columns: ``item``, ``given``, ``likely``, ``probability_wrong`` and ``verdict``: ``"wrong"``
        (another answer is likelier), ``"double"`` (two answers look right), ``"open"`` (the answers
        do not tell), or nothing.
        """
        columns: dict[str, Any] = {**self.columns()}
        columns["probability_wrong"] = np.array(columns["probability_wrong"], dtype=float)
        return to_frame(columns, self.responses.kind)

    def columns(self) -> dict[str, list[Any]]:
        """The columns of :meth:`table` as plain lists, ``None`` where there is no entry."""
        items, labels = self.responses.items, self.options.option_labels
        likely = np.where(self._doubles >= 0, self._doubles, self.likely)
        order = self._order.tolist()
        given = [(i, int(self.given[i])) for i in order]
        wrong = self.probability_wrong
        return {
            "item": [python_value(items[i]) for i in order],
            "given": [None if o < 0 else python_value(labels[o]) for _, o in given],
            "likely": [python_value(labels[likely[i]]) for i in order],
            "probability_wrong": [None if o < 0 else float(wrong[i]) for i, o in given],
            "verdict": [self.verdicts[i] for i in order],
        }

    def __str__(self) -> str:
        """Return one sentence: what is wrong with the key."""
        n = int((self.given >= 0).sum())
        if not self.fits:
            return (
                f"Key and answers do not fit each other (about {per_cent(self.error_rate)} of the "
                "key would be wrong): is it the key of this test? The items are only put in order."
            )
        labels, likely = self.options.option_labels, self.likely
        wrong = [int(i) for i in self._order if self.verdicts[i] == "wrong"]
        double = [int(i) for i in self._order if self.verdicts[i] == "double"]
        if not wrong:
            said = f"No answer in the key looks wrong ({count(n, 'item')})."
        else:
            shown = [
                f"{shortened(str(self.responses.items[i]))} (key {labels[self.given[i]]}, likely "
                f"{labels[likely[i]]})"
                for i in wrong[:SHOWN]
            ]
            more = f" and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
            verb = "look" if len(wrong) > 1 else "looks"
            said = (
                f"{len(wrong)} of {n:,} answers in the key {verb} wrong: {', '.join(shown)}{more}."
            )
        if double:
            names = [str(self.responses.items[i]) for i in double]
            said += f" Two answers look right: {listed(names, most=SHOWN)}."
        return said

    def __repr__(self) -> str:
        """Return the sentence."""
        return str(self)
