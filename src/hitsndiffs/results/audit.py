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
from hitsndiffs.methods.core.keyed import Keyed, keyed
from hitsndiffs.methods.core.known import Known
from hitsndiffs.methods.core.settings import DEFAULT
from hitsndiffs.methods.core.table import Table, sums
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.results.cells import Cells, Tabled

__all__ = ["Audit", "audit"]

#: Where the answers foresee the entries no better than this (nats; twenty to one against a guess),
#: or where more of the entries are wrong, key and answers do not fit each other: which of the two
#: is wrong, the answers cannot tell.
FORESEEN, MOST_WRONG = 3.0, 0.15
#: An entry from this probability up of being wrong stays open.
OPEN = 0.2
#: A second answer is right too if its choosers are abler than the rest by this many standard errors
#: (those of wrong ones are not), and hardly weaker than those of the key.
ABLER, WEAKER = 3.0, 1.0
#: With more answers × options, those of a sample of the users are used.
MOST_PAIRS = 4_000_000
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
    accepted = {i: r.structure.options_named(r.structure.places[i], checked[i]) for i in checked}
    several = [item for item, options in accepted.items() if len(options) > 1]
    single = {item: answer for item, answer in checked.items() if item not in several}
    items, given, extra = _with_unseen(r, single)
    users = np.arange(r.n_users)
    pairs = int((r.answers_per_item * np.minimum(items.sizes, DEFAULT.most_candidates)).sum())
    if pairs > MOST_PAIRS:
        size = max(r.n_users * MOST_PAIRS // pairs, 1)
        users = np.sort(np.random.default_rng(0).choice(r.n_users, size, replace=False))
    indptr, chosen = r.some_rows(users) if len(users) < r.n_users else r.rows
    user = np.repeat(np.arange(len(users)), np.diff(indptr))
    # options that the key names and nobody chose stand behind the others of their item
    place = np.arange(r.n_options) + np.concatenate([[0], np.cumsum(extra)])[r.option_items]
    table = Table(items, len(users), user, place[chosen])
    notes = list(checked.notes)
    if several:
        notes.append(f"The key accepts several answers to {listed(several, most=3)}: not judged.")
    if len(users) < r.n_users:
        notes.append(f"Judged by {len(users):,} of the {r.n_users:,} users, drawn at random.")
    found = keyed(table, Known.entries(given[given >= 0]), DEFAULT)
    return Audit(r, given, table, found, tuple(notes))


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
class Audit(Tabled):
    """What the answers say of a key; see :func:`audit`.

    The table has one row per item, the most doubtful first: ``item``, ``given``, ``likely``,
    ``probability_wrong`` and ``verdict``: ``"wrong"`` (another answer is likelier), ``"double"``
    (two answers look right), ``"open"`` (the answers do not tell), or nothing.

    Attributes
    ----------
    responses
        The answers.
    given
        For each item the number of the option that the key names (-1: none).
    answers
        Who chose what; its items have all options, also those that only the key names.
    fit
        What key and answers say together.
    notes
        What in the key did not fit the answers, and what was left out.
    """

    ROWS = "items"

    responses: Responses
    given: Ints
    answers: Table
    fit: Keyed
    notes: tuple[str, ...]

    @property
    def error_rate(self) -> float:
        """The estimated share of the key's entries that are wrong."""
        return float(np.nanmean(self.probability_wrong)) if (self.given >= 0).any() else 0.0

    @cached_property
    def probability_wrong(self) -> Floats:
        """For each item, how likely its entry in the key is wrong (NaN without an entry)."""
        known = self.given >= 0
        wrong = np.full(len(self.given), np.nan)
        wrong[known] = 1 - self.fit.key[self.given[known]]
        return wrong

    @cached_property
    def likely(self) -> Ints:
        """For each item the number of its likeliest option."""
        return self.answers.top(self.fit.key)

    @property
    def fits(self) -> bool:
        """Whether key and answers fit each other; if not, the items are only put in order."""
        return self.fit.fits >= FORESEEN and self.error_rate <= MOST_WRONG

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
        z, mean, counts = self._choosers
        for i in np.flatnonzero(self.given >= 0):
            here, others = self.given[i], np.arange(*self.answers.items.starts[i : i + 2])
            others = others[others != here]
            if len(others) < 2 or z[here] < ABLER:  # of two options, one is wrong
                continue
            other = others[np.argmax(z[others])]
            error = np.sqrt(1 / counts[here] + 1 / counts[other])
            if z[other] >= ABLER and mean[other] > mean[here] - WEAKER * error:
                found[i] = other
        return found

    @property
    def _choosers(self) -> tuple[Floats, Floats, Floats]:
        """How much abler the choosers of each option are than those of the others.

        In standard errors, and in standard deviations; and how many they are.
        """
        table, ability = self.answers, self.fit.ability
        counts, n = np.maximum(table.counts, 1), np.maximum(table.per_item, 1)
        mean = sums(ability[table.user], table.item, table.n_items) / n
        beyond = ability[table.user] - mean[table.item]
        spread = np.sqrt(sums(beyond**2, table.item, table.n_items) / n)[table.of_option] + 1e-9
        apart = sums(beyond, table.option, table.n_options) / counts / spread
        share = np.minimum(table.shares, 1 - 0.5 / n[table.of_option])
        return apart * np.sqrt(counts / (1 - share)), apart, counts

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

    def cells(self) -> Cells:
        """One row per item."""
        columns: dict[str, Any] = {**self.columns()}
        columns["probability_wrong"] = np.array(columns["probability_wrong"], dtype=float)
        return Cells.of(columns, share="probability_wrong", label="item given likely")

    def facts(self) -> dict[str, Any]:
        """What is wrong with the key as a whole."""
        return {"sentence": str(self), "error_rate": self.error_rate, "fits": self.fits}

    def columns(self) -> dict[str, list[Any]]:
        """The columns of :meth:`table` as plain lists, ``None`` where there is no entry."""
        items, labels = self.responses.items, self.answers.items.option_labels
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

    def sentence(self) -> str:
        """Return one sentence: what is wrong with the key."""
        n = int((self.given >= 0).sum())
        if not self.fits:
            return (
                f"Key and answers do not fit each other (about {per_cent(self.error_rate)} of the "
                "key would be wrong): is it the key of this test? The items are only put in order."
            )
        labels, likely = self.answers.items.option_labels, self.likely
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
