"""The solutions of a search, what speaks for the best, and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import log

import numpy as np

from hitsndiffs.data.arrays import Floats
from hitsndiffs.methods.labels import label_shares, mark_in_words
from hitsndiffs.methods.latent_key.confidence import (
    DISAGREE,
    MOST_LEAD,
    MOST_STEADY,
    Signs,
    label_bound,
    shared_bound,
    sureness,
)
from hitsndiffs.methods.latent_key.copies import excess_spread, find_witnesses
from hitsndiffs.methods.latent_key.habits import Habits
from hitsndiffs.methods.latent_key.leanings import LeaningFit
from hitsndiffs.methods.latent_key.modes import (
    Mode,
    consensus,
    correlation,
    fit_from,
    multiple_correlation,
)
from hitsndiffs.methods.latent_key.problem import Problem
from hitsndiffs.methods.latent_key.sampling import Sample, take_sample
from hitsndiffs.spectral.shrinkage import Shrinkage

__all__ = ["HALVED", "SAME_READING", "Search", "Surprise", "contradicts"]

#: An order follows a label's share above this correlation, if there are at most this many labels;
#: and it follows the use of three or more labels together above this multiple correlation.
#: Then it is not sure, unless known answers support it by at least :data:`WELL_KNOWN` nats.
FOLLOWS, MOST_FOLLOWED, FOLLOWS_ALL = 0.95, 12, 0.9
WELL_KNOWN = 3.0
#: Shares of right answers that correlate this well belong to one reading; most readings kept.
SAME_READING, MOST_READINGS = 0.9, 5
#: A reading this far behind (nats) has half the share of one that is level with the first: models
#: are wrong in ways that many users repeat, so evidence is worth less than it says.
HALVED = 20.0
#: Share of the case that none of the readings is right, on the same scale.
NONE = 0.5
#: If a solution is right, those who know an item's answer are the abler ones this often.
AGREES = 0.85


@dataclass(frozen=True)
class Surprise:
    """A known answer that contradicts what the users' answers alone say.

    Attributes
    ----------
    right, held
        The known right option, and the one that seemed right.
    sure
        How likely the latter seemed.
    """

    right: int
    held: int
    sure: float


@dataclass(frozen=True)
class Search:
    """All solutions found, best evidence first; those that contradict the caller come last.

    Attributes
    ----------
    problem
        The data, with copies counting for less.
    modes
        The distinct solutions.
    shrinkage
        λ, μ and the leading axes of the answers, with every user counting once.
    once
        User weights by another rule: users with nearly the same answers are one witness.
    habits
        Labels that many users give whatever is asked, where items share their labels.
    by_once
        Abilities in the first solution by that other rule; ``None`` if groups were given.
    confusions
        P(option is the key of its item) by confusion matrices, where they were tried.
    told
        How likely each solution is, given known answers; empty where none are known.
    surprises
        Known answers where the best solution without them was sure of another option.
    sample
        The sample and everybody, if the search was made on a sample of the users.
    """

    problem: Problem
    modes: list[Mode]
    shrinkage: Shrinkage
    once: Floats
    habits: Habits | None = None
    by_once: Floats | None = None
    confusions: Floats | None = None
    told: tuple[float, ...] = ()
    surprises: tuple[Surprise, ...] = ()
    sample: Sample | None = None

    @cached_property
    def alone(self) -> Floats:
        """User weights if users who are alike by a rule or by any solution count as one."""
        weights = self.once
        for mode in self.modes:
            weights = np.minimum(weights, mode.witnesses.weights)
        return weights

    def for_everybody(self, chosen: Mode) -> Mode:
        """Extend a solution found on a sample of the users to all of them."""
        if self.sample is None:
            return chosen
        whole, data = self.sample.whole, self.sample.whole.data
        if chosen.fit.problem is not self.problem:  # another model, or a held key
            whole = chosen.fit.problem.part(data, data.everybody, np.arange(data.n_options))
        fit = whole.fit(whole.applied(chosen.fit), max_rounds=1)
        return replace(chosen, fit=fit, witnesses=find_witnesses(whole, fit))

    @property
    def best(self) -> Mode:
        """The best solution; one that agrees with what the caller knows, if there is any."""
        return self.modes[0]

    @cached_property
    def rival(self) -> Mode | None:
        """The best solution that disagrees about who is good, but not with the caller."""
        ability = self.best.fit.posterior.mean
        for mode in self.modes[1:]:
            disagrees = correlation(mode.fit.posterior.mean, ability) < DISAGREE
            if disagrees and not contradicts(self.problem, mode):
                return mode
        return None

    @property
    def lead(self) -> float:
        """How far the best solution is ahead of its rival (nats; infinite without a rival)."""
        return np.inf if self.rival is None else self.best.evidence - self.rival.evidence

    @property
    def steadiness(self) -> float:
        """The lead in units of its own spread over independent users, from paired differences.

        A lead that rests on few users might vanish with other users of the same kind. Users with
        nearly the same answers count as one.
        """
        if self.rival is None:
            return MOST_STEADY
        parts = self.best.by_user - self.rival.by_user
        spread = np.sqrt(float((parts**2 / self.once).sum()))
        return float(np.clip(self.lead / max(spread, 1e-9), 0.0, MOST_STEADY))

    @cached_property
    def agreement(self) -> float:
        """How well the best solution agrees with the strongest axis of the answers (0 to 1)."""
        axes = self.shrinkage.axes
        if len(axes.values) == 0:
            return 1.0
        return abs(correlation(axes.scores[:, 0], self.best.fit.posterior.mean))

    @cached_property
    def by_other_rule(self) -> float:
        """Correlation with the solution in which nearly equal sheets count as one witness.

        1 if there are no such sheets, or if one label is right everywhere.
        """
        mode = self.best
        if float(self.once.min()) == 1.0 or mode.one_label is not None:
            return 1.0
        if self.by_once is not None and not self.told:
            return correlation(self.by_once, mode.fit.posterior.mean)
        problem = mode.fit.problem.weighing(self.once)
        other = fit_from(take_sample(problem), consensus(problem), rounds=15)
        return correlation(other.posterior.mean, mode.fit.posterior.mean)

    @cached_property
    def by_confusions(self) -> float:
        """Correlation with the order by confusion matrices; 1 if they do not apply."""
        two = isinstance(self.best.fit, LeaningFit)
        if self.confusions is None or not two or self.told:
            return 1.0
        shares = self.problem.right_shares
        return correlation(shares(self.best.fit.key), shares(self.confusions))

    @cached_property
    def signs(self) -> Signs:
        """What speaks for the best solution, and against it."""
        best = self.best
        right = self.problem.right_shares(best.fit.key)
        spread = max(float(right.var()), 1e-12)
        error = float((best.fit.share_errors() ** 2).mean())
        return Signs(
            steadiness=self.steadiness,
            lead=min(float(np.log1p(max(self.lead, 0.0))), MOST_LEAD),
            alone=float(self.rival is None),
            axis=self.agreement,
            rules=self.by_other_rule,
            models=self.by_confusions,
            users=float(np.log(float(self.once.sum()))),
            reliability=float(np.clip(1 - error / spread, 0.0, 1.0)),
            excess=float(np.log(excess_spread(best.fit))),
            one_label=float(best.one_label is not None and not self.said_mark),
            follows=float(self.said_mark or (best.one_label is None and self.followed is not None)),
        )

    @property
    def confidence(self) -> float:
        """Probability that the best solution is right about axis and sign.

        A logistic function of the :attr:`signs`, learnt on simulated data of many kinds (the
        arena's leave-one-kind-out table shows how well it holds). It is bounded where the order
        follows the share of one label, or where users agree far beyond what it explains, and is at
        most ½ if even the best solution contradicts what the caller knows. With known answers it is
        the probability, given them, of the solution and of those that agree with it.
        """
        sure = self.told[0] if self.told else sureness(self.signs)
        if contradicts(self.problem, self.best):
            return min(sure, 0.5)
        if self.known_support < WELL_KNOWN:
            sure = min(sure, label_bound(self.signs), shared_bound(self.signs))
        return sure

    @cached_property
    def distinct(self) -> list[Mode]:
        """The solutions that rank people differently, best first."""
        kept: list[tuple[Mode, Floats]] = []
        for mode in self.modes:
            share = self.problem.right_shares(mode.fit.key)
            if all(correlation(share, other) < SAME_READING for _, other in kept):
                kept.append((mode, share))
        return [mode for mode, _ in kept[:MOST_READINGS]]

    @cached_property
    def probabilities(self) -> list[float]:
        """Those of the distinct solutions; the first is the confidence.

        The remainder to 1: none of them is right.
        """
        others, sure = self.distinct[1:], self.confidence
        if self.told:
            chance = {id(mode): told for mode, told in zip(self.modes, self.told, strict=True)}
            share = np.array([chance[id(mode)] for mode in others])
            share = share * min((1 - sure) / max(1 - self.told[0], 1e-12), 1.0)
        else:
            behind = np.array([self.best.evidence - mode.evidence for mode in others])
            share = 1 / (1 + np.maximum(behind, 0.0) / HALVED)
            share = (1 - sure) * share / (share.sum() + NONE)
        # no other is likelier than the first, which explains the answers best
        return [sure, *np.minimum(share, sure).tolist()]

    @cached_property
    def known_support(self) -> float:
        """How strongly known answers support the best solution (nats; 0 if none are known).

        Item by item: are those who chose the right answer abler than the others?
        """
        lead = _known_leads(self.problem, self.best)
        better, worse = int((lead > 0).sum()), int((lead < 0).sum())
        return max(better * log(2 * AGREES) + worse * log(2 * (1 - AGREES)), 0.0)

    @cached_property
    def said_mark(self) -> bool:
        """Whether the label that the best solution takes as right is also called right."""
        label = self.best.one_label
        return label is not None and label == mark_in_words(self.problem.items)

    @cached_property
    def followed(self) -> tuple[str | None, float] | None:
        """The label whose share the order follows, and the correlation; ``None`` if none.

        No label but a correlation: the order follows how often each label was chosen, whatever the
        item. Severity, or a taste for some answers, looks the same.
        """
        used = label_shares(self.problem.data, MOST_FOLLOWED)
        correct = self.problem.right_shares(self.best.fit.key)
        if used is None or float(correct.std()) == 0.0:
            return None
        labels, shares = used
        found = [correlation(correct, share) for share in shares]
        strongest = int(np.argmax(np.abs(found)))
        if abs(found[strongest]) > FOLLOWS:
            return str(labels[strongest]), found[strongest]
        together = multiple_correlation(correct, shares) if len(shares) > 2 else 0.0
        return (None, together) if together > FOLLOWS_ALL else None


def _known_leads(problem: Problem, mode: Mode) -> Floats:
    """For each known right answer, its choosers' total lead in ability."""
    right = np.flatnonzero(problem.known == 1.0)
    ability = mode.fit.posterior.mean
    counts = problem.data.choosers_per_option.astype(float)
    totals = problem.data.choosers(ability)
    answers, sums = problem.items.sum(counts)[right], problem.items.sum(totals)[right]
    return np.asarray(totals[right] - counts[right] * sums / answers)


def contradicts(problem: Problem, mode: Mode) -> bool:
    """Whether the strong user is below the median, or known answers contradict the abilities."""
    ability = mode.fit.posterior.mean
    if problem.strong is not None and ability[problem.strong] < problem.data.median(ability):
        return True
    # those who chose a known right answer should be abler than those who answered otherwise
    return float(_known_leads(problem, mode).sum()) < 0
