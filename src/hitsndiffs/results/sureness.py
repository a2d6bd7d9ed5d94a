"""How sure a ranking is: one number with one meaning, worded the same everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hitsndiffs.results.wording import judged, per_cent

if TYPE_CHECKING:
    from hitsndiffs.data.items import Items
    from hitsndiffs.methods.fitted import Fit
    from hitsndiffs.results.ranking import Ranking

__all__ = ["MEANING", "SURE", "notes_beside", "repeats", "sureness", "what_helps"]

#: What the number is the probability of.
MEANING = "that this is ability, the best on top"
#: Below this, one known answer or one strong user is worth asking for.
SURE = 0.9


def sureness(ranking: Ranking) -> str | None:
    """Say how sure it is that the ranking is by ability, with the best on top.

    The number is ``ranking.confidence``; ``None`` if the method has none.

    Examples
    --------
    >>> import hitsndiffs as hnd
    >>> sureness(hnd.rank(hnd.simulate("samejima", seed=1).responses)).split(":")[0]
    'How sure that this is ability, the best on top'
    """
    sure, turned = ranking.confidence, ranking.orientation
    if sure is None:
        return None
    how = "" if turned is None else f" ({judged(turned.how)})"
    return f"How sure {MEANING}: {per_cent(sure)}{how}."


def repeats(ranking: Ranking) -> str | None:
    """Say how well the order would repeat on other items; ``None`` if that is unknown.

    The number is ``ranking.reliability``.
    """
    value = ranking.reliability
    if not np.isfinite(value):
        return None
    return f"Reliability {value:.2f} (1: other items of this kind would give the same order)."


def what_helps(fit: Fit, items: Items, *, told: bool) -> str | None:
    """Say what to find out if the ranking is not sure; ``None`` if there is nothing to ask.

    Parameters
    ----------
    fit
        What the method found.
    items
        The items.
    told
        Whether right answers were already given.
    """
    nothing_tells = fit.choice is not None and fit.choice.method is None
    if fit.confidence is None or fit.confidence >= SURE or told or nothing_tells:
        return None
    names = [str(items.labels[question.item]) for question in fit.questions[:2]]
    if not names:
        return "One known answer or one strong user would settle it."
    answers = "answer" if len(names) == 1 else "answers"
    return (
        f"The right {answers} to {' and '.join(names)} would settle most; naming one strong user "
        "would help too."
    )


def notes_beside(ranking: Ranking) -> list[str]:
    """The notes of a ranking, without those on the chosen method, its confidence and what helps.

    For places that state these in their own words.
    """
    return [*ranking.responses.notes, *ranking.fit.notes, *ranking.user_notes]
