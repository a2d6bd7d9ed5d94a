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
from hitsndiffs.methods.core.table import Table
from hitsndiffs.methods.inputs import as_responses
from hitsndiffs.results.cells import Cells, Tabled

__all__ = ["Audit", "audit"]

#: Where the answers foresee no more than this of what the key says (in nats: twenty to one against
#: a guess; and as a share of what a guess leaves open), or where more of the entries are wrong, or
#: chosen by nobody, key and answers do not fit each other: which of the two is wrong, the answers
#: cannot tell. Of the right keys of 30 tests all are foreseen by .21 or more, and of keys dealt
#: anew hardly any.
FORESEEN, SHARE_FORESEEN, MOST_WRONG = 3.0, 0.2, 0.15
#: An entry from this probability up of being wrong stays open.
OPEN = 0.2
#: From so many answers up a second right answer can be told. The log odds that there is one: what
#: the choosers' abilities say counts so much (half, for they are less independent than it takes
#: them to be), the second answer's log share so much (wrong ones are rarely chosen by many), and
#: the rest is what is expected of any item. Learnt on answers to 9 tests in which such items were
#: planted, one in 15; each test judged by what the others say, 104 of 145 named were right.
ENOUGH, BY_ABILITY, BY_SHARE, EXPECTED = 60, 0.5, 4.0, 2.0
#: Choosers' mean abilities differ by so much more than chance (standard deviations).
APART = 0.2
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
    places, named = r.structure.places, r.structure.options_named
    several = [i for i in checked if len(named(places[i.strip()], checked[i])) > 1]
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
        fit, given = self.fit, self.given[self.given >= 0]
        nobody = float((self.answers.counts[given] == 0).mean()) if len(given) else 0.0
        told = fit.told >= max(FORESEEN, SHARE_FORESEEN * fit.untold)
        return told and max(self.error_rate, nobody) <= MOST_WRONG

    @cached_property
    def verdicts(self) -> list[str]:
        """``"wrong"``, ``"double"``, ``"open"`` or nothing, item by item."""
        wrong = np.nan_to_num(self.probability_wrong)
        if not self.fits:
            return [""] * len(wrong)
        found = np.where(wrong >= OPEN, "open", "")
        found = np.where(self._doubles >= 0, "double", found)
        return [str(word) for word in np.where(wrong > 0.5, "wrong", found)]

    @cached_property
    def _doubles(self) -> Ints:
        """For each item, a second option that looks as right as the given one (-1: none).

        Its choosers are then about as able as those of the given one; if it is wrong they are about
        as able as those of the other wrong ones.
        """
        table, mean, counts = self.answers, self.fit.abler, self.answers.counts
        found = np.full(len(self.given), -1, dtype=np.int64)
        for i in np.flatnonzero((self.given >= 0) & (table.per_item >= ENOUGH)):
            here, all_others = self.given[i], np.arange(*table.items.starts[i : i + 2])
            all_others = all_others[(all_others != here) & (counts[all_others] > 0)]
            best = 0.0
            for other in all_others if counts[here] else ():
                rest = all_others[all_others != other]
                if not len(rest):  # of two options, one is wrong
                    continue
                of_rest = float(np.average(mean[rest], weights=counts[rest]))
                able, ahead = max(mean[here] - of_rest, 0.0), mean[other] - of_rest
                chance = (1 / counts[[here, other]]).sum() + 1 / counts[rest].sum() + APART**2
                odds = EXPECTED + BY_SHARE * np.log(counts[other] / table.per_item[i])
                odds += BY_ABILITY * able * (2 * ahead - able) / (2 * chance)
                if odds > best:
                    best, found[i] = odds, other
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
        double = np.array([verdict == "double" for verdict in self.verdicts])
        likely = np.where(double, self._doubles, self.likely)
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
